//! Suites of figures: what their index may say, and when a claim holds.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use common::given;
use mimosa_lab::{
    Choice, Embedded, FlowTrace, Key, LinkRecord, Record, Round, SUITES, Suite, Trace, Verdict,
    page, verdicts,
};

const SCENARIO: &str = r#"
duration = "10s"
[link]
rate = "10Mbit/s"
queue = { kind = "droptail", limit = "100kB" }
[[flow]]
name = "game"
"#;

const INDEX: &str = r#"
title = "Known"
about = "Known."
page = "figure"
seeds = [1, 2]
controllers = ["sqp", "copa"]

[params.copa]
delta = 0.1

[[case]]
name = "one"
title = "One"
source = "here"
file = "one.toml"
from = "2s"

[[figure]]
name = "delay"
title = "The delay"
cases = ["one"]
shows = "delay"
range = [0.0, 100.0]
mark = [{ name = "paper: 20 ms", value = 20.0 }]

[[claim]]
text = "Frames are fast"
source = "section 1"
paper = 30.0
quantity = "frame-delay-mean"
case = "one"
controllers = ["sqp"]
at_most = 40.0
"#;

fn load(index: &str) -> Result<Suite, String> {
    let mut files = given(&[("suite.toml", index), ("one.toml", SCENARIO)]);
    Suite::load("known", &mut files, &[]).map_err(|error| error.to_string())
}

/// The index with another claim in place of its own.
fn claim(keys: &str) -> String {
    let (head, _) = INDEX.split_once("[[claim]]").unwrap();
    format!("{head}[[claim]]\ntext = \"T\"\nsource = \"S\"\ncase = \"one\"\n{keys}\n")
}

/// A run of 10 s of a controller whose frames, one each 100 ms, have these bitrates and
/// delays.
fn record(controller: &str, seed: u64, frame: impl Fn(u64) -> (u64, Option<u64>)) -> Record {
    let frames: Vec<_> = (0..100).map(frame).collect();
    let flow = FlowTrace {
        name: "game".to_owned(),
        interval_us: 100_000,
        arrived_kbps: vec![3_000; 100],
        at_us: (0..100).map(|index| index * 100_000).collect(),
        kbps: frames.iter().map(|(kbps, _)| *kbps).collect(),
        delay_us: frames
            .iter()
            .map(|(_, ms)| ms.map(|ms| ms * 1000))
            .collect(),
    };
    Record {
        key: Key {
            case: "one".to_owned(),
            variant: None,
            rival: None,
            controller: controller.to_owned(),
            seed,
        },
        flows: Vec::new(),
        tcp: None,
        link: LinkRecord {
            utilization: None,
            queue_delay_ms: None,
        },
        jain: None,
        converged: Vec::new(),
        trace: Some(Trace {
            flows: vec![flow],
            served_kbps: vec![8_000; 100],
            capacity_kbps: vec![10_000; 100],
            ..Trace::default()
        }),
    }
}

/// What comes of the only claim of `keys`.
fn verdict(keys: &str, records: &[Record]) -> Verdict {
    let suite = load(&claim(keys)).unwrap();
    let mut verdicts = verdicts(&suite, records);
    assert_eq!(verdicts.len(), 1);
    verdicts.remove(0)
}

#[test]
fn a_claim_holds_up_to_its_bound_and_no_further() {
    let records = [
        record("sqp", 1, |_| (5_000, Some(30))),
        record("sqp", 2, |_| (5_000, Some(40))),
        record("copa", 1, |_| (5_000, Some(900))),
    ];
    let keys =
        |bound: &str| format!("quantity = \"frame-delay-mean\"\ncontrollers = [\"sqp\"]\n{bound}");
    for (bound, holds, seeds) in [
        ("at_most = 34.9", false, 1),
        ("at_most = 40.0", true, 2),
        ("at_most = 39.9", false, 1),
        ("at_least = 30.0", true, 2),
        ("at_least = 30.1", false, 1),
        ("at_least = 10.0\nat_most = 20.0", false, 0),
    ] {
        let verdict = verdict(&keys(bound), &records);
        assert_eq!(verdict.here, Some(35.0), "the mean over both seeds");
        assert_eq!(
            (verdict.holds, verdict.seeds_held, verdict.seeds),
            (Some(holds), seeds, 2),
            "{bound}"
        );
    }
}

