//! What lies beyond the machine that a link is on: here a machine behind another link.

use std::process::Command;

use crate::{done, link, soon, text, unique, with_network};

const NETWORK: &str = "[link]\nrate = \"8Mbit/s\"\none_way_delay = \"1ms\"\n";

/// Answers datagrams with the address that they came from.
const ANSWER: &str = "import socket
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.bind(('', 7008))
while True:
    _, address = here.recvfrom(100)
    here.sendto(address[0].encode(), address)
";

/// Asks until it is answered, and prints the answer.
const ASK: &str = "import socket, sys
here = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
here.settimeout(0.2)
for _ in range(20):
    here.sendto(b'who', (sys.argv[1], 7008))
    try:
        print(here.recv(100).decode())
        break
    except OSError:
        pass
";

#[test]
fn a_command_reaches_beyond_the_machine_under_its_address() {
    let Some(folder) = with_network("beyond", NETWORK) else {
        return;
    };
    std::fs::write(folder.join("answer.py"), ANSWER).unwrap();
    std::fs::write(folder.join("ask.py"), ASK).unwrap();
    let name = unique("outer");
    let up = done(&folder, &format!("up {name} path.toml"));
    assert!(up.status.success(), "{}", text(&up.stderr));
    let exec = |side: &str, script: &str| {
        let mut command: Command = link(&folder, &format!("exec {side} --name {name} -- sh -c"));
        command.arg(script);
        command
    };
    let mut answerer = exec("sender", "exec python3 answer.py").spawn().unwrap();
    // The outer link's receiver is the machine; behind it a command asks the far end.
    let inner = format!(
        "{} link run path.toml --quiet -- python3 ask.py $MIMOSA_LINK_PEER",
        env!("CARGO_BIN_EXE_mimosa")
    );
    let forwarding = |value| format!("echo {value} > /proc/sys/net/ipv4/ip_forward; ");
    let closed = exec("receiver", &(forwarding(0) + &inner))
        .output()
        .unwrap();
    let said = text(&closed.stderr);
    assert!(said.contains("forwards no packets"), "{said}");
    assert_eq!(text(&closed.stdout), "");
    let open = exec("receiver", &(forwarding(1) + &inner))
        .output()
        .unwrap();
    assert_eq!(text(&open.stdout), "100.64.0.2\n", "{}", text(&open.stderr));
    let tables = || text(&exec("receiver", "nft list tables").output().unwrap().stdout);
    assert_eq!(tables(), "");
    // One that was killed leaves its table, which the next removes; others stay.
    let other = "nft add table ip other; nft add table ip mimosa-link-none";
    assert!(exec("receiver", other).status().unwrap().success());
    exec("receiver", &inner).output().unwrap();
    assert_eq!(tables(), "table ip other\n");
    // Any command does.
    let left = "nft add table ip mimosa-link-none";
    assert!(exec("receiver", left).status().unwrap().success());
    let status = format!("{} link status", env!("CARGO_BIN_EXE_mimosa"));
    exec("receiver", &status).output().unwrap();
    assert_eq!(tables(), "table ip other\n");
    answerer.kill().unwrap();
    answerer.wait().unwrap();
    assert!(done(&folder, &format!("down {name}")).status.success());
    assert!(soon(
        || !text(&done(&folder, "status --json").stdout).contains(&name)
    ));
}
