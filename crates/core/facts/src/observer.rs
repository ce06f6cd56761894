//! The trait of what watches a run: figures, recordings and tests.

use crate::frame::FrameLife;
use crate::passage::{Passage, StreamPacket};

/// Watches a run. Frames are reported when they end and packets when their fate is known. At the
/// end of the run, frames that are still on their way are reported.
pub trait Observer {
    /// Takes a frame whose life has ended, or that was open when the run ended.
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let _ = (flow, life);
    }

    /// Takes a packet whose fate is known.
    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        let _ = passage;
    }
}

/// Ignores everything, at no cost.
impl Observer for () {}

/// Reports everything to both observers.
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

/// Reports everything to the observer, if there is one.
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
