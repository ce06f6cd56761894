//! A token bucket in front of another queue: lets no more than a rate and a burst pass.
//!
//! Linux's `sch_tbf` and `tc-tbf(8)`. Tokens come in at the rate and are kept up to
//! the burst; a packet leaves when there are tokens for all its bytes. With a peak
//! rate it also needs tokens of a second bucket, which keeps one MTU and so paces
//! the packets that the first bucket would let pass at once.
//!
//! *Deviations.* Tokens are counted exactly, in bits times the nanoseconds of a
//! second, where Linux rounds to nanoseconds. A bucket keeps the tokens of one
//! nanosecond beyond its burst: the times at which a packet may leave are rounded
//! up, and these tokens come in until then, so that nothing is lost to rounding.
//! The next packet is taken out of the inner queue while it waits for tokens, so
//! that the inner queue has room for one more. A packet that is larger than a
//! bucket is dropped on arrival, as in Linux.

use std::fmt::Debug;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::keys::{KeyProblem, Keys, Read};
use crate::packet::Packet;
use crate::queue::{Discipline, DropTailConfig, Queue, QueueConfig, Surroundings, Waiting};

/// Tokens for one bit: the nanoseconds of a second, since a token is what comes in
/// at one bit per second in one nanosecond.
const TOKENS_PER_BIT: i128 = 1_000_000_000;

/// A bucket of tokens, which come in at a rate and are kept up to a burst. It may be overdrawn.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: Rate,
    most: i128,
    least: i128,
    /// The tokens in the bucket at `since`; negative when it was overdrawn.
    tokens: i128,
    since: Time,
}

impl Bucket {
    /// A full bucket. It cannot be overdrawn by more than the tokens that come in during `debt`.
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

    /// Whether there are tokens for `size` bytes at `now`; for zero bytes, whether
    /// the bucket is not overdrawn.
    pub(super) fn has(&self, now: Time, size: Bytes) -> bool {
        self.tokens_at(now) >= tokens_of(size)
    }

    /// When there are tokens for `size` bytes, if none are spent before; [`Time::MAX`] for never.
    pub(super) fn when(&self, size: Bytes) -> Time {
        let missing = tokens_of(size).saturating_sub(self.tokens);
        if missing <= 0 {
            return self.since;
        }
        let rate = i128::from(self.rate.as_bps());
        if rate == 0 {
            return Time::MAX;
        }
        // Both numbers are above zero; the result is rounded up.
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

/// Parameters of a [`TokenBucket`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenBucketConfig {
    /// The mean rate that may pass; at zero, nothing passes after the first burst.
    pub rate: Rate,
    /// Bytes that may pass at once after an idle time; packets that are larger are dropped.
    pub burst: Bytes,
    /// How fast a burst may pass; `None` for at once.
    pub peak: Option<Peak>,
}

/// The peak rate of a [`TokenBucketConfig`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// The highest rate of a burst.
    pub rate: Rate,
    /// Bytes that may pass at once; packets that are larger are dropped.
    pub mtu: Bytes,
}

/// The parameters of a token bucket, and of the queue whose packets it shapes.
#[derive(Clone, Debug, PartialEq)]
pub struct ShaperConfig {
    /// The parameters of the bucket.
    pub bucket: TokenBucketConfig,
    /// The queue in which packets wait for the bucket.
    pub inner: Box<QueueConfig>,
}

impl Discipline for ShaperConfig {
    const NAME: &'static str = "token-bucket";

    fn read(keys: &mut Keys<'_>, around: &Surroundings<'_>) -> Read<Self> {
        let rate: Rate = keys.required("rate", "write e.g. `rate = \"20Mbit/s\"`")?;
        let burst: Bytes = keys.required("burst", "write e.g. `burst = \"5kB\"`")?;
        keys.check("rate", rate > Rate::ZERO, "above zero")?;
        let packet = around.largest;
        let peak = match (keys.given("peak")?, keys.given("mtu")?) {
            (None, None) => None,
            (Some(rate), mtu) => Some(Peak {
                rate,
                mtu: mtu.unwrap_or(packet),
            }),
            (None, Some(_)) => {
                let mend = "an `mtu` is that of a `peak`, e.g. `peak = \"50Mbit/s\"`";
                let problem = KeyProblem::Missing { key: "peak", mend };
                return Err(keys.error_at("mtu", problem));
            }
        };
        let inner = keys.queue("inner", around)?;
        for (key, size) in [
            ("mtu", peak.map_or(packet, |peak| peak.mtu)),
            ("burst", burst),
        ] {
            if size < packet {
                return Err(keys.error_at(key, KeyProblem::SizeBelowPacket { key, size, packet }));
            }
        }
        let plain = || QueueConfig::DropTail(DropTailConfig::default());
        Ok(Self {
            bucket: TokenBucketConfig { rate, burst, peak },
            inner: Box::new(inner.unwrap_or_else(plain)),
        })
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, seed: u64) -> Box<dyn Queue<P>> {
        Box::new(TokenBucket::new(self.bucket, self.inner.build(seed)))
    }

    fn lanes(&self) -> Vec<String> {
        self.inner.lanes()
    }
}

/// The token bucket shaper.
#[derive(Debug)]
pub struct TokenBucket<P> {
    config: TokenBucketConfig,
    sustained: Bucket,
    peak: Option<Bucket>,
    inner: Box<dyn Queue<P>>,
    /// The packet that waits for tokens; it is no longer in the inner queue.
    next: Option<Waiting<P>>,
}

impl<P> TokenBucket<P> {
    /// A shaper with full buckets in front of `inner`.
    #[must_use]
    pub fn new(config: TokenBucketConfig, inner: Box<dyn Queue<P>>) -> Self {
        // The buckets are never overdrawn: packets wait for all of their tokens.
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
mod tests;
