//! Counts frames that miss their deadline, and the bytes sent to keep frames in time.
//!
//! A frame is in time if the receiver has enough of its packets to make it whole by the deadline,
//! counted from the hand-over to the pacer. What the sender knows about it does not matter.

use std::collections::BTreeMap;

use mimosa_facts::{Fate, FrameLife, Observer, PacketKind, Passage, StreamPacket};
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_units::{Time, TimeDelta};
use serde::Serialize;

use crate::numbers::{round, share};
use crate::window::Window;

/// Arrivals of frames so far behind one that ended are forgotten: what still comes of such a
/// frame is a late packet. Our choice.
const OLDEST: u64 = 1_000;

/// How many frames missed their deadline, and at what price.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecoveryFigures {
    /// The deadline: how long a frame may take from hand-over until it is whole at the receiver.
    pub deadline_ms: f64,
    /// Share of frames that were not whole by their deadline.
    pub late: Option<f64>,
    /// Share of frames in which repair packets replaced media packets, from 0 to 1.
    pub repaired: Option<f64>,
    /// Repair and retransmitted bytes over the bytes of media packets sent for the first time.
    pub overhead: Option<f64>,
}

/// The counts of one flow.
#[derive(Debug)]
struct Count {
    deadline: TimeDelta,
    /// For each frame that has not ended, the arrivals of its packets: their times and places.
    arrivals: BTreeMap<u64, Vec<(Time, u32)>>,
    frames: u64,
    late: u64,
    repaired: u64,
    media: u64,
    others: u64,
}

/// Counts what happens within the window, for flows that have a deadline.
#[derive(Debug)]
pub struct Recovery {
    window: Window,
    end: Time,
    flows: Vec<Option<Count>>,
}

impl Recovery {
    /// Nothing has happened yet in a run of `scenario`.
    #[must_use]
    pub fn new(scenario: &Scenario, window: Window) -> Self {
        let (window, end) = window.within(scenario);
        let count = |flow: &FlowConfig| match &flow.kind {
            FlowKind::Video(video) => video.deadline.map(|deadline| Count {
                deadline,
                arrivals: BTreeMap::new(),
                frames: 0,
                late: 0,
                repaired: 0,
                media: 0,
                others: 0,
            }),
            FlowKind::Cbr(_) | FlowKind::Tcp(_) => None,
        };
        Self {
            window,
            end,
            flows: scenario.flows.iter().map(count).collect(),
        }
    }

    /// The figures of the flow with this number; `None` for a flow without a deadline.
    #[must_use]
    pub fn figures(&self, flow: usize) -> Option<RecoveryFigures> {
        let count = self.flows.get(flow)?.as_ref()?;
        Some(RecoveryFigures {
            deadline_ms: round(count.deadline.as_millis(), 3),
            late: share(count.late, count.frames),
            repaired: share(count.repaired, count.frames),
            overhead: share(count.others, count.media),
        })
    }
}

impl Observer for Recovery {
    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        let Some(Some(count)) = self.flows.get_mut(passage.packet.flow) else {
            return;
        };
        let bytes = match passage.packet.kind {
            Some(PacketKind::Media) => &mut count.media,
            Some(PacketKind::Retransmission | PacketKind::Repair) => &mut count.others,
            Some(PacketKind::Probe) | None => return,
        };
        if self.window.contains(passage.offered) {
            *bytes += passage.size.get();
        }
        if let Fate::Arrived(at) = passage.fate {
            let arrivals = count.arrivals.entry(passage.packet.frame).or_default();
            arrivals.push((at, passage.packet.index));
        }
    }

    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let Some(Some(count)) = self.flows.get_mut(flow) else {
            return;
        };
        let mut arrivals = count.arrivals.remove(&life.frame.0).unwrap_or_default();
        // Later arrivals of older frames do not matter.
        count
            .arrivals
            .retain(|frame, _| *frame > life.frame.0.saturating_sub(OLDEST));
        if !self.window.contains(life.handed_over) {
            return;
        }
        arrivals.sort_unstable();
        let mut places = Vec::new();
        let whole = arrivals.into_iter().find(|(_, index)| {
            if !places.contains(index) {
                places.push(*index);
            }
            places.len() == life.packets as usize
        });
        let due = life.handed_over + count.deadline;
        let is_late = whole.is_none_or(|(at, _)| at > due);
        // The deadline is after the end of the run, so that the result is unknown.
        if is_late && due >= self.end {
            return;
        }
        count.frames += 1;
        count.late += u64::from(is_late);
        let repaired = life
            .protection
            .is_some_and(|protection| protection.repaired > 0);
        count.repaired += u64::from(repaired);
    }
}
