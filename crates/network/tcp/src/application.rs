//! The application that writes to a TCP connection.

use mimosa_units::{Bytes, Rate, Time};

/// A model of the application that writes to the connection.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Application {
    /// An application that always has more to send: a bulk transfer.
    #[default]
    Greedy,
    /// An application that has this much to send, all at once: a short flow.
    Finite(Bytes),
    /// An application that writes payload at this rate without end.
    Limited(Rate),
}

impl Application {
    /// Length of the segment that begins at `sequence`, if it can be sent at `now` and the
    /// application started at `start`; `None` otherwise. Every segment is full except the last of a
    /// finite transfer.
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

    /// When a segment that begins at `sequence` can be sent; `None` for never.
    pub(crate) fn ready_at(self, start: Time, sequence: u64, mss: Bytes) -> Option<Time> {
        match self {
            Self::Greedy => Some(start),
            Self::Finite(size) => (size > Bytes::new(sequence)).then_some(start),
            Self::Limited(rate) if rate == Rate::ZERO => None,
            Self::Limited(rate) => Some(start + rate.transmit_time(Bytes::new(sequence) + mss)),
        }
    }
}
