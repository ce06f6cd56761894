//! Tests of each equation, on events whose outcome is calculated by hand.

use mimosa_facts::{
    Cause, Controller, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome, PacketReport,
    SentPacket, Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

use super::{Config, Nada};

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;
const RTT: TimeDelta = TimeDelta::from_millis(20);

struct Flow {
    nada: Nada,
    now: Time,
    sequence: u64,
}

impl Flow {
    fn new(config: Config) -> Self {
        config.check().unwrap();
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(200), mbps(10), mbps(50));
        Self {
            nada: Nada::new(config, limits),
            now: Time::from_secs(10),
            sequence: 0,
        }
    }

    fn packet(&mut self, sent: Time) -> SentPacket {
        self.sequence += 1;
        SentPacket {
            sequence: Sequence(self.sequence),
            frame: FrameId(0),
            kind: PacketKind::Media,
            size: Bytes::new(1_250),
            sent,
        }
    }

    fn report(&mut self, packet: SentPacket, outcome: PacketOutcome) {
        let event = Event::Feedback {
            reports: &[PacketReport { packet, outcome }],
            in_flight: Bytes::ZERO,
        };
        self.nada.handle(self.now, event);
    }

    fn arrives(&mut self, ecn: Ecn, queued: TimeDelta) {
        let packet = self.packet(self.now - RTT);
        let sent = PeerTime::from_nanos(packet.sent.as_nanos().cast_signed());
        let outcome = PacketOutcome::Arrived {
            at: sent + MS(3_000) + queued,
            ecn,
            after_loss: false,
        };
        self.report(packet, outcome);
    }

    /// Reports the arrival of a packet each millisecond, 10 Mbit/s, with a queueing delay of
    /// `queued`.
    fn run(&mut self, millis: u32, queued: TimeDelta) {
        for _ in 0..millis {
            self.now += MS(1);
            self.arrives(Ecn::NotEct, queued);
        }
    }

    fn mbps(&self) -> f64 {
        self.nada.rate.as_mbps()
    }

    fn cause(&self) -> Cause {
        self.nada.decision().cause
    }
}

#[track_caller]
fn close(a: f64, b: f64) {
    assert!(
        (a - b).abs() <= 2e-3 * b.abs().max(1e-3),
        "{a} instead of {b}"
    );
}

#[test]
fn without_a_queue_the_rate_goes_above_what_arrives() {
    let mut flow = Flow::new(Config::default());
    flow.run(510, MS(0));
    // gamma = 50 / (20 + 100 + 120); at most a slot of the window is missing.
    let (low, high) = (
        0.96 * 10.0 * (1.0 + 50.0 / 240.0),
        10.0 * (1.0 + 50.0 / 240.0),
    );
    assert!(
        (low..=high * 1.001).contains(&flow.mbps()),
        "{}",
        flow.mbps()
    );
    assert_eq!(flow.cause(), Cause::MultiplicativeIncrease);
    // No more than before arrives, so the rate stays where it is.
    let before = flow.mbps();
    flow.run(500, MS(0));
    close(flow.mbps(), before);
}

#[test]
fn at_equilibrium_the_signal_is_the_reference_over_the_share_of_the_highest_rate() {
    // 10 ms x 50 / 10 are 50 ms: with that queueing delay the rate stays at 10 Mbit/s.
    let mut flow = Flow::new(Config::default());
    flow.run(1, MS(0));
    flow.nada.signal = MS(50);
    flow.run(99, MS(50));
    let before = flow.mbps();
    flow.run(300, MS(50));
    close(flow.mbps(), before);
    close(before, 10.0);
    assert_eq!(flow.cause(), Cause::GradualUpdate);
}

#[test]
fn the_gradual_update_is_equation_7() {
    let mut flow = Flow::new(Config::default());
    flow.run(1, MS(0));
    flow.nada.signal = MS(50);
    flow.run(99, MS(50));
    // In one step of 100 ms the signal goes to 70 ms, 20 ms above its aim and 20 ms more than
    // before.
    flow.nada.delays.clear();
    flow.run(100, MS(70));
    let factor = 1.0 - 0.5 * 0.2 * (20.0 / 500.0) - 0.5 * 2.0 * (20.0 / 500.0);
    close(flow.mbps(), 10.0 * factor);
}

#[test]
fn losses_and_marks_count_by_the_square_of_their_share() {
    let mut flow = Flow::new(Config::default());
    flow.nada.loss_share = 0.02;
    close(flow.nada.congestion(MS(5)).as_millis(), 5.0 + 4.0 * 10.0);
    flow.nada.mark_share = 0.03;
    close(
        flow.nada.congestion(MS(5)).as_millis(),
        5.0 + 4.0 * 10.0 + 9.0 * 2.0,
    );
    flow.nada.loss_share = 1.0;
    assert_eq!(flow.nada.congestion(MS(5)), MS(500));
}

