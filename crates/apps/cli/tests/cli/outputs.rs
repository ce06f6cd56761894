//! What a simulation writes.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use parquet::file::reader::SerializedFileReader;
use parquet::record::{Field, Row};
use serde_json::Value;

use crate::{folder, stdout};

/// Two flows that lose packets, in two variants.
const SCENARIO: &str = r#"
duration = "2s"
seed = 9

[link]
rate = "10Mbit/s"
one_way_delay = "10ms"
queue = { kind = "droptail", limit = "15kB" }
loss = 0.01
jitter = { kind = "normal" }

[[flow]]
name = "game"
kind = "video"
start_bitrate = "12Mbit/s"
frame_noise = 0.2

[[flow]]
name = "download"
kind = "cbr"
rate = "3Mbit/s"
start = "500ms"

[[variant]]
name = "controller"

[[variant]]
name = "burst"
flow.pacer = "burst"
"#;

/// The nanoseconds of the scenario's end.
const END: i64 = 2_000_000_000;

/// A folder with the scenario in it.
fn prepared(name: &str) -> PathBuf {
    let here = folder(name);
    std::fs::write(here.join("run.toml"), SCENARIO).unwrap();
    here
}

fn objects(lines: &str) -> Vec<Value> {
    let objects = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    objects.collect()
}

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.into_iter().map(Result::unwrap).collect()
}

fn field<'a>(row: &'a Row, name: &str) -> &'a Field {
    let mut columns = row.get_column_iter();
    columns.find(|(column, _)| *column == name).unwrap().1
}

fn text(row: &Row, name: &str) -> String {
    field(row, name).to_string().trim_matches('"').to_owned()
}

/// Zero for null.
fn integer(row: &Row, name: &str) -> i64 {
    match field(row, name) {
        Field::Long(value) => *value,
        Field::Null => 0,
        other => panic!("{name} is {other}"),
    }
}

/// How many of `rows` each run has, by seed, variant and `column`.
fn counts<'a>(
    rows: impl Iterator<Item = &'a Row>,
    column: &str,
) -> BTreeMap<(String, String, String), u64> {
    let mut counts = BTreeMap::new();
    for row in rows {
        let key = (text(row, "seed"), text(row, "variant"), text(row, column));
        *counts.entry(key).or_default() += 1;
    }
    counts
}

#[test]
fn the_table_is_printed_unless_there_is_json() {
    let here = prepared("table");
    let table = stdout(&here, "sim run.toml");
    assert!(
        table.starts_with("Frame delay in ms (seed 9):\n\nvariant "),
        "{table}"
    );
    let with_files = stdout(&here, "sim run.toml --frames a --packets b --plot c.svg");
    assert_eq!(with_files, table);
    assert_eq!(stdout(&here, "sim run.toml --json d.json --plot e.svg"), "");
    let json = std::fs::read_to_string(here.join("d.json")).unwrap();
    assert_eq!(stdout(&here, "sim run.toml --json - --frames f"), json);
    let markdown = stdout(&here, "sim run.toml --markdown --variant burst");
    assert!(
        markdown.contains("\n| variant | flow     | frames |"),
        "{markdown}"
    );
    assert!(markdown.contains("\n|---|---|--:|"), "{markdown}");
    assert!(!markdown.contains("| controller"), "{markdown}");
}

