//! What a controller meets outside of textbooks.

use std::fmt::Write;

use crate::common::{Log, part, scenario, whole, window};
use mimosa_facts::{Cause, FrameEnd, FrameLife};
use mimosa_figures::RunFigures;
use mimosa_units::Time;
use proptest::prelude::*;

/// One stream on 20 Mbit/s; the link's and the flow's own lines are added.
fn stream(link: &str, flow: &str) -> mimosa_scenario::Scenario {
    scenario(&format!(
        "duration = \"30s\"\n[link]\n{link}\none_way_delay = \"10ms\"\n[[flow]]\nname = \"game\"\n{flow}"
    ))
}

const LINK: &str = "rate = \"20Mbit/s\"";

/// Use of the link and 99th percentile of the frame delay, once settled.
fn settled(outcome: &RunFigures) -> (f64, f64) {
    let flow = &outcome.flows[0];
    (
        outcome.link.utilization.unwrap(),
        flow.frame_delay_ms.unwrap().p99,
    )
}

#[test]
fn feedback_may_come_for_each_packet_each_frame_or_each_50_ms() {
    for (mode, slowest) in [("packet", 40.0), ("frame", 40.0), ("50ms", 40.0 + 50.0)] {
        for seed in 1..=4 {
            let scenario = stream(LINK, &format!("feedback = \"{mode}\""));
            let (used, p99) = settled(&part(&scenario, seed, window(3_000, 30_000)));
            assert!((0.85..=1.0).contains(&used), "{mode}, seed {seed}: {used}");
            assert!(p99 <= slowest, "{mode}, seed {seed}: {p99} ms");
        }
    }
}

#[test]
fn lost_reports_that_are_repeated_cost_nothing() {
    let link = format!("{LINK}\nreturn_loss = 0.1");
    for seed in 1..=4 {
        let scenario = stream(&link, "feedback_repeat = 40");
        let (used, p99) = settled(&part(&scenario, seed, window(3_000, 30_000)));
        assert!(
            (0.9..=1.0).contains(&used) && p99 <= 40.0,
            "{used}, {p99} ms"
        );
    }
}

#[test]
fn lost_reports_that_are_not_repeated_are_borne() {
    let link = format!("{LINK}\nreturn_loss = 0.1");
    for seed in 1..=4 {
        let (used, p99) = settled(&part(&stream(&link, ""), seed, window(3_000, 30_000)));
        assert!(
            (0.8..=1.0).contains(&used) && p99 <= 150.0,
            "{used}, {p99} ms"
        );
    }
}

#[test]
fn late_and_aggregated_reports_are_borne() {
    let link =
        format!("{LINK}\nreturn_aggregation = \"20ms\"\nreturn_jitter = {{ kind = \"normal\" }}");
    for seed in 1..=4 {
        let (used, p99) = settled(&part(&stream(&link, ""), seed, window(3_000, 30_000)));
        assert!(
            (0.85..=1.0).contains(&used) && p99 <= 75.0,
            "{used}, {p99} ms"
        );
    }
}

#[test]
fn reports_that_overtake_each_other_are_borne() {
    let link = format!("{LINK}\nreturn_reordering = {{ share = 0.1, extra = \"15ms\" }}");
    for seed in 1..=4 {
        let (used, p99) = settled(&part(&stream(&link, ""), seed, window(3_000, 30_000)));
        assert!(
            (0.85..=1.0).contains(&used) && p99 <= 60.0,
            "{used}, {p99} ms"
        );
    }
}

#[test]
fn reports_that_come_twice_are_heard_once() {
    let scenario = stream(LINK, "feedback_repeat = 20");
    let plain = stream(LINK, "");
    for seed in 1..=4 {
        let (twice, once) = (whole(&scenario, seed), whole(&plain, seed));
        assert_eq!(twice.flows, once.flows, "seed {seed}");
    }
}

#[test]
fn frames_that_the_pacer_gives_up_are_no_silence() {
    // A pacer at half the bitrate: every other frame waits until it is given up.
    let scenario = stream(LINK, "pacer = \"0.5x\"\nlongest_wait = \"100ms\"");
    for seed in 1..=4 {
        let log = Log::of(&scenario, seed);
        let given_up = |life: &FrameLife| life.end == Some(FrameEnd::GivenUp);
        let count = log.frames.iter().filter(|(_, life)| given_up(life)).count();
        assert!(count > 100, "seed {seed}: {count} given up");
        let silent = |life: &FrameLife| life.decision.cause == Cause::FeedbackTimeout;
        let silent = log.frames.iter().filter(|(_, life)| silent(life)).count();
        assert_eq!(silent, 0, "seed {seed}: reports came all the time");
    }
}

