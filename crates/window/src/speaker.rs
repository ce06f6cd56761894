//! Sound.

use mimosa_units::TimeDelta;

use crate::error::WindowError;
use crate::raw::RawSpeaker;

/// Plays samples on the system's loudspeaker, in the order in which they are queued.
/// Where there are none it plays silence, and goes on with the next.
#[derive(Debug)]
pub struct Speaker {
    raw: RawSpeaker,
    rate: u32,
    channels: u8,
}

impl Speaker {
    /// Begins to play; the system is asked to take `at_once` samples for each channel at a
    /// time. A program that has a window opens that first.
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

    /// Appends samples, those of all channels for one time after another.
    pub fn queue(&mut self, samples: &[i16]) {
        if let Err(refusal) = self.raw.put(samples) {
            tracing::debug!("samples are not played: {refusal}");
        }
    }

    /// How long it takes to play what is queued and was not taken by the system yet. What
    /// it has taken is heard after its own delay, which is not in this.
    #[must_use]
    pub fn queued(&self) -> TimeDelta {
        self.time(self.raw.waiting() / self.frame())
    }

    /// What the system takes at a time: it is heard after that, and what is queued must be at
    /// least as much.
    #[must_use]
    pub fn at_once(&self) -> TimeDelta {
        self.time(self.raw.at_once())
    }

    /// For how long there was nothing to play, since this was asked last.
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

    /// Throws away what is queued and was not taken by the system yet.
    pub fn clear(&mut self) {
        self.raw.clear();
    }
}
