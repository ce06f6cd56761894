//! Reads recordings of sessions and links.

use mimosa_facts::{LinkPacket, Passage, SessionFrame};
use parquet::basic::Type as Physical;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};

use crate::column::{Read, Row};
use crate::link::Queues;
use crate::restore;
use crate::values::Values;

/// A recorded session.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Description of the session, a JSON object; see
    /// [`SessionRecorder::new`](crate::SessionRecorder::new).
    pub about: String,
    /// Frames of the session, in the order of the file.
    pub frames: Vec<SessionFrame>,
}

/// A recorded link.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    /// Description of the link, a JSON object; see [`LinkRecorder::new`](crate::LinkRecorder::new).
    pub about: String,
    /// Names of the link's queues.
    pub queues: Queues,
    /// Packets of the link, in the order of the file.
    pub packets: Vec<Passage<LinkPacket>>,
}

/// A recording of a session or of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// A session.
    Session(Session),
    /// A link.
    Link(Link),
}

/// Why a file cannot be read as a recording.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not begin as Parquet files do.
    #[error("it is no Parquet file; name the recording of a session or of a link")]
    NotParquet,
    /// The end of the file was never written.
    #[error(
        "its end is missing: the session or the link still runs, its program was killed, or the file was copied in part; it can be read only as a whole"
    )]
    Unfinished,
    /// The file is a recording of a simulation.
    #[error(
        "it is a recording of `mimosa sim`, not of a session or a link; draw a simulation with `mimosa sim SCENARIO --plot FILE`"
    )]
    Simulation,
    /// The file is the recording of a link, and one of a session is needed.
    #[error(
        "it is the recording of a link, where that of a session is wanted; name a link with --link, or alone"
    )]
    IsLink,
    /// The file is the recording of a session, and one of a link is needed.
    #[error(
        "it is the recording of a session, where that of a link is wanted; name the session first, without --link"
    )]
    IsSession,
    /// The file lacks some columns.
    #[error(
        "it lacks the columns {}; name a recording by this version of mimosa", .0.join(", ")
    )]
    MissingColumns(Vec<&'static str>),
    /// A column has another type.
    #[error(
        "its column {column} is not of the type {expected}; name a recording by this version of mimosa"
    )]
    WrongType {
        /// Name of the column.
        column: &'static str,
        /// The type that the column should have.
        expected: &'static str,
    },
    /// A column has a value that no frame or packet can have.
    #[error(
        "its column {column} has an impossible value in row {row}, counted from zero; the file is damaged or by another version of mimosa"
    )]
    BadValue {
        /// Name of the column.
        column: &'static str,
        /// Number of the row in its row group.
        row: usize,
    },
    /// The file is damaged.
    #[error("it is damaged ({0}); record again or take another copy")]
    Damaged(#[from] ParquetError),
}

/// Reads a session from `file`.
///
/// A frame is as it was written, except for what the file does not hold: its decision has the
/// pacing of the frame and neither probe nor window, and the burst of a bucket is zero.
///
/// # Errors
///
/// [`ReadError`] if `file` is not the complete recording of a session.
///
/// # Panics
///
/// The Parquet library panics over a few damaged files. Catch the panic where such a file must not
/// end the program.
pub fn read_session<F: ChunkReader + 'static>(file: F) -> Result<Session, ReadError> {
    match read_recording(file)? {
        Recorded::Session(session) => Ok(session),
        Recorded::Link(_) => Err(ReadError::IsLink),
    }
}

/// Reads a link from `file`.
///
/// # Errors
///
/// [`ReadError`] if `file` is not the complete recording of a link.
///
/// # Panics
///
/// Panics for the same files as [`read_session`].
pub fn read_link<F: ChunkReader + 'static>(file: F) -> Result<Link, ReadError> {
    match read_recording(file)? {
        Recorded::Link(link) => Ok(link),
        Recorded::Session(_) => Err(ReadError::IsSession),
    }
}

/// Reads a session or a link from `file`.
///
/// # Errors
///
/// [`ReadError`] if `file` is not the complete recording of a session or a link.
///
/// # Panics
///
/// Panics for the same files as [`read_session`].
pub fn read_recording<F: ChunkReader + 'static>(file: F) -> Result<Recorded, ReadError> {
    check_ends(&file)?;
    let reader = SerializedFileReader::new(file)?;
    let text = |key: &str| text(reader.metadata(), key).unwrap_or_default();
    let schema = reader.metadata().file_metadata().schema_descr();
    if schema.name() == <Passage<LinkPacket>>::NAME {
        let names = Queues::KEYS.map(|key| text(key).lines().map(str::to_owned).collect());
        let [forward, reverse] = names;
        let queues = Queues { forward, reverse };
        let packets = rows(&reader, |values, row| restore::packet(values, row, &queues))?;
        return Ok(Recorded::Link(Link {
            about: text("link"),
            queues,
            packets,
        }));
    }
    Ok(Recorded::Session(Session {
        about: text("session"),
        frames: rows(&reader, restore::frame)?,
    }))
}

/// All rows, each made by `restore`.
fn rows<R: Row, F: ChunkReader + 'static>(
    reader: &SerializedFileReader<F>,
    restore: impl Fn(&Values, usize) -> Result<R, ReadError>,
) -> Result<Vec<R>, ReadError> {
    let places = places::<R>(reader.metadata())?;
    let mut rows = Vec::new();
    for index in 0..reader.num_row_groups() {
        let group = reader.get_row_group(index)?;
        let values = Values::read::<R>(&*group, &places)?;
        for row in 0..values.rows {
            rows.push(restore(&values, row)?);
        }
    }
    Ok(rows)
}

/// The text under `key` in a file's metadata.
fn text(metadata: &ParquetMetaData, key: &str) -> Option<String> {
    let pairs = metadata.file_metadata().key_value_metadata()?;
    pairs.iter().find(|pair| pair.key == key)?.value.clone()
}

/// The bytes at the beginning and at the end of a Parquet file.
const MAGIC: &[u8] = b"PAR1";

/// Distinguishes a file that is not Parquet from one that is incomplete.
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

/// Index of each column in the file, in the order of [`Row::columns`].
fn places<R: Row>(metadata: &ParquetMetaData) -> Result<Vec<usize>, ReadError> {
    let schema = metadata.file_metadata().schema_descr().columns();
    let place = |name: &str| schema.iter().position(|column| column.name() == name);
    let mut places = Vec::new();
    let mut missing = Vec::new();
    for column in R::columns() {
        let Some(at) = place(column.name) else {
            missing.push(column.name);
            continue;
        };
        let (expected, name) = match column.read {
            Read::OptionalNumber(_) => (Physical::DOUBLE, "DOUBLE"),
            Read::Flag(_) => (Physical::BOOLEAN, "BOOLEAN"),
            Read::Text(_) | Read::Address(_) | Read::Queue(_) | Read::Variant | Read::Flow(_) => {
                (Physical::BYTE_ARRAY, "BYTE_ARRAY")
            }
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