#[test]
fn clocks_may_differ_and_drift() {
    for ppm in ["-100.0", "100.0"] {
        let flow = format!("clock_offset = \"1h\"\nclock_drift_ppm = {ppm}");
        let (used, p99) = settled(&part(&stream(LINK, &flow), 1, window(3_000, 30_000)));
        assert!(
            (0.85..=1.0).contains(&used) && p99 <= 40.0,
            "{ppm}: {used}, {p99}"
        );
    }
}

#[test]
fn sequence_numbers_wrap_without_notice() {
    // 16 bits are through after a third of a minute.
    let scenario = stream("rate = \"60Mbit/s\"", "");
    let outcome = whole(&scenario, 1);
    assert!(outcome.link.offered > 2 * 65_536);
    let (used, p99) = settled(&part(&scenario, 1, window(20_000, 30_000)));
    assert!(
        (0.8..=1.0).contains(&used) && p99 <= 40.0,
        "{used}, {p99} ms"
    );
}

#[test]
fn more_packets_a_second_than_are_remembered_are_no_loss() {
    // 400 Mbit/s are more than 41,000 packets a second, of which 32,768 are remembered.
    let flow = "controller = \"oracle\"\nmax_bitrate = \"450Mbit/s\"";
    let scenario = stream("rate = \"400Mbit/s\"", flow);
    let outcome = part(&scenario, 1, window(3_000, 6_000));
    let (used, p99) = settled(&outcome);
    assert!(used > 0.99 && p99 <= 40.0, "{used}, {p99} ms");
    // Nothing is sent again: all that arrives is the frames.
    let flow = &outcome.flows[0];
    let again = flow.throughput_mbps / flow.bitrate_mbps.unwrap();
    assert!((0.99..1.01).contains(&again), "{again}");
}

#[test]
fn a_pause_is_no_congestion() {
    let scenario = stream(LINK, "pauses = [{ from = \"10s\", to = \"20s\" }]");
    for seed in 1..=4 {
        let (used, p99) = settled(&part(&scenario, seed, window(20_500, 30_000)));
        assert!(
            (0.85..=1.0).contains(&used) && p99 <= 42.0,
            "{used}, {p99} ms"
        );
    }
}

#[test]
fn a_longer_path_costs_its_own_delay_and_no_more() {
    let link = r#"steps = [
  { at = "0s", rate = "20Mbit/s" },
  { at = "10s", rate = "20Mbit/s", one_way_delay = "40ms" },
  { at = "20s", rate = "20Mbit/s", one_way_delay = "10ms" },
]"#;
    for seed in 1..=4 {
        let longer = part(&stream(link, ""), seed, window(14_000, 20_000));
        let (used, p99) = settled(&longer);
        assert!(
            (0.85..=1.0).contains(&used) && p99 <= 70.0,
            "{used}, {p99} ms"
        );
        let shorter = part(&stream(link, ""), seed, window(22_000, 30_000));
        let (used, p99) = settled(&shorter);
        assert!(
            (0.85..=1.0).contains(&used) && p99 <= 42.0,
            "{used}, {p99} ms"
        );
    }
}

#[test]
fn an_outage_is_survived() {
    let link = r#"steps = [
  { at = "0s", rate = "20Mbit/s" },
  { at = "10s", rate = "0Mbit/s" },
  { at = "20s", rate = "20Mbit/s" },
]"#;
    let scenario = stream(link, "");
    for seed in 1..=4 {
        let during = part(&scenario, seed, window(12_000, 20_000));
        assert!(during.flows[0].bitrate_mbps.unwrap() < 0.5, "kept sending");
        let (used, p99) = settled(&part(&scenario, seed, window(22_000, 30_000)));
        assert!(
            (0.85..=1.0).contains(&used) && p99 <= 45.0,
            "{used}, {p99} ms"
        );
    }
}

#[test]
fn a_picture_that_needs_little_does_not_raise_the_target() {
    let log = Log::of(&stream(LINK, "content_bitrate = \"2Mbit/s\""), 1);
    let targets = log.frames.iter().map(|(_, life)| life.decision.target);
    let highest = targets.max().unwrap().as_mbps();
    // Four times what was tried, as the parameter `application_headroom` says.
    assert!((5.0..=8.1).contains(&highest), "{highest}");
    let sizes = log.frames.iter().map(|(_, life)| life.size.get());
    assert_eq!(sizes.max(), Some(4167), "a sixtieth of 2 Mbit");
}

