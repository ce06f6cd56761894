//! A link: a queue, and a serialiser that takes one packet after the other.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::Queue;
use crate::schedule::{Cursor, Schedule, work_of};

/// A packet that has passed the link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Served<P> {
    /// The packet.
    pub packet: P,
    /// When it was offered to the queue.
    pub offered: Time,
    /// When its first bit left.
    pub started: Time,
    /// When its last bit left.
    pub finished: Time,
}

/// A link that serialises packets at the rate of its schedule.
#[derive(Debug)]
pub struct Link<P> {
    queue: Box<dyn Queue<P>>,
    /// Where the schedule is now, for the queue and the path.
    cursor: Cursor,
    /// Where it is when the packet being serialised is through.
    ahead: Cursor,
    serving: Option<Served<P>>,
    /// What was left of it when the schedule was last replaced, if that was since it
    /// began, and when that was.
    left: Option<(Time, u128)>,
    /// When an idle link looks at its queue again.
    ready: Time,
}

impl<P: Packet> Link<P> {
    /// An idle link.
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

    /// Offers a packet at `now`, which is not before the last call's; packets
    /// given up go to `dropped`.
    pub fn offer(&mut self, now: Time, packet: P, dropped: &mut Vec<P>) {
        self.follow_rate(now);
        self.queue.enqueue(now, packet, dropped);
        if self.serving.is_none() {
            self.serve_next(now, dropped);
        }
    }

    /// When to call [`Link::poll`]: the packet being serialised is through, or a
    /// queue that shapes lets the next go. [`Time::MAX`] when there is none, or when
    /// it never will be.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.serving
            .as_ref()
            .map_or(self.ready, |serving| serving.finished)
    }

    /// Takes the packet that is through at `now`, and begins with the next. Call it
    /// until it gives nothing, and before [`Link::offer`] with the same time.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Served<P>> {
        // A late call loses no time: what was ready began when it was.
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

    /// Goes by `schedule`, whose times count from the beginning as before, from `now`
    /// on. What is being serialised goes on from where it is. Call [`Link::poll`]
    /// until it gives nothing before.
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

    /// The rate at `now`, the time of the last call.
    #[must_use]
    pub fn rate(&self) -> Rate {
        self.cursor.piece().rate
    }

    /// The number of the queue that a packet waits in, or would; see [`Queue::lane`].
    #[must_use]
    pub fn lane(&self, packet: &P) -> usize {
        self.queue.lane(packet)
    }

    /// Data that waits or is being serialised.
    #[must_use]
    pub fn backlog(&self) -> Bytes {
        let serving = self.serving.as_ref().map(|s| s.packet.size());
        self.queue.backlog() + serving.unwrap_or(Bytes::ZERO)
    }

    /// Packets that wait or are being serialised.
    #[must_use]
    pub fn packets(&self) -> usize {
        self.queue.len() + usize::from(self.serving.is_some())
    }

    /// Propagation and loss that the schedule states for `now`, if it does.
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
            // Later than now, so that looking ends.
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

    /// 1250 bytes take a millisecond at 10 Mbit/s.
    const PACKET: TestPacket = TestPacket::sized(1250);

    fn link(schedule: Schedule) -> Link<TestPacket> {
        Link::new(Box::new(DropTail::new(Limit::Packets(3))), schedule)
    }

    /// Times in milliseconds at which packets were through.
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
        // Half is through; a quarter of the rest passes at a quarter of the rate.
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
