//! A session's sound: its clock on the wire, and what the page says of it.

use mimosa_protocol::control::{Millis, RtpClock};
use mimosa_units::{Time, TimeDelta};

use super::Session;
use super::job::{REDUNDANCY, SoundFrame};

/// How a session's sound is numbered.
#[derive(Clone, Copy, Debug)]
pub(super) struct SoundClock {
    offset: u32,
    newest: Option<RtpClock>,
}

/// What was heard, as the page has told last.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Heard {
    /// By how much later sound is heard than the picture of the same time is seen.
    pub(crate) skew: Option<TimeDelta>,
    /// Samples made up, since the session's start.
    pub(crate) concealed: Option<u64>,
}

impl SoundClock {
    /// RTP times begin at `offset`, which should be random (RFC 3550, section 5.1).
    pub(super) const fn new(offset: u32) -> Self {
        Self {
            offset,
            newest: None,
        }
    }

    /// RTP time of a sample that was captured at `captured`: 48 kHz (RFC 7587, section
    /// 4.1).
    pub(super) fn timestamp(&mut self, sample: u64, captured: Time) -> u32 {
        #[expect(clippy::cast_possible_truncation, reason = "it wraps by design")]
        let rtp = self.offset.wrapping_add(sample as u32);
        self.newest = Some(clock(rtp, captured));
        rtp
    }

    /// The newest RTP time with its capture; `None` before the first.
    pub(super) const fn newest(&self) -> Option<RtpClock> {
        self.newest
    }
}

/// This RTP time stands for this one of the host's.
pub(super) const fn clock(rtp: u32, time: Time) -> RtpClock {
    RtpClock {
        rtp,
        time: Millis(time.since(Time::ZERO)),
    }
}

impl Session {
    /// Whether sound flows.
    #[must_use]
    pub fn hears(&self) -> bool {
        self.is_connected() && self.transport.agreed().has_sound
    }

    /// Share of packets lost in the last seconds, if any were sent.
    pub fn loss(&mut self, now: Time) -> Option<f64> {
        self.statistics.loss(now)
    }

    /// A block of sound: it leaves at once, past the pacer.
    pub fn sound(&mut self, now: Time, frame: &SoundFrame) {
        if !self.hears() {
            return;
        }
        // A packet makes up for those lost before it, where any are or nobody tells.
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
