//! A player's decoder: the real one, or a model that can decode a frame when it has the one
//! that the frame refers to.

use std::collections::{BTreeSet, VecDeque};

use mimosa_facts::FrameId;
use mimosa_session::viewer::Whole;
use mimosa_units::{Time, TimeDelta};

use crate::codecs::PictureDecoder;
use crate::encoder::read;

/// Time to decode a frame. Our choice: libavcodec takes 3.6 ms at 1280x720.
const TAKES: TimeDelta = TimeDelta::from_micros(3_600);
/// Number of frames that a decoder keeps as references.
const MOST: usize = 16;

/// The result of decoding a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Decoded {
    /// The frame was decoded.
    Whole,
    /// The frame refers to one that the decoder does not have.
    WithoutReference { frame: FrameId, reference: FrameId },
    /// The bytes are not those that the model encoder wrote.
    Spoiled,
    /// The frame gives another picture than the encoder coded: a frame before it is missing.
    AnotherPicture,
}

/// A model of a decoder, or a real one that takes as long as the model.
pub(crate) struct Decoder {
    real: Option<Box<dyn PictureDecoder>>,
    waiting: VecDeque<(Time, Whole)>,
    /// Factor by which frames take longer.
    pub(crate) slow: f64,
    kept: BTreeSet<FrameId>,
    newest: Option<FrameId>,
}

impl Decoder {
    pub(crate) fn new(real: Option<Box<dyn PictureDecoder>>) -> Self {
        Self {
            real,
            waiting: VecDeque::new(),
            slow: 1.0,
            kept: BTreeSet::new(),
            newest: None,
        }
    }

    /// Takes a frame in.
    pub(crate) fn push(&mut self, now: Time, frame: Whole) {
        let free = self.waiting.back().map_or(now, |(done, _)| now.max(*done));
        self.waiting
            .push_back((free + TAKES.scale(self.slow), frame));
    }

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn deadline(&self) -> Time {
        self.waiting.front().map_or(Time::MAX, |(done, _)| *done)
    }

    /// The frame that is done by `now`, what became of it, and whether it is newer than all
    /// before it. A real decoder's picture must have the digest that `coded` gives for the
    /// frame's RTP timestamp.
    pub(crate) fn poll(
        &mut self,
        now: Time,
        coded: impl Fn(u32) -> Option<u64>,
    ) -> Option<(Whole, Decoded, bool)> {
        let (_, whole) = self.waiting.pop_front_if(|(done, _)| *done <= now)?;
        if let Some(real) = &mut self.real {
            let frame = FrameId(whole.number);
            let is_newer = self.newest.is_none_or(|newest| frame > newest);
            self.newest = Some(frame);
            let digest = real.decode(&whole.access_unit);
            let decoded = if digest.is_some() && digest == coded(whole.timestamp) {
                Decoded::Whole
            } else {
                Decoded::AnotherPicture
            };
            return Some((whole, decoded, is_newer));
        }
        let Some((frame, reference)) = read(&whole.access_unit) else {
            return Some((whole, Decoded::Spoiled, true));
        };
        let is_newer = self.newest.is_none_or(|newest| frame > newest);
        self.newest = Some(frame);
        let missing = reference.filter(|reference| !self.kept.contains(reference));
        let decoded = match missing {
            Some(reference) => Decoded::WithoutReference { frame, reference },
            None => Decoded::Whole,
        };
        if missing.is_none() {
            if reference.is_none() {
                self.kept.clear();
            }
            self.kept.insert(frame);
            if self.kept.len() > MOST {
                self.kept.pop_first();
            }
        }
        Some((whole, decoded, is_newer))
    }
}
