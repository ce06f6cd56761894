//! `mimosa sessions` beside a host with a player, and strangers who claim to have a session.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

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

/// A host, and its URL to play at.
fn served(home: &Path) -> (Running, String) {
    let serve = "serve --bind 127.0.0.1 --http-port 0 --udp-port 0 --size 320x180";
    let mut host = mimosa(home);
    let host = host.args(serve.split(' ')).stderr(Stdio::null()).spawn();
    let mut host = Running(host.unwrap());
    let lines = BufReader::new(host.0.stdout.take().unwrap()).lines();
    let mut urls = lines.map_while(Result::ok);
    let url = urls.find_map(|line| Some(line.strip_prefix("play")?.trim().to_owned()));
    (host, url.unwrap())
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

    let (_host, url) = served(&home);
    let play = ["play", &url, "--headless", "--seconds", "60"];
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

/// Datagrams by TCP at the port of HTTP, from somebody without a session.
#[test]
fn strangers_get_no_answer_by_tcp() {
    let _alone = alone();
    let (_host, url) = served(&folder("strangers"));
    let port = url.split(':').nth(2).unwrap().split('/').next().unwrap();
    // A binding request with the user name of nobody (RFC 8489, sections 5 and 14.3).
    let mut check = b"\0\x01\0\x08\x21\x12\xa4\x42abcdefghijkl\0\x06\0\x03a:b\0".to_vec();
    check.splice(0..0, [0, 28]);
    let media = [&[0, 12, 0x80][..], &[0; 11]].concat();
    let long = [&[15, 255][..], &[0; 4_095]].concat();
    for contents in [check, media, long, vec![0, 0], vec![15]] {
        let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        stream.write_all(&contents).unwrap();
        let mut answer = Vec::new();
        // A connection that is closed with bytes unread is reset.
        let _ = stream.read_to_end(&mut answer).map_err(|error| {
            assert_eq!(
                error.kind(),
                std::io::ErrorKind::ConnectionReset,
                "it is closed"
            );
        });
        assert!(answer.is_empty(), "{answer:?} to {contents:?}");
    }
}
