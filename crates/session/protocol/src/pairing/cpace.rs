//! `CPace`, a key exchange with a password that may be short (draft-irtf-cfrg-cpace, cipher suite
//! CPACE-RISTR255-SHA512: sections 6, 7 and 8.3): whoever listens learns nothing about the password,
//! and whoever takes part can try one password in each exchange.
//!
//! *Deviations.* The channel identifier is a fixed text and names no addresses: those differ on both
//! sides of an address translator or a proxy. The session identifier is made by the initiator alone,
//! which the draft allows.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use sha2::{Digest, Sha512};

/// Domain separation of the group (section 8.3).
const DOMAIN: &[u8] = b"CPaceRistretto255";
/// Domain separation of the key (section 6.2).
const KEY_DOMAIN: &[u8] = b"CPaceRistretto255_ISK";
/// Bytes of a block of SHA-512 (`s_in_bytes`, section 7.1).
const BLOCK: usize = 128;

/// A share of the exchange: an encoded point.
pub type Share = [u8; 32];
/// The key that both sides have, if their passwords are the same.
pub type Key = [u8; 64];

/// A share is no point, or leads to the same key whatever the password.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("the share is no point of the group")]
pub struct NoPoint;

/// One side of an exchange, until the other's share is there. `Debug` does not print its secret.
#[derive(Clone)]
pub struct Exchange {
    secret: Scalar,
    share: Share,
    session: [u8; 16],
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Exchange(…)")
    }
}

impl Exchange {
    /// Begins an exchange with these 32 random bytes. Both sides have the same channel identifier and
    /// the same session identifier, which is random.
    #[must_use]
    pub fn begin(password: &[u8], channel: &[u8], session: [u8; 16], mut random: [u8; 32]) -> Self {
        // 252 random bits (section 8.3).
        random[31] &= 0x0f;
        let secret = Scalar::from_bytes_mod_order(random);
        let share = (generator(password, channel, &session) * secret).compress();
        Self {
            secret,
            share: share.to_bytes(),
            session,
        }
    }

    /// Our share.
    #[must_use]
    pub const fn share(&self) -> Share {
        self.share
    }

    /// The key, from the responder's share and data; ours were sent first.
    ///
    /// # Errors
    ///
    /// [`NoPoint`] if the share is wrong.
    pub fn initiated(&self, data: &[u8], other: &Share, theirs: &[u8]) -> Result<Key, NoPoint> {
        let point = self.point(other)?;
        Ok(self.key(&point, (&self.share, data), (other, theirs)))
    }

    /// The key, from the initiator's share and data, which came first.
    ///
    /// # Errors
    ///
    /// [`NoPoint`] if the share is wrong.
    pub fn responded(&self, other: &Share, theirs: &[u8], data: &[u8]) -> Result<Key, NoPoint> {
        let point = self.point(other)?;
        Ok(self.key(&point, (other, theirs), (&self.share, data)))
    }

    /// The point that both sides reach (`scalar_mult_vfy`, section 8.3).
    fn point(&self, other: &Share) -> Result<[u8; 32], NoPoint> {
        let other = CompressedRistretto(*other).decompress().ok_or(NoPoint)?;
        let point = other * self.secret;
        if point.is_identity() {
            return Err(NoPoint);
        }
        Ok(point.compress().to_bytes())
    }

    /// Hash of everything that both sides have seen (section 6.2).
    fn key(&self, point: &[u8; 32], first: (&Share, &[u8]), second: (&Share, &[u8])) -> Key {
        let mut hash = Sha512::new();
        for field in [
            KEY_DOMAIN,
            &self.session,
            point,
            first.0,
            first.1,
            second.0,
            second.1,
        ] {
            let mut text = Vec::new();
            put(&mut text, field);
            hash.update(text);
        }
        hash.finalize().into()
    }
}

/// The group's generator that the password gives (sections 7.1 and 8.3).
fn generator(password: &[u8], channel: &[u8], session: &[u8]) -> RistrettoPoint {
    let hash = Sha512::digest(generator_text(password, channel, session));
    RistrettoPoint::from_uniform_bytes(&hash.into())
}

/// The text whose hash makes the generator: zeros fill up the first block, so that the time of hashing says
/// nothing of the password (section 7.1).
fn generator_text(password: &[u8], channel: &[u8], session: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    put(&mut text, DOMAIN);
    put(&mut text, password);
    let zeros = BLOCK.saturating_sub(text.len() + 1);
    put(&mut text, &vec![0; zeros]);
    put(&mut text, channel);
    put(&mut text, session);
    text
}

