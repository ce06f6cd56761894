//! A link: a queue, and a serialiser that takes one packet after the other.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::packet::Packet;
use crate::queue::Queue;
use crate::schedule::{Cursor, Schedule};

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

    /// When the packet being serialised is through; [`Time::MAX`] when there is
    /// none or when it never will be.
    #[must_use]
    pub fn deadline(&self) -> Time {
        self.serving
            .as_ref()
            .map_or(Time::MAX, |serving| serving.finished)
    }

    /// Takes the packet that is through at `now`, and begins with the next.
    pub fn poll(&mut self, now: Time, dropped: &mut Vec<P>) -> Option<Served<P>> {
        let served = self.serving.take_if(|serving| serving.finished <= now)?;
        self.follow_rate(served.finished);
        self.serve_next(served.finished, dropped);
        Some(served)
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

    /// The rate at `now`.
    pub fn rate(&mut self, now: Time) -> Rate {
        self.cursor.seek(now);
        self.cursor.piece().rate
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
        if let Some(next) = self.queue.dequeue(now, dropped) {
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
}
