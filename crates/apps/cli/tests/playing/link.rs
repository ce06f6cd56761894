//! Across a link, from a `mimosa serve` at its other end.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::standstill::unless_still;
use crate::{alone, folder, text};

/// Serves the demo at the link's sending end until the other end is done.
const SERVE: &str = r#""$MIMOSA" serve --bind "$MIMOSA_LINK_ADDRESS" --http-port 7080 \
    --udp-port 7081 --size 640x360 --relief off "$@" >urls.txt &
while ! [ -e over ]; do sleep 0.1; done
kill $!
wait
"#;
/// Waits for it, and plays at the URL that it prints: by HTTPS, with its token and its key.
const PLAY: &str = r#"trap 'touch over' EXIT
for _ in $(seq 100); do
    url=$(sed -n 's/^play  *https/https/p' urls.txt)
    [ "$url" ] || { sleep 0.1; continue; }
    "$MIMOSA" play "$url" --headless --report report.json "$@" 2>error.txt && exit
    grep -q 'is `mimosa serve` running' error.txt || break
    sleep 0.1
done
cat error.txt >&2
exit 1
"#;

/// Plays across `network` until so many pictures were shown, for a minute at most; the host gets these flags.
/// `None` without the rights to emulate it.
fn played(name: &str, network: &str, flags: &str, pictures: u32) -> Option<(Output, Value)> {
    let _alone = alone();
    let folder = with_network(name, network)?;
    std::fs::write(folder.join("serve.sh"), SERVE).unwrap();
    std::fs::write(folder.join("play.sh"), PLAY).unwrap();
    let pictures = pictures.to_string();
    let output = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["link", "run", "path.toml", "--isolated", "--peer"])
        .current_dir(&folder)
        .arg(format!("sh serve.sh {flags}"))
        .args(["--", "sh", "play.sh", "--probe", "--seconds", "60"])
        .args(["--pictures", &pictures])
        .env("MIMOSA", env!("CARGO_BIN_EXE_mimosa"))
        .env("XDG_CONFIG_HOME", &folder)
        .env("XDG_STATE_HOME", &folder)
        .output()
        .unwrap();
    let report = report(&folder, &output);
    Some((output, report))
}

/// Writes the network as `path.toml` into a new folder of this name; `None` without the
/// rights to emulate it, which under CI is a failure.
fn with_network(name: &str, network: &str) -> Option<PathBuf> {
    let folder = folder(name);
    std::fs::write(folder.join("path.toml"), network).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["link", "run", "path.toml", "--isolated", "--", "true"])
        .current_dir(&folder)
        .output()
        .unwrap();
    if output.status.success() {
        return Some(folder);
    }
    let said = text(&output.stderr);
    assert!(std::env::var_os("CI").is_none(), "{said}");
    eprintln!("skipped: {said}");
    None
}

fn report(folder: &Path, output: &Output) -> Value {
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let written = std::fs::read(folder.join("report.json")).unwrap();
    serde_json::from_slice(&written).unwrap()
}

/// A number of the report, named as in `packets.lost`.
fn number(report: &Value, name: &str) -> f64 {
    let value = name.split('.').fold(report, |value, part| &value[part]);
    value.as_f64().unwrap_or_else(|| panic!("{name}: {value}"))
}

/// Most frames that are whole and not yet decoded when the client leaves: as many as come, 60 a
/// second, while the slowest is decoded, and 3 that a thread holds.
fn under_way(report: &Value) -> f64 {
    number(report, "decoding.max") / 1_000.0 * 60.0 + 3.0
}

#[test]
fn marks_are_asked_for_and_told() {
    unless_still(marks);
}

fn marks() {
    let network = r#"
[link]
rate = "6Mbit/s"
one_way_delay = "10ms"
queue = { kind = "dualpi2" }
"#;
    let Some((_, report)) = played("marks", network, "--controller prague", 240) else {
        return;
    };
    assert_eq!(report["feedback"], "rfc8888");
    let number = |name| number(&report, name);
    let (came, capable) = (number("packets.video"), number("packets.ecn_capable"));
    let marked = number("packets.ecn_marked");
    assert!(came > 500.0, "{report:#}");
    // All but those before and in the trial, and none from a failure on.
    assert!(capable + marked > 0.9 * came, "{report:#}");
    assert!(marked > 0.0 && marked < 0.5 * came, "{report:#}");
    // A queue that marks drops nothing of who answers.
    assert!(number("packets.lost") < 0.01 * came, "{report:#}");
    assert!(number("frames.shown") >= 240.0, "{report:#}");
    assert_eq!(report["frames"]["malformed"], 0);
    // Whoever presses a key sees it, not before the link's round trip.
    assert!(number("input.count") >= 3.0, "{report:#}");
    assert!(number("input.p50") >= 20.0, "{report:#}");
}

