//! A session's encoder: the real one, or a model whose frames have the size asked for and say
//! in their bytes which frame they are and which one they refer to.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, FramePlan};
use mimosa_net::Random;
use mimosa_rtp::h264::Packetiser;
use mimosa_rtp::video::Payloads;
use mimosa_session::host::{Coded, CodedPart, Encoded, EncoderFailure, Job};
use mimosa_transport::LARGEST_PAYLOAD;
use mimosa_units::{Time, TimeDelta};
use mimosa_video::{FrameRequest, Recovery};

use crate::codecs::{Codecs, RealEncoder};

/// Number of frames to which another may refer: an H.264 encoder keeps 16 at most.
const MOST: usize = 16;
/// Least and greatest time to encode a frame, in seconds. Our choice: libx264 takes 3 to 9 ms at
/// 1280x720.
const TAKES: [f64; 2] = [0.003, 0.009];
/// Number of bytes in a frame before its filling.
pub(crate) const HEADER: usize = 38;
/// Least share of its budget that a frame fills.
const LEAST_FILL: f64 = 0.6;

/// Part of the time in which a frame is encoded before its first part is begun, as in libx264.
const BEFORE_PARTS: f64 = 0.2;

/// The frame that is being encoded.
#[derive(Debug)]
struct Running {
    job: Job,
    begun: Time,
    ends: Time,
    /// What comes of it, known from its first part on.
    coded: Option<Result<Coded, EncoderFailure>>,
    /// Number of its parts, and of those that are out.
    parts: usize,
    out: usize,
}

impl Running {
    /// When the next part is out, or the frame has ended.
    fn next(&self) -> Time {
        if self.out + 1 >= self.parts {
            return self.ends;
        }
        let share = (self.out + 1) as f64 / self.parts as f64;
        let share = BEFORE_PARTS + (1.0 - BEFORE_PARTS) * share;
        self.begun + (self.ends - self.begun).scale(share)
    }

    /// The next part, if it is out by `now` and has packets.
    fn part(&mut self, now: Time) -> Option<CodedPart> {
        let Some(Ok(coded)) = &self.coded else {
            self.out = self.parts;
            return None;
        };
        while self.out < self.parts && self.next() <= now {
            let count = coded.payloads.len();
            let [from, to] = [self.out, self.out + 1].map(|part| count * part / self.parts);
            self.out += 1;
            let is_last = self.out == self.parts;
            if from < to || is_last {
                return Some(CodedPart {
                    frame: self.job.request.frame,
                    begun: self.begun,
                    payloads: coded.payloads.part(from..to),
                    is_keyframe: coded.is_keyframe,
                    is_last,
                });
            }
        }
        None
    }
}

/// A model of an encoder, or a real one that takes as long as the model.
pub(crate) struct Encoder {
    random: Random,
    real: Option<RealEncoder>,
    /// The last frames, as the decoder has them too, and whether each may be referred to.
    window: VecDeque<(FrameId, bool)>,
    running: Option<Running>,
    packetiser: Packetiser,
    /// Factor by which frames exceed their budget; 1 if they do not.
    pub(crate) overrun: f64,
    /// Factor by which frames take longer; 1 if they do not. Smaller pictures take less in that case.
    pub(crate) slow: f64,
    /// Whether every frame fails from now on.
    pub(crate) is_broken: bool,
}

impl Encoder {
    pub(crate) fn new(seed: u64, name: &str, codecs: Option<Codecs>) -> Self {
        Self {
            random: Random::new(seed, name),
            real: codecs.and_then(RealEncoder::new),
            window: VecDeque::new(),
            running: None,
            packetiser: Packetiser::new(LARGEST_PAYLOAD),
            overrun: 1.0,
            slow: 1.0,
            is_broken: false,
        }
    }

    /// Begins to encode a frame; `false` while another is being encoded.
    pub(crate) fn begin(&mut self, now: Time, job: Job) -> bool {
        if self.running.is_some() {
            return false;
        }
        let [from, to] = TAKES;
        let mut takes = TimeDelta::from_secs(from + (to - from) * self.random.uniform());
        if self.slow > 1.0 {
            let source = job.picture.picture.size();
            let pixels = job.size.luma_len() as f64 / source.luma_len() as f64;
            takes = takes.scale(self.slow * pixels);
        }
        self.running = Some(Running {
            begun: now,
            ends: now + takes,
            coded: None,
            parts: usize::from(job.parts),
            out: 0,
            job,
        });
        true
    }

