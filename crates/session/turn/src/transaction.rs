//! A request that waits for its answer, and when it is sent again (RFC 8489, section 6.2.1).

use std::net::{IpAddr, SocketAddr};

use mimosa_units::{Time, TimeDelta};

/// The first wait for an answer: the RTO that RFC 8489, section 6.2.1, has for an unknown path.
const FIRST_WAIT: TimeDelta = TimeDelta::from_millis(500);
/// How often a request is sent: Rc of RFC 8489, section 6.2.1.
const MOST_SENDS: u32 = 7;
/// The wait after the last time, in first waits: Rm of RFC 8489, section 6.2.1.
const LAST_WAIT: i64 = 16;

/// What a client asks the relay for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asked {
    /// A relayed address.
    Address,
    /// To keep the relayed address.
    Keep,
    /// To let this address send to the relayed one.
    Permission(IpAddr),
    /// To give this peer this channel.
    Channel(u16, SocketAddr),
}

/// A request that waits for its answer.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) asked: Asked,
    pub(crate) message: Vec<u8>,
    /// Whether the request is signed.
    pub(crate) is_signed: bool,
    /// How often the same was asked before, and answered by a demand to sign it otherwise.
    pub(crate) demands: u32,
    sends: u32,
    next: Time,
}

impl Transaction {
    /// A request that is sent now for the first time.
    pub(crate) fn new(
        now: Time,
        asked: Asked,
        message: Vec<u8>,
        is_signed: bool,
        demands: u32,
    ) -> Self {
        Self {
            asked,
            message,
            is_signed,
            demands,
            sends: 1,
            next: now + FIRST_WAIT,
        }
    }

    /// When to call [`Self::again`].
    pub(crate) const fn next(&self) -> Time {
        self.next
    }

    /// The wait is over. Returns whether the request is to be sent again; if not, nobody answers.
    pub(crate) fn again(&mut self, now: Time) -> bool {
        if self.sends == MOST_SENDS {
            return false;
        }
        let factor = if self.sends + 1 == MOST_SENDS {
            LAST_WAIT
        } else {
            1 << self.sends
        };
        self.sends += 1;
        self.next = now + TimeDelta::from_nanos(FIRST_WAIT.as_nanos() * factor);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 8489, section 6.2.1.
    #[test]
    fn a_request_is_sent_seven_times_within_31_5_s_and_fails_after_39_5_s() {
        let mut transaction = Transaction::new(Time::ZERO, Asked::Address, Vec::new(), false, 0);
        let mut times = vec![0];
        loop {
            let now = transaction.next();
            if !transaction.again(now) {
                assert_eq!(now, Time::from_millis(39_500));
                break;
            }
            times.push(now.as_nanos() / 1_000_000);
        }
        assert_eq!(times, [0, 500, 1_500, 3_500, 7_500, 15_500, 31_500]);
    }
}
