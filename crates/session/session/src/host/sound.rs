//! A session's sound: its RTP clock, and what the page reports about it.

use mimosa_protocol::control::{Millis, RtpClock};
use mimosa_units::{Time, TimeDelta};

use super::Session;
use super::job::{REDUNDANCY, SoundFrame};

/// Gives a session's sound its RTP timestamps.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoundClock {
    offset: u32,
    newest: Option<RtpClock>,
}

/// What the page last reported about the sound that it plays.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Heard {
    /// How much later sound is heard than the picture of the same moment is seen; negative if
    /// earlier.
    pub(crate) skew: Option<TimeDelta>,
    /// Number of samples that the page has made up since the session's start.
    pub(crate) concealed: Option<u64>,
}

impl SoundClock {
    /// A clock that begins at `offset`, which should be random (RFC 3550, section 5.1).
    pub(super) const fn new(offset: u32) -> Self {
        Self {
            offset,
            newest: None,
        }
    }

    /// The RTP timestamp of sample number `sample`, captured at `captured`: 48 kHz (RFC 7587,
    /// section 4.1).
    pub(super) fn timestamp(&mut self, sample: u64, captured: Time) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "it wraps by design")]
        let rtp = self.offset.wrapping_add(sample as u32);
        self.newest = Some(clock(rtp, captured));
        rtp
    }

    /// The newest RTP timestamp with its time of capture; `None` before the first.
    pub(super) const fn newest(&self) -> Option<RtpClock> {
        self.newest
    }
}

/// The statement that `rtp` stands for `time` on the host's clock.
pub(super) const fn clock(rtp: u32, time: Time) -> RtpClock {
    RtpClock {
        rtp,
        time: Millis(time.since(Time::ZERO)),
    }
}

impl Session {
    /// Whether this session is sent sound.
    #[must_use]
    pub fn hears(&self) -> bool {
        self.is_connected() && self.transport.agreed().has_sound
    }

    /// Share of packets lost in the last ten seconds, from 0 to 1; `None` if none were sent.
    pub fn loss(&mut self, now: Time) -> Option<f64> {
        self.statistics.loss(now)
    }

    /// Says whether there is no sound for now, which the statistics tell a page that would hear it.
    pub fn sound_is_away(&mut self, is_away: bool) {
        self.statistics.sound_is_away = is_away && self.transport.agreed().has_sound;
    }

    /// Sends a block of sound at once, past the pacer.
    pub fn sound(&mut self, now: Time, frame: &SoundFrame) {
        if !self.hears() {
            return;
        }
        // Packets repeat earlier frames while packets are lost, and while the loss is unknown.
        let is_lossless = self.loss(now) == Some(0.0);
        let takes_redundancy = self.transport.agreed().takes_redundancy;
        let redundancy = if is_lossless || !takes_redundancy {
            0
        } else {
            REDUNDANCY
        };
        let timestamp = self.sound.timestamp(frame.sample, frame.captured);
        let sent = self
            .transport
            .send_sound(now, timestamp, &frame.data, redundancy);
        self.statistics
            .sound(now, sent, redundancy, self.sound.newest());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_wraps() {
        let mut sound = SoundClock::new(u32::MAX);
        assert_eq!(sound.newest(), None);
        assert_eq!(sound.timestamp(0, Time::from_secs(1)), u32::MAX);
        assert_eq!(sound.timestamp(480, Time::from_secs(2)), 479);
        assert_eq!(sound.newest(), Some(clock(479, Time::from_secs(2))));
        assert_eq!(sound.timestamp((1 << 32) + 1, Time::ZERO), 0);
    }
}
