//! Queue disciplines as a scenario states them.

use crate::common::{Log, scenario, whole};
use mimosa_facts::Fate;
use mimosa_scenario::{QueueConfig, load};
use mimosa_units::{Ecn, TimeDelta};

/// A game of 8 Mbit/s in bursts, and a download that takes all it can get: both
/// unanswering.
fn both(queue: &str) -> String {
    format!(
        r#"
duration = "20s"
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
{queue}
[[flow]]
name = "game"
min_bitrate = "8Mbit/s"
start_bitrate = "8Mbit/s"
max_bitrate = "8Mbit/s"
ecn = "ect1"
[[flow]]
name = "download"
kind = "cbr"
rate = "30Mbit/s"
ecn = "ect0"
"#
    )
}

fn say(text: &str) -> String {
    load(text, "s.toml", &mut ()).unwrap_err().to_string()
}

const HTB: &str = r#"
queue = { kind = "htb", default = "bulk" }
[[link.class]]
name = "all"
rate = "20Mbit/s"
[[link.class]]
name = "games"
parent = "all"
rate = "10Mbit/s"
ceil = "20Mbit/s"
flows = ["game"]
queue = { kind = "sfq", limit = "63packets" }
[[link.class]]
name = "bulk"
parent = "all"
rate = "10Mbit/s"
ceil = "20Mbit/s"
priority = 1
queue = { kind = "droptail", limit = "250packets" }
"#;

