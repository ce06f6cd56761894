//! Outputs that cannot be written, or that would replace an input: every command ends with a
//! clear line and leaves nothing behind, and what it reads stays as it was.

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::{folder, mimosa, quality, reports};

const SCENARIO: &str = "duration = \"1s\"\n[link]\ntrace = \"rows.svg\"\n[[flow]]\n";
const TRACE: &str = "0 8 10ms 0\n0.1 8 12ms 0\n0.2 4 14ms 0\n";

/// Commands with an output each, `OUT`, which has the suffix that the command wants. Those
/// that need a network of their own, or a host, refuse or create their outputs first.
const COMMANDS: &[&str] = &[
    "sim in.toml --json OUT",
    "sim in.toml --frames OUT",
    "sim in.toml --packets OUT",
    "sim in.svg --plot OUT.svg",
    "sim in.png --plot OUT.png",
    "sim in.html --plot OUT.html",
    "trace inspect rows.svg --plot OUT.svg",
    "report session --output OUT",
    "quality one.y4m other.y4m --json OUT",
    "emulate in.toml --json OUT",
    "link run in.toml --isolated --log OUT -- true",
    "link run in.toml --isolated --summary OUT -- true",
    "link up no-such-link in.toml --log OUT",
];

/// A folder with the inputs of all commands.
fn prepared(name: &str) -> PathBuf {
    let here = folder(name);
    for name in ["in.toml", "in.svg", "in.png", "in.html"] {
        std::fs::write(here.join(name), SCENARIO).unwrap();
    }
    std::fs::write(here.join("rows.svg"), TRACE).unwrap();
    reports::record(&here.join("session"));
    for name in ["one.y4m", "other.y4m"] {
        quality::write(&here.join(name), (32, 16), &[(None, 100), (None, 110)]);
    }
    here
}

/// All files of a folder and what is in them.
fn contents(here: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(here).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    let content = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().unwrap();
        (name, std::fs::read(entry.path()).unwrap())
    };
    files.map(content).collect()
}

/// What is said, on one line, of a command that is refused.
fn refusal(output: &Output, command: &str) -> String {
    let said = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(2), "{command}: {said}");
    assert_eq!(said.lines().count(), 1, "{command}: {said}");
    assert!(said.starts_with("error: "), "{command}: {said}");
    said
}

/// The inputs of a command; the scenarios name one more.
fn inputs(command: &str) -> Vec<&str> {
    let words = command.split_whitespace();
    let mut inputs: Vec<_> = words
        .filter(|word| Path::new(word).extension().is_some())
        .collect();
    inputs.retain(|word| !word.starts_with("OUT"));
    if command.contains(" session ") {
        inputs.push("session");
    }
    if command.contains(" in.") {
        inputs.push("rows.svg");
    }
    inputs
}

#[test]
fn no_output_replaces_an_input() {
    let here = prepared("faults-inputs");
    let before = contents(&here);
    for command in COMMANDS {
        let suffix = command
            .split_whitespace()
            .find_map(|word| word.strip_prefix("OUT."));
        let suffix = suffix.map_or_else(String::new, |suffix| format!(".{suffix}"));
        for input in inputs(command) {
            let by_symlink = format!("symlink{suffix}");
            let by_hard_link = format!("hard-link{suffix}");
            symlink(here.join(input), here.join(&by_symlink)).unwrap();
            std::fs::hard_link(here.join(input), here.join(&by_hard_link)).unwrap();
            let mut names = vec![by_symlink.as_str(), by_hard_link.as_str()];
            if input.ends_with(&suffix) {
                names.push(input);
            }
            for name in names {
                let command = command.replace(&format!("OUT{suffix}"), name);
                let said = refusal(&mimosa(&here, &command), &command);
                assert!(said.contains("an output would replace the "), "{said}");
            }
            std::fs::remove_file(here.join(&by_symlink)).unwrap();
            std::fs::remove_file(here.join(&by_hard_link)).unwrap();
            assert_eq!(contents(&here), before, "{command}");
        }
    }
}

#[test]
fn a_report_does_not_replace_the_token() {
    let here = folder("faults-token");
    std::fs::write(here.join("token"), "player-player-player\n").unwrap();
    let own = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(here.join("token"), own).unwrap();
    symlink(here.join("token"), here.join("link")).unwrap();
    let before = contents(&here);
    for report in ["token", "./token", "link"] {
        let command =
            format!("play http://127.0.0.1:9/ --headless --token-file token --report {report}");
        let said = refusal(&mimosa(&here, &command), &command);
        assert!(said.contains("an output would replace the token"), "{said}");
        assert_eq!(contents(&here), before, "{command}");
    }
}

