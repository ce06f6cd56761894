//! A link that serves packets at ticks: as much at once as its rate carries until the next one.
//!
//! Mahimahi's links (R. Netravali et al., *Mahimahi: accurate record-and-replay for HTTP*, ATC 2015,
//! and `link_queue.cc`) pass 1500 bytes at the milliseconds that a trace names, and nothing between
//! them; a link whose turn comes at fixed times (TDMA) does so with a longer tick. At a tick, packets
//! leave in the order of the queue until the tick's amount is used up. A packet that does not fit
//! leaves in parts, the last of which counts. What nobody uses is lost.
//!
//! *Deviations*: Mahimahi counts 1504 bytes for an opportunity, and gives each opportunity of a
//! millisecond to packets of its own: here the opportunities of a millisecond are one amount.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::link::Served;
use crate::packet::Packet;
use crate::queue::{Queue, Waiting};
use crate::schedule::{Cursor, Schedule, work_of};

/// A packet of which a part may have left.
#[derive(Debug)]
struct Leaving<P> {
    waiting: Waiting<P>,
    started: Time,
    left: u128,
}

/// A link that serves packets at ticks.
#[derive(Debug)]
pub struct Ticks<P> {
    queue: Box<dyn Queue<P>>,
    cursor: Cursor,
    tick: TimeDelta,
    /// The next tick that was not looked at.
    next: Time,
    leaving: Option<Leaving<P>>,
    passed: VecDeque<Served<P>>,
    /// When an idle queue lets a packet go; [`Time::MAX`] for never.
    ready: Time,
}

impl<P: Packet> Ticks<P> {
    /// An idle link with this queue and this schedule, which serves once in each `tick`, a
    /// microsecond or more.
    #[must_use]
    pub fn new(mut queue: Box<dyn Queue<P>>, schedule: Schedule, tick: TimeDelta) -> Self {
        let cursor = schedule.cursor();
        queue.rate_changed(cursor.piece().rate);
        Self {
            queue,
            cursor,
            tick: tick.max(TimeDelta::from_micros(1)),
            next: Time::ZERO,
            leaving: None,
            passed: VecDeque::new(),
            ready: Time::MAX,
        }
    }

    /// Offers a packet to the queue at `now`, which must not be before the time of the last call.
    /// Packets that the queue gives up are appended to `dropped`.
    pub fn offer(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        self.advance(now, dropped);
        if self.cursor.seek(now) {
            self.queue.rate_changed(self.cursor.piece().rate);
        }
        self.queue.enqueue(now, packet, dropped);
        self.ready = now;
    }

    /// Returns the first tick at or after `at` that was not looked at.
    fn tick_from(&self, at: Time) -> Time {
        let tick = self.tick.as_nanos().unsigned_abs();
        let ticks = at.as_nanos().div_ceil(tick);
        Time::from_nanos(ticks.saturating_mul(tick)).max(self.next)
    }

