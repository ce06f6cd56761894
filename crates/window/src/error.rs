//! Why there is no window, no picture or no sound.

use crate::raw::Refusal;

/// Why there is no window, no picture or no sound.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WindowError {
    /// There is nothing to show a window on.
    #[error(
        "no window can be shown: {reason}. Start this in a desktop session, or say where to show it: `DISPLAY=:0` for an X server, `ssh -X` from afar"
    )]
    NoDisplay {
        /// SDL's word for why.
        reason: String,
    },
    /// A program has one.
    #[error("this program has a window already; close that one first")]
    Second,
    /// SDL's window belongs to the thread that used SDL first.
    #[error(
        "SDL was first used in another thread; open the window before the loudspeaker, or in the same thread"
    )]
    Thread,
    /// SDL did not do something with the window.
    #[error("{operation} failed: {reason}")]
    Failed {
        /// What.
        operation: &'static str,
        /// SDL's word for why.
        reason: String,
    },
    /// There is nothing to play sound with.
    #[error(
        "no sound can be played: {reason}. See that PulseAudio or PipeWire runs, or play without sound"
    )]
    NoSound {
        /// SDL's word for why.
        reason: String,
    },
    /// Not a rate or number of channels that sound has.
    #[error("sound of {rate} Hz in {channels} channels; state 8000 to 192000 Hz, 1 to 8 channels")]
    Sound {
        /// Samples per second.
        rate: u32,
        /// Channels.
        channels: u8,
    },
}

impl WindowError {
    /// What an operation failed for.
    pub(crate) fn failed(operation: &'static str) -> impl Fn(Refusal) -> Self {
        move |refusal| Self::Failed {
            operation,
            reason: refusal.to_string(),
        }
    }
}
