//! Whole runs over media: Wi-Fi, cells, cables and satellites.

use mimosa_scenario::load;
use mimosa_units::TimeDelta;

use crate::common::{Log, part, scenario, window};

/// A stream beside uploads on 802.11n, with TCP in both directions.
const HOME: &str = r#"
    duration = "12s"
    [link]
    one_way_delay = "10ms"
    queue = { kind = "fq-codel" }
    [link.medium]
    kind = "wifi"
    standard = "n"
    [[link.medium.station]]
    name = "sofa"
    flows = ["game", "movie"]
    rates = ["65Mbit/s", "130Mbit/s"]
    failed = 0.05
    lost = 0.02
    [[link.medium.neighbour]]
    count = 2
    sends = "15Mbit/s"
    on = "200ms"
    off = "300ms"
    [[flow]]
    name = "game"
    max_bitrate = "20Mbit/s"
    feedback = "rfc8888"
    [[flow]]
    name = "movie"
    kind = "tcp"
    start = "2s"
    [[flow]]
    name = "backup"
    kind = "tcp"
    direction = "back"
    start = "4s"
    "#;

const CELL: &str = r#"
    duration = "12s"
    [link]
    one_way_delay = "10ms"
    queue = { kind = "droptail", limit = "300kB" }
    [link.medium]
    kind = "cell"
    generation = "nr"
    others = { count = 3, on = "200ms", off = "300ms" }
    handovers = { every = "4s", length = "60ms" }
    [link.reverse]
    queue = { kind = "droptail", limit = "50kB" }
    [[flow]]
    name = "game"
    [[flow]]
    name = "cloud"
    kind = "tcp"
    direction = "back"
    start = "2s"
    "#;

/// A cable with an upload, whose modem meets collisions and other modems.
const CABLE: &str = r#"
    duration = "12s"
    [link]
    one_way_delay = "10ms"
    queue = { kind = "pie" }
    [link.medium]
    kind = "docsis"
    rate = "40Mbit/s"
    rate_back = "10Mbit/s"
    collisions = 0.2
    others = { share = 0.5, on = "200ms", off = "300ms" }
    [link.reverse]
    queue = { kind = "droptail", limit = "50kB" }
    [[flow]]
    name = "game"
    feedback = "rfc8888"
    [[flow]]
    name = "backup"
    kind = "tcp"
    direction = "back"
    start = "2s"
    "#;

/// A satellite link with more changes than a real one has.
const SATELLITE: &str = r#"
    duration = "12s"
    [link]
    one_way_delay = "5ms"
    queue = { kind = "droptail", limit = "500kB" }
    [link.medium]
    kind = "satellite"
    period = "2s"
    gap = "60ms"
    [link.reverse]
    queue = { kind = "droptail", limit = "50kB" }
    [[flow]]
    name = "game"
    feedback = "rfc8888"
    [[flow]]
    name = "backup"
    kind = "tcp"
    direction = "back"
    start = "2s"
    "#;

/// A link in turns of 10 ms, there and back.
const TURNS: &str = r#"
    duration = "12s"
    [link]
    rate = "20Mbit/s"
    tick = "10ms"
    one_way_delay = "10ms"
    queue = { kind = "droptail", limit = "50kB" }
    [link.reverse]
    rate = "2Mbit/s"
    tick = "10ms"
    [[flow]]
    name = "game"
    [[flow]]
    name = "movie"
    kind = "tcp"
    start = "4s"
    "#;

/// Every packet has one fate, and the same seed gives the same run.
#[test]
fn packets_of_both_directions_are_conserved_and_runs_repeat() {
    for text in [HOME, CELL, CABLE, SATELLITE, TURNS] {
        let scenario = scenario(text);
        let course = |seed| {
            let log = Log::of(&scenario, seed);
            assert!(log.frames.len() > 600, "{}", log.frames.len());
            log.packets
        };
        for seed in 1..=4 {
            assert_eq!(course(seed), course(seed), "seed {seed}");
        }
        assert_ne!(course(1), course(2));
    }
}

