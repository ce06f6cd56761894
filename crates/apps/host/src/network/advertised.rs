//! Looks up the places at which others reach the host, and that of a relay, again and again: a name of a home's router
//! stands for another address from time to time.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mimosa_settings::{Advertised, PublicHost};
use mimosa_system::Mailbox;
use mimosa_transport::Addresses;
use tokio::sync::watch;

use super::{Outside, ToNetwork};

/// How often names are looked up. Our choice: names of homes whose address changes are commonly kept
/// for a minute, and a session begins with the addresses of its moment.
const EVERY: Duration = Duration::from_mins(1);
/// How long a look-up may take. Our choice: a resolver of the C library gives up after 5 s for each
/// of its servers (resolv.conf(5)).
const PATIENCE: Duration = Duration::from_secs(15);
/// Most addresses in all: as many as can be advertised (`mimosa-settings`), so that a name with many
/// does not fill answers.
const MOST: usize = 16;

/// The places and what they stand for.
pub(crate) struct Watch {
    places: Vec<Advertised>,
    /// The UDP port of places that name none.
    port: u16,
    /// The port of TCP of all places, where sessions are reached by TCP.
    stream_port: Option<u16>,
    /// Where a router takes in what is for the host.
    outside: watch::Receiver<Outside>,
    /// What each name stood for when it was last found.
    found: BTreeMap<String, Vec<IpAddr>>,
    /// The names whose last look-up failed, of which the log has been told.
    missing: BTreeSet<String>,
}

impl Watch {
    /// Nothing is looked up yet.
    pub(crate) const fn new(
        places: Vec<Advertised>,
        (port, stream_port): (u16, Option<u16>),
        outside: watch::Receiver<Outside>,
    ) -> Self {
        Self {
            places,
            port,
            stream_port,
            outside,
            found: BTreeMap::new(),
            missing: BTreeSet::new(),
        }
    }

    /// Tells the network the addresses, in the form that `told_as` gives them, at once and whenever they change. Never
    /// completes, unless no place has a name and no router forwards. The log calls the places `what`.
    pub(crate) async fn run(
        mut self,
        what: &'static str,
        told_as: fn(Addresses) -> ToNetwork,
        mailbox: Mailbox<ToNetwork>,
    ) {
        let mut told = Addresses::default();
        let mut may_change = true;
        loop {
            for name in self.names() {
                let answer = tokio::time::timeout(PATIENCE, look_up(&name));
                let answer = answer
                    .await
                    .unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
                self.learn(name, answer);
            }
            let addresses = self.addresses();
            if addresses != told {
                tracing::info!(udp = ?addresses.datagrams, tcp = ?addresses.streams, "{what}");
                mailbox.send(told_as(addresses.clone()));
                told = addresses;
            }
            let has_names = !self.names().is_empty();
            if !has_names && !may_change {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(EVERY), if has_names => {}
                changed = self.outside.changed(), if may_change => may_change = changed.is_ok(),
            }
        }
    }

    /// Takes what the resolver says of a name. What cannot be found keeps its former addresses.
    fn learn(&mut self, name: String, answer: io::Result<Vec<IpAddr>>) {
        match answer {
            Ok(addresses) => {
                self.missing.remove(&name);
                self.found.insert(name, addresses);
            }
            Err(error) if !self.missing.contains(&name) => {
                tracing::warn!(name, %error, "a name that cannot be looked up");
                self.missing.insert(name);
            }
            Err(_) => {}
        }
    }

    /// The names among the places, each once.
    fn names(&self) -> BTreeSet<String> {
        let name = |place: &Advertised| match &place.host {
            PublicHost::Name(name) => Some(name.clone()),
            PublicHost::Address(_) => None,
        };
        self.places.iter().filter_map(name).collect()
    }

