//! Controlled delay: drops at the head, more and more often, while no packet of an
//! interval has waited for less than the target.
//!
//! RFC 8289, section 5 (the pseudocode), with the ECN of section 3.2's note and
//! of Linux: a packet of a flow that understands ECN is marked where another would
//! be dropped.
//!
//! *Deviations.* "No time set" is an `Option`, not zero. Marking does not take the
//! next packet, as dropping does: the marked one is delivered. An estimate of the
//! backlog is not needed; it is exact. The limit in packets is drop-tail, as in
//! section 5.4. With a CE threshold ([`CodelConfig::ce_threshold`], not in the RFC,
//! from Linux) packets that have waited longer are marked as well, whatever the
//! state.

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::{Fifo, Queue, Waiting};

/// A target is met again within this many intervals: the drop rate of the last time
/// is the one to begin with (RFC 8289, section 5.5).
const REMEMBERED: u32 = 16;

/// Parameters of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CodelConfig {
    /// Wait that is always acceptable: 5 ms (section 4.4).
    pub target: TimeDelta,
    /// How long the wait may exceed the target: about the longest round trip, 100 ms
    /// (section 4.3).
    pub interval: TimeDelta,
    /// No drop while no more than this waits: an interface's MTU (section 5.3).
    pub mtu: Bytes,
    /// Packets held: 1000, Linux's default. The RFC leaves it open.
    pub limit: usize,
    /// Packets that understand ECN are marked in place of dropped.
    pub ecn: bool,
    /// Packets that understand ECN are marked when they have waited longer.
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

/// The state of one controlled queue: the variables of section 5.2.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    first_above: Option<Time>,
    drop_next: Time,
    count: u32,
    last_count: u32,
    is_dropping: bool,
}

impl Control {
    /// Takes the next packet of `fifo` (section 5.5, `dequeue`).
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

    /// The oldest packet, and whether the wait has exceeded the target for an
    /// interval (section 5.6, `dodequeue`).
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

    /// When to drop next (section 5.6).
    fn control_law(&self, config: &CodelConfig, from: Time) -> Time {
        from + config
            .interval
            .scale(1.0 / f64::from(self.count.max(1)).sqrt())
    }
}

/// Marks a packet in place of dropping it, if its flow understands.
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
    /// An empty queue.
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
mod tests {
    use mimosa_units::Ecn;

    use super::*;
    use crate::packet::TestPacket;

    const MS: TimeDelta = TimeDelta::from_millis(1);

    /// A queue that is offered a packet each millisecond for the first `filled`
    /// milliseconds, ten at first, and serves one each millisecond: times of drops
    /// and marks in milliseconds.
    fn run(config: CodelConfig, ecn: Ecn, until: u64, offered: impl Fn(u64) -> usize) -> Vec<u64> {
        let mut queue = Codel::new(config);
        let mut acted = Vec::new();
        let mut number = 0;
        for ms in 0..until {
            let now = Time::from_millis(ms);
            let mut dropped = Vec::new();
            for _ in 0..offered(ms) {
                number += 1;
                let packet = TestPacket {
                    ecn,
                    number,
                    ..TestPacket::sized(1_000)
                };
                queue.enqueue(now, packet, &mut dropped);
            }
            let served = queue.dequeue(now, &mut dropped);
            let marked = served.is_some_and(|served| served.packet.ecn == Ecn::Ce);
            acted.extend(std::iter::repeat_n(ms, dropped.len() + usize::from(marked)));
        }
        acted
    }

    /// Ten packets at once, then as many as are served.
    fn standing(ms: u64) -> usize {
        if ms == 0 { 11 } else { 1 }
    }

    #[test]
    fn a_standing_queue_is_dropped_from_at_the_pace_of_the_control_law() {
        let drops = run(CodelConfig::default(), Ecn::NotEct, 1_000, standing);
        // Ten wait, one a millisecond: after 5 ms the wait is 5 ms; it is above for
        // an interval at 105 ms. Then 100/sqrt(1), 100/sqrt(2), ... later, until
        // six drops have taken the wait below the target: each takes 1 ms off it.
        assert_eq!(drops, [105, 205, 276, 334, 384, 429]);
    }

    #[test]
    fn marks_take_the_place_of_drops_for_who_understands() {
        let marks = run(CodelConfig::default(), Ecn::Ect0, 600, standing);
        // Nothing gets shorter: the law goes on.
        let mut law = Vec::new();
        let mut at = 105.0;
        for count in 1..20 {
            at += 100.0 / f64::from(count).sqrt();
            // The millisecond that is the first not before it.
            law.extend((0..600).find(|ms| *ms as f64 >= at));
        }
        assert_eq!(marks[0], 105);
        assert_eq!(marks[1..], law);
        let config = CodelConfig {
            ecn: false,
            ..CodelConfig::default()
        };
        assert_eq!(run(config, Ecn::Ect0, 600, standing).len(), 6);
    }

    #[test]
    fn a_burst_that_drains_within_an_interval_loses_nothing() {
        let burst = |ms| if ms == 0 { 90 } else { 0 };
        let drops = run(CodelConfig::default(), Ecn::NotEct, 1_000, burst);
        assert_eq!(drops, []);
    }

    #[test]
    fn the_drop_rate_is_remembered_for_sixteen_intervals() {
        // An overload of a tenth for 3 s, a rest, and again.
        let again = |rest: u64| {
            move |ms: u64| match ms {
                _ if ms < 3_000 || ms >= 3_000 + rest => 1 + usize::from(ms.is_multiple_of(10)),
                _ => 0,
            }
        };
        let second = |rest: u64| {
            let drops = run(CodelConfig::default(), Ecn::NotEct, 8_000, again(rest));
            let after: Vec<_> = drops.into_iter().filter(|at| *at > 3_000 + rest).collect();
            after[1] - after[0]
        };
        assert!(second(500) < 60, "{}", second(500));
        assert_eq!(second(3_000), 100);
    }

    #[test]
    fn a_threshold_marks_whatever_the_state() {
        let config = CodelConfig {
            ce_threshold: Some(MS),
            ..CodelConfig::default()
        };
        let marks = run(config, Ecn::Ect1, 50, standing);
        assert_eq!(marks, (2..50).collect::<Vec<_>>());
    }

    #[test]
    fn a_last_packet_is_never_dropped_and_the_limit_holds() {
        let slow = |ms: u64| usize::from(ms.is_multiple_of(200));
        assert_eq!(run(CodelConfig::default(), Ecn::NotEct, 5_000, slow), []);
        let config = CodelConfig {
            limit: 5,
            ..CodelConfig::default()
        };
        let drops = run(config, Ecn::NotEct, 10, |ms| if ms == 0 { 9 } else { 0 });
        assert_eq!(drops, [0, 0, 0, 0]);
    }
}
