//! Tests of each rule with acknowledgements whose round trips the test chooses, and of flows
//! that always have data to send over one link, as in the paper.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, PacketKind, Sequence};
use mimosa_units::{Ecn, PeerTime};

use super::*;

const PACKET: Bytes = Bytes::new(1_200);
const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

fn limits() -> Limits {
    let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
    Limits::new(Rate::from_kbps(200), mbps(5), mbps(500))
}

fn packet(sequence: u64, sent: Time) -> SentPacket {
    SentPacket {
        sequence: Sequence(sequence),
        frame: FrameId(sequence),
        kind: PacketKind::Media,
        size: PACKET,
        sent,
    }
}

fn arrived(packet: SentPacket) -> PacketReport {
    PacketReport {
        packet,
        outcome: PacketOutcome::Arrived {
            at: PeerTime::from_nanos(0),
            ecn: Ecn::NotEct,
            after_loss: false,
        },
    }
}

/// A controller with much in flight, whose packets are acknowledged after the round trips
/// that the test chooses.
struct Acks {
    copa: Copa,
    now: Time,
    sequence: u64,
}

impl Acks {
    fn new(config: Config) -> Self {
        config.check().unwrap();
        let mut copa = Copa::new(config, limits());
        copa.in_flight = Bytes::new(1_000_000_000);
        Self {
            copa,
            now: Time::from_secs(1),
            sequence: 0,
        }
    }

    fn ack(&mut self, rtt: TimeDelta) {
        let packet = packet(self.sequence, self.now - rtt);
        self.sequence += 1;
        self.copa.handle(self.now, Event::PacketSent(packet));
        let event = Event::Feedback {
            reports: &[arrived(packet)],
            in_flight: Bytes::new(1_000_000_000),
        };
        self.copa.handle(self.now, event);
    }

