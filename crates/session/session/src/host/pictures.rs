//! A session's pictures on their way into and out of the encoder.

use std::sync::Arc;

use mimosa_facts::{Complexity, FrameGrant};
use mimosa_transport::{LARGEST_PAYLOAD, OVERHEAD};
use mimosa_units::{Bytes, Time, TimeDelta};
use mimosa_video::FrameRequest;

use super::clock::picture_time;
use super::inputs::Inputs;
use super::job::Captured;
use super::job::{Encoded, Job};
use super::lives::Made;
use super::{Effect, Session};

/// Least useful budget of a frame. A picture with a smaller budget is skipped.
const SMALLEST_FRAME: Bytes = Bytes::new(200);

/// The frame that the encoder works on.
#[derive(Debug)]
pub(super) struct Encoding {
    grant: FrameGrant,
    budget: Bytes,
    captured: Time,
    inputs: Inputs,
}

impl Session {
    /// Takes a new picture from the source.
    pub fn picture(&mut self, now: Time, picture: &Arc<Captured>) {
        if !self.is_connected() {
            return;
        }
        self.unseen.join(picture.inputs);
        if self.testing.is_some() {
            return;
        }
        // A picture that is slightly early is taken, because sources and frame intervals jitter.
        let interval = self.interval();
        let slack = interval / 4;
        let is_early = self
            .newest_started
            .is_some_and(|started| picture.at.since(started) + slack < interval);
        if is_early {
            return;
        }
        self.statistics.captured += 1;
        if self.encoding.is_some() {
            let missed = self.waiting.replace(Arc::clone(picture));
            self.statistics.skipped += u64::from(missed.is_some());
        } else {
            self.encode(now, Arc::clone(picture));
        }
    }

    /// Asks the sender for the frame's budget, and hands the picture to the encoder.
    fn encode(&mut self, now: Time, picture: Arc<Captured>) {
        self.newest_started = Some(picture.at);
        let interval = self.interval();
        let size = self.detail.step().size(picture.picture.size());
        let grant = self.sender.frame_due(now, interval);
        if let Some(broken) = self.sender.poll_broken() {
            self.repair.broken(now, broken.frame, broken.has_left);
        }
        // An encoder may need one to avoid lost frames, and begins anew with another size.
        let may_be_keyframe = self.repair.is_due() || self.newest_size != Some(size);
        let budget = coded_size(grant.size, may_be_keyframe);
        if budget < SMALLEST_FRAME {
            self.sender.frame_encoded(now, std::iter::empty());
            self.statistics.skipped += 1;
            return;
        }
        self.newest_size = Some(size);
        self.encoding = Some(Encoding {
            grant,
            budget,
            captured: picture.at,
            inputs: std::mem::take(&mut self.unseen),
        });
        let request = FrameRequest {
            frame: grant.frame,
            budget,
            interval,
            complexity: Complexity::C0,
            recovery: self.repair.take(),
        };
        let timestamp = picture_time(self.rtp_offset, picture.at);
        self.effects.push(Effect::Encode(Job {
            picture,
            request,
            size,
            bandwidth: grant.target,
            is_limit: grant.is_limit,
            timestamp,
        }));
    }