/// Appends a field after its length in LEB128 (`prepend_len`, appendix A.1).
fn put(text: &mut Vec<u8>, field: &[u8]) {
    let mut length = field.len();
    while length >= 0x80 {
        text.push(length.to_le_bytes()[0] | 0x80);
        length >>= 7;
    }
    text.push(length.to_le_bytes()[0]);
    text.extend(field);
}

#[cfg(test)]
mod tests {
    use super::super::super::proof::{hex, unhex};
    use super::*;

    const CHANNEL: &[u8] = b"\nAinitiator\nBresponder";

    fn bytes<const N: usize>(text: &str) -> [u8; N] {
        unhex(text).unwrap()
    }

    fn sides() -> [Exchange; 2] {
        [
            "da3d23700a9e5699258aef94dc060dfda5ebb61f02a5ea77fad53f4ff0976d08",
            "d2316b454718c35362d83d69df6320f38578ed5984651435e2949762d900b80d",
        ]
        .map(|secret| {
            let session = bytes("7e4b4791d6a8ef019b936c79fb7f2c57");
            Exchange::begin(b"Password", CHANNEL, session, bytes(secret))
        })
    }

    /// The vectors of the draft's appendix for ristretto255 with SHA-512.
    #[test]
    fn the_exchange_is_that_of_the_draft() {
        let session: [u8; 16] = bytes("7e4b4791d6a8ef019b936c79fb7f2c57");
        let text = generator_text(b"Password", CHANNEL, &session);
        assert_eq!(text.len(), 168);
        assert_eq!(
            hex(&Sha512::digest(text)),
            "a5ce446f63a1ae6d1fee80fa67d0b4004a4b1283ec5549a462bf33a6c1ae06a0871f9bf48545f49b2a792eed255ac04f52758c9c60448306810b44e986e3dcbb"
        );
        assert_eq!(
            hex(generator(b"Password", CHANNEL, &session)
                .compress()
                .as_bytes()),
            "5e25411ca1ad7c9debfd0b33ad987a95cefef2d3f15dcc8bd26415a5dfe2e15a"
        );
        let [ours, theirs] = sides();
        assert_eq!(
            hex(&ours.share()),
            "383a85dd236978f17f8c8545b50dabc52a39fcdab2cf8bc531ce040ff77ca82d"
        );
        assert_eq!(
            hex(&theirs.share()),
            "a6206309c0e8e5f579295e35997ac4300ab3fecec3c17f7b604f3e698fa1383c"
        );
        let key = "e91ccb2c0f5e0d0993a33956e3be59754f3f2b07db57631f5394452ea2e7b4354674eb1f5686c078462bf83bec72e8743df440108e638f3526d9b90e85be096f";
        let first = ours.initiated(b"ADa", &theirs.share(), b"ADb").unwrap();
        let second = theirs.responded(&ours.share(), b"ADa", b"ADb").unwrap();
        assert_eq!([hex(&first), hex(&second)], [key, key]);
    }

    /// The draft's invalid inputs: no point, and the neutral element.
    #[test]
    fn shares_that_are_no_points_are_refused() {
        let [ours, _] = sides();
        for share in [
            "2b3c6b8c4f3800e7aef6864025b4ed79bd599117e427c41bd47d93d654b4a51c",
            "0000000000000000000000000000000000000000000000000000000000000000",
            "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
        ] {
            assert_eq!(
                ours.initiated(b"", &bytes(share), b""),
                Err(NoPoint),
                "{share}"
            );
        }
    }

    #[test]
    fn another_password_or_session_gives_another_key() {
        let begin = |password: &[u8], session: u8, random: u8| {
            Exchange::begin(password, b"c", [session; 16], [random; 32])
        };
        let ours = begin(b"123456", 1, 1);
        for (theirs, is_same) in [
            (begin(b"123456", 1, 2), true),
            (begin(b"123457", 1, 2), false),
            (begin(b"123456", 2, 2), false),
        ] {
            let first = ours.initiated(b"a", &theirs.share(), b"b").unwrap();
            let second = theirs.responded(&ours.share(), b"a", b"b").unwrap();
            assert_eq!(first == second, is_same);
            let renamed = theirs.responded(&ours.share(), b"A", b"b").unwrap();
            assert_ne!(first, renamed);
        }
    }

    #[test]
    fn lengths_are_in_leb128() {
        let mut text = Vec::new();
        put(&mut text, &[7; 300]);
        assert_eq!((&text[..2], text.len()), (&[0xac, 0x02][..], 302));
    }
}