    fn cause(&self) -> Cause {
        self.copa.decision.cause
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs()
}

#[test]
fn the_first_round_trip_keeps_the_first_rate() {
    let mut acks = Acks::new(Config::default());
    assert_eq!(acks.copa.decision.target, limits().start());
    // One packet more in the window: 5 Mbit/s over 20 ms is 10.4 packets.
    acks.ack(MS(20));
    assert!(close(acks.copa.window, 12_500.0 / 1_200.0 + 1.0));
    assert_eq!(acks.cause(), Cause::SlowStart);
}

#[test]
fn slow_start_doubles_in_a_round_trip_and_ends_with_the_first_queue() {
    let mut acks = Acks::new(Config::default());
    acks.ack(MS(20));
    let before = acks.copa.window;
    for _ in 0..12 {
        acks.ack(MS(20));
    }
    assert!(close(acks.copa.window, before + 12.0));
    // 10 ms of queue for longer than the standing window: 1 / (0.5 * 10 ms) = 200 packets/s,
    // and 23 packets in 30 ms are 780.
    acks.now += MS(50);
    acks.ack(MS(30));
    assert!(acks.copa.window < before + 12.0);
    assert_eq!(acks.cause(), Cause::AboveQueueTarget);
    // Once over, it does not come back: the step is v / (delta cwnd), and no longer 1.
    acks.now += MS(50);
    let window = acks.copa.window;
    acks.ack(MS(20));
    assert!(close(acks.copa.window, window + 1.0 / (0.5 * window)));
    assert_eq!(acks.cause(), Cause::BelowQueueTarget);
}

#[test]
fn the_window_turns_where_the_rate_is_one_over_delta_times_the_queue() {
    // cwnd / RTTstanding is compared with 1 / (delta d_q); the round trip is 20 ms and the
    // queue's delay.
    for (queue, window, rises) in [
        // 1 / (0.5 * 4 ms) = 500 packets/s; 12 in 24 ms are 500.
        (4_000, 11.9, true),
        (4_000, 12.1, false),
        // 1 / (0.5 * 10 ms) = 200 packets/s; 6 in 30 ms are 200.
        (10_000, 5.9, true),
        (10_000, 6.1, false),
    ] {
        let mut acks = Acks::new(Config::default());
        acks.ack(MS(20));
        acks.copa.slow_start = false;
        acks.now += MS(100);
        acks.copa.window = window;
        acks.ack(MS(20) + TimeDelta::from_micros(queue));
        let step = 1.0 / (0.5 * window) * if rises { 1.0 } else { -1.0 };
        assert!(
            close(acks.copa.window, window + step),
            "{queue} us, {window}: {}",
            acks.copa.window
        );
    }
}

#[test]
fn the_velocity_doubles_after_three_rounds_one_way_and_ends_with_the_direction() {
    for reset_on_turn in [false, true] {
        let mut acks = Acks::new(Config {
            reset_on_turn,
            ..Config::default()
        });
        acks.ack(MS(20));
        acks.copa.slow_start = false;
        acks.copa.window = 100.0;
        let mut velocities = Vec::new();
        for _ in 0..6 {
            acks.now += MS(21);
            acks.ack(MS(20));
            velocities.push(acks.copa.velocity);
        }
        // The first round begins the count; the third one in the same direction doubles the
        // velocity.
        assert_eq!(velocities, [1.0, 1.0, 1.0, 2.0, 4.0, 8.0]);
        // Above the target, mvfst's rule ends the velocity at once, the paper's at the end
        // of the round.
        acks.now += MS(15);
        acks.ack(MS(60));
        assert!(close(
            acks.copa.velocity,
            if reset_on_turn { 1.0 } else { 8.0 }
        ));
        acks.copa.window -= 10.0;
        acks.now += MS(40);
        acks.ack(MS(60));
        assert!(close(acks.copa.velocity, 1.0));
    }
}

#[test]
fn the_target_is_the_window_over_the_smoothed_round_trip() {
    let mut acks = Acks::new(Config::default());
    acks.ack(MS(20));
    acks.ack(MS(36));
    // 20 + 16 / 8 = 22 ms; packets leave at twice the window over the standing 20 ms.
    let window = acks.copa.decision.window.unwrap();
    let decision = acks.copa.decision;
    assert_eq!(decision.target, Rate::of(window, MS(22)));
    let Pacing::Bucket { rate, burst } = decision.pacing else {
        panic!("{:?}", decision.pacing);
    };
    assert_eq!((rate, burst), (Rate::of(window, MS(10)), Bytes::ZERO));
}

#[test]
fn a_window_that_is_not_used_does_not_grow() {
    let mut copa = Copa::new(Config::default(), limits());
    let mut now = Time::from_secs(1);
    // Two packets each 20 ms: two in flight at most, so four in the window.
    for round in 0..200 {
        let both = [packet(2 * round, now), packet(2 * round + 1, now)];
        for packet in both {
            copa.handle(now, Event::PacketSent(packet));
        }
        now += MS(20);
        let reports = both.map(arrived);
        copa.handle(
            now,
            Event::Feedback {
                reports: &reports,
                in_flight: Bytes::ZERO,
            },
        );
    }
    // It began at the first rate; it has not grown since.
    assert!(close(copa.window, 12_500.0 / 1_200.0), "{}", copa.window);
    assert_eq!(copa.decision.cause, Cause::ApplicationLimited);
}

#[test]
fn silence_halves_the_window_down_to_two_packets() {
    let mut acks = Acks::new(Config::default());
    acks.ack(MS(20));
    let before = acks.copa.window;
    let due = |acks: &mut Acks, wait: i64| {
        acks.now += MS(wait);
        let frame = Event::FrameDue {
            frame: FrameId(9),
            interval: MS(16),
        };
        acks.copa.handle(acks.now, frame);
    };
    due(&mut acks, 499);
    assert!(close(acks.copa.window, before), "early");
    due(&mut acks, 1);
    assert!(close(acks.copa.window, before / 2.0));
    assert_eq!(acks.cause(), Cause::FeedbackTimeout);
    for _ in 0..20 {
        due(&mut acks, 500);
    }
    assert!(close(acks.copa.window, LEAST_WINDOW));
    assert_eq!(
        acks.copa.decision.target,
        limits().min().max(Rate::of(Bytes::new(2_400), MS(20)))
    );
}

#[test]
fn values_without_meaning_are_refused() {
    let reference = Config::default();
    for (config, key) in [
        (
            Config {
                delta: 0.0,
                ..reference
            },
            "delta",
        ),
        (
            Config {
                delta: f64::NAN,
                ..reference
            },
            "delta",
        ),
        (
            Config {
                packet: Bytes::ZERO,
                ..reference
            },
            "packet",
        ),
        (
            Config {
                pace: 0.5,
                ..reference
            },
            "pace",
        ),
        (
            Config {
                application_headroom: 0.9,
                ..reference
            },
            "application_headroom",
        ),
    ] {
        assert_eq!(config.check().unwrap_err().key, key);
    }
}

/// Flows that always have data to send, and one link.
struct Bulk {
    flows: Vec<Flow>,
    service: TimeDelta,
    one_way: TimeDelta,
    /// When the link is free again.
    free: Time,
    now: Time,
}

struct Flow {
    copa: Copa,
    starts: Time,
    may_send: Time,
    /// Packets in flight, each with the time of its acknowledgement.
    on_way: VecDeque<(Time, SentPacket)>,
    acknowledged: u64,
}

impl Bulk {
    fn new(config: Config, mbps: u64, one_way: i64, starts: &[u64]) -> Self {
        let flow = |start: &u64| Flow {
            copa: Copa::new(config, limits()),
            starts: Time::from_millis(*start),
            may_send: Time::from_millis(*start),
            on_way: VecDeque::new(),
            acknowledged: 0,
        };
        Self {
            flows: starts.iter().map(flow).collect(),
            service: Rate::from_kbps(1_000 * mbps).transmit_time(PACKET),
            one_way: MS(one_way),
            free: Time::ZERO,
            now: Time::ZERO,
        }
    }

