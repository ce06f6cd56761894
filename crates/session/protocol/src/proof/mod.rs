//! Proofs that a request and its answer come from somebody who knows a token, which itself is never
//! sent (`docs/embed/protocol.md`, "Proofs").
//!
//! HMAC (RFC 2104) with SHA-256 (FIPS 180-4), over fields each of which follows its length, so that no
//! two lists of fields have the same bytes. The host's nonce makes each proof good for one request.
//! Offer and answer are covered as a whole, and with them the fingerprints of both ends' certificates
//! (RFC 8122): whoever changes bytes on the way is noticed before any of them is used.
//!
//! *Deviations.* The scheme is our own: HTTP's Digest (RFC 7616) covers no answers, and of requests at
//! most the body; HTTP Message Signatures (RFC 9421) would do, but leave most to be agreed upon.

use serde::{Deserialize, Serialize};

mod guard;
mod hash;
mod header;

pub use self::guard::{NotProven, SessionGuard};
pub use self::hash::{Digest, hmac, is_same, mac, sha256};
pub use self::header::{HeaderError, SCHEME, Shown};

/// Label of a request's proof.
const REQUEST: &[u8] = b"mimosa request";
/// Label of an answer's proof.
const ANSWER: &[u8] = b"mimosa answer";
/// Label of a session's key.
const SESSION: &[u8] = b"mimosa session";

/// A secret that two ends share. `Debug` does not print it.
#[derive(Clone, Eq, PartialEq)]
pub struct Secret(Vec<u8>);

/// The answer to `POST /api/challenge`: a nonce for one proof.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Challenge {
    /// The nonce: 64 hexadecimal digits.
    pub nonce: String,
}

/// A request, as both ends see it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Request<'a> {
    /// The method, e.g. `POST`.
    pub method: &'a str,
    /// Path and query, without the folder of the page and without a slash at the front, e.g.
    /// `whep?role=player`: a proxy may serve the page below a path of its own.
    pub target: &'a str,
    /// The body; empty if there is none.
    pub body: &'a [u8],
}

/// The answer to a request, as both ends see it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Answer<'a> {
    /// The status, e.g. 201.
    pub status: u16,
    /// The session that has begun, which is the last segment of `Location`; empty if there is none.
    pub session: &'a str,
    /// The body; empty if there is none.
    pub body: &'a [u8],
}

/// The session in a `Location`, which is its last segment; empty if there is none.
#[must_use]
pub fn session_in(location: Option<&str>) -> &str {
    location
        .and_then(|path| path.rsplit('/').next())
        .unwrap_or_default()
}

impl Secret {
    /// The secret that a token is, as text.
    #[must_use]
    pub fn of_token(token: &str) -> Self {
        Self(token.as_bytes().to_vec())
    }

    /// The secret in these bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(bytes.to_vec())
    }

    /// The proof of a request, for this nonce.
    #[must_use]
    pub fn request(&self, nonce: &str, request: &Request<'_>) -> Digest {
        self.fields(&[
            REQUEST,
            nonce.as_bytes(),
            request.method.as_bytes(),
            request.target.as_bytes(),
            &sha256(request.body),
        ])
    }

    /// The proof of the answer to a request with this nonce and this body.
    #[must_use]
    pub fn answer(&self, nonce: &str, asked: &[u8], answer: &Answer<'_>) -> Digest {
        self.fields(&[
            ANSWER,
            nonce.as_bytes(),
            answer.status.to_string().as_bytes(),
            answer.session.as_bytes(),
            &sha256(asked),
            &sha256(answer.body),
        ])
    }

    /// The secret of the session that a request with this nonce has begun.
    #[must_use]
    pub fn session(&self, nonce: &str) -> Self {
        Self(self.fields(&[SESSION, nonce.as_bytes()]).to_vec())
    }

    /// The code over these fields, each of which follows its length: four bytes, the highest first.
    #[must_use]
    pub fn fields(&self, fields: &[&[u8]]) -> Digest {
        let mut message = Vec::new();
        for field in fields {
            // No field is near 4 GiB: bodies are hashed, and HTTP's headers are short.
            let length = u32::try_from(field.len()).unwrap_or(u32::MAX);
            message.extend(length.to_be_bytes());
            message.extend(*field);
        }
        mac(&self.0, &message)
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// The bytes in hexadecimal, in lower case.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The `N` bytes in a hexadecimal text; `None` if it is none of that length.
#[must_use]
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        let [high, low] = pair else { return None };
        let digit = |digit: u8| char::from(digit).to_digit(16);
        *byte = u8::try_from(16 * digit(*high)? + digit(*low)?).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONCE: &str = "000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f";
    const ASKED: Request<'_> = Request {
        method: "POST",
        target: "whep?role=player",
        body: b"v=0\r\n",
    };
    const ANSWERED: Answer<'_> = Answer {
        status: 201,
        session: "00112233445566778899aabbccddeeff",
        body: b"v=0\r\ns=-\r\n",
    };

    fn token() -> Secret {
        Secret::of_token("player-player-player")
    }

    /// The vectors of `docs/embed/protocol.md`, which the page's tests have as well.
    #[test]
    fn the_proofs_are_those_of_the_documentation() {
        let documentation = include_str!("../../../../../docs/embed/protocol.md");
        for digest in [
            token().request(NONCE, &ASKED),
            token().answer(NONCE, ASKED.body, &ANSWERED),
            token().session(NONCE).request(
                "1",
                &Request {
                    method: "DELETE",
                    target: "whep/00112233445566778899aabbccddeeff",
                    body: b"",
                },
            ),
        ] {
            let text = hex(&digest);
            assert!(documentation.contains(&text), "{text} is not in it");
        }
    }

    #[test]
    fn every_part_counts() {
        let request = token().request(NONCE, &ASKED);
        let [mut method, mut target, mut body] = [ASKED; 3];
        method.method = "PUT";
        target.target = "whep?role=viewer";
        body.body = b"v=1\r\n";
        for other in [method, target, body] {
            assert_ne!(token().request(NONCE, &other), request, "{other:?}");
        }
        assert_ne!(token().request("00", &ASKED), request);
        assert_ne!(Secret::of_token("p").request(NONCE, &ASKED), request);

        let answer = token().answer(NONCE, ASKED.body, &ANSWERED);
        let [mut status, mut session, mut body] = [ANSWERED; 3];
        status.status = 200;
        session.session = "1";
        body.body = b"v=0\r\n";
        for other in [status, session, body] {
            assert_ne!(
                token().answer(NONCE, ASKED.body, &other),
                answer,
                "{other:?}"
            );
        }
        assert_ne!(token().answer(NONCE, b"v=1\r\n", &ANSWERED), answer);
    }

    /// A byte that moves from one field to the next changes the code.
    #[test]
    fn fields_do_not_run_together() {
        let code = |fields: &[&[u8]]| token().fields(fields);
        assert_ne!(code(&[b"ab", b"c"]), code(&[b"a", b"bc"]));
        assert_ne!(code(&[b"ab"]), code(&[b"ab", b""]));
    }

    #[test]
    fn hexadecimal_goes_there_and_back() {
        assert_eq!(unhex(&hex(&[0, 0x9f, 0xff])), Some([0, 0x9f, 0xff]));
        assert_eq!(unhex("00FF"), Some([0, 0xff]));
        for bad in ["", "0", "00f", "00fg", "0 ff", "+1ff", "00ff00", "é0f"] {
            assert_eq!(unhex::<2>(bad), None, "{bad}");
        }
    }

    #[test]
    fn secrets_are_not_printed() {
        assert_eq!(format!("{:?}", token()), "Secret(…)");
    }
}
