//! Tables to a file.

use std::collections::BTreeMap;
use std::io::Write;
use std::marker::PhantomData;
use std::sync::Arc;

use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesBuilder};
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use crate::column::{Column, Read, Row};
use crate::table::Table;

/// Why a recording could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The sink failed, or the file would have more than 32767 runs.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// What is still buffered could not be written.
    #[error("{0}")]
    Flush(#[from] std::io::Error),
}

/// A file of rows of `R` on its way to `W`.
pub struct Recording<R, W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: PhantomData<R>,
}

impl<R: Row, W: Write + Send> Recording<R, W> {
    /// Begins a file of runs of the scenario with the text `scenario`.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when `sink` fails.
    pub fn new(sink: W, scenario: &str) -> Result<Self, RecordError> {
        let about = |key: &str, value: String| KeyValue::new(key.to_owned(), value);
        let metadata = vec![
            about("scenario", scenario.to_owned()),
            about("mimosa.columns", R::describe()),
        ];
        let properties = R::COLUMNS.iter().fold(
            WriterProperties::builder()
                .set_created_by(concat!("mimosa-record ", env!("CARGO_PKG_VERSION")).to_owned())
                .set_key_value_metadata(Some(metadata))
                .set_compression(Compression::SNAPPY)
                .set_statistics_enabled(EnabledStatistics::Chunk)
                .set_offset_index_disabled(true),
            encode,
        );
        let writer = SerializedFileWriter::new(sink, schema::<R>()?, Arc::new(properties.build()))?;
        Ok(Self {
            writer,
            rows: PhantomData,
        })
    }

    /// Adds a run. One without rows leaves no trace.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails or the file has too many runs.
    pub fn append(&mut self, table: &Table<R>) -> Result<(), RecordError> {
        if table.rows().is_empty() {
            return Ok(());
        }
        let mut group = self.writer.next_row_group()?;
        for column in R::COLUMNS {
            if let Some(mut writer) = group.next_column()? {
                write_column(&mut writer, column, table)?;
                writer.close()?;
            }
        }
        group.close()?;
        Ok(())
    }

    /// Ends the file and gives the sink back.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails.
    pub fn finish(self) -> Result<W, RecordError> {
        let mut sink = self.writer.into_inner()?;
        sink.flush()?;
        Ok(sink)
    }
}

/// Integers as differences: times and counters hardly take any room that way.
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
    for column in R::COLUMNS {
        let (physical, logical) = match column.read {
            Read::Integer(_) | Read::OptionalInteger(_) => (Physical::INT64, None),
            Read::OptionalNumber(_) => (Physical::DOUBLE, None),
            Read::Seed => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Read::Text(_) | Read::Variant | Read::Flow(_) => {
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
    table: &Table<R>,
) -> Result<(), ParquetError> {
    let (run, rows) = (table.run(), table.rows());
    match column.read {
        Read::Integer(read) => required::<Int64Type>(to, rows.iter().map(read)),
        Read::OptionalInteger(read) => optional::<Int64Type>(to, rows.iter().map(read)),
        Read::OptionalNumber(read) => optional::<DoubleType>(to, rows.iter().map(read)),
        Read::Text(read) => {
            let mut texts = Texts::default();
            required::<ByteArrayType>(to, rows.iter().map(|row| texts.get(read(row))))
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
            let flows: Vec<_> = run
                .flows
                .iter()
                .map(|name| ByteArray::from(&**name))
                .collect();
            let flow = |row| flows.get(read(row)).cloned().unwrap_or_default();
            required::<ByteArrayType>(to, rows.iter().map(flow))
        }
    }
}

/// The same text is the same bytes in memory.
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
