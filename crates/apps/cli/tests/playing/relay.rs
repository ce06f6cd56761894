//! To a host behind a router that lets no datagram in, by coturn as `docs/use/relay.md` configures it.

use std::process::{Command, Output};

use serde_json::Value;

use crate::nat::played;
use crate::text;

/// The page with the configuration of coturn.
const PAGE: &str = include_str!("../../../../../docs/use/relay.md");

/// A relay beyond the router, which lets what the host begins out, the page's port in, and nothing else. The player
/// reaches the relay, and the host's network does not.
const RELAY: &str = r#"ip netns add relay
ip -n relay link set lo up
ip -n router link add wan type veth peer name eth0 netns relay
for link in router.wan=198.51.100.1 relay.eth0=198.51.100.5; do
    place=${link%%=*} name=${link%%.*}
    ip -n "$name" address add "${link#*=}/24" dev "${place#*.}"
    ip -n "$name" link set "${place#*.}" up
done
ip -n relay route add default via 198.51.100.1
ip -n player route add default via 203.0.113.7
ip netns exec router nft -f - <<RULES
table ip closed {
    chain out {
        type nat hook postrouting priority srcnat
        oifname "wan" ip saddr 10.9.0.0/24 masquerade
    }
    chain through {
        type filter hook forward priority filter
        oifname "inner" meta l4proto udp ct state new drop
    }
}
RULES
echo between-the-relay-and-the-host >secret
chmod 600 secret
# relays: runs coturn until it is killed.
relays() {
    ip netns exec relay turnserver -c turnserver.conf --verbose --pidfile turnserver.pid --log-file stdout >>relay.txt 2>&1 &
    relay=$!
}
# soon FILE COUNT TEXT: waits until the text is on so many lines of the file.
soon() {
    for _ in $(seq 300); do
        [ "$(grep -c "$3" "$1")" -ge "$2" ] && return
        sleep 0.1
    done
    cat relay.txt log.txt >&2
    exit 1
}
touch log.txt relay.txt
trap 'kill $host $relay 2>/dev/null; cat log.txt relay.txt >&2' EXIT
ip netns exec host "$MIMOSA" serve --bind 10.9.0.2 --http-port 7080 --udp-port 7081 --size 320x180 "$@" \
    >urls.txt 2>log.txt &
host=$!
soon urls.txt 1 '^play  *https'
url=$(sed -n 's/^play  *https/https/p' urls.txt | tail -n 1)
# plays NAMESPACE [SECONDS]: with what the host prints, or by the router's address.
plays() {
    [ "$1" = player ] && url=$(echo "$url" | sed 's/10\.9\.0\.2/203.0.113.7/')
    ip netns exec "$1" "$MIMOSA" play "$url" --headless --pictures 180 --seconds "${2:-150}" --report report.json
}
"#;
/// Flags of a host with this relay.
const FLAGS: [&str; 4] = [
    "--relay",
    "turn:198.51.100.5",
    "--relay-secret-file",
    "secret",
];

/// Runs a script with the relay, whose secret is this; `None` where that is not possible, which under CI is a failure.
fn with_relay(
    name: &str,
    secret: &str,
    script: &str,
    flags: &[&str],
) -> Option<(Output, Option<Value>)> {
    if Command::new("turnserver").arg("--help").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "coturn is not installed");
        eprintln!("skipped: coturn is not installed");
        return None;
    }
    let (_, rest) = PAGE.split_once("```conf\n").unwrap();
    let (configuration, _) = rest.split_once("```\n").unwrap();
    let line = "static-auth-secret=";
    let (before, after) = configuration.split_once(line).unwrap();
    let (_, after) = after.split_once('\n').unwrap();
    let configuration =
        format!("cat >turnserver.conf <<'END'\n{before}{line}{secret}\n{after}END\n");
    played(name, &format!("{configuration}{RELAY}{script}"), flags)
}

const SECRET: &str = "between-the-relay-and-the-host";

#[test]
fn a_host_that_nobody_reaches_plays_by_a_relay() {
    let script = "relays\nsoon log.txt 1 'reached by the relay'\nplays player\n";
    let Some((output, report)) = with_relay("relay", SECRET, script, &FLAGS) else {
        return;
    };
    let said = text(&output.stderr);
    let report = report.unwrap_or_else(|| panic!("{said}"));
    assert!(output.status.success(), "{said}");
    let shown = report["frames"]["shown"].as_f64().unwrap();
    assert!(shown >= 180.0, "{said} {report:#}");
    assert!(!said.contains(SECRET), "{said}");
    for asked in ["ALLOCATE", "CREATE_PERMISSION", "CHANNEL_BIND"] {
        let done = format!("incoming packet {asked} processed, success");
        assert!(said.contains(&done), "{said}");
    }
    assert!(said.contains(MANY_PACKETS), "{said}");
}

/// coturn writes a line about each 2048 packets: 180 pictures have more, and connectivity checks far fewer.
const MANY_PACKETS: &str = ": usage: ";

#[test]
fn where_the_direct_way_works_the_relay_carries_nothing() {
    let script = "relays\nsoon log.txt 1 'reached by the relay'\nplays router\n";
    let Some((output, report)) = with_relay("relay-direct", SECRET, script, &FLAGS) else {
        return;
    };
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    let shown = report.unwrap()["frames"]["shown"].as_f64().unwrap();
    assert!(shown >= 180.0, "{said}");
    assert!(!said.contains(MANY_PACKETS), "{said}");
}

#[test]
fn without_a_relay_nobody_reaches_that_host() {
    let Some((output, report)) = with_relay("relay-none", SECRET, "plays player 3\n", &[]) else {
        return;
    };
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    let report = report.unwrap_or_else(|| panic!("{said}"));
    assert_eq!(report["frames"]["shown"], 0, "{report:#}");
}

#[test]
fn a_wrong_secret_is_told_and_the_host_goes_on() {
    let script = "relays\nsoon log.txt 1 'not reached by the relay'\nplays router\n";
    let other = "another-secret-than-the-host's";
    let Some((output, report)) = with_relay("relay-secret", other, script, &FLAGS) else {
        return;
    };
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("relay.secret has to be the relay's own"),
        "{said}"
    );
    assert!(!said.contains(SECRET), "{said}");
    let shown = report.unwrap()["frames"]["shown"].as_f64().unwrap();
    assert!(shown >= 180.0, "{said}");
}

#[test]
fn a_relay_that_was_started_again_is_asked_again() {
    let script = "relays\nsoon log.txt 1 'reached by the relay'\nkill -9 $relay\nsleep 1\nrelays\n\
        soon log.txt 3 'reached by the relay'\nplays player\n";
    let Some((output, report)) = with_relay("relay-again", SECRET, script, &FLAGS) else {
        return;
    };
    let said = text(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("has forgotten the host's address"), "{said}");
    let shown = report.unwrap()["frames"]["shown"].as_f64().unwrap();
    assert!(shown >= 180.0, "{said}");
}
