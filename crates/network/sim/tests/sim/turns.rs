//! The Mimosa controller over media that serve packets in turns: what it uses, how late its frames are,
//! and what each of its rules for such media does.

use std::fmt::Write;

use crate::common::{part, scenario, window};

const LTE: &str = r#"medium = { kind = "cell", generation = "lte" }"#;
const NR: &str = r#"medium = { kind = "cell", generation = "nr" }"#;
const NR_OTHERS: &str = r#"
    medium = { kind = "cell", generation = "nr", others = { count = 3, on = "200ms", off = "800ms" } }"#;
const TURNS_OF_10: &str = "rate = \"20Mbit/s\"\ntick = \"10ms\"";
const TURNS_OF_20: &str = "rate = \"20Mbit/s\"\ntick = \"20ms\"";
const WIFI_N: &str = r#"medium = { kind = "wifi", standard = "n" }"#;

/// What the stream sent, and what of it arrived in 50 ms, in Mbit/s, and the share of frames above that:
/// means over seeds 1 to 4 of 3 to 20 s.
fn over(link: &str, params: &str) -> (f64, f64, f64) {
    over_path(link, 10, "feedback = \"frame\"", params)
}

/// What [`over`] gives, for a path of this one-way delay in ms and with these reports.
fn over_path(link: &str, one_way_delay: u32, reports: &str, params: &str) -> (f64, f64, f64) {
    let text = format!(
        r#"
        duration = "20s"
        [link]
        one_way_delay = "{one_way_delay}ms"
        queue = {{ kind = "droptail", limit = "500kB" }}
        {link}
        [link.reverse]
        queue = {{ kind = "droptail", limit = "50kB" }}
        [[flow]]
        name = "game"
        controller = "mimosa"
        params = {{ {params} }}
        {reports}
        max_bitrate = "100Mbit/s"
        "#
    );
    let scenario = scenario(&text);
    let (mut sent, mut valid, mut late) = (0.0, 0.0, 0.0);
    for seed in 1..=4 {
        let figures = part(&scenario, seed, window(3_000, 20_000));
        let game = &figures.flows[0];
        sent += game.bitrate_mbps.unwrap() / 4.0;
        valid += game.valid_bitrate_mbps.unwrap() / 4.0;
        late += game.stall_50ms.unwrap() / 4.0;
    }
    (sent, valid, late)
}

#[test]
fn it_uses_radios_and_is_seldom_late() {
    let mut wrong = String::new();
    // Most of a frame's 50 ms over LTE are the round trip and the wait for a slot.
    for (name, link, least, most_late) in [
        ("LTE", LTE, 13.0, 0.20),
        ("NR", NR, 88.0, 0.10),
        ("NR, others", NR_OTHERS, 51.0, 0.32),
        ("turns of 10 ms", TURNS_OF_10, 18.2, 0.03),
        ("turns of 20 ms", TURNS_OF_20, 14.5, 0.18),
        ("802.11n", WIFI_N, 97.0, 0.02),
    ] {
        let (sent, valid, late) = over(link, "");
        if valid < least || late > most_late {
            writeln!(wrong, "{name}: {sent:.1}, {valid:.1} Mbit/s, {late:.3}").unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Without the deadline frames fill the link, and most of LTE's are late.
#[test]
fn the_deadline_trades_bitrate_for_frames_in_time() {
    for (link, gain) in [(LTE, 1.25), (TURNS_OF_20, 1.15)] {
        let (sent, valid, late) = over(link, "");
        let (more, less_valid, more_late) = over(link, "deadline = \"0s\"");
        assert!(
            more > sent && valid > gain * less_valid,
            "{valid} {less_valid}"
        );
        assert!(late < 0.5 * more_late, "{late} {more_late}");
    }
}

/// No frame can be in time on a path longer than that, and on a serialiser the size of a frame follows from
/// the link alone, however many are late: the deadline changes nothing there.
#[test]
fn the_deadline_holds_where_it_can_be_kept_and_a_link_serves_in_turns() {
    let interval = "feedback = \"25ms\"";
    for (link, one_way_delay, reports) in [
        (LTE, 20, "feedback = \"frame\""),
        ("rate = \"20Mbit/s\"", 10, interval),
    ] {
        let with = |params| over_path(link, one_way_delay, reports, params);
        let (deadline, none) = (with(""), with("deadline = \"0s\""));
        assert!(none.2 > 0.4, "many are late: {none:?}");
        assert_eq!(deadline, none, "{link}");
    }
}

/// Frames that leave at the rate of the link miss the beginning of their turn.
#[test]
fn frames_that_leave_faster_are_served_earlier() {
    for link in [LTE, NR_OTHERS] {
        let (_, valid, _) = over(link, "");
        let (_, paced, _) = over(link, "turns_pace_gain = 1.0");
        assert!(valid > 1.05 * paced, "{valid} {paced}");
    }
}

/// A path that delays each packet by another time brings packets in bunches, as a link that serves in turns does. The cause
/// is that its delays count as noise: with `jitter_from` above the most that trains can show, they never do, and two thirds of
/// the link are used.
#[test]
fn delays_that_differ_from_packet_to_packet_leave_the_link_used() {
    let link = "rate = \"20Mbit/s\"\njitter = { kind = \"normal\" }";
    let (sent, valid, late) = over(link, "");
    assert!(sent > 17.0 && valid > 16.3, "{sent} {valid}");
    assert!(late < 0.06, "{late}");
    let never = "jitter_from = 1.0";
    let (without, ..) = over(link, never);
    assert!(without < 14.5, "{without}");
    // Leading packets that leave a turn together have no delays of their own.
    assert_eq!(over(TURNS_OF_10, ""), over(TURNS_OF_10, never));
}
