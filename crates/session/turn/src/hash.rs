//! SHA-1 and MD5, which STUN prescribes.

use md5::Md5;
use mimosa_protocol::proof::hmac;
use sha1::{Digest as _, Sha1};

/// A code of HMAC-SHA-1.
pub(crate) type Code = [u8; 20];

/// MD5 of these bytes.
pub(crate) fn md5(bytes: &[u8]) -> [u8; 16] {
    Md5::digest(bytes).into()
}

/// SHA-1 of these bytes.
pub(crate) fn sha1(bytes: &[u8]) -> Code {
    Sha1::digest(bytes).into()
}

/// HMAC-SHA-1 of a message that consists of these parts.
pub(crate) fn mac(secret: &[u8], parts: &[&[u8]]) -> Code {
    hmac::<Sha1>(secret, parts).into()
}

#[cfg(test)]
mod tests {
    use mimosa_protocol::proof::hex;

    use super::*;

    /// RFC 2202, section 3, cases 1, 2 and 6.
    #[test]
    fn codes_are_those_of_the_rfc() {
        for (secret, message, code) in [
            (
                &[0x0b; 20][..],
                &b"Hi There"[..],
                "b617318655057264e28bc0b6fb378c8ef146be00",
            ),
            (
                b"Jefe",
                b"what do ya want for nothing?",
                "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
            ),
            (
                &[0xaa; 80],
                b"Test Using Larger Than Block-Size Key - Hash Key First",
                "aa4ae5e15272d00e95705637ce8a3b55ed402112",
            ),
        ] {
            assert_eq!(hex(&mac(secret, &[message])), code);
            let (first, rest) = message.split_at(5);
            assert_eq!(hex(&mac(secret, &[first, rest])), code);
        }
        // RFC 1321, section A.5.
        assert_eq!(hex(&md5(b"abc")), "900150983cd24fb0d6963f7d28e17f72");
    }
}
