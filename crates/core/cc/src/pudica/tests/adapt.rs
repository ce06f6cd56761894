//! Tests of the long-term adaptation of the bitrate (Pudica, section 4.2).

use super::*;

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
