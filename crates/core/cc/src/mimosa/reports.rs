//! How far apart reports are, and how much of what was granted frames take.

use mimosa_units::{Bytes, Time, TimeDelta};

/// Gaps looked at. The least counts, so that one outage does not.
const GAPS: usize = 4;

/// The time between reports that do not come with each packet.
#[derive(Debug, Default)]
pub(super) struct ReportGap {
    newest: Option<Time>,
    gaps: [TimeDelta; GAPS],
    next: usize,
}

impl ReportGap {
    /// A report came.
    pub(super) fn came(&mut self, now: Time) {
        if let Some(newest) = self.newest.replace(now) {
            self.gaps[self.next] = now.since(newest);
            self.next = (self.next + 1) % GAPS;
        }
    }

    /// The least of the last gaps.
    pub(super) fn get(&self) -> TimeDelta {
        self.gaps.iter().copied().min().unwrap_or(TimeDelta::ZERO)
    }
}

/// Weight of a new frame.
const GAIN: f64 = 1.0 / 32.0;
/// An encoder that leaves more than this of its grant has little to say for the moment, and
/// will want the rest again. libx264 leaves 13 to 20 % under a tight buffer.
const LEAST: f64 = 0.75;
const MOST: f64 = 1.5;

/// How large frames are beside what was granted, smoothed.
#[derive(Debug)]
pub(super) struct Fill {
    granted: Option<Bytes>,
    mean: f64,
    /// How far frames are from the mean, in the mean.
    deviation: f64,
}

impl Default for Fill {
    fn default() -> Self {
        Self {
            granted: None,
            mean: 1.0,
            deviation: 0.0,
        }
    }
}

impl Fill {
    /// The next frame may have `size`.
    pub(super) const fn grant(&mut self, size: Option<Bytes>) {
        self.granted = size;
    }

    /// It has `size`.
    pub(super) fn took(&mut self, size: Bytes) {
        if let Some(granted) = self.granted.take()
            && granted > Bytes::ZERO
        {
            let fill = size.get() as f64 / granted.get() as f64;
            let fill = fill.clamp(LEAST, MOST);
            self.mean += GAIN * (fill - self.mean);
            self.deviation += GAIN * ((fill - self.mean).abs() - self.deviation);
        }
    }

    /// The mean, from 0.75 to 1.5. Of an encoder that keeps to its grants what nearly all
    /// frames take: those above the mean would be more than the link carries.
    pub(super) fn get(&self) -> f64 {
        let nearly_all = self.mean + 2.0 * self.deviation;
        nearly_all.min(self.mean.max(1.0))
    }
}
