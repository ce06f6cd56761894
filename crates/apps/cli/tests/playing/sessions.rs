//! `mimosa sessions` beside a host with a player.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::{alone, folder, text};

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn mimosa(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mimosa"));
    command
        .current_dir(home)
        .env("XDG_CONFIG_HOME", home)
        .env("XDG_STATE_HOME", home)
        .env("XDG_RUNTIME_DIR", home)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn sessions(home: &Path, arguments: &[&str]) -> Output {
    let arguments = ["sessions"].iter().chain(arguments);
    mimosa(home).args(arguments).output().unwrap()
}

#[test]
fn the_owner_sees_a_player_and_ends_the_session() {
    let _alone = alone();
    let home = folder("sessions");
    let none = sessions(&home, &[]);
    let said = text(&none.stderr);
    assert!(said.contains("no host of this user runs here"), "{said}");

    let serve = "serve --bind 127.0.0.1 --http-port 0 --udp-port 0 --size 320x180";
    let mut host = mimosa(&home);
    let host = host.args(serve.split(' ')).stderr(Stdio::null()).spawn();
    let mut host = Running(host.unwrap());
    let lines = BufReader::new(host.0.stdout.take().unwrap()).lines();
    let mut urls = lines.map_while(Result::ok);
    let url = urls.find_map(|line| Some(line.strip_prefix("play")?.trim().to_owned()));
    let play = ["play", &url.unwrap(), "--headless", "--seconds", "60"];
    let mut player = mimosa(&home);
    let player = player.args(play).args(["--report", "report.json"]).spawn();
    let mut player = Running(player.unwrap());

    let line = (0..200).find_map(|_| {
        let said = text(&sessions(&home, &[]).stdout);
        let is_there = said.starts_with("0    player  by token") && said.contains("127.0.0.1:");
        (is_there && said.contains("round trip")).then_some(said)
    });
    assert!(line.is_some(), "{}", text(&sessions(&home, &[]).stdout));
    let wrong = sessions(&home, &["end", "7"]);
    assert!(!wrong.status.success());
    let said = text(&wrong.stderr);
    assert!(said.contains("there is no session 7"), "{said}");
    let ended = sessions(&home, &["end", "0"]);
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    player.0.wait().unwrap();
    let report = std::fs::read(home.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["end"], "the host's owner has ended this session");
    assert_eq!(text(&sessions(&home, &[]).stdout), "nobody is connected\n");
}
