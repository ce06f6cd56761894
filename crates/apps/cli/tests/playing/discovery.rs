//! Hosts that are found without their URL, in a network of two namespaces.

use serde_json::Value;

use crate::nat::played;
use crate::text;

/// Lists the hosts that are found in the host's network, while the host serves with these flags and after it was
/// asked to end; then says what `mimosa play` without a URL says there.
const LIST: &str = r#"for link in host.eth0 router.inner; do
    # An interface that has just been made says late that it runs.
    until ip -n "${link%%.*}" link show "${link#*.}" | grep -q 'state UP'; do sleep 0.1; done
done
ip netns exec host "$MIMOSA" serve --http-port 7080 --udp-port 7081 \
    --size 320x180 "$@" >urls.txt 2>log.txt &
host=$!
for _ in $(seq 100); do
    sleep 0.1
    grep -q '^play' urls.txt && break
done
ip netns exec router "$MIMOSA" play --list --json
echo ----
ip netns exec router "$MIMOSA" play </dev/null || true
kill $host
wait $host || true
echo ----
ip netns exec router "$MIMOSA" play --list --json
cat log.txt >&2
"#;

/// What the script printed while the host was there: as JSON, and as a table; and after it, as JSON.
fn listed(name: &str, flags: &[&str]) -> Option<(Value, String, Value, String)> {
    let (output, _) = played(name, LIST, flags)?;
    let said = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{said:?}");
    let mut parts = said.0.split("----\n");
    let mut next = || parts.next().unwrap_or_else(|| panic!("{said:?}"));
    let json = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| panic!("{said:?}"));
    let there = json(next());
    let table = next().to_owned();
    Some((there, table, json(next()), said.1.clone()))
}

#[test]
fn a_host_is_found_while_it_is_there() {
    let Some((there, table, after, log)) = listed("discovery", &["--bind", "0.0.0.0"]) else {
        return;
    };
    assert_eq!(there.as_array().map(Vec::len), Some(1), "{there:#} {log}");
    assert_eq!(there[0]["url"], "https://10.9.0.2:7080/", "{there:#}");
    assert_eq!(there[0]["is_paired"], false);
    assert!(
        there[0]["version"]
            .as_str()
            .is_some_and(|version| !version.is_empty())
    );
    // The host is no terminal, and so shows no PIN.
    assert_eq!(there[0]["pairs"], false);
    assert!(
        table.contains("https://10.9.0.2:7080/  needs its URL"),
        "{table}"
    );
    // No secret is announced.
    assert!(!there.to_string().contains("token"), "{there:#}");
    assert_eq!(after, Value::Array(Vec::new()), "the host has said goodbye");
}

#[test]
fn a_host_that_is_to_be_silent_is_not_found() {
    let flags = ["--bind", "0.0.0.0", "--announce", "off"];
    let Some((there, table, _, log)) = listed("discovery-silent", &flags) else {
        return;
    };
    assert_eq!(there, Value::Array(Vec::new()), "{log}");
    assert_eq!(table, "");
    assert!(log.contains("no host was found in this network"), "{log}");
}
