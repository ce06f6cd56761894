//! The same run twice is the same run, on every machine.

use std::fmt::Write;

use crate::common::{Log, scenario, whole};

/// Something of everything: noise, jitter, loss, reordering, late feedback.
const BUSY: &str = r#"
duration = "5s"
[link]
steps = [
  { at = "0s", rate = "30Mbit/s" },
  { at = "2s", rate = "6Mbit/s" },
  { at = "3s", rate = "25Mbit/s" },
]
queue = { kind = "droptail", limit = "100packets" }
burst_loss = { to_bad = 0.001, to_good = 0.2 }
jitter = { kind = "normal" }
reordering = { share = 0.01, extra = "3ms" }
return_loss = 0.02
return_aggregation = "5ms"
[[flow]]
name = "game"
frame_noise = 0.3
clock_offset = "7s"
clock_drift_ppm = 50.0
[[flow]]
name = "other"
encoder = "x264"
feedback = "frame"
feedback_repeat = 50
[[flow]]
name = "third"
encoder = "rfc8593"
feedback = "50ms"
fps = 30
pauses = [{ from = "2s", to = "2500ms" }]
[[flow]]
kind = "cbr"
rate = "2Mbit/s"
"#;

/// FNV-1a over everything that happened.
fn fingerprint(seed: u64) -> u64 {
    let log = Log::of(&scenario(BUSY), seed);
    let mut text = String::new();
    for (flow, life) in &log.frames {
        assert_eq!(life.protection, None, "nothing asks for repair packets");
        let life = format!("{life:?}").replace(", protection: None", "");
        let _ = writeln!(text, "{flow} {life}");
    }
    for packet in &log.packets {
        let _ = writeln!(text, "{packet:?}");
    }
    assert!(log.frames.len() > 500 && log.packets.len() > 5_000);
    assert!(log.probes() > 1_000);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(fingerprint(1), fingerprint(1));
    assert_ne!(fingerprint(1), fingerprint(2));
}

/// Whoever changes an algorithm changes this number knowingly; on another
/// machine it must come out the same.
#[test]
fn the_run_is_the_same_on_every_machine() {
    assert_eq!(fingerprint(1), 350_337_142_048_088_787);
}

#[test]
fn figures_are_the_same_text() {
    let json = |seed| serde_json::to_string(&whole(&scenario(BUSY), seed)).unwrap();
    assert_eq!(json(3), json(3));
    assert_ne!(json(3), json(4));
}
