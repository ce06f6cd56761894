//! Tests of pacing, probes and the estimate of the busy share (Pudica, section 4.1).

use super::*;

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
