//! A way back with a queue, against what can be worked out by hand.

use crate::common::{Log, part, scenario, whole, window};
use mimosa_facts::Fate;
use mimosa_scenario::load;
use mimosa_units::{Time, TimeDelta};

/// A stream that the controller cannot move, in frames of `kbps` a fiftieth of a second.
fn fixed(kbps: u32, reverse: &str) -> String {
    format!(
        r#"
duration = "5s"
[link]
rate = "20Mbit/s"
one_way_delay = "10ms"
[link.reverse]
{reverse}
[[flow]]
fps = 50
pacer = "burst"
min_bitrate = "{kbps}kbit/s"
start_bitrate = "{kbps}kbit/s"
max_bitrate = "{kbps}kbit/s"
params = {{ fallback = false, drain = false, probes = 0, frame_timeout = 1e6 }}
"#
    )
}

fn delays(text: &str) -> Vec<f64> {
    let log = Log::of(&scenario(text), 1);
    let delays = log.frames.iter().filter_map(|(_, life)| life.delay());
    delays.map(TimeDelta::as_millis).collect()
}

fn all_are(delays: &[f64], expected: f64) {
    assert!(delays.len() > 240, "{} frames", delays.len());
    for delay in delays {
        assert!((delay - expected).abs() < 1e-3, "{delay}, not {expected}");
    }
}

#[test]
fn a_report_takes_its_serialisation() {
    // 1000 B at 20 Mbit/s are 0.4 ms; a report of 72 B takes 1 ms at 576 kbit/s.
    let text = fixed(400, "rate = \"576kbit/s\"");
    all_are(&delays(&text), 0.4 + 10.0 + 1.0 + 10.0);
    // Of RFC 8888, too: it is about one packet, and a frame interval later.
    let written = delays(&format!("{text}feedback = \"rfc8888\""));
    all_are(&written, 0.4 + 10.0 + 20.0 + 1.0 + 10.0);
}

#[test]
fn reports_wait_for_each_other() {
    // 17 packets of 1177 B arrive every 0.4708 ms, and their reports leave every 1 ms from
    // the first on.
    let text = fixed(8_000, "rate = \"576kbit/s\"");
    all_are(&delays(&text), 0.4708 + 10.0 + 17.0 + 10.0);
    // One report for the frame: 20 B, 17 times 2 filled to 36, and headers of 48.
    let frame = delays(&format!("{text}feedback = \"frame\""));
    all_are(&frame, 8.0 + 10.0 + 104.0 / 72.0 + 10.0);
}

#[test]
fn a_way_back_without_a_rate_delays_nothing() {
    let reverse = "one_way_delay = \"25ms\"";
    all_are(&delays(&fixed(400, reverse)), 0.4 + 10.0 + 25.0);
}

#[test]
fn a_report_waits_behind_the_media_of_the_other_direction() {
    // Packets of 10 ms come every 5 ms, so one that has left is replaced 5 ms later. There
    // is room for ten, and one report beside them; for nine, and two or more. Who comes just
    // after a departure waits for eight or nine of them and at least 5 ms of the one on the
    // link; who comes later for at most ten, all of that one, and a few reports.
    let reverse = "rate = \"1Mbit/s\"\nqueue = { kind = \"droptail\", limit = \"12600B\" }";
    let text = fixed(400, reverse)
        + "retransmission_deadline = \"0s\"\n[[flow]]\nkind = \"cbr\"\ndirection = \"back\"\n\
           rate = \"2Mbit/s\"\npacket_size = \"1250B\"\n";
    let plain = 0.4 + 10.0 + 0.576 + 10.0;
    let scenario = scenario(&text);
    let log = Log::of(&scenario, 1);
    let late = log
        .frames
        .iter()
        .filter(|(_, life)| life.handed_over >= Time::from_millis(500));
    let mut seen = 0;
    for delay in late.filter_map(|(_, life)| life.delay()) {
        let waited = delay.as_millis() - plain;
        assert!((85.0..=112.0).contains(&waited), "{waited} ms");
        seen += 1;
    }
    let outcome = whole(&scenario, 1);
    assert!(seen > 100, "{seen} reports came");
    // The link there lost nothing, the way back half of the traffic; of its 1 Mbit/s reports
    // take 50 times 72 B a second.
    let back = &outcome.flows[1];
    assert!((back.throughput_mbps - 0.971).abs() < 0.01, "{back:?}");
    assert!((back.loss_rate.unwrap() - 0.5).abs() < 0.02, "{back:?}");
    assert_eq!(outcome.flows[0].loss_rate, Some(0.0));
}

