//! Writes rows to a Parquet file.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    FileMetaData, KeyValue, ParquetMetaData, ParquetMetaDataWriter, RowGroupMetaData,
};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::column::{Column, Read, Row};
use crate::link::Queues;
use crate::recording::RecordError;
use crate::table::Run;

/// The names to which rows refer by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Names<'a> {
    pub(crate) run: &'a Run,
    pub(crate) queues: &'a Queues,
}

/// Begins a file of rows of type `R`, with these texts under their keys in its metadata.
pub(crate) fn begin<R: Row, W: Write + Send>(
    sink: W,
    texts: &[(&str, &str)],
) -> Result<SerializedFileWriter<W>, ParquetError> {
    let about = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
    let mut metadata: Vec<_> = texts
        .iter()
        .map(|(key, text)| about(key, (*text).to_owned()))
        .collect();
    metadata.push(about("mimosa.columns", R::describe()));
    let properties = R::columns().fold(
        WriterProperties::builder()
            .set_created_by(concat!("mimosa-record ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_key_value_metadata(Some(metadata))
            .set_compression(Compression::SNAPPY)
            .set_statistics_enabled(EnabledStatistics::Chunk)
            .set_offset_index_disabled(true),
        encode,
    );
    SerializedFileWriter::new(sink, schema::<R>()?, Arc::new(properties.build()))
}

/// Adds `rows` as a row group. Without rows, there is none.
pub(crate) fn append<R: Row, W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    names: Names<'_>,
    rows: &[R],
) -> Result<(), ParquetError> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut group = writer.next_row_group()?;
    for column in R::columns() {
        if let Some(mut writer) = group.next_column()? {
            write_column(&mut writer, column, names, rows)?;
            writer.close()?;
        }
    }
    group.close()?;
    Ok(())
}

/// The bytes that would end the file if only these rows followed those that `writer` has written: a
/// row group and the file's footer. They are padded so that the file has at least `least` bytes.
pub(crate) fn tail<R: Row, W: Write + Send>(
    writer: &SerializedFileWriter<W>,
    texts: &[(&str, &str)],
    names: Names<'_>,
    rows: &[R],
    least: usize,
) -> Result<Vec<u8>, ParquetError> {
    let before = writer.bytes_written();
    // A second writer at the same place of a file, but without the first one's row groups: offsets
    // count from the beginning of the file.
    let mut other = begin::<R, _>(Behind::new(before), texts)?;
    pad(&mut other, before)?;
    append(&mut other, names, rows)?;
    let rows = other.bytes_written() - before;
    let metadata = other.finish()?;
    let about = metadata.file_metadata();
    let earlier = writer.flushed_row_groups();
    let groups = [earlier, metadata.row_groups()].concat();
    let about = FileMetaData::new(
        about.version(),
        groups.iter().map(RowGroupMetaData::num_rows).sum(),
        about.created_by().map(str::to_owned),
        about.key_value_metadata().cloned(),
        about.schema_descr_ptr(),
        about.column_orders().cloned(),
    );
    let mut end = Vec::new();
    ParquetMetaDataWriter::new(&mut end, &ParquetMetaData::new(about, groups)).finish()?;
    let mut tail = std::mem::take(&mut other.inner_mut().bytes);
    tail.truncate(rows);
    // Nothing refers to the bytes between the rows and the footer.
    let missing = least.saturating_sub(before + tail.len() + end.len());
    tail.resize(tail.len() + missing, 0);
    tail.extend(end);
    Ok(tail)
}

/// Advances `writer` to this place of its file.
fn pad<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    place: usize,
) -> Result<(), ParquetError> {
    let nothing = [0; 1 << 13];
    while writer.bytes_written() < place {
        let missing = place - writer.bytes_written();
        writer.write_all(&nothing[..missing.min(nothing.len())])?;
    }
    Ok(())
}

/// Keeps the bytes of a file after a place.
struct Behind {
    /// Number of bytes before that place.
    before: usize,
    bytes: Vec<u8>,
}

impl Behind {
    const fn new(before: usize) -> Self {
        Self {
            before,
            bytes: Vec::new(),
        }
    }
}

