//! The parameters of DualPI2: those of the RFC, those of Linux, and those that a file states.

use std::fmt::Debug;

use mimosa_units::{Bytes, TimeDelta};

use super::DualPi2;
use crate::keys::{KeyProblem, Keys, Read};
use crate::packet::Packet;
use crate::queue::{Discipline, Limit, Queue, Surroundings};

/// Bytes for which a packet counts in a limit that is stated in packets.
const COUNTED: u64 = 1_500;

/// The native AQM: how L4S packets are marked because of their own queue alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Native {
    /// The probability rises linearly from zero at `from` to one at `from + width` (figure 5).
    Ramp {
        /// The wait from which on packets are marked.
        from: TimeDelta,
        /// The span from there to the wait at which all packets are marked.
        width: TimeDelta,
    },
    /// Every packet is marked that has waited longer than `above` (note c; Linux).
    Step {
        /// The longest wait without a mark.
        above: TimeDelta,
    },
}

/// The scheduler: which queue is served when both have packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheduler {
    /// The L4S queue is served, except for a share of the bytes that the classic
    /// queue gets (Linux's C-protection).
    Weighted {
        /// The classic queue's least share of the bytes, from 0 to 1.
        classic: f64,
    },
    /// The packet that has waited longest is served, where L4S packets count as if
    /// they had waited longer by `shift` (appendix A.2, TS-FIFO).
    TimeShifted {
        /// The time that is added to the wait of L4S packets.
        shift: TimeDelta,
    },
}

/// What happens to L4S packets when marks alone no longer help, that is when k p' reaches one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Overload {
    /// L4S packets are dropped with the classic probability (figure 7).
    Drop,
    /// L4S packets are only marked, and dropped by the limit alone. ECN-capable
    /// classic packets are still marked instead of dropped.
    Overflow,
}

/// Parameters of DualPI2. The defaults are those of the RFC, with Linux's
/// scheduler; all those of [`DualPi2Config::linux`] are Linux's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// Target of the classic queue's delay. Default: 15 ms (figure 2).
    pub target: TimeDelta,
    /// Time between two updates of the base probability. Default: 15 ms; Linux: 16 ms.
    pub update: TimeDelta,
    /// Integral gain in Hz. Default: `0.1 update / RTT_max^2` for an `RTT_max` of
    /// 100 ms, which is 0.15; Linux: 0.16.
    pub alpha: f64,
    /// Proportional gain in Hz. Default: `0.3 / RTT_max`, which is 3; Linux: 3.2.
    pub beta: f64,
    /// The coupling factor k: the coupled probability of L4S packets is k p'. Default: 2.
    pub coupling: f64,
    /// The native AQM of the L4S queue. Default: a ramp from 800 to 1200 us; Linux: a step at 1 ms.
    pub native: Native,
    /// The native AQM marks nothing while the L4S queue has at most this many
    /// packets, the one that leaves included. Default: 1.
    pub native_packets: usize,
    /// Which queue is served first. Default: the L4S queue, with a tenth of the
    /// bytes for the classic one.
    pub scheduler: Scheduler,
    /// What happens to L4S packets on overload. Default: they are dropped.
    pub overload: Overload,
    /// Size of the largest packet. Default: 1500 bytes.
    pub mtu: Bytes,
    /// The controller acts on no packet while less than this waits in both queues
    /// together. Default: zero; Linux: two MTU.
    pub idle_below: Bytes,
    /// Whether a classic packet, and an L4S packet on overload, is hit when two
    /// random draws with p' both succeed, as in Linux, instead of by a running sum
    /// of p'^2. Default: false; Linux: true.
    pub random: bool,
    /// Most bytes in both queues together. Default: 250 ms at 100 Mbit/s; Linux: 10 000 packets.
    pub limit: Bytes,
}

