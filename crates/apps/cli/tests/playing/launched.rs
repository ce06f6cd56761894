//! What a host starts: a game that learns none of its secrets, and a sound server that may die.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use mimosa_system::clock::{now, wait};

use crate::program::{Running, mimosa};
use crate::{alone, folder, text};

/// Longer than anything here takes on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A host that runs a command, with its log in `log.txt` and its URLs in `urls.txt`.
fn launched(home: &Path, game: &str, more: &[&str], variables: &[(&str, &str)]) -> Running {
    let file = |name: &str| std::fs::File::create(home.join(name)).unwrap();
    let serve = "serve --bind 127.0.0.1 --http-port 0 --udp-port 0 --size 320x180 --launch";
    let mut host = mimosa(home);
    host.args(serve.split(' '))
        .arg(game)
        .args(more)
        .envs(variables.iter().copied())
        .stdout(file("urls.txt"))
        .stderr(file("log.txt"));
    Running(host.spawn().unwrap())
}

/// The text of a file, once it has what is looked for so many times.
fn times(path: &Path, what: &str, many: usize) -> String {
    let patience = now() + PATIENCE;
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if text.matches(what).count() >= many {
            return text;
        }
        assert!(now() < patience, "no `{what}` in: {text}");
        wait(Duration::from_millis(20));
    }
}

#[test]
fn a_game_learns_no_secret_of_its_host() {
    let _alone = alone();
    let home = folder("secrets");
    std::fs::write(home.join("token"), "a-token-of-a-file\n").unwrap();
    let game = "env > environment; echo whole >> environment; sleep 1000";
    let relay = ["--relay", "turn:192.0.2.1:3478", "--sound", "off"];
    let flags = [&["--token-file", "token"][..], &relay].concat();
    let variables = [
        ("MIMOSA_VIEW_TOKEN", "viewer-viewer-viewer"),
        ("MIMOSA_RELAY_SECRET", "between-relay-and-host"),
        ("MIMOSA_VIEWERS", "3"),
    ];
    let _host = launched(&home, game, &flags, &variables);
    let environment = times(&home.join("environment"), "whole\n", 1);
    assert!(environment.contains("MIMOSA_VIEWERS=3"), "{environment}");
    let urls = times(&home.join("urls.txt"), "watch", 1);
    assert!(urls.contains("#token=a-token-of-a-file"), "{urls}");
    assert!(urls.contains("#token=viewer-viewer-viewer"), "{urls}");
    for secret in ["a-token-of-a-file", "viewer-viewer", "between-relay"] {
        assert!(!environment.contains(secret), "{environment}");
    }
}

#[test]
fn the_sound_comes_back_when_its_server_has_died() {
    let _alone = alone();
    let home = folder("sound-server");
    let host = launched(&home, "sleep 1000", &[], &[]);
    times(&home.join("urls.txt"), "watch", 1);
    let log = home.join("log.txt");
    for time in 1..=2 {
        let found = Command::new("pgrep").args(["-x", "pulseaudio"]).output();
        let found = text(&found.unwrap().stdout);
        let is_ours = |process: &&str| is_of(process, host.0.id());
        let ours: Vec<_> = found.lines().filter(is_ours).collect();
        assert_eq!(ours.len(), 1, "one server of this host's: {ours:?}");
        let killed = Command::new("kill").arg("-KILL").arg(ours[0]).status();
        assert!(killed.unwrap().success());
        let said = times(&log, "the sound is back", time);
        let away = said.matches("the sound is away").count();
        assert_eq!(away, time, "{said}");
    }
}

/// Whether a process is a child of this one.
fn is_of(process: &str, parent: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"));
    let line = format!("PPid:\t{parent}");
    status.is_ok_and(|status| status.lines().any(|found| found == line))
}
