//! What a direction has done, and how punctually.

use mimosa_net::{Counts, DelayCount, Monitor};
use mimosa_units::{Bytes, Rate, Time};

/// Latenesses are told apart to so many digits.
const DIGITS: u8 = 3;

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
    pub lateness: DelayCount,
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
            lateness: DelayCount::new(DIGITS),
            monitor: Monitor::new(lanes, now),
        }
    }
}
