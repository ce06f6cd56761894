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
