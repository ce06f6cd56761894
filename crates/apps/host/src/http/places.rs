//! Limits the number of connections, in all and for each address.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use super::limit::network;

/// Most connections: a browser keeps six, and a host has a handful of browsers.
const MOST: usize = 128;
/// Most connections of one address: two browsers, one of which reloads. A proxy in front of
/// everybody has as many, and each request takes only a moment.
const MOST_OF_ONE: usize = 16;
/// Places that are reserved for programs on this machine, so that its user gets in whatever the
/// network does.
const FOR_LOOPBACK: usize = 16;
/// Most connections of all of loopback's addresses, any of which a program on this machine may take: so
/// that the network gets in whatever another user of this machine does.
const MOST_OF_LOOPBACK: usize = 64;

/// The places that are taken.
#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// Number of connections of loopback's addresses.
    loopback: usize,
    /// Number of connections of each network, in the sense of the rate limit.
    of: BTreeMap<IpAddr, usize>,
}

/// The places, which all listeners share.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places(Arc<Mutex<Taken>>);

/// A connection's place, which is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    places: Places,
    network: IpAddr,
    is_loopback: bool,
}

impl Places {
    /// Takes a place for a connection from this address, if one is free.
    pub(crate) fn take(&self, address: IpAddr) -> Option<Place> {
        let address = address.to_canonical();
        let network = network(address);
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_loopback = address.is_loopback();
        let is_full = if is_loopback {
            taken.all >= MOST || taken.loopback >= MOST_OF_LOOPBACK
        } else {
            taken.all + FOR_LOOPBACK >= MOST
        };
        let of_it = taken.of.get(&network).copied().unwrap_or_default();
        if is_full || of_it >= MOST_OF_ONE {
            return None;
        }
        taken.all += 1;
        taken.loopback += usize::from(is_loopback);
        taken.of.insert(network, of_it + 1);
        Some(Place {
            places: self.clone(),
            network,
            is_loopback,
        })
    }
}

#[cfg(test)]
impl Places {
    /// Number of places that are taken.
    pub(super) fn taken(&self) -> usize {
        self.0.lock().unwrap().all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let taken = &mut *self.places.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        taken.loopback -= usize::from(self.is_loopback);
        if let Some(of_it) = taken.of.get_mut(&self.network) {
            *of_it -= 1;
            if *of_it == 0 {
                taken.of.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn one_address_leaves_places_for_others() {
        let places = Places::default();
        let take = |text: &str| places.take(address(text));
        let all: Vec<_> = (0..200).filter_map(|_| take("192.0.2.1")).collect();
        assert_eq!(all.len(), MOST_OF_ONE);
        assert!(take("::ffff:192.0.2.1").is_none(), "the same address");
        assert!(take("192.0.2.2").is_some());
        let of_one = (0..200).filter_map(|number| take(&format!("2001:db8::{number}")));
        assert_eq!(of_one.collect::<Vec<_>>().len(), MOST_OF_ONE, "one /64");
        assert!(take("2001:db8:0:1::1").is_some(), "another");
        drop(all);
        assert!(take("192.0.2.1").is_some());
    }

    #[test]
    fn the_network_gets_in_when_the_machine_has_taken_all_that_it_may() {
        let places = Places::default();
        let from = |number: u32| places.take(IpAddr::V4(number.into()));
        let own: Vec<_> = (0x7f00_0001..0x7f00_0200).filter_map(from).collect();
        assert_eq!(own.len(), MOST_OF_LOOPBACK);
        let others: Vec<_> = (0x0a00_0000..0x0a00_0200).filter_map(from).collect();
        assert_eq!(others.len(), MOST - FOR_LOOPBACK - MOST_OF_LOOPBACK);
        drop((own, others));
        let taken = places.0.lock().unwrap();
        assert!(
            taken.all == 0 && taken.loopback == 0 && taken.of.is_empty(),
            "{taken:?}"
        );
    }

    #[test]
    fn the_machine_itself_gets_in_when_the_network_has_taken_the_rest() {
        let places = Places::default();
        let from = |number: u32| places.take(IpAddr::V4(number.into()));
        let all: Vec<_> = (0x0a00_0000..0x0a00_0200).filter_map(from).collect();
        assert_eq!(all.len(), MOST - FOR_LOOPBACK);
        let own: Vec<_> = (0..200)
            .filter_map(|_| places.take(address("::1")))
            .collect();
        assert_eq!(own.len(), FOR_LOOPBACK);
        assert!(places.take(address("127.0.0.1")).is_none(), "all are taken");
        drop((all, own));
        let taken = places.0.lock().unwrap();
        assert!(taken.all == 0 && taken.of.is_empty(), "{taken:?}");
    }
}
