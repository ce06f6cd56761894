//! Pairs of a stream and a rival, the page that shows them, and the suite that has one.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod common;

use std::collections::BTreeSet;

use common::given;
use mimosa_figures::Window;
use mimosa_lab::{Body, Choice, Embedded, Key, Means, Record, Setting, Suite, means, page};
use mimosa_units::{Time, TimeDelta};

const INDEX: &str = r#"
title = "Known"
about = "Known."
page = "matrix"
seeds = [1, 2]
controllers = ["copa", "pudica"]

[[case]]
name = "pair"
title = "A pair"
source = "here"
file = "pair.toml"
from = "2s"
rivals.rival = ["copa", "pudica"]
rivals.tcp = ["cubic", "prague"]
"#;

const SCENARIO: &str = r#"
duration = "6s"

[link]
rate = "10Mbit/s"
queue = { kind = "droptail", limit = "40ms" }

[[flow]]
name = "stream"

[[flow]]
name = "rival"
start = "1s"

[[flow]]
name = "tcp"
kind = "tcp"
start = "1s"
"#;

fn load(index: &str, scenario: &str) -> Result<Suite, String> {
    let mut files = given(&[("suite.toml", index), ("pair.toml", scenario)]);
    Suite::load("known", &mut files, &[]).map_err(|error| error.to_string())
}

fn keys(suite: &Suite, controllers: &[&str]) -> Vec<Key> {
    let choice = Choice {
        controllers: controllers.iter().map(|name| (*name).to_owned()).collect(),
        seeds: Some((1, 1)),
        cases: Vec::new(),
    };
    let jobs = suite.jobs(&choice).unwrap();
    jobs.into_iter().map(|job| job.key).collect()
}

fn records(suite: &Suite) -> Vec<Record> {
    let jobs = suite.jobs(&Choice::default()).unwrap();
    jobs.iter().map(|job| suite.run(job).unwrap()).collect()
}

fn settings<'a>(suite: &'a Suite, case: &str) -> &'a [Setting] {
    let case = suite.cases.iter().find(|each| each.name == *case).unwrap();
    match &case.body {
        Body::Carried(settings) => settings,
        Body::NotCarried(why) => panic!("{why}"),
    }
}

/// The cell of a row and a column.
fn cell<'a>(means: &'a [Means], row: &str, column: &str) -> &'a Means {
    let is_it = |cell: &&Means| cell.controller == row && cell.rival.as_deref() == Some(column);
    let found: Vec<_> = means.iter().filter(is_it).collect();
    assert_eq!(found.len(), 1, "{row} beside {column} in {means:?}");
    found[0]
}

#[test]
fn a_pair_is_run_once_in_each_order() {
    let suite = load(INDEX, SCENARIO).unwrap();
    let named = |keys: Vec<Key>| {
        let named = keys.into_iter().map(|key| {
            let rival = key.rival.unwrap();
            let order = if rival.is_first { "second" } else { "first" };
            format!(
                "{} {order} beside {} {}",
                key.controller, rival.flow, rival.controller
            )
        });
        named.collect::<Vec<_>>()
    };
    // Pudica beside Copa is Copa beside Pudica; TCP has no row.
    let expected = [
        "copa first beside rival copa",
        "copa second beside rival copa",
        "copa first beside rival pudica",
        "pudica first beside rival pudica",
        "copa second beside rival pudica",
        "pudica second beside rival pudica",
        "copa first beside tcp cubic",
        "pudica first beside tcp cubic",
        "copa second beside tcp cubic",
        "pudica second beside tcp cubic",
        "copa first beside tcp prague",
        "pudica first beside tcp prague",
        "copa second beside tcp prague",
        "pudica second beside tcp prague",
    ];
    assert_eq!(named(keys(&suite, &[])), expected);
    // Where Copa has no row, its column is run for Pudica.
    let alone = named(keys(&suite, &["pudica"]));
    assert_eq!(alone.len(), 8, "{alone:?}");
    assert!(alone.contains(&"pudica first beside rival copa".to_owned()));
    // Flows that differ in more are no mirror images.
    let other = SCENARIO.replace("name = \"rival\"", "name = \"rival\"\nfps = 30");
    assert_eq!(keys(&load(INDEX, &other).unwrap(), &[]).len(), 16);
}

