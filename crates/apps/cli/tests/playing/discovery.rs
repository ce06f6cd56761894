//! Hosts that are found without their URL, in a network of two namespaces.

use serde_json::Value;

use crate::nat::played;
use crate::text;

/// Serves in one network and waits until the host is there.
const SERVE: &str = r#"for link in host.eth0 router.inner; do
    # An interface that has just been made says late that it runs.
    for _ in $(seq 100); do
        sleep 0.1
        ip -n "${link%%.*}" link show "${link#*.}" | grep -q 'state UP' && break
    done
done
ip netns exec host "$MIMOSA" serve --http-port 7080 --udp-port 7081 \
    --size 320x180 "$@" >urls.txt 2>log.txt &
host=$!
for _ in $(seq 100); do
    sleep 0.1
    grep -q '^play' urls.txt && break
done
"#;
/// Lists the hosts that are found next to it, as JSON and as a table, and once more when it was asked to end.
const LIST: &str = r#"ip netns exec router "$MIMOSA" play --list --json
echo ----
ip netns exec router "$MIMOSA" play </dev/null
kill $host
wait $host || true
echo ----
ip netns exec router "$MIMOSA" play --list --json
"#;
/// Lists them as a table.
const TABLE: &str = r#"ip netns exec router "$MIMOSA" play </dev/null || echo none
kill $host
"#;

/// What a script printed beside a host with these flags, and what it and the host said.
fn listed(name: &str, script: &str, flags: &[&str]) -> Option<(String, String)> {
    let whole = format!("{SERVE}{script}cat log.txt >&2\n");
    let (output, _) = played(name, &whole, flags)?;
    let said = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said:?}");
    Some(said)
}

#[test]
fn a_host_is_found_while_it_is_there() {
    let Some((printed, log)) = listed("discovery", LIST, &["--bind", "0.0.0.0"]) else {
        return;
    };
    let parts: Vec<_> = printed.split("----\n").collect();
    let [there, table, after] = parts[..] else {
        panic!("{printed} {log}");
    };
    let there: Value = serde_json::from_str(there).unwrap();
    assert_eq!(there.as_array().map(Vec::len), Some(1), "{there:#} {log}");
    assert_eq!(there[0]["url"], "https://10.9.0.2:7080/", "{there:#}");
    assert_eq!(there[0]["is_paired"], false);
    let version = there[0]["version"].as_str();
    assert!(
        version.is_some_and(|version| !version.is_empty()),
        "{there:#}"
    );
    // The host has no terminal, and its owner can have a PIN shown.
    assert_eq!(there[0]["pairs"], true);
    assert!(
        table.contains("https://10.9.0.2:7080/  pairs by a PIN"),
        "{table}"
    );
    // No secret is announced.
    assert!(!there.to_string().contains("token"), "{there:#}");
    assert_eq!(after.trim(), "[]", "the host has said goodbye");
}

#[test]
fn a_host_that_is_to_be_silent_is_not_found() {
    let flags = ["--bind", "0.0.0.0", "--announce", "off"];
    let Some((printed, log)) = listed("discovery-silent", TABLE, &flags) else {
        return;
    };
    assert_eq!(printed, "none\n", "{log}");
    assert!(log.contains("no host was found in this network"), "{log}");
}
