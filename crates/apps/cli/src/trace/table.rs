//! Statistics of traces, as tables and as JSON.

use std::fmt::Write as _;

use mimosa_plot::Table;
use mimosa_trace::{LAGS, Model, PERCENTILES, Statistics};
use serde_json::{Map, Value, json};

/// A trace's name and statistics.
pub(super) struct Described {
    pub(super) name: String,
    pub(super) statistics: Statistics,
}

/// Selects one figure of a trace's statistics.
type Figure = Box<dyn Fn(&Statistics) -> Option<f64>>;

/// One figure of a trace, with its column header and its decimals.
struct Column {
    header: String,
    decimals: usize,
    value: Figure,
}

/// A row for each trace, in tables of the rate, and of round trips and losses if there are any.
pub(super) fn tables(all: &[Described]) -> Vec<Table> {
    let row = |columns: &[Column], one: &Described| {
        let cells = columns.iter().map(|column| {
            let value = (column.value)(&one.statistics);
            number(value, column.decimals)
        });
        std::iter::once(one.name.clone()).chain(cells).collect()
    };
    build(&["trace"], all, |columns| {
        all.iter().map(|one| row(columns, one)).collect()
    })
}

/// The least, the median and the greatest value of each figure, for each group.
pub(super) fn summaries(groups: &[(String, Vec<Described>)]) -> Vec<Table> {
    let rows = |columns: &[Column], (name, group): &(String, Vec<Described>)| -> Vec<_> {
        let sorted: Vec<Vec<f64>> = columns
            .iter()
            .map(|column| {
                let values = group
                    .iter()
                    .filter_map(|one| (column.value)(&one.statistics));
                let mut values: Vec<_> = values.collect();
                values.sort_by(f64::total_cmp);
                values
            })
            .collect();
        let row = |what: &str, pick: fn(&[f64]) -> Option<f64>| {
            let cells = columns
                .iter()
                .zip(&sorted)
                .map(|(column, values)| number(pick(values), column.decimals));
            [name.clone(), what.to_owned()]
                .into_iter()
                .chain(cells)
                .collect()
        };
        vec![
            row("least", |values| values.first().copied()),
            row("median", median),
            row("greatest", |values| values.last().copied()),
        ]
    };
    let all = groups.iter().flat_map(|(_, group)| group);
    build(&["traces", "of them"], all, |columns| {
        groups
            .iter()
            .flat_map(|group| rows(columns, group))
            .collect()
    })
}

/// The tables that have values for any of `all`.
fn build<'a>(
    names: &[&str],
    all: impl IntoIterator<Item = &'a Described>,
    rows: impl Fn(&[Column]) -> Vec<Vec<String>>,
) -> Vec<Table> {
    let (mut with_round_trip, mut with_loss) = (false, false);
    for one in all {
        with_round_trip |= one.statistics.round_trips.is_some();
        with_loss |= one.statistics.losses.is_some();
    }
    let mut parts = vec![(
        "Rate: mean, variation, percentiles over the mean, autocorrelation; \
         falls by more than 50 % within 100 ms; outages of at least 200 ms",
        rate_columns(),
    )];
    if with_round_trip {
        parts.push(("Round trip in ms", round_trip_columns()));
    }
    if with_loss {
        parts.push(("Loss in %", loss_columns()));
    }
    let table = |(title, columns): (&str, Vec<Column>)| Table {
        title: title.to_owned(),
        headers: names
            .iter()
            .map(|&name| name.to_owned())
            .chain(columns.iter().map(|column| column.header.clone()))
            .collect(),
        rows: rows(&columns),
    };
    parts.into_iter().map(table).collect()
}

