//! Why there is no sound.

use std::io;

/// Why there is no sound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AudioError {
    /// A program is not on this machine.
    #[error(
        "`{program}` is not there; install it: apt-get install {package}, or play without sound: --sound off"
    )]
    Missing {
        /// Which.
        program: &'static str,
        /// Its package in Debian.
        package: &'static str,
    },
    /// A program or its folder cannot be had.
    #[error("starting `{program}`: {error}")]
    Start {
        /// Which.
        program: &'static str,
        /// The system's reason.
        #[source]
        error: io::Error,
    },
    /// PulseAudio ended, or took no connections.
    #[error(
        "PulseAudio was not ready; try it by hand, `pulseaudio -n --daemonize=no`. It wrote:\n{written}"
    )]
    NotReady {
        /// Its last lines.
        written: String,
    },
    /// The recording has ended.
    #[error(
        "the recording of `{device}` has ended; `pactl list short sources` says what there is. It wrote:\n{written}"
    )]
    Ended {
        /// What was recorded.
        device: String,
        /// The last lines of `parec`.
        written: String,
    },
    /// Opus refuses its settings or a block.
    #[error("Opus: {0}")]
    Opus(#[from] opus::Error),
}

impl AudioError {
    /// Of a program that does not start.
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
