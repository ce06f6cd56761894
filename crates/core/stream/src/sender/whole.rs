//! Frames that the receiver has decoded although no report acknowledges all of their packets.
//!
//! Where each report comes once, a lost report leaves the packets of a frame unknown, and the frame
//! would stay open until it is given up. That the receiver has decoded the frame shows that it was
//! whole. A controller must not wait for the frame in the meantime: it would take the wait for a
//! queue.

use mimosa_facts::{Event, FrameEnd, FrameId, SentPacket};
use mimosa_units::Time;

use super::Sender;
use super::recovery::{end, frame_in};

impl Sender {
    /// Notes that the receiver has decoded a frame.
    pub(super) fn note_decoded(&mut self, now: Time, frame: FrameId) {
        // Reports that are repeated will acknowledge the frame themselves.
        if self.history.names_missing() && !self.decoded.contains(&frame) {
            self.decoded.push(frame);
            self.end_decoded(now);
        }
    }

    /// Notes the frames of these packets, of which nothing will become known.
    pub(super) fn note_unheard(&mut self, unknown: &[SentPacket]) {
        for packet in unknown {
            let is_known = self.unheard.last() == Some(&packet.frame);
            if packet.kind.is_first() && !is_known {
                self.unheard.push(packet.frame);
            }
        }
    }

    /// Tells the controller not to wait for frames whose report was lost, once all of their packets
    /// have left. Returns whether that can have moved the time of the next packet.
    pub(super) fn tell_unheard(&mut self, now: Time) -> bool {
        let mut changed = false;
        for frame in std::mem::take(&mut self.unheard) {
            if frame < self.newest_left {
                changed |= self.decide(now, Event::FrameGivenUp { frame });
            } else {
                self.unheard.push(frame);
            }
        }
        changed
    }

    /// Ends the lives of decoded frames of which no media packet is in flight. The report on such a
    /// packet may still say when it arrived; the other packets are on streams that may rest.
    pub(super) fn end_decoded(&mut self, now: Time) {
        let mut decoded = std::mem::take(&mut self.decoded);
        decoded.retain(|&frame| {
            let Some(life) = frame_in(&mut self.frames, frame).filter(|life| life.end.is_none())
            else {
                return false;
            };
            if self.history.has_in_flight(frame) {
                return true;
            }
            let how = FrameEnd::Acknowledged(now);
            end(life, how, &mut self.guard, &mut self.ended);
            false
        });
        self.decoded = decoded;
    }
}