fn rate_columns() -> Vec<Column> {
    let mut columns = vec![
        column("s", 0, |s| Some(s.length.as_secs())),
        column("Mbit/s", 1, |s| Some(s.mean.as_mbps())),
        column("cv", 2, |s| Some(s.variation)),
    ];
    for (index, percent) in PERCENTILES.into_iter().enumerate() {
        columns.push(column(&format!("p{percent}"), 2, move |s| {
            Some(s.rates[index].ratio(s.mean))
        }));
    }
    for (index, lag) in LAGS.into_iter().enumerate() {
        columns.push(column(&format!("ac {lag}"), 2, move |s| {
            s.autocorrelation[index]
        }));
    }
    columns.extend([
        column("falls/min", 1, |s| Some(s.falls_per_minute)),
        column("out/min", 1, |s| {
            Some(s.outages.count as f64 / (s.length.as_secs() / 60.0))
        }),
        column("out %", 2, |s| Some(s.outages.share * 100.0)),
        column("longest s", 1, |s| Some(s.outages.longest.as_secs())),
    ]);
    columns
}

fn round_trip_columns() -> Vec<Column> {
    percentiles(1, |s, index| Some(s.round_trips?[index].as_millis()))
}

fn loss_columns() -> Vec<Column> {
    percentiles(2, |s, index| Some(s.losses?[index] * 100.0))
}

fn percentiles(decimals: usize, of: fn(&Statistics, usize) -> Option<f64>) -> Vec<Column> {
    let column = |(index, percent)| column(&format!("p{percent}"), decimals, move |s| of(s, index));
    PERCENTILES.into_iter().enumerate().map(column).collect()
}

fn column(
    header: &str,
    decimals: usize,
    value: impl Fn(&Statistics) -> Option<f64> + 'static,
) -> Column {
    Column {
        header: header.to_owned(),
        decimals,
        value: Box::new(value),
    }
}

/// The parameters of a model.
pub(super) fn parameters(model: &Model) -> Table {
    let row = |parameter: mimosa_trace::Parameter| {
        vec![
            parameter.key.to_owned(),
            parameter.meaning.to_owned(),
            parameter.value.to_string(),
            parameter.least.to_string(),
            parameter.most.to_string(),
        ]
    };
    Table {
        title: format!("The model {}", model.name()),
        headers: ["parameter", "meaning", "value", "least", "most"]
            .map(str::to_owned)
            .to_vec(),
        rows: model.parameters().into_iter().map(row).collect(),
    }
}

/// The tables one after the other, as text or as Markdown.
pub(super) fn text(tables: &[Table], markdown: bool) -> String {
    let mut text = String::new();
    for table in tables {
        let table = if markdown {
            table.to_markdown()
        } else {
            table.to_text()
        };
        let _ = writeln!(text, "{table}");
    }
    text
}

/// The statistics of a trace as a JSON object.
pub(super) fn json(one: &Described) -> Value {
    let statistics = &one.statistics;
    let percentiles = |value: &dyn Fn(usize) -> f64| -> Map<String, Value> {
        let entry = |(index, percent)| (format!("p{percent}"), json!(value(index)));
        PERCENTILES.into_iter().enumerate().map(entry).collect()
    };
    let autocorrelation: Map<String, Value> = LAGS
        .iter()
        .zip(statistics.autocorrelation)
        .map(|(lag, value)| (lag.to_string(), json!(value)))
        .collect();
    let mut object = json!({
        "file": one.name,
        "length_s": statistics.length.as_secs(),
        "mean_mbps": statistics.mean.as_mbps(),
        "variation": statistics.variation,
        "rate_mbps": percentiles(&|index| statistics.rates[index].as_mbps()),
        "autocorrelation": autocorrelation,
        "falls_per_minute": statistics.falls_per_minute,
        "outages": {
            "floor_mbps": statistics.outages.floor.as_mbps(),
            "count": statistics.outages.count,
            "share": statistics.outages.share,
            "longest_s": statistics.outages.longest.as_secs(),
        },
    });
    if let Some(round_trips) = statistics.round_trips {
        object["round_trip_ms"] = json!(percentiles(&|index| round_trips[index].as_millis()));
    }
    if let Some(losses) = statistics.losses {
        object["loss"] = json!(percentiles(&|index| losses[index]));
    }
    object
}

/// The median, which is the mean of the two middle values for an even number.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = sorted.get(sorted.len() / 2)?;
    let lower = sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(*lower, *upper))
}

fn number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.decimals$}"))
}
