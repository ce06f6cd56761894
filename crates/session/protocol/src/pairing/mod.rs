//! Pairing: a PIN that a person types makes a token for one device (`docs/embed/protocol.md`,
//! "Pairing"). Both sides run `CPace` (`cpace.rs`), the device proves that it has the key, then the host does;
//! the token comes out of the key and is never sent.
//!
//! The device proves first: a device that guesses a PIN has told the host so before it learns whether
//! the guess was right, and the host counts it.

mod cpace;

use serde::{Deserialize, Serialize};

pub use self::cpace::{Exchange, Key, NoPoint, Share};
use crate::proof::{Digest, Secret, hex};

/// The channel identifier of `CPace`.
pub const CHANNEL: &[u8] = b"mimosa pairing";
/// Longest name of a device, in bytes. Our choice: two words fit.
pub const LONGEST_NAME: usize = 40;

/// What a paired device may do.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Allowed {
    /// Play and watch.
    Play,
    /// Only watch.
    View,
}

impl Allowed {
    /// The name in settings and messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Play => "play",
            Self::View => "view",
        }
    }
}

/// The body of `POST /api/pair/begin`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Begin {
    /// The device's name, for people.
    pub name: String,
    /// The session identifier of `CPace`: 32 random hexadecimal digits.
    pub session: String,
    /// The device's share, in hexadecimal.
    pub share: String,
}

/// The answer to [`Begin`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Begun {
    /// The host's share, in hexadecimal.
    pub share: String,
}

/// The body of `POST /api/pair/finish`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Finish {
    /// The session identifier of `CPace`.
    pub session: String,
    /// The proof that the device has the key, in hexadecimal.
    pub proof: String,
}

/// The answer to [`Finish`].
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Finished {
    /// The device's identifier, which its proofs name: 16 hexadecimal digits.
    pub id: String,
    /// What the device may do.
    pub role: Allowed,
    /// The SHA-256 of the key of the host's own certificate, in hexadecimal, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The proof that the host has the key of the exchange, in hexadecimal.
    pub proof: String,
}

/// The key of an exchange, and what is made from it.
#[derive(Clone, Debug)]
pub struct Paired(Secret);

impl Paired {
    /// The proofs and the token that follow from this key.
    #[must_use]
    pub fn new(key: &Key) -> Self {
        Self(Secret::of_bytes(key))
    }

    /// The proof that the device has the key.
    #[must_use]
    pub fn by_device(&self) -> Digest {
        self.0.fields(&[b"mimosa pairing device"])
    }

    /// The proof that the host has the key of the exchange, and that these are its words, among them
    /// the `key` of its certificate.
    #[must_use]
    pub fn by_host(&self, id: &str, role: Allowed, key: Option<&str>) -> Digest {
        let role = role.name().as_bytes();
        let label: &[u8] = b"mimosa pairing host";
        match key {
            None => self.0.fields(&[label, id.as_bytes(), role]),
            Some(key) => self.0.fields(&[label, id.as_bytes(), role, key.as_bytes()]),
        }
    }

    /// The device's token: 32 hexadecimal digits.
    #[must_use]
    pub fn token(&self) -> String {
        let bits = self.0.fields(&[b"mimosa pairing token"]);
        hex(bits.first_chunk::<16>().map_or(&[][..], |bits| bits))
    }
}

/// Whether a device may have this name: visible text of at most [`LONGEST_NAME`] bytes, which is the
/// same without the white space around it.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let is_visible = name.chars().all(|c| !c.is_control());
    !name.is_empty() && name.len() <= LONGEST_NAME && name.trim() == name && is_visible
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The vectors of `docs/embed/protocol.md`, which the page's tests have as well.
    #[test]
    fn what_comes_of_a_key_is_that_of_the_documentation() {
        let documentation = include_str!("../../../../../docs/embed/protocol.md");
        let session = std::array::from_fn(|index| u8::try_from(index).unwrap());
        let begin = |random| Exchange::begin(b"123456", CHANNEL, session, [random; 32]);
        let (device, host) = (begin(1), begin(2));
        let key = device
            .initiated("Phone".as_bytes(), &host.share(), b"")
            .unwrap();
        let paired = Paired::new(&key);
        for text in [
            hex(&device.share()),
            hex(&host.share()),
            hex(&paired.by_device()),
            hex(&paired.by_host("0123456789abcdef", Allowed::Play, None)),
            hex(&paired.by_host("0123456789abcdef", Allowed::Play, Some("00ff"))),
            paired.token(),
        ] {
            assert!(documentation.contains(&text), "{text} is not in it");
        }
    }

    #[test]
    fn names_are_visible_and_short() {
        for good in ["Phone", "Anna's télé", "a"] {
            assert!(is_name(good), "{good}");
        }
        let long = "a".repeat(41);
        for bad in ["", " a", "a ", "a\nb", "\u{1b}[31m", long.as_str()] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }
}
