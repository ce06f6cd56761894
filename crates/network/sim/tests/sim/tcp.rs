//! TCP in scenarios: alone, and beside a stream.

use crate::common::{part, scenario, whole, window};
use mimosa_scenario::load;

/// 50 Mbit/s, 30 ms, 250 packets: the link of the study of HTB and L4S.
fn link(queue: &str, flows: &str) -> String {
    format!(
        r#"
duration = "40s"
[link]
rate = "50Mbit/s"
one_way_delay = "15ms"
{queue}
{flows}
"#
    )
}

const DROPTAIL: &str = r#"queue = { kind = "droptail", limit = "250packets" }"#;

#[test]
fn one_connection_fills_the_link_and_its_queue_as_the_kernels_does() {
    // Mean queueing delays of kernel TCP on such a link: reno 40 ms, cubic 46,
    // bbr 3 to 9.
    for (name, least, most) in [
        ("reno", 36.0, 44.0),
        ("cubic", 41.0, 51.0),
        ("bbr", 3.0, 9.0),
    ] {
        let flow = format!("[[flow]]\nkind = \"tcp\"\ncontroller = \"{name}\"");
        let outcome = part(&scenario(&link(DROPTAIL, &flow)), 1, window(5_000, 35_000));
        let queue = outcome.link.queue_delay_ms.unwrap().mean;
        assert!((least..most).contains(&queue), "{name}: {queue} ms");
        let used = outcome.link.utilization.unwrap();
        assert!(used > 0.97, "{name}: {used}");
        assert_eq!(outcome.flows[0].controller.as_deref(), Some(name));
    }
}

#[test]
fn a_connection_that_stops_sends_nothing_more() {
    let flow = "[[flow]]\nkind = \"tcp\"\nstart = \"10s\"\nstop = \"16s\"";
    let scenario = scenario(&link(DROPTAIL, flow));
    let queue = whole(&scenario, 1).link.queue_delay_ms.unwrap();
    // 250 packets of 1500 bytes.
    assert!(queue.max <= 60.24, "{}", queue.max);
    let after = part(&scenario, 1, window(16_000, 40_000)).link;
    assert_eq!(after.offered, 0);
    // What was in the queue, and nothing else.
    assert!(after.utilization.unwrap() < 0.003, "{after:?}");
}

#[test]
fn a_finite_and_a_limited_connection_send_what_they_have() {
    let flows = r#"
[[flow]]
kind = "tcp"
size = "2MB"
packet_size = "1000B"
overhead = "0B"
[[flow]]
kind = "tcp"
rate = "5Mbit/s"
overhead = "0B"
start = "10s"
stop = "30s"
"#;
    let outcome = whole(&scenario(&link(DROPTAIL, flows)), 1);
    let megabytes = outcome.flows[0].throughput_mbps * 40.0 / 8.0;
    assert!((1.999..2.02).contains(&megabytes), "{megabytes}");
    let limited = outcome.flows[1].throughput_mbps;
    assert!((4.95..5.05).contains(&limited), "{limited}");
}

/// As the study of HTB and L4S has it: TCP whose application offers more by and by.
#[test]
fn a_connection_in_steps_sends_at_the_rate_of_each() {
    let flow = r#"
[[flow]]
kind = "tcp"
overhead = "0B"
start = "5s"
steps = [
    { at = "0s", rate = "2Mbit/s" },
    { at = "10s", rate = "20Mbit/s" },
    { at = "20s", rate = "0bit/s" },
    { at = "30s", rate = "10Mbit/s" },
]
"#;
    let scenario = scenario(&link(DROPTAIL, flow));
    for (from, to, mbps) in [
        (0, 5_000, 0.0),
        (6_000, 10_000, 2.0),
        (12_000, 20_000, 20.0),
        (21_000, 30_000, 0.0),
        (32_000, 40_000, 10.0),
    ] {
        let sent = part(&scenario, 1, window(from, to)).flows[0].throughput_mbps;
        assert!((sent - mbps).abs() <= 0.02 * mbps, "{from}: {sent}");
    }
}

