//! Suites as they are shipped, and one whose figures are known.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::collections::BTreeSet;
use std::path::Path;

use common::given;
use mimosa_lab::{Body, Choice, Delays, Embedded, SUITES, Suite, page};

const INDEX: &str = r#"
title = "Known"
about = "Known."
page = "cases"
seeds = [1, 1]

[[case]]
name = "one"
title = "One"
source = "here"
file = "one.toml"
from = "2s"
to = "9s"
converges = true
"#;

/// Frames of 2500 B in two packets, all at once, 50 times a second.
const FLOW: &str = r#"
[[flow]]
controller = "fixed"
params = { rate = "1Mbit/s", pace = 0.0 }
start_bitrate = "1Mbit/s"
max_bitrate = "1Mbit/s"
fps = 50
packet_size = "1250B"
phase = "0ms"
"#;

fn one(scenario: &str) -> mimosa_lab::Record {
    let mut files = given(&[("suite.toml", INDEX), ("one.toml", scenario)]);
    let suite = Suite::load("known", &mut files, &[]).unwrap();
    let choice = Choice {
        controllers: vec!["pudica".to_owned()],
        ..Choice::default()
    };
    suite.run(&suite.jobs(&choice).unwrap()[0]).unwrap()
}

#[test]
fn every_suite_loads_and_every_file_is_embedded() {
    for (name, files) in SUITES {
        let mut embedded = Embedded::named(name).unwrap();
        let suite = Suite::load(name, &mut embedded, &[]).unwrap();
        assert!(
            !suite.jobs(&Choice::default()).unwrap().is_empty(),
            "{name}"
        );
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../../lab")
            .join(name);
        let there: BTreeSet<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|file| Path::new(file).extension().is_some_and(|kind| kind != "py"))
            .collect();
        let held: BTreeSet<_> = files
            .iter()
            .map(|(file, _)| (*file).to_owned())
            .filter(|file| !file.starts_with("../"))
            .collect();
        assert_eq!(there, held, "{name}");
    }
}

#[test]
fn rfc_8867_has_all_cases() {
    let mut files = Embedded::named("rfc8867").unwrap();
    let suite = Suite::load("rfc8867", &mut files, &[]).unwrap();
    let names: BTreeSet<_> = suite.cases.iter().map(|case| case.name.as_str()).collect();
    let basic = (1..=8).map(|number| format!("5.{number}"));
    let others = ["6.1", "6.3"].map(str::to_owned);
    let with_ecn = basic.clone().map(|name| format!("6.2-{name}"));
    for name in basic.chain(others).chain(with_ecn) {
        assert!(names.contains(name.as_str()), "{name}");
    }
    let is_carried = |case: &mimosa_lab::Case| matches!(case.body, Body::Carried(_));
    assert!(suite.cases.iter().all(is_carried));
}

#[test]
fn figures_are_those_of_arithmetic() {
    // A packet takes 1 ms on the link and 10 ms on the way, there and back.
    let scenario = format!("duration = \"10s\"\n[link]\nrate = \"10Mbit/s\"\n{FLOW}");
    let record = one(&scenario);
    let flow = &record.flows[0];
    assert_eq!(
        (flow.controller.as_str(), flow.name.as_str()),
        ("fixed", "flow1")
    );
    let delays = |mean, worst| {
        Some(Delays {
            mean,
            p95: worst,
            p99: worst,
            max: worst,
        })
    };
    assert_eq!(flow.packet_delay_ms, delays(11.5, 12.0));
    assert_eq!(flow.frame_delay_ms, delays(22.0, 22.0));
    assert_eq!(record.link.queue_delay_ms, delays(0.5, 1.0));
    assert_eq!(flow.bitrate_mbps, Some(1.0));
    assert_eq!((flow.throughput_mbps, flow.loss_rate), (1.0, Some(0.0)));
    assert_eq!(
        (flow.rate_variation, flow.turns_per_minute),
        (Some(0.0), Some(0.0))
    );
    assert_eq!(record.link.utilization, Some(0.1));
    assert_eq!(flow.arrived_kbps, [1000; 10]);
    assert_eq!(record.tcp, None);
    // Its highest bitrate is all that it is to have, though the link has more.
    let [only] = record.converged[..] else {
        panic!("{:?}", record.converged);
    };
    assert_eq!(
        (only.at_s, only.share_s, only.even_s),
        (2.0, Some(0.0), None)
    );
}