#[test]
fn a_tenth_of_the_newest_share_of_losses_is_taken_each_time() {
    let mut flow = Flow::new(Config::default());
    flow.run(100, MS(0));
    flow.nada.updated = Some(flow.now);
    flow.now += MS(1);
    let lost = flow.packet(flow.now - RTT);
    flow.report(lost, PacketOutcome::Lost);
    for _ in 0..99 {
        flow.now += MS(1);
        flow.arrives(Ecn::Ce, MS(0));
    }
    close(flow.nada.loss_share, 0.1 / 200.0);
    close(flow.nada.mark_share, 0.1 * 99.0 / 199.0);
    assert_eq!(flow.cause(), Cause::GradualUpdate);
}

#[test]
fn a_long_delay_is_warped_while_a_loss_is_remembered() {
    let mut flow = Flow::new(Config::default());
    assert_eq!(flow.nada.perceived(MS(150)), MS(150));
    flow.nada.losses.current = 100.0;
    flow.nada.losses.lost(flow.now, RTT);
    // The warped delay is 50 exp(-0.5 x 2).
    let warped = 50.0 * libm::exp(-1.0);
    close(flow.nada.perceived(MS(150)).as_millis(), warped);
    assert_eq!(flow.nada.perceived(MS(49)), MS(49));
    // The mean grows with the present interval, which is at most 6 times the mean, because the
    // weights sum to 6. With 7 in `loss_memory` a loss is therefore never forgotten.
    for _ in 0..7 {
        flow.now += MS(100);
        flow.nada.losses.current = 100.0;
        flow.nada.losses.lost(flow.now, RTT);
    }
    let mean_after = |current: f64| (5.0 * 100.0 + current) / 6.0;
    flow.nada.losses.current = 100.0;
    close(flow.nada.losses.mean().unwrap(), mean_after(100.0));
    close(flow.nada.perceived(MS(150)).as_millis(), warped);
    flow.nada.losses.current = 1e9;
    close(flow.nada.losses.mean().unwrap(), mean_after(1e9));
}

#[test]
fn growth_ends_at_twice_what_arrives() {
    let mut flow = Flow::new(Config::default());
    // 1 Mbit/s arrives, with a queueing delay far below the aim, which is 250 ms or more.
    flow.nada.rate = Rate::from_kbps(500);
    flow.arrives(Ecn::NotEct, MS(0));
    for _ in 0..2_000 {
        flow.now += MS(10);
        flow.arrives(Ecn::NotEct, MS(12));
    }
    assert!((1.9..=2.001).contains(&flow.mbps()), "{}", flow.mbps());
    assert_eq!(flow.cause(), Cause::ApplicationLimited);
}

#[test]
fn what_waits_lowers_the_target_and_speeds_up_the_pace() {
    let mut flow = Flow::new(Config::default());
    let due = Event::FrameDue {
        frame: FrameId(1),
        interval: MS(20),
    };
    flow.nada.handle(flow.now, due);
    let encoded = |frame, size| Event::FrameEncoded {
        frame: FrameId(frame),
        size: Bytes::new(size),
        packets: 4,
    };
    // 2000 bytes wait: at 50 frames a second 0.8 Mbit/s, of which a tenth counts.
    let decision = *flow.nada.handle(flow.now, encoded(1, 2_000));
    close(decision.target.as_mbps(), 10.0 - 0.08);
    let Pacing::Bucket { rate, .. } = decision.pacing else {
        panic!("{decision:?}");
    };
    close(rate.as_mbps(), 10.0 + 0.08);
    // The queue never counts for more than a twentieth of the rate.
    let decision = *flow.nada.handle(flow.now, encoded(2, 200_000));
    close(decision.target.as_mbps(), 9.5);
}

#[test]
fn silence_halves_the_rate_again_and_again() {
    let mut flow = Flow::new(Config::default());
    assert_eq!(flow.nada.deadline(), None);
    let packet = flow.packet(flow.now);
    flow.nada.handle(flow.now, Event::PacketSent(packet));
    for halved in [5.0, 2.5] {
        let due = flow.nada.deadline().unwrap();
        assert_eq!(due, flow.now + MS(500));
        flow.now = due;
        flow.nada.handle(flow.now, Event::Timer);
        close(flow.mbps(), halved);
        assert_eq!(flow.cause(), Cause::FeedbackTimeout);
    }
}
