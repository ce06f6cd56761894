//! From whom an end takes datagrams.
//!
//! Nothing in an RTP packet says who sent it. So an end takes datagrams of one machine at a time:
//! the one that was named, or the first that was heard. Another machine takes its place after it
//! has been silent. The port may change at any time, since a program that starts again has
//! another one.

use std::net::{IpAddr, SocketAddr};

use mimosa_units::{Time, TimeDelta};

/// After this silence another machine may take over. Our choice: longer than any pause of a stream
/// that goes on.
const SILENCE: TimeDelta = TimeDelta::from_millis(2_000);

/// The one from whom datagrams are taken.
#[derive(Debug)]
pub(crate) struct Peer {
    /// The only machine that may be it; `None` for any.
    only: Option<IpAddr>,
    known: Option<(SocketAddr, Time)>,
}

impl Peer {
    /// Anybody, or the machine `only`.
    pub(crate) const fn new(only: Option<IpAddr>) -> Self {
        Self { only, known: None }
    }

    /// Whether a datagram that came from `from` at `now` is taken.
    pub(crate) fn accepts(&mut self, now: Time, from: SocketAddr) -> bool {
        let is_allowed = self.only.is_none_or(|only| only == from.ip());
        let is_known = self
            .known
            .is_none_or(|(known, heard)| known.ip() == from.ip() || now.since(heard) >= SILENCE);
        let accepts = is_allowed && is_known;
        if accepts {
            self.known = Some((from, now));
        }
        accepts
    }

    /// Takes the place `from`, where a greeting came from at `now`, if its machine may be the one.
    pub(crate) fn greeted(&mut self, now: Time, from: SocketAddr) -> bool {
        let is_allowed = self.only.is_none_or(|only| only == from.ip());
        if is_allowed {
            self.known = Some((from, now));
        }
        is_allowed
    }

    /// Whether `from` is where the newest greeting came from.
    pub(crate) fn has_greeted(&self, from: SocketAddr) -> bool {
        self.address() == Some(from)
    }

    /// Where datagrams go: to where the newest one came from.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        self.known.map(|(address, _)| address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn the_first_machine_is_kept_until_it_is_silent() {
        let mut peer = Peer::new(None);
        assert!(peer.accepts(Time::from_millis(0), at("10.0.0.1:5000")));
        assert!(!peer.accepts(Time::from_millis(1_000), at("10.0.0.2:5000")));
        assert!(peer.accepts(Time::from_millis(1_500), at("10.0.0.1:6000")));
        assert_eq!(peer.address(), Some(at("10.0.0.1:6000")));
        assert!(!peer.accepts(Time::from_millis(3_400), at("10.0.0.2:5000")));
        assert!(peer.accepts(Time::from_millis(3_500), at("10.0.0.2:5000")));
        assert_eq!(peer.address(), Some(at("10.0.0.2:5000")));
    }

    #[test]
    fn a_named_machine_is_the_only_one() {
        let mut peer = Peer::new(Some(at("10.0.0.1:1").ip()));
        assert!(!peer.accepts(Time::ZERO, at("10.0.0.2:5000")));
        assert_eq!(peer.address(), None);
        assert!(peer.accepts(Time::ZERO, at("10.0.0.1:5000")));
        assert!(!peer.accepts(Time::from_secs(99), at("10.0.0.2:5000")));
    }
}
