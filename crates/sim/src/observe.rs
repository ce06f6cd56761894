//! What a run lets one see: every frame and every packet, when it is decided.

use mimosa_control::PacketKind;
use mimosa_session::FrameLife;
use mimosa_units::{Bytes, Ecn, Time};

/// What became of a packet in the network.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PacketFate {
    /// It arrives at this time.
    Arrived(Time),
    /// A queue gave it up.
    DroppedByQueue,
    /// It was lost after the link.
    LostOnPath,
}

/// A packet's way through the network; what a receiver sends is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PacketRecord {
    /// The flow, counted from zero in the order of the scenario.
    pub flow: usize,
    /// Number on the wire; zero for cross traffic.
    pub sequence: u16,
    /// What it carries; `None` for cross traffic.
    pub kind: Option<PacketKind>,
    /// Its frame, and its place therein.
    pub frame: u64,
    /// Its place in the frame.
    pub index: u32,
    /// Size on the wire.
    pub size: Bytes,
    /// ECN field that it left with.
    pub sent_ecn: Ecn,
    /// ECN field after the last queue.
    pub ecn: Ecn,
    /// When it left the sender and was offered to the first queue.
    pub sent: Time,
    /// First bit on the last link, unless a queue gave it up.
    pub started: Option<Time>,
    /// Last bit there.
    pub finished: Option<Time>,
    /// What became of it.
    pub fate: PacketFate,
}

/// Watches a run. Frames come when they end, packets when their fate is known;
/// at the end of the run come the frames still on their way.
pub trait Observer {
    /// A frame's life has ended, or the run has.
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let _ = (flow, life);
    }

    /// A packet's fate is known.
    fn packet(&mut self, record: &PacketRecord) {
        let _ = record;
    }
}

/// Sees nothing, at no cost.
impl Observer for () {}

/// Both see everything.
impl<A: Observer, B: Observer> Observer for (A, B) {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        self.0.frame(flow, life);
        self.1.frame(flow, life);
    }

    fn packet(&mut self, record: &PacketRecord) {
        self.0.packet(record);
        self.1.packet(record);
    }
}

/// Sees when it is there.
impl<A: Observer> Observer for Option<A> {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        if let Some(observer) = self {
            observer.frame(flow, life);
        }
    }

    fn packet(&mut self, record: &PacketRecord) {
        if let Some(observer) = self {
            observer.packet(record);
        }
    }
}
