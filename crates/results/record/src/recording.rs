//! Writes tables of simulated runs to a file.

use std::io::Write;
use std::marker::PhantomData;

use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;

use crate::column::Row;
use crate::file::{self, Names};
use crate::link::Queues;
use crate::table::Table;

/// Why a recording cannot be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The sink failed, or the file would have more than 32767 row groups.
    #[error("{0}")]
    Parquet(#[from] ParquetError),
    /// The buffered bytes could not be written.
    #[error("{0}")]
    Flush(#[from] std::io::Error),
}

/// Writes runs with rows of type `R` to `W`.
pub struct Recording<R, W: Write + Send> {
    writer: SerializedFileWriter<W>,
    rows: PhantomData<R>,
}

impl<R: Row, W: Write + Send> Recording<R, W> {
    /// Begins a file of runs of the scenario with this text.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if `sink` fails.
    pub fn new(sink: W, scenario: &str) -> Result<Self, RecordError> {
        Ok(Self {
            writer: file::begin::<R, W>(sink, &[("scenario", scenario)])?,
            rows: PhantomData,
        })
    }

    /// Adds a run. A run without rows leaves no trace in the file.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the sink fails or the file has too many runs.
    pub fn append(&mut self, table: &Table<R>) -> Result<(), RecordError> {
        let names = Names {
            run: table.run(),
            queues: &Queues::default(),
        };
        file::append(&mut self.writer, names, table.rows())?;
        Ok(())
    }

    /// Ends the file and returns the sink.
    ///
    /// # Errors
    ///
    /// [`RecordError`] if the sink fails.
    pub fn finish(self) -> Result<W, RecordError> {
        file::end(self.writer)
    }
}