#[test]
fn the_flows_of_a_pair_begin_as_its_order_says() {
    let suite = load(INDEX, SCENARIO).unwrap();
    for setting in settings(&suite, "pair") {
        let flows = &setting.scenario.flows;
        assert_eq!(flows.len(), 2, "the other rival is not there");
        let starts: Vec<_> = flows.iter().map(|flow| flow.start).collect();
        let (first, second) = (Time::ZERO, Time::from_millis(1_000));
        assert!(starts == [first, second] || starts == [second, first]);
    }
    // At the same time there is one order.
    let same = SCENARIO.replace("start = \"1s\"\n", "");
    let suite = load(INDEX, &same).unwrap();
    assert_eq!(settings(&suite, "pair").len(), 4);
}

#[test]
fn the_share_of_a_cell_is_that_of_the_runs_figures() {
    let suite = load(INDEX, SCENARIO).unwrap();
    let means = means(&suite, &records(&suite));
    assert_eq!(means.len(), 8, "two rows and four columns");
    for (rival, is_tcp) in [("pudica", false), ("cubic", true)] {
        // The same runs, measured without the lab.
        let window = Window {
            from: Time::from_millis(2_000),
            to: Time::MAX,
        };
        let mut shares = Vec::new();
        let mut of_link = Vec::new();
        let pairs = settings(&suite, "pair").iter().filter(|setting| {
            let other = &setting.scenario.flows[1];
            other.controller_name() == Some(rival) && (other.kind_name() == "tcp") == is_tcp
        });
        for pair in pairs {
            let mut scenario = pair.scenario.clone();
            assert!(scenario.flows[0].set_controller("copa"));
            for seed in [1, 2] {
                let figures = mimosa_figures::measure(&scenario, window, &mut (), |observer| {
                    mimosa_sim::run(&scenario, seed, observer);
                });
                let [stream, other] = [0, 1].map(|flow: usize| figures.flows[flow].throughput_mbps);
                shares.push(stream / (stream + other));
                of_link.push(stream / 10.0);
            }
        }
        assert_eq!(shares.len(), 4, "two orders, two seeds");
        let name = if is_tcp { "TCP cubic" } else { rival };
        let cell = cell(&means, "copa", name);
        assert_eq!(cell.runs, 4);
        let near = |figure: &str, expected: f64| {
            let is = cell.figures[figure];
            // What arrives is counted in microseconds there and in parts of 200 ms here.
            assert!(
                (is - expected).abs() < 1e-5,
                "{name}: {figure}: {is} and {expected}"
            );
        };
        near("share", shares.iter().sum::<f64>() / 4.0);
        near(
            "share least",
            shares.iter().copied().reduce(f64::min).unwrap(),
        );
        near(
            "share most",
            shares.iter().copied().reduce(f64::max).unwrap(),
        );
        // Runs are in the order of the settings: the stream first, then second.
        near("share first", f64::midpoint(shares[0], shares[1]));
        near("share second", f64::midpoint(shares[2], shares[3]));
        near("of link", of_link.iter().sum::<f64>() / 4.0);
    }
}