#[test]
fn a_claim_holds_in_three_quarters_of_the_seeds_or_not_at_all() {
    // Delays of 1, 2, …, 16 ms, whose mean is 8.5.
    let records: Vec<_> = (1..=16)
        .map(|seed| record("sqp", seed, |_| (5_000, Some(seed))))
        .collect();
    let of = |bound: &str| {
        let keys = format!("quantity = \"frame-delay-mean\"\ncontrollers = [\"sqp\"]\n{bound}");
        verdict(&keys, &records)
    };
    let [most, half] = ["at_most = 12.0", "at_most = 11.0"].map(of);
    assert_eq!((most.holds, most.seeds_held), (Some(true), 12));
    assert_eq!((half.holds, half.seeds_held), (Some(false), 11));
    assert_eq!((most.low, most.high), (Some(4.0), Some(13.0)));
    assert_eq!((most.unit, most.digits), ("ms", 1));
}

#[test]
fn a_claim_of_what_was_not_run_neither_holds_nor_fails() {
    let keys = "quantity = \"frame-delay-mean\"\ncontrollers = [\"sqp\"]\nat_most = 40.0";
    let only = [record("copa", 1, |_| (5_000, Some(30)))];
    let alone = verdict(keys, &only);
    assert_eq!((alone.here, alone.holds, alone.seeds), (None, None, 0));
    let compared = verdict(
        "quantity = \"frame-delay-mean\"\ncontrollers = [\"copa\"]\nat_most = 1.0\n\
         than = { controllers = [\"sqp\"] }",
        &only,
    );
    assert_eq!((compared.here, compared.other), (Some(30.0), None));
    assert_eq!(compared.holds, None);
}

#[test]
fn a_comparison_is_strict_and_may_be_with_another_part_of_the_run() {
    let equal = [
        record("sqp", 1, |_| (5_000, Some(30))),
        record("copa", 1, |_| (5_000, Some(30))),
    ];
    let keys = "quantity = \"frame-delay-mean\"\ncontrollers = [\"sqp\"]\nat_most = 1.0\n\
                than = { controllers = [\"copa\"] }";
    assert_eq!(verdict(keys, &equal).holds, Some(false));
    let slower = [equal[0].clone(), record("copa", 1, |_| (5_000, Some(31)))];
    let found = verdict(keys, &slower);
    assert_eq!(
        (found.holds, found.here, found.other),
        (Some(true), Some(30.0), Some(31.0))
    );
    assert_eq!(found.criterion, "below that of copa");

    let rises = |index| (5_000, Some(if index < 50 { 20 } else { 50 }));
    let rising = [record("sqp", 1, rises)];
    let later = |times: &str| {
        let keys = format!(
            "quantity = \"frame-delay-mean\"\ncontrollers = [\"sqp\"]\nfrom = \"5s\"\n\
             at_least = {times}\nthan = {{ from = \"0s\", to = \"5s\" }}"
        );
        verdict(&keys, &rising)
    };
    assert_eq!(later("2.4").of, "sqp, one, 5 to 10 s");
    assert_eq!(later("2.4").criterion, "above 2.4 times that of 0 to 5 s");
    assert_eq!(later("2.4").holds, Some(true));
    assert_eq!(later("2.5").holds, Some(false));
}

