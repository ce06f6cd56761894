//! A private X server: Xvfb, which draws into memory.

use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use mimosa_system::process::{Group, Log};
use mimosa_video::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::authority::{Authority, Cookie};
use mimosa_system::clock::now;

/// The longest that the server may take to be ready.
const PATIENCE: Duration = Duration::from_secs(20);

/// An X server that no other user can connect to, without a screen to look at. It ends when
/// this value is dropped, and when this process ends for whatever reason.
#[derive(Debug)]
pub struct PrivateServer {
    // Fields drop in this order: the server ends before its files go.
    group: Group,
    authority: Authority,
    display: String,
    log: Log,
}

/// The reason why there is no server.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// Xvfb is not installed on this machine.
    #[error("Xvfb is not installed; install it: apt-get install xvfb")]
    Missing,
    /// Xvfb cannot be started, or its secret cannot be written.
    #[error("starting Xvfb: {0}; see that {temporary} can be written", temporary = std::env::temp_dir().display())]
    Start(#[source] io::Error),
    /// Xvfb ended, or wrote nothing for too long, before it was ready.
    #[error("Xvfb was not ready; try it by hand, `Xvfb -displayfd 1`. It wrote:\n{written}")]
    NotReady {
        /// The last lines that Xvfb wrote.
        written: String,
    },
}

impl PrivateServer {
    /// Starts a server with a screen of `size`, and waits until it is ready.
    ///
    /// # Errors
    ///
    /// [`ServerError`] says what to install or to check.
    pub fn start(size: Size) -> Result<Self, ServerError> {
        let authority = Authority::create().map_err(ServerError::Start)?;
        let (output, written) = io::pipe().map_err(ServerError::Start)?;
        let mut command = Command::new("Xvfb");
        command
            .args(["-displayfd", "1", "-screen", "0"])
            .arg(format!("{size}x24"))
            .args(["-nolisten", "tcp", "-noreset", "-auth"])
            .arg(authority.file())
            .stdout(Stdio::piped())
            .stderr(Stdio::from(written));
        let mut group = Group::spawn(command, Some(authority.directory())).map_err(|error| {
            match error.kind() {
                io::ErrorKind::NotFound => ServerError::Missing,
                _ => ServerError::Start(error),
            }
        })?;
        let log = Log::read("Xvfb", output).map_err(ServerError::Start)?;
        let number = read_number(&mut group).map_err(ServerError::Start)?;
        let Some(number) = number else {
            group.stop();
            return Err(ServerError::NotReady {
                written: log.last_words(),
            });
        };
        Ok(Self {
            group,
            authority,
            display: format!(":{number}"),
            log,
        })
    }

    /// The server's name, for `$DISPLAY`.
    #[must_use]
    pub fn display(&self) -> &str {
        &self.display
    }

    /// The path of the file with the server's secret, for `$XAUTHORITY`.
    #[must_use]
    pub fn authority(&self) -> &Path {
        self.authority.file()
    }

    /// The status with which the server ended, if it did.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.group.has_ended()
    }

    /// The last lines that the server wrote.
    #[must_use]
    pub fn written(&self) -> String {
        self.log.text()
    }

    /// Ends the server and removes its files, as dropping this value does.
    pub fn stop(self) {
        drop(self);
    }

    pub(crate) fn cookie(&self) -> &Cookie {
        self.authority.cookie()
    }
}

/// Waits for the server to write the number of its display, which it does when it is ready.
/// Returns `None` when the server ends or writes nothing for too long.
fn read_number(group: &mut Group) -> io::Result<Option<u32>> {
    let Some(mut output) = group.program().stdout.take() else {
        return Ok(None);
    };
    let patience = now() + PATIENCE;
    let mut line = Vec::new();
    while !line.ends_with(b"\n") {
        let left = patience.saturating_duration_since(now());
        let timeout = Timespec::try_from(left).ok();
        let mut waiting = [PollFd::new(&output, PollFlags::IN)];
        if poll(&mut waiting, timeout.as_ref())? == 0 {
            return Ok(None);
        }
        let mut bytes = [0; 16];
        match output.read(&mut bytes)? {
            0 => return Ok(None),
            read => line.extend_from_slice(&bytes[..read]),
        }
    }
    Ok(String::from_utf8_lossy(&line).trim().parse().ok())
}