#[test]
fn the_shares_of_a_pair_are_the_whole() {
    let suite = load(INDEX, SCENARIO).unwrap();
    let means = means(&suite, &records(&suite));
    let figure = |row: &str, column: &str, name: &str| cell(&means, row, column).figures[name];
    for (one, other) in [("share", "share"), ("share first", "share second")] {
        let sum = figure("copa", "pudica", one) + figure("pudica", "copa", other);
        assert!((sum - 1.0).abs() < 2e-6, "{one}: {sum}");
    }
    let widest = figure("copa", "pudica", "share most") + figure("pudica", "copa", "share least");
    assert!((widest - 1.0).abs() < 2e-6, "{widest}");
    // Both sides of the same runs have delays of their own.
    let delays = [("copa", "pudica"), ("pudica", "copa")].map(|(row, column)| {
        let delay = figure(row, column, "frame p95");
        assert!((20.0..500.0).contains(&delay), "{delay}");
        delay
    });
    assert!((delays[0] - delays[1]).abs() > 1e-3, "{delays:?}");
    let used = figure("copa", "pudica", "of link") + figure("pudica", "copa", "of link");
    assert!((0.5..=1.0).contains(&used), "{used}");
}

#[test]
fn a_share_is_that_of_arithmetic() {
    let index = INDEX
        .replace("[\"copa\", \"pudica\"]", "[\"fixed\"]")
        .replace("[\"cubic\", \"prague\"]", "[\"cubic\"]")
        .replacen(
            "[[case]]",
            "params.fixed = { rate = \"1Mbit/s\", pace = 0.0 }\n[[case]]",
            1,
        );
    let limits =
        "min_bitrate = \"1Mbit/s\"\nstart_bitrate = \"1Mbit/s\"\nmax_bitrate = \"1Mbit/s\"";
    let scenario = SCENARIO
        .replace(
            "name = \"stream\"",
            &format!("name = \"stream\"\nfps = 50\n{limits}"),
        )
        .replace(
            "name = \"rival\"",
            &format!("name = \"rival\"\nfps = 50\n{limits}"),
        )
        .replace("kind = \"tcp\"", "kind = \"tcp\"\nrate = \"3Mbit/s\"");
    let suite = load(&index, &scenario).unwrap();
    let means = means(&suite, &records(&suite));
    let share = |column: &str| cell(&means, "fixed", column).figures["share"];
    assert!((share("fixed") - 0.5).abs() < 1e-9, "{means:?}");
    // TCP has headers of 40 B on each 1460 of its 3 Mbit/s, and the stream none.
    let expected = 1.0 / (1.0 + 3.0 * 1500.0 / 1460.0);
    let tcp = share("TCP cubic");
    assert!((tcp - expected).abs() < 0.002, "{tcp} and {expected}");
    let of_link = cell(&means, "fixed", "TCP cubic").figures["of link"];
    assert!((of_link - 0.1).abs() < 0.001, "{of_link}");
}

#[test]
fn the_page_has_a_matrix_of_each_figure() {
    let alone = r#"
[[case]]
name = "alone"
title = "Alone"
source = "there"
file = "pair.toml"
variants = ["L4S"]
"#;
    // Without rivals all flows of the file are there.
    let scenario = format!(
        "{SCENARIO}\n[[variant]]\nname = \"plain\"\n[[variant]]\nname = \"L4S\"\n\
         link.queue = {{ kind = \"dualpi2\" }}\nflow.ecn = \"auto\"\n"
    );
    let index = INDEX.replace("from =", "variants = [\"plain\"]\nfrom =");
    let index = index.replace("\"pudica\"]\n\n", "\"pudica\", \"prague\"]\n\n") + alone;
    let suite = load(&index, &scenario).unwrap();
    let records = records(&suite);
    let page = page(&suite, &records).unwrap();
    let names: Vec<_> = page
        .figures
        .iter()
        .map(|figure| figure.file.as_str())
        .collect();
    assert_eq!(
        names,
        [
            "figures/shares-a-pair.svg",
            "figures/frame-delays-a-pair.svg"
        ]
    );
    for name in names {
        assert!(page.markdown.contains(&format!("]({name})")), "{name}");
    }
    assert!(page.html.contains(">TCP prague</th>"), "{}", page.html);
    let head = |first: &str| {
        let is_head = |line: &&str| line.starts_with("| stream") && line.contains(first);
        page.markdown.lines().filter(is_head).count()
    };
    assert_eq!(head("TCP cubic"), 3, "{}", page.markdown);
    // The mean, the least and the most are those of the numbers.
    let means = means(&suite, &records);
    let figures = &cell(&means, "copa", "pudica").figures;
    let percent = |name: &str| format!("{:.0}", figures[name] * 100.0);
    let [mean, least, most] = ["share", "share least", "share most"].map(percent);
    let row = page
        .markdown
        .lines()
        .find(|line| line.starts_with("| copa"))
        .unwrap();
    assert!(
        row.contains(&format!(" {mean} ({least}..{most}) ")),
        "{row}"
    );
    // Packets of a controller that answers marks are in the queue of L4S.
    let of = |name: &str| {
        let own = records
            .iter()
            .find(|record| record.key.case == "alone" && record.key.controller == *name);
        own.unwrap().flows[0].queue.unwrap()
    };
    let (prague, pudica) = (of("prague"), of("pudica"));
    assert!((0.95..1.0).contains(&prague.l4s), "{prague:?}");
    assert!(pudica.l4s < 1e-9, "{pudica:?}");
    assert!(
        prague.p50_ms < prague.p99_ms && prague.p99_ms < 10.0,
        "{prague:?}"
    );
    assert!(page.markdown.contains("queue p99"), "{}", page.markdown);
    // In pairs nobody asks for them.
    assert!(
        records
            .iter()
            .all(|run| run.key.case == "alone" || run.flows[0].queue.is_none())
    );
}

