//! The certificate that a host makes for itself.
//!
//! Source: RFC 5280, and RFC 9525 for names in `subjectAltName` alone. The longest validity that
//! browsers take is 398 days: CA/Browser Forum, Baseline Requirements 1.7.1 (ballot SC31), section
//! 6.3.2, and Apple's limit of 2020 for the same (support article 102028).
//!
//! *Deviations*: the certificate is its own issuer, and no authority: whoever adds it to the roots
//! of a machine trusts it for its own names, and for no other certificate.

use std::collections::BTreeSet;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pem_rfc7468::LineEnding;
use rcgen::string::Ia5String;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair,
    KeyUsagePurpose, SanType, date_time_ymd,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::certificate::{About, Name};
use crate::pair::{Pair, PairError};

const DAY: Duration = Duration::from_hours(24);
/// From the first to the last moment of a certificate: the longest that browsers take.
pub const VALIDITY: Duration = Duration::from_hours(398 * 24);
/// Time before its end at which a certificate is made anew. Our choice: a month, as ACME's clients
/// do with certificates of three months.
pub const RENEWAL: Duration = Duration::from_hours(30 * 24);
/// How far in the past a certificate begins, for machines whose clocks are behind. Our choice.
const BEFORE: Duration = DAY;

/// Why there is no key or no certificate.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OwnKeyError {
    /// The text is not the key of a host.
    #[error("it holds no private key for ECDSA on P-256 in PKCS #8: {0}")]
    Key(String),
    /// The library refuses.
    #[error("no certificate can be made: {0}")]
    Make(#[from] rcgen::Error),
    /// The new certificate does not fit its key.
    #[error(transparent)]
    Pair(#[from] PairError),
}

/// The key of a host, for ECDSA on P-256, which every browser takes.
#[derive(Debug)]
pub struct OwnKey(KeyPair);

impl OwnKey {
    /// A new key.
    ///
    /// # Errors
    ///
    /// [`OwnKeyError::Make`] if the system has no randomness.
    pub fn generate() -> Result<Self, OwnKeyError> {
        Ok(Self(KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?))
    }

    /// The key in a text that [`to_pem`](Self::to_pem) has written.
    ///
    /// # Errors
    ///
    /// [`OwnKeyError::Key`] if the text holds none.
    pub fn from_pem(text: &[u8]) -> Result<Self, OwnKeyError> {
        let key = PrivateKeyDer::from_pem_slice(text)
            .map_err(|error| OwnKeyError::Key(error.to_string()))?;
        let key = KeyPair::from_der_and_sign_algo(&key, &rcgen::PKCS_ECDSA_P256_SHA256);
        key.map(Self)
            .map_err(|error| OwnKeyError::Key(error.to_string()))
    }

    /// The key as PEM (RFC 7468), in PKCS #8.
    #[must_use]
    pub fn to_pem(&self) -> String {
        pem("PRIVATE KEY", self.0.serialized_der())
    }

    /// A certificate of this key for these names, good from a day before `now`, with its key.
    ///
    /// # Errors
    ///
    /// [`OwnKeyError`] if the library refuses.
    pub fn certificate(
        &self,
        names: &BTreeSet<Name>,
        now: SystemTime,
    ) -> Result<Pair, OwnKeyError> {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        // X.509 counts in seconds.
        let from = Duration::from_secs(since.saturating_sub(BEFORE).as_secs());
        let mut wanted = CertificateParams::default();
        wanted.not_before = date_time_ymd(1970, 1, 1) + from;
        wanted.not_after = wanted.not_before + VALIDITY;
        wanted.distinguished_name = DistinguishedName::new();
        wanted
            .distinguished_name
            .push(DnType::CommonName, "Mimosa host");
        wanted.subject_alt_names = names.iter().map(alternative).collect::<Result<_, _>>()?;
        wanted.is_ca = IsCa::ExplicitNoCa;
        wanted.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        wanted.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let made = wanted.self_signed(&self.0)?.der().clone();
        Ok(self.pair(made)?)
    }

    /// This key with a certificate of it.
    ///
    /// # Errors
    ///
    /// [`PairError`] if the certificate is of another key.
    pub fn pair(&self, certificate: CertificateDer<'static>) -> Result<Pair, PairError> {
        let key = PrivateKeyDer::Pkcs8(self.0.serialize_der().into());
        Pair::new(vec![certificate], key)
    }
}

fn alternative(name: &Name) -> Result<SanType, rcgen::Error> {
    Ok(match name {
        Name::Dns(name) => SanType::DnsName(Ia5String::try_from(name.as_str())?),
        Name::Address(address) => SanType::IpAddress(*address),
    })
}

/// Whether a certificate has to be made anew: it ends soon, begins later, or lacks a name.
#[must_use]
pub fn is_due(about: &About, names: &BTreeSet<Name>, now: SystemTime) -> bool {
    now < about.from || now + RENEWAL >= about.until || !names.is_subset(&about.names)
}

/// These bytes as PEM.
pub(crate) fn pem(label: &str, bytes: &[u8]) -> String {
    // The labels here are those of RFC 7468, and the lengths small, so that this cannot fail.
    pem_rfc7468::encode_string(label, LineEnding::LF, bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> BTreeSet<Name> {
        all.iter().map(|text| Name::new(text).unwrap()).collect()
    }

    /// 20 November 2026.
    fn today() -> SystemTime {
        UNIX_EPOCH + Duration::from_hours(20_777 * 24)
    }

    #[test]
    fn a_certificate_says_what_was_asked_and_is_of_the_same_key() {
        let key = OwnKey::generate().unwrap();
        let all = names(&["den.local", "localhost", "192.0.2.1", "2001:db8::1"]);
        let pair = key.certificate(&all, today()).unwrap();
        assert_eq!(pair.about().names, all);
        assert!(pair.about().from < today());
        assert_eq!(pair.about().until, pair.about().from + VALIDITY);
        let again = OwnKey::from_pem(key.to_pem().as_bytes()).unwrap();
        let later = again
            .certificate(&names(&["localhost"]), today() + VALIDITY)
            .unwrap();
        assert_eq!(later.key_hash(), pair.key_hash(), "the key is kept");
        let other = OwnKey::generate().unwrap();
        let other = other.certificate(&all, today()).unwrap();
        assert_ne!(other.key_hash(), pair.key_hash());
    }

    #[test]
    fn a_certificate_is_made_anew_in_time_and_for_new_names() {
        let all = names(&["localhost", "192.0.2.1"]);
        let key = OwnKey::generate().unwrap();
        let pair = key.certificate(&all, today()).unwrap();
        let due = |names: &BTreeSet<Name>, now| is_due(pair.about(), names, now);
        assert!(!due(&all, today()));
        assert!(!due(&names(&["localhost"]), today()), "one address fewer");
        assert!(due(&names(&["localhost", "192.0.2.2"]), today()));
        let last = pair.about().until - RENEWAL;
        assert!(!due(&all, last - Duration::from_secs(1)));
        assert!(due(&all, last));
        assert!(due(&all, today() - 2 * BEFORE), "a clock that was set back");
    }

    #[test]
    fn another_text_is_no_key() {
        let key = OwnKey::generate().unwrap().to_pem();
        for bad in ["", "secret", &key.replace("PRIVATE KEY", "CERTIFICATE")] {
            let error = OwnKey::from_pem(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("holds no private key"), "{error}");
        }
    }
}
