//! What a controller needs to be told, and what becomes of it with less.
//!
//! Each controller states its [`Needs`] where it is implemented.
//! `docs/embed/feedback.md` has the formats of reports, and measures every controller with each.

use mimosa_units::TimeDelta;

pub use crate::registry::needs;

/// How often reports have to come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reports {
    /// Never.
    Never,
    /// Once for each packet.
    PerPacket,
    /// Once for each frame, after its last packet.
    PerFrame,
    /// Once in this time.
    Every(TimeDelta),
}

/// Whose arrival times, on the receiver's clock, are used.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Arrivals {
    /// Nobody's: that a packet arrived is enough.
    Nothing,
    /// Those of the first and the last packet of each frame.
    Frames,
    /// Those of all packets.
    Packets,
}

/// What a controller is made for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Needs {
    /// Reports as often as this, or more often.
    pub made_for: Reports,
    /// The arrival times that it goes by.
    pub arrivals: Arrivals,
    /// It takes the time until a report comes for time in the network: seldom reports look
    /// like a queue.
    pub counts_waiting: bool,
    /// It answers ECN marks.
    pub uses_ecn: bool,
    /// What becomes of it with less.
    pub with_less: &'static str,
}

impl Reports {
    /// Once in this number of milliseconds.
    pub(crate) const fn every(millis: i64) -> Self {
        Self::Every(TimeDelta::from_millis(millis))
    }
}

impl Needs {
    /// The needs of a controller that looks at the sender's clock alone.
    pub(crate) const fn by_round_trips(with_less: &'static str) -> Self {
        Self {
            made_for: Reports::PerPacket,
            arrivals: Arrivals::Nothing,
            counts_waiting: true,
            uses_ecn: false,
            with_less,
        }
    }

    /// The needs of a controller whose estimates do not know when they were reported.
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
