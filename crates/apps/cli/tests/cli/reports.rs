//! Reports on recorded sessions.

use std::path::Path;

use mimosa_facts::{Decision, FrameEnd, FrameId, FrameLife, FramePlan, Pacing, SessionFrame};
use mimosa_record::SessionRecorder;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::{folder, mimosa, stdout};

/// A frame that was shown.
pub(crate) fn frame(number: u64) -> SessionFrame {
    let at = |millis| Time::from_millis(number * 16 + millis);
    SessionFrame {
        captured: at(0),
        encode_begun: at(1),
        encode_ended: at(6),
        encode_processor: None,
        relief: mimosa_facts::Relief::NONE,
        life: FrameLife {
            frame: FrameId(number),
            due: at(0),
            interval: TimeDelta::from_millis(16),
            decision: Decision::starting_at(Rate::from_kbps(9_000)),
            allowed: Bytes::new(18_000),
            handed_over: at(6),
            pacing: Pacing::Burst,
            bucket: None,
            size: Bytes::new(18_000),
            packets: 16,
            first_sent: Some(at(6)),
            last_sent: Some(at(7)),
            first_arrival: None,
            last_arrival: None,
            arrived: 16,
            lost: 0,
            retransmitted: 0,
            end: Some(FrameEnd::Acknowledged(at(10))),
            protection: None,
        },
        coded: Bytes::new(17_000),
        budget: Bytes::new(20_000),
        plan: FramePlan::as_asked(Bytes::new(20_000)),
        is_keyframe: number == 0,
        quantiser: None,
        attempts: 1,
        received: Some(at(8)),
        decoded: Some(at(9)),
        shown: Some(at(15)),
        inputs: 0,
        newest_input: None,
        sound_skew: Some(TimeDelta::from_millis(if number == 60 { -30 } else { 20 })),
        sound_concealed: Some(number * 48),
        rtp: None,
    }
}

/// Records 125 frames to this file.
pub(crate) fn record(path: &Path) {
    let mut recorder = SessionRecorder::new(Vec::new(), "{\"source\":\"demo\"}").unwrap();
    for number in 0..125 {
        recorder.push(frame(number)).unwrap();
    }
    std::fs::write(path, recorder.finish().unwrap()).unwrap();
}

#[test]
fn a_session_is_reported_in_tables_json_and_a_page() {
    let here = folder("reports");
    record(&here.join("one.parquet"));
    let text = stdout(&here, "report one.parquet");
    assert!(text.starts_with("demo\n\nStream:\n\nframes "), "{text}");
    let mut lines = text.lines();
    let delay = lines.find(|line| line.starts_with("frame delay"));
    assert!(
        delay.unwrap().ends_with("  4.0   4.0   4.0   4.0"),
        "{text}"
    );
    assert!(text.ends_with("The figures are in one.html.\n"), "{text}");
    let page = std::fs::read_to_string(here.join("one.html")).unwrap();
    assert!(page.contains("<h1>one.parquet</h1>\n<p>demo</p>"));
    std::fs::remove_file(here.join("one.html")).unwrap();

    let json = stdout(&here, "report one.parquet --json");
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["frames"], 125);
    assert_eq!(value["session"]["source"], "demo");
    let sound = &value["sound"];
    assert_eq!(
        (&sound["skew_ms"]["p50"], &sound["skew_ms"]["max"]),
        (&20.0.into(), &20.0.into())
    );
    assert_eq!(
        (&sound["furthest_ms"], &sound["made_up_ms"]),
        (&30.0.into(), &124.0.into())
    );
    assert!(
        page.contains("<h2>Sound</h2>") && text.contains("Sound, in ms:"),
        "{text}"
    );
    assert!(!here.join("one.html").exists(), "nobody asked for a page");
    let again = stdout(&here, "report one.parquet --json --output page");
    assert_eq!(again, json);
    assert_eq!(std::fs::read_to_string(here.join("page")).unwrap(), page);
}

/// Frames are captured every 16 ms and take 4 ms.
#[test]
fn a_part_of_a_session_is_reported_alone() {
    let here = folder("reports-part");
    record(&here.join("one.parquet"));
    let json = |arguments: &str| {
        let json = stdout(&here, &format!("report one.parquet --json {arguments}"));
        serde_json::from_str::<serde_json::Value>(&json).unwrap()
    };
    assert_eq!(json("--from 160ms")["frames"], 115);
    assert_eq!(json("--to 160ms")["frames"], 10);
    let part = json("--from 160ms --to 320ms --above 3ms --above 4ms");
    assert_eq!(part["frames"], 10);
    assert_eq!(part["keyframes"], 0);
    let above = serde_json::json!([
        { "ms": 3.0, "frames": 10, "share": 1.0 },
        { "ms": 4.0, "frames": 0, "share": 0.0 },
    ]);
    assert_eq!(part["above"], above);
    let text = stdout(&here, "report one.parquet --above 3ms");
    let row = text
        .lines()
        .find(|line| line.trim_start().starts_with("3 ms"));
    assert!(row.unwrap().ends_with("  125  100.00%"), "{text}");

    let refused = refusal(&here, "one.parquet --from 3s --to 4s");
    let expected = "has no frame from 3s and before 4s; its frames were captured from 0s to 1984ms";
    assert!(refused.contains(expected), "{refused}");
}

/// What is said of `mimosa report <arguments>`, which must fail.
fn refusal(folder: &Path, arguments: &str) -> String {
    let output = mimosa(folder, &format!("report {arguments}"));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments}");
    errors
}

#[test]
fn what_cannot_be_reported_on_is_refused_with_the_reason() {
    let here = folder("no-reports");
    record(&here.join("one.parquet"));
    let whole = std::fs::read(here.join("one.parquet")).unwrap();
    std::fs::write(here.join("part"), &whole[..whole.len() / 2]).unwrap();
    std::fs::write(here.join("text"), "duration = \"2s\"").unwrap();
    let mut bad = whole.clone();
    bad[whole.len() / 3..whole.len() / 2].fill(0xA5);
    std::fs::write(here.join("bad"), bad).unwrap();
    for (arguments, message) in [
        ("none", "cannot read none: "),
        (".", "cannot read .: is a directory"),
        ("text", "cannot report on text: it is no Parquet file"),
        ("part", "cannot report on part: its end is missing"),
        ("bad", "cannot report on bad: it is damaged"),
        (
            "one.parquet --output one.parquet",
            "would replace the recording one.parquet",
        ),
        ("one.parquet --output no/page", "cannot write no/page: "),
    ] {
        let errors = refusal(&here, arguments);
        assert!(errors.contains(message), "{arguments}: {errors}");
        assert_eq!(errors.lines().count(), 1, "{errors}");
    }
    assert_eq!(std::fs::read(here.join("one.parquet")).unwrap(), whole);
}
