//! What a receiver reports of packets that arrived.

use mimosa_units::{Ecn, PeerTime};

use crate::number::TransportSequence;

/// The arrival of one packet, as a report carries it. `N` is the space that numbers the
/// packet: transport-wide numbers unless a report is about one RTP stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrival<N = TransportSequence> {
    /// Number of the packet on the wire.
    pub sequence: N,
    /// When the packet arrived, on the receiver's clock.
    pub at: PeerTime,
    /// ECN field that the packet arrived with.
    pub ecn: Ecn,
}

/// One feedback message about arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalReport<N = TransportSequence> {
    /// Packets in the order of their arrival. May repeat earlier reports.
    pub arrivals: Vec<Arrival<N>>,
}

impl<N> Default for ArrivalReport<N> {
    fn default() -> Self {
        Self {
            arrivals: Vec::new(),
        }
    }
}
