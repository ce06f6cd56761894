//! Datagrams that are not taken: counted, and said in the log at most once a second.

use std::net::SocketAddr;

use mimosa_units::{Time, TimeDelta};

/// The shortest time between two lines of the log.
const SAID_EVERY: TimeDelta = TimeDelta::from_millis(1_000);

/// Counts what is refused.
#[derive(Debug, Default)]
pub(crate) struct Refused {
    count: u64,
    said: Option<Time>,
}

impl Refused {
    /// A datagram from `from` is refused at `now`.
    pub(crate) fn add(&mut self, now: Time, from: SocketAddr, why: &str) {
        self.count += 1;
        if self.said.is_none_or(|said| now.since(said) >= SAID_EVERY) {
            self.said = Some(now);
            tracing::warn!(%from, count = self.count, "datagrams are refused: {why}");
        }
    }
}
