//! Where sessions are reached: the machine's addresses as they change, and streams of TCP; and who is there.

use std::net::{IpAddr, SocketAddr};

use mimosa_protocol::control::{BitsPerSecond, Millis};
use mimosa_transport::{Addresses, is_stun};

use super::Network;
use super::relay::Relay;
use crate::sessions::Listed;

/// Most addresses of TCP in an answer, of the host's own and of others: a browser connects to each, and has 16
/// connections at most. Our choice.
const MOST_STREAM_ADDRESSES: usize = 4;

/// Leaves out repetitions of an address, and what comes after [`MOST_STREAM_ADDRESSES`] addresses.
fn few(all: impl Iterator<Item = SocketAddr>) -> Vec<SocketAddr> {
    let mut few = Vec::new();
    for address in all {
        if few.len() < MOST_STREAM_ADDRESSES && !few.contains(&address) {
            few.push(address);
        }
    }
    few
}

impl Network {
    /// Takes what a stream has brought, and gives its datagrams to their session. A stream belongs to
    /// the session whose connectivity check its first datagram is, and is closed without one.
    pub(super) fn receive_framed(&mut self, index: usize, buffer: &mut [u8]) {
        let Some(arrived) = self
            .sockets
            .streams
            .receive(index, self.clock.now(), buffer)
        else {
            return;
        };
        let (from, local) = (arrived.from, arrived.local);
        let mut owner = arrived.owner;
        for data in &arrived.datagrams {
            let is_first = owner.is_none();
            let number = match owner {
                Some(number) => Some(number),
                None if is_stun(data) => self.whose(from, local, data),
                None => None,
            };
            let Some(number) = number else {
                self.metrics.strays.inc();
                self.sockets.streams.close(index);
                return;
            };
            owner = Some(number);
            if is_first {
                self.sockets.streams.own(index, number, self.clock.now());
            }
            let taken = self.with(number, |running, now| {
                let is_its = running.session.accepts(now, from, local, data);
                if is_its {
                    running.address = Some(from);
                    running.session.receive(now, from, local, data);
                }
                is_its
            });
            if taken == Some(false) {
                self.metrics.strays.inc();
            }
        }
    }

    /// Takes the addresses that the machine has now, and offers new ones to all sessions.
    pub(super) fn change_addresses(&mut self, addresses: &[IpAddr]) {
        if !self.sockets.change(addresses) {
            return;
        }
        let addresses = self.addresses();
        tracing::info!(udp = ?addresses.datagrams, "the machine's addresses have changed");
        self.each(|running, _, _| running.session.set_addresses(&addresses));
    }

    /// Takes what the relay has said, and offers another address there to all sessions.
    pub(super) fn tend_relay(&mut self) {
        let now = self.clock.now();
        let relay = self.sockets.relay.as_mut();
        if relay.is_some_and(|relay| relay.tend(now)) {
            let addresses = self.addresses();
            self.each(|running, _, _| running.session.set_addresses(&addresses));
        }
    }

    /// Lets the players of all sessions send to the host's address at the relay, and nobody else.
    pub(super) fn permit(&mut self) {
        let now = self.clock.now();
        if let Some(relay) = &mut self.sockets.relay {
            let all = self.sessions.values();
            let peers = all.flat_map(|running| running.peers.iter().copied());
            relay.permit(now, &peers.collect());
        }
    }

    /// Where the host's own sockets are, and where a relay leads to it.
    pub(super) fn addresses(&self) -> Addresses {
        let datagrams = self.sockets.addresses();
        let streams = self.stream_addresses(datagrams.iter().map(SocketAddr::ip));
        let relayed = self.sockets.relay.as_ref().and_then(Relay::relayed);
        Addresses {
            datagrams,
            streams,
            relayed: relayed.into_iter().collect(),
        }
    }

    /// The addresses of TCP among these, at which sessions can be reached as well.
    fn stream_addresses(&self, all: impl Iterator<Item = IpAddr>) -> Vec<SocketAddr> {
        let Some(port) = self.stream_port else {
            return Vec::new();
        };
        // Nothing keeps UDP from a machine's own programs.
        let all = all.filter(|ip| !ip.is_loopback());
        few(all.map(|ip| SocketAddr::new(ip, port)))
    }

    /// What an answer says besides the addresses of the host's sockets of UDP.
    pub(super) fn told(&self) -> Addresses {
        let own = self.addresses();
        let streams = own.streams.into_iter();
        Addresses {
            datagrams: self.advertised.datagrams.clone(),
            streams: few(streams.chain(self.advertised.streams.iter().copied())),
            relayed: own.relayed,
        }
    }

    /// The sessions, for the host's owner.
    pub(super) fn list(&mut self) -> Vec<Listed> {
        let now = self.clock.now();
        let all = self.sessions.iter_mut();
        all.map(|(number, running)| Listed {
            number: number.0,
            device: running.device.clone(),
            role: running.session.role(),
            address: running.address,
            lasts: Millis(running.session.lasts(now)),
            bitrate: BitsPerSecond(running.session.bitrate(now)),
            round_trip: running.session.round_trip().map(Millis),
        })
        .collect()
    }
}
