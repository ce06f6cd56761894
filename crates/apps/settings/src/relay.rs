//! A relay (RFC 8656) by which a host and its players reach each other where nothing else does.

use std::fmt;
use std::str::FromStr;

use crate::advertised::{Advertised, PublicHost};

/// Ports of relays without and with TLS (RFC 7065, section 3.2).
const PORT: u16 = 3_478;
const TLS_PORT: u16 = 5_349;

/// How a relay is reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum RelayTransport {
    /// Datagrams.
    Udp,
    /// A stream.
    Tcp,
    /// A stream that is encrypted.
    Tls,
}

/// A relay's URL (RFC 7065), e.g. `turn:relay.example.org:3478?transport=udp`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RelayUrl {
    /// The relay's address or name.
    pub host: PublicHost,
    /// The relay's port.
    pub port: u16,
    /// How the relay is reached.
    pub transport: RelayTransport,
}

/// A text that is no [`RelayUrl`].
#[derive(Debug, Eq, PartialEq)]
pub struct NotRelayUrl;

impl FromStr for RelayUrl {
    type Err = NotRelayUrl;

    fn from_str(text: &str) -> Result<Self, NotRelayUrl> {
        let (scheme, rest) = text.split_once(':').ok_or(NotRelayUrl)?;
        let (place, query) = match rest.split_once('?') {
            Some((place, query)) => (place, Some(query)),
            None => (rest, None),
        };
        let (transport, port) = match (scheme, query) {
            ("turn", None | Some("transport=udp")) => (RelayTransport::Udp, PORT),
            ("turn", Some("transport=tcp")) => (RelayTransport::Tcp, PORT),
            ("turns", None | Some("transport=tcp")) => (RelayTransport::Tls, TLS_PORT),
            _ => return Err(NotRelayUrl),
        };
        // An address of IPv6 has brackets (RFC 3986, section 3.2.2), with or without a port behind it.
        let inner = place.strip_prefix('[');
        if inner.is_none() && place.matches(':').count() > 1 {
            return Err(NotRelayUrl);
        }
        let alone = inner.and_then(|inner| inner.strip_suffix(']'));
        let place: Advertised = alone.unwrap_or(place).parse().map_err(|_| NotRelayUrl)?;
        Ok(Self {
            host: place.host,
            port: place.port.unwrap_or(port),
            transport,
        })
    }
}

impl fmt::Display for RelayUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, transport) = match self.transport {
            RelayTransport::Udp => ("turn", "udp"),
            RelayTransport::Tcp => ("turn", "tcp"),
            RelayTransport::Tls => ("turns", "tcp"),
        };
        let host = match &self.host {
            PublicHost::Address(address) if address.is_ipv6() => format!("[{address}]"),
            host => host.to_string(),
        };
        write!(f, "{scheme}:{host}:{}?transport={transport}", self.port)
    }
}

/// What a relay and its hosts know, and nobody else. `Debug` does not print it.
#[derive(Clone, Eq, PartialEq)]
pub struct RelaySecret(String);

impl RelaySecret {
    /// The secret in `text`; `None` unless it has 16 to 256 printable characters of ASCII.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let fits = |c: char| c.is_ascii_graphic();
        (text.len() >= 16 && text.len() <= 256 && text.chars().all(fits))
            .then(|| Self(text.to_owned()))
    }

    /// The secret itself, of which credentials are made.
    #[must_use]
    pub fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RelaySecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RelaySecret(…)")
    }
}

/// A relay, with what its users need to know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RelaySettings {
    /// The ways to the relay, at least one and at most four.
    pub urls: Vec<RelayUrl>,
    /// The secret of which credentials are made.
    pub secret: RelaySecret,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_those_of_the_rfc() {
        for (text, written) in [
            (
                "turn:relay.example.org",
                "turn:relay.example.org:3478?transport=udp",
            ),
            (
                "turn:Relay.example.org:80?transport=tcp",
                "turn:relay.example.org:80?transport=tcp",
            ),
            (
                "turn:203.0.113.5?transport=udp",
                "turn:203.0.113.5:3478?transport=udp",
            ),
            (
                "turns:relay.example.org",
                "turns:relay.example.org:5349?transport=tcp",
            ),
            (
                "turns:[2001:db8::5]:443?transport=tcp",
                "turns:[2001:db8::5]:443?transport=tcp",
            ),
            (
                "turn:[2001:db8::5]",
                "turn:[2001:db8::5]:3478?transport=udp",
            ),
        ] {
            let url: RelayUrl = text.parse().unwrap();
            assert_eq!(url.to_string(), written);
            assert_eq!(written.parse(), Ok(url));
        }
        for text in [
            "",
            "turn:",
            "stun:relay.example.org",
            "relay.example.org:3478",
            "turn://relay.example.org",
            "turn:relay.example.org:0",
            "turn:user@relay.example.org",
            "turn:relay.example.org?transport=sctp",
            "turns:relay.example.org?transport=udp",
            "turn:2001:db8::5",
            "turn:0.0.0.0",
        ] {
            assert_eq!(text.parse::<RelayUrl>(), Err(NotRelayUrl), "{text}");
        }
    }

    #[test]
    fn a_secret_is_long_and_not_printed() {
        let secret = RelaySecret::new("between-the-relay-and-us").unwrap();
        assert!(!format!("{secret:?}").contains("between"));
        for bad in [
            "",
            "short",
            "with a space in the middle",
            "ünlesbar-ünlesbar",
        ] {
            assert_eq!(RelaySecret::new(bad), None, "{bad}");
        }
    }
}
