//! Where the results go. Every file is created before anything runs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use mimosa_plot::Figure;
use mimosa_record::{FrameRow, RecordError, Recording, Row, Table};
use mimosa_sim::PacketRecord;
use serde::Serialize;

use super::Seen;
use super::args::{Args, Format};
use super::error::SimError;

/// What was asked for besides the table.
pub(super) struct Outputs {
    json: Option<Sink>,
    frames: Option<Recorder<FrameRow>>,
    packets: Option<Recorder<PacketRecord>>,
    plot: Option<(Sink, Format)>,
}

impl Outputs {
    /// Creates the files that `args` name; recordings hold `scenario`.
    pub(super) fn create(args: &Args, scenario: &str) -> Result<Self, SimError> {
        let plot = args.plot.as_ref();
        let paths = [
            args.json.as_ref().filter(|path| !is_standard(path)),
            args.frames.as_ref(),
            args.packets.as_ref(),
            plot.map(|plot| &plot.path),
        ];
        let mut seen = BTreeSet::new();
        if let Some(path) = paths.into_iter().flatten().find(|path| !seen.insert(*path)) {
            return Err(SimError::SameFile { path: path.clone() });
        }
        Ok(Self {
            json: args.json.as_deref().map(Sink::create).transpose()?,
            frames: Recorder::create(args.frames.as_deref(), scenario)?,
            packets: Recorder::create(args.packets.as_deref(), scenario)?,
            plot: match plot {
                Some(plot) => Some((Sink::create(&plot.path)?, plot.format)),
                None => None,
            },
        })
    }

    /// Whether somebody wants the frames of each run, the packets of each run,
    /// and a plot.
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
        let Some((sink, format)) = &mut self.plot else {
            return Ok(());
        };
        let bytes = match format {
            Format::Svg => figure.to_svg()?.into_bytes(),
            Format::Png => figure.to_png()?,
            Format::Html => figure.to_html(tables)?.into_bytes(),
        };
        sink.write(&bytes)
    }

    /// Writes one line of JSON for each run.
    pub(super) fn json(&mut self, runs: &[impl Serialize]) -> Result<(), SimError> {
        let Some(sink) = &mut self.json else {
            return Ok(());
        };
        let mut text = Vec::new();
        for run in runs {
            serde_json::to_writer(&mut text, run)?;
            text.push(b'\n');
        }
        sink.write(&text)
    }

    /// Ends the recordings.
    pub(super) fn finish(self) -> Result<(), SimError> {
        self.frames.map_or(Ok(()), Recorder::finish)?;
        self.packets.map_or(Ok(()), Recorder::finish)
    }
}

/// To standard output; a reader that has gone away is no error.
pub(crate) fn print(text: &str) -> Result<(), SimError> {
    Sink {
        path: PathBuf::from("-"),
        file: None,
    }
    .write(text.as_bytes())
}

fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// A file, or standard output where there is none.
pub(crate) struct Sink {
    path: PathBuf,
    file: Option<File>,
}

impl Sink {
    /// Creates the file at `path`; none for `-`.
    pub(crate) fn create(path: &Path) -> Result<Self, SimError> {
        let file = if is_standard(path) {
            None
        } else {
            Some(create(path)?)
        };
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), SimError> {
        let result = if let Some(file) = &mut self.file {
            file.write_all(bytes)
        } else {
            let mut out = std::io::stdout().lock();
            out.write_all(bytes).and_then(|()| out.flush())
        };
        match result {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(source) => Err(SimError::Write {
                path: self.path.clone(),
                source,
            }),
            Ok(()) => Ok(()),
        }
    }
}

/// A recording and the file that it goes to.
struct Recorder<R> {
    path: PathBuf,
    recording: Recording<R, BufWriter<File>>,
}

impl<R: Row> Recorder<R> {
    fn create(path: Option<&Path>, scenario: &str) -> Result<Option<Self>, SimError> {
        let Some(path) = path else {
            return Ok(None);
        };
        let sink = BufWriter::new(create(path)?);
        let recording = Recording::new(sink, scenario).map_err(|source| failed(path, source))?;
        Ok(Some(Self {
            path: path.to_owned(),
            recording,
        }))
    }

    fn append(&mut self, table: &Table<R>) -> Result<(), SimError> {
        let Self { path, recording } = self;
        recording
            .append(table)
            .map_err(|source| failed(path, source))
    }

    fn finish(self) -> Result<(), SimError> {
        let result = self.recording.finish();
        result
            .map(drop)
            .map_err(|source| failed(&self.path, source))
    }
}

fn failed(path: &Path, source: RecordError) -> SimError {
    SimError::Record {
        path: path.to_owned(),
        source,
    }
}

fn create(path: &Path) -> Result<File, SimError> {
    File::create(path).map_err(|source| SimError::Create {
        path: path.to_owned(),
        source,
    })
}
