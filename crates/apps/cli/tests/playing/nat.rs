//! From a network that reaches the host only through a router which forwards two ports to it.

use std::process::{Command, Output};

use serde_json::Value;

use crate::standstill::unless_still;
use crate::{alone, folder, text};

/// Three network namespaces: a host, its router, and a player who knows of the router alone. The UDP
/// port outside differs from the host's. Both namespaces and mounts end with the script.
const NETWORK: &str = r#"set -e
mount -t tmpfs tmpfs /run/netns 2>/dev/null || { mkdir -p /run/netns; mount -t tmpfs tmpfs /run/netns; }
echo '127.0.0.1 localhost
203.0.113.7 den.example.org' >hosts
mount --bind hosts /etc/hosts
for name in host router player; do
    ip netns add $name
    ip -n $name link set lo up
done
ip -n router link add inner type veth peer name eth0 netns host
ip -n router link add outer type veth peer name eth0 netns player
for link in host.eth0=10.9.0.2 router.inner=10.9.0.1 router.outer=203.0.113.7 player.eth0=203.0.113.20; do
    place=${link%%=*} name=${link%%.*}
    ip -n "$name" address add "${link#*=}/24" dev "${place#*.}"
    ip -n "$name" link set "${place#*.}" up
done
ip -n host route add default via 10.9.0.1
ip netns exec router sh -c 'echo 1 >/proc/sys/net/ipv4/ip_forward'
ip netns exec router nft -f - <<RULES
table ip nat {
    chain in {
        type nat hook prerouting priority dstnat
        iifname "outer" tcp dport 7080 dnat to 10.9.0.2
        iifname "outer" udp dport 9081 dnat to 10.9.0.2:7081
    }
    chain out {
        type nat hook postrouting priority srcnat
        oifname "outer" masquerade
    }
}
RULES
"#;
/// Serves behind the router, and plays in front of it, at the URL that the host prints for there
/// or, without such a URL, at its only one with the router's address in it.
const PLAY: &str = r#"ip netns exec host "$MIMOSA" serve --bind 10.9.0.2 --http-port 7080 --udp-port 7081 \
    --size 320x180 "$@" >urls.txt &
host=$!
trap 'kill $host' EXIT
for _ in $(seq 100); do
    url=$(sed -n 's/^play  *https/https/p' urls.txt | tail -n 1 | sed 's/10\.9\.0\.2/203.0.113.7/')
    [ "$url" ] && break
    sleep 0.1
done
echo "$url"
ip netns exec player "$MIMOSA" play "$url" --headless --pictures 60 --seconds 150 --report report.json
"#;

/// Plays in the host's network while the host changes from its address to another one, which it did not have when
/// the session began. The old address goes within 3 s of the beginning, so that at most 180 of the 250 pictures come
/// there, and the others at the new one.
const MOVE: &str = r#"ip netns exec host "$MIMOSA" serve --bind 0.0.0.0 --http-port 7080 --udp-port 7081 \
    --size 320x180 >urls.txt 2>log.txt &
host=$!
trap 'kill $host' EXIT
for _ in $(seq 100); do
    sleep 0.1
    url=$(sed -n 's/^play  *https/https/p' urls.txt | grep -F 10.9.0.2 | head -n 1)
    [ "$url" ] && break
done
# The second address of a network goes with the first one, unless it is promoted.
ip netns exec host sh -c 'echo 1 >/proc/sys/net/ipv4/conf/eth0/promote_secondaries'
{
    until grep -q connected log.txt 2>/dev/null; do sleep 0.1; done
    ip -n host address add 10.9.0.3/24 dev eth0
    until grep -q 'have changed' log.txt; do sleep 0.1; done
    sleep 0.5
    ip -n host address delete 10.9.0.2/24 dev eth0
} &
ip netns exec router "$MIMOSA" play "$url" --headless --pictures 250 --seconds 150 --report report.json
played=$?
cat log.txt >&2
exit $played
"#;

/// Plays through the router, as `play` does; the host gets these flags. `None` without the rights to make
/// namespaces, which under CI is a failure.
pub(crate) fn played(name: &str, play: &str, flags: &[&str]) -> Option<(Output, Option<Value>)> {
    let _alone = alone();
    let folder = folder(name);
    let run = |script: &str, flags: &[&str]| {
        std::fs::write(folder.join("script.sh"), script).unwrap();
        Command::new("unshare")
            .args(["--net", "--mount", "sh", "script.sh"])
            .args(flags)
            .current_dir(&folder)
            .env("MIMOSA", env!("CARGO_BIN_EXE_mimosa"))
            .env("XDG_CONFIG_HOME", &folder)
            .env("XDG_STATE_HOME", &folder)
            .output()
            .unwrap()
    };
    let tried = run(NETWORK, &[]);
    if !tried.status.success() {
        let said = text(&tried.stderr);
        assert!(std::env::var_os("CI").is_none(), "{said}");
        eprintln!("skipped: {said}");
        return None;
    }
    let output = run(&format!("{NETWORK}{play}"), flags);
    let report = std::fs::read(folder.join("report.json")).ok();
    Some((
        output,
        report.map(|report| serde_json::from_slice(&report).unwrap()),
    ))
}

#[test]
fn a_host_behind_a_router_is_reached_where_it_says() {
    let flags = ["--advertise", "den.example.org:9081"];
    let Some((output, report)) = played("nat", PLAY, &flags) else {
        return;
    };
    let said = (text(&output.stdout), text(&output.stderr));
    // By its name, for which its certificate is good as well.
    let url = "https://den.example.org:7080/#token=";
    assert!(said.0.starts_with(url), "{said:?}");
    let report = report.unwrap_or_else(|| panic!("{said:?}"));
    assert!(output.status.success(), "{said:?}");
    let shown = report["frames"]["shown"].as_f64().unwrap();
    assert!(shown >= 60.0, "{report:#}");
}

#[test]
fn a_host_behind_a_router_that_does_not_say_is_not_reached() {
    let short = PLAY.replace("--seconds 150", "--seconds 3");
    let Some((output, report)) = played("nat-untold", &short, &[]) else {
        return;
    };
    let said = text(&output.stderr);
    assert!(!output.status.success(), "{said}");
    assert!(said.contains("--advertise"), "{said}");
    let report = report.unwrap_or_else(|| panic!("{said}"));
    assert_eq!(report["frames"]["shown"], 0, "{report:#}");
    assert!(report["connected_after"].is_null(), "{report:#}");
}

#[test]
fn a_host_that_changes_its_address_keeps_its_session() {
    unless_still(moving);
}

fn moving() {
    let Some((output, report)) = played("nat-moving", MOVE, &[]) else {
        return;
    };
    let said = text(&output.stderr);
    let report = report.unwrap_or_else(|| panic!("{said}"));
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches(" begun ").count(), 1, "one session: {said}");
    let last = "have changed udp=[127.0.0.1:7081, 10.9.0.3:7081]";
    assert!(said.contains(last), "{said}");
    // The picture was away for 2.5 s of silence and until the next check, and came back.
    let longest = report["interval"]["max"].as_f64().unwrap();
    assert!((2_000.0..9_000.0).contains(&longest), "{said} {report:#}");
    let shown = report["frames"]["shown"].as_f64().unwrap();
    assert!(shown >= 250.0, "{said} {report:#}");
}
