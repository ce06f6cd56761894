//! Counts frames that miss their deadline, and the bytes sent to keep frames in time.
//!
//! A frame is in time if the receiver has enough of its packets to make it whole by the deadline,
//! counted from the hand-over to the pacer. What the sender knows about it does not matter.

use std::collections::BTreeMap;

use mimosa_facts::{Fate, FrameLife, PacketKind, Passage, StreamPacket};
use mimosa_scenario::{FlowConfig, FlowKind};
use mimosa_units::{Time, TimeDelta};
use serde::Serialize;

use crate::metrics::{round, share};
use crate::simulation::Window;

/// How many frames behind one that ended arrivals are remembered; those of older frames are late
/// packets.
const OLDEST: u64 = 1_000;

/// How many frames missed their deadline, and at what price.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RecoveryOutcome {
    /// Longest time from the hand-over until the frame is whole at the receiver, in milliseconds.
    pub deadline_ms: f64,
    /// Share of frames that were not whole by their deadline, from 0 to 1.
    pub late: Option<f64>,
    /// Share of frames in which repair packets replaced media packets, from 0 to 1.
    pub repaired: Option<f64>,
    /// Repair and retransmitted bytes as a share of the bytes of media packets.
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
pub(crate) struct Recovery {
    window: Window,
    end: Time,
    flows: Vec<Option<Count>>,
}

impl Recovery {
    pub(crate) fn new(window: Window, end: Time, flows: &[FlowConfig]) -> Self {
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
            flows: flows.iter().map(count).collect(),
        }
    }

    /// Takes a packet whose fate is known.
    pub(crate) fn packet(&mut self, passage: &Passage<StreamPacket>) {
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

    /// Takes a frame whose life has ended, or that was open when the run ended.
    pub(crate) fn frame(&mut self, flow: usize, life: &FrameLife) {
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

    /// The result of the flow with this number; `None` if it has no deadline.
    pub(crate) fn outcome(&self, flow: usize) -> Option<RecoveryOutcome> {
        let count = self.flows.get(flow)?.as_ref()?;
        Some(RecoveryOutcome {
            deadline_ms: round(count.deadline.as_millis(), 3),
            late: share(count.late, count.frames),
            repaired: share(count.repaired, count.frames),
            overhead: share(count.others, count.media),
        })
    }
}
