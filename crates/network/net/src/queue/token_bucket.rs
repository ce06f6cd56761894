//! A token bucket in front of another queue: no more than a rate and a burst.
//!
//! Linux's `sch_tbf`, `tc-tbf(8)`. Tokens come in at the rate and are kept up to
//! the burst; a packet leaves when there are as many tokens as it has bytes. With a
//! peak rate it needs tokens of a second bucket too, which keeps one MTU and
//! paces what the first would let through at once.
//!
//! *Deviations.* Tokens are counted exactly, in bits times the nanoseconds of a
//! second, where Linux rounds to nanoseconds. A bucket keeps one nanosecond's
//! worth above its burst: times at which a packet may go are rounded up, and this
//! is what comes in by then, so that nothing is lost to rounding. The packet that
//! is next is taken out of the inner queue while it waits for tokens, so that the
//! inner queue has room for one more. A packet that no bucket could ever pay for is
//! dropped on arrival, as in Linux.

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::{Queue, Waiting};

/// Tokens in a bit: the nanoseconds of a second, as a token is what comes in at
/// one bit per second in one nanosecond.
const TOKENS_PER_BIT: i128 = 1_000_000_000;

/// Tokens that come in at a rate, kept up to a burst. It may be overdrawn.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    most: i128,
    least: i128,
    /// Tokens there were at `since`.
    tokens: i128,
    since: Time,
}

impl Bucket {
    /// A full bucket, which cannot be overdrawn by more than what comes in during
    /// `debt`.
    pub(super) fn full(rate: Rate, burst: Bytes, debt: TimeDelta) -> Self {
        let tokens = tokens_of(burst);
        Self {
            rate,
            most: tokens + i128::from(rate.as_bps()),
            least: -income(rate, debt),
            tokens,
            since: Time::ZERO,
        }
    }

    /// Whether there are tokens for `size` bytes at `now`; for none, whether the
    /// bucket is not overdrawn.
    pub(super) fn has(&self, now: Time, size: Bytes) -> bool {
        self.tokens_at(now) >= tokens_of(size)
    }

    /// When there are tokens for `size` bytes, if none are spent before.
    pub(super) fn when(&self, size: Bytes) -> Time {
        let missing = tokens_of(size).saturating_sub(self.tokens);
        if missing <= 0 {
            return self.since;
        }
        let rate = i128::from(self.rate.as_bps());
        if rate == 0 {
            return Time::MAX;
        }
        // Both are above zero: rounded up.
        let nanos = i64::try_from((missing - 1) / rate + 1).unwrap_or(i64::MAX);
        self.since + TimeDelta::from_nanos(nanos)
    }

    /// Spends tokens for `size` bytes at `now`.
    pub(super) fn spend(&mut self, now: Time, size: Bytes) {
        let left = self.tokens_at(now).saturating_sub(tokens_of(size));
        self.tokens = left.max(self.least);
        self.since = self.since.max(now);
    }

    fn tokens_at(&self, now: Time) -> i128 {
        self.tokens
            .saturating_add(income(self.rate, now.since(self.since)))
            .min(self.most)
    }
}

fn tokens_of(size: Bytes) -> i128 {
    i128::from(size.get()) * 8 * TOKENS_PER_BIT
}

fn income(rate: Rate, time: TimeDelta) -> i128 {
    i128::from(rate.as_bps()) * i128::from(time.as_nanos())
}

/// How a [`TokenBucket`] is set up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucketConfig {
    /// The rate in the long run; at zero, nothing passes after the first burst.
    pub rate: Rate,
    /// Bytes that pass at once after idling; larger packets never do.
    pub burst: Bytes,
    /// How fast a burst may pass; `None`: at once.
    pub peak: Option<Peak>,
}

/// The peak of a [`TokenBucketConfig`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The rate of a burst.
    pub rate: Rate,
    /// Bytes that pass at once; larger packets never do.
    pub mtu: Bytes,
}

/// The token bucket shaper.
#[derive(Debug)]
pub struct TokenBucket<P> {
    config: TokenBucketConfig,
    sustained: Bucket,
    peak: Option<Bucket>,
    inner: Box<dyn Queue<P>>,
    /// The packet that waits for tokens.
    next: Option<Waiting<P>>,
}

impl<P> TokenBucket<P> {
    /// A shaper with full buckets in front of `inner`.
    #[must_use]
    pub fn new(config: TokenBucketConfig, inner: Box<dyn Queue<P>>) -> Self {
        // Never overdrawn: packets wait for all of their tokens.
        let full = |rate, burst| Bucket::full(rate, burst, TimeDelta::ZERO);
        Self {
            config,
            sustained: full(config.rate, config.burst),
            peak: config.peak.map(|peak| full(peak.rate, peak.mtu)),
            inner,
            next: None,
        }
    }

