//! Sessions from a file.

use std::collections::BTreeMap;

use parquet::basic::Type as Physical;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader, RowGroupReader, SerializedFileReader};

use crate::column::{Column, Read, Row};
use crate::restore;
use crate::session::SessionFrame;

/// A session as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// What describes it, a JSON object; see
    /// [`SessionRecorder::new`](crate::SessionRecorder::new).
    pub about: String,
    /// Its frames, in the order of the file.
    pub frames: Vec<SessionFrame>,
}

/// Why a file could not be read as a session.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It does not begin as Parquet does.
    #[error("it is no Parquet file; name the recording of a session")]
    NotParquet,
    /// Its end was never written.
    #[error(
        "its end is missing: the session still runs, its host was killed, or the file was copied in part; it can be read only as a whole"
    )]
    Unfinished,
    /// A recording of a simulation.
    #[error(
        "it is a recording of `mimosa sim`, not of a session; draw a simulation with `mimosa sim SCENARIO --plot FILE`"
    )]
    Simulation,
    /// Some columns are not there.
    #[error(
        "it lacks the columns {}; name the recording of a session by this version of mimosa", .0.join(", ")
    )]
    MissingColumns(Vec<&'static str>),
    /// A column holds something else.
    #[error(
        "its column {column} is not of the type {expected}; name the recording of a session by this version of mimosa"
    )]
    WrongType {
        /// The column.
        column: &'static str,
        /// The type that it should have.
        expected: &'static str,
    },
    /// A value that no frame can have.
    #[error(
        "its column {column} has an impossible value in row {row}, counted from zero; the file is damaged or by another version of mimosa"
    )]
    BadValue {
        /// The column.
        column: &'static str,
        /// The row in its row group.
        row: usize,
    },
    /// The bytes make no sense.
    #[error("it is damaged ({0}); record the session again or take another copy")]
    Damaged(#[from] ParquetError),
}

/// Reads a session from `file`.
///
/// A frame is as it was written except for what the file does not hold: its
/// decision has the pacing of the frame and neither probe nor window, and a
/// bucket takes no burst.
///
/// # Errors
///
/// [`ReadError`] when `file` is not the whole recording of a session.
///
/// # Panics
///
/// The library panics over a few damaged files; catch that where such a file
/// must not end the program.
pub fn read_session<F: ChunkReader + 'static>(file: F) -> Result<Session, ReadError> {
    check_ends(&file)?;
    let reader = SerializedFileReader::new(file)?;
    let places = places(reader.metadata())?;
    let metadata = reader.metadata().file_metadata();
    let about = metadata
        .key_value_metadata()
        .into_iter()
        .flatten()
        .find(|pair| pair.key == "session")
        .and_then(|pair| pair.value.clone())
        .unwrap_or_default();
    let mut frames = Vec::new();
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        let values = Values::read(&*group, &places)?;
        for row in 0..values.rows {
            frames.push(restore::frame(&values, row)?);
        }
    }
    Ok(Session { about, frames })
}

/// What a Parquet file begins and ends with.
const MAGIC: &[u8] = b"PAR1";

/// Tells what is no Parquet from what is half a file.
fn check_ends<F: ChunkReader>(file: &F) -> Result<(), ReadError> {
    let (length, size) = (file.len(), MAGIC.len());
    if length < size as u64 || file.get_bytes(0, size)? != MAGIC {
        return Err(ReadError::NotParquet);
    }
    if length < 2 * size as u64 || file.get_bytes(length - size as u64, size)? != MAGIC {
        return Err(ReadError::Unfinished);
    }
    Ok(())
}

/// Where in the file each column is, in the order of [`Row::columns`].
fn places(metadata: &ParquetMetaData) -> Result<Vec<usize>, ReadError> {
    let schema = metadata.file_metadata().schema_descr().columns();
    let place = |name: &str| schema.iter().position(|column| column.name() == name);
    let mut places = Vec::new();
    let mut missing = Vec::new();
    for column in SessionFrame::columns() {
        let Some(at) = place(column.name) else {
            missing.push(column.name);
            continue;
        };
        let (expected, name) = match column.read {
            Read::OptionalNumber(_) => (Physical::DOUBLE, "DOUBLE"),
            Read::Flag(_) => (Physical::BOOLEAN, "BOOLEAN"),
            Read::Text(_) | Read::Variant | Read::Flow(_) => (Physical::BYTE_ARRAY, "BYTE_ARRAY"),
            Read::Integer(_) | Read::OptionalInteger(_) | Read::Seed => (Physical::INT64, "INT64"),
        };
        if schema[at].physical_type() != expected || schema[at].max_rep_level() > 0 {
            return Err(ReadError::WrongType {
                column: column.name,
                expected: name,
            });
        }
        places.push(at);
    }
    if missing.is_empty() {
        Ok(places)
    } else if place("seed").is_some() && place("variant").is_some() {
        Err(ReadError::Simulation)
    } else {
        Err(ReadError::MissingColumns(missing))
    }
}

/// The values of a row group, by the names of their columns.
#[derive(Default)]
pub(crate) struct Values {
    rows: usize,
    integers: BTreeMap<&'static str, Vec<Option<i64>>>,
    numbers: BTreeMap<&'static str, Vec<Option<f64>>>,
    flags: BTreeMap<&'static str, Vec<Option<bool>>>,
    texts: BTreeMap<&'static str, Vec<Option<ByteArray>>>,
}

impl Values {
    fn read(group: &dyn RowGroupReader, places: &[usize]) -> Result<Self, ReadError> {
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(usize::MAX);
        let mut values = Self {
            rows,
            ..Self::default()
        };
        for (Column { name, .. }, place) in SessionFrame::columns().zip(places) {
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

/// The most values read at once: what a damaged file claims is not believed
/// before its pages bear it out.
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
