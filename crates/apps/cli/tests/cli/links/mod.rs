//! Reports on recorded links: alone, and joined with a session. Both recordings are of
//! one simulation, which knows the truth.

mod truth;

use std::path::PathBuf;

use mimosa_facts::{
    Fate, FrameEnd, LinkPacket, MediaSequence, PacketKind, Passage, RtpPacket, SessionFrame,
};
use mimosa_figures::RunFigures;
use mimosa_units::{Bytes, Time, nearest_rank};
use serde_json::Value;

use crate::{folder, mimosa, stdout};
use truth::{CAPACITY, OFFSET, Truth, passage, record, record_as};

fn near(value: &Value, expected: f64, within: f64, what: &str) {
    let value = value.as_f64().unwrap();
    let is_near = (value - expected).abs() <= within;
    assert!(is_near, "{what}: {value} instead of {expected}");
}

fn percentile(sorted: &[f64], share: f64) -> f64 {
    nearest_rank(sorted, share).unwrap()
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// A simulation that was recorded in a folder, and what is reported of it.
struct Joined {
    here: PathBuf,
    truth: Truth,
    figures: RunFigures,
    frames: Vec<SessionFrame>,
    link: Value,
}

impl Joined {
    fn new(name: &str) -> Self {
        let here = folder(name);
        let (truth, figures) = Truth::new();
        let frames = truth.session();
        record(&here, &frames, &truth.link());
        let json = stdout(&here, "report session.parquet --link link.parquet --json");
        let report: Value = serde_json::from_str(&json).unwrap();
        Self {
            here,
            truth,
            figures,
            frames,
            link: report["links"][0].clone(),
        }
    }
}

#[test]
fn every_packet_is_found_by_its_number_at_its_time() {
    let Joined { truth, link, .. } = Joined::new("links-packets");
    assert_eq!(link["clock"]["offset_ns"], OFFSET.as_nanos());
    near(
        &link["clock"]["beside_wall_clocks_ms"],
        -3.0,
        1e-6,
        "wall clocks",
    );
    let over = link["clock"]["at_most_over_ms"].as_f64().unwrap();
    assert!(
        (8.0..10.0).contains(&over),
        "the way back takes 8 ms, not {over}"
    );
    let of_frames = truth
        .packets
        .iter()
        .filter(|packet| packet.packet.flow == 0 && packet.packet.kind != Some(PacketKind::Probe));
    let (of_frames, inside) = (of_frames.count(), count(&link["missing"]));
    assert_eq!(count(&link["packets"]), of_frames);
    assert!(inside < 40, "{inside} were still on their way");
    assert!(truth.packets.len() > 70_000, "the numbers wrap");
}

#[test]
fn the_parts_of_a_frame_delay_are_those_of_its_last_packet() {
    let Joined {
        truth,
        figures,
        frames,
        link,
        ..
    } = Joined::new("links-delay");
    let delay = &link["delay_ms"];
    let acknowledged = frames.iter().filter(|frame| frame.life.delay().is_some());
    assert_eq!(count(&delay["frames"]), acknowledged.count());
    let waits = truth.last_waits();
    near(
        &delay["p50"]["queue"],
        percentile(&waits, 0.5),
        1e-9,
        "queue, p50",
    );
    near(
        &delay["p95"]["queue"],
        percentile(&waits, 0.95),
        1e-9,
        "queue, p95",
    );
    for kind in ["typical", "slow"] {
        let parts = ["pace", "queue", "serialise", "propagate", "rest"];
        let sum: f64 = parts
            .iter()
            .map(|part| delay[kind][part].as_f64().unwrap())
            .sum();
        near(&delay[kind]["delay"], sum, 1e-6, kind);
        near(&delay[kind]["propagate"], 8.0, 1e-6, "propagation");
        near(&delay[kind]["rest"], 8.0, 0.5, "the way back");
    }
    let told = figures.flows[0].frame_delay_ms.unwrap();
    near(
        &delay["p50"]["delay"],
        told.p50,
        told.p50 * 0.01,
        "frame delay, p50",
    );
    near(
        &delay["p95"]["delay"],
        told.p95,
        told.p95 * 0.01,
        "frame delay, p95",
    );
}

#[test]
fn traffic_is_what_the_simulation_counted() {
    let Joined {
        truth,
        figures,
        link,
        ..
    } = Joined::new("links-traffic");
    let traffic = &link["traffic"];
    assert_eq!(traffic["direction"], "forward");
    let all = &traffic["all"];
    let within = u64::try_from(count(&all["packets"])).unwrap();
    assert!(
        within.abs_diff(figures.link.offered) < 40,
        "{within} packets"
    );
    let gone = count(&all["dropped"]) + count(&all["lost"]);
    assert_eq!(u64::try_from(gone).unwrap(), figures.link.dropped);
    assert!(count(&all["dropped"]) > 10, "the download fills the queue");
    near(&traffic["busy"], truth.busy(), 0.001, "busy");
    let used = all["mbps"].as_f64().unwrap() / CAPACITY;
    let told = figures.link.utilization.unwrap();
    assert!((used - told).abs() < 0.002, "{used} instead of {told}");
    let stream = &traffic["flows"][0];
    assert_eq!(
        (&stream["is_stream"], &stream["dropped"]),
        (&Value::Bool(true), &dropped(&truth))
    );
    let waits = truth.waits();
    for (name, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)] {
        near(
            &stream["queue_ms"][name],
            percentile(&waits, share),
            0.05,
            name,
        );
    }
    let names: Vec<_> = traffic["queues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|queue| &queue["name"])
        .collect();
    assert_eq!(names, ["games", "bulk"]);
    assert_eq!(traffic["flows"].as_array().unwrap().len(), 2);

    // The link's rate is 30, then 20 Mbit/s; Pudica finds it.
    let belief = &link["beliefs"]["service_mbps"];
    let rate = belief["truth"].as_f64().unwrap();
    assert!((20.0..30.0).contains(&rate), "{rate} Mbit/s");
}

#[test]
fn a_joined_link_is_in_the_tables_and_on_the_page() {
    let Joined { here, .. } = Joined::new("links-page");
    let text = stdout(&here, "report session.parquet --link link.parquet");
    for part in [
        "Link link.parquet:",
        "Frame delay in the link, in ms:",
        "stream, udp 10.1.0.0:5000",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let page = std::fs::read_to_string(here.join("session.html")).unwrap();
    for part in [
        "<h2>Link link.parquet: lab",
        "<h2>Frame delay in the link</h2>",
        "<h2>What the controller believed</h2>",
        "<h2>Traffic of the link</h2>",
        "<h2>Queue of the link</h2>",
        "<h2>Drops and marks of the link</h2>",
    ] {
        assert!(page.contains(part), "{part} is on the page");
    }
    assert!(!page.contains("NaN"));
}

/// How many of the stream's packets the queue dropped.
fn dropped(truth: &Truth) -> Value {
    let own = truth
        .packets
        .iter()
        .filter(|packet| packet.packet.flow == 0);
    let dropped = own.filter(|packet| packet.fate == Fate::Dropped);
    dropped.count().into()
}

#[test]
fn a_link_is_reported_alone() {
    let here = folder("link-alone");
    let (truth, figures) = Truth::new();
    let packets = truth.numbered().into_iter();
    let packets: Vec<_> = packets.map(|(packet, rtp)| passage(&packet, rtp)).collect();
    record(&here, &[], &packets);
    let json = stdout(&here, "report link.parquet --json");
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["link"]["name"], "lab");
    let forward = &report["directions"][0];
    assert_eq!(report["directions"].as_array().unwrap().len(), 1);
    assert_eq!(forward["all"]["packets"], packets.len());
    let gone = count(&forward["all"]["dropped"]) + count(&forward["all"]["lost"]);
    assert_eq!(u64::try_from(gone).unwrap(), figures.link.dropped);
    near(&forward["busy"], truth.busy(), 0.001, "busy");
    let told = figures.link.queue_delay_ms.unwrap();
    near(
        &forward["all"]["queue_ms"]["p95"],
        told.p95,
        told.p95 * 0.01,
        "queue, p95",
    );
    let text = stdout(&here, "report link.parquet");
    assert!(text.contains("Sender to receiver, queues"), "{text}");
    assert!(text.ends_with("The figures are in link.html.\n"), "{text}");
    let page = std::fs::read_to_string(here.join("link.html")).unwrap();
    assert!(page.contains("<h2>Queue, sender to receiver</h2>") && !page.contains("NaN"));
}

#[test]
fn recordings_that_do_not_go_together_are_refused_with_the_reason() {
    let here = folder("no-links");
    let (truth, _) = Truth::new();
    let mut frames = truth.session();
    frames.truncate(300);
    let mut packets = truth.link();
    packets.truncate(9_000);
    record(&here, &frames, &packets);
    std::fs::rename(here.join("link.parquet"), here.join("right")).unwrap();
    let other: Vec<_> = packets
        .iter()
        .map(|passage| Passage {
            packet: LinkPacket {
                rtp: passage.packet.rtp.map(|rtp| RtpPacket { ssrc: 1, ..rtp }),
                ..passage.packet
            },
            ..*passage
        })
        .collect();
    record(&here, &frames, &other);
    std::fs::rename(here.join("session.parquet"), here.join("session")).unwrap();
    let blind: Vec<_> = frames
        .iter()
        .map(|frame| SessionFrame {
            rtp: None,
            ..*frame
        })
        .collect();
    record(&here, &blind, &other);
    let whole = std::fs::read(here.join("right")).unwrap();
    std::fs::write(here.join("part"), &whole[..whole.len() / 2]).unwrap();
    let mut bad = whole.clone();
    bad[whole.len() / 3..whole.len() / 2].fill(0xA5);
    std::fs::write(here.join("bad"), bad).unwrap();
    stdout(&here, "report session --link right --json");
    for (arguments, message) in [
        (
            "session --link link.parquet",
            "cannot join link.parquet with session: it has none of the session's packets",
        ),
        (
            "session.parquet --link right",
            "cannot join right with session.parquet: the session has no RTP sequence numbers",
        ),
        (
            "right --link right",
            "right is the recording of a link, which --link",
        ),
        (
            "session --link session",
            "cannot report on session: it is the recording of a session",
        ),
        (
            "session --link part",
            "cannot report on part: its end is missing",
        ),
        ("session --link bad", "cannot report on bad: it is damaged"),
        ("session --link none", "cannot read none: "),
        (
            "session --link right --output right",
            "would replace the recording right",
        ),
    ] {
        let output = mimosa(&here, &format!("report {arguments}"));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
        assert!(errors.contains(message), "{arguments}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    assert_eq!(std::fs::read(here.join("right")).unwrap(), whole);
}

/// Then the first packet with a frame's number counts.
#[test]
fn a_link_without_a_clock_of_the_world_is_joined_in_either_direction() {
    let here = folder("links-back");
    let (truth, _) = Truth::new();
    let mut frames = truth.session();
    frames.truncate(200);
    let numbered = truth.numbered().into_iter().take(18_000);
    let packets: Vec<_> = numbered
        .map(|(packet, rtp)| {
            let mut passage = passage(&packet, rtp);
            passage.packet.is_forward = false;
            passage.packet.queue = 0;
            passage
        })
        .collect();
    record_as(&here, &frames, &packets, "{}");
    let json = stdout(
        &here,
        "report session.parquet --link link.parquet --json --output page",
    );
    let report: Value = serde_json::from_str(&json).unwrap();
    let link = &report["links"][0];
    assert_eq!(link["clock"]["offset_ns"], OFFSET.as_nanos());
    assert_eq!(link["clock"]["beside_wall_clocks_ms"], Value::Null);
    assert_eq!(link["traffic"]["direction"], "reverse");
    assert_eq!(link["traffic"]["queues"][0]["name"], "back");
    assert_eq!(
        (&link["frames"], &link["missing"]),
        (&200.into(), &0.into())
    );
}

/// A frame given up, or not acknowledged yet, has no parts of a delay.
#[test]
fn a_frame_without_an_end_has_no_parts() {
    let here = folder("open-links");
    let (truth, _) = Truth::new();
    let mut frames = truth.session();
    frames.truncate(200);
    for frame in &mut frames[..150] {
        frame.life.end = None;
    }
    frames[150].life.end = Some(FrameEnd::GivenUp);
    frames[151].life.end = Some(FrameEnd::Acknowledged(Time::MAX));
    let mut packets = truth.link();
    packets.truncate(20_000);
    record(&here, &frames, &packets);
    let json = stdout(
        &here,
        "report session.parquet --link link.parquet --json --output page",
    );
    let report: Value = serde_json::from_str(&json).unwrap();
    let link = &report["links"][0];
    assert_eq!(
        (&link["frames"], &link["delay_ms"]["frames"]),
        (&200.into(), &49.into())
    );
}

/// Values far apart, as a damaged recording may have them, and next to nothing.
#[test]
fn extremes_are_reported_somehow() {
    let here = folder("extreme-links");
    let (truth, _) = Truth::new();
    let mut frames = truth.session();
    frames.truncate(100);
    let mut packets = truth.link();
    packets.truncate(6_000);
    for end in [Time::MAX, Time::ZERO] {
        packets[3_000].offered = end;
        packets[3_100].started = Some(end);
        packets[3_200].finished = Some(end);
        packets[3_300].fate = Fate::Arrived(end);
        packets[3_400].size = Bytes::new(u64::MAX);
        packets[3_500].packet.backlog = Bytes::new(u64::MAX);
        packets[3_600].packet.queue = 9;
        frames[20].life.first_sent = Some(end);
        frames[21].life.handed_over = end;
        let wide = frames[22].rtp.as_mut().unwrap();
        (wide.first, wide.last) = (MediaSequence(1), MediaSequence(0));
        record(&here, &frames, &packets);
        stdout(&here, "report link.parquet");
        stdout(&here, "report session.parquet --link link.parquet");
    }
    frames[99].captured = Time::MAX;
    record(&here, &frames, &packets);
    stdout(&here, "report session.parquet --link link.parquet");
    record(&here, &frames[..1], &packets[2_000..2_001]);
    stdout(&here, "report session.parquet --link link.parquet");
    stdout(&here, "report link.parquet");
    record(&here, &[], &[]);
    let text = stdout(&here, "report link.parquet");
    assert!(text.starts_with("lab; started 2026-03-14"), "{text}");
    let json = stdout(&here, "report link.parquet --json");
    let report: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["directions"], Value::Array(Vec::new()));
}
