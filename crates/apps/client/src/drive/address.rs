//! Where a host is, what shows that it is that host, and what shows it who asks.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use mimosa_tls::KeyHash;

use super::error::PlayError;
use super::hosts::{self, Known};
use super::whep::Whep;

/// The address of a host and the token for it, as `mimosa serve` prints them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    /// Base URL of the host: `https://HOST:PORT/PATH/`, or with `http`.
    pub(super) base: String,
    /// The part `HOST:PORT` of the URL.
    pub(super) host: String,
    pub(super) is_encrypted: bool,
    pub(super) token: Option<String>,
    /// The host's identifier of this client, if it has paired: the token is its own.
    pub(super) id: Option<String>,
    /// The key by which the host is known.
    pub(super) key: Option<KeyHash>,
}

impl Address {
    /// Parses what a host prints: `https://HOST:PORT/#token=TOKEN&key=KEY`, or with `http` and
    /// without the key. Without either in front, it is `http` for a name of this machine alone,
    /// and `https` for all others.
    ///
    /// # Errors
    ///
    /// [`PlayError::Address`] if the text is not such an address.
    pub fn parse(text: &str) -> Result<Self, PlayError> {
        let bad = |reason: &str| PlayError::Address {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let (address, fragment) = text.trim().split_once('#').unwrap_or((text.trim(), ""));
        let given = |name: &str| {
            let mut parts = fragment.split('&');
            parts.find_map(|part| part.strip_prefix(name).filter(|value| !value.is_empty()))
        };
        let key = given("key=").map(|key| {
            KeyHash::parse(key).ok_or_else(|| bad("its key is no 64 hexadecimal digits"))
        });
        let (scheme, rest) = match address.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (Some(scheme), rest),
            Some((scheme, _)) => {
                let reason = format!("{scheme} is not spoken here");
                return Err(bad(&reason));
            }
            None => (None, address),
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() {
            return Err(bad("it names no host"));
        }
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok());
        let has_port = has_port && !host.ends_with(']');
        let is_encrypted = match scheme {
            Some(scheme) => scheme == "https",
            None => key.is_some() || !is_this_machine(host, has_port),
        };
        let (scheme, port) = if is_encrypted {
            ("https", 443)
        } else {
            ("http", 80)
        };
        let host = if has_port {
            host.to_owned()
        } else if host
            .rsplit(']')
            .next()
            .is_some_and(|rest| rest.contains(':'))
        {
            return Err(bad("its port is none"));
        } else {
            format!("{host}:{port}")
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let address = Self {
            base: format!("{scheme}://{host}/{folder}"),
            host,
            is_encrypted,
            token: given("token=").map(str::to_owned),
            id: None,
            key: None,
        };
        address.with_key(key.transpose()?)
    }

    /// The address of the host with this key, if there is one.
    ///
    /// # Errors
    ///
    /// [`PlayError::Address`] with a key for an address of `http`, where nobody shows one.
    pub fn with_key(self, key: Option<KeyHash>) -> Result<Self, PlayError> {
        if key.is_some() && !self.is_encrypted {
            return Err(PlayError::Address {
                text: self.base,
                reason: "a key belongs to https".to_owned(),
            });
        }
        let key = key.or(self.key);
        Ok(Self { key, ..self })
    }

    /// The address with this token, if there is one.
    #[must_use]
    pub fn with_token(self, token: Option<String>) -> Self {
        Self {
            token: token.or(self.token),
            ..self
        }
    }

    /// The address with the token and the key of an earlier pairing, in place of those that it lacks.
    #[must_use]
    pub fn or_paired(self) -> Self {
        match hosts::find(&self.host) {
            Some(known) => self.or(known),
            None => self,
        }
    }

    fn or(mut self, known: Known) -> Self {
        if self.is_encrypted {
            self.key = self.key.or(known.key());
        }
        if self.token.is_none() {
            (self.token, self.id) = (Some(known.token), Some(known.id));
        }
        self
    }

    /// The address with the key that the host shows now, and that key, if nobody vouches for it:
    /// neither a key in the address nor an authority. The key is not trusted by this, and all further
    /// conversation is with whoever has it.
    ///
    /// # Errors
    ///
    /// [`PlayError`] if the host is not there.
    pub(super) fn shown(&self) -> Result<(Self, Option<KeyHash>), PlayError> {
        if !self.is_encrypted || self.key.is_some() {
            return Ok((self.clone(), None));
        }
        match Whep::new(self.clone())?.looked() {
            Ok(()) => Ok((self.clone(), None)),
            Err(PlayError::Untrusted { key, .. }) => {
                Ok((self.clone().with_key(Some(key))?, Some(key)))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether there is a token, of the URL or of an earlier pairing.
    #[must_use]
    pub const fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// The part `HOST:PORT` of the URL.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The key by which the host is known.
    pub(super) const fn key(&self) -> Option<KeyHash> {
        self.key
    }

    /// Looks the host's name up, and returns the first address that it has.
    ///
    /// # Errors
    ///
    /// [`PlayError::Unreachable`] if the name has no address.
    pub fn resolve(&self) -> Result<SocketAddr, PlayError> {
        let unreachable = |reason: String| PlayError::Unreachable {
            address: self.host.clone(),
            reason,
        };
        let mut all = self
            .host
            .to_socket_addrs()
            .map_err(|error| unreachable(error.to_string()))?;
        all.next()
            .ok_or_else(|| unreachable("its name has no address".to_owned()))
    }
}

/// Whether the part `HOST:PORT` of a URL leads to this machine itself.
fn is_this_machine(host: &str, has_port: bool) -> bool {
    let name = host.rsplit_once(':').filter(|_| has_port);
    let name = name.map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip: IpAddr| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> (String, String, Option<String>) {
        let address = Address::parse(text).unwrap();
        (address.base, address.host, address.token)
    }

    fn expected(base: &str, host: &str, token: Option<&str>) -> (String, String, Option<String>) {
        (base.to_owned(), host.to_owned(), token.map(str::to_owned))
    }

    #[test]
    fn an_address_is_what_a_host_prints() {
        for (text, base, host, token) in [
            (
                "http://127.0.0.1:8080/",
                "http://127.0.0.1:8080/",
                "127.0.0.1:8080",
                None,
            ),
            ("box:8080", "https://box:8080/", "box:8080", None),
            ("box", "https://box:443/", "box:443", None),
            ("localhost:81", "http://localhost:81/", "localhost:81", None),
            ("[::1]", "http://[::1]:80/", "[::1]:80", None),
            ("127.9.9.9", "http://127.9.9.9:80/", "127.9.9.9:80", None),
            (
                "192.0.2.1/x/",
                "https://192.0.2.1:443/x/",
                "192.0.2.1:443",
                None,
            ),
            ("https://box/", "https://box:443/", "box:443", None),
            ("http://box", "http://box:80/", "box:80", None),
            (
                " http://[::1]:81/#token=abc ",
                "http://[::1]:81/",
                "[::1]:81",
                Some("abc"),
            ),
            ("http://[::1]", "http://[::1]:80/", "[::1]:80", None),
            (
                "http://b/games/#x=1&token=t",
                "http://b:80/games/",
                "b:80",
                Some("t"),
            ),
            (
                "http://b/games/index.html#token=",
                "http://b:80/games/",
                "b:80",
                None,
            ),
        ] {
            assert_eq!(parsed(text), expected(base, host, token), "{text}");
        }
        let address = Address::parse("b#token=old").unwrap();
        assert_eq!(
            address.clone().with_token(None).token.as_deref(),
            Some("old")
        );
        let other = address.with_token(Some("new".to_owned()));
        assert_eq!(other.token.as_deref(), Some("new"));
    }

    #[test]
    fn a_key_belongs_to_https() {
        let key = "0f".repeat(32);
        let known = KeyHash::parse(&key);
        for text in ["https://b/#token=t&key=", "localhost/#key="] {
            let address = Address::parse(&(text.to_owned() + &key)).unwrap();
            assert!(address.is_encrypted && address.base.starts_with("https://"));
            assert_eq!(address.key, known, "{text}");
            assert_eq!(address.with_key(None).unwrap().key, known, "{text}");
        }
        let plain = Address::parse("http://b/").unwrap();
        assert_eq!(plain.clone().with_key(None).unwrap(), plain);
        for refused in [
            plain.with_key(known),
            Address::parse(&format!("http://b/#key={key}")),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("a key belongs to https"), "{error}");
        }
    }

    #[test]
    fn a_wrong_address_is_named_with_its_mend() {
        for (text, what) in [
            ("ftp://box:8080/", "ftp is not spoken here"),
            ("https://box/#key=0f", "no 64 hexadecimal digits"),
            ("http:///", "names no host"),
            ("", "names no host"),
            ("box:eighty", "its port is none"),
            ("box:99999/", "its port is none"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
            assert!(error.contains("write https://HOST:PORT/"), "{error}");
        }
    }

    #[test]
    fn what_an_address_lacks_is_known_from_pairing() {
        let known = || Known {
            id: "4".to_owned(),
            token: "paired".to_owned(),
            key: Some("0f".repeat(32)),
        };
        let of = |text: &str| Address::parse(text).unwrap().or(known());
        let bare = of("https://b/");
        assert_eq!(bare.token.as_deref(), Some("paired"));
        assert_eq!(bare.id.as_deref(), Some("4"));
        assert_eq!(bare.key, known().key());
        let plain = of("http://b/");
        assert_eq!((plain.token.as_deref(), plain.key), (Some("paired"), None));
        let other = "f0".repeat(32);
        let given = of(&format!("https://b/#token=given&key={other}"));
        assert_eq!(given.token.as_deref(), Some("given"));
        assert_eq!((given.id, given.key), (None, KeyHash::parse(&other)));
    }
}
