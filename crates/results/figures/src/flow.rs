//! What is gathered of one flow.

use mimosa_facts::FrameLife;
use mimosa_scenario::{FlowConfig, FlowKind};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::figures::{FeedbackFigures, FlowFigures, PageFigures};
use crate::numbers::{frame_delays, round, share};

/// A frame slower than this is worth nothing to a player (section 5.1).
const VALID: TimeDelta = TimeDelta::from_millis(50);
/// The paper's two stall thresholds.
const STALLS: [TimeDelta; 2] = [TimeDelta::from_millis(100), TimeDelta::from_millis(200)];

/// What is gathered of one flow while it runs.
#[derive(Debug, Default)]
pub(crate) struct FlowCount {
    /// Headers of each packet: no part of the bitrate.
    overhead: Bytes,
    frames: u64,
    size: Bytes,
    /// Frames whose delay is known, or known to be long.
    decided: u64,
    decided_size: Bytes,
    valid_size: Bytes,
    delays: Vec<TimeDelta>,
    stalls: [u64; 3],
    pub(crate) arrived: Bytes,
    pub(crate) sent: u64,
    pub(crate) lost: u64,
    feedback: Option<FeedbackFigures>,
    /// How long each web page took.
    pub(crate) pages: Vec<TimeDelta>,
}

impl FlowCount {
    /// Nothing has been sent.
    pub(crate) fn new(flow: &FlowConfig) -> Self {
        Self {
            overhead: match &flow.kind {
                FlowKind::Video(video) => video.overhead,
                FlowKind::Cbr(_) | FlowKind::Tcp(_) => Bytes::ZERO,
            },
            ..Self::default()
        }
    }

    /// A datagram of a report has left the receiver.
    pub(crate) fn reported(&mut self, size: Bytes) {
        let feedback = self.feedback.get_or_insert_default();
        feedback.datagrams += 1;
        feedback.bytes += size.get();
    }

    /// A frame's life has ended, or the run has, at `end`.
    pub(crate) fn frame(&mut self, life: &FrameLife, end: Time) {
        let headers = Bytes::new(self.overhead.get() * u64::from(life.packets));
        let size = life.size - headers;
        self.frames += 1;
        self.size += size;
        // On its way and young: nothing can be said of its delay.
        let age = end.since(life.handed_over);
        if life.end.is_none() && age <= STALLS[1] {
            return;
        }
        self.decided += 1;
        self.decided_size += size;
        // Without an acknowledgement there is no end to it.
        let delay = life.delay().unwrap_or(TimeDelta::MAX);
        if let Some(delay) = life.delay() {
            self.delays.push(delay);
            if delay < VALID {
                self.valid_size += size;
            }
        }
        for (stalls, threshold) in self.stalls.iter_mut().zip([VALID, STALLS[0], STALLS[1]]) {
            *stalls += u64::from(delay > threshold);
        }
    }

    /// The figures of the flow `config`, which was there for so long. How its frames fared
    /// against a deadline is not known here.
    pub(crate) fn figures(mut self, config: &FlowConfig, active: TimeDelta) -> FlowFigures {
        let frames = self.frames;
        let loaded = self.pages.len() as u64;
        let has_frames = frames > 0;
        let valid = share(self.valid_size.get(), self.decided_size.get());
        let mbps = |size: Bytes| round(Rate::of(size, active).as_mbps(), 6);
        FlowFigures {
            name: config.name.clone(),
            kind: config.kind_name(),
            controller: config.controller_name().map(str::to_owned),
            frames,
            completed: self.delays.len() as u64,
            frame_delay_ms: frame_delays(&mut self.delays),
            stall_50ms: share(self.stalls[0], self.decided),
            stall_100ms: share(self.stalls[1], self.decided),
            stall_200ms: share(self.stalls[2], self.decided),
            bitrate_mbps: has_frames.then(|| mbps(self.size)),
            valid_bitrate_mbps: valid.map(|share| mbps(self.size.scale(share))),
            throughput_mbps: mbps(self.arrived),
            loss_rate: share(self.lost, self.sent),
            feedback: self.feedback,
            pages: frame_delays(&mut self.pages).map(|times| PageFigures {
                loaded,
                mean_ms: times.mean,
                p50_ms: times.p50,
                p95_ms: times.p95,
            }),
            recovery: None,
        }
    }
}
