//! A link: a queue, and a serialiser that sends one packet after the other.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::Queue;
use crate::schedule::{Cursor, Schedule, work_of};

/// A packet that has passed the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served<P> {
    /// The packet that passed.
    pub packet: P,
    /// When the packet was offered to the queue.
    pub offered: Time,
    /// When the packet's first bit left.
    pub started: Time,
    /// When the packet's last bit left.
    pub finished: Time,
}

/// A link: serialises packets from its queue at the rate of its schedule.
#[derive(Debug)]
pub struct Link<P> {
    queue: Box<dyn Queue<P>>,
    /// The position in the schedule at the time of the last call, for the rate and the conditions.
    cursor: Cursor,
    /// The position in the schedule at which the packet being serialised ends.
    ahead: Cursor,
    /// The packet being serialised.
    serving: Option<Served<P>>,
    /// When the schedule was last replaced, and the work that the packet being
    /// serialised had left then; `None` if the schedule has not been replaced since
    /// that packet began.
    left: Option<(Time, u128)>,
    /// When an idle link asks its queue again; [`Time::MAX`] for never.
    ready: Time,
}

impl<P: Packet> Link<P> {
    /// An idle link with this queue and this schedule.
    #[must_use]
    pub fn new(mut queue: Box<dyn Queue<P>>, schedule: Schedule) -> Self {
        let ahead = schedule.clone().cursor();
        let cursor = schedule.cursor();
        queue.rate_changed(cursor.piece().rate);
        Self {
            queue,
            cursor,
            ahead,
            serving: None,
            left: None,
            ready: Time::MAX,
        }
    }

    /// Offers a packet to the queue at `now`, which must not be before the time of
    /// the last call. Packets that the queue gives up are appended to `dropped`.
    pub fn offer(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        self.follow_rate(now);
        self.queue.enqueue(now, packet, dropped);
        if self.serving.is_none() {
            self.serve_next(now, dropped);
        }
    }

