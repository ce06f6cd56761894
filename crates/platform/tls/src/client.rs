//! The client's end of TLS: a host is known by its key, or by a certificate that an authority of
//! the system has signed.
//!
//! Source: RFC 5280, section 6, by rustls, and RFC 7469, section 2.6, for pins.
//!
//! *Deviations*: with a key, names and dates of the certificate are not looked at: the key alone
//! says who the host is, however it is reached and whatever the clock shows. The certificate of
//! the other end has to hold that key itself; one above it in the chain is not enough.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, OtherError, RootCertStore,
    SignatureScheme,
};

use crate::key_hash::KeyHash;
use crate::provider;
use crate::server::HTTP_1;

/// Whom a client trusts.
#[derive(Clone, Debug)]
pub enum Trust {
    /// The host with this key, and no other.
    Key(KeyHash),
    /// Hosts whose certificate one of these has signed.
    Roots(Vec<CertificateDer<'static>>),
}

/// Says why a client does not trust whoever answers.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{why}")]
pub struct Untrusted {
    /// The key that the other end has shown. Only a [`Trust::Roots`] or [`Trust::Key`] that was
    /// wrong about it keeps the other end from proving that it has the key.
    pub key: KeyHash,
    /// The reason.
    pub why: String,
}

/// The reason for which a handshake has failed, if that is a lack of trust.
#[must_use]
pub fn untrusted(error: &rustls::Error) -> Option<&Untrusted> {
    match error {
        rustls::Error::InvalidCertificate(CertificateError::Other(OtherError(other))) => {
            other.downcast_ref()
        }
        _ => None,
    }
}

/// The configuration of a client that speaks HTTP/1.1.
///
/// # Errors
///
/// The library's error, if it knows none of the versions.
pub fn client_config(trust: Trust) -> Result<Arc<ClientConfig>, rustls::Error> {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(rustls::ALL_VERSIONS)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier::new(trust)))
        .with_no_client_auth();
    config.alpn_protocols = vec![HTTP_1.to_vec()];
    Ok(Arc::new(config))
}

/// The library's check against roots; `None` if none of the roots can be used.
fn by_roots(
    roots: Vec<CertificateDer<'static>>,
    provider: &Arc<CryptoProvider>,
) -> Option<Arc<WebPkiServerVerifier>> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(roots);
    let builder =
        WebPkiServerVerifier::builder_with_provider(Arc::new(store), Arc::clone(provider));
    builder.build().ok()
}

#[derive(Debug)]
enum Rule {
    Key(KeyHash),
    Roots(Option<Arc<WebPkiServerVerifier>>),
}

/// Checks the other end's certificate by the rule, and that the other end has its key.
#[derive(Debug)]
struct Verifier {
    rule: Rule,
    provider: Arc<CryptoProvider>,
}

