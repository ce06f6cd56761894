//! The host's address at a relay (RFC 8656), by which players reach a host behind a router that lets nobody in.
//!
//! The relay has a socket of its own, so that nothing but its address tells its datagrams, and sessions see only what
//! peers have sent: [`Relay::receive`] takes the relay's wrapping off, and [`Relay::send`] puts it on. `ChannelData` adds
//! 4 bytes to a datagram of at most 1200, which the pacer does not count, as it does not count the 2 of TCP's
//! frames. A relay may send a datagram on without its ECN field (RFC 8656, section 14): datagrams leave here as not
//! capable of it, also where the session's controller wants marks, and it sees none.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::BorrowedFd;
use std::time::{SystemTime, UNIX_EPOCH};

use mimosa_settings::{RelaySecret, RelaySettings};
use mimosa_system::random::bits_128;
use mimosa_system::udp::BatchSocket;
use mimosa_transport::{Datagram, candidate_addresses, is_reachable};
use mimosa_turn::{Carried, Client, Credentials, Event};
use mimosa_units::{Ecn, Time};

use super::Offer;

/// How long credentials are good for, in seconds: a day, as draft-uberti-behave-turn-rest-00, section 2.2,
/// recommends. A session that lasts longer keeps its address with coturn, which looks at the time once.
const LIFE: u64 = 86_400;
/// Most addresses of a session that may send to the host's address at the relay. Our choice: a browser has one or two
/// for each of its networks, and each costs the relay an entry.
const MOST_PEERS: usize = 8;

/// Credentials for the relay from now on.
pub(crate) fn credentials(secret: &RelaySecret) -> Credentials {
    #[expect(
        clippy::disallowed_methods,
        reason = "the name of credentials is the date at which they end"
    )]
    let now = SystemTime::now();
    let now = now.duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs());
    Credentials::until(secret.secret(), now.saturating_add(LIFE))
}

/// The addresses that may send to the host's address at the relay for one session: those from which its player asks
/// and those which its player offers. Whoever offers has proven the token.
#[derive(Debug, Default)]
pub(super) struct Peers(Vec<IpAddr>);

impl Peers {
    /// The addresses in an offer, and the one from which the offer came.
    pub(super) fn of(offer: &Offer) -> Self {
        let from = offer.from.to_canonical();
        let mut peers = Self(Vec::from_iter(is_reachable(from).then_some(from)));
        peers.add(offer.text.lines());
        peers
    }

    /// Adds the addresses in candidates, as many as there is room for.
    pub(super) fn add<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) {
        for ip in candidate_addresses(lines) {
            if self.0.len() < MOST_PEERS && !self.0.contains(&ip) {
                self.0.push(ip);
            }
        }
    }

    /// All addresses that may send.
    pub(super) fn iter(&self) -> impl Iterator<Item = &IpAddr> {
        self.0.iter()
    }
}

/// The host's address at the relay.
#[derive(Debug)]
pub(super) struct Relay {
    secret: RelaySecret,
    client: Client,
    /// The relay's own address, once it is known.
    server: Option<SocketAddr>,
    /// The socket of the present allocation, or of the attempt at one.
    socket: Option<BatchSocket>,
    /// The address of which the sessions know.
    told: Option<SocketAddr>,
    /// What was wrong last, so that the log is told once.
    trouble: Option<String>,
}

impl Relay {
    /// A relay at which the host has no address yet.
    pub(super) fn new(settings: &RelaySettings) -> Self {
        Self {
            secret: settings.secret.clone(),
            client: Client::new(bits_128()),
            server: None,
            socket: None,
            told: None,
            trouble: None,
        }
    }

    /// The host's address there.
    pub(super) const fn relayed(&self) -> Option<SocketAddr> {
        self.client.relayed()
    }

    /// The relay's socket.
    pub(super) const fn socket(&self) -> Option<&BatchSocket> {
        self.socket.as_ref()
    }

