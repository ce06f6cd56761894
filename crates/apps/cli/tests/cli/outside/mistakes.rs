//! Every mistake with a controller from outside is said with its place and its mend.

use std::path::Path;

use super::{SCENARIO, controller};
use crate::{folder, mimosa, stdout};

/// Runs `SCENARIO` with the controller `name`, which must fail, and gives the program's message.
fn refused(here: &Path, name: &str, arguments: &str) -> String {
    let text = format!("{SCENARIO}controller = '''{name}'''\n");
    std::fs::write(here.join("run.toml"), text).unwrap();
    let output = mimosa(here, &format!("sim run.toml {arguments}"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{name}: {said}");
    assert_eq!(output.stdout, b"", "{name}");
    said
}

/// A process that answers the first line, and then does this with each.
fn shell(then: &str) -> String {
    format!("process:sh -c 'read -r x; echo \"{{\\\"seq\\\":0}}\"; {then}'")
}

#[test]
fn names_are_refused_at_their_line_before_anything_runs() {
    let here = folder("outside-names");
    std::fs::write(here.join("empty.wasm"), b"\0asm\x01\0\0\0").unwrap();
    std::fs::write(here.join("text.wasm"), "hello").unwrap();
    // A module that imports the function `f` of `env`.
    let import = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x09\x01\x03env\x01f\0\0";
    std::fs::write(here.join("import.wasm"), import).unwrap();
    for (name, what) in [
        ("wasm:none.wasm", "cannot read none.wasm: No such file"),
        ("wasm:", "cannot read"),
        ("wasm:text.wasm", "it is no WebAssembly module or component"),
        (
            "wasm:empty.wasm",
            "no export `mimosa_start` of the type (i32, i32) -> i64",
        ),
        ("wasm:import.wasm", "it imports `env.f`"),
        ("process:", "there is no command"),
        ("process:python3 'a b", "a quote ' does not end"),
        (
            "process:no-such-program a",
            "cannot start `no-such-program`: No such file",
        ),
        (
            "process:./none.sh",
            "cannot start `./none.sh`: No such file",
        ),
        (
            "process:true",
            "the process ended (exit status: 0) and did not answer line 0",
        ),
        ("process:echo hello", "answer 0, `hello`, is wrong"),
        ("wsm:aimd.wasm", "there is no controller `wsm:aimd.wasm`"),
    ] {
        let said = refused(&here, name, "--allow-processes");
        let line = SCENARIO.lines().count() + 1;
        assert!(
            said.starts_with(&format!("error: run.toml:{line}: ")),
            "{name}: {said}"
        );
        assert!(said.contains(what), "{name}: {said}");
        assert_eq!(said.lines().count(), 1, "{name}: {said}");
    }
}

#[test]
fn components_that_are_more_than_a_module_in_an_envelope_are_refused_with_the_reason() {
    let here = folder("outside-components");
    for (name, what) in [
        (
            "import",
            "it imports `clock`, and a controller is given nothing",
        ),
        (
            "empty",
            "no export `start` of the type func(line: string) -> string",
        ),
        (
            "two",
            "the component has more than one module; make one of one",
        ),
        ("within", "the component has components in it"),
        (
            "other",
            "no export `start` of the type func(line: string) -> string",
        ),
        (
            "beyond",
            "line 0: the place for the line from 4294967040 with",
        ),
        (
            "pair",
            "line 0: the place of the answer from 65532 with 8 bytes is not within",
        ),
    ] {
        let file = format!("{name}.wasm");
        std::fs::copy(controller(&format!("wrong/{file}")), here.join(&file)).unwrap();
        let said = refused(&here, &format!("wasm:{file}"), "");
        assert!(said.contains(what), "{name}: {said}");
        assert_eq!(said.lines().count(), 1, "{name}: {said}");
    }
    let whole = std::fs::read(controller("aimd.component.wasm")).unwrap();
    std::fs::write(here.join("cut.wasm"), &whole[..whole.len() - 9]).unwrap();
    let said = refused(&here, "wasm:cut.wasm", "");
    assert!(
        said.contains("it is no WebAssembly module or component"),
        "{said}"
    );
}

#[test]
fn a_file_starts_no_process_unless_its_user_allows_it() {
    let here = folder("outside-allow");
    let said = refused(&here, "process:touch ran", "");
    assert!(
        said.contains("`touch ran`") && said.contains("--allow-processes"),
        "{said}"
    );
    assert!(!here.join("ran").exists());
    refused(&here, "process:touch ran", "--allow-processes");
    assert!(here.join("ran").exists());
}

#[test]
fn a_process_that_goes_wrong_ends_the_run_with_the_line_and_the_mend() {
    let here = folder("outside-process");
    for (then, what) in [
        (
            "read -r x; exit 3",
            "ended (exit status: 3) and did not answer line 1",
        ),
        (
            "read -r x; echo bad; exec sleep 9",
            "answer 1, `bad`, is wrong: expected value",
        ),
        ("read -r x; echo '\"'{}'\"'; exec sleep 9", "answer 1"),
        (
            "read -r x; echo \"{\\\"seq\\\":7}\"; exec sleep 9",
            "answer 1 has the number 7",
        ),
        ("yes | tr -d \"\\n\"", "longer than 16384 bytes"),
    ] {
        let said = refused(&here, &shell(then), "--allow-processes");
        assert!(
            said.starts_with("error: seed 1, flow `game`: controller `process:"),
            "{said}"
        );
        assert!(said.contains(what), "{then}: {said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}

#[test]
fn a_process_that_hangs_ends_the_run_within_its_bound() {
    let here = folder("outside-hangs");
    let name = shell("exec sleep 100");
    let text = format!(
        "{SCENARIO}controller = '''{name}'''\nparams = {{ bounds = {{ answer = '200ms' }} }}\n"
    );
    std::fs::write(here.join("run.toml"), text).unwrap();
    let output = mimosa(&here, "sim run.toml --allow-processes");
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("no answer to line 1 came within `bounds.answer` = 200ms"),
        "{said}"
    );
}

#[test]
fn a_module_that_goes_wrong_ends_the_run_with_the_line_and_the_mend() {
    let here = folder("outside-module");
    std::fs::copy(controller("faults.wasm"), here.join("faults.wasm")).unwrap();
    for (fault, what) in [
        (
            "loop",
            "line 2 took more fuel than `bounds.fuel` = 1000000; raise the bound",
        ),
        ("memory", "line 2 ended in a trap: "),
        (
            "beyond",
            "line 2: the answer from 4294967040 with 256 bytes is not within",
        ),
        ("garbage", "answer 2, `hello`, is wrong"),
        (
            "value",
            "answer 2 is no decision: `target_bps` must be a number from zero",
        ),
        ("again", "answer 2 has the number 1"),
        ("trap", "line 2 ended in a trap: "),
    ] {
        let text = format!(
            "{SCENARIO}controller = 'wasm:faults.wasm'\n\
             params = {{ fault = '{fault}', bounds = {{ fuel = 1_000_000, memory = '2MiB' }} }}\n"
        );
        std::fs::write(here.join("run.toml"), text).unwrap();
        let output = mimosa(&here, "sim run.toml");
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{fault}: {said}");
        let begin = "error: seed 1, flow `game`: controller `wasm:faults.wasm`: ";
        assert!(
            said.starts_with(begin) && said.contains(what),
            "{fault}: {said}"
        );
    }
    let text = format!(
        "{SCENARIO}controller = 'wasm:faults.wasm'\nparams = {{ bounds = {{ memory = '64KiB' }} }}\n"
    );
    std::fs::write(here.join("run.toml"), text).unwrap();
    let said = String::from_utf8(mimosa(&here, "sim run.toml").stderr).unwrap();
    assert!(said.contains("the module does not begin: "), "{said}");
}

#[test]
fn a_suite_names_controllers_beside_itself_and_the_command_line_others() {
    let here = folder("outside-suite");
    std::fs::create_dir(here.join("own")).unwrap();
    let index = r#"title = "Own"
about = "Controllers from outside."
page = "scoreboard"
seeds = [1, 1]
reference = "fixed"
controllers = ["wasm:aimd.wasm"]
[[case]]
name = "falls"
title = "A rate that falls"
source = "ours"
file = "falls.toml"
"#;
    std::fs::write(here.join("own/suite.toml"), index).unwrap();
    std::fs::write(here.join("own/falls.toml"), SCENARIO).unwrap();
    let refused = mimosa(&here, "lab run own --output out");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("`wasm:aimd.wasm`: controller `wasm:aimd.wasm`: cannot read"),
        "{said}"
    );
    std::fs::copy(controller("aimd.wasm"), here.join("own/aimd.wasm")).unwrap();
    stdout(&here, "lab run own --output out");
    let results = std::fs::read_to_string(here.join("out/results.jsonl")).unwrap();
    assert_eq!(results.lines().count(), 2, "{results}");
    assert!(
        results.contains("\"controller\":\"wasm:aimd.wasm\""),
        "{results}"
    );

    let command = format!("process:python3 {}", controller("aimd.py"));
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args([
            "lab",
            "run",
            "own",
            "--output",
            "both",
            "--controller",
            &command,
        ])
        .args(["--controller", "wasm:own/aimd.wasm"])
        .current_dir(&here)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let results = std::fs::read_to_string(here.join("both/results.jsonl")).unwrap();
    let line = |name: &str| {
        let mut lines = results.lines();
        let line = lines.find(|line| line.contains(name)).unwrap();
        line.replace(name, "aimd")
    };
    assert_eq!(line(&command), line("wasm:own/aimd.wasm"));
    let unknown = mimosa(&here, "lab run own --output out --controller wsm:x");
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(said.contains("there is no controller `wsm:x`"), "{said}");
}