impl Default for DualPi2Config {
    fn default() -> Self {
        Self {
            target: TimeDelta::from_millis(15),
            update: TimeDelta::from_millis(15),
            alpha: 0.15,
            beta: 3.0,
            coupling: 2.0,
            native: Native::Ramp {
                from: TimeDelta::from_micros(800),
                width: TimeDelta::from_micros(400),
            },
            native_packets: 1,
            scheduler: Scheduler::Weighted { classic: 0.1 },
            overload: Overload::Drop,
            mtu: Bytes::new(1_500),
            idle_below: Bytes::ZERO,
            random: false,
            limit: Bytes::new(3_125_000),
        }
    }
}

impl DualPi2Config {
    /// The defaults of Linux's `dualpi2`.
    #[must_use]
    pub fn linux() -> Self {
        Self {
            update: TimeDelta::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            native: Native::Step {
                above: TimeDelta::from_millis(1),
            },
            idle_below: Bytes::new(3_000),
            random: true,
            limit: Bytes::new(15_000_000),
            ..Self::default()
        }
    }
}

impl Discipline for DualPi2Config {
    const NAME: &'static str = "dualpi2";

    fn read(keys: &mut Keys<'_>, around: &Surroundings<'_>) -> Read<Self> {
        let limit = keys.limit()?;
        let presets = [("rfc9332", Self::default()), ("linux", Self::linux())];
        let default = keys.choice("preset", &presets)?.unwrap_or_default();
        let config = Self {
            target: keys.time_above_zero("target", default.target)?,
            update: keys.time_above_zero("update", default.update)?,
            alpha: keys.gain("alpha", default.alpha)?,
            beta: keys.gain("beta", default.beta)?,
            coupling: keys.gain("coupling", default.coupling)?,
            native: read_native(keys)?.unwrap_or(default.native),
            scheduler: read_scheduler(keys)?.unwrap_or(default.scheduler),
            overload: match keys.given("drop_on_overload")? {
                None => default.overload,
                Some(true) => Overload::Drop,
                Some(false) => Overload::Overflow,
            },
            mtu: keys.size("mtu", default.mtu)?,
            limit: match limit {
                None => default.limit,
                Some(Limit::Bytes(bytes)) => bytes,
                Some(Limit::Packets(packets)) => Bytes::new(COUNTED.saturating_mul(packets as u64)),
                Some(Limit::Time(time)) => around.slowest.amount_in(time),
                Some(Limit::Unlimited) => Bytes::MAX,
            },
            ..default
        };
        let (limit, packet) = (config.limit, config.mtu);
        if limit < packet {
            return Err(keys.error_at("limit", KeyProblem::QueueBelowPacket { limit, packet }));
        }
        Ok(config)
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, seed: u64) -> Box<dyn Queue<P>> {
        Box::new(DualPi2::new(*self, seed))
    }

    fn lanes(&self) -> Vec<String> {
        ["l4s", "classic"].map(str::to_owned).into()
    }
}

fn read_native(keys: &mut Keys<'_>) -> Read<Option<Native>> {
    let step = keys.given("step")?;
    let ramp = keys.table("ramp")?;
    keys.exclusive("step", "ramp")?;
    let Some(mut ramp) = ramp else {
        return Ok(step.map(|above| Native::Step { above }));
    };
    let (from, width) = (ramp.field("from")?, ramp.field("width")?);
    ramp.finish()?;
    let valid = from >= TimeDelta::ZERO && width >= TimeDelta::ZERO;
    keys.check("ramp", valid, "made of times not below zero")?;
    Ok(Some(Native::Ramp { from, width }))
}

fn read_scheduler(keys: &mut Keys<'_>) -> Read<Option<Scheduler>> {
    let classic = keys.share("classic_share")?;
    let shift = keys.given("shift")?;
    keys.exclusive("classic_share", "shift")?;
    let weighted = classic.map(|classic| Scheduler::Weighted { classic });
    Ok(weighted.or(shift.map(|shift| Scheduler::TimeShifted { shift })))
}
