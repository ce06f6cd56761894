//! The feedback that a controller needs, and how it behaves with less.
//!
//! Each controller states its [`Needs`] where it is implemented. `docs/embed/feedback.md`
//! describes the formats of reports, and has measurements of every controller with each format.

use mimosa_units::TimeDelta;

pub use crate::registry::needs;

/// How often reports about packets must come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reports {
    /// No reports are needed.
    Never,
    /// A report must come for each packet.
    PerPacket,
    /// A report must come for each frame, after the frame's last packet.
    PerFrame,
    /// A report must come once in this time.
    Every(TimeDelta),
}

/// The packets whose arrival times, on the receiver's clock, a controller uses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrivals {
    /// No packets: it is enough to know that a packet arrived.
    Nothing,
    /// The first and the last packet of each frame.
    Frames,
    /// All packets.
    Packets,
}

/// The feedback that a controller is made for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Needs {
    /// How often reports must come, at least.
    pub made_for: Reports,
    /// The arrival times that the controller uses.
    pub arrivals: Arrivals,
    /// Whether the controller counts the wait for a report as time in the network, so that
    /// infrequent reports look like a queue.
    pub counts_waiting: bool,
    /// Whether the controller responds to ECN marks.
    pub uses_ecn: bool,
    /// How the controller behaves with less feedback than this, in words.
    pub with_less: &'static str,
}

impl Reports {
    /// A report must come once in this number of milliseconds.
    pub(crate) const fn every(millis: i64) -> Self {
        Self::Every(TimeDelta::from_millis(millis))
    }
}

impl Needs {
    /// The needs of a controller that uses the sender's clock alone: a report for each packet,
    /// whose wait counts as time in the network, no arrival times and no ECN marks.
    pub(crate) const fn by_round_trips(with_less: &'static str) -> Self {
        Self {
            made_for: Reports::PerPacket,
            arrivals: Arrivals::Nothing,
            counts_waiting: true,
            uses_ecn: false,
            with_less,
        }
    }

    /// The needs of a controller whose estimates do not depend on when a report comes, and that
    /// does not respond to ECN marks.
    pub(crate) const fn by_arrivals(
        made_for: Reports,
        arrivals: Arrivals,
        with_less: &'static str,
    ) -> Self {
        Self {
            made_for,
            arrivals,
            counts_waiting: false,
            uses_ecn: false,
            with_less,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::NAMES;

    #[test]
    fn every_controller_says_what_it_needs_and_nothing_else_does() {
        for name in NAMES {
            let needs = needs(name).unwrap_or_else(|| panic!("{name} says nothing"));
            assert!(!needs.with_less.is_empty(), "{name}");
            let is_blind = needs.made_for == Reports::Never;
            assert!(
                !is_blind || !needs.uses_ecn && !needs.counts_waiting,
                "{name}"
            );
        }
        assert_eq!(needs("pudicas"), None);
    }
}
