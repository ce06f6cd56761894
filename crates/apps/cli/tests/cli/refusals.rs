//! Every mistake is refused before anything runs, by its place and its mend.

use std::path::Path;

use crate::{folder, mimosa};

/// A scenario without mistakes; its last line is the sixth.
const GOOD: &str = r#"duration = "2s"
[link]
rate = "10Mbit/s"
queue = { kind = "droptail", limit = "100kB" }
[[flow]]
name = "game"
"#;

/// What is said of `mimosa <arguments>`, which must fail.
fn refusal(folder: &Path, arguments: &str) -> String {
    let output = mimosa(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments}");
    errors
}

/// What is said of `GOOD` with `old` replaced by `new`.
fn refused(folder: &Path, old: &str, new: &str) -> String {
    assert!(GOOD.contains(old), "{old}");
    std::fs::write(folder.join("run.toml"), GOOD.replacen(old, new, 1)).unwrap();
    refusal(folder, "sim run.toml")
}

/// The same with `more` below.
fn refused_with(folder: &Path, more: &str) -> String {
    std::fs::write(folder.join("run.toml"), format!("{GOOD}{more}")).unwrap();
    refusal(folder, "sim run.toml")
}

/// The system's word for a file that is not there.
fn not_found() -> String {
    std::fs::read("no such file").unwrap_err().to_string()
}

#[test]
fn values_name_their_line_and_what_to_write() {
    let here = folder("values");
    for (old, new, message) in [
        (
            "\"2s\"",
            "2",
            "run.toml:1: `2` has no unit; write the duration as e.g. \"10ms\"",
        ),
        (
            "10Mbit/s",
            "10",
            "run.toml:3: `10` has no unit; write the rate as e.g. \"20Mbit/s\"",
        ),
        (
            "10Mbit/s",
            "10Mbps",
            "run.toml:3: `Mbps` is no unit of a rate; \
             use one of bit/s, kbit/s, Mbit/s, Gbit/s, e.g. \"20Mbit/s\"",
        ),
        (
            "100kB",
            "1kB",
            "run.toml:4: the queue holds 1kB, less than one packet of 1.2kB, so nothing would \
             pass; raise `limit` to 1.2kB or more",
        ),
        (
            "100kB",
            "500us",
            "run.toml:4: a queue of 500us at 10Mbit/s holds less than one packet of 1.2kB, \
             so nothing would pass; raise `limit` to 960us or more",
        ),
        (
            "duration = \"2s\"\n",
            "",
            "run.toml:1: `duration` is missing; write e.g. `duration = \"30s\"`",
        ),
        (
            "100kB",
            "100",
            "run.toml:4: `100` is no limit of a queue; \
             write a size \"500kB\", a time \"300ms\", or a number \"250packets\"",
        ),
        (
            "[[flow]]\nname = \"game\"\n",
            "",
            "run.toml:2: there is no flow; \
             add a `[[flow]]` with `kind = \"video\"`, `\"tcp\"` or `\"cbr\"`",
        ),
        (
            "queue",
            "trace = \"a.txt\"\nqueue",
            "run.toml:3: the link has several rates; \
             give it exactly one of `rate`, `steps` and `trace`",
        ),
    ] {
        assert_eq!(refused(&here, old, new), format!("error: {message}\n"));
    }
}

#[test]
fn flows_name_their_line_and_what_to_write() {
    let here = folder("flows");
    let controllers = mimosa_cc::NAMES.join(", ");
    let no_controller =
        format!("run.toml:7: there is no controller `best`; there is {controllers}");
    for (more, message) in [
        (
            "start = \"5s\"\nstop = \"3s\"\n",
            "run.toml:8: the flow starts at 5s and stops at 3s; let `stop` be later than `start`",
        ),
        (
            "start = \"5s\"\n",
            "run.toml:7: the flow starts at 5s, but the run ends at 2s; \
             let it start earlier, or lengthen `duration`",
        ),
        (
            "fps = \"60\"\n",
            "run.toml:7: invalid type: string \"60\", expected u32; the line is `fps = \"60\"`",
        ),
        (
            "name = \"again\"\n",
            "run.toml:7: duplicate key; the line is `name = \"again\"`",
        ),
        ("controller = \"best\"\n", no_controller.as_str()),
        (
            "kind = \"cbr\"\nrate = \"1Mbit/s\"\nfps = 60\n",
            "run.toml:9: `fps` means nothing for a flow of kind \"cbr\"; remove it",
        ),
        (
            "[[flow]]\nname = \"game\"\n",
            "run.toml:7: the name `game` is taken; give each its own",
        ),
    ] {
        assert_eq!(refused_with(&here, more), format!("error: {message}\n"));
    }
}

