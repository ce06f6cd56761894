//! Delivers the messages of a channel.
//!
//! A message on a lossy channel is sent once. A message on a reliable channel is sent again until
//! it is acknowledged, and messages are handed out in order.
//!
//! **Source.** The properties are those of WebRTC's data channels (RFC 8831, section 6.6). The rule
//! is the simplest one that has them: after a fixed time, which doubles, send again from the oldest
//! message without an acknowledgement.

use std::collections::{BTreeMap, VecDeque};

use mimosa_units::{Time, TimeDelta};

/// First wait for an acknowledgement. Our choice: longer than most round trips. Neither this wait
/// nor one of its doubles is a multiple of a frame's interval at 30, 60, 90 or 120 frames a second:
/// messages are not sent again and again just when a frame fills the queue.
const FIRST_WAIT: TimeDelta = TimeDelta::from_millis(97);
/// Longest wait for an acknowledgement.
const LONGEST_WAIT: TimeDelta = TimeDelta::from_millis(776);
/// Most messages that wait for an acknowledgement, and most that are kept because they came early.
const MOST: usize = 1_024;

/// The sending end of a reliable channel.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    next: u32,
    waiting: VecDeque<(u32, Vec<u8>)>,
    wait: TimeDelta,
    again: Option<Time>,
}

impl Outbox {
    /// Takes a message to send, and returns its number; `None` while too many wait.
    pub(super) fn push(&mut self, message: &[u8]) -> Option<u32> {
        if self.waiting.len() >= MOST {
            return None;
        }
        let number = self.next;
        self.next += 1;
        self.waiting.push_back((number, message.to_vec()));
        Some(number)
    }

    /// Starts the wait for an acknowledgement, if none runs.
    pub(super) fn sent(&mut self, now: Time) {
        if self.again.is_none() {
            self.wait = FIRST_WAIT;
            self.again = Some(now + self.wait);
        }
    }

    /// Notes that all messages before `next` have arrived.
    pub(super) fn acknowledged(&mut self, now: Time, next: u32) {
        let before = self.waiting.len();
        while self
            .waiting
            .pop_front_if(|(number, _)| *number < next)
            .is_some()
        {}
        if self.waiting.len() < before {
            self.wait = FIRST_WAIT;
            self.again = (!self.waiting.is_empty()).then_some(now + self.wait);
        }
    }

    /// Whether a message has no acknowledgement yet.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// When to send messages again.
    pub(super) fn deadline(&self) -> Time {
        self.again.unwrap_or(Time::MAX)
    }

    /// The messages to send again, if the time for it has come.
    pub(super) fn due(&mut self, now: Time) -> impl Iterator<Item = &(u32, Vec<u8>)> {
        let is_due = self.again.is_some_and(|at| at <= now);
        if is_due {
            self.wait = (self.wait * 2).min(LONGEST_WAIT);
            self.again = Some(now + self.wait);
        }
        self.waiting.iter().filter(move |_| is_due)
    }
}

/// The receiving end of a reliable channel.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    next: u32,
    early: BTreeMap<u32, Vec<u8>>,
}

impl Inbox {
    /// Takes a message that came, and returns those that are next in order.
    pub(super) fn take(&mut self, number: u32, message: &[u8]) -> Vec<Vec<u8>> {
        if number >= self.next && self.early.len() < MOST {
            self.early.insert(number, message.to_vec());
        }
        let mut ready = Vec::new();
        while let Some(message) = self.early.remove(&self.next) {
            self.next += 1;
            ready.push(message);
        }
        ready
    }

    /// The number of the first message that has not come.
    pub(super) const fn next(&self) -> u32 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_once_and_in_order_though_any_are_lost() {
        let (mut out, mut into) = (Outbox::default(), Inbox::default());
        let mut now = Time::from_secs(1);
        let mut heard = Vec::new();
        // Every third datagram is lost, in both directions.
        let mut count = 0_u32;
        let mut arrives = || {
            count += 1;
            !count.is_multiple_of(3)
        };
        for number in 0..40_u8 {
            let sent = out.push(&[number]).unwrap();
            out.sent(now);
            if arrives() {
                heard.extend(into.take(sent, &[number]));
            }
        }
        for _ in 0..60 {
            now = out.deadline().min(now + TimeDelta::from_millis(1_000));
            let again: Vec<_> = out.due(now).cloned().collect();
            for (number, message) in again {
                if arrives() {
                    heard.extend(into.take(number, &message));
                }
            }
            if arrives() {
                out.acknowledged(now, into.next());
            }
        }
        let expected: Vec<_> = (0..40).map(|number| vec![number]).collect();
        assert_eq!(heard, expected);
        assert_eq!(out.deadline(), Time::MAX, "nothing waits");
    }

    #[test]
    fn memory_is_bounded() {
        let (mut out, mut into) = (Outbox::default(), Inbox::default());
        assert_eq!(
            (0..5_000).filter(|_| out.push(&[0]).is_some()).count(),
            MOST
        );
        for number in 1..5_000 {
            assert!(into.take(number, &[0]).is_empty(), "the first is missing");
        }
        assert_eq!(into.early.len(), MOST);
    }
}
