//! Addresses in an answer that str0m does not put there: those from which a router forwards to the host, those of
//! TCP, and those at a relay.

use std::fmt::Write;
use std::net::SocketAddr;

use crate::ends::Addresses;
use crate::paths::is_candidate;

/// Adds `addresses` to an answer as candidates of the host (RFC 8839, section 5.1; RFC 6544, section
/// 4.5), after those that each media section has. An address that the answer has already, and any in
/// a section without candidates, is left out.
///
/// They are candidates of type `host`, since the host is an ICE Lite agent, which has no others (RFC
/// 8445, section 5.2). Those of UDP have a preference below that of every address of the host's own:
/// whoever is in the same network as the host does not go through its router. Then come those of TCP, and last those at
/// a relay, which are of its type (section 5.1.1.2), although an ICE Lite agent has none: nothing but its priority
/// keeps a browser from taking the longer way.
#[must_use]
pub fn advertise(answer: &str, addresses: &Addresses) -> String {
    let mut text = String::with_capacity(answer.len());
    let mut lines = answer.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        text.push_str(line);
        let ends = !lines.peek().is_some_and(|next| is_candidate(next));
        if !is_candidate(line) || !ends {
            continue;
        }
        for (index, address) in addresses.datagrams.iter().enumerate() {
            let (ip, port) = (address.ip(), address.port());
            if !answer.contains(&format!(" {ip} {port} typ ")) {
                let priority = priority(126, 255, index);
                let _ = write!(
                    text,
                    "a=candidate:advertised{index} 1 udp {priority} {ip} {port} typ host\r\n"
                );
            }
        }
        for (index, address) in addresses.streams.iter().enumerate() {
            let (ip, port) = (address.ip(), address.port());
            let priority = priority(90, PASSIVE, index);
            let _ = write!(
                text,
                "a=candidate:stream{index} 1 tcp {priority} {ip} {port} typ host tcptype passive\r\n"
            );
        }
        for (index, &address) in addresses.relayed.iter().enumerate() {
            let _ = write!(text, "a={}\r\n", relayed_candidate(index, address));
        }
    }
    text
}

/// The candidate of an address at a relay. Where it leads is not told (RFC 8839, section 5.1, `rel-addr`).
pub(crate) fn relayed_candidate(index: usize, address: SocketAddr) -> String {
    let (ip, port) = (address.ip(), address.port());
    let priority = priority(0, 65_535, index);
    let nowhere = if ip.is_ipv4() { "0.0.0.0" } else { "::" };
    format!(
        "candidate:relayed{index} 1 udp {priority} {ip} {port} typ relay raddr {nowhere} rport 9"
    )
}

/// The local preference of the first passive candidate of TCP: direction preference 4 of RFC 6544, section
/// 4.2, with the highest of the others.
const PASSIVE: u32 = (4 << 13) + 8_191;

/// The priority of an address (RFC 8445, section 5.1.2.1), by its type preference and the highest local preference
/// of its kind. The type preference is 126 for UDP, as hosts have, and 90 for TCP, as in `libwebrtc`
/// (`ICE_TYPE_PREFERENCE_HOST_TCP`), and 0 at a relay (RFC 8445, section 5.1.2.2). The local preference is 255 and less for what is advertised: str0m
/// gives the host's own addresses local preferences of 60,000 and more.
fn priority(kind: u32, highest: u32, index: usize) -> u32 {
    const COMPONENT: u32 = 255;
    let local = highest.saturating_sub(u32::try_from(index).unwrap_or(u32::MAX));
    (kind << 24) + (local << 8) + COMPONENT
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paths::check_candidate;

    const ANSWER: &str = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 96\r\n\
        a=candidate:1 1 udp 2130706175 10.0.0.2 8081 typ host\r\n\
        a=candidate:2 1 udp 2130705919 10.0.0.3 8081 typ host\r\na=mid:0\r\n\
        m=audio 9 UDP/TLS/RTP/SAVPF 111\r\na=mid:1\r\n";

    fn candidates(text: &str) -> Vec<&str> {
        let lines = text.lines().filter(|line| is_candidate(line));
        lines.map(|line| line.strip_prefix("a=").unwrap()).collect()
    }

    #[test]
    fn addresses_follow_the_hosts_own_and_count_less() {
        let addresses = ["203.0.113.7:4000", "[2001:db8::7]:8081", "10.0.0.3:8081"];
        let addresses = Addresses {
            datagrams: addresses.map(|text| text.parse().unwrap()).into(),
            streams: ["10.0.0.2:8080", "203.0.113.7:8080"]
                .map(|text| text.parse().unwrap())
                .into(),
            relayed: vec!["198.51.100.1:50000".parse().unwrap()],
        };
        let text = advertise(ANSWER, &addresses);
        let found = candidates(&text);
        assert_eq!(found.len(), 7, "{text}");
        let relayed = " udp 16777215 198.51.100.1 50000 typ relay raddr 0.0.0.0 rport 9";
        assert!(found[6].ends_with(relayed), "{text}");
        let passive = " tcp 1520435199 10.0.0.2 8080 typ host tcptype passive";
        assert!(found[4].ends_with(passive), "{text}");
        assert!(found[2].contains(" 203.0.113.7 4000 typ host"), "{text}");
        assert!(found[3].contains(" 2001:db8::7 8081 typ host"), "{text}");
        let priority = |line: &str| line.split(' ').nth(3).unwrap().parse::<u32>().unwrap();
        let all: Vec<_> = found.iter().map(|line| priority(line)).collect();
        assert!(all.is_sorted_by(|one, next| one > next), "{all:?}");
        for line in found {
            check_candidate(line).unwrap();
        }
        // Nothing else has changed.
        let rest = |text: &str| {
            let rest = text.lines().filter(|line| !is_candidate(line));
            rest.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(rest(&text), rest(ANSWER));
    }

    #[test]
    fn without_addresses_an_answer_stays_as_it_is() {
        assert_eq!(advertise(ANSWER, &Addresses::default()), ANSWER);
    }
}
