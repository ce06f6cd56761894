//! Columns as Arrow tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int32Array, Int64Array,
    RecordBatch, RecordBatchIterator, StringArray, UInt64Array,
};
use arrow_buffer::ScalarBuffer;
use arrow_schema::{ArrowError, Field, Schema};
use mimosa_record::{ColumnValues, Row};
use pyo3::exceptions::{PyKeyError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table in the format of Apache Arrow, which pandas, polars and pyarrow read without
/// copying it.
#[pyclass(frozen, module = "mimosa_lab._native")]
pub(crate) struct Table {
    pub(crate) batch: RecordBatch,
}

/// An error of Arrow, which columns of one length do not cause.
pub(crate) fn failed(error: ArrowError) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

/// A column of a table under construction.
pub(crate) struct Made {
    name: String,
    meaning: Option<&'static str>,
    values: ArrayRef,
}

impl Made {
    pub(crate) fn new(name: impl Into<String>, values: ArrayRef) -> Self {
        Self {
            name: name.into(),
            meaning: None,
            values,
        }
    }
}

impl Table {
    /// The table with these columns.
    pub(crate) fn of(columns: Vec<Made>) -> PyResult<Self> {
        let mut fields = Vec::new();
        let mut values = Vec::new();
        for column in columns {
            let kind = column.values.data_type().clone();
            let field = Field::new(column.name, kind, column.values.is_nullable());
            let meaning = column
                .meaning
                .map(|text| ("meaning".to_owned(), text.to_owned()));
            fields.push(field.with_metadata(meaning.into_iter().collect::<BTreeMap<_, _>>()));
            values.push(column.values);
        }
        let schema = Arc::new(Schema::new(fields));
        let batch = RecordBatch::try_new(schema, values).map_err(failed)?;
        Ok(Self { batch })
    }

    /// The table of the rows of runs.
    pub(crate) fn of_rows<R: Row>(tables: &[mimosa_record::Table<R>]) -> PyResult<Self> {
        let columns = mimosa_record::columns(tables).into_iter();
        let made = columns.map(|(column, values)| {
            Ok(Made {
                name: column.name.to_owned(),
                meaning: Some(column.meaning),
                values: array(values)?,
            })
        });
        Self::of(made.collect::<PyResult<_>>()?)
    }
}

/// The values as an array; those without gaps keep their memory.
fn array(values: ColumnValues) -> PyResult<ArrayRef> {
    Ok(match values {
        ColumnValues::Integers(values) => {
            Arc::new(Int64Array::new(ScalarBuffer::from(values), None))
        }
        ColumnValues::Naturals(values) => {
            Arc::new(UInt64Array::new(ScalarBuffer::from(values), None))
        }
        ColumnValues::OptionalIntegers(values) => Arc::new(Int64Array::from(values)),
        ColumnValues::Numbers(values) => Arc::new(Float64Array::from(values)),
        ColumnValues::Flags(values) => Arc::new(BooleanArray::from(values)),
        ColumnValues::Texts { places, texts } => {
            let texts: ArrayRef = Arc::new(StringArray::from(texts));
            let array = DictionaryArray::<Int32Type>::try_new(Int32Array::from(places), texts);
            Arc::new(array.map_err(failed)?)
        }
    })
}

#[pymethods]
impl Table {
    /// The table as a stream of Arrow's C interface, by which other libraries take it.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Every consumer converts what it wants in another type.
        let _ = requested_schema;
        let schema = self.batch.schema();
        let batches = [Ok(self.batch.clone())].into_iter();
        let reader = RecordBatchIterator::new(batches, schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        let schema = self.batch.schema();
        schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect()
    }

    /// What a column means, with its unit; `None` where the name says it all.
    fn meaning(&self, column: &str) -> PyResult<Option<String>> {
        let schema = self.batch.schema();
        let field = schema
            .field_with_name(column)
            .map_err(|_| PyKeyError::new_err(format!("there is no column `{column}`")))?;
        Ok(field.metadata().get("meaning").cloned())
    }

    /// The table as a data frame of polars.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }

    /// The table as a data frame of pandas, by way of pyarrow.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let table = slf.py().import("pyarrow")?.call_method1("table", (slf,))?;
        table.call_method0("to_pandas")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let rows = self.batch.num_rows();
        format!(
            "<Table of {rows} rows, columns {}>",
            self.columns().join(", ")
        )
    }
}