#[test]
fn two_outputs_have_two_files() {
    let here = prepared("faults-twice");
    let before = contents(&here);
    for command in [
        "sim in.toml --json out --frames out",
        "sim in.toml --frames ./out --packets out",
        "sim in.toml --json out.svg --plot out.svg",
        "link run in.toml --isolated --log out --summary out -- true",
    ] {
        let said = refusal(&mimosa(&here, command), command);
        assert!(said.starts_with("error: two outputs go to "), "{said}");
        assert_eq!(contents(&here), before, "{command}");
    }
}

#[test]
fn a_clip_is_not_replaced_by_what_it_is_encoded_to() {
    let here = prepared("faults-encode");
    std::fs::create_dir(here.join("out")).unwrap();
    for name in ["frames.csv", "stream.h264"] {
        let clip = here.join("out").join(name);
        std::fs::rename(here.join("one.y4m"), &clip).unwrap();
        let before = std::fs::read(&clip).unwrap();
        let command = format!("encode out/{name} --output out --encoder openh264");
        let said = refusal(&mimosa(&here, &command), &command);
        assert!(said.contains("would replace the clip"), "{said}");
        assert_eq!(contents(&here.join("out")).len(), 1, "{command}");
        assert_eq!(std::fs::read(&clip).unwrap(), before);
        std::fs::rename(&clip, here.join("one.y4m")).unwrap();
    }
    // What is no clip leaves neither a table nor the folder that was made for it.
    let command = "encode rows.svg --output new";
    refusal(&mimosa(&here, command), command);
    assert!(!here.join("new").exists());
}

#[test]
fn a_suite_is_not_replaced_by_its_results() {
    let here = folder("faults-lab");
    std::fs::create_dir(here.join("traces")).unwrap();
    std::fs::write(here.join("traces/results.jsonl"), TRACE).unwrap();
    let command = "lab run scoreboard --case results --controller oracle --seeds 1 \
                   --traces traces --output traces";
    let said = refusal(&mimosa(&here, command), command);
    assert!(
        said.contains("would replace the file traces/results.jsonl"),
        "{said}"
    );
    let kept = std::fs::read_to_string(here.join("traces/results.jsonl")).unwrap();
    assert_eq!(kept, TRACE);
}

#[test]
fn a_full_disk_and_a_missing_folder_are_said_and_nothing_is_left() {
    let here = prepared("faults-full");
    for suffix in ["", ".svg", ".png", ".html"] {
        symlink("/dev/full", here.join(format!("full{suffix}"))).unwrap();
    }
    let before = contents(&here);
    for command in COMMANDS {
        let missing = command.replace("OUT", "none/out");
        let said = refusal(&mimosa(&here, &missing), &missing);
        assert!(said.starts_with("error: cannot write none/out"), "{said}");
        assert!(said.contains("in a folder that exists"), "{said}");
        assert_eq!(contents(&here), before, "{command}");
        let needs_rights = command.starts_with("emulate") || command.starts_with("link");
        if !needs_rights {
            let full = command.replace("OUT", "full");
            let said = refusal(&mimosa(&here, &full), &full);
            assert!(said.starts_with("error: cannot write full"), "{said}");
            assert_eq!(contents(&here), before, "{command}");
        }
    }
}

#[test]
fn a_report_of_what_is_played_is_created_before_it_is_played() {
    let here = folder("faults-play");
    // Nothing answers there.
    let command = "play http://127.0.0.1:9/ --headless --report none/out";
    let said = refusal(&mimosa(&here, command), command);
    assert!(said.starts_with("error: cannot write none/out: "), "{said}");
    let command = "play http://127.0.0.1:9/ --headless --report out";
    let said = refusal(&mimosa(&here, command), command);
    assert!(said.contains("cannot be reached"), "{said}");
    assert!(contents(&here).is_empty());
}

/// Runs `script` in a mount namespace with a disk of 16 KiB at `tiny`; `None`, with the reason,
/// where that may not be made.
fn on_a_tiny_disk(here: &Path, script: &str) -> Option<Output> {
    std::fs::create_dir_all(here.join("tiny")).unwrap();
    let mount = format!("mount -t tmpfs -o size=16k none tiny && {{ {script}\n}}");
    let output = Command::new("unshare")
        .args(["--mount", "--map-root-user", "sh", "-c", &mount])
        .current_dir(here)
        .output();
    let said = match &output {
        Ok(output) if !output.stdout.is_empty() => return Some(output.clone()),
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(error) => error.to_string(),
    };
    assert!(std::env::var_os("CI").is_none(), "{said}");
    eprintln!("skipped: a disk cannot be mounted: {said}");
    None
}

