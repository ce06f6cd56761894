//! The parameters of `DualPI2`: the RFC's, Linux's, and those of a file.

use std::fmt::Debug;

use mimosa_units::{Bytes, TimeDelta};

use super::DualPi2;
use crate::packet::Packet;
use crate::queue::keys::{KeyProblem, Keys, Read};
use crate::queue::{Discipline, Limit, Queue, Surroundings};

/// Size of the packets that a limit in packets counts.
const COUNTED: u64 = 1_500;

/// What marks L4S packets by their own queue alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Native {
    /// From no packet at `from` to every packet `width` above it (figure 5).
    Ramp {
        /// Wait from which on packets are marked.
        from: TimeDelta,
        /// From there to where all are.
        width: TimeDelta,
    },
    /// Every packet that has waited longer (note c; Linux).
    Step {
        /// The wait.
        above: TimeDelta,
    },
}

/// Which queue is served when both have packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scheduler {
    /// The L4S queue, but for this share of the bytes (Linux's C-protection).
    Weighted {
        /// Least share of the classic queue, 0 to 1.
        classic: f64,
    },
    /// The packet that has waited longest, if L4S packets had waited this much
    /// longer (appendix A.2, TS-FIFO).
    TimeShifted {
        /// The time.
        shift: TimeDelta,
    },
}

/// What happens to L4S packets when marks alone no longer help.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Overload {
    /// They are dropped with the classic probability (figure 7).
    Drop,
    /// Nothing but the limit; classic packets that understand ECN are marked on.
    Overflow,
}

/// Parameters of `DualPI2`. The default is the RFC's, with Linux's scheduler;
/// [`DualPi2Config::linux`] is Linux's throughout.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualPi2Config {
    /// Delay that is aimed at in the classic queue: 15 ms (figure 2).
    pub target: TimeDelta,
    /// Time between updates: 15 ms, Linux 16 ms.
    pub update: TimeDelta,
    /// Integral gain in Hz: `0.1 update / RTT_max^2` for an `RTT_max` of 100 ms.
    pub alpha: f64,
    /// Proportional gain in Hz: `0.3 / RTT_max`.
    pub beta: f64,
    /// How much stronger L4S flows are signalled to: 2.
    pub coupling: f64,
    /// The L4S queue's own AQM: a ramp from 800 to 1200 us; Linux a step at 1 ms.
    pub native: Native,
    /// That does not mark while no more than so many packets are there: 1.
    pub native_packets: usize,
    /// Which queue goes first: L4S, with a tenth of the bytes for the classic one.
    pub scheduler: Scheduler,
    /// On overload: drop.
    pub overload: Overload,
    /// Largest packet: 1500 bytes.
    pub mtu: Bytes,
    /// The controller acts on no packet while less than this waits in both. Zero;
    /// Linux two MTU.
    pub idle_below: Bytes,
    /// Classic drops are two throws of p', not the sum of p'^2: Linux.
    pub random: bool,
    /// Both queues together: 250 ms at 100 Mbit/s. Linux 10 000 packets.
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
    /// As Linux's `dualpi2` sets itself up.
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