#[test]
fn quantities_are_those_of_arithmetic() {
    // At 3 s the delay leaps to 200 ms, is there until 4 s, and rises again at 6 s.
    let spiky = |index| {
        let late = (30..40).contains(&index) || index == 60;
        let delay = match index {
            30 => 300,
            _ if late => 200,
            _ => 20,
        };
        (if index % 4 < 2 { 4_000 } else { 6_000 }, Some(delay))
    };
    let records = [record("sqp", 1, spiky)];
    let of = |quantity: &str, more: &str| {
        let keys =
            format!("quantity = \"{quantity}\"\ncontrollers = [\"sqp\"]\nat_most = 1.0\n{more}");
        verdict(&keys, &records).here.unwrap()
    };
    let above = "above = \"50ms\"\nfrom = \"2s\"";
    let near = |value: f64, wanted: f64| {
        assert!((value - wanted).abs() < 1e-6, "{value}, not {wanted}");
    };
    near(of("late", above), 11.0 / 80.0 * 100.0);
    near(of("spikes", above), 2.0 * 60.0 / 8.0);
    near(of("late-run", above), 11.0 / 2.0);
    // Of 30 to 39 and 60, those that leave a remainder of 0 or 1 have 4 Mbit/s.
    near(of("late-low", above), 100.0);
    // Seconds of 4.8 and of 5.2 Mbit/s take turns.
    near(of("steady-after", ""), 8.0);
    near(of("drained-after", above), 2.0);
    near(of("drain-time", above), 1.0);
    near(of("drain-time", "above = \"300ms\""), 0.0);
    near(of("drained-after", "above = \"10ms\""), 8.0);
    // Calm from 2 s on, and from 4 s on, after late frames.
    near(of("calm-after", above), 0.0);
    near(of("calm-after", "above = \"50ms\"\nfrom = \"3s\""), 1.0);
    near(of("calm-after", "above = \"10ms\""), 8.0);
    near(of("calm-after", "above = \"300ms\""), 0.0);
    near(of("incomplete", ""), 0.0);
    near(of("frame-delay-max", ""), 300.0);
    near(of("frame-delay-p95", "from = \"0s\""), 200.0);
    near(of("frame-delay-spread", "from = \"0s\""), 180.0);
    near(of("bitrate", ""), 5.0);
    near(of("bitrate-p99", ""), 6.0);
    near(of("bitrate-variation", ""), 0.2);
    near(of("used", ""), 80.0);
    near(of("jain", ""), 1.0);
    near(of("oversent", ""), 0.0);
}

#[test]
fn late_frames_are_small_below_ten_megabits_and_a_bitrate_is_steady_within_a_fiftieth() {
    let keys = |quantity: &str| {
        format!("quantity = \"{quantity}\"\ncontrollers = [\"sqp\"]\nat_most = 1.0\n")
    };
    let shrinking = |index| (if index < 70 { 12_000 } else { 9_900 }, Some(200));
    let late = [record("sqp", 1, shrinking)];
    let here = verdict(&(keys("late-low") + "above = \"50ms\""), &late).here;
    assert!((here.unwrap() - 30.0 / 80.0 * 100.0).abs() < 1e-6);
    // The bitrate rises by a tenth each second until 6 s: those of 6 to 7 and of 7 to 8 s are alike.
    let rising = |index: u64| (3_000 + 300 * (index / 10).min(6), Some(20));
    let here = verdict(&keys("steady-after"), &[record("sqp", 1, rising)]).here;
    assert!((here.unwrap() - 5.8).abs() < 0.21, "{here:?}");
    let never = verdict(
        &keys("steady-after"),
        &[record("sqp", 1, |i| (3_000 + 300 * i, Some(20)))],
    );
    assert_eq!(never.here, Some(8.0));
}

#[test]
fn a_stall_is_a_gap_between_frames_that_came_whole() {
    // Whole 20 ms after each tenth of a second, but for the 50th, never, and the 70th, after the 71st.
    let gaps = |index| {
        let delay = if index == 70 { 170 } else { 20 };
        (5_000, (index != 50).then_some(delay))
    };
    let records = [record("sqp", 1, gaps)];
    let of = |above: &str| {
        let keys = format!(
            "quantity = \"stalled\"\ncontrollers = [\"sqp\"]\nat_most = 1.0\n\
             from = \"2s\"\nabove = \"{above}\""
        );
        verdict(&keys, &records).here.unwrap()
    };
    assert!((of("100ms") - 0.4 / 7.9 * 100.0).abs() < 1e-6);
    assert!(of("200ms").abs() < 1e-6);
    assert!((of("90ms") - 7.8 / 7.9 * 100.0).abs() < 1e-6);
}

#[test]
fn a_frame_that_never_comes_is_late_and_slowest() {
    let lost = |index| (5_000, (index != 50).then_some(20));
    let records = [record("sqp", 1, lost)];
    let of = |quantity: &str| {
        let keys = format!(
            "quantity = \"{quantity}\"\ncontrollers = [\"sqp\"]\nat_most = 1.0\n\
             above = \"50ms\""
        );
        verdict(&keys, &records).here.unwrap()
    };
    assert!((of("late") - 100.0 / 80.0).abs() < 1e-6);
    assert!((of("drain-time") - 0.1).abs() < 1e-6);
    let keys = "quantity = \"incomplete\"\ncontrollers = [\"sqp\"]\nat_most = 1.0";
    assert_eq!(verdict(keys, &records).here, Some(1.0));
}

