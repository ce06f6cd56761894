//! `mimosa sessions` beside a host with a player, and strangers who claim to have a session.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use serde_json::Value;

use crate::program::{Running, mimosa, served};
use crate::{alone, folder, text};

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

    let (_host, url) = served(&home, "320x180");
    let urls = mimosa(&home).arg("urls").output().unwrap();
    let urls = text(&urls.stdout);
    assert!(urls.starts_with(&format!("play   {url}\n")), "{urls}");
    assert!(urls.contains("\nown    http"), "{urls}");
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
    let (_host, url) = served(&folder("strangers"), "320x180");
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
