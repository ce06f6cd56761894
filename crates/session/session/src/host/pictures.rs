//! A session's pictures on their way into and out of the encoder.

use std::sync::Arc;

use mimosa_facts::{Complexity, FrameGrant, FramePlan, Relief, Strain};
use mimosa_transport::{LARGEST_PAYLOAD, OVERHEAD};
use mimosa_units::{Bytes, Time, TimeDelta};
use mimosa_video::detail::Step;
use mimosa_video::{FrameRequest, Size};

use super::clock::picture_time;
use super::inputs::Inputs;
use super::job::Captured;
use super::job::{CodedPart, Encoded, Job};
use super::limit::with_limit;
use super::lives::Made;
use super::{Effect, Session};

/// Least useful budget of a frame. A picture with a smaller budget is skipped.
const SMALLEST_FRAME: Bytes = Bytes::new(200);
/// Least budget of a part of a frame: two packets, so that few packets leave that are not full.
const SMALLEST_PART: Bytes = Bytes::new(2_400);

/// Whether it is a processor that cannot keep up: the host's, or the viewer's.
const fn is_of_processors(strain: Strain) -> bool {
    match strain {
        Strain::EncoderAtLimit | Strain::ProcessorTaken | Strain::ViewerBehind => true,
        Strain::ViewerLimit => false,
    }
}

