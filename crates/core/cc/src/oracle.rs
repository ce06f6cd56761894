//! The oracle, the bound against which other controllers are measured: it is told the
//! link's rate one feedback delay late, and sends exactly as much as drains in time.
//!
//! There is no source: no real network tells its rate. A simulation or an emulation gives
//! [`Event::Told`] before each frame. From the packets that it sent and the rates that it
//! was told, the oracle computes how much still waits in the network at the time to which
//! the newest told rate belongs; it assumes that this rate holds from then on. A frame has
//! the size that the link carries in the frame's interval, less the data that waits.
//!
//! *Deviations.* None. No frame is smaller than the lowest bitrate makes it, so that frames
//! do not stop. Without [`Event::Told`] the oracle stays at its first bitrate.

use std::collections::VecDeque;

use mimosa_facts::{Cause, Controller, Decision, Event, Evidence, Limits, Pacing};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use serde::Deserialize;

use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::{ParameterError, require};
use crate::send_queue::SendQueue;

/// Name of the oracle, by which simulations and emulations know which controller to tell
/// the rate.
pub const NAME: &str = "oracle";

/// Most sent packets remembered of those that left after the time of the newest told rate:
/// more than leave in a second at 1 Gbit/s.
const MOST_SENT: usize = 1 << 17;

/// Parameters of the oracle.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Share of the told rate that is used, above 0 and at most 1. *Open*: there is no
    /// source, and our default is 1, all of it.
    pub share: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { share: 1.0 }
    }
}

impl Config {
    /// Checks that the share is valid.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] if `share` is not above 0 and at most 1.
    pub fn check(&self) -> Result<(), ParameterError> {
        let is_share = self.share > 0.0 && self.share <= 1.0;
        require(is_share, "share", "above 0 and at most 1")
    }
}

/// The data that waits in the network, as far as it can be known.
#[derive(Debug, Default)]
struct Queue {
    /// The time at which `waits` bytes were waiting.
    known: Time,
    waits: Bytes,
    /// The available rate at `known`, which is assumed to hold from then on.
    rate: Rate,
    /// Departures and sizes of the packets sent after `known`.
    sent: VecDeque<(Time, Bytes)>,
}

impl Queue {
    fn send(&mut self, now: Time, size: Bytes) {
        if self.sent.len() == MOST_SENT {
            self.sent.pop_front();
        }
        self.sent.push_back((now, size));
    }

    /// Takes the available rate at the time `at`, and its mean from `known` until then.
    fn tell(&mut self, at: Time, rate: Rate, mean: Rate) {
        self.rate = mean;
        let (waits, passed) = self.at(at);
        self.sent.drain(..passed);
        self.known = self.known.max(at);
        self.waits = waits;
        self.rate = rate;
    }

    /// Returns the bytes that wait at the time `at`, and how many of the packets in `sent`
    /// left by then.
    fn at(&self, at: Time) -> (Bytes, usize) {
        let (mut waits, mut from, mut passed) = (self.waits, self.known, 0);
        for (sent, size) in self.sent.iter().take_while(|(sent, _)| *sent <= at) {
            waits = waits - self.rate.amount_in(sent.since(from)) + *size;
            from = from.max(*sent);
            passed += 1;
        }
        let left = waits - self.rate.amount_in(at.since(from));
        (left, passed)
    }
}

/// A controller that is told the available rate.
#[derive(Debug)]
pub struct Oracle {
    config: Config,
    limits: Limits,
    decision: Decision,
    queue: Queue,
    unsent: SendQueue,
    is_told: bool,
}

impl Oracle {
    /// An oracle that has not been told any rate.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        Self {
            config,
            limits,
            decision: Decision::starting_at(limits.start()),
            queue: Queue::default(),
            unsent: SendQueue::default(),
            is_told: false,
        }
    }

    fn told(&mut self, now: Time, (rate, mean): (Rate, Rate), age: TimeDelta) {
        self.queue.tell(now - age, rate, mean);
        self.is_told = true;
        let used = rate.scale(self.config.share);
        self.decision.target = self.limits.clamp(used);
        self.decision.pacing = Pacing::Bucket {
            // In an outage nothing is gained by holding back packets.
            rate: used.max(self.limits.min()),
            burst: Bytes::ZERO,
        };
    }

    fn due(&mut self, now: Time, interval: TimeDelta) {
        if !self.is_told {
            return;
        }
        let used = self.queue.rate.scale(self.config.share);
        let waits = self.queue.at(now).0 + self.unsent.bytes();
        let least = self.limits.min().amount_in(interval);
        let most = self.decision.target.amount_in(interval);
        let drains = used.amount_in(interval) - waits;
        self.decision.frame_limit = Some(drains.clamp(least.min(most), most));
        self.decision.cause = if waits > Bytes::ZERO {
            Cause::Drain
        } else if self.decision.target == self.limits.max() {
            Cause::AtMaximum
        } else {
            Cause::Told
        };
        self.decision.evidence = Evidence {
            service_rate: Some(self.queue.rate),
            backlog: Some(waits),
            ..Evidence::NONE
        };
    }
}