#[test]
fn what_cannot_be_a_pair_is_refused() {
    assert!(load(INDEX, SCENARIO).is_ok());
    let refused = |old: &str, new: &str| {
        let both = [INDEX, SCENARIO];
        assert_eq!(
            both.iter().filter(|text| text.contains(old)).count(),
            1,
            "{old}"
        );
        let [index, scenario] = both.map(|text| text.replacen(old, new, 1));
        load(&index, &scenario).unwrap_err()
    };
    let starts = "known/suite.toml: case `pair`: ";
    for (old, new, why) in [
        (
            "rivals.rival",
            "rivals.rivals",
            "there is no flow `rivals` for rivals; there is stream, rival, tcp",
        ),
        (
            "rivals.tcp",
            "rivals.stream",
            "beside its rivals the scenario needs one video flow",
        ),
        (
            "rivals.tcp = [\"cubic\", \"prague\"]",
            "",
            "beside its rivals the scenario needs one video flow",
        ),
        (
            "[\"cubic\"",
            "[\"vegas\"",
            "there is no congestion control `vegas`; there is reno, cubic",
        ),
        (
            "rivals.rival = [\"copa\"",
            "rivals.rival = [\"cubic\"",
            "there is no controller `cubic`; there is bbr-app",
        ),
        (
            "[\"cubic\", \"prague\"]",
            "[\"cubic\", \"cubic\"]",
            "the rivals of `tcp` are to be one or more names, each once",
        ),
        (
            "[\"cubic\", \"prague\"]",
            "[]",
            "the rivals of `tcp` are to be one or more names, each once",
        ),
        (
            "name = \"rival\"",
            "name = \"rival\"\ncontroller = \"gcc\"",
            "rivals decide on `controller` of `rival`; leave it out",
        ),
        (
            "kind = \"tcp\"",
            "kind = \"tcp\"\necn = \"ect0\"",
            "rivals decide on `ecn` of `tcp`; leave it out",
        ),
        (
            "name = \"stream\"",
            "name = \"stream\"\ncontroller = \"gcc\"",
            "beside its rivals the scenario needs one video flow",
        ),
        (
            "kind = \"tcp\"",
            "kind = \"cbr\"\nrate = \"1Mbit/s\"",
            "no controller drives the cross traffic `tcp`",
        ),
        (
            "name = \"stream\"",
            "name = \"stream\"\nstop = \"1s\"",
            "where the other flow comes first, `stream` stops before it starts",
        ),
        (
            "{ kind = \"droptail\", limit = \"40ms\" }",
            "{ kind = \"htb\" }\n[[link.class]]\nname = \"all\"\nrate = \"10Mbit/s\"",
            "rivals cannot meet in a queue of kind `htb`",
        ),
        (
            "page = \"matrix\"",
            "page = \"cases\"",
            "rivals stand on a page of their own; write `page = \"matrix\"`",
        ),
    ] {
        let error = refused(old, new);
        assert!(error.starts_with(&format!("{starts}{why}")), "{error}");
    }
    let none = INDEX.split("rivals.").next().unwrap();
    assert_eq!(
        load(none, SCENARIO).unwrap_err(),
        "known/suite.toml:1: a page of this kind needs a case with `rivals`"
    );
}

