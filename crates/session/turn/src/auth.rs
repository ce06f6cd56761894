//! Credentials of limited life, and what a client signs with.

use base64ct::{Base64, Encoding as _};

use crate::hash::{mac, md5};
use crate::stun::{Attribute, Message, Writer};

/// Longest realm and nonce that are taken (RFC 8489, sections 14.9 and 14.10).
const LONGEST: usize = 763;

/// A name and a password for a relay. `Debug` prints neither.
#[derive(Clone, Eq, PartialEq)]
pub struct Credentials {
    username: String,
    password: String,
}

impl Credentials {
    /// These credentials.
    #[must_use]
    pub fn new(username: &str, password: &str) -> Self {
        Self {
            username: username.to_owned(),
            password: password.to_owned(),
        }
    }

    /// Credentials that a relay with this secret takes until a time, in seconds of Unix: the name is that time, and the
    /// password a code that only holders of the secret can make of it (draft-uberti-behave-turn-rest-00, section 2.2).
    #[must_use]
    pub fn until(secret: &str, expires: u64) -> Self {
        let username = expires.to_string();
        let code = mac(secret.as_bytes(), &[username.as_bytes()]);
        Self {
            password: Base64::encode_string(&code),
            username,
        }
    }

    /// The name.
    #[must_use]
    pub fn username(&self) -> &str {
        &self.username
    }

    /// The password.
    #[must_use]
    pub fn password(&self) -> &str {
        &self.password
    }

    /// The key with which messages are signed in a realm (RFC 8489, section 9.2.2).
    #[must_use]
    pub(crate) fn key(&self, realm: &[u8]) -> [u8; 16] {
        let parts = [
            self.username.as_bytes(),
            b":",
            realm,
            b":",
            self.password.as_bytes(),
        ];
        md5(&parts.concat())
    }
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials(…)")
    }
}

/// What the relay has told a client to sign with.
#[derive(Clone, Debug)]
pub(crate) struct Signing {
    realm: Vec<u8>,
    nonce: Vec<u8>,
    key: [u8; 16],
}

impl Signing {
    /// Reads realm and nonce of an answer (RFC 8489, section 9.2.5). A stale nonce may come without the realm, which is
    /// the one of `before` then.
    pub(crate) fn read(
        message: &Message<'_>,
        credentials: &Credentials,
        before: Option<&Self>,
    ) -> Option<Self> {
        let known = before.map(|before| before.realm.as_slice());
        let realm = message.find(Attribute::Realm).or(known)?;
        let nonce = message.find(Attribute::Nonce)?;
        if realm.len() > LONGEST || nonce.len() > LONGEST {
            return None;
        }
        Some(Self {
            key: credentials.key(realm),
            realm: realm.to_owned(),
            nonce: nonce.to_owned(),
        })
    }

    /// Signs a request.
    pub(crate) fn sign(&self, writer: &mut Writer, credentials: &Credentials) {
        writer.put(Attribute::Username, credentials.username.as_bytes());
        writer.put(Attribute::Realm, &self.realm);
        writer.put(Attribute::Nonce, &self.nonce);
        writer.sign(&self.key);
    }

    /// Whether an answer is signed by somebody who knows the password.
    pub(crate) fn has_signed(&self, message: &Message<'_>) -> bool {
        message.is_signed(&self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The password is what `printf %s 1700000000 | openssl dgst -sha1 -hmac north -binary | base64` prints.
    #[test]
    fn credentials_are_those_that_a_relay_computes() {
        let credentials = Credentials::until("north", 1_700_000_000);
        assert_eq!(credentials.username(), "1700000000");
        assert_eq!(credentials.password(), "CWyHi3zCeWqXBir9thl4m+iZPRY=");
        assert_eq!(format!("{credentials:?}"), "Credentials(…)");
    }
}
