//! The host's side of a session that a proven request began: its further requests have to be proven
//! as well, and each only once.

use super::{Request, Secret, Shown, is_same};

/// Guards a session's `PATCH` and `DELETE`. Their nonces are the numbers 1, 2, … in decimal, so that
/// they need no question before; the first number is used once, and each later one is higher.
#[derive(Clone, Debug)]
pub struct SessionGuard {
    secret: Secret,
    /// The highest number so far.
    last: u64,
}

/// A request within a session is not its owner's, or was used before.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "only whoever began this session may change or end it, with a proof that is good once (docs/embed/protocol.md, \"Proofs\")"
)]
pub struct NotProven;

impl SessionGuard {
    /// The guard of a session with this secret ([`Secret::session`]).
    #[must_use]
    pub const fn new(secret: Secret) -> Self {
        Self { secret, last: 0 }
    }

    /// Checks a request, and takes its number.
    ///
    /// # Errors
    ///
    /// [`NotProven`] if it shows nothing, a wrong proof, or a number that is not higher than all
    /// before.
    pub fn check(&mut self, shown: Option<&Shown>, request: &Request<'_>) -> Result<(), NotProven> {
        let shown = shown.ok_or(NotProven)?;
        let number: u64 = shown.nonce.parse().map_err(|_| NotProven)?;
        let expected = self.secret.request(&shown.nonce, request);
        if number <= self.last || !is_same(&expected, &shown.proof) {
            return Err(NotProven);
        }
        self.last = number;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_good_once_and_for_its_session() {
        let secret = Secret::of_token("player-player-player");
        let (ours, other) = (secret.session("01"), secret.session("02"));
        let mut guard = SessionGuard::new(ours.clone());
        let request = Request {
            method: "PATCH",
            target: "whep/1",
            body: b"a=candidate:1",
        };
        let shown = |secret: &Secret, number: &str| Shown {
            id: None,
            nonce: number.to_owned(),
            proof: secret.request(number, &request),
        };
        assert_eq!(guard.check(None, &request), Err(NotProven));
        assert_eq!(
            guard.check(Some(&shown(&other, "1")), &request),
            Err(NotProven)
        );
        assert_eq!(
            guard.check(Some(&shown(&secret, "1")), &request),
            Err(NotProven)
        );
        assert_eq!(
            guard.check(Some(&shown(&ours, "x")), &request),
            Err(NotProven)
        );
        let first = shown(&ours, "1");
        assert_eq!(guard.check(Some(&first), &request), Ok(()));
        assert_eq!(guard.check(Some(&first), &request), Err(NotProven), "again");
        assert_eq!(guard.check(Some(&shown(&ours, "3")), &request), Ok(()));
        assert_eq!(
            guard.check(Some(&shown(&ours, "2")), &request),
            Err(NotProven)
        );
        let end = Request {
            method: "DELETE",
            body: b"",
            ..request
        };
        assert_eq!(guard.check(Some(&shown(&ours, "4")), &end), Err(NotProven));
    }
}
