//! The counts of a direction, and its punctuality.

use mimosa_net::{Counts, DelayCount, Monitor};
use mimosa_units::{Bytes, Rate, Time};

/// Number of decimal digits to which lateness is recorded.
const DIGITS: u8 = 3;

/// The counts of a direction at one time.
#[derive(Clone, Debug)]
pub struct Tally {
    /// The time of the counts.
    pub at: Time,
    /// Rate of the link.
    pub rate: Rate,
    /// Counts of packets by their fate.
    pub counts: Counts,
    /// Packets still in the queue, on the link or on the path.
    pub inside: u64,
    /// Bytes that wait or are being serialised.
    pub backlog: Bytes,
    /// Packets read that are not IP.
    pub not_ip: u64,
    /// Packets released that the other end did not accept.
    pub unwritten: u64,
    /// How late packets left.
    pub lateness: DelayCount,
    /// Figures of each queue.
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
            lateness: DelayCount::new(DIGITS),
            monitor: Monitor::new(lanes, now),
        }
    }
}