/// Mean and 95th percentile of the frame delay, and Mbit/s, of the first flow from second 3 on.
fn figures(text: &str, seed: u64) -> (f64, f64, f64) {
    let scenario = scenario(text);
    let seconds = scenario.duration.as_nanos() / 1_000_000;
    let figures = part(
        &scenario,
        seed,
        window(3_000, u64::try_from(seconds).unwrap()),
    );
    let flow = &figures.flows[0];
    let delay = flow.frame_delay_ms.unwrap();
    (delay.mean, delay.p95, flow.throughput_mbps)
}

/// A stream of fixed rate on 802.11n with neighbours that upload.
fn beside(neighbours: u32, medium: &str) -> String {
    let uploads = if neighbours > 0 {
        format!("[[link.medium.neighbour]]\ncount = {neighbours}\n")
    } else {
        String::new()
    };
    format!(
        r#"
        duration = "10s"
        [link]
        one_way_delay = "10ms"
        queue = {{ kind = "droptail", limit = "500kB" }}
        [link.medium]
        kind = "wifi"
        standard = "n"
        {medium}
        {uploads}
        [[flow]]
        name = "game"
        controller = "fixed"
        start_bitrate = "5Mbit/s"
        feedback = "frame"
        "#
    )
}

/// The cause of the delay is contention: without neighbours it is gone, and reports contend too.
#[test]
fn frames_wait_for_the_air_where_others_have_it() {
    for seed in 1..=3 {
        let (alone, _, rate) = figures(&beside(0, ""), seed);
        let (contended, late, contended_rate) = figures(&beside(4, ""), seed);
        assert!((4.9..5.3).contains(&rate), "seed {seed}: {rate}");
        assert!(
            (4.8..5.3).contains(&contended_rate),
            "seed {seed}: {contended_rate}"
        );
        assert!((24.0..28.0).contains(&alone), "seed {seed}: {alone} ms");
        assert!(
            (40.0..66.0).contains(&contended),
            "seed {seed}: {contended} ms"
        );
        assert!((75.0..115.0).contains(&late), "seed {seed}: {late} ms");
    }
}

/// With packets that arrive as in ns-3, a report that needs no back-off comes sooner.
#[test]
fn a_station_that_answers_at_once_has_shorter_frame_delays() {
    let mean = |medium| {
        let sum: f64 = (1..=8)
            .map(|seed| figures(&beside(4, medium), seed).0)
            .sum();
        sum / 8.0
    };
    let (draws, at_once) = (mean(""), mean("answers_at_once = true"));
    assert!(at_once + 3.0 < draws, "{at_once}, {draws}");
}

#[test]
fn a_cells_repeats_and_grants_delay_frames() {
    let cell = |keys: &str| {
        format!(
            r#"
            duration = "10s"
            [link]
            one_way_delay = "10ms"
            queue = {{ kind = "droptail", limit = "500kB" }}
            medium = {{ kind = "cell", generation = "lte"{keys} }}
            [[flow]]
            name = "game"
            controller = "fixed"
            start_bitrate = "5Mbit/s"
            feedback = "frame"
            "#
        )
    };
    for seed in 1..=3 {
        let (mean, ..) = figures(&cell(""), seed);
        let (unfailing, ..) = figures(&cell(", failed = 0.0"), seed);
        let (granted, ..) = figures(
            &cell(", failed = 0.0, request = \"0s\", grant = \"0s\""),
            seed,
        );
        assert!((35.0..50.0).contains(&mean), "seed {seed}: {mean} ms");
        assert!(unfailing + 0.5 < mean, "seed {seed}: {unfailing}, {mean}");
        // Without requests, reports save the mean wait for an occasion and the grant.
        let saved = unfailing - granted;
        assert!((6.0..11.0).contains(&saved), "seed {seed}: {saved} ms");
    }
}