#[test]
fn the_game_is_as_isolated_as_its_queue_isolates() {
    // The frame's own 16.7 kB take 6.7 ms, there and back are 20 ms.
    for (queue, least, most) in [
        (
            r#"queue = { kind = "droptail", limit = "100kB" }"#,
            60.0,
            200.0,
        ),
        (r#"queue = { kind = "fq-codel", ecn = false }"#, 25.0, 40.0),
        (r#"queue = { kind = "sfq" }"#, 25.0, 40.0),
        (HTB, 25.0, 36.0),
    ] {
        let outcome = whole(&scenario(&both(queue)), 1);
        let p95 = outcome.flows[0].frame_delay_ms.as_ref().unwrap().p95;
        assert!((least..most).contains(&p95), "{queue}: {p95} ms");
        assert!(outcome.link.utilization.unwrap() > 0.99, "{queue}");
        let link = &outcome.link;
        assert_eq!(link.offered, link.delivered + link.dropped + link.left);
    }
}

#[test]
fn every_queue_keeps_every_packet_for_every_seed() {
    for queue in [
        r#"queue = { kind = "codel", limit = "300packets" }"#,
        r#"queue = { kind = "fq-codel", flows = 4, quantum = "300B", limit = "200packets" }"#,
        r#"queue = { kind = "pie", ecn_threshold = 0.5 }"#,
        r#"queue = { kind = "dualpi2", limit = "200ms" }"#,
        r#"queue = { kind = "dualpi2", preset = "linux", shift = "50ms", drop_on_overload = false, limit = "100kB" }"#,
        r#"queue = { kind = "token-bucket", rate = "15Mbit/s", burst = "10kB", peak = "18Mbit/s", inner = { kind = "pie" } }"#,
        HTB,
    ] {
        for seed in 1..=3 {
            let outcome = whole(&scenario(&both(queue)), seed);
            let link = &outcome.link;
            let counted = link.delivered + link.dropped + link.left;
            assert_eq!(link.offered, counted, "{queue}, seed {seed}");
            assert!(link.dropped > 1_000, "{queue}: {} dropped", link.dropped);
        }
    }
}

#[test]
fn a_shaper_is_the_bottleneck_where_it_is_slower() {
    let queue = r#"queue = { kind = "token-bucket", rate = "10Mbit/s", burst = "3kB" }"#;
    let outcome = whole(&scenario(&both(queue)), 1);
    let used = outcome.link.utilization.unwrap();
    assert!((0.499..0.501).contains(&used), "{used}");
}

#[test]
fn marks_reach_the_receiver() {
    let queue = r#"queue = { kind = "dualpi2" }"#;
    let log = Log::of(&scenario(&both(queue)), 1);
    let marked = |flow| {
        let packets = log
            .packets
            .iter()
            .filter(|packet| packet.packet.flow == flow);
        let arrived = packets.filter(|packet| matches!(packet.fate, Fate::Arrived(_)));
        let (all, marked) = arrived.fold((0_u64, 0_u64), |(all, marked), packet| {
            (all + 1, marked + u64::from(packet.ecn == Ecn::Ce))
        });
        marked as f64 / all as f64
    };
    // The download does not answer, so the coupled queue is overloaded: the game's
    // packets are all marked.
    assert!(marked(0) > 0.95, "{}", marked(0));
    let delay = |flow| {
        let waits = log
            .packets
            .iter()
            .filter(|packet| packet.packet.flow == flow);
        let mut waits: Vec<_> = waits
            .filter_map(|packet| Some(packet.started?.since(packet.offered)))
            .collect();
        waits.sort_unstable();
        waits[waits.len() / 2]
    };
    assert!(delay(0) < TimeDelta::from_millis(8), "{}", delay(0));
    assert!(delay(1) > TimeDelta::from_millis(12), "{}", delay(1));
}

#[test]
fn what_means_nothing_is_refused_with_what_does() {
    for (queue, expected) in [
        (
            r#"queue = { kind = "codel", coupling = 2.0 }"#,
            "s.toml:6: `coupling` means nothing for a queue of kind \"codel\", which has limit, target, interval, mtu, ecn, ce_threshold",
        ),
        (
            r#"queue = { kind = "pie", limit = "20ms" }"#,
            "s.toml:6: `limit` must be a number of packets from 1 to a million, e.g. \"1000packets\"",
        ),
        (
            r#"queue = { kind = "dualpi2", preset = "windows" }"#,
            "s.toml:6: there is no preset `windows`; there is rfc9332, linux",
        ),
        (
            r#"queue = { kind = "dualpi2", step = "1ms", ramp = { from = "1ms", width = "1ms" } }"#,
            "s.toml:6: `step` and `ramp` exclude each other; keep one",
        ),
        (
            r#"queue = { kind = "token-bucket", rate = "1Mbit/s" }"#,
            "s.toml:6: `burst` is missing; write e.g. `burst = \"5kB\"`",
        ),
        (
            r#"queue = { kind = "htb" }"#,
            "s.toml:6: `class` is missing; add `[[link.class]]` tables, each with a `name` and a `rate`",
        ),
    ] {
        assert_eq!(say(&both(queue)), expected);
    }
    let kinds = QueueConfig::NAMES.join(", ");
    assert_eq!(
        say(&both(r#"queue = { kind = "red" }"#)),
        format!("s.toml:6: there is no queue `red`; there is {kinds}")
    );
}

#[test]
fn classes_that_are_no_tree_are_refused_by_their_names() {
    let with = |from: &str, to: &str| say(&both(&HTB.replace(from, to)));
    let text = with("default = \"bulk\"", "default = \"bulky\"");
    assert_eq!(
        text,
        "s.toml:7: there is no class `bulky`; there is all, bulk, games"
    );
    let text = with("flows = [\"game\"]", "flows = [\"games\"]");
    assert_eq!(
        text,
        "s.toml:16: there is no flow `games`; there is game, download"
    );
    let text = with(
        "rate = \"10Mbit/s\"\nceil = \"20Mbit/s\"\nflows",
        "rate = \"30Mbit/s\"\nceil = \"20Mbit/s\"\nflows",
    );
    assert!(text.contains("class `games`"), "{text}");
    let text = with("default = \"bulk\"", "default = \"all\"");
    assert!(text.contains("class `all`"), "{text}");
    let text = with(
        "flows = [\"game\"]",
        "match = [{ source = \"10.1.0.0/33\" }]",
    );
    assert!(text.contains("`source` must be an address"), "{text}");
}