#[test]
fn lost_reports_tell_nothing() {
    for lost in ["loss = 1.0", "burst_loss = { to_bad = 1.0, to_good = 0.0 }"] {
        let text = fixed(400, &format!("rate = \"576kbit/s\"\n{lost}"));
        assert_eq!(delays(&text), [0.0; 0], "{lost}");
        let outcome = whole(&scenario(&text), 1);
        // One report for each packet; none of the packets is lost.
        assert_eq!(outcome.link.dropped, 0);
        let feedback = outcome.flows[0].feedback.unwrap();
        assert_eq!(feedback.bytes, 72 * feedback.datagrams);
        let reports = outcome.balance.lost;
        assert!(feedback.datagrams - reports <= 1, "{reports} lost");
    }
}

#[test]
fn a_full_queue_drops_reports() {
    let queue = "rate = \"576kbit/s\"\nqueue = { kind = \"droptail\", limit = \"3packets\" }";
    let text = fixed(8_000, queue) + "retransmission_deadline = \"0s\"\n";
    let outcome = whole(&scenario(&text), 1);
    // A frame's 17 reports come within 7.5 ms, in which 7 leave; one is on the link, three
    // wait.
    let each = outcome.balance.lost as f64 / outcome.flows[0].frames as f64;
    assert!((each - 6.0).abs() < 0.05, "{each} a frame");
    assert_eq!(outcome.link.dropped, 0);
}

#[test]
fn acknowledgements_on_a_slow_way_back_clock_the_connection() {
    // An acknowledgement of 40 B takes 8 ms at 40 kbit/s and is about two segments of
    // 1500 B: 3 Mbit/s, but for one segment more a round trip. The short queue there ends
    // the slow start, which sends four for each.
    let text = r#"
duration = "60s"
[link]
rate = "50Mbit/s"
queue = { kind = "droptail", limit = "2packets" }
[link.reverse]
rate = "40kbit/s"
queue = { kind = "droptail", limit = "unlimited" }
[[flow]]
kind = "tcp"
controller = "reno"
"#;
    let outcome = part(&scenario(text), 1, window(30_000, 60_000));
    let got = outcome.flows[0].throughput_mbps;
    assert!((2.95..3.15).contains(&got), "{got} Mbit/s");
    // Without a rate back nothing is in the way.
    let free = text.replace("rate = \"40kbit/s\"\n", "");
    let outcome = part(&scenario(&free), 1, window(30_000, 60_000));
    let got = outcome.flows[0].throughput_mbps;
    assert!(got > 10.0, "{got} Mbit/s");
}

/// Both directions with all that there is.
const BUSY: &str = r#"
duration = "10s"
[link]
rate = "6Mbit/s"
jitter = { kind = "normal" }
[link.reverse]
steps = [{ at = "0s", rate = "4Mbit/s" }, { at = "4s", rate = "0.5Mbit/s" }, { at = "8s", rate = "0Mbit/s" }, { at = "9s", rate = "3Mbit/s" }]
queue = { kind = "fq-codel" }
loss = 0.01
reordering = { share = 0.01, extra = "3ms" }
[[link.next]]
rate = "5Mbit/s"
queue = { kind = "pie" }
[[flow]]
name = "there"
[[flow]]
name = "back"
direction = "back"
feedback = "rfc8888"
[[flow]]
kind = "tcp"
[[flow]]
kind = "tcp"
direction = "back"
[[flow]]
kind = "cbr"
direction = "back"
rate = "200kbit/s"
"#;

#[test]
fn every_packet_both_ways_is_accounted_for() {
    for seed in 1..=4 {
        let outcome = whole(&scenario(BUSY), seed);
        let names: Vec<_> = outcome
            .flows
            .iter()
            .filter(|flow| flow.throughput_mbps > 0.1)
            .collect();
        assert_eq!(names.len(), 5, "seed {seed}: {:?}", outcome.flows);
        // Reports are packets beside those of the flows.
        assert!(outcome.balance.offered > outcome.link.offered + 1_000);
        assert_eq!(outcome, whole(&scenario(BUSY), seed), "seed {seed}");
    }
}

