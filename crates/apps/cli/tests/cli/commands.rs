//! What is not a simulation.

use crate::{folder, mimosa, stdout};

#[test]
fn help_says_what_every_option_does() {
    let here = folder("help");
    let help = stdout(&here, "sim --help");
    for option in [
        "--seeds",
        "--variant",
        "--from",
        "--to",
        "--markdown",
        "--json",
        "--frames",
        "--packets",
        "--plot",
    ] {
        let mut lines = help.lines().skip_while(|line| !line.contains(option));
        let line = lines
            .next()
            .unwrap_or_else(|| panic!("no {option} in:\n{help}"));
        assert!(line.split_whitespace().count() > 4, "{line}");
    }
    assert!(stdout(&here, "--help").contains("sim"));
}

#[test]
fn completions_and_the_manual_know_the_options() {
    let here = folder("manual");
    for shell in ["bash", "zsh", "fish"] {
        let script = stdout(&here, &format!("completions {shell}"));
        assert!(
            script.contains("mimosa") && script.contains("packets"),
            "{shell}"
        );
    }
    let manual = stdout(&here, "man");
    assert!(manual.contains(".TH mimosa 1") && manual.contains("\\-\\-packets"));
}

#[test]
fn a_command_that_is_none_is_refused() {
    let output = mimosa(&folder("command"), "simulate");
    assert_eq!(output.status.code(), Some(2));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("'simulate'") && errors.contains("'sim'"),
        "{errors}"
    );
}

#[test]
fn the_version_says_the_commit_and_what_is_built_in() {
    let here = folder("version");
    let version = stdout(&here, "--version");
    let lines: Vec<_> = version.lines().collect();
    assert_eq!(lines.len(), 3, "{version}");
    let number = concat!("mimosa ", env!("CARGO_PKG_VERSION"));
    assert_eq!(lines[0], number);
    assert!(lines[1].len() > "commit: ".len() && lines[1].starts_with("commit: "));
    // The tests in this folder have these.
    for feature in ["serve", "play", "proxy", "lab", "openh264"] {
        assert!(lines[2].starts_with("features: ") && lines[2].contains(feature));
    }
    assert_eq!(
        lines[2].contains(" x264,"),
        cfg!(feature = "x264"),
        "{version}"
    );
    assert_eq!(stdout(&here, "-V").trim_end(), number);
}
