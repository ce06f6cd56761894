//! Challenges: nonces, each good for one proof (`docs/embed/protocol.md`, "Proofs").
//!
//! A nonce is its number, its time and a code over both that only this host can make, so that those
//! that are handed out take no memory, however many somebody asks for. The host remembers only spent
//! ones, which cost whoever spends them a proof that is right.

use std::collections::BTreeMap;

use mimosa_protocol::proof::{Secret, hex, is_same, unhex};
use mimosa_units::{Time, TimeDelta};

/// How long a nonce is good: our choice, a minute for a browser that has much else to do.
const LONGEST: TimeDelta = TimeDelta::from_millis(60_000);
/// Most spent nonces that are remembered. Our choice: 1000 proven requests a second for a minute take
/// about 3 MB, and no honest clients come near.
const MOST: usize = 60_000;
/// Bytes of number and time, and of the code: 128 bits.
const NUMBER: usize = 16;
const CODE: usize = 16;

/// Hands out nonces, and takes each back once.
#[derive(Debug)]
pub(super) struct Challenges {
    secret: Secret,
    next: u64,
    /// The times of the nonces that were spent, by their numbers.
    spent: BTreeMap<u64, Time>,
}

/// A nonce is not this host's, older than a minute, or was spent before; or too many were.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct NotGood;

impl Challenges {
    /// Challenges whose codes are made with these random bits.
    pub(super) fn new(bits: u128) -> Self {
        Self {
            secret: Secret::of_bytes(&bits.to_be_bytes()),
            next: 0,
            spent: BTreeMap::new(),
        }
    }

    /// A new nonce: 64 hexadecimal digits.
    pub(super) fn nonce(&mut self, now: Time) -> String {
        let number = self.next;
        self.next += 1;
        self.written(number, now)
    }

    /// Takes a nonce back.
    ///
    /// # Errors
    ///
    /// [`NotGood`] if no proof may be made with it any more.
    pub(super) fn spend(&mut self, now: Time, nonce: &str) -> Result<(), NotGood> {
        let bytes: [u8; NUMBER + CODE] = unhex(nonce).ok_or(NotGood)?;
        let (number, rest) = bytes.split_first_chunk().ok_or(NotGood)?;
        let (time, _) = rest.split_first_chunk().ok_or(NotGood)?;
        let number = u64::from_be_bytes(*number);
        let made = Time::from_nanos(u64::from_be_bytes(*time));
        if !is_same(self.written(number, made).as_bytes(), nonce.as_bytes()) {
            return Err(NotGood);
        }
        self.spent.retain(|_, made| now.since(*made) <= LONGEST);
        let is_new = now.since(made) <= LONGEST && !self.spent.contains_key(&number);
        if !is_new || self.spent.len() >= MOST {
            return Err(NotGood);
        }
        self.spent.insert(number, made);
        Ok(())
    }

    fn written(&self, number: u64, made: Time) -> String {
        let (number, made) = (number.to_be_bytes(), made.as_nanos().to_be_bytes());
        let code = self.secret.fields(&[b"mimosa nonce", &number, &made]);
        let code = code.first_chunk::<CODE>().map_or(&[][..], |code| code);
        hex(&number) + &hex(&made) + &hex(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: TimeDelta = TimeDelta::from_millis(1_000);

    #[test]
    fn a_nonce_is_good_once_and_for_a_minute() {
        let mut challenges = Challenges::new(7);
        let start = Time::from_secs(100);
        let [first, second, third] = [(); 3].map(|()| challenges.nonce(start));
        assert!(first != second && first.len() == 64);
        assert_eq!(challenges.spend(start, &first), Ok(()));
        assert_eq!(challenges.spend(start, &first), Err(NotGood), "again");
        assert_eq!(challenges.spend(start + LONGEST, &second), Ok(()));
        assert_eq!(challenges.spend(start + LONGEST, &second), Err(NotGood));
        let late = start + LONGEST + SECOND;
        assert_eq!(challenges.spend(late, &third), Err(NotGood), "too old");
        assert_eq!(challenges.spend(late, &first), Err(NotGood), "forgotten");
    }

    #[test]
    fn only_the_host_makes_nonces() {
        let mut challenges = Challenges::new(7);
        let now = Time::from_secs(1);
        let nonce = challenges.nonce(now);
        assert_eq!(Challenges::new(8).spend(now, &nonce), Err(NotGood));
        let other = format!("0000000000000001{}", nonce.get(16..).unwrap());
        for bad in [
            other.as_str(),
            "",
            "00",
            &nonce.to_uppercase(),
            &nonce[..63],
        ] {
            assert_eq!(challenges.spend(now, bad), Err(NotGood), "{bad}");
        }
        assert_eq!(challenges.spend(now, &nonce), Ok(()));
    }

    #[test]
    fn memory_is_bounded_and_comes_back() {
        let mut challenges = Challenges::new(7);
        let start = Time::from_secs(1);
        for number in 0..MOST as u64 {
            challenges.spent.insert(number + 1_000, start);
        }
        for _ in 0..1_000_000 / 1_000 {
            challenges.nonce(start);
        }
        assert_eq!(challenges.spent.len(), MOST, "asking costs nothing");
        let nonce = challenges.nonce(start);
        assert_eq!(challenges.spend(start, &nonce), Err(NotGood), "full");
        let late = start + LONGEST + SECOND;
        let nonce = challenges.nonce(late);
        assert_eq!(challenges.spend(late, &nonce), Ok(()));
        assert_eq!(challenges.spent.len(), 1);
    }
}
