//! Tables to a file.

use std::io::Write;
use std::marker::PhantomData;

use parquet::errors::ParquetError;
use parquet::file::writer::SerializedFileWriter;

use crate::column::Row;
use crate::file::{self, Names};
use crate::link::Queues;
use crate::table::Table;

/// Why a recording could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RecordError {
    /// The sink failed, or the file would have more than 32767 row groups.
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
        Ok(Self {
            writer: file::begin::<R, W>(sink, &[("scenario", scenario)])?,
            rows: PhantomData,
        })
    }

    /// Adds a run. One without rows leaves no trace.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails or the file has too many runs.
    pub fn append(&mut self, table: &Table<R>) -> Result<(), RecordError> {
        let names = Names {
            run: table.run(),
            queues: &Queues::default(),
        };
        file::append(&mut self.writer, names, table.rows())?;
        Ok(())
    }

    /// Ends the file and gives the sink back.
    ///
    /// # Errors
    ///
    /// [`RecordError`] when the sink fails.
    pub fn finish(self) -> Result<W, RecordError> {
        file::end(self.writer)
    }
}
