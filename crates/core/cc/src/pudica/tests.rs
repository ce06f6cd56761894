//! Tests of each mechanism alone, on frames whose BUR the test decides.

use mimosa_facts::{
    Cause, Controller, Decision, Event, FrameId, Limits, Pacing, PacketKind, PacketOutcome,
    PacketReport, SentPacket, Sequence,
};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};

use super::{Adaptation, Cadence, Config, Estimator, FrameSize, Growth, Overuse, PaceMode, Pudica};

const L: TimeDelta = TimeDelta::from_millis(16);
/// One-way delay of an empty path. `OFFSET` is the difference of the clocks.
const DELAY: TimeDelta = TimeDelta::from_millis(10);
const OFFSET: TimeDelta = TimeDelta::from_millis(5_000);
const PACKETS: u32 = 10;

/// A stream in which every frame has the BUR that the test asks for.
struct Stream {
    controller: Pudica,
    now: Time,
    frame: u64,
    sequence: u64,
    /// Share of its target that the encoder uses.
    used: f64,
}

impl Stream {
    fn new(config: Config, start_mbps: u64) -> Self {
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(Rate::from_kbps(200), mbps(start_mbps), mbps(50));
        Self {
            controller: Pudica::new(config, limits),
            now: Time::from_millis(100),
            frame: 0,
            sequence: 0,
            used: 1.0,
        }
    }

    fn mbps(&self) -> f64 {
        self.controller.decision().target.as_mbps()
    }

    fn cause(&self) -> Cause {
        self.controller.decision().cause
    }

    /// Asks for a frame and sends it, without any feedback.
    fn send(&mut self) -> (FrameId, Vec<SentPacket>, Decision) {
        let frame = FrameId(self.frame);
        self.frame += 1;
        let due = Event::FrameDue { frame, interval: L };
        let granted = *self.controller.handle(self.now, due);
        let size = granted
            .frame_limit
            .unwrap_or_else(|| granted.target.amount_in(L))
            .scale(self.used);
        let encoded = Event::FrameEncoded {
            frame,
            size,
            packets: PACKETS,
        };
        self.controller.handle(self.now, encoded);
        let packets = (0..PACKETS)
            .map(|_| {
                let packet = self.packet(frame, PacketKind::Media, size.scale(0.1));
                self.controller.handle(self.now, Event::PacketSent(packet));
                packet
            })
            .collect();
        (frame, packets, granted)
    }

    fn packet(&mut self, frame: FrameId, kind: PacketKind, size: Bytes) -> SentPacket {
        self.sequence += 1;
        SentPacket {
            sequence: Sequence(self.sequence),
            frame,
            kind,
            size,
            sent: self.now,
        }
    }

    /// Reports that `packet` arrived `queued` later than on an empty path. The
    /// report comes a round trip and `queued` after `self.now`.
    fn arrived(&mut self, packet: SentPacket, queued: TimeDelta, in_flight: u64) {
        let at =
            PeerTime::from_nanos(packet.sent.as_nanos().cast_signed()) + OFFSET + DELAY + queued;
        let report = PacketReport {
            packet,
            outcome: PacketOutcome::Arrived {
                at,
                ecn: Ecn::NotEct,
                after_loss: false,
            },
        };
        let event = Event::Feedback {
            reports: &[report],
            in_flight: Bytes::new(in_flight),
        };
        self.controller
            .handle(self.now + DELAY + DELAY + queued, event);
    }

    /// Reports that `packet` was lost.
    fn lost(&mut self, packet: SentPacket) {
        let report = PacketReport {
            packet,
            outcome: PacketOutcome::Lost,
        };
        let event = Event::Feedback {
            reports: &[report],
            in_flight: Bytes::ZERO,
        };
        self.controller.handle(self.now + DELAY + DELAY, event);
    }

