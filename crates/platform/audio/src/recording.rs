//! Recording the sound that a sink plays.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Instant;

use mimosa_facts::sound::{Block, CHANNELS, FRAMES};
use mimosa_system::process::Log;

use crate::error::AudioError;
use mimosa_system::clock::now;

/// The bytes of a sample.
const SAMPLE: usize = size_of::<i16>();

/// A recording by `parec`, which writes samples into a pipe. It ends when this value is
/// dropped, and when this process ends, because nobody reads the pipe any more.
#[derive(Debug)]
pub struct Recording {
    program: Child,
    output: ChildStdout,
    log: Log,
    device: String,
}

impl Recording {
    /// Records `device`, a source as `pactl list short sources` prints it, of the server at
    /// this address; without an address, of the user's own server.
    ///
    /// # Errors
    ///
    /// [`AudioError::Missing`] or [`AudioError::Start`].
    pub fn start(server: Option<&OsStr>, device: &str) -> Result<Self, AudioError> {
        let failed = AudioError::starting("parec", "pulseaudio-utils");
        let (output, written) = io::pipe().map_err(&failed)?;
        let mut command = Command::new("parec");
        command
            .args(["--raw", "--format=s16le", "--rate=48000", "--channels=2"])
            // `parec` is asked for one block at a time, and for wake-ups at least twice as
            // often.
            .args(["--latency-msec=10", "--process-time-msec=5"])
            .arg(format!("--device={device}"))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(written));
        if let Some(server) = server {
            command.env("PULSE_SERVER", server);
        }
        let mut program = command.spawn().map_err(&failed)?;
        let log = Log::read("parec", output).map_err(&failed)?;
        let output = program
            .stdout
            .take()
            .ok_or_else(|| failed(io::ErrorKind::BrokenPipe.into()))?;
        Ok(Self {
            program,
            output,
            log,
            device: device.to_owned(),
        })
    }

    /// Waits for a block; returns it with the time at which it was complete.
    ///
    /// # Errors
    ///
    /// [`AudioError::Ended`] when the recording has ended.
    pub fn read(&mut self) -> Result<(Box<Block>, Instant), AudioError> {
        let mut bytes = [0; FRAMES * CHANNELS * SAMPLE];
        if self.output.read_exact(&mut bytes).is_err() {
            let _ = self.program.kill();
            return Err(AudioError::Ended {
                device: self.device.clone(),
                written: self.log.last_words(),
            });
        }
        let at = now();
        let mut block = Box::new([0; FRAMES * CHANNELS]);
        let (samples, _) = bytes.as_chunks::<SAMPLE>();
        for (sample, &bytes) in block.iter_mut().zip(samples) {
            *sample = i16::from_le_bytes(bytes);
        }
        Ok((block, at))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        // `parec` may have ended by itself.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
