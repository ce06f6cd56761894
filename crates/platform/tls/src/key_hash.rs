//! The public key of a host, as a hash that fits into a URL.
//!
//! Source: RFC 7469, section 2.4, which pins the SHA-256 of a certificate's `SubjectPublicKeyInfo`
//! in DER (RFC 5280, section 4.1).
//!
//! *Deviations*: the hash is written in hexadecimal, which needs no escapes in a URL, in place of
//! base64.

use std::fmt;

use aws_lc_rs::digest::{SHA256, digest};
use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;

use crate::certificate::Unreadable;

/// SHA-256 of a public key, as 64 hexadecimal digits. The key stays the same when its certificate is
/// made anew.
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// The hash of the public key in a certificate.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] unless this is a certificate of version 3.
    pub fn of(certificate: &CertificateDer<'_>) -> Result<Self, Unreadable> {
        let parsed = ParsedCertificate::try_from(certificate)
            .map_err(|error| Unreadable(error.to_string()))?;
        let hash = digest(&SHA256, parsed.subject_public_key_info().as_ref());
        let mut bytes = [0; 32];
        bytes.copy_from_slice(hash.as_ref());
        Ok(Self(bytes))
    }

    /// The hash that is written in `text`; `None` unless that is 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        if text.len() != 2 * bytes.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        for (index, byte) in bytes.iter_mut().enumerate() {
            let digits = text.get(2 * index..2 * index + 2)?;
            *byte = u8::from_str_radix(digits, 16).ok()?;
        }
        Some(Self(bytes))
    }
}

impl fmt::Display for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyHash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let text = "00ff".repeat(16);
        let hash = KeyHash::parse(&text).unwrap();
        assert_eq!(hash.to_string(), text);
        assert_eq!(KeyHash::parse(&text.to_uppercase()), Some(hash));
        let long = text.clone() + "0";
        for bad in ["", &text[1..], &long, &"+1".repeat(32), &"é".repeat(32)] {
            assert_eq!(KeyHash::parse(bad), None, "{bad}");
        }
    }
}
