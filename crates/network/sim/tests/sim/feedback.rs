//! Kinds of feedback, for seeds 1 and 2: what the reports cost, and what becomes of a
//! controller with less than it is made for, as `mimosa_cc::needs` and `docs/embed/feedback.md`
//! state it.
use std::ops::RangeInclusive;

use crate::common::{Log, part, scenario, window};
use mimosa_facts::{Cause, FrameLife};
use mimosa_figures::{FeedbackFigures, RunFigures};
use mimosa_scenario::{Scenario, load};

const SEEDS: RangeInclusive<u64> = 1..=2;
/// Seconds 3 to 20 count.
const PART: mimosa_figures::Window = mimosa_figures::Window {
    from: mimosa_units::Time::from_secs(3),
    to: mimosa_units::Time::from_secs(20),
};

/// One flow on 20 Mbit/s, round trip 20 ms, behind this queue.
fn stream(controller: &str, queue: &str, feedback: &str) -> Scenario {
    scenario(&format!(
        "duration = \"20s\"\n[link]\nrate = \"20Mbit/s\"\none_way_delay = \"10ms\"\n\
         queue = {queue}\n[[flow]]\ncontroller = \"{controller}\"\n{feedback}\n"
    ))
}

fn every(millis: u32) -> String {
    format!("feedback = \"transport-cc-01\"\nfeedback_interval = \"{millis}ms\"")
}

const DROP_TAIL: &str = "{ kind = \"droptail\", limit = \"500kB\" }";
const FRAME: &str = "feedback = \"transport-cc-02\"";
const RFC_8888: &str = "feedback = \"rfc8888\"";

fn used(outcome: &RunFigures) -> f64 {
    outcome.link.utilization.unwrap()
}

fn queue(outcome: &RunFigures) -> f64 {
    outcome.link.queue_delay_ms.unwrap().mean
}

fn outcomes(controller: &str, queue: &str, feedback: &str) -> Vec<RunFigures> {
    let scenario = stream(controller, queue, feedback);
    SEEDS.map(|seed| part(&scenario, seed, PART)).collect()
}

/// How often a decision came of this, of all frames.
fn share(controller: &str, feedback: &str, cause: Cause) -> f64 {
    let log = Log::of(&stream(controller, DROP_TAIL, feedback), 1);
    let of_cause = |life: &&FrameLife| life.decision.cause == cause;
    let lives = || log.frames.iter().map(|(_, life)| life);
    let count = |lives: &mut dyn Iterator<Item = &FrameLife>| lives.count() as f64;
    count(&mut lives().filter(of_cause)) / count(&mut lives())
}

/// 60 frames a second of 12500 bytes, eleven packets each.
///
/// For each frame: transport-wide 20 bytes, one for each packet, two for the run of them and
/// one to fill up; RFC 8888 20, two for each packet and two to fill up. 48 are the headers.
#[test]
fn reports_have_the_size_of_their_bytes() {
    for (feedback, datagrams, bytes) in [
        (FRAME.to_owned(), 417..=423, 84.0..=84.0),
        (RFC_8888.to_owned(), 410..=423, 91.0..=94.0),
        // 33 packets, or some more where the interval begins within a frame.
        (every(50), 105..=141, 104.0..=118.0),
    ] {
        let rate = "start_bitrate = \"6Mbit/s\"";
        let scenario = stream("fixed", DROP_TAIL, &format!("{feedback}\n{rate}"));
        let outcome = part(&scenario, 1, window(3_000, 10_000));
        let sent = outcome.flows[0].feedback.unwrap();
        let FeedbackFigures {
            datagrams: count,
            bytes: all,
        } = sent;
        assert!(datagrams.contains(&count), "{feedback}: {count} datagrams");
        let each = all as f64 / count as f64;
        assert!(bytes.contains(&each), "{feedback}: {each} bytes");
    }
    for exact in ["", "feedback = \"frame\"", "feedback = \"50ms\""] {
        let outcome = part(&stream("fixed", DROP_TAIL, exact), 1, PART);
        assert_eq!(outcome.flows[0].feedback, None, "{exact}");
    }
}

