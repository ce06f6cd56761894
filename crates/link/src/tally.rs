//! What a direction has done, and how punctually.

use hdrhistogram::Histogram;
use mimosa_emulation::{Counts, Monitor};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Latenesses above ten seconds count as ten.
const LONGEST_NANOS: u64 = 10_000_000_000;

/// How late packets left, to three digits.
#[derive(Clone, Debug, PartialEq)]
pub struct Lateness {
    /// `None` only if the histogram's own constants were refused.
    counts: Option<Histogram<u64>>,
}

impl Default for Lateness {
    fn default() -> Self {
        Self {
            counts: Histogram::new_with_bounds(1, LONGEST_NANOS, 3).ok(),
        }
    }
}

impl Lateness {
    pub(crate) fn note(&mut self, late: TimeDelta) {
        if let Some(counts) = &mut self.counts {
            counts.saturating_record(late.as_nanos().max(0).unsigned_abs());
        }
    }

    /// What this share of the packets is not later than; `None` without packets.
    #[must_use]
    pub fn at(&self, share: f64) -> Option<TimeDelta> {
        let counts = self.counts.as_ref().filter(|counts| !counts.is_empty())?;
        let nanos = counts.value_at_quantile(share).min(counts.max());
        Some(TimeDelta::from_nanos(nanos.cast_signed()))
    }

    /// The largest; zero without packets.
    #[must_use]
    pub fn most(&self) -> TimeDelta {
        self.at(1.0).unwrap_or(TimeDelta::ZERO)
    }
}

/// What a direction has done.
#[derive(Clone, Debug)]
pub struct Tally {
    /// When this was so.
    pub at: Time,
    /// The link's rate.
    pub rate: Rate,
    /// What became of packets.
    pub counts: Counts,
    /// Packets still in the queue, the link or on the path.
    pub inside: u64,
    /// Bytes that wait, or are being serialised.
    pub backlog: Bytes,
    /// What was read and is no IP packet.
    pub not_ip: u64,
    /// Packets released that the other end did not take.
    pub unwritten: u64,
    /// How late packets left.
    pub lateness: Lateness,
    /// Queue by queue.
    pub monitor: Monitor,
}

impl Tally {
    pub(crate) fn new(lanes: usize, now: Time) -> Self {
        Self {
            at: now,
            rate: Rate::ZERO,
            counts: Counts::default(),
            inside: 0,
            backlog: Bytes::ZERO,
            not_ip: 0,
            unwritten: 0,
            lateness: Lateness::default(),
            monitor: Monitor::new(lanes, now),
        }
    }
}