impl Write for Behind {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        let passed = self.before.min(data.len());
        self.before -= passed;
        self.bytes.extend_from_slice(&data[passed..]);
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Ends the file, and returns the sink.
pub(crate) fn end<W: Write + Send>(writer: SerializedFileWriter<W>) -> Result<W, RecordError> {
    let mut sink = writer.into_inner()?;
    sink.flush()?;
    Ok(sink)
}

/// Encodes integers as differences, which makes times and counters small.
fn encode<R>(properties: WriterPropertiesBuilder, column: &Column<R>) -> WriterPropertiesBuilder {
    let path = ColumnPath::from(column.name);
    match column.read {
        Read::Integer(_) | Read::OptionalInteger(_) => properties
            .set_column_dictionary_enabled(path.clone(), false)
            .set_column_encoding(path, Encoding::DELTA_BINARY_PACKED),
        _ => properties,
    }
}

fn schema<R: Row>() -> Result<TypePtr, ParquetError> {
    let mut fields = Vec::new();
    for column in R::columns() {
        let (physical, logical) = match column.read {
            Read::Integer(_) | Read::OptionalInteger(_) => (Physical::INT64, None),
            Read::OptionalNumber(_) => (Physical::DOUBLE, None),
            Read::Flag(_) => (Physical::BOOLEAN, None),
            Read::Seed => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Read::Text(_) | Read::Address(_) | Read::Queue(_) | Read::Variant | Read::Flow(_) => {
                (Physical::BYTE_ARRAY, Some(LogicalType::String))
            }
        };
        let repetition = if column.is_optional() {
            Repetition::OPTIONAL
        } else {
            Repetition::REQUIRED
        };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(repetition)
            .with_logical_type(logical)
            .build()?;
        fields.push(Arc::new(field));
    }
    let schema = Type::group_type_builder(R::NAME).with_fields(fields);
    Ok(Arc::new(schema.build()?))
}

fn write_column<R>(
    to: &mut SerializedColumnWriter,
    column: &Column<R>,
    names: Names<'_>,
    rows: &[R],
) -> Result<(), ParquetError> {
    let run = names.run;
    match column.read {
        Read::Integer(read) => required::<Int64Type>(to, rows.iter().map(read)),
        Read::OptionalInteger(read) => optional::<Int64Type>(to, rows.iter().map(read)),
        Read::OptionalNumber(read) => optional::<DoubleType>(to, rows.iter().map(read)),
        Read::Flag(read) => required::<BoolType>(to, rows.iter().map(read)),
        Read::Text(read) => {
            let mut texts = Texts::default();
            required::<ByteArrayType>(to, rows.iter().map(|row| texts.get(read(row))))
        }
        Read::Address(read) => {
            let mut texts: BTreeMap<IpAddr, ByteArray> = BTreeMap::new();
            let mut text = |address: IpAddr| {
                let text = texts.entry(address);
                text.or_insert_with(|| ByteArray::from(&*address.to_string()))
                    .clone()
            };
            required::<ByteArrayType>(to, rows.iter().map(|row| text(read(row))))
        }
        Read::Queue(read) => {
            let [forward, reverse] = [&names.queues.forward, &names.queues.reverse].map(|names| {
                let names = names.iter().map(|name| ByteArray::from(&**name));
                names.collect::<Vec<_>>()
            });
            let queue = |row| {
                let (is_forward, number) = read(row);
                let names = if is_forward { &forward } else { &reverse };
                name(names.get(number))
            };
            required::<ByteArrayType>(to, rows.iter().map(queue))
        }
        Read::Seed => {
            let seed = run.seed.cast_signed();
            required::<Int64Type>(to, rows.iter().map(|_| seed))
        }
        Read::Variant => {
            let variant = run.variant.as_deref().map(ByteArray::from);
            optional::<ByteArrayType>(to, rows.iter().map(|_| variant.clone()))
        }
        Read::Flow(read) => {
            let flows = run.flows.iter().map(|name| ByteArray::from(&**name));
            let flows: Vec<_> = flows.collect();
            let flow = |row| name(flows.get(read(row)));
            required::<ByteArrayType>(to, rows.iter().map(flow))
        }
    }
}

/// A name; an empty text if there is none.
fn name(known: Option<&ByteArray>) -> ByteArray {
    // The Parquet library panics over its own default value.
    known.cloned().unwrap_or_else(|| ByteArray::from(""))
}

/// Texts for the file, where equal texts share their memory.
#[derive(Default)]
struct Texts(BTreeMap<&'static str, ByteArray>);

impl Texts {
    fn get(&mut self, text: &'static str) -> ByteArray {
        self.0
            .entry(text)
            .or_insert_with(|| ByteArray::from(text))
            .clone()
    }
}

fn required<D: DataType>(
    to: &mut SerializedColumnWriter,
    values: impl Iterator<Item = D::T>,
) -> Result<(), ParquetError> {
    let values: Vec<_> = values.collect();
    to.typed::<D>().write_batch(&values, None, None)?;
    Ok(())
}

fn optional<D: DataType>(
    to: &mut SerializedColumnWriter,
    rows: impl Iterator<Item = Option<D::T>>,
) -> Result<(), ParquetError> {
    let mut values = Vec::new();
    let mut present = Vec::new();
    for value in rows {
        present.push(i16::from(value.is_some()));
        values.extend(value);
    }
    to.typed::<D>().write_batch(&values, Some(&present), None)?;
    Ok(())
}
