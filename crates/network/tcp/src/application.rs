//! What the sender has to send.

use mimosa_units::{Bytes, Rate, Time};

/// A model of the application that writes to the connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Application {
    /// Always has more: a bulk transfer.
    #[default]
    Greedy,
    /// Has this much, all at once: a short flow.
    Finite(Bytes),
    /// Writes at this rate of payload, for ever.
    Limited(Rate),
}

impl Application {
    /// How long a segment beginning at `sequence` can be at `now`, when the
    /// application started at `start`; `None` when there is none to send yet.
    /// A segment is full, but for the last of all.
    pub(crate) fn segment(
        self,
        now: Time,
        start: Time,
        sequence: u64,
        mss: Bytes,
    ) -> Option<Bytes> {
        if now < start {
            return None;
        }
        match self {
            Self::Greedy => Some(mss),
            Self::Finite(size) => {
                let left = size - Bytes::new(sequence);
                (left > Bytes::ZERO).then(|| left.min(mss))
            }
            Self::Limited(rate) => {
                let written = rate.amount_in(now.since(start));
                (written >= Bytes::new(sequence) + mss).then_some(mss)
            }
        }
    }

    /// When a segment beginning at `sequence` can be sent; `None` for never.
    pub(crate) fn ready_at(self, start: Time, sequence: u64, mss: Bytes) -> Option<Time> {
        match self {
            Self::Greedy => Some(start),
            Self::Finite(size) => (size > Bytes::new(sequence)).then_some(start),
            Self::Limited(rate) if rate == Rate::ZERO => None,
            Self::Limited(rate) => Some(start + rate.transmit_time(Bytes::new(sequence) + mss)),
        }
    }
}