impl Verifier {
    fn new(trust: Trust) -> Self {
        let provider = provider();
        let rule = match trust {
            Trust::Key(key) => Rule::Key(key),
            Trust::Roots(roots) => Rule::Roots(by_roots(roots, &provider)),
        };
        Self { rule, provider }
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let why = match &self.rule {
            Rule::Key(expected) => {
                let shown = KeyHash::of(end_entity);
                if shown.as_ref() == Ok(expected) {
                    return Ok(ServerCertVerified::assertion());
                }
                format!("it has another key than {expected}")
            }
            Rule::Roots(None) => "this system has no list of authorities".to_owned(),
            Rule::Roots(Some(roots)) => {
                let verified = roots.verify_server_cert(
                    end_entity,
                    intermediates,
                    server_name,
                    ocsp_response,
                    now,
                );
                match verified {
                    Ok(verified) => return Ok(verified),
                    Err(rustls::Error::InvalidCertificate(error)) => reason(&error),
                    Err(error) => error.to_string(),
                }
            }
        };
        let key = KeyHash::of(end_entity)
            .map_err(|_| rustls::Error::InvalidCertificate(CertificateError::BadEncoding))?;
        let untrusted = OtherError(Arc::new(Untrusted { key, why }));
        Err(rustls::Error::InvalidCertificate(CertificateError::Other(
            untrusted,
        )))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

/// The commonest refusals in words for people.
fn reason(error: &CertificateError) -> String {
    match error {
        // Certificates that hosts make for themselves have the same issuer's name.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "no authority that this system knows has signed its certificate".to_owned()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has ended".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another name".to_owned()
        }
        error => format!("its certificate is refused: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::io::{Read, Write};
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use rustls::{ClientConnection, ServerConnection};

    use super::*;
    use crate::certificate::Name;
    use crate::own::OwnKey;
    use crate::pair::Pair;
    use crate::server::{HTTP_2, Slot, server_config};

    fn pair() -> Pair {
        let names = BTreeSet::from([Name::Dns("den.local".to_owned())]);
        // Long over: with a key, dates are not looked at.
        let then: SystemTime = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        OwnKey::generate()
            .unwrap()
            .certificate(&names, then)
            .unwrap()
    }

    /// Both ends of a connection in memory, until one of them is done or refuses.
    fn connect(slot: &Arc<Slot>, trust: Trust) -> Result<String, rustls::Error> {
        let server = server_config(Arc::clone(slot)).unwrap();
        let mut server = ServerConnection::new(server).unwrap();
        let name = ServerName::try_from("192.0.2.9").unwrap();
        let mut client = ClientConnection::new(client_config(trust).unwrap(), name).unwrap();
        server.writer().write_all(b"hello").unwrap();
        for _ in 0..10 {
            let mut there = Vec::new();
            client.write_tls(&mut there).unwrap();
            server.read_tls(&mut there.as_slice()).unwrap();
            server.process_new_packets()?;
            let mut back = Vec::new();
            while server.wants_write() {
                server.write_tls(&mut back).unwrap();
            }
            let mut rest = back.as_slice();
            while !rest.is_empty() {
                client.read_tls(&mut rest).unwrap();
                client.process_new_packets()?;
            }
        }
        assert_ne!(client.alpn_protocol(), Some(HTTP_2));
        let mut read = [0; 5];
        client.reader().read_exact(&mut read).unwrap();
        Ok(String::from_utf8(read.to_vec()).unwrap())
    }

    #[test]
    fn a_host_is_known_by_its_key_alone() {
        let slot = Slot::new(pair());
        let right = Trust::Key(slot.pair().key_hash());
        assert_eq!(connect(&slot, right.clone()).as_deref(), Ok("hello"));
        let other = pair();
        slot.replace(other.clone());
        let error = connect(&slot, right).unwrap_err();
        let untrusted = untrusted(&error).unwrap();
        assert_eq!(untrusted.key, other.key_hash(), "the key that was seen");
        assert!(untrusted.why.contains("another key"), "{untrusted}");
    }

    #[test]
    fn without_a_key_an_authority_has_to_have_signed() {
        let (pair, other) = (pair(), pair());
        let first = |pair: &Pair| CertificateDer::clone(&pair.certified.cert[0]);
        let check = |roots, name: &str, now| {
            let name = ServerName::try_from(name).unwrap();
            let now = UnixTime::since_unix_epoch(Duration::from_secs(now));
            let verifier = Verifier::new(Trust::Roots(roots));
            let checked = verifier.verify_server_cert(&first(&pair), &[], &name, &[], now);
            checked.map(drop).map_err(|error| {
                let untrusted = untrusted(&error).unwrap();
                assert_eq!(untrusted.key, pair.key_hash());
                untrusted.why.clone()
            })
        };
        let (den, then) = ("den.local", 1_000_000_000);
        let own = || vec![first(&pair)];
        assert_eq!(check(own(), den, then), Ok(()));
        for (roots, name, now, why) in [
            (Vec::new(), den, then, "no list of authorities"),
            (vec![first(&other)], den, then, "no authority"),
            (own(), "other.local", then, "for another name"),
            (own(), den, 2 * then, "has ended"),
        ] {
            let refused = check(roots, name, now).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
        let slot = Slot::new(pair.clone());
        let error = connect(&slot, Trust::Roots(own())).unwrap_err();
        assert!(
            untrusted(&error).is_some(),
            "as a connection's error: {error}"
        );
    }

    /// A certificate is public: whoever shows that of another has no key for it.
    #[test]
    fn a_copied_certificate_is_not_enough() {
        let (one, other) = (pair(), pair());
        let mut copied = (*other.certified).clone();
        copied.cert.clone_from(&one.certified.cert);
        let copied = Pair {
            certified: Arc::new(copied),
            ..one.clone()
        };
        let error = connect(&Slot::new(copied), Trust::Key(one.key_hash())).unwrap_err();
        let expected = rustls::Error::InvalidCertificate(CertificateError::BadSignature);
        assert_eq!(error, expected);
    }
}
