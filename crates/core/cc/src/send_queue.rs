//! The data that the pacer still holds, as far as a controller can tell from its events.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, SentPacket};
use mimosa_units::{Bytes, Time, TimeDelta};

/// Most frames remembered. A pacer that holds more no longer keeps up with its stream.
const MOST_FRAMES: usize = 256;

/// A frame with packets that have not left the pacer.
#[derive(Debug)]
struct Frame {
    id: FrameId,
    handed_over: Time,
    packets: u32,
    size: Bytes,
    /// Number and size of the packets that have left.
    left: (u32, Bytes),
}

/// The frames that were handed to the pacer and have not left it completely.
#[derive(Debug, Default)]
pub(crate) struct SendQueue {
    frames: VecDeque<Frame>,
}

impl SendQueue {
    /// Records that a frame was handed to the pacer, or that the last part of a frame was whose first
    /// part has been recorded with what was expected of the whole.
    pub(crate) fn push(&mut self, now: Time, id: FrameId, size: Bytes, packets: u32) {
        if let Some(newest) = self.frames.back_mut().filter(|newest| newest.id == id) {
            let (left, bytes) = newest.left;
            newest.packets = packets.saturating_sub(left);
            newest.size = size - bytes;
            if newest.packets == 0 {
                self.frames.pop_back();
            }
            return;
        }
        if self.frames.len() == MOST_FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(Frame {
            id,
            handed_over: now,
            packets,
            size,
            left: (0, Bytes::ZERO),
        });
    }

    /// Records that a packet left the pacer. The frames before its own have left or never will, so
    /// they are removed. Probes and retransmissions are ignored.
    pub(crate) fn sent(&mut self, packet: &SentPacket) {
        if !packet.kind.is_first() {
            return;
        }
        let Some(index) = self.frames.iter().position(|f| f.id == packet.frame) else {
            return;
        };
        self.frames.drain(..index);
        if let Some(frame) = self.frames.front_mut() {
            frame.packets = frame.packets.saturating_sub(1);
            frame.size -= packet.size;
            frame.left = (frame.left.0.saturating_add(1), frame.left.1 + packet.size);
            if frame.packets == 0 {
                self.frames.pop_front();
            }
        }
    }

    /// Removes a frame that the pacer gave up.
    pub(crate) fn given_up(&mut self, id: FrameId) {
        self.frames.retain(|frame| frame.id != id);
    }

    /// Size of all packets that wait in the pacer.
    pub(crate) fn bytes(&self) -> Bytes {
        self.frames.iter().map(|frame| frame.size).sum()
    }

    /// How long the oldest frame has waited since it was handed over; zero if no frame waits.
    pub(crate) fn oldest_wait(&self, now: Time) -> TimeDelta {
        self.frames
            .front()
            .map_or(TimeDelta::ZERO, |frame| now.since(frame.handed_over))
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{PacketKind, Sequence};

    use super::*;

    fn packet(frame: u64) -> SentPacket {
        SentPacket {
            sequence: Sequence(0),
            frame: FrameId(frame),
            kind: PacketKind::Media,
            size: Bytes::new(400),
            sent: Time::ZERO,
        }
    }

    #[test]
    fn a_frame_in_parts_is_as_large_as_its_last_part_says() {
        let at = Time::from_millis;
        let mut queue = SendQueue::default();
        queue.push(at(10), FrameId(0), Bytes::new(4_000), 10);
        queue.sent(&packet(0));
        assert_eq!(queue.bytes(), Bytes::new(3_600));
        queue.push(at(14), FrameId(0), Bytes::new(1_200), 3);
        assert_eq!(queue.bytes(), Bytes::new(800));
        assert_eq!(queue.oldest_wait(at(20)), TimeDelta::from_millis(10));
        queue.sent(&packet(0));
        queue.sent(&packet(0));
        assert_eq!(queue.oldest_wait(at(20)), TimeDelta::ZERO);
        // All packets had left before the last part was known to be the last.
        queue.push(at(26), FrameId(1), Bytes::new(4_000), 10);
        queue.sent(&packet(1));
        queue.push(at(30), FrameId(1), Bytes::new(400), 1);
        assert_eq!(queue.bytes(), Bytes::ZERO);
    }

    #[test]
    fn the_oldest_packet_is_that_of_the_oldest_frame_that_has_not_left() {
        let (at, ms) = (Time::from_millis, TimeDelta::from_millis);
        let mut queue = SendQueue::default();
        assert_eq!(queue.oldest_wait(at(5)), TimeDelta::ZERO);
        queue.push(at(10), FrameId(0), Bytes::new(800), 2);
        queue.push(at(26), FrameId(1), Bytes::new(800), 2);
        queue.sent(&packet(0));
        assert_eq!(queue.oldest_wait(at(30)), ms(20));
        assert_eq!(queue.bytes(), Bytes::new(1_200));
        queue.sent(&packet(0));
        assert_eq!(queue.oldest_wait(at(30)), ms(4));
        queue.given_up(FrameId(1));
        assert_eq!(queue.oldest_wait(at(30)), TimeDelta::ZERO);
        queue.sent(&packet(7));
    }
}
