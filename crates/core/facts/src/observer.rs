//! Who watches what happens: figures, recordings, tests.

use crate::frame::FrameLife;
use crate::passage::{Passage, StreamPacket};

/// Watches a run. Frames come when they end, packets when their fate is known;
/// at the end of the run come the frames still on their way.
pub trait Observer {
    /// A frame's life has ended, or the run has.
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let _ = (flow, life);
    }

    /// A packet's fate is known.
    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        let _ = passage;
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

    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        self.0.packet(passage);
        self.1.packet(passage);
    }
}

/// Sees when it is there.
impl<A: Observer> Observer for Option<A> {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        if let Some(observer) = self {
            observer.frame(flow, life);
        }
    }

    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        if let Some(observer) = self {
            observer.packet(passage);
        }
    }
}
