//! What `mimosa trace` says and writes.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{folder, mimosa, stdout};

/// Two rates, and an outage of 300 ms between them; 1 s in all.
const ROWS: &str = "0 8 10ms 0\n0.1 8 12ms 0\n0.2 8 11ms 0.1\n0.3 0 11ms 0.1\n0.4 0 11ms 0\n\
                    0.5 0 11ms 0\n0.6 2 13ms 0\n0.7 2 13ms 0\n0.8 2 13ms 0\n0.9 2 14ms 0\n";

fn prepared(name: &str) -> PathBuf {
    let here = folder(name);
    std::fs::write(here.join("rows.txt"), ROWS).unwrap();
    here
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// What is said of `mimosa trace <arguments>`, which must fail.
fn refusal(folder: &Path, arguments: &str) -> String {
    let output = mimosa(folder, &format!("trace {arguments}"));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments}");
    errors
}

#[test]
fn inspect_has_a_row_for_each_trace() {
    let here = prepared("trace-inspect");
    std::fs::write(here.join("other.txt"), "100\n").unwrap();
    let tables = stdout(&here, "trace inspect rows.txt other.txt");
    let row = |name: &str| -> Vec<String> {
        let line = tables.lines().find(|line| line.starts_with(name));
        line.unwrap()
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    // 3.2 Mbit/s on the mean; one fall, to nothing, in a second.
    let rows = row("rows.txt");
    assert_eq!(rows[1..3], ["1", "3.2"]);
    assert_eq!(
        rows[4..11],
        ["0.00", "0.00", "0.00", "0.62", "2.50", "2.50", "2.50"]
    );
    assert_eq!(rows[14..], ["60.0", "60.0", "30.00", "0.3"]);
    assert_eq!(row("other.txt")[1..3], ["0", "0.1"]);
    assert!(
        tables.contains("Round trip in ms") && tables.contains("Loss in %"),
        "{tables}"
    );
    let summary = stdout(
        &here,
        "trace inspect --summary --markdown rows.txt rows.txt",
    );
    assert_eq!(
        summary.matches("| 2 traces | median ").count(),
        3,
        "{summary}"
    );
    // With a floor of 2 Mbit/s all but the beginning is an outage.
    let floor = stdout(&here, "trace inspect --floor 2Mbit/s rows.txt");
    assert!(floor.contains("70.00        0.7"), "{floor}");
}

#[test]
fn inspect_as_json_has_what_the_table_has() {
    let here = prepared("trace-json");
    let lines = stdout(&here, "trace inspect --json rows.txt rows.txt");
    let object: Value = serde_json::from_str(lines.lines().nth(1).unwrap()).unwrap();
    assert_eq!(object["file"], "rows.txt");
    assert_eq!(object["length_s"], 1.0);
    assert_eq!(object["mean_mbps"], 3.2);
    assert_eq!(object["rate_mbps"]["p99"], 8.0);
    assert_eq!(object["autocorrelation"]["10s"], Value::Null);
    assert_eq!(object["falls_per_minute"], 60.0);
    assert_eq!(object["outages"]["longest_s"], 0.3);
    assert_eq!(object["round_trip_ms"]["p50"], 11.0);
    assert_eq!(object["loss"]["p95"], 0.1);
}

#[test]
fn inspect_draws_what_the_suffix_says() {
    let here = prepared("trace-plot");
    for plot in ["p.svg", "p.png", "p.html"] {
        stdout(&here, &format!("trace inspect rows.txt --plot {plot}"));
    }
    let svg = read(&here.join("p.svg"));
    for text in [
        "rows.txt: rate",
        "rows.txt: round trip",
        "fell by more than 50 %",
    ] {
        assert!(svg.contains(&format!("\n{text}")), "{text}");
    }
    let page = read(&here.join("p.html"));
    assert!(page.contains("<td>60.0</td>") && page.contains("Share of the time at or below"));
    let png = std::fs::read(here.join("p.png")).unwrap();
    assert_eq!(png[..8], *b"\x89PNG\r\n\x1a\n");
}

#[test]
fn conversion_keeps_what_passes() {
    let here = prepared("trace-convert");
    let output = mimosa(&here, "trace convert rows.txt link.up");
    assert!(output.status.success());
    assert_eq!(
        String::from_utf8(output.stderr).unwrap(),
        "note: link.up: a Mahimahi trace has no round trip and no loss; they are left out\n"
    );
    // 3.2 Mbit, rounded up to 1500 bytes, the first of them at the end.
    let mahimahi = read(&here.join("link.up"));
    assert_eq!(mahimahi.lines().count(), 267);
    assert_eq!(mahimahi.lines().last(), Some("1000"));
    let rows = stdout(&here, "trace convert link.up -");
    assert!(rows.starts_with("0 12\n0.002 0\n0.003 12\n"), "{rows}");
    stdout(&here, "trace convert rows.txt again.txt --format rows");
    assert_eq!(read(&here.join("again.txt")), ROWS);
}

#[test]
fn parts_and_scales_keep_the_format() {
    let here = prepared("trace-edit");
    let part = stdout(&here, "trace cut rows.txt - --from 500ms --to 700ms");
    assert_eq!(part, "0 0 11ms 0\n0.1 2 13ms 0\n");
    assert_eq!(stdout(&here, "trace cut rows.txt -"), ROWS);
    let half = stdout(&here, "trace scale rows.txt - --factor 0.5");
    assert!(
        half.starts_with("0 4 10ms 0\n") && half.ends_with("0.9 1 14ms 0\n"),
        "{half}"
    );
    let mean = stdout(&here, "trace scale rows.txt - --mean 1600kbit/s");
    assert_eq!(mean, half);
    stdout(
        &here,
        "trace generate wifi m.up --duration 5s --format mahimahi",
    );
    let part = stdout(&here, "trace cut m.up - --to 1s");
    assert!(part.ends_with("1000\n") && !part.contains(' '), "{part}");
}

#[test]
fn an_output_is_written_over_only_when_told() {
    let here = prepared("trace-force");
    assert_eq!(
        refusal(&here, "cut rows.txt rows.txt --to 100ms"),
        "error: rows.txt is there already; name another file, or write over it with --force\n"
    );
    assert_eq!(read(&here.join("rows.txt")), ROWS);
    stdout(&here, "trace cut --force rows.txt rows.txt --to 200ms");
    assert_eq!(read(&here.join("rows.txt")), "0 8 10ms 0\n0.1 8 12ms 0\n");
}

#[test]
fn generated_traces_are_those_of_their_seed() {
    let here = folder("trace-generate");
    let make = |arguments: &str| stdout(&here, &format!("trace generate {arguments}"));
    let one = make("4g - --seed 3 --duration 20s");
    assert_eq!(one.lines().count(), 1000);
    assert_eq!(make("4g - --seed 3 --duration 20s"), one);
    assert_ne!(make("4g - --seed 4 --duration 20s"), one);
    assert_ne!(make("4g - --seed 3 --duration 20s --set fade=0"), one);
    let coarse = make(
        "ethernet - --set step_secs=0.5 --set noise=0 --set falls_per_minute=0 --mean 9Mbit/s",
    );
    assert!(
        coarse
            .lines()
            .all(|line| line.ends_with(" 9") || line == "60"),
        "{coarse}"
    );
    let parameters = stdout(&here, "trace models wifi");
    assert!(parameters.contains("others_mean") && parameters.contains("stations that contend"));
    let table = stdout(
        &here,
        "trace models 4g ethernet --seeds 1..3 --duration 10s",
    );
    assert_eq!(table.matches(" median ").count(), 2, "{table}");
}

#[test]
fn shipped_traces_are_those_that_the_models_make() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    for (name, seed) in [("ethernet", 29), ("wifi", 3), ("4g", 7), ("5g", 15)] {
        let shipped = read(&root.join(format!("traces/{name}.txt")));
        assert_eq!(
            stdout(&root, &format!("trace generate {name} - --seed {seed}")),
            shipped,
            "{name}"
        );
    }
}

