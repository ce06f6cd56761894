//! Links one after the other, against what can be worked out by hand.

use std::fmt::Write;

use crate::common::{Log, part, scenario, whole, window};
use mimosa_facts::Fate;
use mimosa_scenario::load;
use mimosa_units::TimeDelta;
use proptest::prelude::*;

/// Constant traffic in packets of 1250 B over links of these rates, in Mbit/s.
fn cbr(rates: &[u32], mbps: u32) -> String {
    let mut text = format!(
        "duration = \"10s\"\n[link]\nrate = \"{}Mbit/s\"\nqueue = {QUEUE}\n",
        rates[0]
    );
    for rate in &rates[1..] {
        let _ = write!(
            text,
            "[[link.next]]\nrate = \"{rate}Mbit/s\"\nqueue = {QUEUE}\n"
        );
    }
    let _ = write!(
        text,
        "[[flow]]\nkind = \"cbr\"\nrate = \"{mbps}Mbit/s\"\npacket_size = \"1250B\"\n"
    );
    text
}

const QUEUE: &str = "{ kind = \"droptail\", limit = \"30kB\" }";

#[test]
fn a_packet_takes_its_serialisation_on_each() {
    // 1250 B take 0.5, 2 and 1 ms; propagation is 10 ms.
    let log = Log::of(&scenario(&cbr(&[20, 5, 10], 1)), 1);
    assert!(log.packets.len() > 990);
    for packet in &log.packets {
        let Fate::Arrived(at) = packet.fate else {
            panic!("{packet:?}");
        };
        assert_eq!(at.since(packet.offered), TimeDelta::from_micros(13_500));
    }
}

#[test]
fn the_slowest_link_is_the_bottleneck_and_holds_the_queue() {
    let alone = whole(&scenario(&cbr(&[5], 8)), 1);
    let outcome = whole(&scenario(&cbr(&[20, 5, 10], 8)), 1);
    let difference = outcome.flows[0].throughput_mbps - alone.flows[0].throughput_mbps;
    assert!(difference.abs() < 0.01, "{difference}");
    let lost = |outcome: &mimosa_figures::RunFigures| outcome.flows[0].loss_rate.unwrap();
    assert!((lost(&outcome) - 0.375).abs() < 0.01, "{}", lost(&outcome));
    assert!((lost(&outcome) - lost(&alone)).abs() < 1e-3);
    // The first link's figures: 8 of 20 Mbit/s, and nothing waits.
    assert!((outcome.link.utilization.unwrap() - 0.4).abs() < 1e-3);
    assert!(outcome.link.queue_delay_ms.unwrap().max <= 0.0);
    // On the second wait 24 packets of 2 ms, 23 and a part before the last.
    let log = Log::of(&scenario(&cbr(&[20, 5], 8)), 1);
    let waits = log.packets.iter().filter_map(|packet| {
        let since = packet.started?.since(packet.offered);
        Some(since.as_millis() - 0.5)
    });
    let worst = waits.fold(0.0, f64::max);
    assert!((46.0..=48.0).contains(&worst), "{worst} ms");
}

#[test]
fn flows_may_share_one_link_of_several() {
    let flow = |rest: &str| {
        format!("[[flow]]\nkind = \"cbr\"\nrate = \"4Mbit/s\"\npacket_size = \"1250B\"\n{rest}\n")
    };
    let text = cbr(&[10, 100, 10], 1)
        + &flow("leaves = 1")
        + &flow("enters = 3")
        + &flow("enters = 2\nleaves = 2");
    let outcome = whole(&scenario(&text), 1);
    // Nobody is too much for any link, as all over one were.
    assert_eq!(outcome.link.dropped, 0);
    // The first two flows.
    assert!((outcome.link.utilization.unwrap() - 0.5).abs() < 1e-3);
    let all = text
        .replace("enters", "# enters")
        .replace("leaves", "# leaves");
    assert!(whole(&scenario(&all), 1).link.dropped > 1_000);
}

#[test]
fn what_leaves_makes_room_for_what_comes_in_the_same_moment() {
    // The first link hands over a packet each millisecond, as the second is through with
    // one. Since 5.5 ms another one waits there, and there is room for no more.
    let text = r#"
duration = "1s"
[link]
rate = "10Mbit/s"
[[link.next]]
rate = "10Mbit/s"
queue = { kind = "droptail", limit = "1packets" }
[[flow]]
kind = "cbr"
rate = "10Mbit/s"
packet_size = "1250B"
[[flow]]
kind = "cbr"
enters = 2
rate = "10Mbit/s"
packet_size = "1250B"
start = "5.5ms"
stop = "6ms"
"#;
    let outcome = whole(&scenario(text), 1);
    assert_eq!(outcome.link.dropped, 0);
    let log = Log::of(&scenario(text), 1);
    let late = log.packets.iter().filter(|packet| {
        let started = packet.started.map(|at| at.since(packet.offered));
        packet.packet.flow == 0 && started == Some(TimeDelta::from_millis(2))
    });
    assert!(late.count() > 980, "one waits all the time");
}