#[test]
fn a_link_is_taken_with_the_first_frame_of_nearly_its_rate() {
    // Of 10 Mbit/s.
    let rising = |index| (if index < 60 { 9_400 } else { 9_500 }, Some(20));
    let of = |frames: fn(u64) -> (u64, Option<u64>)| {
        let keys = "quantity = \"taken-after\"\ncontrollers = [\"sqp\"]\nat_most = 1.0";
        verdict(keys, &[record("sqp", 1, frames)]).here.unwrap()
    };
    assert!((of(rising) - 4.0).abs() < 1e-6, "{}", of(rising));
    assert!((of(|_| (9_400, Some(20))) - 8.0).abs() < 1e-6, "never");
}

#[test]
fn flows_are_even_when_the_means_of_two_seconds_are() {
    let mut both = record("sqp", 1, |_| (5_000, Some(20)));
    let trace = both.trace.as_mut().unwrap();
    let mut second = trace.flows[0].clone();
    // From 5 s on it has what the first has, and so they are over the link's rate.
    for (index, kbps) in second.kbps.iter_mut().enumerate() {
        *kbps = if index < 50 { 1_000 } else { 5_001 };
    }
    trace.flows.push(second);
    let records = [both];
    let of = |quantity: &str, more: &str| {
        let keys =
            format!("quantity = \"{quantity}\"\ncontrollers = [\"sqp\"]\nat_most = 1.0\n{more}");
        verdict(&keys, &records).here.unwrap()
    };
    // From 4.6 s on, 16 of 20 frames have 5.001 Mbit/s: the mean is 4.2.
    assert!((of("even-after", "") - 4.6).abs() < 1e-6);
    assert!(
        (of("even-after", "to = \"6s\"") - 4.0).abs() < 1e-6,
        "never"
    );
    assert!((of("oversent", "") - 25.0 / 40.0 * 100.0).abs() < 1e-6);
}

#[test]
fn a_share_is_of_what_arrived() {
    let mut record = record("sqp", 1, |_| (5_000, Some(20)));
    record.trace.as_mut().unwrap().tcp_kbps = vec![1_000; 100];
    let keys = "quantity = \"share\"\ncontrollers = [\"sqp\"]\nat_most = 1.0";
    assert_eq!(verdict(keys, &[record]).here, Some(75.0));
}

#[test]
fn an_interval_without_a_frame_counts_for_the_bitrate() {
    let mut record = record("sqp", 1, |_| (5_000, Some(20)));
    let flow = &mut record.trace.as_mut().unwrap().flows[0];
    for at in &mut flow.at_us {
        *at = *at / 2 + 2_000_000;
    }
    flow.interval_us = 25_000;
    // Of two intervals one, over 4.975 s: 100 frames of 25 ms.
    let keys = "quantity = \"bitrate\"\ncontrollers = [\"sqp\"]\nat_most = 1.0";
    let here = verdict(keys, &[record]).here.unwrap();
    assert!((here - 5.0 * 2.5 / 4.975).abs() < 1e-6, "{here}");
}

#[test]
fn estimates_are_taken_together() {
    let round = |second, used, estimated| Round {
        second,
        used,
        estimated,
    };
    let mut record = record("sqp", 1, |_| (5_000, Some(20)));
    record.trace.as_mut().unwrap().rounds = vec![
        round(1, 500, 900), // before what counts
        round(2, 500, 400),
        round(3, 500, 600),
        round(4, 900, 700),
    ];
    let records = [record];
    let of = |quantity: &str, more: &str| {
        let keys =
            format!("quantity = \"{quantity}\"\ncontrollers = [\"sqp\"]\nat_most = 1.0\n{more}");
        verdict(&keys, &records).here.unwrap()
    };
    let half = "used = [0.4, 0.6]";
    for (quantity, more, wanted) in [
        ("estimate-bias", half, 0.0),
        ("estimate-error", half, 0.1),
        ("estimate-deviation", half, 0.1),
        ("estimate-bias", "used = [0.6, 1.0]", -0.2),
        ("estimate-error", "", 0.4 / 3.0),
    ] {
        let here = of(quantity, more);
        assert!((here - wanted).abs() < 1e-6, "{quantity}: {here}");
    }
}

