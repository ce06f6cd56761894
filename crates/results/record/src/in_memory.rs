//! The columns of simulated runs, as arrays in memory.

use std::collections::BTreeMap;

use crate::column::{Column, Read, Row};
use crate::table::Table;

/// The values of a column, one for each row.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValues {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Whole numbers, of which some may be missing.
    OptionalIntegers(Vec<Option<i64>>),
    /// Numbers without negative ones, such as seeds.
    Naturals(Vec<u64>),
    /// Numbers, of which some may be missing.
    Numbers(Vec<Option<f64>>),
    /// Answers of yes or no.
    Flags(Vec<bool>),
    /// Texts: each value is the place of its text in `texts`, if it has one.
    Texts {
        /// For each row, the place of its text.
        places: Vec<Option<i32>>,
        /// Each text once, in the order in which rows first have them.
        texts: Vec<String>,
    },
}

/// Collects texts, each of which is kept once.
#[derive(Default)]
struct Texts {
    places: Vec<Option<i32>>,
    distinct: Vec<String>,
    known: BTreeMap<String, i32>,
}

impl Texts {
    fn push(&mut self, text: Option<&str>) {
        let place = text.map(|text| {
            self.known.get(text).copied().unwrap_or_else(|| {
                // A column has a few names; beyond two billion, all are the last.
                let place = i32::try_from(self.distinct.len()).unwrap_or(i32::MAX);
                self.distinct.push(text.to_owned());
                self.known.insert(text.to_owned(), place);
                place
            })
        });
        self.places.push(place);
    }
}

/// The names and values of the columns of `tables`, whose rows follow each other in the order of the
/// tables. The columns are those of the recordings of such rows, in their order.
#[must_use]
pub fn columns<R: Row>(tables: &[Table<R>]) -> Vec<(&'static Column<R>, ColumnValues)> {
    R::columns()
        .map(|column| (column, values(tables, column)))
        .collect()
}

fn values<R: Row>(tables: &[Table<R>], column: &Column<R>) -> ColumnValues {
    let rows = || tables.iter().flat_map(Table::rows);
    let by_run = || {
        tables
            .iter()
            .flat_map(|table| table.rows().iter().map(move |row| (table.run(), row)))
    };
    let mut texts = Texts::default();
    match column.read {
        Read::Integer(read) => return ColumnValues::Integers(rows().map(read).collect()),
        Read::OptionalInteger(read) => {
            return ColumnValues::OptionalIntegers(rows().map(read).collect());
        }
        Read::OptionalNumber(read) => return ColumnValues::Numbers(rows().map(read).collect()),
        Read::Flag(read) => return ColumnValues::Flags(rows().map(read).collect()),
        Read::Seed => return ColumnValues::Naturals(by_run().map(|(run, _)| run.seed).collect()),
        Read::Text(read) => rows().for_each(|row| texts.push(Some(read(row)))),
        Read::Address(read) => {
            rows().for_each(|row| texts.push(Some(&read(row).to_string())));
        }
        Read::Queue(read) => rows().for_each(|row| {
            let (is_forward, number) = read(row);
            let way = if is_forward { "forward" } else { "reverse" };
            texts.push(Some(&format!("{way} {number}")));
        }),
        Read::Variant => by_run().for_each(|(run, _)| texts.push(run.variant.as_deref())),
        Read::Flow(read) => by_run().for_each(|(run, row)| {
            texts.push(run.flows.get(read(row)).map(String::as_str));
        }),
    }
    ColumnValues::Texts {
        places: texts.places,
        texts: texts.distinct,
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{Fate, Observer, PacketKind, Passage, StreamPacket, TransportSequence};
    use mimosa_units::{Bytes, Ecn, Time};

    use super::*;
    use crate::Run;

    fn passage(flow: usize, arrives: bool) -> Passage<StreamPacket> {
        Passage {
            packet: StreamPacket {
                flow,
                sequence: TransportSequence(7),
                kind: Some(PacketKind::Media),
                frame: 3,
                index: 0,
            },
            size: Bytes::new(1_000),
            sent_ecn: Ecn::NotEct,
            ecn: Ecn::NotEct,
            offered: Time::from_millis(1),
            started: arrives.then(|| Time::from_millis(2)),
            finished: arrives.then(|| Time::from_millis(3)),
            fate: if arrives {
                Fate::Arrived(Time::from_millis(9))
            } else {
                Fate::Dropped
            },
        }
    }

    #[test]
    fn rows_of_several_runs_follow_each_other() {
        let run = |seed| Run {
            seed,
            variant: None,
            flows: vec!["a".to_owned(), "b".to_owned()],
        };
        let mut tables: [Table<Passage<StreamPacket>>; 2] =
            [Table::new(run(4)), Table::new(run(5))];
        tables[0].packet(&passage(1, true));
        tables[0].packet(&passage(0, false));
        tables[1].packet(&passage(1, true));
        let columns = columns(&tables);
        let find = |name: &str| {
            let mut columns = columns.iter();
            let found = columns.find(|(column, _)| column.name == name);
            found.unwrap().1.clone()
        };
        assert_eq!(find("seed"), ColumnValues::Naturals(vec![4, 4, 5]));
        let arrived = vec![Some(9_000_000), None, Some(9_000_000)];
        assert_eq!(find("arrived_ns"), ColumnValues::OptionalIntegers(arrived));
        let flows = ColumnValues::Texts {
            places: vec![Some(0), Some(1), Some(0)],
            texts: vec!["b".to_owned(), "a".to_owned()],
        };
        assert_eq!(find("flow"), flows);
        let none = ColumnValues::Texts {
            places: vec![None; 3],
            texts: vec![],
        };
        assert_eq!(find("variant"), none);
    }
}
