//! The machine's own names and addresses.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv6Addr};

use mimosa_settings::{PublicHost, Settings};

/// The kernel's file with the machine's name.
const HOST_NAME: &str = "/proc/sys/kernel/hostname";
/// The kernel's table of IPv6 addresses.
const ADDRESSES: &str = "/proc/net/if_inet6";
/// An address that is replaced after a day or so (RFC 8981), in the kernel's table:
/// `IFA_F_TEMPORARY` of `linux/if_addr.h`.
const TEMPORARY: u32 = 0x01;

/// The names of this machine in its own network; none if the kernel tells none.
pub(crate) fn names() -> Vec<String> {
    names_of(&std::fs::read_to_string(HOST_NAME).unwrap_or_default())
}

/// The names by which a host with these settings may be called; with none, it has to be called by
/// its addresses.
pub(crate) fn names_with(settings: &Settings) -> Vec<String> {
    let mut names = names();
    let advertised = settings.advertise.iter().map(|place| &place.host);
    names.extend(advertised.filter_map(|host| match host {
        PublicHost::Name(name) => Some(name.clone()),
        PublicHost::Address(_) => None,
    }));
    names.extend(
        settings
            .tls
            .acme
            .iter()
            .flat_map(|acme| acme.names.iter().cloned()),
    );
    names
}

/// The names in its own network of a machine with this host name.
pub(crate) fn names_of(host_name: &str) -> Vec<String> {
    let name = host_name.trim();
    if name.is_empty() {
        return Vec::new();
    }
    // Multicast DNS (RFC 6762, section 3) uses the first label of the name.
    let first = name.split('.').next().unwrap_or(name);
    vec![name.to_owned(), first.to_owned(), format!("{first}.local")]
}

/// The addresses of all interfaces.
pub(crate) fn addresses() -> Vec<IpAddr> {
    let interfaces = if_addrs::get_if_addrs().unwrap_or_default();
    interfaces.iter().map(if_addrs::Interface::ip).collect()
}

/// The addresses of all interfaces that last longer than a day.
pub(crate) fn lasting_addresses() -> Vec<IpAddr> {
    let temporary = temporary(&std::fs::read_to_string(ADDRESSES).unwrap_or_default());
    let mut addresses = addresses();
    addresses.retain(|address| match address {
        IpAddr::V4(_) => true,
        IpAddr::V6(v6) => !temporary.contains(v6),
    });
    addresses
}

/// The temporary addresses in the kernel's table, whose lines have the address, the number of the
/// interface, the prefix, the scope, the flags and the interface's name.
fn temporary(table: &str) -> BTreeSet<Ipv6Addr> {
    let address = |line: &str| {
        let mut fields = line.split_whitespace();
        let address = u128::from_str_radix(fields.next()?, 16).ok()?;
        let flags = u32::from_str_radix(fields.nth(3)?, 16).ok()?;
        (flags & TEMPORARY != 0).then(|| address.into())
    };
    table.lines().filter_map(address).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_addresses_are_found() {
        let table = "\
            20010db8000000000000000000000001 02 40 00 01     eth0\n\
            20010db8000000000000000000000002 02 40 00 80     eth0\n\
            fe800000000000000000000000000003 02 40 20 81     eth0\n\
            none\n";
        let found = temporary(table);
        let expected = ["2001:db8::1", "fe80::3"].map(|text| text.parse().unwrap());
        assert_eq!(found, BTreeSet::from(expected));
    }

    #[test]
    fn a_host_name_gives_three_names() {
        assert_eq!(names_of("den.home\n"), ["den.home", "den", "den.local"]);
        assert!(names_of("\n").is_empty());
    }
}
