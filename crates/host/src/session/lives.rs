//! The lives of a session's frames, put together from three sides: the encoder, the
//! sender and the browser.

use std::collections::{BTreeMap, VecDeque};

use mimosa_control::FrameId;
use mimosa_record::SessionFrame;
use mimosa_session::FrameLife;
use mimosa_units::{Bytes, Time, TimeDelta};

/// The browser tells of a frame's display within this after its end; then it never
/// will.
const LONGEST_WAIT: TimeDelta = TimeDelta::from_millis(1_000);
/// Frames in the making that are remembered, whatever happens to them.
const MOST: usize = 1_024;

/// What the encoder's side knows of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) captured: Time,
    pub(crate) begun: Time,
    pub(crate) ended: Time,
    pub(crate) coded: Bytes,
    pub(crate) budget: Bytes,
    pub(crate) is_keyframe: bool,
    pub(crate) quantiser: Option<f32>,
    pub(crate) attempts: u32,
    pub(crate) actions: u32,
}

/// What the browser's side knows of it, on the host's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) received: Option<Time>,
    pub(crate) decoded: Option<Time>,
    pub(crate) shown: Option<Time>,
}

#[derive(Debug)]
struct Life {
    made: Made,
    sent: Option<FrameLife>,
    seen: Option<Seen>,
}

/// Frames whose lives are not yet told.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    open: BTreeMap<FrameId, Life>,
    told: VecDeque<SessionFrame>,
}

impl Lives {
    /// The encoder has made a frame.
    pub(crate) fn made(&mut self, frame: FrameId, made: Made) {
        if self.open.len() == MOST {
            self.open.pop_first();
        }
        let life = Life {
            made,
            sent: None,
            seen: None,
        };
        self.open.insert(frame, life);
    }

    /// The sender knows how it ended.
    pub(crate) fn sent(&mut self, now: Time, sent: &FrameLife) {
        if let Some(life) = self.open.get_mut(&sent.frame) {
            life.sent = Some(*sent);
        }
        self.tell(now);
    }

    /// The browser has shown it.
    pub(crate) fn seen(&mut self, now: Time, frame: FrameId, seen: Seen) {
        if let Some(life) = self.open.get_mut(&frame) {
            life.seen.get_or_insert(seen);
        }
        self.tell(now);
    }

    /// Takes a frame about which nothing more will be heard, in their order.
    pub(crate) fn poll(&mut self) -> Option<SessionFrame> {
        self.told.pop_front()
    }

    /// Ends all lives, as they stand; `open` are the sender's of those it has.
    pub(crate) fn end(&mut self, open: impl Iterator<Item = FrameLife>) {
        for sent in open {
            if let Some(life) = self.open.get_mut(&sent.frame) {
                life.sent.get_or_insert(sent);
            }
        }
        for (_, life) in std::mem::take(&mut self.open) {
            self.told.extend(whole(&life));
        }
    }

    /// Tells the oldest lives, as far as they are whole or too old to become it.
    fn tell(&mut self, now: Time) {
        while let Some(first) = self.open.first_entry() {
            let life = first.get();
            let is_old = now.since(life.made.ended) > LONGEST_WAIT;
            let is_whole = life.sent.is_some() && (life.seen.is_some() || is_old);
            // The sender gives everything up after three seconds; a frame that it
            // never took has no life.
            let is_lost = now.since(life.made.ended) > LONGEST_WAIT * 5;
            if !is_whole && !is_lost {
                break;
            }
            self.told.extend(whole(life));
            first.remove();
        }
    }
}

fn whole(life: &Life) -> Option<SessionFrame> {
    let seen = life.seen.unwrap_or_default();
    let made = &life.made;
    Some(SessionFrame {
        captured: made.captured,
        encode_begun: made.begun,
        encode_ended: made.ended,
        life: life.sent?,
        coded: made.coded,
        budget: made.budget,
        is_keyframe: made.is_keyframe,
        quantiser: made.quantiser,
        attempts: made.attempts,
        received: seen.received,
        decoded: seen.decoded,
        shown: seen.shown,
        inputs: made.actions,
    })
}
