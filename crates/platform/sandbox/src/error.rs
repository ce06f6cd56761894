//! How decoders' processes end, and why there is none.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use rustix::process::Signal;

use crate::message::BadAnswer;

/// How a decoder's process ended that should have gone on.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Death {
    /// A signal ended the process.
    #[error("{}", words(*.0))]
    Signal(i32),
    /// The process ended itself, with this exit code.
    #[error("it ended with exit code {0}")]
    Ended(i32),
    /// The process did not answer for so many seconds, and was ended.
    #[error("it did not answer for {0} s")]
    Silent(u64),
    /// The process answered what no decoder answers, and was ended.
    #[error("it answered nonsense ({0})")]
    Nonsense(#[from] BadAnswer),
}

impl Death {
    /// How a process ended that has this status.
    pub(crate) fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Signal(signal),
            None => Self::Ended(status.code().unwrap_or_default()),
        }
    }
}

/// What a signal says about the process that it ended.
fn words(signal: i32) -> String {
    let said = match Signal::from_named_raw(signal) {
        // What the filter of system calls ends a process with.
        Some(Signal::SYS) => "it asked the system for something that no decoder needs",
        Some(Signal::SEGV | Signal::BUS | Signal::ILL | Signal::FPE | Signal::TRAP) => "it crashed",
        Some(Signal::ABORT) => "it gave up",
        Some(Signal::KILL) => "it was killed",
        _ => "it was ended",
    };
    format!("{said} (signal {signal})")
}

/// Why there is no decoder in a process of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The system starts no process, or gives no memory or socket for it.
    #[error("no process for the decoder can be started: {0}")]
    Start(#[source] io::Error),
    /// The process has no decoder, or cannot be confined.
    #[error("the decoder's process says: {0}")]
    Failed(String),
    /// The process ended before it was ready.
    #[error("the decoder's process ended before it was ready: {0}")]
    Unready(#[source] Death),
    /// The process was ended too often by what it was to decode.
    #[error(
        "what the host sends has ended the decoder's process {deaths} times, the last time because {last}; it sends what breaks decoders, by mistake or on purpose"
    )]
    GivenUp {
        /// How often a process ended.
        deaths: u32,
        /// How the last one ended.
        last: Death,
    },
}