/// The frame that the encoder works on.
#[derive(Debug)]
pub(super) struct Encoding {
    grant: FrameGrant,
    budget: Bytes,
    /// The budget without a bound for the processor's sake.
    pub(super) asked: Bytes,
    /// When the picture was handed to the encoder.
    pub(super) handed: Time,
    /// The sizes of the picture and of the frame.
    pub(super) source: Size,
    pub(super) size: Size,
    relief: Relief,
    captured: Time,
    inputs: Inputs,
    /// Size on the wire of the parts that have come.
    came: Bytes,
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
        self.load.offered(picture.at);
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
        let source = picture.picture.size();
        let size = self.step().size(source);
        let limit = self.picture_limit(now);
        self.sender.set_cap(limit);
        let grant = self.sender.frame_due(now, interval);
        if let Some(broken) = self.sender.poll_broken() {
            self.repair.broken(now, broken.frame, broken.has_left);
        }
        // An encoder may need one to avoid lost frames, and begins anew with another size.
        let another_size = self.newest_form.is_none_or(|(newest, _)| newest != size);
        let may_be_keyframe = self.repair.is_due() || another_size;
        let is_strained = self.load.relief().strain.is_some_and(is_of_processors);
        let entropy = self.entropy.choose(now, is_strained, may_be_keyframe);
        let form = Some((size, entropy));
        if self
            .newest_form
            .is_some_and(|(_, newest)| newest != entropy)
        {
            let coding = entropy.name();
            tracing::info!(coding, is_strained, "the entropy coding changes");
            self.load.opens();
        }
        let may_be_keyframe = may_be_keyframe || self.newest_form != form;
        let asked = coded_size(grant.size, may_be_keyframe);
        let budget = self.load.budget(asked).max(SMALLEST_FRAME.min(asked));
        let relief = self.load.relief();
        let relief = if grant.is_capped {
            with_limit(relief, asked)
        } else {
            relief
        };
        if budget < SMALLEST_FRAME {
            self.sender.frame_encoded(now, std::iter::empty());
            self.statistics.skipped += 1;
            return;
        }
        self.newest_form = form;
        self.encoding = Some(Encoding {
            grant,
            budget,
            asked,
            handed: now,
            source,
            size,
            relief,
            captured: picture.at,
            inputs: std::mem::take(&mut self.unseen),
            came: Bytes::ZERO,
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
            spares_analysis: self.load.spares_analysis(),
            timestamp,
            parts: self.parts(budget),
            entropy,
        }));
    }

    /// The most parts of a frame with this budget.
    fn parts(&self, budget: Bytes) -> u8 {
        if !self.transport.agreed().takes_parts {
            return 1;
        }
        let most = u64::from(self.profile.parts).max(1);
        let parts = (budget.get() / SMALLEST_PART.get()).clamp(1, most);
        u8::try_from(parts).unwrap_or(1)
    }

    /// Takes a part of a frame from the encoder.
    pub fn coded_part(&mut self, now: Time, part: CodedPart) {
        let is_its = |encoding: &&mut Encoding| encoding.grant.frame == part.frame;
        let Some(encoding) = self.encoding.as_mut().filter(is_its) else {
            return;
        };
        let frame = part.frame;
        let is_first = encoding.came == Bytes::ZERO;
        let sizes = part.payloads.sizes().map(|size| size + OVERHEAD);
        encoding.came += sizes.clone().sum();
        self.sender.frame_part(now, sizes, part.is_last);
        let repairs = part.is_last.then(|| self.sender.repairs(frame));
        if is_first {
            // What came of the frame is known with its end.
            let made = Made {
                captured: encoding.captured,
                begun: part.begun,
                ended: now,
                processor: None,
                relief: encoding.relief,
                coded: part.payloads.size(),
                budget: encoding.budget,
                plan: FramePlan::as_asked(encoding.budget),
                is_keyframe: part.is_keyframe,
                quantiser: None,
                attempts: 1,
                inputs: encoding.inputs,
            };
            self.lives.made(frame, made);
            let reference = self.repair.encoded(now, frame, part.is_keyframe);
            let timestamp = picture_time(self.rtp_offset, encoding.captured);
            if let Some(repairs) = repairs {
                self.transport
                    .insert(frame, timestamp, reference, part.payloads, repairs);
            } else {
                self.transport
                    .begin(frame, timestamp, reference, part.payloads);
            }
        } else {
            self.transport.extend(frame, &part.payloads, repairs);
        }
        self.send(now);
    }

    /// Takes a frame, or a failure, from the encoder. The frame may have come in parts before.
    pub fn encoded(&mut self, now: Time, encoded: Encoded) {
        let frame = encoded.frame;
        let is_its = |encoding: &&Encoding| encoding.grant.frame == frame;
        let Some(came) = self.encoding.as_ref().filter(is_its).map(|its| its.came) else {
            return;
        };
        match encoded.result {
            Ok(mut coded) => {
                if came == Bytes::ZERO {
                    let whole = CodedPart {
                        frame,
                        begun: encoded.begun,
                        payloads: std::mem::take(&mut coded.payloads),
                        is_keyframe: coded.is_keyframe,
                        is_last: true,
                    };
                    self.coded_part(now, whole);
                }
                if let Some(encoding) = self.encoding.take() {
                    let made = Made {
                        captured: encoding.captured,
                        begun: encoded.begun,
                        ended: encoded.ended,
                        processor: encoded.processor,
                        relief: encoding.relief,
                        coded: Bytes::new(coded.length as u64),
                        budget: encoding.budget,
                        plan: coded.plan,
                        is_keyframe: coded.is_keyframe,
                        quantiser: coded.quantiser,
                        attempts: coded.attempts,
                        inputs: encoding.inputs,
                    };
                    self.lives.made(frame, made);
                    self.statistics
                        .encoded(now, encoding.came, coded.is_keyframe);
                    let length = Bytes::new(coded.length as u64);
                    self.entropy.coded(encoding.size, length);
                    self.worked(now, &encoding, &coded, encoded.processor);
                }
                self.statistics.quantiser = coded.quantiser;
                self.adapt(now, coded.quantiser);
            }
            Err(error) => {
                self.encoding = None;
                self.sender.frame_encoded(now, std::iter::empty());
                let reason = error.to_string();
                tracing::error!(reason, "no frame comes out of the encoder");
                self.leave(now, &reason);
                self.send(now);
            }
        }
        if let Some(picture) = self.waiting.take() {
            self.encode(now, picture);
        }
    }

    /// What the bitrate is worth, and processor and viewer can keep up with.
    fn step(&self) -> Step {
        self.detail.step().least(self.load.step())
    }

    /// Time between frames at the present step.
    fn interval(&self) -> TimeDelta {
        self.profile.interval * self.step().every()
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
