//! `mimosa serve` until it listens, and `mimosa doctor`.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use std::process::{Command, Output};

use mimosa_settings::{KEYS, template};

use crate::{folder, stdout};

/// An address for documentation (RFC 5737), which no machine has.
const NOWHERE: &str = "192.0.2.1";

/// What `mimosa` does with `arguments`, with its settings below `home`, one
/// variable of its own at most, and no display.
fn call(home: &Path, variable: Option<(&str, &str)>, arguments: &[&str]) -> Output {
    let ours =
        std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("MIMOSA_"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_mimosa"));
    for (name, _) in ours {
        command.env_remove(name);
    }
    command
        .args(arguments)
        .current_dir(home)
        .env("XDG_CONFIG_HOME", home)
        .env("XDG_STATE_HOME", home.join("state"))
        .env_remove("DISPLAY")
        .envs(variable)
        .output()
        .unwrap()
}

/// What `mimosa serve` says when it refuses.
fn refusal(home: &Path, variable: Option<(&str, &str)>, arguments: &[&str]) -> String {
    let arguments: Vec<_> = ["serve"].iter().chain(arguments).copied().collect();
    let output = call(home, variable, &arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {errors}");
    assert_eq!(output.stdout, b"", "{arguments:?}");
    errors
}

#[test]
fn help_has_every_setting() {
    let here = folder("serve-help");
    for command in ["serve", "doctor"] {
        let help = stdout(&here, &format!("{command} --help"));
        for key in KEYS {
            // What would be seen in the list of processes comes from a file alone.
            if key.name == "relay_secret" {
                assert!(!help.contains(&format!("{} <", key.flag())), "{help}");
                assert!(help.contains(&key.variable()), "{help}");
                continue;
            }
            for part in [
                &format!("{} <", key.flag()),
                &key.variable(),
                key.comment,
                key.group,
            ] {
                assert!(help.contains(part), "no {part} in:\n{help}");
            }
        }
    }
    assert!(stdout(&here, "completions bash").contains("--encoder-complexity"));
}

#[test]
fn the_first_run_creates_the_settings_file() {
    let home = folder("first-run");
    let file = home.join("mimosa/mimosa.toml");
    let errors = refusal(&home, None, &["--bind", NOWHERE]);
    assert!(
        errors.contains(&format!("created {}", file.display())),
        "{errors}"
    );
    assert!(
        errors.contains(NOWHERE) && errors.contains("--bind"),
        "{errors}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), template());
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    std::fs::write(
        &file,
        format!("bind = [\"{NOWHERE}\"]\nlog_format = \"json\""),
    )
    .unwrap();
    let errors = refusal(&home, None, &[]);
    assert!(errors.contains("\"message\":\"settings from "), "{errors}");
    assert!(errors.contains(NOWHERE), "{errors}");
}

#[test]
fn without_a_place_for_the_file_it_goes_on() {
    let home = folder("no-place");
    // A file in the place of the folder.
    std::fs::write(home.join("mimosa"), "").unwrap();
    let errors = refusal(&home, None, &["--config", "mimosa/mimosa.toml"]);
    assert!(
        errors.contains("cannot read the settings file mimosa/mimosa.toml"),
        "{errors}"
    );
    let nowhere = Path::new("/proc/no/such/place");
    let output = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["serve", "--bind", NOWHERE])
        .env("XDG_CONFIG_HOME", nowhere)
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("cannot create /proc/no/such/place/mimosa/mimosa.toml"),
        "{errors}"
    );
    assert!(errors.contains("cannot listen"), "{errors}");
}

#[test]
fn a_secret_that_others_may_read_is_warned_of() {
    let home = folder("secret-file");
    let warns = |file: &str, mode, arguments: &[&str]| {
        let path = home.join(file);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let errors = refusal(&home, None, &[&["--bind", NOWHERE][..], arguments].concat());
        assert!(errors.contains("cannot listen"), "{errors}");
        errors.contains(file) && errors.contains("others may read it")
    };
    std::fs::write(home.join("secret"), "a-token-of-a-file\n").unwrap();
    for flag in ["--token-file", "--view-token-file"] {
        assert!(warns("secret", 0o640, &[flag, "secret"]), "{flag}");
        assert!(warns("secret", 0o604, &[flag, "secret"]), "{flag}");
        assert!(!warns("secret", 0o600, &[flag, "secret"]), "{flag}");
    }
    let settings = home.join("own.toml");
    for (text, has_secret) in [
        ("token = \"a-token-of-a-file\"", true),
        ("view_token = \"a-token-of-a-file\"", true),
        ("viewers = 2", false),
    ] {
        std::fs::write(&settings, text).unwrap();
        let of_it = ["--config", "own.toml"];
        assert_eq!(warns("own.toml", 0o644, &of_it), has_secret, "{text}");
        assert!(!warns("own.toml", 0o600, &of_it), "{text}");
    }
    let errors = refusal(&home, None, &["--token-file", "no-such-secret"]);
    assert!(
        errors.starts_with("error: cannot read the secret in no-such-secret: "),
        "{errors}"
    );
}

#[test]
fn root_is_warned_of_who_may_play_programs() {
    let home = folder("as-root");
    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let display = ["--source", "x11", "--display", ":9753"];
    for (source, is_warned) in [(&display[..], is_root), (&[], false)] {
        let errors = refusal(&home, None, &[&["--bind", NOWHERE], source].concat());
        assert_eq!(errors.contains("running as root"), is_warned, "{errors}");
    }
}

#[test]
fn a_folder_for_recordings_that_cannot_be_written_is_refused() {
    let home = folder("no-record");
    std::fs::write(home.join("a-file"), "").unwrap();
    for flag in ["--record", "--record-pictures"] {
        for place in ["/proc/recordings", "a-file"] {
            let errors = refusal(&home, None, &["--bind", NOWHERE, flag, place]);
            assert!(errors.contains(place), "{errors}");
            assert!(!errors.contains("cannot listen"), "{errors}");
        }
    }
}

#[test]
fn a_home_that_is_no_absolute_path_is_named() {
    let home = folder("relative-home");
    let output = Command::new(env!("CARGO_BIN_EXE_mimosa"))
        .args(["serve", "--bind", NOWHERE])
        .current_dir(&home)
        .env("HOME", "home")
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("neither HOME nor XDG_CONFIG_HOME is an absolute path"),
        "{errors}"
    );
    assert!(!home.join("home").exists(), "nothing is made there");
}