/// The cause of the delay is the wait for grants: proactive ones shorten it, and collisions and
/// longer intervals lengthen it.
#[test]
fn a_cables_reports_wait_for_their_grants() {
    let cable = |keys: &str| {
        format!(
            r#"
            duration = "10s"
            [link]
            one_way_delay = "10ms"
            queue = {{ kind = "droptail", limit = "500kB" }}
            medium = {{ kind = "docsis"{keys} }}
            [[flow]]
            name = "game"
            controller = "fixed"
            start_bitrate = "5Mbit/s"
            feedback = "frame"
            "#
        )
    };
    for seed in 1..=3 {
        let mean = |keys: &str| {
            let (mean, _, rate) = figures(&cable(keys), seed);
            assert!((4.9..5.3).contains(&rate), "seed {seed}: {rate}");
            mean
        };
        let plain = mean("");
        // 20 ms of propagation, 2 of latency and serialisation, and 5 ms of the grant.
        assert!((25.0..33.0).contains(&plain), "seed {seed}: {plain} ms");
        let saved = plain - mean(", proactive = \"1Mbit/s\"");
        assert!((3.5..4.5).contains(&saved), "seed {seed}: {saved} ms");
        let added = mean(", interval = \"4ms\"") - plain;
        assert!((4.0..6.0).contains(&added), "seed {seed}: {added} ms");
        let added = mean(", collisions = 0.3") - plain;
        assert!((1.5..4.5).contains(&added), "seed {seed}: {added} ms");
    }
}

/// The causes of the delay are radio frames and gaps: longer radio frames delay reports, and gaps
/// delay what is sent in them.
#[test]
fn a_satellites_radio_frames_and_gaps_delay_a_stream() {
    let satellite = |keys: &str| {
        format!(
            r#"
            duration = "30s"
            [link]
            one_way_delay = "0s"
            queue = {{ kind = "droptail", limit = "5MB" }}
            medium = {{ kind = "satellite", period = "2s", latency = ["20ms", "20ms"]{keys} }}
            [[flow]]
            name = "game"
            controller = "fixed"
            start_bitrate = "5Mbit/s"
            feedback = "frame"
            "#
        )
    };
    for seed in 1..=3 {
        let (calm, late, rate) = figures(&satellite(", gap = \"0s\""), seed);
        assert!((4.9..5.3).contains(&rate), "seed {seed}: {rate}");
        // 20 ms each way, the time over which a frame is paced, and half a radio frame.
        assert!((45.0..51.0).contains(&calm), "seed {seed}: {calm} ms");
        assert!((calm..53.0).contains(&late), "seed {seed}: {late} ms");
        let (slow, ..) = figures(&satellite(", gap = \"0s\", frame = \"20ms\""), seed);
        let added = slow - calm;
        assert!((6.5..9.5).contains(&added), "seed {seed}: {added} ms");
        let gaps = ", gap = \"200ms\", lost = 0.0";
        let (held, very_late, rate) = figures(&satellite(gaps), seed);
        assert!((4.8..5.3).contains(&rate), "seed {seed}: {rate}");
        assert!(
            (calm + 3.0..calm + 45.0).contains(&held),
            "seed {seed}: {held} ms"
        );
        assert!(
            (100.0..600.0).contains(&very_late),
            "seed {seed}: {very_late} ms"
        );
    }
}

/// What a link in turns adds to each frame: the wait for the turn, and for that of its report.
#[test]
fn a_link_in_turns_adds_the_waits_for_them() {
    let link = |tick: &str| {
        format!(
            r#"
            duration = "10s"
            [link]
            rate = "20Mbit/s"
            {tick}
            one_way_delay = "10ms"
            queue = {{ kind = "droptail", limit = "500kB" }}
            [[flow]]
            name = "game"
            controller = "fixed"
            start_bitrate = "5Mbit/s"
            pacer = "burst"
            feedback = "frame"
            "#
        )
    };
    let plain = figures(&link(""), 1);
    for (tick, least, most) in [("10ms", 4.0, 7.0), ("20ms", 8.0, 13.0)] {
        for seed in 1..=3 {
            let (mean, _, rate) = figures(&link(&format!("tick = \"{tick}\"")), seed);
            // A frame's own 4.2 ms of the link are gone, and half a turn is waited for.
            let added = mean - (plain.0 - 4.2);
            assert!(
                (least..most).contains(&added),
                "{tick}, seed {seed}: {added} ms"
            );
            assert!((plain.2 - rate).abs() < 0.1, "{tick}, seed {seed}: {rate}");
        }
    }
}

