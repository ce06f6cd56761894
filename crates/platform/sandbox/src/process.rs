//! One decoder's process, from the side that asks it for pictures.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::net::Shutdown;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use mimosa_facts::Codec;

use crate::error::{Death, SandboxError};
use crate::memory::{LARGEST_PICTURE, Memory};
use crate::message::{ANSWER, Answer, BadAnswer, Request};

/// How long a process may take to be ready. It loads libavcodec with some hundred libraries, from a disk that
/// may be slow.
const READY_WITHIN: Duration = Duration::from_secs(20);
/// How long a process may take for a frame: more than any, on any machine that plays.
const ANSWER_WITHIN: Duration = Duration::from_secs(4);
/// The one variable of the environment that a process keeps: without it, the system's loader may not find
/// libavcodec.
const KEPT: &str = "LD_LIBRARY_PATH";

/// A program that calls [`serve`](crate::serve) when it is started with these arguments, and that number of
/// threads after them.
///
/// All clones count together how many of their processes were ended by what they decoded, so that a host
/// which breaks a session off gets no further ones by that.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
    deaths: Arc<AtomicU32>,
}

impl Program {
    /// A program with its arguments.
    pub fn new(
        path: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item: Into<OsString>>,
    ) -> Self {
        Self {
            path: path.into(),
            arguments: arguments.into_iter().map(Into::into).collect(),
            deaths: Arc::default(),
        }
    }

    /// The program that runs, with this command in front of the number of threads. Whatever is installed in
    /// its place meanwhile, it is the same.
    #[must_use]
    pub fn own(command: &str) -> Self {
        Self::new("/proc/self/exe", [command])
    }

    /// Counts a process that was ended. Returns how many there were.
    pub(crate) fn count_death(&self) -> u32 {
        self.deaths.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// Ends whatever wait for a process is under way, from another thread.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Mutex<Stopping>>);

#[derive(Debug, Default)]
struct Stopping {
    is_stopped: bool,
    /// The socket to the process that is asked at the moment.
    socket: Option<UnixStream>,
}

impl Stop {
    /// Has no process asked any more.
    pub fn stop(&self) {
        let mut stopping = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopping.is_stopped = true;
        if let Some(socket) = stopping.socket.take() {
            // It is closed already if that fails.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Whether no process is asked any more.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        let stopping = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        stopping.is_stopped
    }

    /// Takes note of the process that is asked from here on.
    pub(crate) fn watch(&self, process: &Process) {
        let mut stopping = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if stopping.is_stopped {
            let _ = process.socket.shutdown(Shutdown::Both);
        } else {
            stopping.socket = process.socket.try_clone().ok();
        }
    }
}

/// A process. It ends with this value, and with the thread that has started it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    socket: UnixStream,
    memory: Memory,
    /// A request with its bytes, sent in one piece.
    sent: Vec<u8>,
}

impl Process {
    /// Starts a process, and does not wait until it is ready.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Start`].
    pub(crate) fn start(program: &Program, threads: u8) -> Result<Self, SandboxError> {
        Self::spawn(program, threads).map_err(SandboxError::Start)
    }

    fn spawn(program: &Program, threads: u8) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let memory = Memory::new(LARGEST_PICTURE)?;
        let mut command = Command::new(&program.path);
        command
            .args(&program.arguments)
            .arg(threads.to_string())
            .env_clear()
            .envs(std::env::var_os(KEPT).map(|value| (KEPT, value)))
            .stdin(OwnedFd::from(theirs))
            .stdout(memory.file().try_clone_to_owned()?)
            .stderr(Stdio::null())
            // A key that ends the client in a terminal does not reach it.
            .process_group(0);
        Ok(Self {
            child: command.spawn()?,
            socket,
            memory,
            sent: Vec::new(),
        })
    }

    /// Waits until the process is ready. Returns the codecs that it decodes.
    ///
    /// # Errors
    ///
    /// [`SandboxError::Failed`] or [`SandboxError::Unready`].
    pub(crate) fn wait_until_ready(&mut self) -> Result<Vec<Codec>, SandboxError> {
        match self.answer(READY_WITHIN).map_err(SandboxError::Unready)? {
            Answer::Ready { codecs } => Ok(codecs),
            Answer::Failed { reason } => Err(SandboxError::Failed(reason)),
            _ => Err(SandboxError::Unready(self.end(BadAnswer::OutOfTurn.into()))),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The memory in which the process shows pictures.
    pub(crate) const fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Sends a request with its bytes.
    ///
    /// # Errors
    ///
    /// How the process ended.
    pub(crate) fn ask(&mut self, request: Request, bytes: &[u8]) -> Result<(), Death> {
        self.sent.clear();
        self.sent.extend_from_slice(&request.bytes());
        self.sent.extend_from_slice(bytes);
        // A process that has nothing to decode reads at once, so that each wait in between is short.
        let sent = self
            .socket
            .set_write_timeout(Some(ANSWER_WITHIN))
            .and_then(|()| self.socket.write_all(&self.sent));
        sent.map_err(|error| self.failed(&error, ANSWER_WITHIN))
    }

    /// Waits for the answer about the frame with this number.
    ///
    /// # Errors
    ///
    /// How the process ended.
    pub(crate) fn answer_about(&mut self, expected: u64) -> Result<Answer, Death> {
        let answer = self.answer(ANSWER_WITHIN)?;
        match answer {
            Answer::Picture { number, .. }
            | Answer::Nothing { number }
            | Answer::Refused { number, .. }
                if number == expected =>
            {
                Ok(answer)
            }
            Answer::Picture { number: got, .. }
            | Answer::Nothing { number: got }
            | Answer::Refused { number: got, .. } => {
                Err(self.end(BadAnswer::Number { expected, got }.into()))
            }
            Answer::Ready { .. } | Answer::Failed { .. } => {
                Err(self.end(BadAnswer::OutOfTurn.into()))
            }
        }
    }

    /// Waits for an answer, which has to come as it was sent, in one piece: a process that gives its bytes
    /// one by one would be waited for longer.
    fn answer(&mut self, within: Duration) -> Result<Answer, Death> {
        let mut bytes = [0; ANSWER];
        let read = self.socket.set_read_timeout(Some(within)).and_then(|()| {
            loop {
                match self.socket.read(&mut bytes) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    read => return read,
                }
            }
        });
        match read {
            Ok(0) => Err(self.ended()),
            Ok(count) => Answer::parse(bytes.get(..count).unwrap_or_default())
                .map_err(|bad| self.end(bad.into())),
            Err(error) => Err(self.failed(&error, within)),
        }
    }

    /// How the process ended with which `error` came.
    fn failed(&mut self, error: &io::Error, within: Duration) -> Death {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                self.end(Death::Silent(within.as_secs()))
            }
            _ => self.ended(),
        }
    }

    /// Ends a process for what it has done.
    pub(crate) fn end(&mut self, death: Death) -> Death {
        self.ended();
        death
    }

    /// How a process has ended that has closed its socket, as it does when it ends. One that has not ended
    /// is killed.
    fn ended(&mut self) -> Death {
        // It has ended already if that fails.
        let _ = self.child.kill();
        let killed = Death::Signal(libc::SIGKILL);
        self.child.wait().map_or(killed, Death::of)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.ended();
    }
}