#[test]
fn one_entry_stands_for_a_claim_of_each_and_against_each() {
    let keys = "quantity = \"used\"\ncontrollers = [\"sqp\", \"copa\"]\nat_least = 1.0\n\
                than = { controllers = [\"gcc\", \"pudica\"] }";
    let suite = load(&claim(keys)).unwrap();
    let of: Vec<_> = verdicts(&suite, &[])
        .into_iter()
        .map(|v| v.criterion)
        .collect();
    assert_eq!(of.len(), 4);
    assert_eq!(of[0], "above that of gcc");
    assert_eq!(of[1], "above that of pudica");
}

/// Asserts that the index is refused with something else in it, and how the error begins.
fn refuses(changes: &[(&str, &str, String)]) {
    assert!(load(INDEX).is_ok());
    for (old, new, start) in changes {
        assert!(INDEX.contains(old), "{old}");
        let error = load(&INDEX.replacen(old, new, 1)).unwrap_err();
        assert!(error.starts_with(start), "{new}: {error}");
    }
}

#[test]
fn what_is_wrong_in_a_claim_is_named() {
    let claim = "known/suite.toml: claim `Frames are fast`: ";
    refuses(&[
        (
            "\nat_most = 40.0",
            "",
            format!("{claim}it cannot fail; give it `at_most`"),
        ),
        (
            "at_most = 40.0",
            "at_most = 4.0\nat_least = 5.0",
            format!("{claim}nothing is at least 5 and at most 4"),
        ),
        (
            "at_most = 40.0",
            "at_most = nan",
            format!("{claim}`at_least`, `at_most` and `paper`"),
        ),
        (
            "\"frame-delay-mean\"",
            "\"late\"",
            format!("{claim}its quantity needs `above`, e.g. `above = \"50ms\"`"),
        ),
        (
            "at_most = 40.0",
            "at_most = 40.0\nabove = \"50ms\"",
            format!("{claim}its quantity has no `above`; leave it out"),
        ),
        (
            "at_most = 40.0",
            "at_most = 40.0\nused = [0.0, 1.0]",
            format!("{claim}`used` is for quantities of an estimate"),
        ),
        (
            "controllers = [\"sqp\"]",
            "controllers = [\"sq\"]",
            format!("{claim}there is no controller `sq`; there is "),
        ),
        (
            "controllers = [\"sqp\"]",
            "controllers = []",
            format!("{claim}nobody is claimed anything of; name `controllers = "),
        ),
        (
            "case = \"one\"",
            "case = \"two\"",
            format!("{claim}there is no case `two`; there is one"),
        ),
        (
            "at_most = 40.0",
            "at_most = 1.0\nthan = {}",
            format!("{claim}`than` names what the claim is about"),
        ),
        (
            "at_most = 40.0",
            "at_most = 40.0\nvariant = \"slow\"",
            format!("{claim}case `one` has no variant `slow`"),
        ),
        (
            "at_most = 40.0",
            "at_most = 40.0\nto = \"11s\"",
            format!("{claim}what counts is no part of the run, which lasts 10s"),
        ),
    ]);
}

#[test]
fn what_is_wrong_in_a_figure_or_elsewhere_is_named() {
    let figure = "known/suite.toml: figure `delay`: ";
    refuses(&[
        (
            "\"delay\"\ntitle",
            "\"a b\"\ntitle",
            "known/suite.toml: figure `a b`: its name".to_owned(),
        ),
        (
            "cases = [\"one\"]",
            "cases = [\"two\"]",
            format!("{figure}there is no case `two`"),
        ),
        (
            "[0.0, 100.0]",
            "[9.0, 1.0]",
            format!("{figure}`range` is the lowest and the highest"),
        ),
        (
            "page = \"figure\"",
            "page = \"cases\"",
            format!("{figure}it stands on a page of its own; write `page = \"figure\"`"),
        ),
        (
            "delta = 0.1",
            "delta = 0.0",
            "known/suite.toml: params of `copa`: ".to_owned(),
        ),
        (
            "delta = 0.1",
            "delto = 0.1",
            "known/suite.toml: params of `copa`: unknown".to_owned(),
        ),
        (
            "[params.copa]",
            "[params.cope]",
            "there is no controller `cope`".to_owned(),
        ),
        (
            "\"frame-delay-mean\"",
            "\"fun\"",
            "known/suite.toml:30: unknown variant `fun`".to_owned(),
        ),
        (
            "shows = \"delay\"",
            "shows = \"fun\"",
            "known/suite.toml:22: unknown variant".to_owned(),
        ),
    ]);
    let (without, _) = INDEX.split_once("[[claim]]").unwrap();
    let error = load(without).unwrap_err();
    assert!(
        error.contains("needs a `[[figure]]` and a `[[claim]]`"),
        "{error}"
    );
}