    /// When to call [`Link::poll`]: when the packet being serialised has passed, or
    /// when a queue that shapes may let the next one go. [`Time::MAX`] when no packet
    /// is there, or when none will ever pass.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.serving
            .as_ref()
            .map_or(self.ready, |serving| serving.finished)
    }

    /// Takes a packet that has passed by `now`, and begins with the next one; `None`
    /// when none has passed. Packets that the queue gives up are appended to
    /// `dropped`. Call it until it returns `None`, and before [`Link::offer`] with
    /// the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Served<P>> {
        // A late call loses no time: a packet begins when it was ready, not when the call comes.
        while self.serving.is_none() && self.ready <= now {
            let ready = self.ready;
            self.follow_rate(ready);
            self.serve_next(ready, dropped);
        }
        let served = self.serving.take_if(|serving| serving.finished <= now)?;
        self.follow_rate(served.finished);
        self.serve_next(served.finished, dropped);
        Some(served)
    }

    /// Replaces the schedule from `now` on. The times of `schedule` count from the
    /// beginning of the clock. The packet being serialised goes on with the bits that
    /// it has left. Before this, call [`Link::poll`] until it returns `None`.
    pub fn set_schedule(&mut self, now: Time, schedule: Schedule) {
        let old = self.cursor.schedule();
        let left = self.serving.as_ref().map(|serving| {
            let whole = (serving.started, work_of(serving.packet.size()));
            let (since, left) = self.left.unwrap_or(whole);
            let done = old.work_until(now).saturating_sub(old.work_until(since));
            (now, left.saturating_sub(done))
        });
        self.left = left;
        self.ahead = schedule.clone().cursor();
        self.cursor = schedule.cursor();
        self.cursor.seek(now);
        if let (Some(serving), Some((_, left))) = (&mut self.serving, self.left) {
            serving.finished = self.ahead.finish_work(now, left).unwrap_or(Time::MAX);
        }
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

    /// Data that waits, and the packet being serialised.
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        let serving = self.serving.as_ref().map(|s| s.packet.size());
        self.queue.backlog() + serving.unwrap_or(Bytes::ZERO)
    }

    /// Number of packets that wait or are being serialised.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.queue.len() + usize::from(self.serving.is_some())
    }

    /// The propagation delay and the share of packets lost that the schedule states
    /// for the time of the last call; each `None` where it does not state it.
    #[must_use]
    pub fn conditions(&self) -> (Option<TimeDelta>, Option<f64>) {
        let piece = self.cursor.piece();
        (piece.delay, piece.loss)
    }

    fn follow_rate(&mut self, now: Time) {
        if self.cursor.seek(now) {
            self.queue.rate_changed(self.cursor.piece().rate);
        }
    }

    fn serve_next(&mut self, now: Time, dropped: &mut Vec<P>) {
        let Some(next) = self.queue.dequeue(now, dropped) else {
            // `ready` is later than `now`, so that the loop in `poll` ends.
            self.ready = self.queue.ready(now).max(now + TimeDelta::from_nanos(1));
            return;
        };
        self.ready = Time::MAX;
        self.left = None;
        let size = next.packet.size();
        let finished = self.ahead.finish(now, size).unwrap_or(Time::MAX);
        self.serving = Some(Served {
            packet: next.packet,
            offered: next.since,
            started: now,
            finished,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::TestPacket;
    use crate::queue::{DropTail, Limit};
    use crate::schedule::Piece;

    /// A packet of 1250 bytes, which takes a millisecond at 10 Mbit/s.
    const PACKET: TestPacket = TestPacket::sized(1250);

    fn link(schedule: Schedule) -> Link<TestPacket> {
        Link::new(Box::new(DropTail::new(Limit::Packets(3))), schedule)
    }

    /// The times in milliseconds at which the remaining packets have passed.
    fn drain(link: &mut Link<TestPacket>) -> Vec<f64> {
        let mut dropped = Vec::new();
        let mut times = Vec::new();
        while link.deadline() < Time::MAX {
            let due = link.deadline();
            let served = link.poll(due, &mut dropped).expect("due means due");
            assert_eq!(served.finished, due);
            times.push(due.as_secs() * 1e3);
        }
        times
    }

    #[test]
    fn packets_are_serialised_one_after_the_other() {
        let mut link = link(Schedule::constant(Rate::from_kbps(10_000)));
        let mut dropped = Vec::new();
        for _ in 0..5 {
            link.offer(Time::from_millis(2), PACKET, &mut dropped);
        }
        assert_eq!(dropped.len(), 1, "one is served, three wait");
        assert_eq!((link.packets(), link.backlog()), (4, Bytes::new(5000)));
        assert_eq!(drain(&mut link), [3.0, 4.0, 5.0, 6.0]);
        assert_eq!(link.poll(Time::from_secs(1), &mut dropped), None);
    }

    #[test]
    fn a_late_poll_loses_no_time() {
        let mut link = link(Schedule::constant(Rate::from_kbps(10_000)));
        let mut dropped = Vec::new();
        link.offer(Time::ZERO, PACKET, &mut dropped);
        link.offer(Time::ZERO, PACKET, &mut dropped);
        let late = Time::from_millis(10);
        let first = link.poll(late, &mut dropped).expect("through long ago");
        let second = link.poll(late, &mut dropped).expect("through long ago");
        assert_eq!(first.finished, Time::from_millis(1));
        assert_eq!(
            (second.started, second.finished),
            (Time::from_millis(1), Time::from_millis(2))
        );
    }

    #[test]
    fn another_rate_holds_for_what_is_left_of_a_packet() {
        let mut link = link(Schedule::constant(Rate::from_kbps(10_000)));
        let mut dropped = Vec::new();
        link.offer(Time::ZERO, PACKET, &mut dropped);
        link.offer(Time::ZERO, PACKET, &mut dropped);
        let at = |micros: u64| Time::from_nanos(micros * 1_000);
        // Half of the packet has passed; a quarter of the rest passes at a quarter of the rate.
        link.set_schedule(at(500), Schedule::constant(Rate::from_kbps(2_500)));
        assert_eq!(link.deadline(), at(2_500));
        link.set_schedule(at(1_000), Schedule::constant(Rate::ZERO));
        assert_eq!((link.deadline(), link.rate()), (Time::MAX, Rate::ZERO));
        link.set_schedule(at(9_000), Schedule::constant(Rate::from_kbps(10_000)));
        assert_eq!(drain(&mut link), [9.375, 10.375]);
    }

    #[test]
    fn an_outage_holds_what_is_being_sent() {
        let piece = |ms, kbps| Piece {
            at: TimeDelta::from_millis(ms),
            rate: Rate::from_kbps(kbps),
            delay: Some(TimeDelta::from_millis(ms)),
            loss: None,
        };
        let schedule = Schedule::new(vec![piece(0, 10_000), piece(1, 0), piece(50, 20_000)], None);
        let mut link = link(schedule.expect("in order"));
        let mut dropped = Vec::new();
        for _ in 0..3 {
            link.offer(Time::ZERO, PACKET, &mut dropped);
        }
        assert_eq!(drain(&mut link), [1.0, 50.5, 51.0]);
        assert_eq!(link.conditions().0, Some(TimeDelta::from_millis(50)));
    }
}
