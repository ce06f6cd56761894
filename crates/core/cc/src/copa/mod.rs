//! Copa (V. Arun, H. Balakrishnan: *Copa: Practical Delay-Based Congestion Control for
//! the Internet*, NSDI 2018).
//!
//! The target rate is `1 / (delta d_q)`, where `d_q` is the standing queue's delay (section 2.1).
//! For each packet acknowledged the window moves by `v / (delta cwnd)` packets: up if the window's
//! rate is below the target rate, else down. One flow alone keeps a queue that moves between zero
//! and `2.5 / delta` packets in five round trips (section 3).
//!
//! With `mode_switching`, delta follows losses while other flows fill the queue
//! (section 2.2, module `mode`). Without it, Copa gives way to such flows.
//!
//! *Deviations.* The encoder's target is the window over the smoothed round trip (Pudica,
//! section 5.1), since a video has a rate and no backlog. Growth beyond what is sent, the
//! velocity and the reaction to silence are bounded; each bound is a parameter or a constant
//! here. Rounds are spans of one smoothed round trip, as in mvfst's `Copa.cpp`.

mod config;
mod mode;
#[cfg(test)]
mod tests;

pub use config::Config;

use mimosa_facts::{
    Cause, Controller, Decision, Event, Limits, Pacing, PacketOutcome, PacketReport, SentPacket,
};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;
use crate::send_queue::SendQueue;
use crate::windowed_min::WindowedMin;
use mode::{Mode, Path};

/// Divisor of TCP's smoothing of the round trip (RFC 6298, section 2.3).
const RTT_GAIN: u32 = 8;
/// Round trip assumed before the first sample (RFC 9002, section 6.2.2).
const INITIAL_RTT: TimeDelta = TimeDelta::from_millis(333);
/// The smallest window, in packets (genericCC `markoviancc.cc`; mvfst `minCwndInMss`).
const LEAST_WINDOW: f64 = 2.0;
/// The largest window, in packets: more than any useful one. It keeps the arithmetic finite.
const MOST_WINDOW: f64 = 1e9;
/// The largest packet that IP can carry.
const LARGEST_PACKET: Bytes = Bytes::new(65_535);
/// Least length of a time span whose maximum in flight bounds the growth of the window:
/// several frames, since data comes in bursts.
const PEAK_LASTS: TimeDelta = TimeDelta::from_millis(100);

/// The direction in which the window moved in a round.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Direction {
    Up,
    Down,
}

/// The Copa controller.
#[derive(Debug)]
pub struct Copa {
    config: Config,
    limits: Limits,
    decision: Decision,
    /// The congestion window, in packets.
    window: f64,
    slow_start: bool,
    velocity: f64,
    direction: Option<Direction>,
    /// Number of rounds in a row with this direction.
    rounds: u32,
    /// When the round began, and the window at that time, in packets.
    round: Option<(Time, f64)>,
    smoothed_rtt: Option<TimeDelta>,
    standing: WindowedMin,
    min_rtt: WindowedMin,
    mode: Mode,
    /// Interval between frames.
    interval: TimeDelta,
    unsent: SendQueue,
    in_flight: Bytes,
    /// The most bytes in flight, in this time span and in the last.
    peaks: [Bytes; 2],
    /// When this time span began.
    peak_since: Time,
    largest_packet: Bytes,
    /// When an arrival was last reported, or when data last left with nothing in flight.
    heard: Time,
}