    /// Sends a frame of this BUR and reports it: its packets leave at once and
    /// are served evenly, the first at once, the last after `bur` of the
    /// interval.
    fn frame(&mut self, bur: f64) -> Decision {
        let (_, packets, granted) = self.send();
        for (index, packet) in packets.into_iter().enumerate() {
            let share = index as f64 / f64::from(PACKETS - 1);
            self.arrived(packet, L.scale(bur * share), 0);
        }
        // The controller gets the feedback of a frame before the next frame.
        self.now += L;
        granted
    }

    fn frames(&mut self, count: u32, bur: f64) {
        for _ in 0..count {
            self.frame(bur);
        }
    }
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-3 * b.abs().max(1.0)
}

#[test]
fn bur_is_the_delay_above_the_minimum_over_the_interval() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(0.5);
    let bur = stream.controller.decision().evidence.utilization;
    assert!(
        close(bur.unwrap(), 0.5),
        "{bur:?} with a clock offset of 5 s"
    );
}

#[test]
fn multiplicative_increase_is_equation_8() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(0.5);
    // 1 + 0.3 * (0.925 - 0.5) / 0.5
    assert!(close(stream.mbps(), 10.0 * 1.255), "{}", stream.mbps());
    assert_eq!(stream.cause(), Cause::MultiplicativeIncrease);
}

#[test]
fn the_next_adjustment_waits_for_its_own_feedback() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(0.5);
    // Two frames go out before anything comes back.
    let (_, first, _) = stream.send();
    stream.now += L;
    let (_, second, _) = stream.send();
    stream.now += L;
    for packet in first {
        stream.arrived(packet, L.scale(0.5), 0);
    }
    let raised = stream.mbps();
    for packet in second {
        stream.arrived(packet, L.scale(0.5), 0);
    }
    assert!(close(stream.mbps(), raised), "sent before the rise");
    assert_eq!(stream.cause(), Cause::AwaitFeedback);
    stream.frame(0.5);
    assert!(stream.mbps() > raised * 1.01, "the third one after it");
}

#[test]
fn the_fairness_step_is_equations_9_and_10() {
    let config = Config {
        largest_rise: Rate::MAX,
        largest_fall: Rate::MAX,
        highest_share: 1.0,
        lowest_share: -0.99,
        ..Config::default()
    };
    let mut stream = Stream::new(config, 20);
    stream.frame(0.9);
    // tau = 1: I = (50 + 2 / ln 20) * 0.025, A = I - 0.05 * 20
    let expected = 20.0 + (50.0 + 2.0 / 20f64.log(std::f64::consts::E)) * 0.025 - 1.0;
    assert!(close(stream.mbps(), expected), "{}", stream.mbps());
    assert_eq!(stream.cause(), Cause::FairnessStep);
}

#[test]
fn steps_are_bounded_in_mbits_and_in_proportion_to_the_bitrate() {
    let stepped = |config, start| {
        let mut stream = Stream::new(config, start);
        stream.frame(0.9);
        stream.mbps() - start as f64
    };
    // Unbounded, A is some 1.2 at 2 Mbit/s, 0.85 at 8, 0.75 at 10, -1.2 at 50.
    assert!(close(stepped(Config::default(), 2), 0.2));
    assert!(close(stepped(Config::default(), 8), 0.8));
    let ten = stepped(Config::default(), 10);
    assert!((0.75..0.80).contains(&ten), "{ten}: equation 10");
    assert!(close(stepped(Config::default(), 50), -1.0));
    let former = Config {
        largest_rise: Rate::MAX,
        largest_fall: Rate::MAX,
        lowest_share: -0.05,
        highest_share: 0.05,
        ..Config::default()
    };
    assert!(
        close(stepped(former, 10), 0.5),
        "the same for each below 12.5"
    );
}

#[test]
fn a_fairness_step_waits_for_no_feedback_of_its_own_unless_asked_to() {
    let steps = |cadence| {
        let config = Config {
            cadence,
            ..Config::default()
        };
        let mut stream = Stream::new(config, 20);
        let sent: Vec<_> = (0..4).map(|_| stream.send().1).collect();
        stream.now += L;
        let mut rates = vec![stream.mbps()];
        for packets in sent {
            for (index, packet) in packets.into_iter().enumerate() {
                let share = index as f64 / f64::from(PACKETS - 1);
                stream.arrived(packet, L.scale(0.87 * share), 0);
            }
            rates.push(stream.mbps());
        }
        rates.dedup();
        rates.len() - 1
    };
    assert_eq!((steps(Cadence::Frame), steps(Cadence::Feedback)), (4, 1));
}