/// 250 us of a frame interval of 16.7 ms are 1.5 % of a BUR. Where fairness steps come with each frame,
/// as section 4.2 of the paper reads, that is some 3 % more of the link; where they wait for feedback, 1 %.
#[test]
fn pudica_needs_no_more_than_reports_of_250_us_for_each_frame() {
    for (cadence, most, apart) in [("feedback", 0.97, 0.02), ("frame", 0.98, 0.04)] {
        let mut means = [0.0, 0.0];
        for seed in 1..=4 {
            let frames = ["feedback = \"frame\"", FRAME].map(|feedback| {
                let flow = format!("{feedback}\nparams = {{ cadence = \"{cadence}\" }}");
                part(&stream("pudica", DROP_TAIL, &flow), seed, PART)
            });
            for (sum, outcome) in means.iter_mut().zip(&frames) {
                let at = format!("{cadence}, seed {seed}");
                let used = used(outcome);
                assert!((0.88..=most).contains(&used), "{at}: used {used}");
                let p95 = outcome.flows[0].frame_delay_ms.unwrap().p95;
                assert!((33.0..=45.0).contains(&p95), "{at}: p95 {p95}");
                *sum += used / 4.0;
            }
        }
        let difference = (means[0] - means[1]).abs();
        assert!(difference <= apart, "{cadence}: {means:?}");
    }
}

/// The first packets of a frame arrive within one step of the reports' clock.
#[test]
fn mimosa_uses_a_link_that_is_faster_than_reports_can_tell() {
    for feedback in ["", FRAME, RFC_8888] {
        let scenario = scenario(&format!(
            "duration = \"20s\"\n[link]\nrate = \"1Gbit/s\"\none_way_delay = \"200us\"\n\
             queue = {DROP_TAIL}\n[[flow]]\ncontroller = \"mimosa\"\n{feedback}\n"
        ));
        for seed in SEEDS {
            let outcome = part(&scenario, seed, PART);
            let sent = outcome.flows[0].bitrate_mbps.unwrap();
            // All that is granted at most.
            assert!((49.5..=50.5).contains(&sent), "{feedback}: {sent} Mbit/s");
            let queue = queue(&outcome);
            assert!((0.0..=0.2).contains(&queue), "{feedback}: {queue} ms");
        }
    }
}

#[test]
fn pudica_takes_late_reports_for_overdue_frames_and_very_late_ones_for_silence() {
    let packet = outcomes("pudica", DROP_TAIL, "")[0].clone();
    for outcome in outcomes("pudica", DROP_TAIL, &every(50)) {
        let used = used(&outcome);
        assert!((0.7..=0.93).contains(&used), "used {used}");
        assert!(used < self::used(&packet), "used {used}");
    }
    let overdue = share("pudica", &every(50), Cause::NextDelayFallback);
    assert!((0.1..=0.9).contains(&overdue), "{overdue} overdue");
    assert!(share("pudica", FRAME, Cause::NextDelayFallback) < 0.02);
    for outcome in outcomes("pudica", DROP_TAIL, &every(250)) {
        let used = used(&outcome);
        assert!((0.001..=0.4).contains(&used), "used {used}");
    }
    let silent = share("pudica", &every(250), Cause::FeedbackTimeout);
    assert!((0.02..=1.0).contains(&silent), "{silent} silent");
}

/// One-way delays do not know when they are reported.
#[test]
fn gcc_and_sqp_keep_rate_and_queue_with_seldom_reports() {
    for (controller, bounds) in [("gcc", 0.8..=1.001), ("sqp", 0.88..=0.96)] {
        let packet = outcomes(controller, DROP_TAIL, "");
        for feedback in [FRAME.to_owned(), every(50), every(100), every(250)] {
            let seldom = outcomes(controller, DROP_TAIL, &feedback);
            for (packet, seldom) in packet.iter().zip(&seldom) {
                let times = queue(seldom) / queue(packet);
                let (packet, seldom) = (used(packet), used(seldom));
                let at = format!("{controller}, {feedback}: {packet}, {seldom}");
                assert!(
                    (0.6..=1.6).contains(&times),
                    "{at}: {times} times the queue"
                );
                assert!(bounds.contains(&seldom), "{at}");
                assert!((packet - seldom).abs() <= 0.08, "{at}");
            }
        }
    }
}

#[test]
fn nada_and_scream_keep_the_link_busy_and_their_queue() {
    for controller in ["nada", "scream"] {
        let frame = outcomes(controller, DROP_TAIL, FRAME);
        for feedback in [every(50), every(100)] {
            let seldom = outcomes(controller, DROP_TAIL, &feedback);
            for (frame, seldom) in frame.iter().zip(&seldom) {
                let (used, times) = (used(seldom), queue(seldom) / queue(frame));
                let at = format!("{controller}, {feedback}");
                assert!((0.95..=1.001).contains(&used), "{at}: used {used}");
                assert!(
                    (0.8..=1.25).contains(&times),
                    "{at}: {times} times the queue"
                );
            }
        }
    }
}