    /// The descriptor to wait for.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.socket().map(BatchSocket::fd)
    }

    /// Whether this is the address of the relay's socket.
    pub(super) fn is_at(&self, local: SocketAddr) -> bool {
        self.socket().is_some_and(|own| own.address() == local)
    }

    /// Takes the addresses of the relay. A host uses one of IPv4 where there is one, since the address that it gets
    /// there is of IPv4 in any case.
    pub(super) fn lead(&mut self, servers: &[SocketAddr]) {
        let is_known = self.server.is_some_and(|known| servers.contains(&known));
        let mut sorted = servers.to_vec();
        sorted.sort_by_key(SocketAddr::is_ipv6);
        if !is_known && let Some(&server) = sorted.first() {
            self.server = Some(server);
            self.client = Client::new(bits_128());
        }
    }

    /// When to call [`Self::tend`].
    pub(super) fn deadline(&self) -> Time {
        match self.server {
            Some(_) => self.client.deadline(),
            None => Time::MAX,
        }
    }

    /// Does what is due, and says whether the host's address at the relay is another one now.
    pub(super) fn tend(&mut self, now: Time) -> bool {
        let Some(server) = self.server else {
            return false;
        };
        if self.client.is_due(now) {
            self.begin(now, server);
        } else if self.client.deadline() <= now {
            self.client.timeout(now);
        }
        self.speak();
        while let Some(event) = self.client.poll_event() {
            self.note(server, &event);
        }
        let relayed = self.relayed();
        std::mem::replace(&mut self.told, relayed) != relayed
    }

    /// Lets these addresses send to the host's address at the relay, and no others.
    pub(super) fn permit(&mut self, now: Time, peers: &BTreeSet<IpAddr>) {
        self.client.permit(now, peers);
        self.speak();
    }

    /// Takes a datagram that came to the relay's socket. Returns what a peer has sent, with the peer's address and the
    /// host's address there.
    pub(super) fn receive<'a>(
        &mut self,
        now: Time,
        from: SocketAddr,
        datagram: &'a [u8],
    ) -> Option<((SocketAddr, SocketAddr), &'a [u8])> {
        if self.server != Some(from) {
            return None;
        }
        let Carried { peer, data } = self.client.receive(now, datagram)?;
        Some(((peer, self.relayed()?), datagram.get(data)?))
    }

    /// Sends a datagram by the relay; returns the number of datagrams that were lost meanwhile.
    pub(super) fn send(&mut self, now: Time, datagram: &Datagram) -> u64 {
        let wrapped = self
            .client
            .wrap(now, datagram.destination, &datagram.contents);
        match (wrapped, &mut self.socket, self.server) {
            (Some(wrapped), Some(socket), Some(server)) => {
                socket.send(server, Ecn::NotEct, &wrapped)
            }
            _ => 1,
        }
    }

    /// Sends what waits; returns the number of datagrams that were lost.
    pub(super) fn flush(&mut self) -> u64 {
        self.socket.as_mut().map_or(0, BatchSocket::flush)
    }

    /// Gives the address up.
    pub(super) fn close(mut self) {
        self.client.close();
        self.speak();
    }

    /// Asks for an address, from another port each time: an allocation of before may still belong to the last one.
    fn begin(&mut self, now: Time, server: SocketAddr) {
        let any = match server {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        self.socket = BatchSocket::bind(SocketAddr::new(any, 0))
            .inspect_err(|error| tracing::warn!(%error, "no socket for the relay"))
            .ok();
        self.client.begin(now, credentials(&self.secret));
    }

    /// Sends the client's own datagrams.
    fn speak(&mut self) {
        while let Some(datagram) = self.client.poll_datagram() {
            if let (Some(socket), Some(server)) = (&mut self.socket, self.server) {
                socket.send(server, Ecn::NotEct, &datagram);
            }
        }
        self.flush();
    }

    fn note(&mut self, server: SocketAddr, event: &Event) {
        match event {
            Event::Allocated(relayed) => {
                tracing::info!(%server, %relayed, "reached by the relay");
                self.trouble = None;
            }
            Event::Failed(trouble) => {
                let trouble = trouble.to_string();
                if self.trouble.as_ref() != Some(&trouble) {
                    tracing::warn!(%server, "the host is not reached by the relay: {trouble}");
                    self.trouble = Some(trouble);
                }
            }
            Event::Forbidden { peer, code } => {
                tracing::warn!(%server, %peer, code, "the relay does not let a player send to the host");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use mimosa_protocol::control::Role;

    use super::*;

    fn offer(from: &str, text: String) -> Offer {
        Offer {
            text,
            role: Role::Viewer,
            feedback: None,
            replaces: None,
            may_play: false,
            secret: None,
            device: None,
            from: from.parse().unwrap(),
        }
    }

    #[test]
    fn an_offer_with_many_candidates_lets_few_addresses_in() {
        let lines = (0..1_000_u32).map(|number| {
            let ip = Ipv4Addr::from(0x0a00_0000 + number);
            format!("a=candidate:1 1 udp 1 {ip} 5000 typ host\r\n")
        });
        let mut peers = Peers::of(&offer("::ffff:203.0.113.20", lines.collect()));
        assert_eq!(peers.0.len(), MOST_PEERS);
        assert_eq!(peers.0[0].to_string(), "203.0.113.20", "where it came from");
        peers.add(["candidate:1 1 udp 1 192.0.2.1 5000 typ srflx"]);
        assert_eq!(peers.0.len(), MOST_PEERS);
        // What came through a tunnel shows nobody's address.
        assert!(Peers::of(&offer("127.0.0.1", String::new())).0.is_empty());
    }
}
