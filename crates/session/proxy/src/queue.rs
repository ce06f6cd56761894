//! The application's packets that wait until the controller's limits allow them to leave.
//!
//! A frame is handed on when it is whole: when its marker has come or the next frame begins, and
//! otherwise, as far as it has come, some time after its first packet. The queue is bounded in
//! bytes and in time; see [`Queue::drop_frames`].

use std::collections::VecDeque;
use std::fmt;

use mimosa_units::{Bytes, Time, TimeDelta};

/// A packet that waits.
pub(crate) struct Waiting {
    pub(crate) ssrc: u32,
    pub(crate) sequence: u16,
    /// Size on the wire, with the headers around it.
    pub(crate) size: Bytes,
    /// When the packet came from the application.
    pub(crate) at: Time,
    pub(crate) begins_keyframe: bool,
    pub(crate) contents: Vec<u8>,
}

impl fmt::Debug for Waiting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiting")
            .field("ssrc", &self.ssrc)
            .field("sequence", &self.sequence)
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

/// The packets that wait.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    packets: VecDeque<Waiting>,
    bytes: Bytes,
    /// Number of packets, from the front, that belong to frames that are handed on.
    ready: usize,
    /// When the first packet behind those came.
    since: Option<Time>,
}

impl Queue {
    /// Adds a packet. `begins` says that it is the first of a frame, `ends` that it is the last.
    pub(crate) fn push(&mut self, packet: Waiting, begins: bool, ends: bool) {
        if begins {
            self.hand_on();
        }
        self.since.get_or_insert(packet.at);
        self.bytes += packet.size;
        self.packets.push_back(packet);
        if ends {
            self.hand_on();
        }
    }

    /// Puts packets back to the front, which had been taken in this order.
    pub(crate) fn put_back(&mut self, packets: impl DoubleEndedIterator<Item = Waiting>) {
        for packet in packets.rev() {
            self.bytes += packet.size;
            self.ready += 1;
            self.packets.push_front(packet);
        }
    }

    /// Hands on what has come, whole or not.
    fn hand_on(&mut self) {
        self.ready = self.packets.len();
        self.since = None;
    }

    /// When the rest of a frame has been waited for long enough; [`Time::MAX`] if none is.
    pub(crate) fn deadline(&self, gather: TimeDelta) -> Time {
        self.since.map_or(Time::MAX, |since| since + gather)
    }

    /// Hands on a frame whose rest does not come in time.
    pub(crate) fn expire(&mut self, now: Time, gather: TimeDelta) {
        if self.deadline(gather) <= now {
            self.hand_on();
        }
    }

    /// Whether a packet may leave.
    pub(crate) const fn is_ready(&self) -> bool {
        self.ready > 0
    }

    /// Bytes that wait, on the wire.
    pub(crate) const fn bytes(&self) -> Bytes {
        self.bytes
    }

    /// When the oldest packet came; `None` if none waits.
    pub(crate) fn oldest(&self) -> Option<Time> {
        self.packets.front().map(|packet| packet.at)
    }

    /// The stream of the oldest packet.
    pub(crate) fn stream(&self) -> Option<u32> {
        self.packets.front().map(|packet| packet.ssrc)
    }

    /// Takes packets of at most `room` bytes together, and one at least, if one may leave.
    pub(crate) fn take(&mut self, room: Bytes) -> Vec<Waiting> {
        let mut taken = Vec::new();
        let mut size = Bytes::ZERO;
        while self.ready > 0
            && let Some(packet) = self
                .packets
                .pop_front_if(|packet| taken.is_empty() || size + packet.size <= room)
        {
            self.ready -= 1;
            size += packet.size;
            self.bytes -= packet.size;
            taken.push(packet);
        }
        taken
    }

    /// Drops everything before the newest keyframe, or everything if that is the oldest frame or
    /// there is none. Returns what was dropped.
    pub(crate) fn drop_frames(&mut self) -> Vec<Waiting> {
        let keyframe = self
            .packets
            .iter()
            .rposition(|packet| packet.begins_keyframe);
        // The first packet of a keyframe may follow parameter sets, which begin one as well.
        let first = keyframe.map(|last| {
            let before = self.packets.iter().take(last).rev();
            last - before.take_while(|packet| packet.begins_keyframe).count()
        });
        let count = first.filter(|first| *first > 0);
        let count = count.unwrap_or(self.packets.len());
        let dropped: Vec<_> = self.packets.drain(..count).collect();
        self.bytes -= dropped.iter().map(|packet| packet.size).sum();
        self.ready = self.ready.saturating_sub(count);
        if self.packets.is_empty() {
            self.since = None;
        }
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u16, millis: u64, begins_keyframe: bool) -> Waiting {
        Waiting {
            ssrc: 1,
            sequence,
            size: Bytes::new(1_000),
            at: Time::from_millis(millis),
            begins_keyframe,
            contents: Vec::new(),
        }
    }

    fn numbers(packets: &[Waiting]) -> Vec<u16> {
        packets.iter().map(|packet| packet.sequence).collect()
    }

    const GATHER: TimeDelta = TimeDelta::from_millis(1);

    #[test]
    fn a_frame_is_handed_on_when_it_is_whole() {
        let mut queue = Queue::default();
        queue.push(packet(0, 0, false), true, false);
        assert!(!queue.is_ready());
        assert_eq!(queue.deadline(GATHER), Time::from_millis(1));
        queue.push(packet(1, 0, false), false, true);
        assert!(queue.is_ready());
        assert_eq!(queue.deadline(GATHER), Time::MAX);
        // Without a marker, the next frame ends this one, and time does.
        queue.push(packet(2, 5, false), true, false);
        queue.push(packet(3, 6, false), true, false);
        assert_eq!(numbers(&queue.take(Bytes::MAX)), [0, 1, 2]);
        queue.expire(Time::from_millis(6), GATHER);
        assert!(!queue.is_ready());
        queue.expire(Time::from_millis(7), GATHER);
        assert_eq!(numbers(&queue.take(Bytes::ZERO)), [3], "one at least");
        assert_eq!((queue.bytes(), queue.oldest()), (Bytes::ZERO, None));
    }

    #[test]
    fn room_bounds_what_is_taken_and_what_is_put_back_comes_first() {
        let mut queue = Queue::default();
        for number in 0..5 {
            queue.push(packet(number, 0, false), false, number == 4);
        }
        let taken = queue.take(Bytes::new(2_999));
        assert_eq!(numbers(&taken), [0, 1]);
        assert_eq!(queue.bytes(), Bytes::new(3_000));
        queue.put_back(taken.into_iter());
        assert_eq!(numbers(&queue.take(Bytes::MAX)), [0, 1, 2, 3, 4]);
    }

    #[test]
    fn the_newest_keyframe_is_kept_unless_it_is_too_old_itself() {
        let mut queue = Queue::default();
        for number in 0..6 {
            queue.push(packet(number, 0, matches!(number, 1 | 3 | 4)), true, true);
        }
        assert_eq!(numbers(&queue.drop_frames()), [0, 1, 2]);
        assert_eq!(queue.bytes(), Bytes::new(3_000));
        assert_eq!(numbers(&queue.drop_frames()), [3, 4, 5]);
        assert!(!queue.is_ready() && queue.drop_frames().is_empty());
        assert_eq!(queue.bytes(), Bytes::ZERO);
    }
}