#[test]
fn a_flow_that_comes_is_a_change_and_unequal_flows_do_not_converge() {
    let slow = FLOW.replace("1Mbit/s", "0.5Mbit/s");
    let scenario = format!(
        "duration = \"10s\"\n[link]\nrate = \"1Mbit/s\"\nqueue = {{ kind = \"droptail\", \
         limit = \"50kB\" }}\n{slow}{slow}start = \"4s\"\nstop = \"7s\"\n"
    );
    let record = one(&scenario);
    let seen: Vec<_> = record
        .converged
        .iter()
        .map(|change| (change.at_s, change.flows, change.share_s.is_some()))
        .collect();
    assert_eq!(seen, [(2.0, 1, true), (4.0, 2, true), (7.0, 1, true)]);
    // In its first second 49 of its 50 frames arrive.
    assert_eq!(record.converged[1].even_s, Some(0.0));
    // Over 7 s one has 0.5 Mbit/s and the other the same for 3 s of them: their means are
    // as 7 to 3, Jain's index (7 + 3)^2 / (2 (49 + 9)).
    let jain = record.jain.unwrap();
    assert!((jain - 100.0 / 116.0).abs() < 0.01, "{jain}");

    let scenario = scenario.replacen("0.5Mbit/s", "0.3Mbit/s", 3);
    let change = one(&scenario).converged[1];
    assert_eq!(
        (change.at_s, change.share_s, change.even_s),
        (4.0, Some(0.0), None)
    );
}

#[test]
fn the_same_job_gives_the_same_bytes() {
    let mut files = Embedded::named("rfc8867").unwrap();
    let suite = Suite::load("rfc8867", &mut files, &[]).unwrap();
    let choice = Choice {
        controllers: vec!["pudica".to_owned()],
        seeds: Some((3, 3)),
        cases: vec!["5.6".to_owned()],
    };
    let jobs = suite.jobs(&choice).unwrap();
    assert_eq!(jobs.len(), 2);
    let bytes = || {
        let records: Vec<_> = jobs.iter().map(|job| suite.run(job).unwrap()).collect();
        let page = page(&suite, &records).unwrap();
        (serde_json::to_string(&records).unwrap(), page)
    };
    let (first, page) = bytes();
    assert_eq!(bytes(), (first.clone(), page.clone()));
    let read: Vec<mimosa_lab::Record> = serde_json::from_str(&first).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), first);
    assert!(
        page.markdown.contains("| pudica     | 1000 ms |"),
        "{}",
        page.markdown
    );
    assert!(!page.markdown.contains("## 5.1:"), "it was not run");
}

#[test]
fn what_is_not_carried_stands_on_the_page_with_the_reason() {
    let mut files = Embedded::named("rfc8869").unwrap();
    let suite = Suite::load("rfc8869", &mut files, &[]).unwrap();
    let text = page(&suite, &[]).unwrap().markdown;
    assert!(text.contains("## 3.3: EDCA/WMM"), "{text}");
    assert!(text.contains("Not carried. Access categories"), "{text}");
    assert!(!text.contains("## 3.1-pair"), "{text}");
}

/// The only run of a case of RFC 8867 with Pudica, and the case's figure.
fn case_of_rfc_8867(name: &str) -> (mimosa_lab::Record, String) {
    let mut files = Embedded::named("rfc8867").unwrap();
    let suite = Suite::load("rfc8867", &mut files, &[]).unwrap();
    let choice = Choice {
        controllers: vec!["pudica".to_owned()],
        seeds: Some((1, 1)),
        cases: vec![name.to_owned()],
    };
    let mut jobs = suite.jobs(&choice).unwrap();
    assert_eq!(jobs.len(), 1);
    let record = suite.run(&jobs.remove(0)).unwrap();
    let page = page(&suite, std::slice::from_ref(&record)).unwrap();
    (record, page.html)
}

#[test]
fn each_direction_of_5_3_has_its_changes() {
    for case in ["5.3", "6.2-5.3"] {
        let (record, page) = case_of_rfc_8867(case);
        let at: Vec<_> = record.converged.iter().map(|change| change.at_s).collect();
        assert_eq!(at, [0.0, 20.0, 40.0, 60.0, 0.0, 35.0, 70.0]);
        assert!(record.converged.iter().all(|change| change.flows == 1));
        assert_eq!(record.jain, None);
        for flow in &record.flows {
            assert!(flow.throughput_mbps > 0.3, "{case}: {flow:?}");
        }
        assert!(page.contains("link back") && !page.contains("link 2"));
        assert!(page.contains("each frame p95"));
    }
}

