//! `mimosa link up`, `exec`, `status`, `set` and `down`.

use std::path::Path;

use serde_json::Value;

use crate::{done, link, soon, text, unique, with_network};

const NETWORK: &str = r#"
[link]
rate = "8Mbit/s"
one_way_delay = "2ms"
queue = { kind = "htb", default = "rest" }
[[link.class]]
name = "game"
rate = "6Mbit/s"
match = [{ protocol = "udp", destination_ports = "7000-7010" }]
[[link.class]]
name = "rest"
rate = "2Mbit/s"
"#;

/// Sends so many datagrams of 972 bytes, 1000 with their headers, one a millisecond.
const SEND: &str = "import os, socket, sys, time
to = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[1])):
    to.sendto(b'x' * 972, (os.environ['MIMOSA_LINK_PEER'], 7001))
    time.sleep(0.001)
";

/// How the link stands.
fn status(folder: &Path, name: &str) -> Value {
    let output = done(folder, &format!("status {name} --json"));
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// One of its queues on the way there.
fn queue(status: &Value, name: &str) -> Value {
    let queues = status["ways"][0]["queues"].as_array().unwrap();
    let found = queues.iter().find(|queue| queue["name"] == name);
    found.unwrap().clone()
}

#[test]
fn a_link_stays_shows_what_it_does_changes_and_goes() {
    let Some(folder) = with_network("stay", NETWORK) else {
        return;
    };
    std::fs::write(folder.join("send.py"), SEND).unwrap();
    let name = unique("stays");
    let up = done(&folder, &format!("up {name} path.toml --log log.parquet"));
    assert!(up.status.success(), "{}", text(&up.stderr));
    let twice = done(&folder, &format!("up {name} path.toml"));
    assert_eq!(twice.status.code(), Some(2));
    assert!(text(&twice.stderr).starts_with(&format!("error: there is a link `{name}` already")));
    let exec = |side: &str, words: &[&str]| {
        let mut command = link(&folder, &format!("exec {side} --name {name} --"));
        command.args(words).output().unwrap()
    };
    let addresses = ["sender", "receiver"].map(|side| {
        let output = exec(side, &["sh", "-c", "echo $MIMOSA_LINK_ADDRESS"]);
        text(&output.stdout).trim().to_owned()
    });
    assert_eq!(addresses, ["100.64.0.1", "100.64.0.2"]);
    let load = exec("sender", &["python3", "send.py", "100"]);
    assert!(load.status.success(), "{}", text(&load.stderr));
    let passed = || queue(&status(&folder, &name), "game")["passed"].clone();
    assert!(soon(|| passed() == 100), "{}", status(&folder, &name));
    let before = status(&folder, &name);
    assert_eq!(before["ways"][0]["link_mbps"], 8.0);
    // Nobody listened there: the answers went back.
    assert_ne!(before["ways"][1]["offered"], 0);
    assert_eq!(before["ways"][0]["unwritten"], 0);
    let set = done(&folder, &format!("set {name} --rate 0.8Mbit/s --loss 1"));
    assert!(set.status.success(), "{}", text(&set.stderr));
    assert!(
        exec("sender", &["python3", "send.py", "10"])
            .status
            .success()
    );
    // A packet takes ten milliseconds now, and none arrives.
    assert!(soon(|| passed() == 110));
    let after = status(&folder, &name);
    assert_eq!(after["ways"][0]["link_mbps"], 0.8);
    assert_eq!(queue(&after, "game")["lost"], 10);
    let shown = text(&done(&folder, &format!("status {name}")).stdout);
    assert!(shown.contains("there  game"), "{shown}");
    let down = done(&folder, &format!("down {name}"));
    assert!(down.status.success(), "{}", text(&down.stderr));
    let gone = done(&folder, &format!("status {name}"));
    assert_eq!(gone.status.code(), Some(2));
    let log = std::fs::File::open(folder.join("log.parquet")).unwrap();
    let recording = mimosa_record::read_link(log).unwrap();
    let games = recording.packets.iter().filter(|packet| packet.queue == 1);
    assert_eq!(games.count(), 110);
}
