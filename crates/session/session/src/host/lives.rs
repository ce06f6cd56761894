//! The lives of a session's frames, put together from what the encoder, the sender and the browser
//! say.

use std::collections::{BTreeMap, VecDeque};

use mimosa_facts::{
    FrameId, FrameLife, FramePlan, FrameRtp, MediaSequence, Relief, RtxSequence, SessionFrame,
};
use mimosa_units::{Bytes, Time, TimeDelta};

use super::inputs::Inputs;
use super::sound::Heard;

/// How long after its encoding a frame waits for the browser's word about its display.
const LONGEST_WAIT: TimeDelta = TimeDelta::from_millis(1_000);
/// Most frames with open lives. The oldest one is dropped for a new one.
const MOST: usize = 1_024;

/// What the encoder's side knows of a frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Made {
    pub(crate) captured: Time,
    pub(crate) begun: Time,
    pub(crate) ended: Time,
    pub(crate) processor: Option<TimeDelta>,
    pub(crate) relief: Relief,
    pub(crate) coded: Bytes,
    pub(crate) budget: Bytes,
    pub(crate) plan: FramePlan,
    pub(crate) is_keyframe: bool,
    pub(crate) quantiser: Option<f32>,
    pub(crate) attempts: u32,
    pub(crate) inputs: Inputs,
}

/// What the browser's side knows of a frame, with times on the host's clock.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    pub(crate) received: Option<Time>,
    pub(crate) decoded: Option<Time>,
    pub(crate) shown: Option<Time>,
}

#[derive(Debug)]
struct Life {
    made: Made,
    rtp: Option<FrameRtp>,
    sent: Option<FrameLife>,
    seen: Option<Seen>,
}

/// Collects frames' lives, and hands them out in the order of the frames.
#[derive(Debug, Default)]
pub(crate) struct Lives {
    open: BTreeMap<FrameId, Life>,
    told: VecDeque<SessionFrame>,
    heard: Heard,
}

impl Lives {
    /// Takes a frame from the encoder, or the first of its parts, which opens its life.
    pub(crate) fn made(&mut self, frame: FrameId, made: Made) {
        if let Some(life) = self.open.get_mut(&frame) {
            life.made = made;
            return;
        }
        if self.open.len() == MOST {
            self.open.pop_first();
        }
        let life = Life {
            made,
            rtp: None,
            sent: None,
            seen: None,
        };
        self.open.insert(frame, life);
    }

    /// Notes that a packet of the frame was sent for the first time, with this RTP number.
    pub(crate) fn left(&mut self, frame: FrameId, ssrc: u32, sequence: MediaSequence) {
        if let Some(life) = self.open.get_mut(&frame) {
            let rtp = life.rtp.get_or_insert(FrameRtp::new(ssrc, sequence));
            rtp.last = sequence;
        }
    }

    /// Notes that a packet of the frame was retransmitted, with this RTX number.
    pub(crate) fn left_again(&mut self, frame: FrameId, ssrc: u32, sequence: RtxSequence) {
        if let Some(life) = self.open.get_mut(&frame)
            && let Some(rtp) = &mut life.rtp
        {
            rtp.add_again(ssrc, sequence);
        }
    }

    /// Takes the sender's account of how a frame ended.
    pub(crate) fn sent(&mut self, now: Time, sent: &FrameLife) {
        if let Some(life) = self.open.get_mut(&sent.frame) {
            life.sent = Some(*sent);
        }
        self.tell(now);
    }

    /// Takes the browser's account of when it received, decoded and displayed a frame.
    pub(crate) fn seen(&mut self, now: Time, frame: FrameId, seen: Seen) {
        if let Some(life) = self.open.get_mut(&frame) {
            life.seen.get_or_insert(seen);
        }
        self.tell(now);
    }

    /// Takes the page's newest figures about sound.
    pub(crate) fn heard(&mut self, heard: Heard) {
        self.heard = heard;
    }

    /// Takes the next frame whose life is complete, in the order of frames.
    pub(crate) fn poll(&mut self) -> Option<SessionFrame> {
        self.told.pop_front()
    }

    /// Number of lives that are open, plus those that are complete and not yet taken.
    pub(crate) fn open(&self) -> usize {
        self.open.len() + self.told.len()
    }

    /// Completes all lives as they are. `open` holds the sender's accounts of the frames that it
    /// still has.
    pub(crate) fn end(&mut self, open: impl Iterator<Item = FrameLife>) {
        for sent in open {
            if let Some(life) = self.open.get_mut(&sent.frame) {
                life.sent.get_or_insert(sent);
            }
        }
        for (_, life) in std::mem::take(&mut self.open) {
            self.told.extend(whole(&life, self.heard));
        }
    }

    /// Completes the oldest lives, as far as everything about them is known or will never be.
    fn tell(&mut self, now: Time) {
        while let Some(first) = self.open.first_entry() {
            let life = first.get();
            let is_old = now.since(life.made.ended) > LONGEST_WAIT;
            let is_whole = life.sent.is_some() && (life.seen.is_some() || is_old);
            // The sender gives up every frame after three seconds. A frame for which it reports no
            // end was never handed to it.
            let is_lost = now.since(life.made.ended) > LONGEST_WAIT * 5;
            if !is_whole && !is_lost {
                break;
            }
            self.told.extend(whole(life, self.heard));
            first.remove();
        }
    }
}