#[test]
fn a_tiny_suite_gives_the_same_bytes_and_its_verdicts() {
    let suite = load(INDEX).unwrap();
    let jobs = suite.jobs(&Choice::default()).unwrap();
    let named: Vec<_> = jobs.iter().map(|job| job.key.controller.as_str()).collect();
    assert_eq!(
        named,
        ["copa", "copa", "sqp", "sqp"],
        "the index names them"
    );
    let bytes = || {
        let records: Vec<_> = jobs.iter().map(|job| suite.run(job).unwrap()).collect();
        let page = page(&suite, &records).unwrap();
        (serde_json::to_string(&records).unwrap(), page)
    };
    let (first, page) = bytes();
    assert_eq!(bytes(), (first.clone(), page.clone()));
    let records: Vec<Record> = serde_json::from_str(&first).unwrap();
    assert_eq!(serde_json::to_string(&records).unwrap(), first);

    let [drawing] = &page.figures[..] else {
        panic!("{} figures", page.figures.len());
    };
    assert_eq!(drawing.file, "figures/delay.svg");
    assert!(drawing.svg.contains("paper: 20 ms"));
    assert!(page.markdown.contains("![The delay](figures/delay.svg)"));
    let verdict = &verdicts(&suite, &records)[0];
    let word = if verdict.holds.unwrap() {
        "| holds here"
    } else {
        "| does not hold here"
    };
    assert!(page.markdown.contains(word), "{}", page.markdown);
    // The mean that the simulator itself gives, of all frames of the part.
    let of_sim = records.iter().filter(|r| r.key.controller == "sqp");
    let of_sim: Vec<_> = of_sim
        .map(|r| r.flows[0].frame_delay_ms.unwrap().mean)
        .collect();
    let mean = of_sim.iter().sum::<f64>() / of_sim.len() as f64;
    assert!(
        (verdict.here.unwrap() - mean).abs() < 0.01,
        "{verdict:?}, {mean}"
    );
}

#[test]
fn parameters_reach_their_controller_alone() {
    let with = load(INDEX).unwrap();
    let without = load(&INDEX.replace("[params.copa]\ndelta = 0.1\n", "")).unwrap();
    let runs = |suite: &Suite| {
        let jobs = suite.jobs(&Choice::default()).unwrap();
        [0, 2].map(|index| suite.run(&jobs[index]).unwrap())
    };
    let ([copa, sqp], [default_copa, default_sqp]) = (runs(&with), runs(&without));
    assert_ne!(copa, default_copa);
    assert_eq!(sqp, default_sqp);
}

#[test]
fn a_scenario_that_names_its_controllers_runs_once() {
    let scenario = format!("{SCENARIO}controller = \"fixed\"\n");
    let mut files = given(&[("suite.toml", INDEX), ("one.toml", &scenario)]);
    let suite = Suite::load("known", &mut files, &[]).unwrap();
    let choice = Choice {
        controllers: vec!["gcc".to_owned()],
        ..Choice::default()
    };
    let jobs = suite.jobs(&choice).unwrap();
    let keys: Vec<_> = jobs
        .iter()
        .map(|job| (&*job.key.controller, job.key.seed))
        .collect();
    assert_eq!(keys, [("fixed", 1), ("fixed", 2)]);
}

#[test]
fn every_suite_of_the_paper_has_its_figures_and_claims() {
    let names: Vec<_> = SUITES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| name.starts_with("pudica-fig") || *name == "c3g")
        .collect();
    let wanted = [7, 12, 13, 15, 16, 17, 18].map(|number| format!("pudica-fig{number}"));
    assert_eq!(names[0], "c3g");
    assert_eq!(names[1..], wanted);
    for name in names {
        let mut files = Embedded::named(name).unwrap();
        let suite = Suite::load(name, &mut files, &[]).unwrap();
        assert!(!suite.plots.is_empty() && suite.claims.len() > 3, "{name}");
        // Nothing of it was run, and that is what its page says.
        let page = page(&suite, &[]).unwrap();
        assert!(page.markdown.contains("| not run"), "{name}");
        assert!(!page.markdown.contains("holds here"), "{name}");
    }
}
