//! ACE-N's bucket (X. Huang et al.: *ACE: Sending Burstiness Control for High-Quality
//! Real-time Communication*, SIGCOMM 2025, section 4.1 and algorithm 1).
//!
//! Tokens come at the controller's target; how many the bucket holds adapts to the queue in
//! the network, by frames: it grows by a step while the queue is short, returns at once to
//! what was harmless when a queue has gone, loses the excess of a queue above a threshold, and
//! half with a loss. It does not grow beyond the frame before.
//!
//! *Readings.* A decision is made as a frame is due, at most once in a smoothed round trip:
//! before that the last one cannot be seen. A recovery ends one spell of reductions, begun by
//! a threshold or a loss; without one there is nothing to recover, and the bucket grows by
//! steps. It never reduces. The queue just before a loss is the longest that a packet met in
//! the last two round trips. Losses of packets that had left before the last halving belong to
//! the same event. The paper multiplies the round trip by the capacity; it is the queue's
//! delay that makes a queue.

mod capacity;
mod config;
mod round_trip;
#[cfg(test)]
mod tests;

pub use config::Config;

use mimosa_facts::{
    BucketCause, BucketChange, Decision, Event, Pacing, PacketOutcome, PacketReport,
};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use capacity::Capacity;
use round_trip::RoundTrips;

/// The state of ACE-N's pacer.
#[derive(Debug)]
pub struct AceN {
    config: Config,
    round_trips: RoundTrips,
    capacity: Capacity,
    interval: TimeDelta,
    previous_frame: Bytes,
    depth: Bytes,
    /// The current decision about the bucket; `None` before the first frame.
    change: Option<BucketChange>,
    /// When the bucket was last adapted to the queue.
    adapted: Time,
    /// Whether any packet report has come since the bucket was last adapted.
    has_news: bool,
    /// Whether the bucket was reduced and has not recovered.
    is_reduced: bool,
    /// Depth of the bucket when the queue was last empty and nothing had to be recovered.
    historical: Option<Bytes>,
    /// The queue just before the last loss.
    recent: Option<Bytes>,
    halved: Option<Time>,
}

/// The queue in the network as a decision sees it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    capacity: Rate,
    delay: Option<TimeDelta>,
    queue: Option<Bytes>,
}

impl AceN {
    pub(crate) const fn new(config: Config) -> Self {
        Self {
            round_trips: RoundTrips::new(&config),
            capacity: Capacity::new(),
            config,
            interval: TimeDelta::ZERO,
            previous_frame: Bytes::ZERO,
            depth: Bytes::ZERO,
            change: None,
            adapted: Time::ZERO,
            has_news: false,
            is_reduced: false,
            historical: None,
            recent: None,
            halved: None,
        }
    }

    pub(crate) fn handle(&mut self, now: Time, event: &Event<'_>, decision: &Decision) {
        match event {
            Event::FrameDue { interval, .. } => self.frame_due(now, *interval, decision.target),
            Event::FrameEncoded { size, .. } => self.previous_frame = *size,
            Event::Feedback { reports, .. } => self.feedback(now, reports, decision.target),
            _ => {}
        }
    }

    /// The current decision about the bucket's depth.
    pub(crate) const fn change(&self) -> Option<BucketChange> {
        self.change
    }

    pub(crate) fn pacing(&self, target: Rate) -> Pacing {
        Pacing::Bucket {
            rate: target.scale(self.config.fill),
            burst: self.depth,
        }
    }

    fn frame_due(&mut self, now: Time, interval: TimeDelta, target: Rate) {
        self.interval = interval.max(TimeDelta::ZERO);
        if self.change.is_none() {
            let frame = target.amount_in(self.interval);
            self.depth = frame.scale(self.config.initial_frames);
            self.decide(now, BucketCause::Start, self.standing(target));
            return;
        }
        let round = self.round_trips.smoothed();
        if round.is_none_or(|round| now.since(self.adapted) < round) {
            return;
        }
        let seen = self.standing(target);
        if !std::mem::take(&mut self.has_news) {
            self.decide(now, BucketCause::AwaitFeedback, seen);
            return;
        }
        self.adapted = now;
        let cause = self.adapt(seen.queue.unwrap_or(Bytes::ZERO));
        self.decide(now, cause, seen);
    }

    /// Algorithm 1, except for losses.
    fn adapt(&mut self, queue: Bytes) -> BucketCause {
        let threshold = self.config.packets(self.config.threshold);
        if queue > threshold {
            self.depth -= queue - threshold;
            self.is_reduced = true;
            return BucketCause::QueueThreshold;
        }
        let is_empty = queue < self.config.packet;
        let cause = if self.depth > self.previous_frame {
            BucketCause::ApplicationLimited
        } else if self.is_reduced && is_empty && self.historical.is_some() {
            let historical = self.historical.unwrap_or(Bytes::ZERO);
            let safe = self
                .recent
                .map_or(historical, |recent| recent.scale(self.config.alpha));
            self.depth = self.depth.max(historical.min(safe));
            self.is_reduced = false;
            BucketCause::FastRecovery
        } else {
            self.depth += self.config.packets(self.config.step);
            BucketCause::AdditiveIncrease
        };
        if is_empty && !self.is_reduced {
            self.historical = Some(self.depth);
        }
        cause
    }

    fn feedback(&mut self, now: Time, reports: &[PacketReport], target: Rate) {
        let mut is_lost = false;
        for PacketReport { packet, outcome } in reports {
            match outcome {
                PacketOutcome::Arrived { at, .. } => {
                    self.has_news = true;
                    let rtt = now.since(packet.sent);
                    self.round_trips.add(now, rtt, self.interval, &self.config);
                    self.capacity.arrived(packet, *at, &self.config);
                }
                PacketOutcome::Lost => is_lost |= self.halved.is_none_or(|at| packet.sent > at),
            }
        }
        if is_lost && self.change.is_some() {
            let delay = self.round_trips.peak_queue();
            let seen = self.seen(target, Some(delay));
            self.recent = seen.queue;
            self.depth = self.depth.scale(0.5);
            self.is_reduced = true;
            self.halved = Some(now);
            self.decide(now, BucketCause::Loss, seen);
        }
    }

    fn standing(&self, target: Rate) -> Seen {
        self.seen(target, self.round_trips.standing_queue())
    }

    fn seen(&self, target: Rate, delay: Option<TimeDelta>) -> Seen {
        let capacity = self.capacity.rate().unwrap_or(target);
        Seen {
            capacity,
            delay,
            queue: delay.map(|delay| capacity.amount_in(delay)),
        }
    }

    fn decide(&mut self, at: Time, cause: BucketCause, seen: Seen) {
        self.change = Some(BucketChange {
            at,
            depth: self.depth,
            cause,
            queue_delay: seen.delay,
            capacity: seen.capacity,
            queue: seen.queue,
        });
    }
}