#[test]
fn unknown_names_come_with_those_that_exist() {
    let here = folder("unknown");
    let key = refused_with(&here, "colour = \"red\"\n");
    assert!(
        key.starts_with("error: run.toml:7: unknown field `colour`, expected one of"),
        "{key}"
    );
    assert!(key.contains("`controller`"), "{key}");
    let parameter = refused_with(&here, "[flow.params]\nalpha = 0.9\nalhpa = 0.9\n");
    let (what, list) = parameter.split_once(", expected one of").unwrap();
    assert_eq!(what, "error: run.toml:9: unknown field `alhpa`");
    assert!(
        list.contains("`alpha`") && !list.contains("`fps`"),
        "{list}"
    );
    let variant = "[[variant]]\nname = \"one\"\nflow.params.alhpa = 0.9\n";
    let parameter = refused_with(&here, variant);
    assert!(
        parameter.starts_with("error: run.toml:9: unknown field `alhpa`"),
        "{parameter}"
    );
}

#[test]
fn files_named_in_a_scenario_are_told_apart_from_it() {
    let here = folder("files");
    let (rate, trace) = ("rate = \"10Mbit/s\"", "trace = \"link.txt\"");
    let why = not_found();
    assert_eq!(
        refused(&here, rate, trace),
        format!(
            "error: run.toml:3: cannot read `link.txt`: {why}; \
             paths count from the scenario's own folder\n"
        )
    );
    std::fs::write(here.join("link.txt"), "0.0 10\n0.1 10\n0.2 fast\n").unwrap();
    let row = refused(&here, rate, trace);
    assert_eq!(
        row,
        "error: link.txt:3: `fast` is no rate in Mbit/s; \
         a row is `seconds Mbit/s [RTTms [loss]]`, e.g. `0.015 20.59 14.0ms 0.02`\n"
    );
}

#[test]
fn a_scenario_that_cannot_be_read_is_named() {
    let here = folder("unreadable");
    let why = not_found();
    assert_eq!(
        refusal(&here, "sim none.toml"),
        format!(
            "error: cannot read none.toml: {why}; name a scenario file, such as scenarios/steps.toml\n"
        )
    );
    let text = refused(&here, "\"2s\"", "\"2s");
    assert!(text.starts_with("error: run.toml:1: "), "{text}");
    let text = refused(&here, "duration = \"2s\"\n", "");
    assert!(
        text.starts_with("error: run.toml:1: ") && text.contains("`duration`"),
        "{text}"
    );
}

#[test]
fn arguments_that_mean_nothing_come_with_what_to_write() {
    let here = folder("arguments");
    std::fs::write(here.join("run.toml"), GOOD).unwrap();
    let why = not_found();
    for (arguments, message) in [
        (
            "--from 1500ms --to 1s",
            "--from 1500ms --to 1s is no part of the run, which lasts 2s; \
             let --from be before --to and --to at most 2s",
        ),
        (
            "--to 3s",
            "--from 0s --to 3s is no part of the run, which lasts 2s; \
             let --from be before --to and --to at most 2s",
        ),
        (
            "--variant fast",
            "run.toml has no variant `fast`; it has none at all, leave --variant out",
        ),
        (
            "--frames none/f.parquet",
            &format!(
                "cannot write none/f.parquet: {why}; \
                 name a file in a folder that exists and can be written to"
            ),
        ),
        (
            "--frames f.parquet --packets f.parquet",
            "two outputs go to f.parquet; give each a file of its own",
        ),
    ] {
        let said = refusal(&here, &format!("sim run.toml {arguments}"));
        assert_eq!(said, format!("error: {message}\n"));
    }
    assert!(
        !here.join("f.parquet").exists(),
        "refused before it is created"
    );
    // Those that the arguments' parser refuses end with a line about --help.
    for (arguments, message) in [
        (
            "--seeds 5..1",
            "invalid value '5..1' for '--seeds <A..B>': 5 comes after 1; write 1..5",
        ),
        (
            "--seeds few",
            "invalid value 'few' for '--seeds <A..B>': \
             `few` is no range of seeds; write e.g. 1..16 or 7",
        ),
        (
            "--from 3",
            "invalid value '3' for '--from <T>': \
             `3` has no unit; write the duration as e.g. \"10ms\"",
        ),
        (
            "--plot p.pdf",
            "invalid value 'p.pdf' for '--plot <OUT>': \
             its suffix names no format; write .svg, .png or .html",
        ),
        (
            "--frames -",
            "invalid value '-' for '--frames <OUT.parquet>': \
             a recording does not go to standard output; name a file",
        ),
    ] {
        let said = refusal(&here, &format!("sim run.toml {arguments}"));
        assert_eq!(
            said.lines().next(),
            Some(format!("error: {message}").as_str())
        );
    }
}
