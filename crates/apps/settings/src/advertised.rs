//! Places at which a host can be reached that its own network interfaces do not show.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

/// The longest name (RFC 1035, section 2.3.4, without the final dot).
const LONGEST_NAME: usize = 253;
/// The longest part of a name between two dots (RFC 1035, section 2.3.4).
const LONGEST_LABEL: usize = 63;

/// A place at which others reach the host: the outer address of a router that forwards to it, or of
/// the machine whose container it runs in.
///
/// As text, `203.0.113.7`, `203.0.113.7:4000`, `2001:db8::7`, `[2001:db8::7]:4000`,
/// `play.example.org` or `play.example.org:4000`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Advertised {
    /// The address or the name.
    pub host: PublicHost,
    /// The UDP port there; `None`: the one that the host is bound to.
    pub port: Option<u16>,
}

/// What others call a machine.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum PublicHost {
    /// An address of one machine.
    Address(IpAddr),
    /// A name of the DNS in lower case, which may stand for several addresses that change.
    Name(String),
}

impl fmt::Display for PublicHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(address) => address.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
    }
}

/// A text that is no [`Advertised`]: neither an address of one machine nor a name, or with a port
/// that does not exist.
#[derive(Debug, Eq, PartialEq)]
pub struct NotAdvertised;

impl FromStr for Advertised {
    type Err = NotAdvertised;

    fn from_str(text: &str) -> Result<Self, NotAdvertised> {
        if let Ok(address) = text.parse() {
            return Self::at(address, None);
        }
        if let Ok(address) = text.parse::<SocketAddr>() {
            return Self::at(address.ip(), Some(port(address.port())?));
        }
        let (name, port) = match text.split_once(':') {
            None => (text, None),
            Some((name, number)) => {
                let number = number.parse().map_err(|_| NotAdvertised)?;
                (name, Some(port(number)?))
            }
        };
        let name = name.to_ascii_lowercase();
        let host = PublicHost::Name(name);
        match &host {
            PublicHost::Name(name) if is_name(name) => Ok(Self { host, port }),
            _ => Err(NotAdvertised),
        }
    }
}

impl Advertised {
    /// A place with an address that stands for one machine.
    fn at(address: IpAddr, port: Option<u16>) -> Result<Self, NotAdvertised> {
        if address.is_unspecified() || address.is_multicast() {
            return Err(NotAdvertised);
        }
        let host = PublicHost::Address(address);
        Ok(Self { host, port })
    }
}

/// A port to which datagrams can be sent.
fn port(number: u16) -> Result<u16, NotAdvertised> {
    (number != 0).then_some(number).ok_or(NotAdvertised)
}

/// Whether a text in lower case is a name of a machine (RFC 1123, section 2.1). One whose last part
/// has only digits would be an address with a mistake.
fn is_name(text: &str) -> bool {
    let is_label = |label: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        !label.is_empty()
            && label.len() <= LONGEST_LABEL
            && label.chars().all(fits)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = text.rsplit('.').next().unwrap_or(text);
    text.len() <= LONGEST_NAME
        && text.split('.').all(is_label)
        && !last.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Advertised, NotAdvertised> {
        text.parse()
    }

    #[test]
    fn addresses_and_names_are_read_with_and_without_ports() {
        for (text, host, port) in [
            ("203.0.113.7", "203.0.113.7", None),
            ("203.0.113.7:4000", "203.0.113.7", Some(4_000)),
            ("2001:db8::7", "2001:db8::7", None),
            ("[2001:db8::7]:4000", "2001:db8::7", Some(4_000)),
            ("Play.Example.org", "play.example.org", None),
            ("play.example.org:65535", "play.example.org", Some(65_535)),
            ("den", "den", None),
        ] {
            let read = read(text).unwrap();
            assert_eq!((read.host.to_string().as_str(), read.port), (host, port));
            let is_address = host.parse::<IpAddr>().is_ok();
            assert_eq!(matches!(read.host, PublicHost::Address(_)), is_address);
        }
    }

    #[test]
    fn what_nobody_can_reach_is_refused() {
        let long = format!("{}.org", "a".repeat(64));
        let longer = format!("{}org", "a.".repeat(126));
        for text in [
            "",
            "0.0.0.0",
            "::",
            "224.0.0.1",
            "ff02::1",
            "203.0.113.7:0",
            "203.0.113",
            "1.2.3.256",
            "play.example.org:0",
            "play.example.org:70000",
            "play.example.org:",
            "a..b",
            "-a.org",
            "a-.org",
            "a_b.org",
            "https://a.org",
            "a.org/x",
            "[2001:db8::7]",
            &long,
            &longer,
        ] {
            assert_eq!(read(text), Err(NotAdvertised), "{text}");
        }
    }
}