    /// When to call [`Ticks::poll`]; [`Time::MAX`] when no packet is there.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let passed = self.passed.front().map(|served| served.finished);
        passed.unwrap_or(Time::MAX).min(self.next_tick())
    }

    /// The next tick at which something waits.
    fn next_tick(&self) -> Time {
        if self.leaving.is_some() {
            self.next
        } else if self.ready < Time::MAX {
            self.tick_from(self.ready)
        } else {
            Time::MAX
        }
    }

    /// Takes a packet that has passed by `now`; `None` when none has. Packets that the queue gives
    /// up are appended to `dropped`. Call it until it returns `None`, and before [`Ticks::offer`]
    /// with the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Served<P>> {
        self.advance(now, dropped);
        self.passed.pop_front_if(|served| served.finished <= now)
    }

    fn advance(&mut self, now: Time, dropped: &mut Vec<P>) {
        while self.next_tick() <= now {
            let at = self.next_tick();
            self.next = at + self.tick;
            self.serve(at, dropped);
        }
    }

    /// Serves what the tick at `at` carries.
    fn serve(&mut self, at: Time, dropped: &mut Vec<P>) {
        if self.cursor.seek(at) {
            self.queue.rate_changed(self.cursor.piece().rate);
        }
        let mut left = self.cursor.work_between(at, at + self.tick);
        loop {
            if self.leaving.is_none() {
                let Some(waiting) = self.queue.dequeue(at, dropped) else {
                    // `ready` is later than `at`, so that time goes on.
                    let ready = self.queue.ready(at);
                    self.ready = ready.max(at + TimeDelta::from_nanos(1));
                    return;
                };
                self.leaving = Some(Leaving {
                    left: work_of(waiting.packet.size()),
                    waiting,
                    started: at,
                });
            }
            let Some(leaving) = &mut self.leaving else {
                return;
            };
            let used = leaving.left.min(left);
            leaving.left -= used;
            left -= used;
            if leaving.left > 0 {
                return;
            }
            if let Some(leaving) = self.leaving.take() {
                self.passed.push_back(Served {
                    packet: leaving.waiting.packet,
                    offered: leaving.waiting.since,
                    started: leaving.started,
                    finished: at,
                });
            }
        }
    }

    /// Replaces the schedule from `now` on.
    pub fn set_schedule(&mut self, now: Time, schedule: Schedule) {
        self.cursor = schedule.cursor();
        self.cursor.seek(now);
        self.queue.rate_changed(self.cursor.piece().rate);
    }

    /// The rate at the time of the last call.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.cursor.piece().rate
    }

    /// The number of the queue in which a packet waits or would wait; see [`Queue::lane`].
    #[must_use]
    pub fn lane(&self, packet: &P) -> usize {
        self.queue.lane(packet)
    }

    /// Data that waits or has passed in part.
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        let leaving = self.leaving.as_ref();
        let leaving = leaving.map(|leaving| leaving.waiting.packet.size());
        self.queue.backlog() + leaving.unwrap_or(Bytes::ZERO)
    }

    /// Number of packets that wait, have passed in part, or have passed and were not taken.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.queue.len() + usize::from(self.leaving.is_some()) + self.passed.len()
    }

    /// The propagation delay and the share of packets lost that the schedule states for the time
    /// of the last call; each `None` where it does not state it.
    #[must_use]
    pub fn conditions(&self) -> (Option<TimeDelta>, Option<f64>) {
        let piece = self.cursor.piece();
        (piece.delay, piece.loss)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TestPacket;
    use crate::queue::{DropTail, Limit};
    use crate::schedule::Piece;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

    fn link(schedule: Schedule, tick: TimeDelta) -> Ticks<TestPacket> {
        Ticks::new(Box::new(DropTail::new(Limit::Unlimited)), schedule, tick)
    }

    /// The times in milliseconds at which packets of these sizes pass that are offered at `at`.
    fn passed(link: &mut Ticks<TestPacket>, at: Time, sizes: &[u64]) -> Vec<f64> {
        let mut dropped = Vec::new();
        for size in sizes {
            link.offer(at, TestPacket::sized(*size), &mut dropped);
        }
        let mut times = Vec::new();
        while link.deadline() < Time::MAX {
            let due = link.deadline();
            while let Some(served) = link.poll(due, &mut dropped) {
                assert_eq!(served.finished, due);
                times.push(due.as_secs() * 1e3);
            }
        }
        assert_eq!((link.packets(), link.backlog()), (0, Bytes::ZERO));
        times
    }

    #[test]
    fn a_tick_carries_its_amount_at_once() {
        // 1500 bytes in each millisecond, as in Mahimahi's traces.
        let mut link = link(Schedule::constant(Rate::from_kbps(12_000)), MS(1));
        let at = Time::from_nanos(2_300_000);
        // Several small packets share a tick, and a larger one leaves in two parts.
        let times = passed(&mut link, at, &[500, 500, 500, 1_000, 1_000, 1_000, 3_000]);
        assert_eq!(times, [3.0, 3.0, 3.0, 4.0, 5.0, 5.0, 7.0]);
        // What was left of the tick at 7 ms is lost: the next packet waits for its own.
        let later = Time::from_nanos(7_100_000);
        assert_eq!(passed(&mut link, later, &[1_500]), [8.0]);
        // A packet that comes with a tick leaves with it.
        assert_eq!(passed(&mut link, Time::from_millis(11), &[1_500]), [11.0]);
    }

    #[test]
    fn a_longer_tick_brings_lumps_and_the_same_rate() {
        let mut link = link(Schedule::constant(Rate::from_kbps(20_000)), MS(20));
        // 50 kB in 20 ms.
        let times = passed(&mut link, Time::from_millis(1), &[1_250; 100]);
        assert_eq!(times[..40], [20.0; 40]);
        assert_eq!(times[40..80], [40.0; 40]);
        assert_eq!(times[80..], [60.0; 20]);
    }

    #[test]
    fn opportunities_come_when_the_schedule_has_them() {
        // Two opportunities at 0 ms, none at 1 and 2 ms, one at 3 ms, repeated every 4 ms.
        let piece = |ms, kbps| Piece {
            at: MS(ms),
            rate: Rate::from_kbps(kbps),
            delay: None,
            loss: None,
        };
        let pieces = vec![piece(0, 24_000), piece(1, 0), piece(3, 12_000)];
        let schedule = Schedule::new(pieces, Some(MS(4))).unwrap();
        let mut link = link(schedule, MS(1));
        let times = passed(&mut link, Time::from_nanos(1), &[1_500; 5]);
        assert_eq!(times, [3.0, 4.0, 4.0, 7.0, 8.0]);
    }

    #[test]
    fn another_rate_holds_from_the_next_tick_on() {
        let mut link = link(Schedule::constant(Rate::from_kbps(12_000)), MS(1));
        let mut dropped = Vec::new();
        for _ in 0..3 {
            link.offer(Time::from_millis(1), TestPacket::sized(1_500), &mut dropped);
        }
        let first = link.poll(Time::from_millis(1), &mut dropped).unwrap();
        assert_eq!(first.finished, Time::from_millis(1));
        link.set_schedule(
            Time::from_nanos(1_500_000),
            Schedule::constant(Rate::from_kbps(24_000)),
        );
        let second = link.poll(Time::from_millis(2), &mut dropped).unwrap();
        let third = link.poll(Time::from_millis(2), &mut dropped).unwrap();
        assert_eq!(second.finished, third.finished);
    }
}
