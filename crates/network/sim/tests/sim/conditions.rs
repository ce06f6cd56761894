//! Frames that are not what was asked for, and clocks that are set.

use crate::common::{Log, scenario, whole};
use mimosa_facts::FrameLife;
use mimosa_scenario::{Scenario, load};
use mimosa_units::{Time, TimeDelta};

/// Frames of 2500 B, 50 times a second; the flow's own lines are added.
fn stream(flow: &str) -> Scenario {
    scenario(&text(flow))
}

fn text(flow: &str) -> String {
    format!(
        "duration = \"20s\"\n[link]\nrate = \"20Mbit/s\"\none_way_delay = \"10ms\"\n\
         [[flow]]\ncontroller = \"fixed\"\nparams = {{ rate = \"1Mbit/s\" }}\n\
         start_bitrate = \"1Mbit/s\"\nmax_bitrate = \"1Mbit/s\"\nfps = 50\nphase = \"0ms\"\n{flow}"
    )
}

/// The size of the frame that was due then.
fn size_at(log: &Log, millis: u64) -> u64 {
    let is_due = |life: &&FrameLife| life.due == Time::from_millis(millis);
    let mut lives = log.frames.iter().map(|(_, life)| life);
    lives.find(is_due).unwrap().size.get()
}

#[test]
fn frames_are_so_many_times_their_grant() {
    let scale = "frame_scale = [{ at = \"5s\", times = 0.3 }, { at = \"10s\", times = 1.2 }]";
    let log = Log::of(&stream(scale), 1);
    let found = [0, 4_980, 5_000, 9_980, 10_000, 19_000].map(|at| size_at(&log, at));
    assert_eq!(found, [2_500, 2_500, 750, 750, 3_000, 3_000]);
}

/// Of packets of 1200 B with 50 B of headers, 0.96 is payload: a frame of 2400 B in two packets takes
/// the grant of 2500 B, where one of 2500 B takes three packets and 2650 B. An encoder of an average bitrate
/// keeps to its grant in the mean, though its frames vary.
#[test]
fn an_encoder_is_told_the_target_less_headers_and_keeps_its_mean() {
    for (less, size) in [("", 2_650), ("less_headers = true", 2_500)] {
        let log = Log::of(&stream(&format!("overhead = \"50B\"\n{less}")), 1);
        assert_eq!([0, 980].map(|at| size_at(&log, at)), [size, size], "{less}");
    }
    let abr = "encoder = \"abr\"\nframe_noise = 0.5\npay_back = \"200ms\"";
    for seed in 1..=4 {
        let log = Log::of(&stream(abr), seed);
        let sizes: Vec<_> = log.frames.iter().map(|(_, life)| life.size.get()).collect();
        let mean = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
        assert!((2_400.0..=2_600.0).contains(&mean), "seed {seed}: {mean}");
        let large = sizes.iter().filter(|size| **size > 4_000).count();
        assert!((20..=150).contains(&large), "seed {seed}: {large} large");
    }
}

#[test]
fn a_scene_cut_is_one_large_frame_that_the_content_may_bound() {
    let cuts = "scene_cuts = { every = \"2s\", times = 4.0 }";
    let log = Log::of(&stream(cuts), 1);
    let found = [0, 1_980, 2_000, 2_020, 4_000, 4_020].map(|at| size_at(&log, at));
    assert_eq!(found, [2_500, 2_500, 10_000, 2_500, 10_000, 2_500]);
    let large = log
        .frames
        .iter()
        .filter(|(_, life)| life.size.get() > 2_500);
    assert_eq!(large.count(), 9);
    let bounded = Log::of(
        &stream(&format!("{cuts}\ncontent_bitrate = \"2Mbit/s\"")),
        1,
    );
    assert_eq!(size_at(&bounded, 2_000), 5_000);
}

#[test]
fn reports_of_every_kind_survive_a_clock_that_is_set() {
    let interval = [
        ("feedback = \"packet\"", 0.0),
        ("feedback = \"frame\"", 0.0),
        ("feedback = \"50ms\"", 50.0),
        ("feedback = \"transport-cc-01\"", 100.0),
        ("feedback = \"transport-cc-02\"", 0.0),
        ("feedback = \"rfc8888\"", 20.0),
    ];
    for (feedback, interval) in interval {
        let plain = whole(&stream(feedback), 1);
        for (step, later) in [("forward", 0.0), ("back", 70.0)] {
            let steps = format!("clock_steps = [{{ at = \"10s\", {step} = \"70ms\" }}]");
            let outcome = whole(&stream(&format!("{feedback}\n{steps}")), 1);
            let (flow, unset) = (&outcome.flows[0], &plain.flows[0]);
            assert_eq!(flow.frames, unset.frames, "{feedback} {step}");
            // A round trip and 8 ms of pacing, the report's wait, and once the step.
            let slowest = flow.frame_delay_ms.unwrap().max;
            assert!(
                slowest < 32.0 + interval + later,
                "{feedback} {step}: {slowest} ms"
            );
            // Reports that come less often than frames are always due, so one is when the
            // clock is set back, and waits for it to be there again.
            let waited = slowest - unset.frame_delay_ms.unwrap().max;
            if step == "back" && interval > 20.0 {
                assert!((waited - 70.0).abs() < 1.0, "{feedback}: {waited} ms");
            }
            assert_eq!(flow.loss_rate, Some(0.0), "{feedback} {step}");
            let again = flow.throughput_mbps / unset.throughput_mbps;
            assert!((again - 1.0).abs() < 0.01, "{feedback} {step}: {again}");
        }
    }
}

