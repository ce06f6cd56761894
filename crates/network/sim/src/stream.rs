//! The sender of a video flow, for any network: frame clock, encoder model and sender.
//!
//! Its randomness comes from the run's seed and the flow's name, so that a flow has the same phase
//! and the same encoder noise in every network.

use mimosa_facts::{ArrivalReport, Controller};
use mimosa_net::{Encoder, Random};
use mimosa_scenario::{FlowConfig, FlowKind, FrameScale, Scenario, VideoConfig};
use mimosa_stream::{Outgoing, Sender, packetise};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::available::Available;

/// A billion: nanoseconds in a second, and billionths in a whole.
const BILLION: u128 = 1_000_000_000;

/// Part of the encoding time before the first part of a frame is begun: libx264 copies the picture,
/// halves it and weighs its blocks in that time. Eight slices are then out after 0.29, 0.38, 0.49, 0.60,
/// 0.70, 0.83, 0.93 and 0.99 of the time, and four after 0.38 and so on.
const BEFORE_PARTS: f64 = 0.2;

/// A frame in the encoder.
#[derive(Clone, Copy, Debug)]
struct Encoding {
    begun: Time,
    size: Bytes,
    /// Number of its parts that are handed over.
    done: u32,
}

/// When frames are due: at whole multiples of the frame interval, to the nanosecond, so that
/// rounding does not add up.
#[derive(Debug)]
struct FrameClock {
    first: Time,
    /// Frames in a billion seconds.
    pace: u128,
    count: u64,
    next: Option<Time>,
}

impl FrameClock {
    fn at(&self, count: u64) -> Time {
        let nanos = u128::from(count) * BILLION * BILLION / self.pace.max(1);
        let nanos = i64::try_from(nanos).unwrap_or(i64::MAX);
        self.first + TimeDelta::from_nanos(nanos)
    }

    /// Advances to the next frame that the flow may send.
    fn advance(&mut self, flow: &FlowConfig) {
        self.count += 1;
        self.next = flow.active_from(self.at(self.count)).map(|active| {
            while self.at(self.count) < active {
                self.count += 1;
            }
            self.at(self.count)
        });
    }

    fn interval(&self) -> TimeDelta {
        self.at(self.count + 1).since(self.at(self.count))
    }
}

/// Frames of a flow in a billion seconds.
fn pace(video: &VideoConfig) -> u128 {
    let whole = i128::from(video.fps) * (BILLION.cast_signed() + i128::from(video.frame_drift));
    whole.unsigned_abs()
}

/// The sender of a video flow.
#[derive(Debug)]
pub struct Stream {
    flow: FlowConfig,
    /// The available rate, for a controller that is told it. Nothing else may use it.
    available: Option<Available>,
    /// Until when the controller has been told the rate.
    told: Time,
    /// The stream's sender: pacer, history and controller.
    pub sender: Sender,
    encoder: Encoder,
    scale: FrameScale,
    /// When the newest frame was due.
    due: Option<Time>,
    clock: FrameClock,
    encoding: Option<Encoding>,
    content: Rate,
    encode_time: TimeDelta,
    /// Number of parts of a frame.
    parts: u32,
    packet_size: Bytes,
    overhead: Bytes,
    /// Share of a grant that the encoder is told: the rest is for headers.
    payload_share: f64,
}

impl Stream {
    /// The scenario's flow with this number, before it has sent anything. `None` if it is not a
    /// video flow, or if its controller cannot be made, which loading the scenario has ruled out.
    #[must_use]
    pub fn new(scenario: &Scenario, number: usize, seed: u64) -> Option<Self> {
        let FlowKind::Video(video) = &scenario.flows.get(number)?.kind else {
            return None;
        };
        let controller = video.build_controller().ok()?;
        Self::with(scenario, number, seed, controller)
    }

