//! The values of a row group.

use std::collections::BTreeMap;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::RowGroupReader;

use crate::column::{Column, Row};
use crate::read::ReadError;

/// The values of a row group, by the names of their columns.
#[derive(Default)]
pub(crate) struct Values {
    pub(crate) rows: usize,
    integers: BTreeMap<&'static str, Vec<Option<i64>>>,
    numbers: BTreeMap<&'static str, Vec<Option<f64>>>,
    flags: BTreeMap<&'static str, Vec<Option<bool>>>,
    texts: BTreeMap<&'static str, Vec<Option<ByteArray>>>,
}

impl Values {
    pub(crate) fn read<R: Row>(
        group: &dyn RowGroupReader,
        places: &[usize],
    ) -> Result<Self, ReadError> {
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        let mut values = Self {
            rows,
            ..Self::default()
        };
        for (Column { name, .. }, place) in R::columns().zip(places) {
            match group.get_column_reader(*place)? {
                ColumnReader::Int64ColumnReader(reader) => {
                    values.integers.insert(name, all(reader, rows)?);
                }
                ColumnReader::DoubleColumnReader(reader) => {
                    values.numbers.insert(name, all(reader, rows)?);
                }
                ColumnReader::BoolColumnReader(reader) => {
                    values.flags.insert(name, all(reader, rows)?);
                }
                ColumnReader::ByteArrayColumnReader(reader) => {
                    values.texts.insert(name, all(reader, rows)?);
                }
                _ => return Err(ReadError::MissingColumns(vec![name])),
            }
        }
        Ok(values)
    }

    pub(crate) fn integer(&self, column: &str, row: usize) -> Option<i64> {
        *self.integers.get(column)?.get(row)?
    }

    pub(crate) fn number(&self, column: &str, row: usize) -> Option<f64> {
        *self.numbers.get(column)?.get(row)?
    }

    pub(crate) fn flag(&self, column: &str, row: usize) -> Option<bool> {
        *self.flags.get(column)?.get(row)?
    }

    pub(crate) fn text(&self, column: &str, row: usize) -> Option<&str> {
        let text = self.texts.get(column)?.get(row)?.as_ref()?;
        text.as_utf8().ok()
    }
}

/// Most values read at once, so that memory is not reserved for a number of rows that a damaged
/// file only claims.
const BATCH: usize = 1_024;

/// All `rows` values of a column.
fn all<D: DataType>(
    mut reader: ColumnReaderImpl<D>,
    rows: usize,
) -> Result<Vec<Option<D::T>>, ReadError> {
    let mut all = Vec::new();
    let (mut values, mut present) = (Vec::new(), Vec::new());
    while all.len() < rows {
        values.clear();
        present.clear();
        let most = BATCH.min(rows - all.len());
        let (records, found, _) =
            reader.read_records(most, Some(&mut present), None, &mut values)?;
        if records == 0 {
            let text = format!("{} of {rows} rows are there", all.len());
            return Err(ParquetError::EOF(text).into());
        }
        let mut values = values.drain(..found.min(values.len()));
        if present.is_empty() {
            all.extend(values.map(Some));
        } else {
            all.extend(
                present
                    .iter()
                    .map(|level| if *level > 0 { values.next() } else { None }),
            );
        }
    }
    Ok(all)
}