/// Why a scenario with this link is refused.
fn refused(link: &str) -> String {
    let text = format!("duration = \"1s\"\n[link]\n{link}\n[[flow]]\nname = \"game\"\n");
    load(&text, "run.toml", &mut ()).unwrap_err().to_string()
}

#[test]
fn a_medium_is_refused_where_it_means_nothing() {
    let wifi = "medium = { kind = \"wifi\", standard = \"n\" }";
    for (link, expected) in [
        (
            format!("rate = \"5Mbit/s\"\n{wifi}"),
            "run.toml:3: `rate` means nothing for a link with a `medium`, which serves packets in its own time; remove it",
        ),
        (
            "rate = \"5Mbit/s\"\ntick = \"2s\"".to_owned(),
            "run.toml:4: `tick` must be from 10us to 1s",
        ),
        (
            format!("{wifi}\n[link.reverse]\nrate = \"5Mbit/s\""),
            "run.toml:5: `rate` means nothing for `[link.reverse]` beside a `medium`, which serves both ways; remove it",
        ),
        (
            format!("rate = \"5Mbit/s\"\n[link.reverse]\n{wifi}"),
            "run.toml:5: `medium` means nothing for `[link.reverse]`; say it of `[link]`, which shares it; remove it",
        ),
        (
            format!("{wifi}\n[[link.next]]\n{wifi}"),
            "run.toml:5: `medium` means nothing for a second link; one medium serves one way there and back; remove it",
        ),
        (
            "medium = { kind = \"air\" }".to_owned(),
            "run.toml:3: there is no medium `air`; there is wifi, cell, docsis, satellite",
        ),
        (
            "medium = { kind = \"wifi\" }".to_owned(),
            "run.toml:3: `standard` is missing; write `standard = \"n\"`, \"ac\" or \"ax\"",
        ),
        (
            "medium = { kind = \"wifi\", standard = \"n\", slot = \"1ms\" }".to_owned(),
            "run.toml:3: `slot` means nothing for a medium of kind \"wifi\", which has standard, rates, hold, failed, lost, longest, buffer, capture, beacons, at_once, answers_at_once, carries, station, neighbour",
        ),
        (
            "medium = { kind = \"wifi\", standard = \"n\", station = [{ name = \"a\", flows = [\"game\", \"film\"] }] }".to_owned(),
            "run.toml:3: there is no flow `film`; there is game",
        ),
        (
            "medium = { kind = \"wifi\", standard = \"n\", neighbour = [{ on = \"1s\" }] }".to_owned(),
            "run.toml:3: `sends` is missing; a neighbour that pauses has `sends = \"50Mbit/s\"`, `on = \"200ms\"` and `off = \"800ms\"`",
        ),
        (
            "medium = { kind = \"cell\", generation = \"lte\", pattern = \"DDD\" }".to_owned(),
            "run.toml:3: `pattern` must be a text of up to 80 letters: D and S or F, and U or F, e.g. \"DDDSU\"",
        ),
        (
            "medium = { kind = \"cell\", generation = \"lte\", handovers = { every = \"1s\", length = \"2s\" } }".to_owned(),
            "run.toml:3: `length` must be shorter than `every`",
        ),
        (
            "medium = { kind = \"cell\", generation = \"lte\", handovers = { every = \"1s\" } }".to_owned(),
            "run.toml:3: `length` is missing; write `handovers = { every = \"4s\", length = \"60ms\" }`",
        ),
        (
            "medium = { kind = \"cell\", generation = \"lte\", others = { off = \"1s\" } }".to_owned(),
            "run.toml:3: `on` is missing; others that pause have `on = \"200ms\"` and `off = \"300ms\"`",
        ),
    ] {
        assert_eq!(refused(&link), expected);
    }
}