#[test]
fn parameters_of_a_controller_hold_for_rivals_too() {
    let index = INDEX.replace("\"pudica\"", "\"fixed\"");
    let mut suite = load(&index, SCENARIO).unwrap();
    let rival_mbps = |suite: &Suite| {
        let jobs = suite.jobs(&Choice::default()).unwrap();
        let is_it = |key: &Key| {
            let rival = key.rival.as_ref().unwrap();
            key.controller == "copa" && rival.controller == "fixed"
        };
        let job = jobs.iter().find(|job| is_it(&job.key)).unwrap();
        suite.run(job).unwrap().flows[1].throughput_mbps
    };
    for rate in [1.0, 2.0] {
        suite
            .set_params(&format!("fixed.rate='{rate}Mbit/s'"))
            .unwrap();
        let mbps = rival_mbps(&suite);
        assert!((mbps - rate).abs() < rate * 0.05, "{mbps} with {rate}");
    }
    let error = suite.set_params("fixed.nothing=1").unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
}

#[test]
fn every_controller_of_streams_meets_every_other_one() {
    let mut files = Embedded::named("coexistence").unwrap();
    let suite = Suite::load("coexistence", &mut files, &[]).unwrap();
    let are_streams = |name: &&str| !["fixed", "oracle"].contains(name);
    let streams: BTreeSet<_> = mimosa_cc::NAMES
        .iter()
        .copied()
        .filter(are_streams)
        .collect();
    let rows: BTreeSet<_> = suite.controllers.iter().map(String::as_str).collect();
    assert_eq!(rows, streams, "`controllers` of lab/coexistence/suite.toml");
    let mut pages = 0;
    for case in &suite.cases {
        let keys = keys(&suite, &[]);
        let rivals = keys.iter().filter(|key| key.case == case.name);
        let rivals = rivals.filter_map(|key| key.rival.as_ref());
        let [videos, tcp] = ["rival", "tcp"].map(|flow| {
            let own = rivals.clone().filter(|rival| rival.flow == flow);
            own.map(|rival| rival.controller.as_str())
                .collect::<BTreeSet<_>>()
        });
        if videos.is_empty() {
            continue;
        }
        assert_eq!(videos, streams, "`rivals.rival` of {}", case.name);
        assert_eq!(tcp, BTreeSet::from(["bbr", "bbr3", "cubic", "prague"]));
        pages += 1;
    }
    assert_eq!(pages, 4);
}

#[test]
fn every_pair_of_the_suite_can_be_simulated() {
    let mut files = Embedded::named("coexistence").unwrap();
    let suite = Suite::load("coexistence", &mut files, &[]).unwrap();
    for case in &suite.cases {
        for setting in settings(&suite, &case.name) {
            let mut scenario = setting.scenario.clone();
            // Long enough for both flows to have sent.
            for flow in &mut scenario.flows {
                flow.start = Time::ZERO;
            }
            scenario.duration = TimeDelta::from_millis(200);
            let figures = mimosa_figures::measure(&scenario, Window::WHOLE, &mut (), |observer| {
                mimosa_sim::run(&scenario, 1, observer);
            });
            assert!(figures.balance.is_even(), "{}", case.name);
            assert!(
                figures.flows.iter().all(|flow| flow.throughput_mbps > 0.0),
                "{}: {figures:?}",
                case.name
            );
        }
    }
}
