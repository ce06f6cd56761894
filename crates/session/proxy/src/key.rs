//! The key by which the two ends know each other.
//!
//! Nothing in RTP says who sent it, and reports decide how much an application may send. Where both ends have a key,
//! the near end *greets* the far end again and again, and the far end *signs* its reports. Both are application-defined
//! packets of RTCP ([`envelope`](crate::envelope)):
//!
//! ```text
//! greeting   NONCE NUMBER CODE    CODE = code("mimosa proxy greeting", what stands before it)
//! report     NUMBER CODE          CODE = code("mimosa proxy report", NONCE, the report without CODE)
//! ```
//!
//! code is the first 16 bytes of HMAC-SHA-256 (RFC 2104) with the key. NONCE is random, one for each run of the near
//! end, and each NUMBER is greater than the one before. So a greeting or a report that somebody has made up is refused,
//! and so is one that was recorded: it counts neither twice nor in another run. The far end takes packets of where the
//! newest greeting came from. The packets of the application pass without a code; SRTP protects those.

use std::collections::VecDeque;
use std::fmt;

use mimosa_protocol::proof::{is_same, mac, sha256};
use mimosa_units::{Time, TimeDelta};

/// Least characters of a key's text: a short one is guessed from one recorded report.
const SHORTEST: usize = 16;
/// Bytes of a code, half of the hash's (RFC 2104, section 5).
pub(crate) const CODE: usize = 16;
/// Time between two greetings, and while the far end is silent. Our choice: a far end that starts, and one that
/// somebody has led astray, knows its near end within that time.
const EVERY: TimeDelta = TimeDelta::from_millis(1_000);
const EVERY_UNANSWERED: TimeDelta = TimeDelta::from_millis(250);
/// Former near ends that a far end remembers, whose recorded greetings are refused. Our choice: an operator does not
/// start one as often in the life of a far end.
const REMEMBERED: usize = 64;

/// Names one run of a near end.
pub(crate) type Nonce = [u8; 16];
/// A code made with the key.
pub(crate) type Code = [u8; CODE];

/// A secret that both ends have. `Debug` prints none of it.
#[derive(Clone)]
pub struct Key([u8; 32]);

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

impl Key {
    /// The key that is made of this text; `None` for a text of fewer than 16 bytes.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        (text.len() >= SHORTEST).then(|| Self(sha256(text.as_bytes())))
    }

    fn code(&self, parts: &[&[u8]]) -> Code {
        let mut code = [0; CODE];
        code.copy_from_slice(&mac(&self.0, &parts.concat())[..CODE]);
        code
    }

    /// The code of a greeting that begins like this.
    pub(crate) fn greeting(&self, before: &[u8]) -> Code {
        self.code(&[b"mimosa proxy greeting", before])
    }

    /// The code of a report of these two parts to the near end with this nonce.
    pub(crate) fn report(&self, nonce: &Nonce, before: &[u8], after: &[u8]) -> Code {
        self.code(&[b"mimosa proxy report", nonce, before, after])
    }
}

/// The near end's part.
#[derive(Debug)]
pub(crate) struct Greeter {
    pub(crate) key: Key,
    pub(crate) nonce: Nonce,
    /// Number of the next greeting, and when that is due.
    next: u64,
    due: Time,
    /// The far end and the number of its newest report.
    newest: Option<(u32, u64)>,
}

impl Greeter {
    pub(crate) const fn new(key: Key, nonce: Nonce) -> Self {
        Self {
            key,
            nonce,
            next: 0,
            due: Time::ZERO,
            newest: None,
        }
    }

    /// When the next greeting is due.
    pub(crate) const fn deadline(&self) -> Time {
        self.due
    }

    /// The number of the greeting that is due at `now`; `is_answered` says whether the far end is heard.
    pub(crate) fn poll(&mut self, now: Time, is_answered: bool) -> Option<u64> {
        if now < self.due {
            return None;
        }
        self.due = now + if is_answered { EVERY } else { EVERY_UNANSWERED };
        self.next += 1;
        Some(self.next)
    }

    /// Whether a report of the far end with this number, whose code is good, is newer than all before it.
    pub(crate) fn is_newer(&mut self, far: u32, number: u64) -> bool {
        let is_newer = self
            .newest
            .is_none_or(|(known, newest)| known != far || number > newest);
        if is_newer {
            self.newest = Some((far, number));
        }
        is_newer
    }
}

/// The far end's part.
#[derive(Debug)]
pub(crate) struct Greeted {
    pub(crate) key: Key,
    /// The near end that has greeted last, and the number of its newest greeting.
    near: Option<(Nonce, u64)>,
    former: VecDeque<Nonce>,
    /// Number of the newest report.
    reports: u64,
}

impl Greeted {
    pub(crate) const fn new(key: Key) -> Self {
        Self {
            key,
            near: None,
            former: VecDeque::new(),
            reports: 0,
        }
    }

    /// The near end to which reports are signed.
    pub(crate) const fn near(&self) -> Option<Nonce> {
        match self.near {
            Some((nonce, _)) => Some(nonce),
            None => None,
        }
    }

    /// The number of the next report.
    pub(crate) const fn number(&mut self) -> u64 {
        self.reports += 1;
        self.reports
    }

    /// Takes a greeting whose code is good. Returns whether it is neither old nor of a former near end.
    pub(crate) fn take(&mut self, nonce: Nonce, number: u64) -> bool {
        match self.near {
            Some((known, newest)) if known == nonce && number <= newest => return false,
            Some((known, _)) if known == nonce => {}
            _ if self.former.contains(&nonce) => return false,
            Some((known, _)) => {
                if self.former.len() >= REMEMBERED {
                    self.former.pop_front();
                }
                self.former.push_back(known);
            }
            None => {}
        }
        self.near = Some((nonce, number));
        true
    }
}

/// Whether two codes are the same.
pub(crate) fn is_same_code(left: &Code, right: &Code) -> bool {
    is_same(left, right)
}