#[test]
fn a_smoothed_bur_above_one_leaves_the_bitrate_or_steps() {
    let after = |overuse, start| {
        let config = Config {
            overuse,
            drain: false,
            ..Config::default()
        };
        let mut stream = Stream::new(config, start);
        stream.frame(1.2);
        assert!(close(stream.controller.tau, 0.0));
        stream.mbps() - start as f64
    };
    assert!(close(after(Overuse::Hold, 10), 0.0));
    // (50 / 2 - B) / 20
    assert!(close(after(Overuse::Step, 10), 0.75));
    assert!(close(after(Overuse::Step, 40), -0.75));
}

#[test]
fn the_step_of_fig_15b_grows_alike_at_every_bitrate() {
    let grown = |growth, mbps| {
        let config = Config {
            growth,
            ..Config::default()
        };
        let mut stream = Stream::new(config, mbps);
        stream.controller.tau = 100.0;
        stream.controller.grown(mbps as f64)
    };
    let alike = 200.0 / 25f64.log(std::f64::consts::E);
    for mbps in [5, 25, 45] {
        assert!(close(grown(Growth::Independent, mbps), alike), "{mbps}");
    }
    assert!(close(grown(Growth::Linear, 25), alike));
    assert!(grown(Growth::Linear, 5) > alike && grown(Growth::Linear, 45) < alike);
}

#[test]
fn lost_packets_make_the_link_look_busier() {
    let smoothed = |frame_size| {
        let config = Config {
            frame_size,
            ..Config::default()
        };
        let mut stream = Stream::new(config, 10);
        let (_, packets, _) = stream.send();
        for (index, packet) in packets.into_iter().enumerate() {
            if index % 5 == 2 {
                stream.lost(packet);
                continue;
            }
            let share = index as f64 / f64::from(PACKETS - 1);
            stream.arrived(packet, L.scale(0.6 * share), 0);
        }
        let evidence = stream.controller.decision().evidence;
        evidence.smoothed_utilization.unwrap()
    };
    assert!(close(smoothed(FrameSize::Sent), 0.6));
    assert!(close(smoothed(FrameSize::Arrived), 0.6 / 0.8));
}

#[test]
fn a_probe_counts_less_the_noise_floor() {
    let corrected = |noise_floor| {
        let config = Config {
            noise_floor,
            ..Config::default()
        };
        let mut stream = Stream::new(config, 10);
        let mut sum = 0.0;
        for round in 0..100 {
            let (frame, packets, _) = stream.send();
            for packet in packets {
                stream.arrived(packet, L.scale(0.3), 0);
            }
            let spacing = stream.controller.decision().probe.unwrap().interval;
            let sent = stream.now;
            for index in 0..4 {
                stream.now = sent + L.scale(0.3) + spacing * (index + 1);
                let probe = stream.packet(frame, PacketKind::Probe, Bytes::new(64));
                // Nothing, and .04 L in every other frame: .02 on average.
                stream.arrived(probe, L.scale(0.04 * f64::from(round % 2)), 0);
            }
            stream.now = sent + L;
            sum += match round {
                80.. => stream.controller.frames.newest_sample().unwrap() / 20.0,
                _ => 0.0,
            };
        }
        sum
    };
    // Half of the frames meet .16, and the floor of the four probes is .16 / ln 2.
    let less = |gain: f64| 0.3 + 0.5 * (0.16 - gain * 0.16 * std::f64::consts::LOG2_E).max(0.0);
    for gain in [0.0, 0.5, 1.0] {
        assert!(close(corrected(gain), less(gain)), "{}", corrected(gain));
    }
}

