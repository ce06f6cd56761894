//! The errors of this crate.

use std::io;

/// The reason why there is no sound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AudioError {
    /// A program is not installed on this machine.
    #[error(
        "`{program}` is not installed; install it: apt-get install {package}, or play without sound: --sound off"
    )]
    Missing {
        /// The program's name.
        program: &'static str,
        /// The program's package in Debian.
        package: &'static str,
    },
    /// A program does not start, or its folder cannot be made.
    #[error("starting `{program}`: {error}")]
    Start {
        /// The program's name.
        program: &'static str,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// PulseAudio ended, or took no connections.
    #[error(
        "PulseAudio was not ready; try it by hand, `pulseaudio -n --daemonize=no`. It wrote:\n{written}"
    )]
    NotReady {
        /// The last lines that PulseAudio wrote.
        written: String,
    },
    /// The recording has ended.
    #[error(
        "the recording of `{device}` has ended; `pactl list short sources` says what there is. It wrote:\n{written}"
    )]
    Ended {
        /// The device that was recorded.
        device: String,
        /// The last lines that `parec` wrote.
        written: String,
    },
    /// libopus refuses its settings or a block.
    #[error("Opus: {0}")]
    Opus(#[from] opus::Error),
}

impl AudioError {
    /// The error of a program that does not start.
    pub(crate) fn starting(
        program: &'static str,
        package: &'static str,
    ) -> impl Fn(io::Error) -> Self {
        move |error| match error.kind() {
            io::ErrorKind::NotFound => Self::Missing { program, package },
            _ => Self::Start { program, error },
        }
    }
}