/// A stream of at most 30 Mbit/s beside a download.
fn beside(queue: &str, download: &str) -> (f64, f64, f64) {
    let flows = format!(
        r#"
[[flow]]
name = "game"
max_bitrate = "30Mbit/s"
[[flow]]
name = "download"
kind = "tcp"
controller = "{download}"
start = "5s"
"#
    );
    let outcome = part(&scenario(&link(queue, &flows)), 1, window(15_000, 40_000));
    let game = &outcome.flows[0];
    let p95 = game.frame_delay_ms.as_ref().unwrap().p95;
    (p95, game.throughput_mbps, outcome.flows[1].throughput_mbps)
}

const HTB: &str = r#"
queue = { kind = "htb", default = "rest" }
[[link.class]]
name = "all"
rate = "50Mbit/s"
[[link.class]]
name = "games"
parent = "all"
rate = "10Mbit/s"
ceil = "50Mbit/s"
match = [{ protocol = "udp" }]
queue = { kind = "sfq", limit = "63packets" }
[[link.class]]
name = "rest"
parent = "all"
rate = "10Mbit/s"
ceil = "50Mbit/s"
priority = 1
queue = { kind = "droptail", limit = "250packets" }
"#;

#[test]
fn a_class_of_its_own_keeps_the_stream_from_the_downloads_queue() {
    let (shared, _, _) = beside(DROPTAIL, "cubic");
    let (own, game, download) = beside(HTB, "cubic");
    assert!(shared > 60.0, "the queue of 250 packets is 60 ms: {shared}");
    assert!(own < 55.0 && own + 20.0 < shared, "{own} ms of its own");
    assert!(
        game > 9.0 && game + download > 45.0,
        "{game} and {download}"
    );
}

#[test]
fn a_scalable_and_a_classic_connection_share_behind_dualpi2() {
    let flows = r#"
[[flow]]
name = "prague"
kind = "tcp"
controller = "prague"
[[flow]]
name = "cubic"
kind = "tcp"
controller = "cubic"
ecn = "ect0"
"#;
    for preset in ["rfc9332", "linux"] {
        let queue = format!("queue = {{ kind = \"dualpi2\", preset = \"{preset}\" }}");
        let outcome = part(&scenario(&link(&queue, flows)), 1, window(10_000, 40_000));
        let [prague, cubic] = [0, 1].map(|flow| outcome.flows[flow].throughput_mbps);
        assert!(outcome.link.utilization.unwrap() > 0.95);
        let ratio = prague / cubic;
        assert!(
            (0.4..2.5).contains(&ratio),
            "{preset}: {prague} and {cubic}"
        );
        // Between the two queues.
        let delay = outcome.link.queue_delay_ms.unwrap();
        assert!(
            (3.0..16.0).contains(&delay.mean),
            "{preset}: {} ms",
            delay.mean
        );
    }
}

#[test]
fn what_tcp_cannot_is_refused() {
    let say = |flow: &str| {
        let text = link(DROPTAIL, &format!("[[flow]]\nkind = \"tcp\"\n{flow}"));
        load(&text, "s.toml", &mut ()).unwrap_err().to_string()
    };
    for (flow, expected) in [
        (
            "controller = \"vegas\"",
            "s.toml:9: there is no congestion control `vegas`; there is reno, cubic, dctcp, prague, bbr, bbr2, bbr3",
        ),
        (
            "fps = 60",
            "s.toml:9: `fps` means nothing for a flow of kind \"tcp\"; remove it",
        ),
        (
            "controller = \"prague\"\necn = \"ect0\"",
            "s.toml:10: `ecn` must be \"ect1\" or \"not-ect\" for this congestion control",
        ),
        (
            "rate = \"1Mbit/s\"\nsize = \"1MB\"",
            "s.toml:10: `rate` and `size` exclude each other; keep one",
        ),
        (
            "size = \"1MB\"\npages = { every = \"1s\", size = \"1MB\" }",
            "s.toml:10: `size` and `pages` exclude each other; keep one",
        ),
        (
            "pages = { every = \"1s\", size = \"1MB\", connections = 0 }",
            "s.toml:9: `connections` must be from 1 to 256",
        ),
        (
            "steps = [{ at = \"0s\", rate = \"1Mbit/s\" }]\nsize = \"1MB\"",
            "s.toml:10: `steps` and `size` exclude each other; keep one",
        ),
        (
            "steps = [{ at = \"0s\", rate = \"1Mbit/s\" }, { at = \"0s\", rate = \"2Mbit/s\" }]",
            "s.toml:9: the steps must begin with `at = \"0s\"` and go forwards in time",
        ),
    ] {
        assert_eq!(say(flow), expected);
    }
}