    /// The scenario's flow with this number, before it has sent anything, with `controller` in place
    /// of the scenario's. `None` if it is not a video flow.
    #[must_use]
    pub fn with(
        scenario: &Scenario,
        number: usize,
        seed: u64,
        controller: Box<dyn Controller>,
    ) -> Option<Self> {
        let flow = scenario.flows.get(number)?;
        let FlowKind::Video(video) = &flow.kind else {
            return None;
        };
        let name = &flow.name;
        let interval = TimeDelta::from_nanos(1_000_000_000 / i64::from(video.fps));
        let phase = video.phase.unwrap_or_else(|| {
            interval.scale(Random::new(seed, &format!("{name} phase")).uniform())
        });
        let first = flow.start + phase;
        Some(Self {
            sender: Sender::new(video.sender, controller),
            encoder: Encoder::new(video.encoder.clone(), seed, name),
            scale: video.scale.clone(),
            due: None,
            clock: FrameClock {
                first,
                pace: pace(video),
                count: 0,
                next: flow.active_from(first),
            },
            encoding: None,
            content: video.content,
            encode_time: video.encode_time,
            parts: video.parts.max(1),
            packet_size: video.packet_size,
            overhead: video.overhead,
            payload_share: if video.less_headers {
                let payload = video.packet_size.get() as f64;
                payload / (payload + video.overhead.get() as f64)
            } else {
                1.0
            },
            flow: flow.clone(),
            available: (video.controller == mimosa_cc::oracle::NAME)
                .then(|| Available::to(scenario, number))
                .flatten(),
            told: Time::ZERO,
        })
    }

    /// When the next frame is due; `None` if the flow sends no more.
    pub(crate) const fn next_frame(&self) -> Option<Time> {
        self.clock.next
    }

    /// When to call [`Self::wake`].
    #[must_use]
    pub fn deadline(&self) -> Time {
        let frame = self.clock.next.unwrap_or(Time::MAX);
        let encoded = self.encoding.map_or(Time::MAX, |frame| self.ready(&frame));
        let sender = self.sender.deadline().unwrap_or(Time::MAX);
        frame.min(encoded).min(sender)
    }

    /// Takes a report.
    pub fn feedback(&mut self, now: Time, report: &ArrivalReport) {
        self.sender.feedback(now, report);
    }

    /// Does everything that is due by `now`, except sending.
    pub fn wake(&mut self, now: Time) {
        while let Some(frame) = self.encoding.filter(|frame| self.ready(frame) <= now) {
            self.hand_over(now, frame);
        }
        if self.clock.next.is_some_and(|due| due <= now) {
            let interval = self.clock.interval();
            // A frame still in the encoder is ready at the latest when the next one starts.
            self.hand_over_all(now);
            if let Some(available) = &self.available {
                let at = now - available.age.min(now.since(Time::ZERO));
                let (rate, mean) = (available.at(at), available.mean(self.told, at));
                self.told = at;
                self.sender.told(now, rate, mean, now.since(at));
            }
            let grant = self.sender.frame_due(now, interval);
            self.clock.advance(&self.flow);
            let times = self.scale.of(self.due.replace(now), now);
            if grant.size > Bytes::ZERO {
                let most = self.content.amount_in(interval);
                let grant = grant.size.scale(self.payload_share);
                let size = self.encoder.encode(grant).scale(times);
                let size = size.min(most).max(Bytes::new(1));
                self.encoding = Some(Encoding {
                    begun: now,
                    size,
                    done: 0,
                });
            }
            if self.encode_time == TimeDelta::ZERO {
                self.hand_over_all(now);
            }
        }
        self.sender.timer(now);
    }

    /// When the next part of a frame is coded.
    fn ready(&self, frame: &Encoding) -> Time {
        let coded = f64::from(frame.done + 1) / f64::from(self.parts);
        let share = if self.parts == 1 {
            1.0
        } else {
            BEFORE_PARTS + (1.0 - BEFORE_PARTS) * coded
        };
        frame.begun + self.encode_time.scale(share)
    }

    /// Hands over all parts of the frame in the encoder.
    fn hand_over_all(&mut self, now: Time) {
        while let Some(frame) = self.encoding {
            self.hand_over(now, frame);
        }
    }

    /// Hands over the next part of the frame in the encoder.
    fn hand_over(&mut self, now: Time, frame: Encoding) {
        let parts = u64::from(self.parts);
        let until = |part: u32| frame.size.get() * u64::from(part) / parts;
        let done = frame.done + 1;
        let is_last = done == self.parts;
        self.encoding = (!is_last).then_some(Encoding { done, ..frame });
        let part = until(done) - until(frame.done);
        if part > 0 || is_last {
            let packets = packetise(Bytes::new(part), self.packet_size, self.overhead);
            self.sender.frame_part(now, packets, is_last);
        }
    }

    /// The packet that leaves at `now`, if there is one.
    pub fn poll(&mut self, now: Time) -> Option<Outgoing> {
        self.sender.poll_packet(now)
    }
}