    fn passes_ever(&self, size: Bytes) -> bool {
        size <= self.config.burst && self.config.peak.is_none_or(|peak| size <= peak.mtu)
    }

    fn buckets(&mut self) -> impl Iterator<Item = &mut Bucket> {
        std::iter::once(&mut self.sustained).chain(&mut self.peak)
    }
}

impl<P: Packet + Debug + Send> Queue<P> for TokenBucket<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        if self.passes_ever(packet.size()) {
            self.inner.enqueue(now, packet, dropped);
        } else {
            dropped.push(packet);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        if self.next.is_none() {
            self.next = self.inner.dequeue(now, dropped);
        }
        let size = self.next.as_ref()?.packet.size();
        if !self.buckets().all(|bucket| bucket.has(now, size)) {
            return None;
        }
        self.buckets().for_each(|bucket| bucket.spend(now, size));
        self.next.take()
    }

    fn backlog(&self) -> Bytes {
        let next = self.next.as_ref().map(|next| next.packet.size());
        self.inner.backlog() + next.unwrap_or(Bytes::ZERO)
    }

    fn len(&self) -> usize {
        self.inner.len() + usize::from(self.next.is_some())
    }

    fn ready(&self, now: Time) -> Time {
        let Some(next) = &self.next else {
            return self.inner.ready(now);
        };
        let when = |bucket: &Bucket| bucket.when(next.packet.size());
        let peak = self.peak.as_ref().map_or(Time::ZERO, when);
        when(&self.sustained).max(peak).max(now)
    }

    fn lane(&self, packet: &P) -> usize {
        self.inner.lane(packet)
    }

    fn rate_changed(&mut self, rate: Rate) {
        self.inner.rate_changed(rate.min(self.config.rate));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Random;
    use crate::link::Link;
    use crate::packet::TestPacket;
    use crate::queue::{DropTail, Limit};
    use crate::schedule::Schedule;

    fn shaper(config: TokenBucketConfig, limit: Limit) -> TokenBucket<TestPacket> {
        TokenBucket::new(config, Box::new(DropTail::new(limit)))
    }

    /// Takes the next packet at the first moment at which it may go.
    fn next(queue: &mut TokenBucket<TestPacket>, now: &mut Time) -> Option<TestPacket> {
        let mut dropped = Vec::new();
        loop {
            if let Some(waiting) = queue.dequeue(*now, &mut dropped) {
                return Some(waiting.packet);
            }
            let ready = queue.ready(*now);
            assert!(ready > *now, "nothing came, so it is later");
            if ready == Time::MAX {
                return None;
            }
            *now = ready;
        }
    }

    /// At 7 Mbit/s no packet of 1250 bytes takes a whole number of nanoseconds.
    #[test]
    fn a_million_packets_do_not_drift() {
        let config = TokenBucketConfig {
            rate: Rate::from_kbps(7_000),
            burst: Bytes::new(1_250),
            peak: None,
        };
        let mut queue = shaper(config, Limit::Unlimited);
        let (mut now, mut dropped) = (Time::ZERO, Vec::new());
        queue.enqueue(now, TestPacket::sized(1_250), &mut dropped);
        for number in 0..1_000_000_u64 {
            queue.enqueue(now, TestPacket::sized(1_250), &mut dropped);
            next(&mut queue, &mut now).expect("one waits");
            let due = (number * 10_000 * 1_000).div_ceil(7);
            assert_eq!(now.as_nanos(), due, "packet {number}");
        }
        assert!(dropped.is_empty());
    }

    #[test]
    fn a_burst_passes_after_idling_and_no_more() {
        let config = TokenBucketConfig {
            rate: Rate::from_kbps(8_000), // 1000 bytes a millisecond
            burst: Bytes::new(5_000),
            peak: None,
        };
        let mut queue = shaper(config, Limit::Unlimited);
        let mut dropped = Vec::new();
        for begin in [0, 3, 1_000] {
            let mut now = Time::from_millis(begin);
            for _ in 0..8 {
                queue.enqueue(now, TestPacket::sized(1_000), &mut dropped);
            }
            let mut times = Vec::new();
            while next(&mut queue, &mut now).is_some() {
                // To a microsecond, for the nanosecond above the burst.
                let after = now - Time::from_millis(begin);
                times.push((after.as_nanos() + 1) / 1_000);
            }
            let expected = match begin {
                // Three milliseconds after the first burst, all of which is owed.
                3 => [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000],
                _ => [0, 0, 0, 0, 0, 1_000, 2_000, 3_000],
            };
            assert_eq!(times, expected, "from {begin} ms on");
        }
    }

    #[test]
    fn a_peak_paces_the_burst() {
        let config = TokenBucketConfig {
            rate: Rate::from_kbps(8_000),
            burst: Bytes::new(4_000),
            peak: Some(Peak {
                rate: Rate::from_kbps(16_000),
                mtu: Bytes::new(1_000),
            }),
        };
        let mut queue = shaper(config, Limit::Unlimited);
        let (mut now, mut dropped) = (Time::ZERO, Vec::new());
        for _ in 0..10 {
            queue.enqueue(now, TestPacket::sized(1_000), &mut dropped);
        }
        queue.enqueue(now, TestPacket::sized(1_001), &mut dropped);
        assert_eq!(dropped, [TestPacket::sized(1_001)], "it could never pass");
        let mut times = Vec::new();
        while next(&mut queue, &mut now).is_some() {
            times.push(now.as_secs() * 1e3);
        }
        // Half a millisecond apart until the burst and what came in is spent.
        assert_eq!(times, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0]);
    }

    /// Ten milliseconds are ten packets at the shaper's rate.
    #[test]
    fn a_limit_in_time_is_at_the_shapers_rate() {
        let config = TokenBucketConfig {
            rate: Rate::from_kbps(8_000),
            burst: Bytes::new(1_000),
            peak: None,
        };
        let mut queue = shaper(config, Limit::Time(TimeDelta::from_millis(10)));
        queue.rate_changed(Rate::from_kbps(100_000));
        let mut dropped = Vec::new();
        for _ in 0..20 {
            queue.enqueue(Time::ZERO, TestPacket::sized(1_000), &mut dropped);
        }
        assert_eq!(queue.len(), 10);
    }

    #[test]
    fn a_link_behind_it_serves_at_its_rate() {
        let config = TokenBucketConfig {
            rate: Rate::from_kbps(3_000),
            burst: Bytes::new(3_000),
            peak: None,
        };
        let mut link = Link::new(
            Box::new(shaper(config, Limit::Packets(10))),
            Schedule::constant(Rate::from_kbps(100_000)),
        );
        let (mut dropped, mut bytes) = (Vec::new(), 0);
        for tenths in 0..100_000_u64 {
            let now = Time::from_nanos(tenths * 100_000);
            while let Some(served) = link.poll(now, &mut dropped) {
                bytes += served.packet.size;
            }
            link.offer(now, TestPacket::sized(1_000), &mut dropped);
        }
        // Ten seconds at the rate and the burst, to a packet.
        assert!((3_751_000..3_753_001).contains(&bytes), "{bytes}");
    }

    #[test]
    fn every_packet_comes_back_once() {
        for seed in 0..20 {
            let mut random = Random::new(seed, "token bucket");
            let config = TokenBucketConfig {
                rate: Rate::from_kbps(5_000),
                burst: Bytes::new(1_400),
                peak: (seed % 2 == 0).then_some(Peak {
                    rate: Rate::from_kbps(9_000),
                    mtu: Bytes::new(1_300),
                }),
            };
            let mut queue = shaper(config, Limit::Packets(20));
            let (mut back, mut dropped) = (Vec::new(), Vec::new());
            let (mut offered, mut waiting) = (0, 0);
            for millis in 0..2_000 {
                let now = Time::from_millis(millis);
                if random.chance(0.9) {
                    let size = Bytes::from_f64(40.0 + random.uniform() * 1_460.0).get();
                    let packet = TestPacket {
                        number: offered,
                        ..TestPacket::sized(size)
                    };
                    let before = dropped.len();
                    queue.enqueue(now, packet, &mut dropped);
                    offered += 1;
                    if dropped.len() == before {
                        waiting += packet.size;
                    }
                }
                if let Some(next) = queue.dequeue(now, &mut dropped) {
                    waiting -= next.packet.size;
                    back.push(next.packet);
                }
                assert_eq!(queue.backlog(), Bytes::new(waiting), "with the held one");
                let accounted = queue.len() + back.len() + dropped.len();
                assert_eq!(accounted as u64, offered);
            }
            let mut now = Time::from_secs(2);
            while let Some(packet) = next(&mut queue, &mut now) {
                back.push(packet);
            }
            assert!(!dropped.is_empty() && back.len() > 300, "seed {seed}");
            let mut numbers: Vec<_> = back.iter().chain(&dropped).map(|p| p.number).collect();
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..offered), "seed {seed}");
        }
    }
}
