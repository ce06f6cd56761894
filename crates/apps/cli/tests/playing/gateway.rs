//! From the Internet to a host whose router forwards what it is asked to: a real daemon of routers, miniupnpd.

use serde_json::Value;

use crate::nat::played;
use crate::text;

/// Takes what the router forwards by hand away, gives it an address that is not set aside for
/// documents, and lets the daemon add to its rules. `$1` is the daemon's configuration: `enable_natpmp`, which stands for PCP
/// as well, and `enable_upnp`. With `$2` the router is one from before PCP: as RFC 6886, section 3.5, wants it, what asks
/// for version 2 is told that there is version 0.
const ROUTER: &str = r#"ip -n router address flush dev outer
ip -n player address flush dev eth0
ip -n router address add 11.22.33.7/24 dev outer
ip -n player address add 11.22.33.20/24 dev eth0
ip netns exec router nft -f - <<RULES
flush ruleset
table inet filter {
    chain forward {
        type filter hook forward priority 0; policy drop;
        ct state established,related accept
        iifname "inner" accept
        jump miniupnpd
    }
    chain miniupnpd { }
    chain prerouting {
        type nat hook prerouting priority -100
        jump prerouting_miniupnpd
    }
    chain postrouting {
        type nat hook postrouting priority 100
        oifname "outer" masquerade
    }
    chain prerouting_miniupnpd { }
    chain postrouting_miniupnpd { }
}
RULES
daemons=
rules() { ip netns exec router nft list chain inet filter prerouting_miniupnpd; }
{
    echo ext_ifname=outer
    echo listening_ip=inner
    echo secure_mode=yes
    echo uuid=fb8f49a7-c53d-4099-8952-f2e3b1288f98
    echo "$1" | tr , '\n'
} >miniupnpd.conf
if [ "$1" ]; then
    ip netns exec router miniupnpd -d -f miniupnpd.conf -P "$PWD/miniupnpd.pid" >miniupnpd.log 2>&1 &
    daemons=$!
    # Until it listens for PCP, or for who looks for a router.
    listens() { ip netns exec router ss -Hnul | grep -q -e ':5351 ' -e ':1900 '; }
    for _ in $(seq 150); do
        listens && break
        sleep 0.1
    done
fi
if [ "$2" ]; then
    ip netns exec router nft add rule inet filter prerouting \
        iifname inner udp dport 5351 @th,64,8 2 redirect to :5352
    ip netns exec router python3 -c '
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.9.0.1", 5352))
print("listens", flush=True)
while True:
    asked, by = s.recvfrom(2048)
    s.sendto(bytes([0, 128 | asked[1], 0, 1, 0, 0, 0, 0]), by)
' >before.log 2>&1 &
    daemons="$daemons $!"
    for _ in $(seq 150); do
        [ -s before.log ] && break
        sleep 0.1
    done
fi
# Serves behind the router, and plays at the URL with the router's address.
begun=$(date +%s%N)
ip netns exec host "$MIMOSA" serve --bind 0.0.0.0 --http-port 7080 --udp-port 7081 --announce off \
    --size 320x180 --forward-ports on >urls.txt 2>log.txt &
host=$!
trap 'kill $host $daemons' EXIT
for _ in $(seq 150); do
    sleep 0.1
    grep -q '^play' urls.txt && break
done
echo "after $((($(date +%s%N) - begun) / 1000000)) ms"
rules
url=$(sed -n 's/^play  *https/https/p' urls.txt | grep -F 11.22.33.7 | head -n 1)
if [ "$url" ]; then
    ip netns exec player "$MIMOSA" play "$url" --headless --pictures 60 --seconds 150 --report report.json
fi
echo "ends"
kill $host
wait $host
trap - EXIT
rules
[ -z "$daemons" ] || kill $daemons
cat log.txt >&2
"#;

/// What the scripts print, what the host logs, and the player's report.
fn run(name: &str, router: &[&str]) -> Option<(String, String, Option<Value>)> {
    let (output, report) = played(name, ROUTER, router)?;
    let said = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said:?}");
    Some((said.0, said.1, report))
}

#[test]
fn a_router_that_is_asked_forwards_until_the_host_ends() {
    let (control, upnp) = (
        "enable_natpmp=yes,enable_upnp=no",
        "enable_natpmp=no,enable_upnp=yes",
    );
    for (name, router, means) in [
        ("gateway-pcp", &[control][..], "PCP"),
        ("gateway-natpmp", &[control, "before PCP"], "NAT-PMP"),
        ("gateway-upnp", &[upnp], "UPnP"),
    ] {
        let Some((printed, log, report)) = run(name, router) else {
            return;
        };
        for protocol in ["TCP", "UDP"] {
            let line = format!("protocol=\"{protocol}\" inside=10.9.0.2:");
            assert!(log.contains(&line), "{log}");
        }
        assert!(log.contains(&format!("means=\"{means}\"")), "{log}");
        let (during, after) = printed.split_once("ends\n").unwrap();
        for rule in ["10.9.0.2:7080", "10.9.0.2:7081"] {
            assert!(during.contains(rule), "{printed}");
            assert!(!after.contains(rule), "{printed}");
        }
        let report = report.unwrap_or_else(|| panic!("{printed} {log}"));
        let shown = report["frames"]["shown"].as_f64().unwrap();
        assert!(shown >= 60.0, "{report:#}");
    }
}

#[test]
fn a_host_plays_where_no_router_forwards_and_says_so() {
    let Some((printed, log, report)) = run("gateway-none", &[""]) else {
        return;
    };
    assert!(report.is_none());
    let said = "the router 10.9.0.1 forwards no port";
    // Of each port.
    assert_eq!(log.matches(said).count(), 2, "{log}");
    let after = printed
        .lines()
        .find_map(|line| line.strip_prefix("after ")?.strip_suffix(" ms"));
    let after: u64 = after.unwrap().parse().unwrap();
    // As long as `mimosa_gateway::forward` may take, on a machine that is busy.
    assert!((1_000..12_000).contains(&after), "{printed}");
}
