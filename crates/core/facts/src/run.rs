//! A run of a network as a whole: the packets that are counted, and what the end shows.

use std::ops::AddAssign;

use mimosa_units::{Bytes, Time};

/// A packet that a flow sent, as far as it is counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlowPacket {
    /// Number of the packet's flow, counted from zero in the order of the scenario.
    pub flow: usize,
    /// Size of the packet on the wire, IP header included.
    pub size: Bytes,
    /// When the packet was offered to the first queue.
    pub offered: Time,
}

/// What became of every packet, each counted where it was seen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Balance {
    /// Packets offered to a queue, reports included where they pass one.
    pub offered: u64,
    /// Packets that arrived where they were to go.
    pub arrived: u64,
    /// Packets that a queue gave up, or that were lost on a path.
    pub lost: u64,
    /// Packets found in a queue, a serialiser or on a path at the end.
    pub inside: u64,
}

impl Balance {
    /// Whether every packet was delivered, dropped or still inside.
    #[must_use]
    pub const fn is_even(&self) -> bool {
        self.offered == self.arrived + self.lost + self.inside
    }
}

impl AddAssign for Balance {
    fn add_assign(&mut self, other: Self) {
        self.offered += other.offered;
        self.arrived += other.arrived;
        self.lost += other.lost;
        self.inside += other.inside;
    }
}

/// What is known only when a run is over.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct RunEnd {
    /// How often a part of the network acted.
    pub steps: u64,
    /// Packets found in a queue, a serialiser or on a path to a receiver.
    pub inside: u64,
    /// What became of the packets that receivers sent over links. Packets of receivers inside
    /// a queue or a serialiser count in [`Self::inside`] alone.
    pub reports: Balance,
}