#[test]
fn what_is_lost_comes_again() {
    unless_still(losses);
}

fn losses() {
    let network = r#"
[link]
rate = "20Mbit/s"
one_way_delay = "5ms"
loss = 0.03
return_loss = 0.03
"#;
    // A change of the entropy coding would take another keyframe.
    let flags = "--repair-deadline 100ms --entropy-coding cabac";
    let Some((_, report)) = played("lost", network, flags, 240) else {
        return;
    };
    let number = |name| number(&report, name);
    let came = number("packets.video");
    let lost = number("packets.lost") / (came + number("packets.lost"));
    assert!((0.01..0.06).contains(&lost), "{report:#}");
    assert!(number("packets.repeated") > 10.0, "{report:#}");
    let (whole, passed) = (number("frames.whole"), number("frames.passed"));
    assert!(whole >= 240.0 && passed < 0.01 * whole, "{report:#}");
    assert!(
        number("frames.decoded") >= whole - under_way(&report),
        "{report:#}"
    );
    assert_eq!(report["frames"]["damaged"], 0, "{report:#}");
    // One keyframe at the beginning: what is lost is done without.
    assert!(number("frames.keyframes") <= 3.0, "{report:#}");
    let repaired = number("sound.counts.repaired");
    let packets = number("sound.counts.packets");
    assert!(packets > 100.0 && repaired > 3.0, "{report:#}");
}

#[test]
fn where_there_is_no_time_repair_packets_stand_for_what_is_lost() {
    unless_still(repairs);
}

/// Sent again, a packet would come 180 ms after it left first.
fn repairs() {
    let network = r#"
[link]
rate = "20Mbit/s"
one_way_delay = "60ms"
loss = 0.02
"#;
    let Some((_, report)) = played("repaired", network, "", 360) else {
        return;
    };
    let number = |name| number(&report, name);
    let (came, lost) = (number("packets.video"), number("packets.lost"));
    assert!(
        (0.005..0.04).contains(&(lost / (came + lost))),
        "{report:#}"
    );
    // Of those that are lost some are repair packets, which nobody needs then.
    assert!(number("packets.repaired") > 0.3 * lost, "{report:#}");
    assert!(number("packets.repeated") < 0.3 * lost, "{report:#}");
    assert!(number("packets.repair") < 0.4 * came, "{report:#}");
    let (whole, passed) = (number("frames.whole"), number("frames.passed"));
    assert!(whole >= 360.0 && passed < 0.01 * whole, "{report:#}");
    assert_eq!(report["frames"]["malformed"], 0, "{report:#}");
    assert_eq!(report["frames"]["damaged"], 0, "{report:#}");
}

/// A key that is pressed is seen in the demo's marker, so the pictures are the demo's.
fn codec_is_played(name: &str, flags: &str, codec: &str, encoder: &str) {
    let network = r#"
[link]
rate = "20Mbit/s"
one_way_delay = "5ms"
loss = 0.01
"#;
    let Some((_, report)) = played(name, network, flags, 240) else {
        return;
    };
    assert_eq!(report["codec"], codec, "{report:#}");
    let by = report["encoder"].as_str().unwrap_or_default();
    assert!(by.contains(encoder), "{by}");
    let number = |name| number(&report, name);
    let whole = number("frames.whole");
    assert!(whole >= 240.0, "{report:#}");
    let decoded = number("frames.decoded");
    assert!(decoded >= whole - under_way(&report), "{report:#}");
    assert!(number("frames.shown") >= decoded - 1.0, "{report:#}");
    assert_eq!(report["frames"]["malformed"], 0, "{report:#}");
    assert_eq!(report["frames"]["damaged"], 0, "{report:#}");
    // A host whose processors have other work makes its pictures smaller.
    let (width, height) = (number("frames.width"), number("frames.height"));
    assert!((320.0..=640.0).contains(&width), "{report:#}");
    assert!((width * 9.0 - height * 16.0).abs() <= 16.0, "{report:#}");
    assert!(number("input.count") >= 3.0, "{report:#}");
}

#[cfg(feature = "svt-av1")]
#[test]
fn av1_is_played() {
    unless_still(|| codec_is_played("av1", "--encoder svt-av1", "AV1", "SVT-AV1"));
}

#[cfg(feature = "gstreamer")]
#[test]
fn h265_is_played() {
    let flags = "--encoder gstreamer --encoder-element x265enc";
    unless_still(|| codec_is_played("h265", flags, "H265", "x265enc"));
}

#[test]
fn a_host_that_is_not_there_is_named() {
    let folder = folder("nobody");
    let output = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["play", "http://127.0.0.1:9/", "--headless"])
        .current_dir(&folder)
        .output()
        .unwrap();
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("127.0.0.1:9 cannot be reached"), "{said}");
    assert!(said.contains("is `mimosa serve` running there?"), "{said}");
}