#[test]
fn mistakes_are_refused_where_they_are() {
    let home = folder("serve-refused");
    std::fs::write(home.join("bad.toml"), "viewers = 2\nprot = 80\n").unwrap();
    for (variable, arguments, message) in [
        (
            None,
            &["--config", "none.toml"][..],
            "error: cannot read the settings file none.toml: ",
        ),
        (
            None,
            &["--config", "bad.toml"],
            "error: bad.toml:2: there is no key `prot`; ",
        ),
        (
            Some(("MIMOSA_HTP_PORT", "80")),
            &[],
            "error: MIMOSA_HTP_PORT: there is no such variable; did you mean MIMOSA_HTTP_PORT?",
        ),
        (
            None,
            &["--launch", "doom", "--title", "doom"],
            "error: --launch: `launch` cannot stand",
        ),
        (
            None,
            &["--controller", "best"],
            "error: --controller: `controller.name` must be `bbr-app`, `bbr2`, `bbr3`, `c3g`",
        ),
        (
            None,
            &["--controller", "oracle"],
            "error: --controller: `controller.name` must be `bbr-app`, `bbr2`, `bbr3`, `c3g`",
        ),
        (
            None,
            &["--params", "alhpa = 1"],
            "error: --params: `controller.params`: unknown field",
        ),
        (
            None,
            &["--log", "inof"],
            "error: --log: `log`: `inof` is none of off, error,",
        ),
    ] {
        let errors = refusal(&home, variable, arguments);
        assert!(errors.starts_with(message), "{errors}");
    }
    assert!(
        !home.join("mimosa").exists(),
        "nothing is created before all is right"
    );
}

/// Arguments with which everything is there.
const EASY: [&str; 9] = [
    "doctor",
    "--bind",
    "127.0.0.1",
    "--http-port",
    "0",
    "--udp-port",
    "0",
    "--size",
    "64x64",
];

#[test]
fn the_doctor_finds_nothing_missing() {
    let home = folder("doctor");
    let output = call(&home, None, &[&EASY[..], &["--json"]].concat());
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = found.as_array().unwrap();
    let missing: Vec<_> = found
        .iter()
        .filter(|one| one["state"] == "missing")
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(output.status.code(), Some(0));
    for one in found {
        assert!(
            one["check"].is_string() && one["detail"].is_string(),
            "{one}"
        );
        assert!(
            one["state"] != "missing" || one["remedy"].is_string(),
            "{one}"
        );
    }
    assert!(!home.join("mimosa").exists(), "it only looks");
}

#[test]
fn the_doctor_shows_what_is_wrong_with_the_file() {
    let home = folder("doctor-file");
    std::fs::write(home.join("bad.toml"), "viewers = 101").unwrap();
    let output = call(
        &home,
        None,
        &[&EASY[..], &["--config", "bad.toml"]].concat(),
    );
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{table}");
    let message = "bad.toml:1: `viewers` must be a whole number from 0 to 100, not `101`";
    assert!(
        table.contains(message) && table.contains("cannot run"),
        "{table}"
    );
    assert!(table.is_ascii(), "marks are for terminals: {table}");
}

#[test]
fn the_doctor_names_a_display_that_is_not_there() {
    let home = folder("doctor-display");
    let output = call(&home, None, &[&EASY[..], &["--display", ":9753"]].concat());
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{table}");
    assert!(
        table.contains("missing  X display") && table.contains(":9753"),
        "{table}"
    );
}

/// Files that are no libraries stand before those that are installed: a program that linked them
/// would not start.
#[test]
fn the_doctor_names_each_library_that_cannot_be_loaded_and_the_encoder_without_them() {
    let home = folder("doctor-libraries");
    for file in [
        "libSvtAv1Enc.so.1",
        "libx264.so.163",
        "libx264.so.164",
        "libx264.so.165",
        "libavcodec.so.58",
        "libavcodec.so.59",
        "libavcodec.so.60",
        "libavcodec.so.61",
        "libavcodec.so.62",
        "libavcodec.so.63",
    ] {
        std::fs::write(home.join(file), "").unwrap();
    }
    let folder = home.to_string_lossy();
    let output = call(&home, Some(("LD_LIBRARY_PATH", &folder)), &EASY);
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{table}");
    for (found, file, package) in [
        (cfg!(feature = "x264"), "libx264.so.164: ", "libx264-164"),
        (
            cfg!(feature = "svt-av1"),
            "libSvtAv1Enc.so.1: ",
            "libsvtav1enc1",
        ),
        (cfg!(feature = "play"), "libavcodec.so.61: ", "libavcodec61"),
    ] {
        let line = table.lines().find(|line| line.contains(file));
        let is_told =
            line.is_some_and(|line| line.starts_with("warning ") && line.contains(package));
        assert_eq!(is_told, found, "{file} in:\n{table}");
    }
    assert!(table.contains("  OpenH264"), "{table}");
}
