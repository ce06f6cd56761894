//! The errors of this crate.

use crate::raw::Refusal;

/// The reason why there is no window, no picture or no sound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// There is no display to show a window on.
    #[error(
        "no window can be shown: {reason}. Start this in a desktop session, or say where to show it: `DISPLAY=:0` for an X server, `ssh -X` from afar"
    )]
    NoDisplay {
        /// SDL's message.
        reason: String,
    },
    /// The program already has a window.
    #[error("this program has a window already; close that one first")]
    Second,
    /// SDL's window belongs to the thread that used SDL first, which is another one.
    #[error(
        "SDL was first used in another thread; open the window before the loudspeaker, or in the same thread"
    )]
    Thread,
    /// An operation on the window failed.
    #[error("{operation} failed: {reason}")]
    Failed {
        /// The operation.
        operation: &'static str,
        /// SDL's message.
        reason: String,
    },
    /// Nothing tells when the display refreshes.
    #[error("the display's refresh is unknown: {reason}")]
    NoRefreshes {
        /// Why.
        reason: String,
    },
    /// There is no device to play sound with.
    #[error(
        "no sound can be played: {reason}. See that PulseAudio or PipeWire runs, or play without sound"
    )]
    NoSound {
        /// SDL's message.
        reason: String,
    },
    /// The rate or the number of channels is not one that sound has.
    #[error("sound of {rate} Hz in {channels} channels; state 8000 to 192000 Hz, 1 to 8 channels")]
    Sound {
        /// The samples per second.
        rate: u32,
        /// The number of channels.
        channels: u8,
    },
}

impl WindowError {
    /// Turns SDL's message into the error of an operation.
    pub(crate) fn failed(operation: &'static str) -> impl Fn(Refusal) -> Self {
        move |refusal| Self::Failed {
            operation,
            reason: refusal.to_string(),
        }
    }
}
