//! Frames that the receiver has decoded although no report acknowledges all of their packets.
//!
//! Where each report comes once, a lost report leaves the packets of a frame unknown, and the frame
//! would stay open until it is given up. That the receiver has decoded the frame shows that it was
//! whole.

use mimosa_facts::{FrameEnd, FrameId};
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

    /// Ends the lives of decoded frames of which no packet is in flight. The report on a packet in
    /// flight may still say when it arrived.
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
