//! Addresses in an answer that are not the host's own: those from which a router forwards to it.

use std::fmt::Write;
use std::net::SocketAddr;

use crate::paths::is_candidate;

/// Adds `addresses` to an answer as candidates of the host (RFC 8839, section 5.1), after those that
/// each media section has. An address that the answer has already, and any in a section without
/// candidates, is left out.
///
/// They are candidates of type `host`, since the host is an ICE Lite agent, which has no others (RFC
/// 8445, section 5.2). Their preference is below that of every address of the host's own: whoever is
/// in the same network as the host does not go through its router.
#[must_use]
pub fn advertise(answer: &str, addresses: &[SocketAddr]) -> String {
    let mut text = String::with_capacity(answer.len());
    let mut lines = answer.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        text.push_str(line);
        let ends = !lines.peek().is_some_and(|next| is_candidate(next));
        if !is_candidate(line) || !ends {
            continue;
        }
        for (index, address) in addresses.iter().enumerate() {
            let (ip, port) = (address.ip(), address.port());
            if !answer.contains(&format!(" {ip} {port} typ ")) {
                let priority = priority(index);
                let _ = write!(
                    text,
                    "a=candidate:advertised{index} 1 udp {priority} {ip} {port} typ host\r\n"
                );
            }
        }
    }
    text
}

/// The priority of an advertised address (RFC 8445, section 5.1.2.1): type preference 126, as hosts
/// have, and a local preference of 255 and less. str0m gives the host's own addresses local preferences of 60,000
/// and more.
fn priority(index: usize) -> u32 {
    const TYPE: u32 = 126 << 24;
    const COMPONENT: u32 = 255;
    let local = 255_u32.saturating_sub(u32::try_from(index).unwrap_or(u32::MAX));
    TYPE + (local << 8) + COMPONENT
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
        let text = advertise(ANSWER, &addresses.map(|text| text.parse().unwrap()));
        let found = candidates(&text);
        assert_eq!(found.len(), 4, "{text}");
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
        assert_eq!(advertise(ANSWER, &[]), ANSWER);
    }
}