#[test]
fn a_stream_beside_constant_traffic_takes_what_is_left() {
    let text = "duration = \"30s\"\n[link]\nrate = \"20Mbit/s\"\n[[flow]]\n[[flow]]\nkind = \"cbr\"\nrate = \"8Mbit/s\"\n";
    for seed in 1..=4 {
        let outcome = part(&scenario(text), seed, window(3_000, 30_000));
        let (used, p99) = settled(&outcome);
        assert!(
            (0.9..=1.0).contains(&used) && p99 <= 42.0,
            "{used}, {p99} ms"
        );
        let bitrate = outcome.flows[0].bitrate_mbps.unwrap();
        assert!((9.0..12.0).contains(&bitrate), "{bitrate}");
    }
}

/// Some scenario; most of them unpleasant.
fn any_scenario() -> impl Strategy<Value = String> {
    let link = (
        prop::collection::vec(0u32..60, 1..6),
        1u32..200,
        prop::sample::select(vec![
            "1500B",
            "20kB",
            "500kB",
            "5packets",
            "300ms",
            "unlimited",
        ]),
        (0.0..0.3f64, 0.0..0.5f64, 0u32..60, prop::bool::ANY),
    );
    let flow = (
        prop::sample::select(vec!["packet", "frame", "50ms", "3ms"]),
        prop::sample::select(vec!["controller", "webrtc", "burst", "0.8x", "3x"]),
        prop::sample::select(vec![1u32, 15, 60, 240]),
        (0.0..1.5f64, 0usize..50, 0u32..40),
        prop::sample::select(vec!["pudica", "sqp", "salsify"]),
        (1u32..1_500, 0u32..200, 0.1..5.0f64),
    );
    (link, prop::collection::vec(flow, 1..4)).prop_map(|(link, flows)| {
        let (rates, delay, limit, (loss, return_loss, aggregation, reorders)) = link;
        let mut text = String::from("duration = \"4s\"\n[link]\nsteps = [");
        for (index, rate) in rates.iter().enumerate() {
            let rate = rate + u32::from(index + 1 == rates.len());
            let _ = write!(text, "{{ at = \"{}ms\", rate = \"{rate}Mbit/s\" }},", index * 700);
        }
        let _ = write!(
            text,
            "]\none_way_delay = \"{delay}ms\"\nqueue = {{ kind = \"droptail\", limit = \"{limit}\" }}\n\
             loss = {loss}\nreturn_loss = {return_loss}\nreturn_aggregation = \"{aggregation}ms\"\n"
        );
        if reorders {
            text += "reordering = { share = 0.2, extra = \"30ms\" }\n";
        }
        for (feedback, pacer, fps, (noise, repeat, encode), estimator, own) in flows {
            let (packet, set, times) = own;
            let _ = write!(
                text,
                "[[flow]]\nfeedback = \"{feedback}\"\npacer = \"{pacer}\"\nfps = {fps}\n\
                 frame_noise = {noise}\nfeedback_repeat = {repeat}\nencode_time = \"{encode}ms\"\n\
                 parts = {}\n\
                 packet_size = \"{}B\"\nparams = {{ estimator = \"{estimator}\" }}\n\
                 frame_scale = [{{ at = \"1s\", times = {times} }}]\n\
                 scene_cuts = {{ every = \"500ms\", times = {times} }}\n\
                 clock_steps = [{{ at = \"1s\", back = \"{set}ms\" }}, \
                 {{ at = \"2s\", forward = \"{set}ms\" }}]\n",
                1 + encode % 9,
                packet.max(64)
            );
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Whatever the network: every packet is accounted for, times go forwards,
    /// and the target stays within its limits.
    #[test]
    fn no_scenario_breaks_the_rules(text in any_scenario(), seed in 0u64..1000) {
        let Ok(mut loaded) = mimosa_scenario::load(&text, "any.toml", &mut ()) else {
            // A queue below a packet is refused, and rightly.
            return Ok(());
        };
        let scenario = loaded.variants.remove(0).1;
        let outcome = whole(&scenario, seed);
        prop_assert!(outcome.link.utilization.unwrap_or(0.0) <= 1.0 + 1e-6);
        let log = Log::of(&scenario, seed);
        for (_, life) in &log.frames {
            let mbps = life.decision.target.as_mbps();
            prop_assert!((0.2..=50.0).contains(&mbps), "{mbps}");
            prop_assert!(life.first_sent <= life.last_sent, "{life:?}");
            prop_assert!(life.arrived <= life.packets);
            prop_assert!(life.first_sent.is_none_or(|at| at >= life.handed_over));
            prop_assert!(life.delay().is_none_or(|delay| Time::ZERO + delay > Time::ZERO));
        }
        for packet in &log.packets {
            prop_assert!(packet.started.is_none_or(|at| at >= packet.offered));
            prop_assert!(packet.finished >= packet.started);
        }
    }
}
