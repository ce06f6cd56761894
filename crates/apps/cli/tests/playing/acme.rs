//! From the Internet to a host whose certificate an authority has given: Pebble, the authority that Let's Encrypt
//! tests clients with.

use crate::nat::played;
use crate::text;

/// Lets the authority run beyond the router, where names are what `hosts` says, and the host fetch a certificate from
/// it. `$1` is the port at which the authority looks by TLS, `$2` that by HTTP; the router forwards 7080.
const ACME: &str = r#"openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
    -subj /CN=authority -addext subjectAltName=IP:203.0.113.20 -addext basicConstraints=critical,CA:FALSE \
    -keyout pebble-key.pem -out pebble.pem 2>/dev/null
cat >pebble.json <<JSON
{"pebble": {"listenAddress": "203.0.113.20:14000", "managementListenAddress": "203.0.113.20:15000",
 "certificate": "pebble.pem", "privateKey": "pebble-key.pem", "tlsPort": $1, "httpPort": $2,
 "ocspResponderURL": "", "externalAccountBindingRequired": false}}
JSON
# Without waiting before it looks, without refusing good nonces at random, and without reusing what it has seen.
PEBBLE_VA_NOSLEEP=1 PEBBLE_WFE_NONCEREJECT=0 PEBBLE_AUTHZREUSE=0 \
    ip netns exec player pebble -config pebble.json >pebble.log 2>&1 &
pebble=$!
trap 'kill $pebble $host 2>/dev/null || true' EXIT
for _ in $(seq 100); do
    ip netns exec player curl -sk https://203.0.113.20:15000/roots/0 -o root.pem && break
    sleep 0.1
done
serve() {
    # Nobody reads what the host before it has said.
    rm -f urls.txt
    ip netns exec host "$MIMOSA" serve --bind 0.0.0.0 --http-port 7080 --udp-port 7081 --announce off \
        --size 320x180 --advertise den.example.org:9081 --acme den.example.org --acme-terms on \
        --acme-directory https://203.0.113.20:14000/dir --acme-root pebble.pem >urls.txt 2>>log.txt &
    host=$!
}
serve
for _ in $(seq 200); do
    grep -q 'the authority gave a certificate\|asked again in an hour' log.txt && break
    sleep 0.1
done
ls -l mimosa/acme-* || true
url=$(sed -n 's/^play  *https/https/p' urls.txt | grep -F den.example.org || true)
echo "url $url"
# The player knows neither the host's key nor its certificate, but the authority's.
SSL_CERT_FILE=root.pem ip netns exec player "$MIMOSA" play "$url" --headless --pictures 30 --seconds 150 --report report.json || true
# By its address the host shows its own certificate, by the key in that URL.
own=$(sed -n 's/^play  *https/https/p' urls.txt | grep -F 10.9.0.2 || true)
ip netns exec router "$MIMOSA" play "$own" --headless --pictures 1 --seconds 60 --report own.json || true
# What is kept is shown by the next start, which asks nobody.
kill $host
wait $host || true
kill $pebble
serve
for _ in $(seq 100); do
    url=$(sed -n 's/^play  *https/https/p' urls.txt | grep -F den.example.org || true)
    [ "$url" ] && break
    sleep 0.1
done
SSL_CERT_FILE=root.pem ip netns exec player "$MIMOSA" play "$url" --headless --pictures 30 --seconds 150 --report report.json && played=0 || played=$?
cat log.txt pebble.log >&2
exit $played
"#;

#[test]
fn an_authority_gives_a_certificate_in_either_way() {
    for (challenge, ports) in [
        ("TLS-ALPN-01", ["7080", "5002"]),
        ("HTTP-01", ["5001", "7080"]),
    ] {
        let name = format!("acme-{}", challenge.to_lowercase());
        let Some((output, report)) = played(&name, ACME, &ports) else {
            return;
        };
        let (printed, log) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{printed} {log}");
        let gave = "the authority gave a certificate names=[\"den.example.org\"]";
        assert_eq!(log.matches(gave).count(), 1, "{log}");
        assert!(log.contains(&format!("challenge=\"{challenge}\"")), "{log}");
        let url = printed
            .lines()
            .find(|line| line.starts_with("url "))
            .unwrap();
        assert!(!url.contains("key="), "{url}");
        // The account, the certificate and its key are their owner's alone.
        let files: Vec<_> = printed
            .lines()
            .filter(|line| line.contains("mimosa/acme-"))
            .collect();
        assert_eq!(files.len(), 3, "{printed}");
        assert!(
            files.iter().all(|line| line.starts_with("-rw-------")),
            "{printed}"
        );
        let report = report.unwrap_or_else(|| panic!("{log}"));
        let shown = report["frames"]["shown"].as_f64().unwrap();
        assert!(shown >= 30.0, "{report:#}");
    }
}

#[test]
fn a_host_that_no_authority_finds_shows_its_own_certificate() {
    let Some((output, _)) = played("acme-unseen", ACME, &["5001", "5002"]) else {
        return;
    };
    let log = text(&output.stderr);
    // The player, who has no key for this name, refuses.
    assert!(!output.status.success(), "{log}");
    for (challenge, port) in [("TLS-ALPN-01", 443), ("HTTP-01", 80)] {
        let begins = format!(
            "no certificate by {challenge} from https://203.0.113.20:14000/dir: den.example.org: "
        );
        assert!(log.contains(&begins), "{log}");
        assert!(
            log.contains(&format!("forward TCP port {port} of each name")),
            "{log}"
        );
    }
    assert!(log.contains("asked again in an hour"), "{log}");
}
