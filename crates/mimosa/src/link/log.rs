//! The log of a link's packets, written while they pass.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread::JoinHandle;

use mimosa_emulation::{Fate, Passage};
use mimosa_record::{LinkFate, LinkPacket, LinkRecorder, Rtp};

use super::error::CliError;

/// What a direction tells of a packet, and whether it went there.
type Told = (bool, Passage);

/// A log being written.
pub(super) struct Log {
    path: PathBuf,
    /// Its name until it is whole.
    part: PathBuf,
    thread: JoinHandle<Result<(), CliError>>,
}

impl Log {
    /// Begins the log at `path` of the link that `about` describes, a JSON object; what
    /// the sender is given goes into it.
    pub(super) fn begin(
        path: &Path,
        about: &serde_json::Value,
        [there, back]: &[Vec<String>; 2],
    ) -> Result<(Self, mpsc::Sender<Told>), CliError> {
        let mut part = path.as_os_str().to_owned();
        part.push(".part");
        let part = PathBuf::from(part);
        let failed = |why: String| CliError::Log {
            path: path.to_owned(),
            why,
        };
        let file = File::create(&part).map_err(|error| failed(error.to_string()))?;
        let mut recorder =
            LinkRecorder::new(BufWriter::new(file), &about.to_string(), there, back)?;
        let (told, passages) = mpsc::channel::<Told>();
        let write = move || {
            for (is_forward, passage) in passages {
                recorder.push(row(is_forward, &passage))?;
            }
            recorder.finish()?;
            Ok(())
        };
        let thread = std::thread::Builder::new()
            .name("link-log".to_owned())
            .spawn(write)
            .map_err(|error| failed(error.to_string()))?;
        let path = path.to_owned();
        Ok((Self { path, part, thread }, told))
    }

    /// Ends it, once all senders are gone, and gives it its name.
    pub(super) fn finish(self) -> Result<(), CliError> {
        let written = self
            .thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        written?;
        std::fs::rename(&self.part, &self.path).map_err(|error| CliError::Log {
            path: self.path,
            why: error.to_string(),
        })
    }
}

fn row(is_forward: bool, passage: &Passage) -> LinkPacket {
    LinkPacket {
        is_forward,
        header: passage.header,
        size: passage.size,
        ecn_in: passage.ecn_in,
        ecn_out: passage.ecn_out,
        offered: passage.offered,
        started: passage.started,
        finished: passage.finished,
        fate: match passage.fate {
            Fate::Due(at) => LinkFate::Due(at),
            Fate::Dropped => LinkFate::Dropped,
            Fate::Lost => LinkFate::Lost,
        },
        queue: passage.lane,
        backlog: passage.backlog,
        rtp: passage.rtp.map(|rtp| Rtp {
            ssrc: rtp.ssrc,
            sequence: rtp.sequence,
        }),
    }
}
