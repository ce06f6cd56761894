//! The host's end of TLS: versions 1.3 (RFC 8446) and 1.2 (RFC 5246), HTTP/2 or 1.1 by ALPN
//! (RFC 7301), and certificates that can be replaced while the host runs.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::certificate::Name;
use crate::challenge::{ALPN, Challenge};
use crate::pair::Pair;
use crate::provider;

/// The name of HTTP/2 in ALPN (RFC 9113, section 3.1).
pub const HTTP_2: &[u8] = b"h2";
/// The name of HTTP/1.1 in ALPN (RFC 7301, section 6).
pub const HTTP_1: &[u8] = b"http/1.1";

/// The place of the certificates that the next connections get.
#[derive(Debug)]
pub struct Slot(RwLock<Shown>);

#[derive(Debug)]
struct Shown {
    /// For whoever names no host, or one for which there is no other certificate.
    own: Pair,
    /// For whoever names a host of this certificate.
    named: Option<Pair>,
    /// For an authority that checks a name.
    challenges: BTreeMap<String, Challenge>,
}

impl Slot {
    /// A place with this certificate.
    #[must_use]
    pub fn new(pair: Pair) -> Arc<Self> {
        Arc::new(Self(RwLock::new(Shown {
            own: pair,
            named: None,
            challenges: BTreeMap::new(),
        })))
    }

    /// Replaces the certificate. Connections that are open keep theirs.
    pub fn replace(&self, pair: Pair) {
        self.write().own = pair;
    }

    /// Shows this certificate to whoever asks for one of the names in it.
    pub fn show_by_name(&self, pair: Pair) {
        self.write().named = Some(pair);
    }

    /// Shows an authority this certificate when it checks a name by TLS-ALPN-01 ([`challenge`](crate::challenge)), or
    /// no certificate any more.
    pub fn show_challenge(&self, name: &str, challenge: Option<Challenge>) {
        let mut shown = self.write();
        match challenge {
            Some(challenge) => shown.challenges.insert(name.to_owned(), challenge),
            None => shown.challenges.remove(name),
        };
    }

    /// The certificate for whoever names no host.
    #[must_use]
    pub fn pair(&self) -> Pair {
        self.read().own.clone()
    }

    fn read(&self) -> RwLockReadGuard<'_, Shown> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shown> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The certificate for whoever names a host, with this answer to whether that is an authority's check.
    fn shown(&self, name: Option<&str>, is_check: bool) -> Option<Arc<CertifiedKey>> {
        let shown = self.read();
        let name = name.and_then(Name::new);
        let dns = match &name {
            Some(Name::Dns(dns)) => Some(dns),
            _ => None,
        };
        if is_check {
            return Some(Arc::clone(&shown.challenges.get(dns?)?.0));
        }
        let has_name = |pair: &&Pair| {
            name.as_ref()
                .is_some_and(|name| pair.about.names.contains(name))
        };
        let pair = shown.named.as_ref().filter(has_name);
        Some(Arc::clone(&pair.unwrap_or(&shown.own).certified))
    }
}

impl ResolvesServerCert for Slot {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        // An authority that checks a name offers this protocol alone (RFC 8737, section 3).
        let is_check = hello
            .alpn()
            .is_some_and(|mut all| all.any(|one| one == ALPN));
        self.shown(hello.server_name(), is_check)
    }
}

/// The configuration of a server that shows the certificate in `slot`.
///
/// # Errors
///
/// The library's error, if it knows none of the versions.
pub fn server_config(slot: Arc<Slot>) -> Result<Arc<ServerConfig>, rustls::Error> {
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(rustls::ALL_VERSIONS)?
        .with_no_client_auth()
        .with_cert_resolver(slot);
    config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec(), ALPN.to_vec()];
    Ok(Arc::new(config))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::challenge::challenge;
    use crate::own::OwnKey;

    fn pair(name: &str) -> Pair {
        let names = BTreeSet::from([Name::new(name).unwrap()]);
        let key = OwnKey::generate().unwrap();
        key.certificate(&names, UNIX_EPOCH).unwrap()
    }

    #[test]
    fn a_name_gets_its_certificate_and_everybody_else_the_hosts_own() {
        let (own, named) = (pair("den.local"), pair("den.example.org"));
        let slot = Slot::new(own.clone());
        let is = |name, is_check, expected: Option<&Arc<CertifiedKey>>| {
            let shown = slot.shown(name, is_check);
            match (&shown, expected) {
                (Some(shown), Some(expected)) => Arc::ptr_eq(shown, expected),
                (shown, expected) => shown.is_none() && expected.is_none(),
            }
        };
        let den = Some("den.example.org");
        assert!(is(den, false, Some(&own.certified)));
        slot.show_by_name(named.clone());
        assert!(is(den, false, Some(&named.certified)));
        assert!(is(Some("DEN.example.org"), false, Some(&named.certified)));
        for other in [
            None,
            Some("den.local"),
            Some("example.org"),
            Some(""),
            Some("192.0.2.1"),
        ] {
            assert!(is(other, false, Some(&own.certified)), "{other:?}");
        }
        // An authority that nobody asked to check gets nothing.
        assert!(is(den, true, None));
        let check = challenge("den.example.org", &[7; 32]).unwrap();
        slot.show_challenge("den.example.org", Some(check.clone()));
        assert!(is(den, true, Some(&check.0)));
        assert!(is(Some("den.local"), true, None));
        assert!(is(den, false, Some(&named.certified)));
        slot.show_challenge("den.example.org", None);
        assert!(is(den, true, None));
    }
}