#[test]
fn the_oracle_is_told_of_the_slowest_link() {
    let text = r#"
duration = "20s"
[link]
rate = "10Mbit/s"
[[link.next]]
steps = [{ at = "0s", rate = "12Mbit/s" }, { at = "10s", rate = "4Mbit/s" }]
[[link.next]]
rate = "8Mbit/s"
[[flow]]
controller = "oracle"
"#;
    for (from, to, mbps) in [(2_000, 10_000, 8.0), (11_000, 20_000, 4.0)] {
        let outcome = part(&scenario(text), 1, window(from, to));
        let got = outcome.flows[0].throughput_mbps;
        assert!((0.96 * mbps..=mbps).contains(&got), "{got} of {mbps}");
        // Its interval, a round trip, and a packet's serialisation on the others.
        let delay = outcome.flows[0].frame_delay_ms.unwrap().p99;
        assert!(delay < 17.5 + 20.0 + 2.5, "{delay} ms");
    }
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    const HEAD: &str = "duration = '1s'\n[link]\nrate = '1Mbit/s'\n[[link.next]]\n";
    for (text, message) in [
        ("[[flow]]\n", "run.toml:4: the link has no rate"),
        (
            "rate = '1Mbit/s'\nloss = 0.1\n[[flow]]\n",
            "run.toml:6: `loss` means nothing for `[[link.next]]`",
        ),
        (
            "rate = '1Mbit/s'\nqueue = { kind = 'droptail', limit = '1199B' }\n[[flow]]\n",
            "run.toml:6: the queue holds 1199B, less than one packet of 1.2kB",
        ),
        (
            "rate = '1Mbit/s'\n[[flow]]\nenters = 0\n",
            "run.toml:7: `enters` must be the number of a link",
        ),
        (
            "rate = '1Mbit/s'\n[[flow]]\nleaves = 3\n",
            "run.toml:7: `leaves` must be the number of a link",
        ),
        (
            "rate = '1Mbit/s'\n[[flow]]\nenters = 2\nleaves = 1\n",
            "run.toml:7: `enters` must be the number of a link",
        ),
    ] {
        let error = load(&format!("{HEAD}{text}"), "run.toml", &mut ()).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    /// Whatever the links: every packet is accounted for, and no link carries more than
    /// it can.
    #[test]
    fn no_packet_is_lost_track_of(
        rates in prop::collection::vec(1u32..20, 1..5),
        reverse in prop::option::of((50u32..5_000, 0.0..0.3f64)),
        flows in prop::collection::vec((1usize..5, 1usize..5, 0usize..3, prop::bool::ANY), 1..5),
        feedback in prop::sample::select(vec!["packet", "frame", "20ms", "rfc8888", "transport-cc-01"]),
        queue in prop::sample::select(vec!["droptail\", limit = \"20packets", "pie", "fq-codel", "codel", "sfq"]),
        seed in 0u64..1000,
    ) {
        let mut text = format!(
            "duration = \"3s\"\n[link]\nrate = \"{}Mbit/s\"\nqueue = {{ kind = \"{queue}\" }}\n",
            rates[0]
        );
        for rate in &rates[1..] {
            let _ = write!(text, "[[link.next]]\nrate = \"{rate}Mbit/s\"\nqueue = {{ kind = \"{queue}\" }}\n");
        }
        if let Some((kbps, loss)) = reverse {
            let _ = write!(text, "[link.reverse]\nrate = \"{kbps}kbit/s\"\nloss = {loss}\nqueue = {{ kind = \"{queue}\" }}\n");
        }
        for (first, second, kind, is_back) in flows {
            let (first, second) = (first.min(rates.len()), second.min(rates.len()));
            let kind = ["video\"\nfeedback = \"FEEDBACK", "tcp", "cbr\"\nrate = \"1Mbit/s"][kind];
            let kind = kind.replace("FEEDBACK", feedback);
            let direction = if is_back && reverse.is_some() { "back" } else { "there" };
            let _ = write!(
                text,
                "[[flow]]\nenters = {}\nleaves = {}\ndirection = \"{direction}\"\nkind = \"{kind}\"\n",
                first.min(second), first.max(second)
            );
        }
        let outcome = whole(&scenario(&text), seed);
        prop_assert!(outcome.link.utilization.unwrap_or(0.0) <= 1.0 + 1e-6);
        prop_assert!(outcome.link.offered >= outcome.link.delivered + outcome.link.dropped);
    }
}