#[test]
fn json_has_an_object_for_each_run_in_order() {
    let here = prepared("json");
    let lines = stdout(&here, "sim run.toml --seeds 3..5 --json -");
    let runs: Vec<_> = objects(&lines)
        .iter()
        .map(|run| format!("{} {}", run["seed"], run["variant"]))
        .collect();
    let expected =
        [3, 4, 5].map(|seed| [r#""controller""#, r#""burst""#].map(|v| format!("{seed} {v}")));
    assert_eq!(runs, expected.concat());
    let one = stdout(&here, "sim run.toml --seeds 4 --variant burst --json -");
    assert_eq!(Some(one.trim_end()), lines.lines().nth(3));
}

#[test]
fn recordings_have_the_frames_and_packets_of_the_json() {
    let here = prepared("recordings");
    let arguments = "sim run.toml --seeds 1..3 --json - --frames f.parquet --packets p.parquet";
    let objects = objects(&stdout(&here, arguments));
    let (frames, packets) = (rows(&here.join("f.parquet")), rows(&here.join("p.parquet")));
    let handed_over = counts(frames.iter(), "flow");
    let arrived = |row: &&Row| text(row, "fate") == "arrived" && integer(row, "arrived_ns") < END;
    let arrived = counts(packets.iter().filter(arrived), "fate");
    let lost = |row: &&Row| text(row, "fate") != "arrived";
    let lost = counts(packets.iter().filter(lost), "fate");
    for object in &objects {
        let seed = object["seed"].to_string();
        let variant = object["variant"].as_str().unwrap().to_owned();
        let key = |last: &str| (seed.clone(), variant.clone(), last.to_owned());
        assert!(handed_over[&key("game")] > 100);
        assert_eq!(object["flows"][0]["frames"], handed_over[&key("game")]);
        assert_eq!(object["link"]["delivered"], arrived[&key("arrived")]);
        let lost = lost[&key("dropped-by-queue")] + lost[&key("lost-on-path")];
        assert_eq!(object["link"]["dropped"], lost);
    }
    assert_eq!(
        (objects.len(), handed_over.len()),
        (6, 6),
        "only the game has frames"
    );
    let kinds = counts(packets.iter(), "kind");
    assert!(kinds.keys().any(|key| key.2 == "cross") && kinds.keys().any(|key| key.2 == "media"));
}

#[test]
fn plots_are_what_their_suffix_says() {
    let here = prepared("plots");
    let read = |name: &str| std::fs::read(here.join(name)).unwrap();
    let table = stdout(&here, "sim run.toml --plot p.svg --to 1500ms");
    let svg = String::from_utf8(read("p.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    for text in [
        "run.toml",
        "variant controller; seed 9; first of 2 runs; 0s to 1500ms; pudica; link used",
        "Bitrate",
        "Frame delay",
        "Bandwidth utilisation",
        "Queueing delay",
        "link",
        "game",
        "download",
        "dropped by the queue",
    ] {
        assert!(svg.contains(&format!("\n{text}")), "{text}");
    }
    stdout(&here, "sim run.toml --plot p.PNG");
    assert_eq!(read("p.PNG")[..8], *b"\x89PNG\r\n\x1a\n");
    stdout(&here, "sim run.toml --plot p.html --to 1500ms");
    let html = String::from_utf8(read("p.html")).unwrap();
    assert!(html.starts_with("<!doctype html>") && html.contains("<svg "));
    let cells = table
        .lines()
        .filter(|line| line.contains("game"))
        .flat_map(str::split_whitespace);
    for cell in cells {
        assert!(html.contains(&format!("<td>{cell}</td>")), "{cell}");
    }
}

#[test]
fn frames_that_never_complete_are_drawn() {
    let here = folder("never");
    let outage = "steps = [{ at = \"0s\", rate = \"10Mbit/s\" }, { at = \"1s\", rate = \"0bit/s\" }, \
                  { at = \"9s\", rate = \"10Mbit/s\" }]";
    for (name, rate) in [("outage", outage), ("steady", "rate = \"10Mbit/s\"")] {
        let text = format!("duration = \"2s\"\n[link]\n{rate}\n[[flow]]\n");
        std::fs::write(here.join("run.toml"), text).unwrap();
        stdout(&here, "sim run.toml --plot p.svg");
        let svg = std::fs::read_to_string(here.join("p.svg")).unwrap();
        assert_eq!(
            svg.contains("\nnever completed\n"),
            name == "outage",
            "{name}"
        );
    }
}

#[test]
fn the_same_command_twice_gives_the_same_bytes() {
    let here = prepared("same");
    let outputs = |number: u8| {
        let files = ["json", "frames", "packets", "svg"].map(|kind| format!("{number}.{kind}"));
        let [json, frames, packets, svg] = &files;
        let options = format!("--json {json} --frames {frames} --packets {packets} --plot {svg}");
        stdout(&here, &format!("sim run.toml --seeds 1..4 {options}"));
        files.map(|file| std::fs::read(here.join(file)).unwrap())
    };
    let (first, second) = (outputs(1), outputs(2));
    for (one, other) in first.iter().zip(&second) {
        assert!(one.len() > 1_000 && one == other);
    }
}
