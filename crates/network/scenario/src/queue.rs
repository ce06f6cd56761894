//! The queue before the bottleneck: `queue` and `class` of `[link]`.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::ops::{Range, RangeInclusive};

use mimosa_net::Packet;
use mimosa_net::queue::{
    ClassId, Codel, CodelConfig, DropTail, DualPi2, DualPi2Config, FqCodel, FqCodelConfig, Htb,
    HtbConfig, Limit, Native, Overload, Peak, Pie, PieConfig, Queue, Scheduler, Sfq, SfqConfig,
    TokenBucket, TokenBucketConfig,
};
use mimosa_units::{Bytes, Rate, TimeDelta};
use toml::Spanned;

use super::error::Problem;
use super::parse::{Read, Reader};
use super::raw;

/// Most packets that a limit may state: what a gigabyte of memory holds.
pub(super) const MOST_PACKETS: usize = 1_000_000;
/// Most queues that flows may be hashed into.
const MOST_FLOWS: usize = 65_536;

/// Which queue, and how it is set up.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueConfig {
    /// First in, first out, full at `limit`.
    DropTail {
        /// How much it holds.
        limit: Limit,
    },
    /// RFC 8289.
    Codel(CodelConfig),
    /// RFC 8290.
    FqCodel(FqCodelConfig),
    /// RFC 8033.
    Pie(PieConfig),
    /// RFC 9332.
    DualPi2(DualPi2Config),
    /// Stochastic fairness queueing.
    Sfq(SfqConfig),
    /// A shaper before another queue.
    TokenBucket(TokenBucketConfig, Box<Self>),
    /// Classes, the queues of some of them, and their names, the first that of what has
    /// no class.
    Htb(HtbConfig, BTreeMap<ClassId, Self>, Vec<String>),
}

impl QueueConfig {
    /// Names of the queues within it, by their numbers; see [`Queue::lane`].
    #[must_use]
    pub fn lanes(&self) -> Vec<String> {
        let names: &[&str] = match self {
            Self::DropTail { .. } => &["droptail"],
            Self::Codel(_) => &["codel"],
            Self::FqCodel(_) => &["fq-codel"],
            Self::Pie(_) => &["pie"],
            Self::DualPi2(_) => &["l4s", "classic"],
            Self::Sfq(_) => &["sfq"],
            Self::TokenBucket(_, inner) => return inner.lanes(),
            Self::Htb(_, _, names) => return names.clone(),
        };
        names.iter().map(|&name| name.to_owned()).collect()
    }

    /// The queue itself; its chances are those of `seed`.
    #[must_use]
    pub fn build<P: Packet + Debug + Send + 'static>(&self, seed: u64) -> Box<dyn Queue<P>> {
        match self {
            Self::DropTail { limit } => Box::new(DropTail::new(*limit)),
            Self::Codel(config) => Box::new(Codel::new(*config)),
            Self::FqCodel(config) => Box::new(FqCodel::new(*config)),
            Self::Pie(config) => Box::new(Pie::new(*config, seed)),
            Self::DualPi2(config) => Box::new(DualPi2::new(*config, seed)),
            Self::Sfq(config) => Box::new(Sfq::new(*config)),
            Self::TokenBucket(config, inner) => {
                Box::new(TokenBucket::new(*config, inner.build(seed)))
            }
            Self::Htb(config, queues, _) => {
                let queues = queues
                    .iter()
                    .map(|(class, queue)| (*class, queue.build(seed)))
                    .collect();
                match Htb::new(config, queues) {
                    Ok(htb) => Box::new(htb),
                    // Reading has checked it; a tree that is none shapes nothing.
                    Err(_) => Box::new(DropTail::new(Limit::Packets(config.direct_limit))),
                }
            }
        }
    }
}

/// What `queue` needs to know beside itself.
pub(super) struct Surroundings<'a> {
    pub(super) link: &'a raw::Link,
    /// Size of the scenario's largest packet.
    pub(super) largest: Bytes,
    /// Names of the flows, in order.
    pub(super) flows: &'a [String],
}

