//! The addresses from which a browser's connectivity checks come, and the bound on their number.
//!
//! The host is an ICE lite agent (RFC 8445, section 2.5): it sends no checks, and learns its peer's
//! address from the checks that come. The host does not need the peer's candidates: offers are read
//! without them, and [`check_candidate`] only checks the form of one that comes later.
//!
//! An address that checks come from is a peer-reflexive candidate (RFC 8445, section
//! 7.3.1.3), which the library keeps for good and walks with every check. A peer that sends
//! from ever more addresses would make each of its datagrams dearer than the one before, on
//! the thread that serves everybody: [`Sources`] has a bound.
//!
//! # Deviations
//!
//! The library sends to the nominated pair of the highest priority (RFC 8445, section
//! 7.3.1.5) and keeps the first of two pairs with one priority. When a translator of
//! addresses gives the browser a new address, the old pair and the new one have one
//! priority, and the library would send to the old address until the session ends.
//! [`Destination`] follows the newest nomination instead, as `libwebrtc` nominates only the
//! pair that it uses. It moves once authentic data have come from there as well: a recorded
//! check that somebody sends again from another address moves nothing. What moves is the whole way,
//! with the host's own address: a browser changes to another of those when the host moves from one
//! network to another, or from UDP to TCP. Before the first data
//! after the handshake of DTLS, everything follows the newest nomination at once: a browser that
//! waits for the end of the handshake has nothing else to send from its new address. Until the
//! first data, at most a round trip later, a recorded check diverts a few datagrams.

use std::net::{IpAddr, SocketAddr};

use str0m::Candidate;
use str0m::ice::StunMessage;

use crate::error::OfferError;

/// Most addresses of a peer from which connectivity checks are taken during a session. A browser
/// has one for each of its networks, about four with IPv6, and a new one whenever a NAT forgets it.
/// Our choice: room for four changes of all four.
pub(crate) const MOST_SOURCES: usize = 16;

/// The addresses from which a peer's authentic connectivity checks have come.
#[derive(Debug, Default)]
pub(crate) struct Sources(Vec<SocketAddr>);

impl Sources {
    /// Whether to look at checks from `source`: if it is known, or if there is room for another
    /// address.
    pub(crate) fn has_room_for(&self, source: SocketAddr) -> bool {
        self.0.len() < MOST_SOURCES || self.knows(source)
    }

    /// Whether an authentic check has come from `source`.
    pub(crate) fn knows(&self, source: SocketAddr) -> bool {
        self.0.contains(&source)
    }

    /// Notes that an authentic check has come from `source`.
    pub(crate) fn learn(&mut self, source: SocketAddr) {
        if !self.knows(source) {
            self.0.push(source);
        }
    }
}

/// Both ends of a way between the host and a browser: a pair of candidates.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Way {
    /// The host's address.
    pub(crate) own: SocketAddr,
    /// The browser's address.
    pub(crate) other: SocketAddr,
}

/// The way that a browser's datagrams take.
#[derive(Debug, Default)]
pub(crate) struct Destination {
    /// The way of the newest authentic check that nominated its pair.
    nominated: Option<Way>,
    /// The nominated way by which authentic data came last.
    proven: Option<Way>,
}

impl Destination {
    /// An authentic connectivity check has come by `way`.
    pub(crate) fn checked(&mut self, way: Way, check: &[u8]) {
        let nominates = StunMessage::parse(check)
            .is_ok_and(|message| message.is_binding_request() && message.use_candidate());
        if nominates {
            self.nominated = Some(way);
        }
    }

    /// Data that only the browser can have encrypted have come by `way`.
    pub(crate) fn heard_from(&mut self, way: Way) {
        if self.nominated == Some(way) {
            self.proven = Some(way);
        }
    }

    /// The host does not have this address any more.
    pub(crate) fn forget(&mut self, own: SocketAddr) {
        self.nominated.take_if(|way| way.own == own);
        self.proven.take_if(|way| way.own == own);
    }

    /// The way of a datagram that the library would send by `chosen`. An answer to a
    /// connectivity check goes back the way by which the check came.
    pub(crate) fn of(&self, chosen: Way, datagram: &[u8]) -> Way {
        match self.proven.or(self.nominated) {
            Some(newest) if !is_stun(datagram) => newest,
            _ => chosen,
        }
    }
}

/// Whether a datagram is STUN (RFC 7983, section 7).
#[must_use]
pub const fn is_stun(datagram: &[u8]) -> bool {
    matches!(datagram, [0..=3, ..])
}

