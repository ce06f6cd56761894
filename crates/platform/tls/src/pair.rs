//! A certificate with its private key, checked when it is read.

use std::sync::Arc;
use std::time::SystemTime;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

use crate::certificate::{About, Unreadable, day};
use crate::key_hash::KeyHash;
use crate::own::pem;
use crate::provider;

/// Reasons to refuse a certificate or its key.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PairError {
    /// There is no certificate.
    #[error(
        "there is no certificate in it; it has to hold the host's own, then those of its issuers, each after `-----BEGIN CERTIFICATE-----`"
    )]
    NoCertificate,
    /// A certificate is damaged.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// There is no key.
    #[error(
        "there is no private key in the file of the key; it has to hold one after `-----BEGIN PRIVATE KEY-----`, without a passphrase"
    )]
    NoKey,
    /// The key is of a kind that is not used here.
    #[error("the key cannot be used: {0}; take one for ECDSA on P-256, or for RSA")]
    Key(String),
    /// The key is another certificate's.
    #[error("the key is not that of the certificate; give the two that were made together")]
    Mismatch,
    /// The certificate's time is over.
    #[error("the certificate has ended on {until}; have it renewed")]
    Expired {
        /// The day of its end.
        until: String,
    },
    /// The certificate's time has not begun.
    #[error("the certificate begins on {from}; set the clock of this machine, or wait")]
    NotYet {
        /// The day of its beginning.
        from: String,
    },
}

/// A chain of certificates and the private key of the first of them.
#[derive(Clone, Debug)]
pub struct Pair {
    pub(crate) certified: Arc<CertifiedKey>,
    pub(crate) about: About,
    pub(crate) key_hash: KeyHash,
}

impl Pair {
    /// A chain, the host's own certificate first, and its key.
    ///
    /// # Errors
    ///
    /// [`PairError`] unless they fit. Dates are for [`check`](Self::check).
    pub fn new(
        chain: Vec<CertificateDer<'static>>,
        key: PrivateKeyDer<'static>,
    ) -> Result<Self, PairError> {
        let first = chain.first().ok_or(PairError::NoCertificate)?;
        let (about, key_hash) = (About::read(first)?, KeyHash::of(first)?);
        let certified = CertifiedKey::from_der(chain, key, &provider());
        let certified = certified.map_err(|error| match error {
            rustls::Error::InconsistentKeys(_) => PairError::Mismatch,
            error => PairError::Key(error.to_string()),
        })?;
        Ok(Self {
            certified: Arc::new(certified),
            about,
            key_hash,
        })
    }

    /// The pair in two texts of PEM (RFC 7468), which may be the same text.
    ///
    /// # Errors
    ///
    /// [`PairError`] if one of them lacks something, or they do not fit.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, PairError> {
        let chain = CertificateDer::pem_slice_iter(certificates).collect::<Result<Vec<_>, _>>();
        let chain = chain.map_err(|error| Unreadable(error.to_string()))?;
        if chain.is_empty() {
            return Err(PairError::NoCertificate);
        }
        let key = PrivateKeyDer::from_pem_slice(key).map_err(|_| PairError::NoKey)?;
        Self::new(chain, key)
    }

    /// Checks that the certificate is good at `now`.
    ///
    /// # Errors
    ///
    /// [`PairError::Expired`] or [`PairError::NotYet`].
    pub fn check(&self, now: SystemTime) -> Result<(), PairError> {
        let About { from, until, .. } = &self.about;
        if now > *until {
            return Err(PairError::Expired { until: day(*until) });
        }
        if now < *from {
            return Err(PairError::NotYet { from: day(*from) });
        }
        Ok(())
    }

    /// What the host's own certificate says.
    #[must_use]
    pub const fn about(&self) -> &About {
        &self.about
    }

    /// The key by which a client knows the host.
    #[must_use]
    pub const fn key_hash(&self) -> KeyHash {
        self.key_hash
    }

    /// The certificates as PEM, without the key.
    #[must_use]
    pub fn to_pem(&self) -> String {
        let chain = self.certified.cert.iter();
        chain.map(|one| pem("CERTIFICATE", one)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::certificate::Name;
    use crate::own::{OwnKey, VALIDITY};

    fn today() -> SystemTime {
        UNIX_EPOCH + Duration::from_hours(20_777 * 24)
    }

    fn made() -> (String, String, Pair) {
        let key = OwnKey::generate().unwrap();
        let names = BTreeSet::from([Name::Dns("localhost".to_owned())]);
        let pair = key.certificate(&names, today()).unwrap();
        (pair.to_pem(), key.to_pem(), pair)
    }

    #[test]
    fn texts_are_read_as_they_are_written() {
        let (certificate, key, pair) = made();
        let read = Pair::from_pem(certificate.as_bytes(), key.as_bytes()).unwrap();
        assert_eq!(read.key_hash(), pair.key_hash());
        assert_eq!(read.about(), pair.about());
        let both = format!("{key}{certificate}");
        assert!(Pair::from_pem(both.as_bytes(), both.as_bytes()).is_ok());
    }

    #[test]
    fn each_mistake_has_its_name() {
        let (certificate, key, _) = made();
        let (_, other, _) = made();
        let error = |certificate: &str, key: &str| {
            let read = Pair::from_pem(certificate.as_bytes(), key.as_bytes());
            read.map(|_| ()).unwrap_err()
        };
        assert_eq!(error("", &key), PairError::NoCertificate);
        assert_eq!(error(&key, &key), PairError::NoCertificate);
        assert_eq!(error(&certificate, &certificate), PairError::NoKey);
        assert_eq!(error(&certificate, &other), PairError::Mismatch);
        let damaged = pem("CERTIFICATE", b"none");
        assert!(matches!(error(&damaged, &key), PairError::Unreadable(_)));
        let cut = &certificate[..certificate.len() / 2];
        assert!(Pair::from_pem(cut.as_bytes(), key.as_bytes()).is_err());
        let unknown = pem("PRIVATE KEY", b"none");
        assert!(matches!(error(&certificate, &unknown), PairError::Key(_)));
    }

    #[test]
    fn a_certificate_has_its_time() {
        let (_, _, pair) = made();
        assert_eq!(pair.check(today()), Ok(()));
        let late = pair.check(today() + VALIDITY).unwrap_err().to_string();
        assert!(late.contains("has ended on 2027-12-22"), "{late}");
        let early = pair.check(UNIX_EPOCH).unwrap_err().to_string();
        assert!(early.contains("begins on 2026-11-19"), "{early}");
    }
}
