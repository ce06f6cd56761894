//! A child process, and the two pipes to it, of which neither is ever waited for without a bound.

use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use mimosa_foreign::LONGEST_ANSWER;
use mimosa_system::clock::{now, wait};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;

/// How often a process is looked after that is to end.
const LOOK: Duration = Duration::from_millis(1);
/// How long a process that has closed its output may take to end before it is made to.
const PATIENCE: Duration = Duration::from_millis(200);

/// Why no more lines come.
#[derive(Debug)]
pub(crate) enum PipeError {
    /// The process has ended, or closed its output.
    Ended(Option<ExitStatus>),
    /// A line is longer than an answer.
    Long,
    /// The system's error.
    Failed(io::Error),
}

/// A running process.
#[derive(Debug)]
pub(crate) struct Pipe {
    child: Child,
    /// `None` when the process reads no more.
    input: Option<ChildStdin>,
    output: ChildStdout,
    /// What the process has not taken yet.
    unsent: Vec<u8>,
    /// What was read and is not a whole line yet, or more than one.
    received: Vec<u8>,
    /// How long the process may take to end when its input has ended.
    grace: Duration,
}

impl Pipe {
    /// Starts `program` in `folder` with nothing of our environment but `PATH`. Its errors go where
    /// ours go. When the pipe is dropped, the process has `grace` to end before it is killed.
    pub(crate) fn start(
        program: &Path,
        arguments: &[String],
        folder: &Path,
        grace: Duration,
    ) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(arguments).env_clear();
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        if folder != Path::new("") {
            command.current_dir(folder);
        }
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the process has no pipes"));
        };
        let pipe = Self {
            child,
            input: Some(input),
            output,
            unsent: Vec::new(),
            received: Vec::new(),
            grace,
        };
        if let Some(input) = &pipe.input {
            ioctl_fionbio(input, true)?;
        }
        ioctl_fionbio(&pipe.output, true)?;
        Ok(pipe)
    }

    /// Queues a line, which leaves as soon as the process takes it.
    pub(crate) fn send(&mut self, line: &[u8]) {
        self.unsent.extend_from_slice(line);
        self.unsent.push(b'\n');
    }

    /// The next line, without its line break; `None` if there is none within `longest`.
    pub(crate) fn receive(&mut self, longest: Duration) -> Result<Option<Vec<u8>>, PipeError> {
        let until = now() + longest;
        loop {
            self.write().map_err(PipeError::Failed)?;
            if let Some(line) = self.line() {
                return Ok(Some(line));
            }
            if self.received.len() > LONGEST_ANSWER {
                return Err(PipeError::Long);
            }
            if !self.is_ready(until).map_err(PipeError::Failed)? {
                return Ok(None);
            }
            self.read()?;
        }
    }

    /// The first whole line that was read.
    fn line(&mut self) -> Option<Vec<u8>> {
        let end = self.received.iter().position(|byte| *byte == b'\n')?;
        let mut line: Vec<_> = self.received.drain(..=end).collect();
        line.pop();
        Some(line)
    }

    /// Writes as much as the process takes now.
    fn write(&mut self) -> io::Result<()> {
        while let Some(input) = self.input.as_mut().filter(|_| !self.unsent.is_empty()) {
            match input.write(&self.unsent) {
                Ok(written) => drop(self.unsent.drain(..written)),
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock => break,
                    // It reads no more; what it has written still counts.
                    ErrorKind::BrokenPipe => self.input = None,
                    _ => return Err(error),
                },
            }
        }
        Ok(())
    }

    /// Reads what there is.
    fn read(&mut self) -> Result<(), PipeError> {
        let mut buffer = [0; 4_096];
        match self.output.read(&mut buffer) {
            Ok(0) => Err(PipeError::Ended(self.status(PATIENCE))),
            Ok(length) => {
                let bytes = buffer.get(..length).unwrap_or_default();
                self.received.extend_from_slice(bytes);
                Ok(())
            }
            Err(error) => match error.kind() {
                ErrorKind::Interrupted | ErrorKind::WouldBlock => Ok(()),
                _ => Err(PipeError::Failed(error)),
            },
        }
    }

    /// Waits until the process has written something, or takes something that waits for it. Returns
    /// whether it did before `until`.
    fn is_ready(&self, until: Instant) -> io::Result<bool> {
        let mut fds = vec![PollFd::new(&self.output, PollFlags::IN)];
        if let Some(input) = self.input.as_ref().filter(|_| !self.unsent.is_empty()) {
            fds.push(PollFd::new(input, PollFlags::OUT));
        }
        loop {
            let left = until.saturating_duration_since(now());
            let timeout = Timespec::try_from(left).map_err(io::Error::other)?;
            match poll(&mut fds, Some(&timeout)) {
                Ok(ready) => return Ok(ready > 0),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// How the process ended, if it does within `patience`.
    fn status(&mut self, patience: Duration) -> Option<ExitStatus> {
        let until = now() + patience;
        loop {
            match self.child.try_wait() {
                Ok(None) if now() < until => wait(LOOK),
                Ok(status) => return status,
                Err(_) => return None,
            }
        }
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.input = None;
        if !self.grace.is_zero() && self.status(self.grace).is_some() {
            return;
        }
        // An error means that it has ended and was waited for already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