/// Whether this line of an offer is an ICE candidate.
pub(crate) fn is_candidate(line: &str) -> bool {
    line.starts_with("a=candidate:")
}

/// Checks an ICE candidate, in the form of its `a=candidate:` line without `a=`. The candidate is
/// not used: the host learns a browser's address from the checks that the browser sends.
///
/// # Errors
///
/// [`OfferError::Candidate`] if the line is not a candidate.
pub fn check_candidate(line: &str) -> Result<(), OfferError> {
    match Candidate::from_sdp_string(line) {
        Ok(_) => Ok(()),
        // str0m's reason would repeat the whole line.
        Err(_) => Err(OfferError::Candidate {
            line: mimosa_units::one_line(line, LONGEST_SHOWN),
        }),
    }
}

/// The addresses in the candidates of an offer or of a request, each once, in their order: whole lines with or without
/// `a=`. Names that hide an address, and addresses at which no relay can reach anybody, are left out.
#[must_use]
pub fn candidate_addresses<'a>(lines: impl IntoIterator<Item = &'a str>) -> Vec<IpAddr> {
    let mut all = Vec::new();
    for line in lines {
        let line = line.trim_end();
        let line = line.strip_prefix("a=").unwrap_or(line);
        let is_candidate = line.starts_with("candidate:");
        // Candidates are of the form `candidate:1 1 udp 2122260223 10.0.0.2 5000 typ host` (RFC 8839, section 5.1).
        let address = line.split(' ').nth(4).filter(|_| is_candidate);
        let address = address.and_then(|text| text.parse::<IpAddr>().ok());
        if let Some(ip) = address.filter(|ip| is_reachable(*ip) && !all.contains(ip)) {
            all.push(ip);
        }
    }
    all
}

/// Whether another machine can be at an address.
#[must_use]
pub const fn is_reachable(ip: IpAddr) -> bool {
    let is_local = match ip {
        IpAddr::V4(v4) => v4.is_link_local() || v4.is_broadcast(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    !(is_local || ip.is_loopback() || ip.is_unspecified() || ip.is_multicast())
}

/// Number of a line's characters that an error repeats.
const LONGEST_SHOWN: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    fn address(number: u32) -> SocketAddr {
        (std::net::Ipv4Addr::from_bits(number), 5_000).into()
    }

    #[test]
    fn the_first_addresses_count_and_no_others() {
        let mut sources = Sources::default();
        for number in 0..10_000 {
            if sources.has_room_for(address(number)) {
                sources.learn(address(number));
                sources.learn(address(number));
            }
        }
        assert_eq!(sources.0.len(), MOST_SOURCES);
        assert!(sources.has_room_for(address(0)) && sources.knows(address(15)));
        assert!(!sources.has_room_for(address(16)));
    }

    #[test]
    fn the_addresses_of_candidates_are_found() {
        let offer = "v=0\r\na=candidate:1 1 udp 1 10.0.0.2 5000 typ host\r\n\
            a=candidate:2 1 udp 1 4f1b.local 5000 typ host\r\na=candidate:3 1 udp 1 127.0.0.1 1 typ host\r\n\
            a=candidate:4 1 udp 1 fe80::1 1 typ host\r\na=candidate:5 1 udp 1 2001:db8::1 1 typ srflx\r\n\
            a=candidate:6 1 tcp 1 10.0.0.2 9 typ host\r\na=x 1 2 3 192.0.2.1 4\r\ncandidate:\r\n";
        let found = candidate_addresses(offer.lines());
        let expected = ["10.0.0.2", "2001:db8::1"].map(|text| text.parse::<IpAddr>().unwrap());
        assert_eq!(found, expected);
        let line = ["candidate:1 1 udp 1 192.0.2.9 5000 typ host"];
        assert_eq!(candidate_addresses(line).len(), 1);
    }

    #[test]
    fn a_candidate_is_told_from_what_is_none() {
        let good = "candidate:1 1 udp 2122260223 10.0.0.2 5000 typ host";
        assert!(check_candidate(good).is_ok());
        assert!(is_candidate(&format!("a={good}")) && !is_candidate("a=end-of-candidates"));
        let bad = format!("candidate:{}", "x".repeat(10_000));
        let error = check_candidate(&bad).unwrap_err().to_string();
        assert!(
            error.contains("is no candidate") && error.len() < 400,
            "{error}"
        );
    }
}
