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
    /// Begins to play. A program that has a window opens that first.
    ///
    /// # Errors
    ///
    /// [`WindowError::NoSound`] or [`WindowError::Sound`].
    pub fn open(rate: u32, channels: u8) -> Result<Self, WindowError> {
        let hertz = i32::try_from(rate).unwrap_or_default();
        if !(8_000..=192_000).contains(&hertz) || !(1..=8).contains(&channels) {
            return Err(WindowError::Sound { rate, channels });
        }
        let raw = RawSpeaker::open(hertz, i32::from(channels)).map_err(|refusal| {
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
        let frame = size_of::<i16>() * usize::from(self.channels);
        TimeDelta::from_secs((self.raw.waiting() / frame) as f64 / f64::from(self.rate))
    }

    /// Throws away what is queued and was not taken by the system yet.
    pub fn clear(&mut self) {
        self.raw.clear();
    }
}
