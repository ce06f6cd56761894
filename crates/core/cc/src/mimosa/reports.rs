//! The time between reports, and the part of their granted size that frames use.

use mimosa_units::{Bytes, Time, TimeDelta};

/// Number of gaps between reports that are remembered. The least of them counts, so that
/// one outage does not.
const GAPS: usize = 4;

/// The time between reports, where a report does not come with each packet.
#[derive(Debug, Default)]
pub(super) struct ReportGap {
    newest: Option<Time>,
    gaps: [TimeDelta; GAPS],
    next: usize,
}

impl ReportGap {
    /// Records that a report came.
    pub(super) fn came(&mut self, now: Time) {
        if let Some(newest) = self.newest.replace(now) {
            self.gaps[self.next] = now.since(newest);
            self.next = (self.next + 1) % GAPS;
        }
    }

    /// The least of the last four gaps; zero before there are as many.
    pub(super) fn get(&self) -> TimeDelta {
        self.gaps.iter().copied().min().unwrap_or(TimeDelta::ZERO)
    }
}

/// Weight of a new frame in the smoothed means.
const GAIN: f64 = 1.0 / 32.0;
/// Least part of its grant that a frame counts with. An encoder that uses less has little
/// to show for the moment, and will want the rest again. libx264 leaves 13 to 20 % unused
/// under a tight buffer. `MOST` is the greatest part.
const LEAST: f64 = 0.75;
const MOST: f64 = 1.5;

/// The ratio of frames' sizes to their granted sizes, smoothed.
#[derive(Debug)]
pub(super) struct Fill {
    granted: Option<Bytes>,
    mean: f64,
    /// Smoothed mean distance of the frames' ratios from `mean`.
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
    /// Records the size that is granted to the next frame; `None` if the frame is not to
    /// count.
    pub(super) const fn grant(&mut self, size: Option<Bytes>) {
        self.granted = size;
    }

    /// Records the size of the frame to which the last grant belongs.
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

    /// The smoothed ratio, from 0.75 to 1.5. Where the mean is below 1, twice the mean
    /// distance from it is added, up to 1, which gives the ratio of nearly all frames:
    /// those above the mean would otherwise be more than the link carries.
    pub(super) fn get(&self) -> f64 {
        let nearly_all = self.mean + 2.0 * self.deviation;
        nearly_all.min(self.mean.max(1.0))
    }
}
