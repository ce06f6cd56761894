//! The client's side: the hosts that are announced.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use mdns_sd::{ResolvedService, ServiceDaemon, ServiceEvent};

use crate::{DiscoveryError, ENCRYPTED, PAIRS, SERVICE, VERSION};

/// Most hosts that are told of. Our choice: more than a person reads, and a bound for who announces
/// without end.
pub const MOST_FOUND: usize = 32;
/// Most addresses of a host, and longest text of one, in characters. Our choice.
const MOST_ADDRESSES: usize = 8;
const LONGEST_TEXT: usize = 63;

/// A host that is announced. Nothing of it is proven.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Found {
    /// The host's name, without control characters.
    pub name: String,
    /// Where the host listens, the likeliest way first: IPv4, then IPv6; never empty.
    pub addresses: Vec<SocketAddr>,
    /// Whether the host speaks HTTPS.
    pub is_encrypted: bool,
    /// Whether devices can pair.
    pub pairs: bool,
    /// The host's version, without control characters; empty if it does not say.
    pub version: String,
}

/// Looks for hosts for this long.
///
/// # Errors
///
/// [`DiscoveryError`] if the system has no multicast DNS for us.
#[expect(clippy::disallowed_methods, reason = "a driver reads the clock")]
pub fn find(wait: Duration) -> Result<Vec<Found>, DiscoveryError> {
    let until = Instant::now() + wait;
    let daemon = ServiceDaemon::new()?;
    let events = daemon.browse(SERVICE)?;
    let mut all = BTreeMap::new();
    while let Ok(event) = events.recv_deadline(until) {
        match event {
            ServiceEvent::ServiceResolved(service) => {
                let is_known = all.contains_key(&service.fullname);
                if (is_known || all.len() < MOST_FOUND)
                    && let Some(found) = found(&service)
                {
                    all.insert(service.fullname.clone(), found);
                }
            }
            ServiceEvent::ServiceRemoved(_, name) => {
                all.remove(&name);
            }
            _ => {}
        }
    }
    let _ = daemon.shutdown();
    Ok(all.into_values().collect())
}

/// What a service says of a host; `None` if nobody could connect to it.
fn found(service: &ResolvedService) -> Option<Found> {
    let port = service.get_port();
    let mut addresses: Vec<IpAddr> = service
        .get_addresses()
        .iter()
        .map(mdns_sd::ScopedIp::to_ip_addr)
        .filter(|address| is_usable(*address))
        .collect();
    addresses.sort_unstable_by_key(|address| (address.is_ipv6(), *address));
    addresses.truncate(MOST_ADDRESSES);
    if addresses.is_empty() || port == 0 {
        return None;
    }
    let text = |key: &str| service.get_property_val_str(key).unwrap_or_default();
    let name = service.get_fullname().strip_suffix(SERVICE);
    let name = name.unwrap_or_default().trim_end_matches('.');
    Some(Found {
        name: clean(name),
        addresses: addresses
            .into_iter()
            .map(|address| SocketAddr::new(address, port))
            .collect(),
        is_encrypted: text(ENCRYPTED) != "0",
        pairs: text(PAIRS) == "1",
        version: clean(text(VERSION)),
    })
}

/// Whether an address can be another machine's, without the name of an interface.
fn is_usable(address: IpAddr) -> bool {
    let has_scope = match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    !(address.is_unspecified() || address.is_loopback() || address.is_multicast() || has_scope)
}

/// Text of somebody unknown: its beginning, with a replacement for what controls a terminal.
fn clean(text: &str) -> String {
    let shown = |c: char| if c.is_control() { '\u{FFFD}' } else { c };
    text.chars().map(shown).take(LONGEST_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use mdns_sd::ServiceInfo;

    use super::*;

    fn service(name: &str, addresses: &str, port: u16, said: &[(&str, &str)]) -> Option<Found> {
        let info = ServiceInfo::new(SERVICE, name, "x.local.", addresses, port, said).unwrap();
        found(&info.as_resolved_service())
    }

    #[test]
    fn a_host_is_read() {
        let said = [("v", "0.1.0"), ("tls", "1"), ("pair", "1")];
        let found = service("den", "fe80::1,2001:db8::1,192.0.2.7", 8080, &said).unwrap();
        let addresses = ["192.0.2.7:8080", "[2001:db8::1]:8080"];
        assert_eq!(
            found,
            Found {
                name: "den".to_owned(),
                addresses: addresses.map(|text| text.parse().unwrap()).to_vec(),
                is_encrypted: true,
                pairs: true,
                version: "0.1.0".to_owned(),
            }
        );
    }

    #[test]
    fn what_is_not_said_is_the_safer() {
        let found = service("den", "192.0.2.7", 8080, &[]).unwrap();
        assert!(found.is_encrypted && !found.pairs && found.version.is_empty());
        let found = service("den", "192.0.2.7", 8080, &[("tls", "0")]).unwrap();
        assert!(!found.is_encrypted);
    }

    #[test]
    fn nobody_is_sent_to_themselves_or_nowhere() {
        for addresses in [
            "127.0.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "::1",
            "fe80::1",
            "ff02::1",
        ] {
            assert_eq!(service("den", addresses, 8080, &[]), None, "{addresses}");
        }
        assert_eq!(service("den", "192.0.2.7", 0, &[]), None);
    }

    #[test]
    fn strange_text_is_short_and_controls_nothing() {
        let said = [("v", "\u{1b}[31m9\u{9b}2J")];
        let name = "\u{1b}]0;x\u{7}".repeat(9);
        let found = service(&name, "192.0.2.7", 8080, &said).unwrap();
        assert!(!found.name.chars().any(char::is_control));
        assert!(found.name.chars().count() <= LONGEST_TEXT);
        assert_eq!(found.version, "\u{FFFD}[31m9\u{FFFD}2J");
    }

    #[test]
    fn the_number_of_addresses_is_bounded() {
        let many: Vec<String> = (1..=200).map(|last| format!("192.0.2.{last}")).collect();
        let found = service("den", &many.join(","), 8080, &[]).unwrap();
        assert_eq!(found.addresses.len(), MOST_ADDRESSES);
    }
}
