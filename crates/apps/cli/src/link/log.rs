//! Records a link's packets while they pass.

use std::sync::mpsc;
use std::thread::JoinHandle;

use mimosa_facts::{LinkPacket, Passage};
use mimosa_record::LinkRecorder;

use super::error::CliError;
use crate::output::Output;

/// A recording that is being written.
pub(super) struct Log {
    /// The thread that writes; `None` once it has ended.
    thread: Option<JoinHandle<Result<Output, CliError>>>,
}

impl Log {
    /// Begins to record the link that `about`, a JSON object, describes. The packets that the
    /// returned sender is given are written to `output`.
    pub(super) fn begin(
        output: Output,
        about: &serde_json::Value,
        [there, back]: &[Vec<String>; 2],
    ) -> Result<(Self, mpsc::Sender<Passage<LinkPacket>>), CliError> {
        let path = output.path().to_owned();
        let failed = move |source| CliError::Record {
            path: path.clone(),
            source,
        };
        let recorder = LinkRecorder::new(output, &about.to_string(), there, back);
        let mut recorder = recorder.map_err(&failed)?;
        let (told, passages) = mpsc::channel::<Passage<LinkPacket>>();
        let write = move || {
            for passage in passages {
                recorder.push(passage).map_err(&failed)?;
            }
            recorder.finish().map_err(&failed)
        };
        let thread = std::thread::Builder::new()
            .name("link-log".to_owned())
            .spawn(write)
            .map_err(CliError::Thread)?;
        let thread = Some(thread);
        Ok((Self { thread }, told))
    }

    /// Ends the recording once all senders are dropped, and gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), CliError> {
        let Some(thread) = self.thread.take() else {
            return Ok(());
        };
        let written = thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok(written?.finish()?)
    }
}

impl Drop for Log {
    /// Removes a recording that was not finished: once all senders are dropped, the thread returns
    /// the output, which removes its file.
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed on standard error.
            let _ = thread.join();
        }
    }
}
