//! Queue disciplines: who waits, who is marked, who is dropped.

mod droptail;

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time};

pub use droptail::{DropTail, Limit};

/// A packet that waits, and since when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Waiting<P> {
    /// The packet.
    pub packet: P,
    /// When it was offered.
    pub since: Time,
}

/// A queue in front of a link. The link owns time; the queue owns order.
///
/// Every packet offered comes back exactly once: from `dequeue`, or in
/// `dropped`. The link's serialisation and propagation are not its business.
pub trait Queue<P>: Debug + Send {
    /// Offers `packet` at `now`; packets given up, this or others, go to
    /// `dropped`.
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>);

    /// Takes the next packet to serialise at `now`, marked if need be.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>>;

    /// Data waiting.
    fn backlog(&self) -> Bytes;

    /// Packets waiting.
    fn len(&self) -> usize;

    /// Whether nothing waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The link's rate is `rate` from now on; for limits stated in time.
    fn rate_changed(&mut self, rate: Rate) {
        let _ = rate;
    }
}