    /// Takes a frame, or a failure, from the encoder.
    pub fn encoded(&mut self, now: Time, encoded: Encoded) {
        let is_its = |encoding: &mut Encoding| encoding.grant.frame == encoded.frame;
        let Some(encoding) = self.encoding.take_if(is_its) else {
            return;
        };
        match encoded.result {
            Ok(coded) => {
                let sizes = coded.payloads.sizes().map(|size| size + OVERHEAD);
                let size: Bytes = sizes.clone().sum();
                self.sender.frame_encoded(now, sizes);
                let made = Made {
                    captured: encoding.captured,
                    begun: encoded.begun,
                    ended: encoded.ended,
                    coded: Bytes::new(coded.length as u64),
                    budget: encoding.budget,
                    plan: coded.plan,
                    is_keyframe: coded.is_keyframe,
                    quantiser: coded.quantiser,
                    attempts: coded.attempts,
                    inputs: encoding.inputs,
                };
                self.lives.made(encoding.grant.frame, made);
                self.statistics.encoded(now, size, coded.is_keyframe);
                self.statistics.quantiser = coded.quantiser;
                self.adapt(now, coded.quantiser);
                let frame = encoding.grant.frame;
                let reference = self.repair.encoded(now, frame, coded.is_keyframe);
                let timestamp = picture_time(self.rtp_offset, encoding.captured);
                let repairs = self.sender.repairs(frame);
                self.transport
                    .insert(frame, timestamp, reference, coded.payloads, repairs);
            }
            Err(error) => {
                self.sender.frame_encoded(now, std::iter::empty());
                let reason = error.to_string();
                tracing::error!(reason, "no frame comes out of the encoder");
                self.leave(now, &reason);
            }
        }
        self.send(now);
        if let Some(picture) = self.waiting.take() {
            self.encode(now, picture);
        }
    }

    /// Time between frames at the present detail.
    fn interval(&self) -> TimeDelta {
        self.profile.interval * self.detail.step().every()
    }

    /// Changes the detail from now on, if the quantiser calls for it.
    fn adapt(&mut self, now: Time, quantiser: Option<f32>) {
        let Some(quantiser) = quantiser.filter(|_| self.profile.adapts_detail) else {
            return;
        };
        if self.detail.frame(now, f64::from(quantiser)) {
            let step = self.detail.step();
            tracing::info!(
                quantiser,
                of_16_pixels = step.pixels(),
                of_frames = step.every(),
                "the bitrate is worth another picture: so many of 16 pixels, one of so many frames"
            );
        }
    }
}

/// Budget of the encoder for a frame that takes at most `size` on the wire.
fn coded_size(size: Bytes, is_keyframe: bool) -> Bytes {
    // The parameter sets of a keyframe may need a packet of their own.
    let packets = size.pieces(LARGEST_PAYLOAD + OVERHEAD) + u64::from(is_keyframe);
    // FU-A headers take two bytes a packet, and 8 bytes are for the parameter sets.
    let headers = packets * (OVERHEAD.get() + 2) + 8;
    Bytes::new(size.get().saturating_sub(headers))
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Codec;
    use mimosa_rtp::video::Packetiser;

    use super::*;

    /// Bytes on the wire of an access unit of H.264 with units of these sizes, which have start codes
    /// of four bytes.
    fn on_the_wire(units: &[(u8, usize)]) -> Bytes {
        let unit = |&(header, size): &(u8, usize)| {
            let body = vec![0x55; size - 5];
            [&[0, 0, 0, 1, header][..], &body].concat()
        };
        let frame: Vec<u8> = units.iter().flat_map(unit).collect();
        let payloads = Packetiser::new(Codec::H264, LARGEST_PAYLOAD).packetise(&frame);
        payloads.sizes().map(|size| size + OVERHEAD).sum()
    }

    #[test]
    fn a_frame_within_its_budget_is_within_its_grant() {
        for size in (300..8_000).map(Bytes::new) {
            let budget = |may_be_keyframe| {
                let budget = coded_size(size, may_be_keyframe).get();
                usize::try_from(budget).unwrap()
            };
            let frame = on_the_wire(&[(0x41, budget(false))]);
            assert!(frame <= size, "{frame} of {size}");
            let rest = budget(true) - 30 - 9;
            let keyframe = on_the_wire(&[(0x67, 30), (0x68, 9), (0x65, rest)]);
            assert!(keyframe <= size, "a keyframe of {keyframe} of {size}");
            // A packet's headers are all that a larger frame would need more.
            let wasted = size - frame;
            assert!(wasted <= OVERHEAD + Bytes::new(16), "{wasted} of {size}");
        }
    }
}