    pub(crate) fn deadline(&self) -> Time {
        self.running.as_ref().map_or(Time::MAX, Running::next)
    }

    /// Takes the next part of a frame that comes in parts, if it is out by `now`: as many of the frame's
    /// packets as belong to the time that has passed.
    pub(crate) fn poll_part(&mut self, now: Time) -> Option<CodedPart> {
        let is_in_parts = |running: &mut Running| running.parts > 1 && running.next() <= now;
        let mut running = self.running.take_if(is_in_parts)?;
        if running.coded.is_none() && !self.is_broken {
            running.coded = Some(self.code(&running.job));
        }
        let part = running.part(now);
        self.running = Some(running);
        part
    }

    /// Takes the frame that is encoded by `now`, all of whose parts have been taken, with whether it kept
    /// its budget.
    pub(crate) fn poll(&mut self, now: Time) -> Option<(Encoded, bool)> {
        let running = self.running.take_if(|running| running.ends <= now)?;
        // A frame whose parts have left may fail in the end.
        let left = match &running.coded {
            Some(Ok(coded)) => coded.length,
            Some(Err(_)) | None => 0,
        };
        let result = if self.is_broken {
            Err(EncoderFailure {
                reason: "the model of an encoder was told to fail".to_owned(),
            })
        } else {
            match running.coded {
                Some(Ok(coded)) => Ok(Coded {
                    payloads: Payloads::default(),
                    ..coded
                }),
                Some(failure) => failure,
                None => self.code(&running.job),
            }
        };
        let request = &running.job.request;
        let length = result.as_ref().map_or(left, |coded| coded.length);
        let kept = length as u64 <= request.budget.get();
        let encoded = Encoded {
            frame: request.frame,
            begun: running.begun,
            ended: running.ends,
            processor: None,
            result,
        };
        Some((encoded, kept))
    }

    /// The digest of the picture with this RTP timestamp, where pictures are real.
    pub(crate) fn digest(&self, timestamp: u32) -> Option<u64> {
        self.real.as_ref()?.digest(timestamp)
    }

    /// The frame that a job asks for.
    fn code(&mut self, job: &Job) -> Result<Coded, EncoderFailure> {
        let Some(real) = &mut self.real else {
            return Ok(self.model(job));
        };
        let frame = real.code(&Job {
            request: FrameRequest {
                budget: job.request.budget.scale(self.overrun),
                ..job.request
            },
            ..job.clone()
        })?;
        Ok(Coded {
            payloads: self.packetiser.packetise(&frame.data),
            length: frame.data.len(),
            plan: FramePlan::as_asked(job.request.budget),
            is_keyframe: frame.is_keyframe,
            quantiser: frame.quantiser,
            attempts: frame.attempts,
        })
    }

    /// The model's frame.
    fn model(&mut self, job: &Job) -> Coded {
        let request = &job.request;
        match request.recovery {
            Recovery::None => {}
            Recovery::Without(lost) => {
                for (frame, is_usable) in &mut self.window {
                    *is_usable &= *frame < lost;
                }
            }
            Recovery::Keyframe => self.window.clear(),
        }
        let usable = self.window.iter().rev().find(|(_, is_usable)| *is_usable);
        let reference = usable.map(|(frame, _)| *frame);
        if self.window.len() == MOST {
            self.window.pop_front();
        }
        self.window.push_back((request.frame, true));
        let fill = LEAST_FILL + (1.0 - LEAST_FILL) * self.random.uniform();
        let budget = request.budget.get() as f64;
        let share = if self.overrun > 1.0 {
            self.overrun
        } else {
            fill
        };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a budget in bytes"
        )]
        let length = (budget * share) as usize;
        let data = write(request.frame, reference, length.max(HEADER));
        Coded {
            payloads: self.packetiser.packetise(&data),
            length: data.len(),
            plan: FramePlan::as_asked(request.budget),
            is_keyframe: reference.is_none(),
            quantiser: Some(25.0),
            attempts: 1,
        }
    }
}