#[test]
fn ai_md_in_its_classic_form_only_adds() {
    let config = Config {
        adaptation: Adaptation::Classic,
        ..Config::default()
    };
    let mut stream = Stream::new(config, 40);
    stream.frame(0.9);
    assert!(close(stream.mbps(), 40.5), "{}", stream.mbps());
}

#[test]
fn the_additive_part_starts_anew_every_five_seconds() {
    let mut stream = Stream::new(Config::default(), 30);
    let mut restarts = 0;
    let mut before = 0.0;
    for _ in 0..1000 {
        stream.frame(0.9);
        restarts += u32::from(stream.controller.tau < before);
        before = stream.controller.tau;
    }
    // 1000 frames of 16 ms are 16 s.
    assert_eq!(restarts, 3);
}

#[test]
fn the_additive_part_starts_anew_when_the_link_is_overused() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(20, 0.9);
    assert!(stream.controller.tau > 15.0, "{}", stream.controller.tau);
    // One frame with a BUR far above one lifts the smoothed value above one.
    stream.frame(4.0);
    let smoothed = stream.controller.decision().evidence.smoothed_utilization;
    assert!(smoothed.unwrap() > 1.0, "{smoothed:?}");
    assert!(
        close(stream.controller.tau, 0.0),
        "{}",
        stream.controller.tau
    );
}

#[test]
fn pacing_is_equation_2_and_probes_fill_the_rest() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(0.8);
    let (frame, _, _) = stream.send();
    let decision = stream.controller.decision();
    // rho = 1.25 / 0.8; the last packet leaves after L / rho.
    let Pacing::Spread { over, .. } = decision.pacing else {
        panic!("{:?}", decision.pacing);
    };
    assert!(close(over.as_secs(), L.as_secs() * 0.8 / 1.25), "{over}");
    let probe = decision.probe.unwrap();
    assert_eq!((probe.packets, probe.id), (4, frame.0));
    let rest = L.as_secs() * (1.0 - 0.8 / 1.25) / 5.0;
    assert!(close(probe.interval.as_secs(), rest), "{}", probe.interval);
}

#[test]
fn pacing_never_exceeds_the_frame_interval() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(3.0);
    stream.send();
    let Pacing::Spread { over, .. } = stream.controller.decision().pacing else {
        panic!("not spread");
    };
    assert!(close(over.as_secs(), L.as_secs() / 1.25), "{over}");
}

#[test]
fn pacing_can_be_fixed_or_a_burst_as_the_ablations_need() {
    let pacing = |config| {
        let mut stream = Stream::new(config, 10);
        stream.frame(0.5);
        stream.send();
        let decision = stream.controller.decision();
        (decision.pacing, decision.probe.map_or(0, |p| p.packets))
    };
    let with = |pacing, probes| Config {
        pacing,
        probes,
        ..Config::default()
    };
    let half = Pacing::Spread {
        over: L / 2,
        lead: 1,
    };
    assert_eq!(pacing(with(PaceMode::Fixed, 4)), (half, 4));
    assert_eq!(pacing(with(PaceMode::Burst, 0)), (Pacing::Burst, 0));
    let estimator = |estimator| Config {
        estimator,
        ..Config::default()
    };
    assert_eq!(pacing(estimator(Estimator::Sqp)), (half, 0));
    assert_eq!(pacing(estimator(Estimator::Salsify)), (Pacing::Burst, 0));
}