#[test]
fn the_flows_of_6_3_share_two_bottlenecks() {
    let (record, page) = case_of_rfc_8867("6.3");
    assert_eq!(record.flows.len(), 3);
    assert_eq!(record.converged[0].flows, 3);
    let [all, first, last] = [0, 1, 2].map(|flow: usize| record.flows[flow].throughput_mbps);
    // Audio of both takes 72 kbit/s of each bottleneck.
    assert!(all + first <= 2.0 - 0.072 && all + last <= 1.5 - 0.072);
    assert!(all.min(first).min(last) > 0.15, "{all} {first} {last}");
    assert!(page.contains("link 3") && !page.contains("link back"));
}

#[test]
fn all_controllers_but_the_fixed_one_run_and_the_reference_always() {
    let mut files = Embedded::named("scoreboard").unwrap();
    let suite = Suite::load("scoreboard", &mut files, &[]).unwrap();
    let controllers = |asked: &[&str]| {
        let choice = Choice {
            controllers: asked.iter().map(|name| (*name).to_owned()).collect(),
            ..Choice::default()
        };
        let jobs = suite.jobs(&choice).unwrap();
        jobs.iter()
            .map(|job| job.key.controller.clone())
            .collect::<BTreeSet<_>>()
    };
    let all = mimosa_cc::NAMES.iter().filter(|name| **name != "fixed");
    assert_eq!(
        controllers(&[]),
        all.map(|name| (*name).to_owned()).collect()
    );
    let two = ["fixed", "oracle"].map(str::to_owned);
    assert_eq!(controllers(&["fixed"]), BTreeSet::from(two));
}

#[test]
fn what_is_wrong_is_named() {
    let mut files = Embedded::named("rfc8867").unwrap();
    let suite = Suite::load("rfc8867", &mut files, &[]).unwrap();
    let refused = |controller: &str, case: &str| {
        let choice = Choice {
            controllers: vec![controller.to_owned()],
            cases: vec![case.to_owned()],
            seeds: None,
        };
        suite.jobs(&choice).unwrap_err().to_string()
    };
    let names = mimosa_cc::NAMES.join(", ");
    assert_eq!(
        refused("pudicca", "5.1"),
        format!("there is no controller `pudicca`; there is {names}")
    );
    let error = refused("pudica", "5.9");
    assert!(
        error.starts_with("rfc8867 has no case `5.9`; there is 5.1, 5.2"),
        "{error}"
    );
    let mut wireless = Embedded::named("rfc8869").unwrap();
    let choice = Choice {
        cases: vec!["3.3".to_owned()],
        ..Choice::default()
    };
    let error = Suite::load("rfc8869", &mut wireless, &[])
        .unwrap()
        .jobs(&choice)
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("rfc8869: case `3.3` is not carried: Access categories"),
        "{error}"
    );
    let error = Suite::load("rfc8867", &mut files, &["a.txt".to_owned()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rfc8867 has no case over a trace; leave --traces out"
    );

    let scenario = format!("duration = \"10s\"\n[link]\nrate = \"10Mbit/s\"\n{FLOW}");
    let index = |old: &str, new: &str| {
        assert!(INDEX.contains(old), "{old}");
        let index = INDEX.replacen(old, new, 1);
        let mut files = given(&[("suite.toml", &index), ("one.toml", &scenario)]);
        Suite::load("known", &mut files, &[])
            .unwrap_err()
            .to_string()
    };
    let error = index("converges", "converge");
    assert!(
        error.starts_with("known/suite.toml:14: unknown field `converge`"),
        "{error}"
    );
    assert_eq!(
        index("one.toml", "two.toml"),
        "known: cannot read two.toml: no such file"
    );
    let error = index("\"9s\"", "\"11s\"");
    assert!(
        error.contains("which lasts 10s; let `from` be before `to`"),
        "{error}"
    );
    let error = index("file = \"one.toml\"", "");
    assert!(
        error.contains("case `one`: it needs either `file = "),
        "{error}"
    );
    let error = index("from =", "variants = [\"no\"]\nfrom =");
    assert!(
        error.contains("one.toml has not all of these `variants`"),
        "{error}"
    );
    let error = index("seeds = [1, 1]", "seeds = [2, 1]");
    assert!(error.contains("`seeds` = [2, 1]"), "{error}");
}