/// A frame as a NAL unit of H.264: its number, its reference, and filling that depends on the
/// number. No byte is zero, so that nothing looks like a start code.
fn write(frame: FrameId, reference: Option<FrameId>, length: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(length);
    let kind = if reference.is_none() { 0x65 } else { 0x41 };
    data.extend([0, 0, 0, 1, kind, 0x88]);
    digits(&mut data, frame.0);
    digits(
        &mut data,
        reference.map_or(u64::MAX, |reference| reference.0),
    );
    data.resize(length.max(data.len()), filling(frame.0));
    data
}

/// The byte that fills a frame.
fn filling(frame: u64) -> u8 {
    u8::try_from(frame % 200).unwrap_or(0) + 32
}

/// Writes a number as sixteen bytes, none of which is zero.
fn digits(data: &mut Vec<u8>, number: u64) {
    for byte in number.to_be_bytes() {
        data.extend([0x10 | byte >> 4, 0x10 | byte & 15]);
    }
}

fn number(digits: &[u8]) -> Option<u64> {
    let (pairs, rest) = digits.as_chunks::<2>();
    if pairs.len() != 8 || !rest.is_empty() {
        return None;
    }
    let mut number = 0;
    for &[high, low] in pairs {
        number = number << 8 | u64::from(high & 15) << 4 | u64::from(low & 15);
    }
    Some(number)
}

/// The number and the reference in the bytes of a frame; `None` for bytes that [`write`] has not
/// written.
pub(crate) fn read(data: &[u8]) -> Option<(FrameId, Option<FrameId>)> {
    let (header, filled) = data.split_at_checked(HEADER)?;
    let (start, rest) = header.split_at_checked(6)?;
    let (frame, reference) = rest.split_at_checked(16)?;
    let (frame, reference) = (number(frame)?, number(reference)?);
    // Whole blocks are compared at once, which is several times as fast as byte by byte.
    let block = [filling(frame); 64];
    let (blocks, rest) = filled.as_chunks::<64>();
    let is_filled = blocks.iter().all(|other| *other == block) && block.starts_with(rest);
    let is_whole = start.starts_with(&[0, 0, 0, 1]) && is_filled;
    is_whole.then_some((
        FrameId(frame),
        (reference != u64::MAX).then_some(FrameId(reference)),
    ))
}

/// The frame that a coded frame refers to; none for a keyframe.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Refers(pub(crate) Option<FrameId>);

/// What a coded frame refers to, by its first payload of RTP; `None` for a payload with which
/// no frame of the model begins.
pub(crate) fn reference(payload: &[u8]) -> Option<Refers> {
    // Before the digits is the header of the unit, or of the unit's first fragment (RFC 6184,
    // section 5.8), and one byte.
    let begin = payload.iter().take(3).position(|&byte| byte == 0x88)? + 1;
    let reference = number(payload.get(begin + 16..begin + 32)?)?;
    Some(Refers(
        (reference != u64::MAX).then_some(FrameId(reference)),
    ))
}

#[cfg(test)]
mod tests {
    use mimosa_rtp::h264::depacketise;

    use super::*;

    #[test]
    fn frames_say_who_they_are_also_in_packets() {
        for (frame, reference, length) in [(0, None, 38), (70_000, Some(69_999), 5_000)] {
            let reference = reference.map(FrameId);
            let data = write(FrameId(frame), reference, length);
            assert_eq!(data.len(), length);
            assert_eq!(read(&data), Some((FrameId(frame), reference)));
            let payloads = Packetiser::new(LARGEST_PAYLOAD).packetise(&data);
            let again = depacketise(payloads.iter()).unwrap();
            assert_eq!(read(&again), Some((FrameId(frame), reference)));
            let first = payloads.iter().next().unwrap();
            assert_eq!(super::reference(first), Some(Refers(reference)));
            let mut spoiled = data.clone();
            *spoiled.last_mut().unwrap() ^= 1;
            assert_ne!(read(&spoiled), Some((FrameId(frame), reference)));
        }
    }
}
