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

/// One feedback message about arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrivalReport<N = TransportSequence> {
    /// Packets in the order of their arrival. A report may repeat packets of earlier ones.
    pub arrivals: Vec<Arrival<N>>,
}

impl<N> Default for ArrivalReport<N> {
    fn default() -> Self {
        Self {
            arrivals: Vec::new(),
        }
    }
}
