//! The host's side: an announcement that stands until it is dropped.

use std::net::IpAddr;
use std::time::Duration;

use mdns_sd::{IfKind, ServiceDaemon, ServiceInfo};

use crate::{DiscoveryError, ENCRYPTED, PAIRS, SERVICE, VERSION};

/// Longest wait for the goodbye to leave, when a host ends.
const GOODBYE_WITHIN: Duration = Duration::from_millis(500);
/// Longest label of a name in DNS, in bytes (RFC 1035, section 2.3.4).
const LONGEST_LABEL: usize = 63;

/// What a host says of itself.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Announcement {
    /// The machine's name.
    pub name: String,
    /// The addresses at which the host listens; an unspecified one stands for all of its family. Those of
    /// loopback are not announced.
    pub addresses: Vec<IpAddr>,
    /// The host's port of HTTP or HTTPS.
    pub port: u16,
    /// Whether the port speaks HTTPS.
    pub is_encrypted: bool,
    /// Whether devices can pair.
    pub pairs: bool,
    /// The host's version.
    pub version: String,
}

/// An announcement that stands. Dropping it takes it back, for which it waits half a second at most.
pub struct Standing {
    daemon: ServiceDaemon,
    name: String,
}

impl Announcement {
    /// Whether there is an address that others reach.
    #[must_use]
    pub fn leads_here(&self) -> bool {
        self.addresses.iter().any(|address| !address.is_loopback())
    }

    /// The interfaces, and the addresses there unless these are all.
    fn interfaces(&self) -> (Vec<IfKind>, Vec<IpAddr>) {
        let mut interfaces = Vec::new();
        let mut addresses = Vec::new();
        for &address in self.addresses.iter().filter(|one| !one.is_loopback()) {
            match address {
                IpAddr::V4(v4) if v4.is_unspecified() => interfaces.push(IfKind::IPv4),
                IpAddr::V6(v6) if v6.is_unspecified() => interfaces.push(IfKind::IPv6),
                address => {
                    interfaces.push(IfKind::Addr(address));
                    addresses.push(address);
                }
            }
        }
        (interfaces, addresses)
    }

    fn service(&self) -> Result<ServiceInfo, DiscoveryError> {
        let label = label(&self.name);
        // Another responder of this machine may have its name already, with other addresses.
        let host = format!("{label}-mimosa.local.");
        let flag = |is_so: bool| if is_so { "1" } else { "0" };
        let properties = [
            (VERSION, self.version.as_str()),
            (ENCRYPTED, flag(self.is_encrypted)),
            (PAIRS, flag(self.pairs)),
        ];
        let (interfaces, addresses) = self.interfaces();
        let is_any = self.addresses.iter().any(IpAddr::is_unspecified);
        let service = ServiceInfo::new(
            SERVICE,
            &label,
            &host,
            addresses.as_slice(),
            self.port,
            properties.as_slice(),
        )?;
        let mut service = if is_any {
            service.enable_addr_auto()
        } else {
            service
        };
        service.set_interfaces(interfaces);
        Ok(service)
    }
}

/// Announces a host in its network, from a thread of its own, until the result is dropped. Addresses that
/// come and go are followed where the host listens at all of them.
///
/// # Errors
///
/// [`DiscoveryError`] if the system has no multicast DNS for us.
pub fn announce(announcement: &Announcement) -> Result<Standing, DiscoveryError> {
    let service = announcement.service()?;
    let daemon = ServiceDaemon::new()?;
    daemon.disable_interface(vec![IfKind::LoopbackV4, IfKind::LoopbackV6])?;
    let name = service.get_fullname().to_owned();
    daemon.register(service)?;
    Ok(Standing { daemon, name })
}

impl Drop for Standing {
    fn drop(&mut self) {
        // A daemon that is gone says no goodbye, and what was announced ends by itself in two minutes.
        if let Ok(done) = self.daemon.unregister(&self.name) {
            let _ = done.recv_timeout(GOODBYE_WITHIN);
        }
        let _ = self.daemon.shutdown();
    }
}

/// A machine's name as a label of DNS: letters, digits and hyphens of its first part.
fn label(name: &str) -> String {
    let first = name.trim().split('.').next().unwrap_or_default();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let room = LONGEST_LABEL - "-mimosa".len();
    let label: String = first.chars().filter(|&c| fits(c)).take(room).collect();
    let label = label.trim_matches('-');
    if label.is_empty() {
        "host".to_owned()
    } else {
        label.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(addresses: &[&str]) -> Announcement {
        Announcement {
            name: "den.example.org\n".to_owned(),
            addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
            port: 8080,
            is_encrypted: true,
            pairs: true,
            version: "0.1.0".to_owned(),
        }
    }

    #[test]
    fn an_announcement_says_what_a_client_needs_and_no_more() {
        let service = at(&["0.0.0.0"]).service().unwrap();
        assert_eq!(service.get_fullname(), "den._mimosa._tcp.local.");
        assert_eq!(service.get_hostname(), "den-mimosa.local.");
        let said: Vec<_> = service
            .get_properties()
            .iter()
            .map(|property| (property.key().to_owned(), property.val_str().to_owned()))
            .collect();
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            said,
            [pair("v", "0.1.0"), pair("tls", "1"), pair("pair", "1")]
        );
        assert!(service.is_addr_auto());
    }

    #[test]
    fn only_where_the_host_listens() {
        let service = at(&["192.0.2.7", "127.0.0.1"]).service().unwrap();
        assert!(!service.is_addr_auto());
        let addresses: Vec<_> = service.get_addresses_v4().into_iter().copied().collect();
        assert_eq!(addresses, [std::net::Ipv4Addr::new(192, 0, 2, 7)]);
        let (interfaces, _) = at(&["::", "127.0.0.1"]).interfaces();
        assert!(matches!(interfaces.as_slice(), [IfKind::IPv6]));
        assert!(!at(&["127.0.0.1", "::1"]).leads_here());
        assert!(at(&["127.0.0.1", "::"]).leads_here());
    }

    #[test]
    fn any_name_makes_a_label() {
        for (name, expected) in [
            ("den", "den"),
            ("Den-2.home", "Den-2"),
            ("", "host"),
            ("-.x", "host"),
            ("a b\u{1b}[31mé", "ab31m"),
        ] {
            assert_eq!(label(name), expected, "{name:?}");
        }
        assert_eq!(
            label(&"x".repeat(300)).len() + "-mimosa".len(),
            LONGEST_LABEL
        );
    }
}
