//! Controlled delay (CoDel): a queue that drops at its head, more and more often,
//! once no packet of an interval has waited for less than the target.
//!
//! RFC 8289, section 5 (the pseudocode), with ECN as in the note of section 3.2 and
//! in Linux: an ECN-capable packet is marked where another would be dropped.
//!
//! *Deviations.* "No time set" is an `Option`, not zero. The queue does not go on to
//! the next packet after a mark, as it does after a drop: the marked packet is
//! delivered. The backlog is exact and need not be estimated. The limit in packets
//! is drop-tail, as in section 5.4. With a CE threshold
//! ([`CodelConfig::ce_threshold`], not in the RFC, from Linux) ECN-capable packets
//! that have waited longer are marked as well, whatever the state.

use std::fmt::Debug;

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::keys::{Keys, Read};
use crate::packet::Packet;
use crate::queue::{Discipline, Fifo, Queue, Surroundings, Waiting};

/// If dropping begins again within this many intervals after the last drop was due,
/// it begins with the drop rate of the last time (RFC 8289, section 5.5).
const REMEMBERED: u32 = 16;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelConfig {
    /// The wait that is always acceptable. Default: 5 ms (section 4.4).
    pub target: TimeDelta,
    /// How long the wait may exceed the target: about the longest round trip.
    /// Default: 100 ms (section 4.3).
    pub interval: TimeDelta,
    /// Nothing is dropped while no more than this waits: an interface's MTU (section
    /// 5.3). Default: 1500 bytes.
    pub mtu: Bytes,
    /// Most packets held. The RFC leaves it open; the default is Linux's, 1000.
    pub limit: usize,
    /// Whether ECN-capable packets are marked instead of dropped. Default: true.
    pub ecn: bool,
    /// ECN-capable packets that have waited longer than this are marked; `None` for
    /// no such threshold, which is the default.
    pub ce_threshold: Option<TimeDelta>,
}

impl Default for CodelConfig {
    fn default() -> Self {
        Self {
            target: TimeDelta::from_millis(5),
            interval: TimeDelta::from_millis(100),
            mtu: Bytes::new(1_500),
            limit: 1_000,
            ecn: true,
            ce_threshold: None,
        }
    }
}

impl Discipline for CodelConfig {
    const NAME: &'static str = "codel";

    fn read(keys: &mut Keys<'_>, _around: &Surroundings<'_>) -> Read<Self> {
        let default = Self::default();
        let limit = keys.packets(default.limit)?;
        Self::read_with(keys, limit)
    }

    fn build<P: Packet + Debug + Send + 'static>(&self, _seed: u64) -> Box<dyn Queue<P>> {
        Box::new(Codel::new(*self))
    }
}

impl CodelConfig {
    /// Reads all keys except `limit`, whose value is passed in.
    pub(super) fn read_with(keys: &mut Keys<'_>, limit: usize) -> Read<Self> {
        let default = Self::default();
        Ok(Self {
            target: keys.time_above_zero("target", default.target)?,
            interval: keys.time_above_zero("interval", default.interval)?,
            mtu: keys.or("mtu", default.mtu)?,
            limit,
            ecn: keys.or("ecn", default.ecn)?,
            ce_threshold: keys.given("ce_threshold")?,
        })
    }
}

/// The state of one queue under CoDel: the variables of section 5.2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    is_dropping: bool,
}

impl Control {
    /// Takes the next packet of `fifo` (section 5.5, `dequeue`); `None` when none is
    /// left. Packets dropped on the way are appended to `dropped`.
    pub(crate) fn dequeue<P: Packet>(
        &mut self,
        config: &CodelConfig,
        fifo: &mut Fifo<P>,
        now: Time,
        dropped: &mut Vec<P>,
    ) -> Option<Waiting<P>> {
        let (mut next, mut is_late) = self.take(config, fifo, now);
        if self.is_dropping {
            self.is_dropping = is_late;
            while self.is_dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                let was_marked = spare(config, next.as_mut());
                if was_marked {
                    self.drop_next = self.control_law(config, self.drop_next);
                    break;
                }
                dropped.extend(next.take().map(|next| next.packet));
                (next, is_late) = self.take(config, fifo, now);
                self.is_dropping = is_late;
                if self.is_dropping {
                    self.drop_next = self.control_law(config, self.drop_next);
                }
            }
        } else if is_late {
            if !spare(config, next.as_mut()) {
                dropped.extend(next.take().map(|next| next.packet));
                (next, _) = self.take(config, fifo, now);
            }
            self.is_dropping = true;
            let delta = self.count.saturating_sub(self.last_count);
            let is_recent = now.since(self.drop_next) < config.interval * REMEMBERED;
            self.count = if delta > 1 && is_recent { delta } else { 1 };
            self.drop_next = self.control_law(config, now);
            self.last_count = self.count;
        }
        if let (Some(threshold), Some(next)) = (config.ce_threshold, next.as_mut())
            && now.since(next.since) > threshold
            && next.packet.ecn().is_capable()
        {
            next.packet.mark();
        }
        next
    }

    /// Takes the oldest packet, and tells whether the wait has exceeded the target
    /// for an interval (section 5.6, `dodequeue`).
    fn take<P: Packet>(
        &mut self,
        config: &CodelConfig,
        fifo: &mut Fifo<P>,
        now: Time,
    ) -> (Option<Waiting<P>>, bool) {
        let Some(next) = fifo.pop() else {
            self.first_above = None;
            return (None, false);
        };
        let is_short = now.since(next.since) < config.target;
        let is_late = if is_short || fifo.backlog() <= config.mtu {
            self.first_above = None;
            false
        } else {
            let first = *self.first_above.get_or_insert(now + config.interval);
            now >= first
        };
        (Some(next), is_late)
    }

    /// The time of the next drop, if the last one was due at `from` (section 5.6).
    fn control_law(&self, config: &CodelConfig, from: Time) -> Time {
        from + config
            .interval
            .scale(1.0 / f64::from(self.count.max(1)).sqrt())
    }
}

/// Marks a packet instead of dropping it if that is configured and the packet is
/// ECN-capable. Returns whether it has been marked.
fn spare<P: Packet>(config: &CodelConfig, packet: Option<&mut Waiting<P>>) -> bool {
    match packet {
        Some(next) if config.ecn && next.packet.ecn().is_capable() => {
            next.packet.mark();
            true
        }
        _ => false,
    }
}

/// A queue under CoDel.
#[derive(Debug)]
pub struct Codel<P> {
    config: CodelConfig,
    fifo: Fifo<P>,
    control: Control,
}

impl<P> Codel<P> {
    /// An empty queue with these parameters.
    #[must_use]
    pub fn new(config: CodelConfig) -> Self {
        Self {
            config,
            fifo: Fifo::new(),
            control: Control::default(),
        }
    }
}

impl<P: Packet + std::fmt::Debug + Send> Queue<P> for Codel<P> {
    fn enqueue(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        if self.fifo.len() >= self.config.limit {
            dropped.push(packet);
        } else {
            self.fifo.push(now, packet);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Waiting<P>> {
        self.control
            .dequeue(&self.config, &mut self.fifo, now, dropped)
    }

    fn backlog(&self) -> Bytes {
        self.fifo.backlog()
    }

    fn len(&self) -> usize {
        self.fifo.len()
    }
}

#[cfg(test)]
mod tests;