impl Named for Oracle {
    const NAME: &'static str = NAME;
    const NEEDS: Needs = Needs::by_arrivals(
        Reports::Never,
        Arrivals::Nothing,
        "it is told of the link itself",
    );
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for Oracle {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::Told { rate, mean, age } => self.told(now, (rate, mean), age),
            Event::FrameDue { interval, .. } => self.due(now, interval),
            Event::FrameBegun {
                frame,
                size,
                packets,
            }
            | Event::FrameEncoded {
                frame,
                size,
                packets,
            } => self.unsent.push(now, frame, size, packets),
            Event::FrameGivenUp { frame } => self.unsent.given_up(frame),
            Event::PacketSent(packet) => {
                self.queue.send(packet.sent, packet.size);
                self.unsent.sent(&packet);
            }
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{FrameId, PacketKind, SentPacket, Sequence};

    use super::*;

    const L: TimeDelta = TimeDelta::from_millis(10);

    fn mbps(mbps: u64) -> Rate {
        Rate::from_kbps(mbps * 1_000)
    }

    fn oracle() -> Oracle {
        Oracle::new(Config::default(), Limits::new(mbps(1), mbps(5), mbps(50)))
    }

    fn sent(frame: u64, ms: u64, size: u64) -> Event<'static> {
        Event::PacketSent(SentPacket {
            sequence: Sequence(0),
            frame: FrameId(frame),
            kind: PacketKind::Media,
            size: Bytes::new(size),
            sent: Time::from_millis(ms),
        })
    }

    fn due(oracle: &mut Oracle, ms: u64) -> Option<Bytes> {
        let frame = FrameId(ms);
        let event = Event::FrameDue { frame, interval: L };
        oracle.handle(Time::from_millis(ms), event).frame_limit
    }

    fn tell(oracle: &mut Oracle, ms: u64, rate: Rate, mean: Rate) {
        let age = TimeDelta::from_millis(20);
        oracle.handle(Time::from_millis(ms), Event::Told { rate, mean, age });
    }

    #[test]
    fn untold_it_stays_where_it_began() {
        let mut oracle = oracle();
        assert_eq!(due(&mut oracle, 10), None);
        assert_eq!(oracle.decision().target, mbps(5));
    }

    #[test]
    fn a_frame_is_what_drains_until_the_next() {
        let mut oracle = oracle();
        tell(&mut oracle, 100, mbps(8), mbps(8));
        // The link carries 1000 bytes in a millisecond.
        assert_eq!(due(&mut oracle, 100), Some(Bytes::new(10_000)));
        assert_eq!(oracle.decision().cause, Cause::Told);
        oracle.handle(Time::from_millis(100), sent(0, 100, 14_000));
        tell(&mut oracle, 110, mbps(8), mbps(8));
        // Of the 14,000 bytes, 4,000 still wait.
        assert_eq!(due(&mut oracle, 110), Some(Bytes::new(6_000)));
        assert_eq!(oracle.decision().cause, Cause::Drain);
        assert_eq!(oracle.decision().evidence.backlog, Some(Bytes::new(4_000)));
    }

    #[test]
    fn a_fall_counts_from_when_it_was() {
        let mut oracle = oracle();
        tell(&mut oracle, 100, mbps(8), mbps(8));
        for ms in [100, 110, 120] {
            oracle.handle(Time::from_millis(ms), sent(0, ms, 10_000));
            tell(&mut oracle, ms, mbps(8), mbps(8));
            due(&mut oracle, ms);
        }
        // The rate fell to an eighth by 110 ms: of the 10,000 bytes sent before, 3,000
        // still waited then, and of the 20,000 sent since, the link has carried 2,500.
        tell(&mut oracle, 130, mbps(1), Rate::from_kbps(5_600));
        due(&mut oracle, 130);
        let backlog = oracle.decision().evidence.backlog;
        assert_eq!(backlog, Some(Bytes::new(20_500)));
        // No frame is smaller than the lowest bitrate makes it.
        assert_eq!(oracle.decision().frame_limit, Some(Bytes::new(1_250)));
    }

    #[test]
    fn what_has_not_left_counts_until_it_is_given_up() {
        let mut oracle = oracle();
        tell(&mut oracle, 100, mbps(8), mbps(8));
        let encoded = Event::FrameEncoded {
            frame: FrameId(4),
            size: Bytes::new(3_000),
            packets: 3,
        };
        oracle.handle(Time::from_millis(100), encoded);
        assert_eq!(due(&mut oracle, 110), Some(Bytes::new(7_000)));
        oracle.handle(
            Time::from_millis(110),
            Event::FrameGivenUp { frame: FrameId(4) },
        );
        assert_eq!(due(&mut oracle, 110), Some(Bytes::new(10_000)));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for share in [0.0, -1.0, 1.1, f64::NAN] {
            assert!(Config { share }.check().is_err(), "{share}");
        }
        assert!(Config::default().check().is_ok());
    }
}
