//! The controller of `crates/platform/outside/controllers` in Rust, on the types of every controller:
//! the twin that `aimd.py` and `aimd.wasm` have to follow.

use mimosa_facts::{
    Cause, Controller, Decision, Event, Limits, Pacing, PacketOutcome, PacketReport, Probe,
    ProbeStart,
};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Delay above the least one from which the controller gives way, and from which it limits frames.
const QUEUE: i64 = 30_000_000;
const LIMIT: i64 = 35_000_000;
/// Time without an event after which the controller gives way.
const SILENCE: TimeDelta = TimeDelta::from_millis(50);
/// Frames from one group of probes to the next.
const PROBE_FRAMES: u64 = 30;

/// More by a step, and less at loss or delay.
#[derive(Debug)]
pub(super) struct Aimd {
    limits: Limits,
    step: u64,
    target: u64,
    base: Option<i64>,
    delay: i64,
    cause: Cause,
    pacing: Pacing,
    decision: Decision,
    deadline: Option<Time>,
}

impl Aimd {
    pub(super) fn new(limits: Limits, step: u64) -> Self {
        Self {
            limits,
            step,
            target: limits.start().as_bps(),
            base: None,
            delay: 0,
            cause: Cause::Start,
            pacing: Pacing::Burst,
            decision: Decision::starting_at(limits.start()),
            deadline: None,
        }
    }

    fn scale(&mut self, numerator: u64, denominator: u64) {
        let least = self.limits.min().as_bps();
        self.target = (self.target * numerator / denominator).max(least);
    }

    fn feedback(&mut self, reports: &[PacketReport]) {
        let delays = reports.iter().filter_map(|report| match report.outcome {
            PacketOutcome::Arrived { at, .. } => {
                Some(at.as_nanos() - report.packet.sent.as_nanos().cast_signed())
            }
            PacketOutcome::Lost => None,
        });
        let delays: Vec<_> = delays.collect();
        if let (Some(least), Some(most)) = (delays.iter().min(), delays.iter().max()) {
            let base = self.base.map_or(*least, |base| base.min(*least));
            self.base = Some(base);
            self.delay = most - base;
        }
        if delays.len() < reports.len() {
            self.scale(7, 10);
            self.cause = Cause::Loss;
            let over = TimeDelta::from_millis(8);
            self.pacing = Pacing::Spread { over, lead: 2 };
        } else if self.delay > QUEUE {
            self.scale(17, 20);
            self.cause = Cause::QueueDelay;
            self.pacing = Pacing::Bucket {
                rate: Rate::from_bps(2 * self.target),
                burst: Bytes::new(2_400),
            };
        } else if !delays.is_empty() {
            self.target = (self.target + self.step).min(self.limits.max().as_bps());
            self.cause = Cause::AdditiveIncrease;
        }
    }
}

impl Controller for Aimd {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::Feedback { reports, .. } => self.feedback(reports),
            Event::Timer => {
                self.scale(19, 20);
                self.cause = Cause::FeedbackTimeout;
            }
            Event::FrameDue { .. } => {}
            _ => return &self.decision,
        }
        self.decision = Decision {
            target: Rate::from_bps(self.target),
            window: Some(Bytes::new((self.target / 32).max(20_000))),
            pacing: self.pacing,
            cause: self.cause,
            frame_limit: None,
            ..self.decision
        };
        self.deadline = Some(now + SILENCE);
        if let Event::FrameDue { frame, interval } = event {
            if self.delay > LIMIT {
                let micros = interval.as_nanos().unsigned_abs() / 1_000;
                let bits = self.target * micros / 1_000_000;
                self.decision.frame_limit = Some(Bytes::new(bits / 16));
            }
            if frame.0 % PROBE_FRAMES == 0 {
                self.decision.probe = Some(Probe {
                    id: frame.0,
                    packets: 3,
                    interval: TimeDelta::from_micros(200),
                    size: Some(Bytes::new(200)),
                    start: ProbeStart::AfterFrame(frame),
                });
            }
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}