    /// The addresses that the places stand for, each once, in the order of the places, and then those at which a
    /// router takes in what is for the host.
    fn addresses(&self) -> Addresses {
        let mut all = Addresses::default();
        let add = |all: &mut Vec<SocketAddr>, address| {
            if all.len() < MOST && !all.contains(&address) {
                all.push(address);
            }
        };
        for place in &self.places {
            let port = place.port.unwrap_or(self.port);
            let addresses = match &place.host {
                PublicHost::Address(address) => std::slice::from_ref(address),
                PublicHost::Name(name) => self.found.get(name).map_or(&[][..], Vec::as_slice),
            };
            for &address in addresses {
                add(&mut all.datagrams, SocketAddr::new(address, port));
                if let Some(port) = self.stream_port.filter(|_| !address.is_loopback()) {
                    add(&mut all.streams, SocketAddr::new(address, port));
                }
            }
        }
        let outside = *self.outside.borrow();
        if let Some(address) = outside.udp {
            add(&mut all.datagrams, address);
        }
        if let Some(address) = outside.http.filter(|_| self.stream_port.is_some()) {
            add(&mut all.streams, address);
        }
        all
    }
}

/// Asks the system's resolver, and sorts what it says: its order changes from answer to answer.
async fn look_up(name: &str) -> io::Result<Vec<IpAddr>> {
    let found = tokio::net::lookup_host((name, 0)).await?;
    let mut addresses: Vec<_> = found.map(|address| address.ip()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watch(places: &[&str]) -> Watch {
        let places = places.iter().map(|place| place.parse().unwrap());
        let (_, outside) = watch::channel(Outside::default());
        Watch::new(places.collect(), (8_081, Some(8_080)), outside)
    }

    fn addresses(all: &[&str]) -> Vec<IpAddr> {
        all.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn a_name_stands_for_what_was_found_last() {
        let mut watch = watch(&["203.0.113.7", "den.example.org:4000", "203.0.113.7:8081"]);
        let all = |watch: &Watch| {
            let all = watch.addresses().datagrams.into_iter();
            all.map(|address| address.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(all(&watch), ["203.0.113.7:8081"], "each once");
        let name = || "den.example.org".to_owned();
        watch.learn(name(), Ok(addresses(&["192.0.2.1", "2001:db8::1"])));
        let both = ["203.0.113.7:8081", "192.0.2.1:4000", "[2001:db8::1]:4000"];
        assert_eq!(all(&watch), both);
        watch.learn(name(), Err(io::ErrorKind::NotFound.into()));
        assert_eq!(all(&watch), both, "until it is found again");
        watch.learn(name(), Ok(addresses(&["192.0.2.2"])));
        assert_eq!(all(&watch), ["203.0.113.7:8081", "192.0.2.2:4000"]);
    }

    #[test]
    fn a_name_with_many_addresses_does_not_fill_answers() {
        let mut watch = watch(&["den.example.org"]);
        let many = (0..100).map(|number: u32| IpAddr::V4(number.into()));
        watch.learn("den.example.org".to_owned(), Ok(many.collect()));
        assert_eq!(watch.addresses().datagrams.len(), MOST);
        assert_eq!(watch.addresses().streams.len(), MOST);
    }

    #[test]
    fn what_a_router_forwards_comes_after_the_places() {
        let mut watch = watch(&["203.0.113.7:4000"]);
        let outside = Outside {
            http: Some(([203, 0, 113, 9], 9_080).into()),
            udp: Some(([203, 0, 113, 9], 9_081).into()),
        };
        let (_router, said) = watch::channel(outside);
        watch.outside = said;
        let texts = |all: &[SocketAddr]| all.iter().map(ToString::to_string).collect::<Vec<_>>();
        let all = watch.addresses();
        assert_eq!(
            texts(&all.datagrams),
            ["203.0.113.7:4000", "203.0.113.9:9081"]
        );
        assert_eq!(
            texts(&all.streams),
            ["203.0.113.7:8080", "203.0.113.9:9080"]
        );
        watch.stream_port = None;
        assert!(watch.addresses().streams.is_empty());
    }
}
