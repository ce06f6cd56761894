//! The host's end of TLS: versions 1.3 (RFC 8446) and 1.2 (RFC 5246), HTTP/2 or 1.1 by ALPN
//! (RFC 7301), and a certificate that can be replaced while the host runs.

use std::sync::{Arc, PoisonError, RwLock};

use rustls::ServerConfig;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

use crate::pair::Pair;
use crate::provider;

/// The name of HTTP/2 in ALPN (RFC 9113, section 3.1).
pub const HTTP_2: &[u8] = b"h2";
/// The name of HTTP/1.1 in ALPN (RFC 7301, section 6).
pub const HTTP_1: &[u8] = b"http/1.1";

/// The place of the certificate that the next connection gets.
#[derive(Debug)]
pub struct Slot(RwLock<Pair>);

impl Slot {
    /// A place with this certificate.
    #[must_use]
    pub fn new(pair: Pair) -> Arc<Self> {
        Arc::new(Self(RwLock::new(pair)))
    }

    /// Replaces the certificate. Connections that are open keep theirs.
    pub fn replace(&self, pair: Pair) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = pair;
    }

    /// The certificate at present.
    #[must_use]
    pub fn pair(&self) -> Pair {
        let pair = self.0.read().unwrap_or_else(PoisonError::into_inner);
        pair.clone()
    }
}

impl ResolvesServerCert for Slot {
    /// Every name gets the same certificate: there is only one host.
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.pair().certified)
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
    config.alpn_protocols = vec![HTTP_2.to_vec(), HTTP_1.to_vec()];
    Ok(Arc::new(config))
}
