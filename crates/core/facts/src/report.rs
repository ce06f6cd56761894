//! What a receiver reports about packets that arrived.

use mimosa_units::{Ecn, PeerTime};

use crate::number::TransportSequence;

/// The arrival of one packet in a report. `N` is the space of the packet's number: transport-wide,
/// unless a report is about one RTP stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrival<N = TransportSequence> {
    /// Number of the packet on the wire.
    pub sequence: N,
    /// When the packet arrived, on the receiver's clock.
    pub at: PeerTime,
    /// ECN field with which the packet arrived.
    pub ecn: Ecn,
}

/// Packets that have not arrived as far as a report says.
#[derive(Clone, Debug, PartialEq)]
pub struct Absences<N = TransportSequence> {
    /// Packets that had not arrived when the receiver reported on them.
    pub missing: Vec<N>,
    /// Packets that no report will say anything about, because the report on them was lost. Most of
    /// them have arrived.
    pub unknown: Vec<N>,
}

impl<N> Default for Absences<N> {
    fn default() -> Self {
        Self {
            missing: Vec::new(),
            unknown: Vec::new(),
        }
    }
}

/// One feedback message about arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalReport<N = TransportSequence> {
    /// Packets in the order of their arrival. A report may repeat packets of earlier ones.
    pub arrivals: Vec<Arrival<N>>,
    /// Packets that have not arrived, where reports are not repeated: a packet is then lost only if
    /// a report says so. `None` where a packet is lost as soon as later packets have arrived.
    pub absences: Option<Absences<N>>,
}

impl<N> Default for ArrivalReport<N> {
    fn default() -> Self {
        Self {
            arrivals: Vec::new(),
            absences: None,
        }
    }
}