impl Reader<'_> {
    /// The link's queue.
    pub(super) fn queue(&self, around: &Surroundings<'_>) -> Read<QueueConfig> {
        let Some(queue) = &around.link.queue else {
            if let Some(classes) = &around.link.class {
                let problem = Problem::KeyNotFor {
                    key: "class",
                    kind: "a link whose queue is not of kind \"htb\"",
                };
                return Err(self.error(classes.span(), problem));
            }
            // As the scenario form of the documentation has it.
            return Ok(QueueConfig::DropTail {
                limit: Limit::Bytes(Bytes::new(500_000)),
            });
        };
        self.one_queue(queue.get_ref(), queue.span(), around)
    }

    /// Any queue.
    pub(super) fn one_queue(
        &self,
        raw: &raw::Queue,
        at: Range<usize>,
        around: &Surroundings<'_>,
    ) -> Read<QueueConfig> {
        let kind = raw.kind.get_ref().as_str();
        let known: &[&str] = match kind {
            "droptail" => &["limit"],
            "codel" => &["limit", "target", "interval", "mtu", "ecn", "ce_threshold"],
            "fq-codel" => &[
                "limit",
                "target",
                "interval",
                "mtu",
                "ecn",
                "ce_threshold",
                "flows",
                "quantum",
                "memory",
                "drop_batch",
            ],
            "pie" => &[
                "limit",
                "target",
                "update",
                "burst_allowance",
                "alpha",
                "beta",
                "ecn_threshold",
                "sleeps",
            ],
            "dualpi2" => &[
                "limit",
                "preset",
                "target",
                "update",
                "alpha",
                "beta",
                "coupling",
                "step",
                "ramp",
                "classic_share",
                "shift",
                "drop_on_overload",
                "mtu",
            ],
            "sfq" => &[
                "limit",
                "flows",
                "divisor",
                "quantum",
                "depth",
                "perturb",
                "head_drop",
            ],
            "token-bucket" => &["rate", "burst", "peak", "mtu", "inner"],
            "htb" => &["default", "r2q", "direct_limit"],
            name => {
                let problem = Problem::UnknownName {
                    what: "queue",
                    name: name.to_owned(),
                    known: "droptail, codel, fq-codel, pie, dualpi2, sfq, token-bucket, htb",
                };
                return Err(self.error(raw.kind.span(), problem));
            }
        };
        if let Some((key, at)) = raw.given().find(|(key, _)| !known.contains(key)) {
            let problem = Problem::KeyNotForQueue {
                key,
                queue: kind.to_owned(),
                known: known.join(", "),
            };
            return Err(self.error(at, problem));
        }
        match kind {
            "droptail" => self.droptail(raw, at, around),
            "codel" => Ok(QueueConfig::Codel(self.codel(raw)?)),
            "fq-codel" => self.fq_codel(raw),
            "pie" => self.pie(raw),
            "dualpi2" => self.dualpi2(raw, around),
            "sfq" => self.sfq(raw),
            "token-bucket" => self.token_bucket(raw, at, around),
            _ => self.htb(raw, at, around),
        }
    }

    fn droptail(
        &self,
        raw: &raw::Queue,
        at: Range<usize>,
        around: &Surroundings<'_>,
    ) -> Read<QueueConfig> {
        let Some(limit) = &raw.limit else {
            let problem = Problem::Missing {
                key: "limit",
                mend: "write a size \"500kB\", a time \"300ms\", or a number \"250packets\"",
            };
            return Err(self.error(at, problem));
        };
        let (at, largest) = (limit.span(), around.largest);
        let limit = queue_limit(limit.get_ref()).ok_or_else(|| {
            let text = limit.get_ref().clone();
            self.error(at.clone(), Problem::BadLimit { text })
        })?;
        let rate = slowest(around.link);
        let problem = match limit {
            Limit::Time(time) if rate.amount_in(time) < largest => Problem::QueueTimeBelowPacket {
                limit: time,
                rate,
                packet: largest,
                needs: rate.transmit_time(largest),
            },
            Limit::Bytes(most) if most < largest => Problem::QueueBelowPacket {
                limit: most,
                packet: largest,
            },
            Limit::Packets(0) => Problem::OutOfRange {
                key: "limit",
                must: "one packet or more",
            },
            _ => return Ok(QueueConfig::DropTail { limit }),
        };
        Err(self.error(at, problem))
    }

    fn codel(&self, raw: &raw::Queue) -> Read<CodelConfig> {
        let default = CodelConfig::default();
        Ok(CodelConfig {
            target: self.above_zero("target", raw.target.as_ref(), default.target)?,
            interval: self.above_zero("interval", raw.interval.as_ref(), default.interval)?,
            mtu: or(raw.mtu.as_ref(), default.mtu),
            limit: self.packets(raw.limit.as_ref(), default.limit)?,
            ecn: or(raw.ecn.as_ref(), default.ecn),
            ce_threshold: raw.ce_threshold.as_ref().map(|value| *value.get_ref()),
        })
    }

    fn fq_codel(&self, raw: &raw::Queue) -> Read<QueueConfig> {
        let default = FqCodelConfig::default();
        Ok(QueueConfig::FqCodel(FqCodelConfig {
            flows: self.number("flows", raw.flows.as_ref(), default.flows, 1..=MOST_FLOWS)?,
            quantum: self.size("quantum", raw.quantum.as_ref(), default.quantum)?,
            limit: self.packets(raw.limit.as_ref(), default.limit)?,
            memory: self.size("memory", raw.memory.as_ref(), default.memory)?,
            drop_batch: self.number(
                "drop_batch",
                raw.drop_batch.as_ref(),
                default.drop_batch,
                1..=MOST_PACKETS,
            )?,
            codel: CodelConfig {
                limit: MOST_PACKETS,
                ..self.codel(raw)?
            },
            perturbation: default.perturbation,
        }))
    }

    fn pie(&self, raw: &raw::Queue) -> Read<QueueConfig> {
        let default = PieConfig::default();
        Ok(QueueConfig::Pie(PieConfig {
            target: self.above_zero("target", raw.target.as_ref(), default.target)?,
            update: self.above_zero("update", raw.update.as_ref(), default.update)?,
            burst: or(raw.burst_allowance.as_ref(), default.burst),
            alpha: self.gain("alpha", raw.alpha.as_ref(), default.alpha)?,
            beta: self.gain("beta", raw.beta.as_ref(), default.beta)?,
            limit: self.packets(raw.limit.as_ref(), default.limit)?,
            ecn_threshold: match &raw.ecn_threshold {
                None => default.ecn_threshold,
                given => self.share("ecn_threshold", given.as_ref())?,
            },
            sleeps: or(raw.sleeps.as_ref(), default.sleeps),
            ..default
        }))
    }

    fn dualpi2(&self, raw: &raw::Queue, around: &Surroundings<'_>) -> Read<QueueConfig> {
        let default = match raw.preset.as_ref().map(|preset| preset.get_ref().as_str()) {
            None | Some("rfc9332") => DualPi2Config::default(),
            Some("linux") => DualPi2Config::linux(),
            Some(name) => {
                let problem = Problem::UnknownName {
                    what: "preset",
                    name: name.to_owned(),
                    known: "rfc9332, linux",
                };
                let at = raw.preset.as_ref().map_or(0..0, Spanned::span);
                return Err(self.error(at, problem));
            }
        };
        let native = match (&raw.step, &raw.ramp) {
            (Some(_), Some(ramp)) => return Err(self.exclusive("step", "ramp", ramp.span())),
            (Some(step), None) => Native::Step {
                above: *step.get_ref(),
            },
            (None, Some(ramp)) => {
                let raw::Ramp { from, width } = *ramp.get_ref();
                let valid = from >= TimeDelta::ZERO && width >= TimeDelta::ZERO;
                self.range(ramp.span(), "ramp", valid, "made of times not below zero")?;
                Native::Ramp { from, width }
            }
            (None, None) => default.native,
        };
        let scheduler = match (&raw.classic_share, &raw.shift) {
            (Some(_), Some(shift)) => {
                return Err(self.exclusive("classic_share", "shift", shift.span()));
            }
            (given @ Some(_), None) => Scheduler::Weighted {
                classic: self.share("classic_share", given.as_ref())?,
            },
            (None, Some(shift)) => Scheduler::TimeShifted {
                shift: *shift.get_ref(),
            },
            (None, None) => default.scheduler,
        };
        let limit = match raw.limit.as_ref().map(|limit| queue_limit(limit.get_ref())) {
            None => default.limit,
            Some(Some(Limit::Bytes(bytes))) => bytes,
            Some(Some(Limit::Packets(packets))) => Bytes::new(1_500 * packets as u64),
            Some(Some(Limit::Time(time))) => slowest(around.link).amount_in(time),
            Some(Some(Limit::Unlimited)) => Bytes::MAX,
            Some(None) => {
                let limit = raw.limit.as_ref();
                let text = limit
                    .map(|limit| limit.get_ref().clone())
                    .unwrap_or_default();
                let at = limit.map_or(0..0, Spanned::span);
                return Err(self.error(at, Problem::BadLimit { text }));
            }
        };
        let mtu = self.size("mtu", raw.mtu.as_ref(), default.mtu)?;
        if limit < mtu {
            let problem = Problem::QueueBelowPacket { limit, packet: mtu };
            let at = raw.limit.as_ref().map_or(0..0, Spanned::span);
            return Err(self.error(at, problem));
        }
        Ok(QueueConfig::DualPi2(DualPi2Config {
            target: self.above_zero("target", raw.target.as_ref(), default.target)?,
            update: self.above_zero("update", raw.update.as_ref(), default.update)?,
            alpha: self.gain("alpha", raw.alpha.as_ref(), default.alpha)?,
            beta: self.gain("beta", raw.beta.as_ref(), default.beta)?,
            coupling: self.gain("coupling", raw.coupling.as_ref(), default.coupling)?,
            native,
            scheduler,
            overload: match raw.drop_on_overload.as_ref().map(|value| *value.get_ref()) {
                None => default.overload,
                Some(true) => Overload::Drop,
                Some(false) => Overload::Overflow,
            },
            mtu,
            limit,
            ..default
        }))
    }

    fn sfq(&self, raw: &raw::Queue) -> Read<QueueConfig> {
        let default = SfqConfig::default();
        let most = MOST_PACKETS;
        let limit = self.packets(raw.limit.as_ref(), default.limit)?;
        Ok(QueueConfig::Sfq(SfqConfig {
            limit,
            flows: self.number("flows", raw.flows.as_ref(), default.flows, 1..=MOST_FLOWS)?,
            divisor: self.number("divisor", raw.divisor.as_ref(), default.divisor, 1..=65_536)?,
            quantum: self.size("quantum", raw.quantum.as_ref(), default.quantum)?,
            depth: self.number(
                "depth",
                raw.depth.as_ref(),
                default.depth.max(limit),
                1..=most,
            )?,
            perturb: raw.perturb.as_ref().map(|value| *value.get_ref()),
            head_drop: or(raw.head_drop.as_ref(), default.head_drop),
            ..default
        }))
    }

    fn token_bucket(
        &self,
        raw: &raw::Queue,
        at: Range<usize>,
        around: &Surroundings<'_>,
    ) -> Read<QueueConfig> {
        let missing = |key, mend| self.error(at.clone(), Problem::Missing { key, mend });
        let rate = raw.rate.as_ref();
        let rate = rate.ok_or_else(|| missing("rate", "write e.g. `rate = \"20Mbit/s\"`"))?;
        let burst = raw.burst.as_ref();
        let burst = burst.ok_or_else(|| missing("burst", "write e.g. `burst = \"5kB\"`"))?;
        let valid = *rate.get_ref() > Rate::ZERO;
        self.range(rate.span(), "rate", valid, "above zero")?;
        let largest = around.largest;
        let holds = |size: &Spanned<Bytes>| {
            let (limit, at) = (*size.get_ref(), size.span());
            let packet = largest;
            if limit < packet {
                return Err(self.error(at, Problem::QueueBelowPacket { limit, packet }));
            }
            Ok(limit)
        };
        let peak = match (&raw.peak, &raw.mtu) {
            (None, None) => None,
            (Some(peak), mtu) => Some(Peak {
                rate: *peak.get_ref(),
                mtu: mtu.as_ref().map_or(Ok(largest), holds)?,
            }),
            (None, Some(mtu)) => {
                let mend = "an `mtu` is that of a `peak`, e.g. `peak = \"50Mbit/s\"`";
                let problem = Problem::Missing { key: "peak", mend };
                return Err(self.error(mtu.span(), problem));
            }
        };
        let inner = match &raw.inner {
            Some(inner) => self.one_queue(inner.get_ref(), inner.span(), around)?,
            None => QueueConfig::DropTail {
                limit: Limit::Bytes(Bytes::new(500_000)),
            },
        };
        let config = TokenBucketConfig {
            rate: *rate.get_ref(),
            burst: holds(burst)?,
            peak,
        };
        Ok(QueueConfig::TokenBucket(config, Box::new(inner)))
    }

    fn exclusive(
        &self,
        one: &'static str,
        other: &'static str,
        at: Range<usize>,
    ) -> super::ScenarioError {
        self.error(at, Problem::Exclusive { one, other })
    }

    fn above_zero(
        &self,
        key: &'static str,
        given: Option<&Spanned<TimeDelta>>,
        otherwise: TimeDelta,
    ) -> Read<TimeDelta> {
        let Some(given) = given else {
            return Ok(otherwise);
        };
        let valid = *given.get_ref() > TimeDelta::ZERO;
        self.range(given.span(), key, valid, "longer than zero")?;
        Ok(*given.get_ref())
    }

    fn gain(&self, key: &'static str, given: Option<&Spanned<f64>>, otherwise: f64) -> Read<f64> {
        let Some(given) = given else {
            return Ok(otherwise);
        };
        let valid = (0.0..=1e6).contains(given.get_ref());
        self.range(given.span(), key, valid, "a number from 0 to 1000000")?;
        Ok(*given.get_ref())
    }

    fn size(
        &self,
        key: &'static str,
        given: Option<&Spanned<Bytes>>,
        otherwise: Bytes,
    ) -> Read<Bytes> {
        let Some(given) = given else {
            return Ok(otherwise);
        };
        let valid = *given.get_ref() > Bytes::ZERO;
        self.range(given.span(), key, valid, "one byte or more")?;
        Ok(*given.get_ref())
    }

    pub(super) fn number<T: Copy + PartialOrd>(
        &self,
        key: &'static str,
        given: Option<&Spanned<T>>,
        otherwise: T,
        range: RangeInclusive<T>,
    ) -> Read<T> {
        let Some(given) = given else {
            return Ok(otherwise);
        };
        let valid = range.contains(given.get_ref());
        self.range(
            given.span(),
            key,
            valid,
            "one or more, and at most a million",
        )?;
        Ok(*given.get_ref())
    }

    /// A limit that counts packets.
    fn packets(&self, limit: Option<&Spanned<String>>, otherwise: usize) -> Read<usize> {
        let Some(limit) = limit else {
            return Ok(otherwise);
        };
        match queue_limit(limit.get_ref()) {
            Some(Limit::Packets(packets)) if (1..=MOST_PACKETS).contains(&packets) => Ok(packets),
            _ => {
                let must = "a number of packets from 1 to a million, e.g. \"1000packets\"";
                Err(self.error(limit.span(), Problem::OutOfRange { key: "limit", must }))
            }
        }
    }
}

pub(super) fn or<T: Copy>(given: Option<&Spanned<T>>, otherwise: T) -> T {
    given.map_or(otherwise, |given| *given.get_ref())
}

fn queue_limit(text: &str) -> Option<Limit> {
    if text == "unlimited" {
        return Some(Limit::Unlimited);
    }
    if let Some(count) = text.strip_suffix("packets") {
        return count.trim().parse().ok().map(Limit::Packets);
    }
    let bytes = text.parse().map(Limit::Bytes);
    bytes.or_else(|_| text.parse().map(Limit::Time)).ok()
}

/// The rate to judge a limit in time by: a trace's may be small for a
/// moment, and that is the trace's business.
fn slowest(link: &raw::Link) -> Rate {
    match (&link.rate, &link.steps) {
        (Some(rate), _) => *rate.get_ref(),
        (None, Some(steps)) => {
            let rates = steps.get_ref().iter().map(|step| step.rate);
            rates.filter(|r| *r > Rate::ZERO).min().unwrap_or(Rate::MAX)
        }
        (None, None) => Rate::MAX,
    }
}
