//! Pages with a row for each case, and the suite that has one.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use common::given;
use mimosa_figures::Window;
use mimosa_lab::{Body, Choice, Embedded, Record, Suite, means, page};
use mimosa_units::TimeDelta;

const INDEX: &str = r#"
title = "Known"
about = "Known."
page = "overview"
seeds = [1, 1]

[[case]]
name = "one"
title = "One flow"
source = "here"
file = "one.toml"
from = "2s"
to = "9s"

[[case]]
name = "none"
title = "Nothing"
source = "there"
not_carried = "There is none."
"#;

/// Frames of 2500 B in two packets, all at once, 50 times a second: the second packet of each
/// is 2 ms on the link, and 10 ms on the way there and back.
const SCENARIO: &str = r#"
duration = "10s"

[link]
rate = "10Mbit/s"

[[flow]]
params = { rate = "1Mbit/s", pace = 0.0 }
controller = "fixed"
start_bitrate = "1Mbit/s"
max_bitrate = "1Mbit/s"
fps = 50
packet_size = "1250B"
phase = "0ms"
"#;

fn run(index: &str, scenario: &str) -> (Suite, Record) {
    let mut files = given(&[("suite.toml", index), ("one.toml", scenario)]);
    let suite = Suite::load("known", &mut files, &[]).unwrap();
    let record = suite
        .run(&suite.jobs(&Choice::default()).unwrap()[0])
        .unwrap();
    (suite, record)
}

#[test]
fn a_frame_is_late_beyond_the_round_trip_and_what_the_case_allows() {
    let late = |allowed: &str| {
        let index = INDEX.replacen("to =", &format!("late = \"{allowed}\"\nto ="), 1);
        run(&index, SCENARIO).1.flows[0].late
    };
    assert_eq!(late("1900us"), Some(1.0));
    assert_eq!(late("2ms"), Some(0.0));
    // Without a word of it 30 ms: they are there within a round trip of 20 ms and 2 ms.
    let flow = &run(INDEX, SCENARIO).1.flows[0];
    assert_eq!(
        (flow.late, flow.frame_delay_p50_ms),
        (Some(0.0), Some(22.0))
    );
    // The way of the flow counts, not that of the link.
    let far = format!("{SCENARIO}one_way_delay = \"100ms\"\n");
    let flow = &run(INDEX, &far).1.flows[0];
    assert_eq!(
        (flow.late, flow.frame_delay_p50_ms),
        (Some(0.0), Some(202.0))
    );
    // What never arrives is late.
    let lost = SCENARIO.replace("[link]", "[link]\nloss = 1.0");
    assert_eq!(run(INDEX, &lost).1.flows[0].late, Some(1.0));
}

#[test]
fn beside_tcp_is_the_part_of_what_arrived() {
    let tcp = "\n[[flow]]\nkind = \"tcp\"\nrate = \"3Mbit/s\"\n";
    let (suite, record) = run(INDEX, &format!("{SCENARIO}{tcp}"));
    let figures = &means(&suite, &[record])[0].figures;
    // TCP has headers of 40 B on each 1460.
    let part = figures["beside TCP"];
    assert!((0.24..=0.25).contains(&part), "{part}");
    assert!(figures["frame p50"] >= 22.0, "{figures:?}");
    let (suite, record) = run(INDEX, SCENARIO);
    let figures = &means(&suite, &[record])[0].figures;
    assert!(!figures.contains_key("beside TCP"));
}

#[test]
fn the_page_has_a_row_for_each_case() {
    let (suite, record) = run(INDEX, SCENARIO);
    let text = page(&suite, &[record]).unwrap().markdown;
    let row = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    let cells = |line: &str| {
        let cells = line.split('|').map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<_>>()
    };
    let glance = cells(row("| one "));
    assert_eq!(
        glance[1..5],
        ["one", "One flow", "here", "10.00% 22.0 0.00%"]
    );
    assert_eq!(cells(row("| none "))[3], "not carried: There is none.");
    let all = text.split("All figures").nth(1).unwrap();
    assert!(
        all.contains("| one  | fixed ") && !all.contains("none"),
        "{all}"
    );
}

#[test]
fn every_condition_of_robust_can_be_simulated() {
    let mut files = Embedded::named("robust").unwrap();
    let suite = Suite::load("robust", &mut files, &[]).unwrap();
    let mut settings = 0;
    for case in &suite.cases {
        let Body::Carried(forms) = &case.body else {
            panic!("{} is not carried", case.name);
        };
        let [form] = &forms[..] else {
            panic!("{} has {} forms", case.name, forms.len());
        };
        let mut scenario = form.scenario.clone();
        scenario.duration = TimeDelta::from_millis(1_000);
        let figures = mimosa_figures::measure(&scenario, Window::WHOLE, &mut (), |observer| {
            mimosa_sim::run(&scenario, 1, observer);
        });
        assert!(figures.balance.is_even(), "{}", case.name);
        assert!(figures.link.delivered > 10, "{}", case.name);
        settings += 1;
    }
    assert!(settings > 50, "{settings}");
}
