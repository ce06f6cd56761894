//! The delay of the network's queue, by round trips in the manner of Copa (section 2.1).

use mimosa_units::{Time, TimeDelta};

use super::config::Config;
use crate::pace::sliding_min::SlidingMin;

/// The divisor of TCP's smoothing of the round trip (RFC 6298, section 2.3).
const RTT_GAIN: u32 = 8;

/// Round trips of packets that arrived.
#[derive(Debug)]
pub(super) struct RoundTrips {
    smoothed: Option<TimeDelta>,
    standing: SlidingMin,
    smallest: SlidingMin,
    /// The longest of this round trip and of the one before, and when this one began.
    peaks: [TimeDelta; 2],
    peak_since: Time,
}

impl RoundTrips {
    pub(super) const fn new(config: &Config) -> Self {
        Self {
            smoothed: None,
            standing: SlidingMin::new(TimeDelta::ZERO),
            smallest: SlidingMin::new(config.min_rtt_window),
            peaks: [TimeDelta::ZERO; 2],
            peak_since: Time::ZERO,
        }
    }

    /// Adds the round trip of a packet whose arrival was reported at `now`; frames come each
    /// `interval`.
    pub(super) fn add(&mut self, now: Time, rtt: TimeDelta, interval: TimeDelta, config: &Config) {
        let rtt = rtt.max(TimeDelta::from_nanos(1));
        let smoothed = self
            .smoothed
            .map_or(rtt, |smoothed| smoothed + (rtt - smoothed) / RTT_GAIN);
        let smoothed = smoothed.max(TimeDelta::from_nanos(1));
        self.smoothed = Some(smoothed);
        self.smallest.add(now, rtt);
        let share = smoothed.scale(config.standing_share);
        let frames = interval.scale(config.standing_frames);
        self.standing.set_window(share.max(frames));
        self.standing.add(now, rtt);
        if now.since(self.peak_since) >= smoothed {
            self.peaks = [TimeDelta::ZERO, self.peaks[0]];
            self.peak_since = now;
        }
        self.peaks[0] = self.peaks[0].max(rtt);
    }

    /// The smoothed round-trip time.
    pub(super) const fn smoothed(&self) -> Option<TimeDelta> {
        self.smoothed
    }

    /// Delay of the standing queue: the smallest recent round trip, less the smallest of all.
    pub(super) fn standing_queue(&self) -> Option<TimeDelta> {
        let smallest = self.smallest.get()?;
        Some((self.standing.get()? - smallest).max(TimeDelta::ZERO))
    }

    /// Delay of the longest queue that a packet met in the last two round trips.
    pub(super) fn peak_queue(&self) -> TimeDelta {
        let smallest = self.smallest.get().unwrap_or(TimeDelta::ZERO);
        (self.peaks[0].max(self.peaks[1]) - smallest).max(TimeDelta::ZERO)
    }
}