#[test]
fn probes_add_what_they_met_but_nothing_twice() {
    // With a BUR of .4, L / rho is .32 L, and probes leave .136 L apart.
    let mut stream = Stream::new(Config::default(), 10);
    stream.frame(0.4);
    let (frame, packets, _) = stream.send();
    for (index, packet) in packets.into_iter().enumerate() {
        let share = index as f64 / f64::from(PACKETS - 1);
        stream.arrived(packet, L.scale(0.4 * share), 0);
    }
    let spacing = stream.controller.decision().probe.unwrap().interval;
    let sent = stream.now;
    // The probes leave after the last packet has arrived. They meet no queue, a
    // queue of others of .05 L, and one so long that it counts as one spacing
    // and no more.
    for (index, queued) in [(0, 0.0), (1, 0.05), (2, 9.0)] {
        stream.now = sent + L.scale(0.4) + spacing * (index + 1);
        let probe = stream.packet(frame, PacketKind::Probe, Bytes::new(64));
        stream.arrived(probe, L.scale(queued), 0);
    }
    let corrected = stream.controller.frames.newest_sample().unwrap();
    let expected = 0.4 + 0.05 + spacing.ratio(L);
    assert!(close(corrected, expected), "{corrected}, not {expected}");
}

#[test]
fn a_probe_behind_its_own_frame_counts_only_the_time_after_it() {
    // Equation 3: the probe arrives .1 L after the frame's last packet, though
    // it was queued for longer.
    let mut stream = Stream::new(
        Config {
            probes: 1,
            ..Config::default()
        },
        10,
    );
    stream.frame(0.1);
    let (frame, packets, _) = stream.send();
    for packet in packets {
        stream.arrived(packet, L.scale(0.5), 0);
    }
    let probe = stream.packet(frame, PacketKind::Probe, Bytes::new(64));
    stream.arrived(probe, L.scale(0.6), 0);
    let corrected = stream.controller.frames.newest_sample().unwrap();
    assert!(close(corrected, 0.6), "{corrected}");
}

#[test]
fn smoothing_scales_samples_to_the_present_bitrate() {
    // Half the size has half the BUR: the smoothed value sees no difference.
    let mut stream = Stream::new(Config::default(), 20);
    for _ in 0..4 {
        stream.used = 1.0;
        stream.frame(0.90);
        stream.used = 0.5;
        stream.frame(0.45 * stream.mbps() / 20.0);
    }
    let smoothed = stream.controller.decision().evidence.smoothed_utilization;
    assert!((0.85..0.96).contains(&smoothed.unwrap()), "{smoothed:?}");
}

#[test]
fn one_frame_above_one_makes_the_next_alone_smaller() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(3, 0.95);
    stream.frame(1.2);
    let rate = stream.mbps();
    let granted = stream.frame(0.95);
    let limit = granted.frame_limit.unwrap().get() as f64;
    let whole = Rate::from_mbps(rate).amount_in(L).get() as f64;
    assert!(close(limit / whole, 0.85), "{}", limit / whole);
    assert_eq!(granted.cause, Cause::FrameFallback);
    let after = stream.frame(0.95);
    assert_eq!(after.frame_limit, None, "only the next");
    assert_ne!(after.cause, Cause::FrameFallback, "nor is it the cause");
}

#[test]
fn an_overdue_frame_makes_the_next_one_smaller() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    let mut limits = Vec::new();
    for _ in 0..6 {
        let (_, _, granted) = stream.send();
        limits.push(granted.frame_limit.is_some());
        stream.now += L;
    }
    // The threshold is the minimum RTT of 20 ms and two intervals, 52 ms in
    // all.
    assert_eq!(limits, [false, false, false, false, true, true]);
    assert_eq!(stream.cause(), Cause::NextDelayFallback);
}

#[test]
fn a_frame_that_the_receiver_has_is_not_overdue() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    for sent in 0..8 {
        let (frame, _, granted) = stream.send();
        assert_eq!(granted.frame_limit, None, "frame {sent}");
        stream.now += L;
        let decoded = Event::FrameDecoded { frame };
        stream.controller.handle(stream.now, decoded);
    }
    // A frame without that event becomes overdue.
    let overdue = (0..5).any(|_| {
        let (_, _, granted) = stream.send();
        stream.now += L;
        granted.frame_limit.is_some()
    });
    assert!(overdue && stream.cause() == Cause::NextDelayFallback);
}

