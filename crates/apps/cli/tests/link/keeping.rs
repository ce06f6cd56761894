//! `mimosa link up`, `exec`, `status`, `set` and `down`.

use std::os::unix::fs::{PermissionsExt, chown, symlink};
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
    let games = recording
        .packets
        .iter()
        .filter(|packet| packet.packet.queue == 1);
    assert_eq!(games.count(), 110);
}

#[test]
fn of_links_of_one_name_that_begin_at_once_one_comes_up() {
    let Some(folder) = with_network("race", NETWORK) else {
        return;
    };
    let name = unique("race");
    let up = || {
        let mut command = link(&folder, &format!("up {name} path.toml"));
        command
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
    };
    let begun: Vec<_> = (0..6).map(|_| up()).collect();
    let ended: Vec<_> = begun
        .into_iter()
        .map(|child| child.wait_with_output().unwrap())
        .collect();
    let (up, refused): (Vec<_>, Vec<_>) = ended.iter().partition(|output| output.status.success());
    assert_eq!(up.len(), 1);
    for output in refused {
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        let taken = format!("error: there is a link `{name}` already");
        assert!(said.starts_with(&taken), "{said}");
    }
    let held = || {
        let list = std::process::Command::new("ps")
            .args(["-eo", "args"])
            .output()
            .unwrap();
        let holds = format!("link hold {name} ");
        text(&list.stdout)
            .lines()
            .filter(|line| line.contains(&holds))
            .count()
    };
    assert_eq!(held(), 1);
    assert!(done(&folder, &format!("down {name}")).status.success());
    assert!(soon(|| held() == 0));
    // The name is free again.
    assert!(
        done(&folder, &format!("up {name} path.toml"))
            .status
            .success()
    );
    assert!(done(&folder, &format!("down {name}")).status.success());
}

#[test]
fn a_folder_of_links_that_others_may_use_is_refused() {
    let folder = crate::folder("others");
    let list = || {
        // Without root's rights the folder is the user's own.
        let mut command = std::process::Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(env!("CARGO_BIN_EXE_mimosa"))
            .args(["link", "status"])
            .env_remove("XDG_RUNTIME_DIR")
            .env("TMPDIR", &folder);
        command.output().unwrap()
    };
    let is_root = std::process::Command::new("id")
        .arg("-u")
        .output()
        .unwrap()
        .stdout
        == b"0\n";
    if !is_root {
        eprintln!("skipped: only root may become another user");
        return;
    }
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o777)).unwrap();
    if !list().status.success() {
        eprintln!("skipped: {}", text(&list().stderr));
        return;
    }
    let links = folder.join("mimosa-link-65534");
    let refused = |why: &str| {
        let output = list();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(why), "{said}");
    };
    std::fs::set_permissions(&links, std::fs::Permissions::from_mode(0o755)).unwrap();
    refused("others may use it");
    std::fs::set_permissions(&links, std::fs::Permissions::from_mode(0o700)).unwrap();
    chown(&links, Some(0), Some(0)).unwrap();
    refused("it belongs to another user");
    // As another user would have it: a link to a folder of the victim's own.
    std::fs::remove_dir(&links).unwrap();
    let precious = folder.join("precious");
    std::fs::create_dir(&precious).unwrap();
    drop(std::os::unix::net::UnixListener::bind(precious.join("agent.sock")).unwrap());
    std::fs::set_permissions(&precious, std::fs::Permissions::from_mode(0o700)).unwrap();
    for path in [precious.clone(), precious.join("agent.sock")] {
        chown(path, Some(65_534), Some(65_534)).unwrap();
    }
    symlink(&precious, &links).unwrap();
    refused("it is no folder");
    assert!(precious.join("agent.sock").exists());
}