/// A clock that is set back shows again the times at which reports were due before. A report must not
/// leave at the first of both: the packets of which it tells arrive after the second.
#[test]
fn a_clock_that_is_set_back_sends_no_report_into_the_past() {
    for feedback in ["packet", "frame", "3ms"] {
        // The steps fall into every phase of the frames.
        for at in (1_000..1_034).step_by(3) {
            let steps = format!("clock_steps = [{{ at = \"{at}ms\", back = \"70ms\" }}]");
            let log = Log::of(&stream(&format!("feedback = \"{feedback}\"\n{steps}")), 1);
            let delays = log.frames.iter().filter_map(|(_, life)| life.delay());
            let quickest = delays.map(TimeDelta::as_millis).reduce(f64::min);
            // Two ways of 10 ms, and 1 ms on the link.
            let is_possible = quickest.is_some_and(|delay| delay >= 21.0);
            assert!(is_possible, "{feedback}, {at} ms: {quickest:?} ms");
        }
    }
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |line: &str| {
        let error = load(&text(line), "test.toml", &mut ()).unwrap_err();
        error.to_string()
    };
    for (line, said) in [
        (
            "frame_scale = [{ at = \"1s\", times = 0.0 }]",
            "`times` above 0",
        ),
        (
            "frame_scale = [{ at = \"1s\", times = 1.0 }, { at = \"0s\", times = 1.0 }]",
            "in order of `at`",
        ),
        (
            "scene_cuts = { every = \"0s\", times = 4.0 }",
            "`every` above zero",
        ),
        (
            "scene_cuts = { every = \"1s\", times = 400.0 }",
            "at most 100",
        ),
        ("pay_back = \"1s\"", "without `encoder = \"abr\"`"),
        (
            "encoder = \"abr\"\nframe_correlation = 1.0",
            "from 0 to below 1",
        ),
        (
            "clock_steps = [{ at = \"1s\" }]",
            "either `forward` or `back`",
        ),
        (
            "clock_steps = [{ at = \"1s\", forward = \"1s\", back = \"1s\" }]",
            "either `forward` or `back`",
        ),
        (
            "clock_steps = [{ at = \"2s\", back = \"1s\" }, { at = \"1s\", back = \"1s\" }]",
            "in order of `at`",
        ),
    ] {
        let error = refused(line);
        assert!(error.contains(said), "{line}: {error}");
    }
    let tcp = "duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\nkind = \"tcp\"\n\
               scene_cuts = { every = \"1s\", times = 2.0 }\n";
    let error = load(tcp, "test.toml", &mut ()).unwrap_err().to_string();
    assert!(error.contains("scene_cuts"), "{error}");
}

/// Frame clocks of their own: the number of frames, and the phase between two streams over time.
#[test]
fn frame_clocks_drift_apart_as_they_are_told() {
    let scenario = scenario(
        r#"
        duration = "60s"
        [link]
        rate = "50Mbit/s"
        [[flow]]
        name = "exact"
        controller = "fixed"
        phase = "0s"
        [[flow]]
        name = "film"
        controller = "fixed"
        phase = "0s"
        frame_clock_ppm = -1000.0
        "#,
    );
    let log = Log::of(&scenario, 1);
    let dues = |flow| {
        let frames = log.frames.iter().filter(|(own, _)| *own == flow);
        frames.map(|(_, life)| life.due).collect::<Vec<_>>()
    };
    let (exact, film) = (dues(0), dues(1));
    assert_eq!((exact.len(), film.len()), (3_600, 3_597));
    // A frame interval is 16.683 ms: after 1000 of them, the film is a frame behind.
    assert_eq!(exact[1_000], Time::from_nanos(16_666_666_666));
    assert_eq!(film[999], Time::from_nanos(16_666_666_666));
    let refused = load(
        "duration = \"1s\"\n[link]\nrate = \"1Mbit/s\"\n[[flow]]\nname = \"a\"\nframe_clock_ppm = 2e5\n",
        "run.toml",
        &mut (),
    );
    assert_eq!(
        refused.unwrap_err().to_string(),
        "run.toml:6: `frame_clock_ppm` must be from -100000 to 100000"
    );
}
