//! Playing sound.

use mimosa_units::TimeDelta;

use crate::error::WindowError;
use crate::raw::RawSpeaker;

/// A player of samples on the system's loudspeaker, in the order in which they are queued.
/// When the queue is empty it plays silence until the next samples come.
#[derive(Debug)]
pub struct Speaker {
    raw: RawSpeaker,
    rate: u32,
    channels: u8,
}

impl Speaker {
    /// Begins to play; the system is asked to take `at_once` samples per channel at a time.
    /// A program with a window opens the window first.
    ///
    /// # Errors
    ///
    /// [`WindowError::NoSound`] or [`WindowError::Sound`].
    pub fn open(rate: u32, channels: u8, at_once: u32) -> Result<Self, WindowError> {
        let hertz = i32::try_from(rate).unwrap_or_default();
        if !(8_000..=192_000).contains(&hertz) || !(1..=8).contains(&channels) {
            return Err(WindowError::Sound { rate, channels });
        }
        let raw = RawSpeaker::open(hertz, i32::from(channels), at_once).map_err(|refusal| {
            WindowError::NoSound {
                reason: refusal.to_string(),
            }
        })?;
        Ok(Self {
            raw,
            rate,
            channels,
        })
    }

    /// Queues samples: those of all channels for one time after another.
    pub fn queue(&mut self, samples: &[i16]) {
        if let Err(refusal) = self.raw.put(samples) {
            tracing::debug!("samples are not played: {refusal}");
        }
    }

    /// The time that it takes to play the samples that the system has not taken yet.
    /// Samples that it has taken are heard after its own delay, which is not included.
    #[must_use]
    pub fn queued(&self) -> TimeDelta {
        self.time(self.raw.waiting() / self.frame())
    }

    /// The amount that the system takes at a time: a sample is heard after at least this
    /// time, and the queue must hold at least as much.
    #[must_use]
    pub fn at_once(&self) -> TimeDelta {
        self.time(self.raw.at_once())
    }

    /// The time for which the queue was empty since the last call.
    pub fn take_silence(&mut self) -> TimeDelta {
        let lacking = self.raw.take_lacking();
        self.time(lacking / self.frame())
    }

    const fn frame(&self) -> usize {
        size_of::<i16>() * self.channels as usize
    }

    fn time(&self, frames: usize) -> TimeDelta {
        TimeDelta::from_secs(frames as f64 / f64::from(self.rate))
    }

    /// Throws away the samples that the system has not taken yet.
    pub fn clear(&mut self) {
        self.raw.clear();
    }
}