#[test]
fn three_frames_above_one_drain_and_the_first_below_recovers() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    let before = stream.mbps();
    stream.frames(2, 1.5);
    assert!(stream.mbps() >= before * 0.95, "not yet");
    // A frame of BUR 1.5 takes 24 ms: it arrives at two thirds of its bitrate.
    let (_, packets, granted) = stream.send();
    let size = granted.frame_limit.unwrap();
    for (index, packet) in packets.into_iter().enumerate() {
        let share = index as f64 / f64::from(PACKETS - 1);
        stream.arrived(packet, L.scale(1.5 * share), 25_000);
    }
    stream.now += L;
    assert_eq!(stream.cause(), Cause::Drain);
    let evidence = stream.controller.decision().evidence;
    let receiving = evidence.service_rate.unwrap().as_mbps();
    // 25 kB in 200 ms are 1 Mbit/s.
    assert!(
        close(stream.mbps(), 0.85 * receiving - 1.0),
        "{}",
        stream.mbps()
    );
    let last = Rate::of(size.scale(0.9), L.scale(1.5)).as_mbps();
    assert!((last * 0.7..last * 1.6).contains(&receiving), "{receiving}");
    stream.frame(0.5);
    assert_eq!(stream.cause(), Cause::Recover);
    assert!(stream.mbps() <= before * 1.05, "never above what it was");
    assert!(stream.mbps() > 0.5 * receiving);
    // Measurements of a queue are no evidence when the queue has gone.
    assert_eq!(evidence.backlog, Some(Bytes::new(25_000)));
    let evidence = stream.controller.decision().evidence;
    assert!(evidence.backlog.is_none() && evidence.service_rate.is_some());
    stream.frames(5, 0.5);
    assert_eq!(stream.controller.decision().evidence.service_rate, None);
}

#[test]
fn mechanisms_can_be_switched_off() {
    let config = Config {
        fallback: false,
        drain: false,
        ..Config::default()
    };
    let mut stream = Stream::new(config, 20);
    stream.frames(3, 0.95);
    let before = stream.mbps();
    for _ in 0..20 {
        assert_eq!(stream.frame(1.5).frame_limit, None);
    }
    assert!(stream.mbps() >= before * 0.95);
    assert_eq!(stream.cause(), Cause::Overuse);
}

#[test]
fn silence_halves_the_rate_and_feedback_brings_it_back() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(5, 0.9);
    let before = stream.mbps();
    let mut lowest = before;
    for _ in 0..(10_000 / 16) {
        stream.send();
        stream.now += L;
        lowest = stream.mbps().min(lowest);
    }
    assert!(
        lowest <= 0.2 + 1e-9,
        "{lowest} Mbit/s after 10 s of silence"
    );
    stream.frames(240, 0.3);
    assert!(stream.mbps() > before / 2.0, "{}", stream.mbps());
}

#[test]
fn an_encoder_that_uses_little_does_not_raise_the_rate() {
    let mut stream = Stream::new(Config::default(), 10);
    stream.frames(20, 0.9);
    let before = stream.mbps();
    // A still picture: frames so small that they meet no queue at all.
    stream.used = 0.02;
    stream.frames(200, 0.0);
    assert!(close(stream.mbps(), before), "{}", stream.mbps());
    assert_eq!(stream.cause(), Cause::ApplicationLimited);
    // Motion again, on a link that has room.
    stream.used = 1.0;
    stream.frames(10, 0.5);
    assert!(stream.mbps() > before * 1.2, "{}", stream.mbps());
}

#[test]
fn a_longer_path_is_told_from_a_queue() {
    let mut stream = Stream::new(Config::default(), 20);
    stream.frames(30, 0.8);
    // Every packet takes 43 ms more than on the empty path: a BUR of 2.7 at any
    // bitrate.
    let mut lengthened = 0;
    for _ in 0..300 {
        let (_, packets, _) = stream.send();
        for packet in packets {
            stream.arrived(packet, TimeDelta::from_millis(43), 0);
        }
        stream.now += L;
        lengthened += u32::from(stream.cause() == Cause::PathChange);
    }
    assert_eq!(lengthened, 1, "noticed once");
    assert!(stream.mbps() > 5.0, "{}", stream.mbps());
}