#[test]
fn the_oracle_leaves_room_for_the_reports_of_the_other_direction() {
    let text = r#"
duration = "20s"
[link]
rate = "2Mbit/s"
[link.reverse]
rate = "1Mbit/s"
[[flow]]
controller = "oracle"
fps = 30
[[flow]]
controller = "oracle"
fps = 30
direction = "back"
"#;
    let outcome = part(&scenario(text), 1, window(2_000, 20_000));
    // Frames of 1 Mbit/s are 4 packets, so that reports take 30 times 4 times 72 B there:
    // 69 kbit/s; those of 2 Mbit/s are 7, and take 121 kbit/s back.
    for (flow, mbps) in outcome.flows.iter().zip([2.0 - 0.069, 1.0 - 0.121]) {
        let got = flow.throughput_mbps;
        assert!(
            (0.96 * mbps..=1.01 * mbps).contains(&got),
            "{got} of {mbps}"
        );
        // A frame interval, a round trip, and some reports before the last packet.
        let delay = flow.frame_delay_ms.unwrap().p99;
        assert!(delay < 34.0 + 20.0 + 10.0, "{delay} ms");
    }
}

#[test]
fn data_going_back_take_the_path_of_the_way_back() {
    let text = r#"
duration = "2s"
[link]
rate = "10Mbit/s"
one_way_delay = "5ms"
[link.reverse]
rate = "1Mbit/s"
one_way_delay = "30ms"
[[flow]]
kind = "cbr"
direction = "back"
rate = "500kbit/s"
packet_size = "1250B"
"#;
    let log = Log::of(&scenario(text), 1);
    for packet in &log.packets {
        let Fate::Arrived(at) = packet.fate else {
            panic!("{packet:?}");
        };
        assert_eq!(at.since(packet.offered), TimeDelta::from_millis(10 + 30));
    }
    assert!(log.packets.len() > 95);
    // Nothing of it passed the first link.
    let outcome = whole(&scenario(text), 1);
    assert_eq!(outcome.link.utilization, Some(0.0));
    let own = text.to_owned() + "one_way_delay = \"50ms\"\n";
    let log = Log::of(&scenario(&own), 1);
    let first = log.packets[0];
    let arrives = first.offered + TimeDelta::from_millis(10 + 50);
    assert_eq!(first.fate, Fate::Arrived(arrives));
}

#[test]
fn what_cannot_be_is_refused_at_its_place() {
    const HEAD: &str = "duration = '1s'\n[link]\nrate = '1Mbit/s'\n";
    for (text, message) in [
        (
            "[[flow]]\ndirection = 'back'\n",
            "run.toml:5: `[link.reverse]` is missing; `direction = \"back\"` needs it",
        ),
        (
            "[link.reverse]\n[[flow]]\ndirection = 'up'\n",
            "run.toml:6: there is no direction `up`; there is there, back",
        ),
        (
            "[link.reverse]\nrate = '0Mbit/s'\n[[flow]]\n",
            "run.toml:5: `rate` must be above zero",
        ),
        (
            "[link.reverse]\nreturn_loss = 0.1\n[[flow]]\n",
            "run.toml:5: `return_loss` means nothing for `[link.reverse]`",
        ),
        (
            "return_aggregation = '5ms'\n[link.reverse]\n[[flow]]\n",
            "run.toml:5: `return_aggregation` and `[link.reverse]` exclude each other",
        ),
        (
            "[[link.reverse.class]]\nname = 'a'\nrate = '1Mbit/s'\n[[flow]]\n",
            "run.toml:4: `class` means nothing for a simulation but in `[link]`",
        ),
        (
            "[link.reverse]\nqueue = { kind = 'htb' }\n[[flow]]\n",
            "run.toml:5: `kind = \"htb\"` means nothing for a simulation but in `[link]`",
        ),
        (
            "[link.reverse]\nqueue = { kind = 'droptail', limit = '71B' }\n[[flow]]\n",
            "run.toml:5: the queue holds 71B, less than one packet of 72B",
        ),
    ] {
        let error = load(&format!("{HEAD}{text}"), "run.toml", &mut ()).unwrap_err();
        let error = error.to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
