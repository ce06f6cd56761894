//! The certificate by which an authority sees that whoever answers for a name is who asked for a certificate.
//!
//! Source: RFC 8737, section 3 (TLS-ALPN-01).

use std::sync::Arc;

use rcgen::string::Ia5String;
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair, SanType};
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::CertifiedKey;

use crate::own::OwnKeyError;
use crate::pair::PairError;
use crate::provider;

/// The protocol that an authority names in its handshake (section 6.2).
pub(crate) const ALPN: &[u8] = b"acme-tls/1";

/// A certificate that only an authority reads: it says in an extension that others have to refuse
/// (`id-pe-acmeIdentifier`, critical) what the authority wants to see.
#[derive(Clone, Debug)]
pub struct Challenge(pub(crate) Arc<CertifiedKey>);

/// A certificate for this name with the SHA-256 of a key authorization (RFC 8555, section 8.1).
///
/// # Errors
///
/// [`OwnKeyError`] if the library refuses, or what is `name` is none of DNS.
pub fn challenge(name: &str, digest: &[u8]) -> Result<Challenge, OwnKeyError> {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    let mut wanted = CertificateParams::default();
    wanted.distinguished_name = DistinguishedName::new();
    wanted.subject_alt_names = vec![SanType::DnsName(Ia5String::try_from(name)?)];
    wanted.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let made = wanted.self_signed(&key)?.der().clone();
    let key = PrivateKeyDer::Pkcs8(key.serialize_der().into());
    let key = provider().key_provider.load_private_key(key);
    let key = key.map_err(|error| PairError::Key(error.to_string()))?;
    Ok(Challenge(Arc::new(CertifiedKey::new(vec![made], key))))
}