/// Application-level BBR counts packets without a report as in flight; C3G has a threshold of 100 ms; for
/// Pudica ten frame intervals without a report are silence.
#[test]
fn what_waits_longer_than_a_controller_may_leaves_the_lowest_rate() {
    for controller in ["bbr-app", "c3g", "pudica"] {
        for outcome in outcomes(controller, DROP_TAIL, &every(250)) {
            let bitrate = outcome.flows[0].bitrate_mbps.unwrap();
            assert!((0.15..=1.0).contains(&bitrate), "{controller}: {bitrate}");
        }
    }
}

/// With a period of a third of a second each run of C3G's loop has reports that come 250 ms apart.
#[test]
fn c3g_stays_at_its_rate_if_its_loop_is_longer_than_the_reports_gap() {
    let long = format!("{}\nparams = {{ period = \"333ms\" }}", every(250));
    for outcome in outcomes("c3g", DROP_TAIL, &long) {
        let bitrate = outcome.flows[0].bitrate_mbps.unwrap();
        assert!((4.0..=5.1).contains(&bitrate), "{bitrate}");
    }
}

#[test]
fn bbr_app_and_salsify_use_less_the_more_seldom_reports_are() {
    for controller in ["bbr-app", "salsify"] {
        let packet = outcomes(controller, DROP_TAIL, "");
        let seldom = outcomes(controller, DROP_TAIL, &every(50));
        let last = outcomes(controller, DROP_TAIL, &every(250));
        for ((packet, seldom), last) in packet.iter().zip(&seldom).zip(&last) {
            let uses = [packet, seldom, last].map(used);
            let at = format!("{controller}: {uses:?}");
            assert!((0.8..=1.001).contains(&uses[0]), "{at}");
            assert!((0.3..=0.75).contains(&uses[1]), "{at}");
            assert!((0.001..=0.3).contains(&uses[2]), "{at}");
        }
    }
}

/// On request its packets ask in each eighth of its window, so that little is waited for; the
/// bound of that is one of regression.
#[test]
fn copa_takes_the_wait_for_a_queue_and_gives_the_link_up() {
    for (feedback, uses) in [
        (FRAME.to_owned(), 0.8..=1.001),
        (every(50), 0.01..=0.12),
        (every(250), 0.005..=0.08),
    ] {
        for outcome in outcomes("copa", DROP_TAIL, &feedback) {
            let used = used(&outcome);
            assert!(uses.contains(&used), "{feedback}: used {used}");
        }
    }
}

/// The L queue marks from 0.8 ms on; of packets that answer no marks it drops as many as keep
/// it at 15 ms (RFC 9332, appendix A).
#[test]
fn marks_count_only_where_reports_have_them() {
    for controller in ["scream", "prague"] {
        let flow = |feedback: &str| format!("ecn = \"ect1\"\n{feedback}");
        let with = outcomes(controller, "{ kind = \"dualpi2\" }", &flow(RFC_8888));
        let without = outcomes(controller, "{ kind = \"dualpi2\" }", &flow(FRAME));
        for (with, without) in with.iter().zip(&without) {
            let (with_marks, blind) = (queue(with), queue(without));
            assert!(
                (0.05..=3.0).contains(&with_marks),
                "{controller}: {with_marks} ms"
            );
            assert!((6.0..=60.0).contains(&blind), "{controller}: {blind} ms");
            let used = used(with);
            assert!((0.5..=1.001).contains(&used), "{controller}: used {used}");
        }
    }
}

#[test]
fn what_the_keys_cannot_mean_is_refused() {
    let refusal = |flow: &str| {
        let text = format!("duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\n{flow}\n");
        load(&text, "test.toml", &mut ()).unwrap_err().to_string()
    };
    for (flow, said) in [
        (
            "feedback = \"rfc8889\"",
            "test.toml:5: there is no feedback `rfc8889`; there is packet, frame, \
             transport-cc-01, transport-cc-02, rfc8888, and intervals such as 50ms",
        ),
        (
            "feedback = \"transport-cc-01\"\nfeedback_interval = \"40ms\"",
            "test.toml:6: `feedback_interval` must be from 50ms to 250ms",
        ),
        (
            "feedback = \"rfc8888\"\nfeedback_interval = \"0s\"",
            "test.toml:6: `feedback_interval` must be from 1ms to 500ms",
        ),
        (
            "feedback = \"transport-cc-02\"\nfeedback_interval = \"50ms\"",
            "test.toml:6: `feedback_interval` means nothing for feedback other than \
             \"transport-cc-01\" and \"rfc8888\"; remove it",
        ),
        (
            "kind = \"cbr\"\nrate = \"1Mbit/s\"\nfeedback_interval = \"50ms\"",
            "test.toml:7: `feedback_interval` means nothing for a flow of kind \"cbr\"; remove it",
        ),
    ] {
        assert_eq!(refusal(flow), said);
    }
}