impl Copa {
    /// A controller that has sent nothing.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        let packets = |amount: Bytes| amount.get() as f64 / config.packet.get().max(1) as f64;
        let window = packets(limits.start().amount_in(INITIAL_RTT));
        let mut copa = Self {
            decision: Decision::starting_at(limits.start()),
            window: window.clamp(LEAST_WINDOW, MOST_WINDOW),
            slow_start: true,
            velocity: 1.0,
            direction: None,
            rounds: 0,
            round: None,
            smoothed_rtt: None,
            standing: WindowedMin::new(INITIAL_RTT / 2),
            min_rtt: WindowedMin::new(config.min_rtt_window),
            mode: Mode::new(&config),
            interval: TimeDelta::ZERO,
            unsent: SendQueue::default(),
            in_flight: Bytes::ZERO,
            peaks: [Bytes::ZERO; 2],
            peak_since: Time::ZERO,
            largest_packet: Bytes::ZERO,
            heard: Time::ZERO,
            config,
            limits,
        };
        copa.publish(Cause::Start);
        copa
    }

    fn sent(&mut self, now: Time, packet: &SentPacket) {
        self.unsent.sent(packet);
        if self.in_flight == Bytes::ZERO {
            self.heard = now;
        }
        self.in_flight += packet.size;
        self.largest_packet = self.largest_packet.max(packet.size.min(LARGEST_PACKET));
        let span = self.smoothed_rtt.unwrap_or(PEAK_LASTS).max(PEAK_LASTS);
        if now.since(self.peak_since) >= span {
            self.peaks = [Bytes::ZERO, self.peaks[0]];
            self.peak_since = now;
        }
        self.peaks[0] = self.peaks[0].max(self.in_flight);
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], in_flight: Bytes) {
        self.in_flight = in_flight;
        let mut cause = None;
        for report in reports {
            match report.outcome {
                PacketOutcome::Arrived { .. } => {
                    self.heard = now;
                    cause = Some(self.acknowledged(now, &report.packet));
                }
                PacketOutcome::Lost => {
                    let rtt = self.smoothed_rtt.unwrap_or(INITIAL_RTT);
                    if self.mode.lost(now, rtt) {
                        cause = Some(Cause::Loss);
                    }
                }
            }
        }
        if let Some(cause) = cause {
            self.publish(cause);
        }
    }

    /// Takes one acknowledgement (section 2.1). Returns the rule that was applied.
    fn acknowledged(&mut self, now: Time, packet: &SentPacket) -> Cause {
        let rtt = now.since(packet.sent).max(TimeDelta::from_nanos(1));
        self.round_trip(now, rtt);
        let standing = self.standing.get().unwrap_or(rtt);
        let queue = (standing - self.min_rtt.get().unwrap_or(rtt)).max(TimeDelta::ZERO);
        self.decision.evidence.queue_delay = Some(queue);
        // Compares lambda = cwnd / RTTstanding with lambda_t = 1 / (delta d_q), without a
        // division by the delay of an empty queue.
        let delta = self.mode.delta();
        let is_below = self.window * delta * queue.as_secs() <= standing.as_secs();
        let acked = packet.size.min(LARGEST_PACKET).get() as f64 / self.config.packet.get() as f64;
        if is_below && self.slow_start {
            let cause = self.grow(acked, standing, Cause::SlowStart);
            self.round = None;
            return cause;
        }
        self.slow_start = false;
        self.end_round(now);
        if self.config.reset_on_turn {
            self.turn(now, is_below);
        }
        let step = self.velocity * acked / (delta * self.window);
        let cause = match is_below {
            _ if self.mode.is_competitive() => Cause::Competing,
            true => Cause::BelowQueueTarget,
            false => Cause::AboveQueueTarget,
        };
        if is_below {
            return self.grow(step, standing, cause);
        }
        self.window = (self.window - step).max(LEAST_WINDOW);
        cause
    }

    fn round_trip(&mut self, now: Time, rtt: TimeDelta) {
        let smoothed = if let Some(smoothed) = self.smoothed_rtt {
            smoothed + (rtt - smoothed) / RTT_GAIN
        } else {
            // The window that gives the first rate over this round trip.
            let window = self.limits.start().amount_in(rtt).get() as f64;
            let window = window / self.config.packet.get() as f64;
            self.window = window.clamp(LEAST_WINDOW, MOST_WINDOW);
            rtt
        };
        let smoothed = smoothed.max(TimeDelta::from_nanos(1));
        self.smoothed_rtt = Some(smoothed);
        self.min_rtt.add(now, rtt);
        self.standing
            .set_window(smoothed.scale(self.config.standing_share));
        self.standing.add(now, rtt);
        let path = Path {
            smoothed,
            smallest: self.min_rtt.get().unwrap_or(rtt),
            interval: self.interval,
            window: self.window,
        };
        self.mode.acknowledged(now, rtt, &path);
    }

    /// Grows the window by `step` packets, as far as the limits and the data in flight
    /// allow. Returns `cause`, or the bound that was met.
    fn grow(&mut self, step: f64, standing: TimeDelta, cause: Cause) -> Cause {
        let packet = self.config.packet.get() as f64;
        let most = self.limits.max().amount_in(standing).get() as f64 / packet;
        let peak = self.peaks[0].max(self.peaks[1]).get() as f64 / packet;
        let used = peak * self.config.application_headroom;
        let (bound, at_bound) = if most <= used {
            (most, Cause::AtMaximum)
        } else {
            (used, Cause::ApplicationLimited)
        };
        if self.window >= bound {
            return at_bound;
        }
        self.window = (self.window + step).min(bound).min(MOST_WINDOW);
        cause
    }

    /// Ends the round after a round trip, and sets the velocity of the next one (section 2.1).
    fn end_round(&mut self, now: Time) {
        let Some((since, window)) = self.round else {
            self.round = Some((now, self.window));
            return;
        };
        let length = self.smoothed_rtt.unwrap_or(INITIAL_RTT);
        if now.since(since) < length {
            return;
        }
        let direction = if self.window > window {
            Direction::Up
        } else {
            Direction::Down
        };
        if self.direction == Some(direction) {
            self.rounds = self.rounds.saturating_add(1);
            if self.rounds >= self.config.rounds_before_doubling {
                self.velocity *= 2.0;
            }
        } else {
            self.direction = Some(direction);
            self.rounds = 1;
            self.velocity = 1.0;
        }
        // One round trip at most doubles the window, as slow start does.
        self.velocity = self.velocity.min(self.mode.delta() * self.window).max(1.0);
        self.round = Some((now, self.window));
    }

    /// Resets at once a velocity that was gained in the other direction (mvfst, `changeDirection`).
    fn turn(&mut self, now: Time, is_below: bool) {
        let direction = if is_below {
            Direction::Up
        } else {
            Direction::Down
        };
        if self.velocity > 1.0 && self.direction != Some(direction) {
            self.direction = Some(direction);
            self.rounds = 0;
            self.velocity = 1.0;
            self.round = Some((now, self.window));
        }
    }

    /// Halves the window after a long silence, and makes the frame smaller by the data that
    /// still waits in the pacer.
    fn frame_due(&mut self, now: Time, interval: TimeDelta) {
        self.interval = interval.max(TimeDelta::ZERO);
        let is_silent = now.since(self.heard) >= self.config.feedback_timeout;
        if self.in_flight > Bytes::ZERO && is_silent {
            self.heard = now;
            self.slow_start = false;
            self.velocity = 1.0;
            self.direction = None;
            self.round = None;
            self.window = (self.window / 2.0).max(LEAST_WINDOW);
            self.publish(Cause::FeedbackTimeout);
        }
        let waiting = self.unsent.bytes();
        self.decision.frame_limit = if self.config.subtract_waiting && waiting > Bytes::ZERO {
            let rest = self.decision.target.amount_in(interval) - waiting;
            Some(rest.max(self.limits.min().amount_in(interval)))
        } else {
            None
        };
    }

    /// Updates the decision from the window.
    fn publish(&mut self, cause: Cause) {
        let window = self.config.packet.scale(self.window);
        let rtt = self.smoothed_rtt.unwrap_or(INITIAL_RTT);
        let standing = self
            .standing
            .get()
            .unwrap_or(rtt)
            .max(TimeDelta::from_nanos(1));
        let target = self.limits.clamp(Rate::of(window, rtt));
        let least = self
            .largest_packet
            .max(self.config.packet)
            .scale(LEAST_WINDOW);
        self.decision.target = target;
        self.decision.window = self.config.window.then(|| window.max(least));
        self.decision.pacing = Pacing::Bucket {
            rate: Rate::of(window, standing)
                .scale(self.config.pace)
                .max(target),
            burst: Bytes::ZERO,
        };
        self.decision.cause = cause;
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    the wait for a report counts as a queue, which it drains: a tenth to a fifth less of the \
    link where packets ask for reports, next to nothing of it with seldom ones";

impl Named for Copa {
    const NAME: &'static str = "copa";
    const NEEDS: Needs = Needs::by_round_trips(WITH_LESS);
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Copa {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::FrameDue { interval, .. } => self.frame_due(now, interval),
            Event::FrameBegun {
                frame,
                size,
                packets,
            }
            | Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.unsent.push(now, frame, size, packets),
            Event::FrameGivenUp { frame } => self.unsent.given_up(frame),
            Event::PacketSent(packet) => self.sent(now, &packet),
            Event::Feedback { reports, in_flight } => self.feedback(now, reports, in_flight),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}