fn whole(life: &Life, heard: Heard) -> Option<SessionFrame> {
    let seen = life.seen.unwrap_or_default();
    let made = &life.made;
    Some(SessionFrame {
        captured: made.captured,
        encode_begun: made.begun,
        encode_ended: made.ended,
        encode_processor: made.processor,
        relief: made.relief,
        life: life.sent?,
        coded: made.coded,
        budget: made.budget,
        plan: made.plan,
        is_keyframe: made.is_keyframe,
        quantiser: made.quantiser,
        attempts: made.attempts,
        received: seen.received,
        decoded: seen.decoded,
        shown: seen.shown,
        inputs: made.inputs.count,
        newest_input: made.inputs.newest,
        sound_skew: heard.skew,
        sound_concealed: heard.concealed,
        rtp: life.rtp,
    })
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{Decision, FrameEnd, Pacing};
    use mimosa_units::Rate;

    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);
    const START: Time = Time::from_secs(1);

    fn made(ended: Time) -> Made {
        Made {
            captured: ended - MS * 8,
            begun: ended - MS * 7,
            ended,
            processor: None,
            relief: Relief::NONE,
            coded: Bytes::new(900),
            budget: Bytes::new(1_000),
            plan: FramePlan::as_asked(Bytes::new(1_000)),
            is_keyframe: false,
            quantiser: None,
            attempts: 1,
            inputs: Inputs::default(),
        }
    }

    fn sent(frame: u64, acknowledged: Time) -> FrameLife {
        FrameLife {
            frame: FrameId(frame),
            due: START,
            interval: MS * 16,
            decision: Decision::starting_at(Rate::from_kbps(1_000)),
            allowed: Bytes::new(1_000),
            handed_over: START,
            pacing: Pacing::Burst,
            bucket: None,
            size: Bytes::new(1_000),
            packets: 1,
            first_sent: Some(START + MS),
            last_sent: Some(START + MS * 2),
            first_arrival: None,
            last_arrival: None,
            arrived: 1,
            lost: 0,
            retransmitted: 0,
            end: Some(FrameEnd::Acknowledged(acknowledged)),
            protection: None,
        }
    }

    fn seen() -> Seen {
        Seen {
            received: Some(START + MS * 3),
            decoded: Some(START + MS * 5),
            shown: Some(START + MS * 9),
        }
    }

    #[test]
    fn a_life_is_told_when_all_sides_have_spoken_in_order() {
        let mut lives = Lives::default();
        for frame in 0..2 {
            lives.made(FrameId(frame), made(START));
        }
        lives.sent(START + MS * 4, &sent(1, START + MS * 4));
        lives.seen(START + MS * 9, FrameId(1), seen());
        assert_eq!(lives.poll(), None, "the one before it is open");
        lives.seen(START + MS * 9, FrameId(0), seen());
        assert_eq!(lives.poll(), None, "the sender has not spoken");
        lives.sent(START + MS * 10, &sent(0, START + MS * 4));
        let told: Vec<_> = std::iter::from_fn(|| lives.poll()).collect();
        assert_eq!(told.len(), 2);
        assert_eq!(told[0].life.frame, FrameId(0));
        let stages = told[0].stages().unwrap();
        assert_eq!((stages.pace, stages.network), (MS * 2, MS));
        assert_eq!(stages.total, MS * 17);
    }

    #[test]
    fn a_frame_is_found_by_the_numbers_it_left_with() {
        let mut lives = Lives::default();
        lives.made(FrameId(0), made(START));
        lives.left_again(FrameId(0), 8, RtxSequence(1));
        for sequence in [65_535, 0, 1] {
            lives.left(FrameId(0), 7, MediaSequence(sequence));
        }
        for sequence in [65_530, 65_532, 58, 59] {
            lives.left_again(FrameId(0), 8, RtxSequence(sequence));
        }
        lives.left(FrameId(1), 7, MediaSequence(2));
        lives.end([sent(0, START)].into_iter());
        let rtp = lives.poll().unwrap().rtp.unwrap();
        assert_eq!(
            rtp.sequences().map(u16::from).collect::<Vec<_>>(),
            [65_535, 0, 1]
        );
        let again = rtp.again.unwrap();
        assert_eq!((rtp.ssrc, again.ssrc), (7, 8));
        let numbers: Vec<_> = again.sequences().map(u16::from).collect();
        assert_eq!(numbers, [65_530, 65_532, 58], "the last is too far behind");
    }

    #[test]
    fn a_frame_never_shown_is_told_late_and_an_unsent_one_not_at_all() {
        let mut lives = Lives::default();
        lives.made(FrameId(0), made(START));
        lives.made(FrameId(1), made(START));
        lives.sent(START + MS * 4, &sent(0, START + MS * 4));
        assert_eq!(lives.poll(), None);
        lives.seen(START + MS * 1_500, FrameId(9), seen());
        let told = lives.poll().unwrap();
        assert_eq!((told.life.frame, told.shown), (FrameId(0), None));
        lives.seen(START + MS * 6_000, FrameId(9), seen());
        assert_eq!(lives.poll(), None, "the sender never took it");
        assert!(lives.open.is_empty());
    }

    #[test]
    fn memory_is_bounded_and_the_end_tells_all() {
        let mut lives = Lives::default();
        for frame in 0..3_000 {
            lives.made(FrameId(frame), made(START));
        }
        assert_eq!(lives.open.len(), MOST);
        lives.end([sent(2_999, START), sent(2_998, START)].into_iter());
        assert_eq!(std::iter::from_fn(|| lives.poll()).count(), 2);
    }
}
