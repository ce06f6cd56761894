//! The outputs of `mimosa sim`. Every file is created before anything runs.

use std::path::{Path, PathBuf};

use mimosa_facts::{Passage, StreamPacket};
use mimosa_plot::Figure;
use mimosa_record::{FrameRow, RecordError, Recording, Row, Table};
use serde::Serialize;

use super::Seen;
use super::args::{Args, Format};
use super::error::SimError;
use crate::output::{Existing, Files, Output};

/// The outputs beside the table.
pub(super) struct Outputs {
    json: Option<Output>,
    frames: Option<Recorder<FrameRow>>,
    packets: Option<Recorder<Passage<StreamPacket>>>,
    plot: Option<(Output, Format)>,
}

impl Outputs {
    /// Creates the files that `args` name, which must not replace any of `files`. Recordings
    /// contain `scenario`.
    pub(super) fn create(args: &Args, files: &mut Files, scenario: &str) -> Result<Self, SimError> {
        let mut create = |path: &Path| files.create(path, Existing::Replace);
        let json = args.json.as_deref().map(&mut create).transpose()?;
        let frames = args.frames.as_deref().map(&mut create).transpose()?;
        let packets = args.packets.as_deref().map(&mut create).transpose()?;
        let plot = match &args.plot {
            Some(plot) => Some((create(&plot.path)?, plot.format)),
            None => None,
        };
        let frames = frames.map(|output| Recorder::new(output, scenario));
        let packets = packets.map(|output| Recorder::new(output, scenario));
        Ok(Self {
            json,
            frames: frames.transpose()?,
            packets: packets.transpose()?,
            plot,
        })
    }

    /// Whether the frames of each run, the packets of each run, and a plot are wanted.
    pub(super) const fn wanted(&self) -> (bool, bool, bool) {
        (
            self.frames.is_some(),
            self.packets.is_some(),
            self.plot.is_some(),
        )
    }

    /// Adds a run to the recordings.
    pub(super) fn record(&mut self, seen: &Seen) -> Result<(), SimError> {
        if let (Some(to), Some(table)) = (&mut self.frames, &seen.0) {
            to.append(table)?;
        }
        if let (Some(to), Some(table)) = (&mut self.packets, &seen.1) {
            to.append(table)?;
        }
        Ok(())
    }

    /// Writes the plot.
    pub(super) fn draw(
        &mut self,
        figure: &Figure,
        tables: &[mimosa_plot::Table],
    ) -> Result<(), SimError> {
        let Some((output, format)) = &mut self.plot else {
            return Ok(());
        };
        let bytes = match format {
            Format::Svg => figure.to_svg()?.into_bytes(),
            Format::Png => figure.to_png()?,
            Format::Html => figure.to_html(tables)?.into_bytes(),
        };
        Ok(output.put(&bytes)?)
    }

    /// Writes one line of JSON for each run.
    pub(super) fn json(&mut self, runs: &[impl Serialize]) -> Result<(), SimError> {
        let Some(output) = &mut self.json else {
            return Ok(());
        };
        let mut text = Vec::new();
        for run in runs {
            serde_json::to_writer(&mut text, run)?;
            text.push(b'\n');
        }
        Ok(output.put(&text)?)
    }

    /// Completes all outputs, and then gives each its name: if one fails, no file is there.
    pub(super) fn finish(self) -> Result<(), SimError> {
        let frames = self.frames.map(Recorder::finish).transpose()?;
        let packets = self.packets.map(Recorder::finish).transpose()?;
        let plot = self.plot.map(|(output, _)| output);
        let outputs = [self.json, frames, packets, plot];
        for output in outputs.into_iter().flatten() {
            output.finish()?;
        }
        Ok(())
    }
}

/// A recording, and the path of its file.
struct Recorder<R> {
    path: PathBuf,
    recording: Recording<R, Output>,
}

impl<R: Row> Recorder<R> {
    fn new(output: Output, scenario: &str) -> Result<Self, SimError> {
        let path = output.path().to_owned();
        match Recording::new(output, scenario) {
            Ok(recording) => Ok(Self { path, recording }),
            Err(source) => Err(failed(&path, source)),
        }
    }

    fn append(&mut self, table: &Table<R>) -> Result<(), SimError> {
        self.recording
            .append(table)
            .map_err(|source| failed(&self.path, source))
    }

    fn finish(self) -> Result<Output, SimError> {
        let result = self.recording.finish();
        result.map_err(|source| failed(&self.path, source))
    }
}

fn failed(path: &Path, source: RecordError) -> SimError {
    SimError::Record {
        path: path.to_owned(),
        source,
    }
}