    /// Runs until `end`. Returns the queue, in packets, of each millisecond.
    fn until(&mut self, end: Time) -> Vec<f64> {
        let mut queues = Vec::new();
        let mut next_look = self.now;
        while self.now < end {
            while next_look <= self.now {
                queues.push(
                    self.free
                        .since(self.now)
                        .max(TimeDelta::ZERO)
                        .ratio(self.service),
                );
                next_look += MS(1);
            }
            let mut next = end;
            for index in 0..self.flows.len() {
                next = next.min(self.flow(index));
            }
            self.now = next.max(self.now + TimeDelta::from_nanos(1));
        }
        queues
    }

    /// Lets a flow do what it can at this moment. Returns when it can do more.
    fn flow(&mut self, index: usize) -> Time {
        let flow = &mut self.flows[index];
        if self.now < flow.starts {
            return flow.starts;
        }
        while let Some((at, packet)) = flow.on_way.front().copied()
            && at <= self.now
        {
            flow.on_way.pop_front();
            flow.acknowledged += 1;
            let event = Event::Feedback {
                reports: &[arrived(packet)],
                in_flight: Bytes::new(1_200 * flow.on_way.len() as u64),
            };
            flow.copa.handle(self.now, event);
        }
        loop {
            let decision = *flow.copa.decision();
            let in_flight = Bytes::new(1_200 * (flow.on_way.len() as u64 + 1));
            if in_flight > decision.window.unwrap() {
                break;
            }
            if self.now < flow.may_send {
                return flow
                    .may_send
                    .min(flow.on_way.front().map_or(Time::MAX, |on| on.0));
            }
            let sent = packet(0, self.now);
            flow.copa.handle(self.now, Event::PacketSent(sent));
            self.free = self.free.max(self.now) + self.service;
            let back = self.free + self.one_way + self.one_way;
            flow.on_way.push_back((back, sent));
            if let Pacing::Bucket { rate, .. } = decision.pacing {
                flow.may_send = self.now + rate.transmit_time(PACKET);
            }
        }
        flow.on_way.front().map_or(Time::MAX, |on| on.0)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Section 3: the queue moves between zero and 2.5 / delta packets, and its mean is half of that.
#[test]
fn one_flow_keeps_the_link_busy_with_the_queue_that_the_paper_derives() {
    for delta in [0.5, 0.1, 0.05] {
        let config = Config {
            delta,
            ..Config::default()
        };
        let mut bulk = Bulk::new(config, 20, 25, &[0]);
        bulk.until(Time::from_secs(10));
        let before = bulk.flows[0].acknowledged;
        let queues = bulk.until(Time::from_secs(30));
        let used = (bulk.flows[0].acknowledged - before) as f64 * 1_200.0 * 8.0 / 20.0 / 20e6;
        let (queue, most) = (mean(&queues), queues.iter().copied().fold(0.0, f64::max));
        assert!((0.97..=1.001).contains(&used), "delta {delta}: {used}");
        assert!(
            (1.0..=1.6).contains(&(queue * delta)),
            "delta {delta}: {queue}"
        );
        assert!(
            (2.0..=3.0).contains(&(most * delta)),
            "delta {delta}: {most}"
        );
    }
}

/// Section 3: each flow's share is in proportion to its own 1 / delta, whichever flow came first.
#[test]
fn two_flows_share_evenly_whichever_came_first() {
    for config in [
        Config::default(),
        Config {
            delta: 0.1,
            ..Config::default()
        },
    ] {
        let mut bulk = Bulk::new(config, 20, 25, &[0, 5_000]);
        bulk.until(Time::from_secs(20));
        let before: Vec<_> = bulk.flows.iter().map(|flow| flow.acknowledged).collect();
        bulk.until(Time::from_secs(40));
        let got: Vec<_> = bulk
            .flows
            .iter()
            .zip(before)
            .map(|(flow, before)| (flow.acknowledged - before) as f64)
            .collect();
        let share = got[0] / (got[0] + got[1]);
        assert!(
            (0.47..=0.53).contains(&share),
            "delta {}: {share}",
            config.delta
        );
    }
}