/// Each of these keys of a medium is refused with this message.
fn keys_are_refused(kind: &str, all: &[(&str, &str)]) {
    for (keys, expected) in all {
        let message = refused(&format!("medium = {{ kind = \"{kind}\", {keys} }}"));
        assert_eq!(message, format!("run.toml:3: {expected}"));
    }
}

#[test]
fn keys_of_a_cable_are_refused_with_what_to_write() {
    let refused = [
        (
            "rates = []",
            "`rates` means nothing for a medium of kind \"docsis\", which has rate, rate_back, latency, interval, answer, collisions, others, proactive",
        ),
        ("rate = \"0bit/s\"", "`rate` must be above zero"),
        (
            "rate_back = \"1kbit/s\"",
            "`rate_back` must be a byte or more in each interval",
        ),
        ("latency = \"2s\"", "`latency` must be from 0s to 1s"),
        ("interval = \"10us\"", "`interval` must be from 100us to 1s"),
        ("answer = 0", "`answer` must be a number from 1 to 100"),
        (
            "collisions = 1.0",
            "`collisions` must be a share from 0 to 0.9",
        ),
        (
            "others = {}",
            "`share` is missing; write `others = { share = 0.5 }`",
        ),
        (
            "others = { share = 0.95 }",
            "`share` must be a share above 0, up to 0.9",
        ),
        (
            "others = { share = 0.5, on = \"1s\" }",
            "`off` is missing; others that pause have `on = \"200ms\"` and `off = \"300ms\"`",
        ),
        (
            "proactive = \"30Mbit/s\"",
            "`proactive` must be at most `rate_back`",
        ),
    ];
    keys_are_refused("docsis", &refused);
}

#[test]
fn keys_of_a_satellite_are_refused_with_what_to_write() {
    let refused = [
        (
            "rate = \"5Mbit/s\"",
            "`rate` means nothing for a medium of kind \"satellite\", which has period, offset, latency, rates, rates_back, gap, lost, frame",
        ),
        ("period = \"500ms\"", "`period` must be from 1s to 1h"),
        (
            "offset = \"15s\"",
            "`offset` must be from 0s on and shorter than `period`",
        ),
        (
            "latency = [\"10ms\"]",
            "`latency` must be the least and the most, from 0s to 1s, e.g. [\"10ms\", \"30ms\"]",
        ),
        (
            "latency = [\"30ms\", \"10ms\"]",
            "`latency` must be the least and the most, from 0s to 1s, e.g. [\"10ms\", \"30ms\"]",
        ),
        (
            "rates = []",
            "`rates` must be a list of one to a hundred rates above zero, e.g. [\"130Mbit/s\"]",
        ),
        (
            "rates_back = [\"0bit/s\"]",
            "`rates_back` must be a list of one to a hundred rates above zero, e.g. [\"130Mbit/s\"]",
        ),
        ("gap = \"2s\"", "`gap` must be from 0s to 1s"),
        ("lost = 1.5", "`lost` must be a share between 0 and 1"),
        ("frame = \"0s\"", "`frame` must be from 100us to 1s"),
    ];
    keys_are_refused("satellite", &refused);
}

/// A medium is the last hop of a path whose first link is a serialiser.
#[test]
fn a_medium_may_come_after_another_link() {
    let scenario = scenario(
        r#"
        duration = "6s"
        [link]
        rate = "20Mbit/s"
        one_way_delay = "5ms"
        queue = { kind = "droptail", limit = "100kB" }
        [[link.next]]
        medium = { kind = "wifi", standard = "ac" }
        [[flow]]
        name = "game"
        "#,
    );
    let links: Vec<_> = scenario.links().collect();
    assert_eq!(links.len(), 3, "the medium serves the way back as well");
    for seed in 1..=2 {
        let figures = part(&scenario, seed, window(2_000, 6_000));
        let flow = &figures.flows[0];
        assert!(
            (17.0..20.0).contains(&flow.throughput_mbps),
            "{}",
            flow.throughput_mbps
        );
        assert!(flow.frame_delay_ms.unwrap().p95 < TimeDelta::from_millis(40).as_millis());
    }
}