#[test]
fn mistakes_name_their_place_and_their_mend() {
    let here = prepared("trace-mistakes");
    std::fs::write(here.join("bad.txt"), "0 1\n0.1 fast\n").unwrap();
    std::fs::write(here.join("long.txt"), "0 1\n1000000 2\n").unwrap();
    std::fs::write(here.join("bytes.txt"), b"\xff\xfe 1\n").unwrap();
    let why = std::fs::read("no such file").unwrap_err().to_string();
    for (arguments, message) in [
        (
            "inspect none.txt",
            format!("cannot read none.txt: {why}; name a trace file, such as traces/wifi.txt"),
        ),
        (
            "inspect rows.txt bad.txt",
            "bad.txt:2: `fast` is no rate in Mbit/s; \
             a row is `seconds Mbit/s [RTTms [loss]]`, e.g. `0.015 20.59 14.0ms 0.02`"
                .to_owned(),
        ),
        (
            "inspect long.txt",
            "long.txt: the trace lasts 2000000s, longer than a week; \
             check the unit of its times, or cut it"
                .to_owned(),
        ),
        (
            "inspect rows.txt --plot ./rows.svg/p.svg",
            format!(
                "cannot write ./rows.svg/p.svg: {why}; \
                 name a file in a folder that exists and can be written to"
            ),
        ),
        (
            "convert long.txt out.up",
            "cannot write out.up: a Mahimahi trace lasts at most a day, \
             but this one lasts 2000000s; cut it"
                .to_owned(),
        ),
        (
            "cut rows.txt out.txt --from 700ms --to 2s",
            "rows.txt: 700ms to 2s is no part of the trace, which lasts 1s; \
             let it begin before it ends, and end by 1s"
                .to_owned(),
        ),
        (
            "cut rows.txt out.txt --from 300ms --to 500ms",
            "rows.txt: nothing would ever pass in it; choose another part, or a higher rate"
                .to_owned(),
        ),
        (
            "scale rows.txt out.txt --factor -1",
            "rows.txt: -1 is no factor; write a number above zero, e.g. 0.5".to_owned(),
        ),
        (
            "generate 3g out.txt",
            "there is no model `3g`; \
             there is ethernet, wifi, wifi-office, 4g, 4g-driving, 5g"
                .to_owned(),
        ),
        (
            "generate 5g out.txt --set shade=9",
            "`9` is no value of shade, deviation of the shadowing's logarithm (4G); \
             write a number from 0 to 3"
                .to_owned(),
        ),
        (
            "generate wifi none/out.txt",
            format!(
                "cannot write none/out.txt: {why}; \
                 name a file in a folder that exists and can be written to"
            ),
        ),
    ] {
        assert_eq!(refusal(&here, arguments), format!("error: {message}\n"));
    }
    assert!(refusal(&here, "inspect bytes.txt").contains("bytes.txt:1: "));
    std::fs::copy(here.join("rows.txt"), here.join("rows.svg")).unwrap();
    let same = refusal(&here, "inspect rows.svg --plot rows.svg");
    assert!(same.contains("would replace the trace rows.svg"), "{same}");
    // Those that the arguments' parser refuses end with a line about --help.
    let set = refusal(&here, "generate wifi out.txt --set shade");
    assert!(
        set.contains("write a parameter and its value, e.g. shade=0.3"),
        "{set}"
    );
    let none = refusal(&here, "scale rows.txt out.txt");
    assert!(
        none.contains("--factor") && none.contains("--mean"),
        "{none}"
    );
    assert!(
        !here.join("out.txt").exists(),
        "refused before it is created"
    );
}
