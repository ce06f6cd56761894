//! SHA-256 and HMAC (RFC 2104).

use sha2::digest::Output;
use sha2::{Digest as Hash, Sha256};

/// A hash, or a code made with a secret.
pub type Digest = [u8; 32];

/// Bytes of a block of the hash, to which HMAC fills up its secret (RFC 2104, section 2).
const BLOCK: usize = 64;
/// Values with which the secret is combined for the inner and the outer hash (RFC 2104, section 2).
const INNER: u8 = 0x36;
const OUTER: u8 = 0x5c;

/// SHA-256 of these bytes.
#[must_use]
pub fn sha256(bytes: &[u8]) -> Digest {
    Sha256::digest(bytes).into()
}

/// HMAC-SHA-256 of a message.
#[must_use]
pub fn mac(secret: &[u8], message: &[u8]) -> Digest {
    hmac::<Sha256>(secret, &[message]).into()
}

/// HMAC of a message that consists of these parts, with a hash function whose blocks have 64 bytes, as those of
/// SHA-256, SHA-1 and MD5 have.
#[must_use]
pub fn hmac<H: Hash>(secret: &[u8], parts: &[&[u8]]) -> Output<H> {
    let hashed;
    let secret = if secret.len() > BLOCK {
        hashed = H::digest(secret);
        &hashed[..]
    } else {
        secret
    };
    let mut block = [0; BLOCK];
    for (to, from) in block.iter_mut().zip(secret) {
        *to = *from;
    }
    let pass = |with: u8, parts: &[&[u8]]| {
        let mut hash = H::new();
        hash.update(block.map(|byte| byte ^ with));
        for part in parts {
            hash.update(part);
        }
        hash.finalize()
    };
    pass(OUTER, &[&pass(INNER, parts)])
}

/// Compares secrets, in a time that depends on their lengths alone.
#[must_use]
pub fn is_same(left: &[u8], right: &[u8]) -> bool {
    let pairs = left.iter().zip(right);
    left.len() == right.len() && pairs.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::super::hex;
    use super::*;

    /// RFC 4231, sections 4.2, 4.3 and 4.7.
    #[test]
    fn codes_are_those_of_the_rfc() {
        for (secret, message, code) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                &[0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
        ] {
            assert_eq!(hex(&mac(secret, message)), code);
        }
    }

    #[test]
    fn what_differs_anywhere_is_not_the_same() {
        assert!(is_same(b"secret", b"secret"));
        for other in ["secre", "secret ", "Secret", "secreT", ""] {
            assert!(!is_same(b"secret", other.as_bytes()), "{other}");
        }
    }
}