#[test]
fn a_disk_that_becomes_full_has_nothing_of_an_output_on_it() {
    let here = prepared("faults-tiny");
    let rows = (0..4_000).map(|row| format!("{row} {} 10ms\n", 1 + row % 7));
    let long = rows.collect::<Vec<_>>().concat();
    std::fs::write(here.join("long.txt"), long).unwrap();
    for command in [
        "sim in.toml --frames OUT",
        "sim in.toml --packets OUT",
        "sim in.svg --plot OUT.png",
        "sim in.svg --plot OUT.html",
        "trace scale long.txt OUT --factor 2",
        "trace cut --force long.txt OUT",
        "report session --output OUT",
    ] {
        let program = env!("CARGO_BIN_EXE_mimosa");
        let arguments = command.replace("OUT", "tiny/out");
        // What was there before stays, whole.
        let script = format!(
            "echo before > tiny/kept; {program} {arguments} >&2; echo $?; ls -A tiny; cat tiny/kept"
        );
        let Some(output) = on_a_tiny_disk(&here, &script) else {
            return;
        };
        let said = String::from_utf8_lossy(&output.stderr);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert_eq!(printed, "2\nkept\nbefore\n", "{command}: {said}");
        assert!(said.contains("cannot write tiny/out"), "{command}: {said}");
    }
}

/// A command in `here` whose standard output, or standard error, is a pipe that nobody reads.
fn with_closed(here: &Path, arguments: &str, is_output: bool) -> Output {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mimosa"));
    command
        .args(arguments.split_whitespace())
        .current_dir(here)
        .stdin(Stdio::null());
    if is_output {
        command.stdout(writer);
    } else {
        command.stderr(writer);
    }
    command.output().unwrap()
}

#[test]
fn a_reader_that_has_gone_away_is_no_error() {
    let here = prepared("faults-closed");
    for suffix in ["", ".svg"] {
        symlink("/dev/stdout", here.join(format!("pipe{suffix}"))).unwrap();
    }
    let before = contents(&here);
    for command in [
        "--help",
        "sim --help",
        "completions bash",
        "man",
        "lab list",
        "doctor --json",
        "sim in.toml",
        "sim in.toml --json -",
        "sim in.toml --json pipe",
        "sim in.toml --packets pipe",
        "sim in.toml --plot pipe.svg",
        "trace inspect rows.svg",
        "trace inspect rows.svg --json",
        "trace inspect rows.svg --plot pipe.svg",
        "trace models",
        "trace convert rows.svg -",
        "trace generate wifi -",
        "report session --json",
        "quality one.y4m other.y4m",
        "quality one.y4m other.y4m --json pipe",
    ] {
        let output = with_closed(&here, command, true);
        let said = String::from_utf8_lossy(&output.stderr);
        let is_right = if command.starts_with("doctor") {
            // 1 where this machine cannot serve.
            matches!(output.status.code(), Some(0 | 1))
        } else {
            output.status.success()
        };
        assert!(is_right, "{command}: {:?} {said}", output.status);
        assert!(!said.contains("panicked"), "{command}: {said}");
        assert_eq!(contents(&here), before, "{command}");
    }
}

#[test]
fn a_refusal_that_nobody_reads_is_one_all_the_same() {
    let here = prepared("faults-unheard");
    // A note on a jump of time, too.
    std::fs::write(here.join("jumps.txt"), "0 1\n0.1 2\n900 1\n901 2\n").unwrap();
    for (command, code) in [
        ("sim none.toml", 2),
        ("sim", 2),
        ("trace inspect jumps.txt none.txt", 2),
        ("trace inspect jumps.txt", 0),
        ("link down no-such-link", 2),
        ("play http://127.0.0.1:9/ --headless", 2),
    ] {
        let output = with_closed(&here, command, false);
        assert_eq!(output.status.code(), Some(code), "{command}");
    }
}

#[test]
fn a_standard_output_that_is_full_is_said() {
    let here = prepared("faults-standard");
    for command in [
        "sim in.toml",
        "trace models",
        "man",
        "report session --json",
    ] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
        let output = Command::new(env!("CARGO_BIN_EXE_mimosa"))
            .args(command.split_whitespace())
            .current_dir(&here)
            .stdout(full.unwrap())
            .stderr(Stdio::piped())
            .output()
            .unwrap();
        let said = refusal(&output, command);
        assert!(
            said.starts_with("error: cannot write standard output: "),
            "{said}"
        );
    }
}
