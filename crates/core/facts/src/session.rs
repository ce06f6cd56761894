//! One frame of a session: its life at the sender, at the encoder and at the player.

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::frame::FrameLife;
use crate::media::Complexity;
use crate::number::{MediaSequence, RtxSequence};

/// One frame of a session, from the capture to the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionFrame {
    /// When the source had the picture: the damage or the drawing began.
    pub captured: Time,
    /// When the encoder was given it.
    pub encode_begun: Time,
    /// When the encoder was done.
    pub encode_ended: Time,
    /// Its life at the sender.
    pub life: FrameLife,
    /// What the encoder made of it.
    pub coded: Bytes,
    /// What the encoder was allowed.
    pub budget: Bytes,
    /// What it was meant to be.
    pub plan: FramePlan,
    /// Whether it can be decoded without the frames before.
    pub is_keyframe: bool,
    /// The encoder's quantiser, where it tells.
    pub quantiser: Option<f32>,
    /// How often it was encoded until it fitted.
    pub attempts: u32,
    /// When the browser had its last packet, on the host's clock.
    pub received: Option<Time>,
    /// When the browser had decoded it, on the host's clock.
    pub decoded: Option<Time>,
    /// When the browser had it on the screen, on the host's clock.
    pub shown: Option<Time>,
    /// The player's actions since the frame before, all applied before the
    /// capture.
    pub inputs: u32,
    /// When the newest of them was made and came; `None` without any.
    pub newest_input: Option<InputTimes>,
    /// By how much later sound was heard than the picture of the same time was seen, as
    /// the page had told last.
    pub sound_skew: Option<TimeDelta>,
    /// Samples of sound that the page had made up by then, since the session's start.
    pub sound_concealed: Option<u64>,
    /// Its packets on the wire; `None` when they are not known or none left.
    pub rtp: Option<FrameRtp>,
}

/// When an action of the player was made and came, on the host's clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InputTimes {
    /// When the browser told the page of it, if the page's clock is known.
    pub made: Option<Time>,
    /// When the host had it.
    pub received: Time,
}

/// What a frame was meant to be when it was given to the encoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramePlan {
    /// The work that was put in.
    pub complexity: Complexity,
    /// The size it was encoded for: the budget, where nothing else decides.
    pub size: Bytes,
    /// Its predicted size over that of others, where sizes are predicted.
    pub relative: Option<f64>,
}

impl FramePlan {
    /// As it was asked for: `size`, with the least work.
    #[must_use]
    pub const fn as_asked(size: Bytes) -> Self {
        Self {
            complexity: Complexity::C0,
            size,
            relative: None,
        }
    }

    /// Whether more than the least work was put in.
    #[must_use]
    pub fn is_more_work(&self) -> bool {
        self.complexity > Complexity::C0
    }
}

/// Where a frame's packets are among a session's, by the numbers that RTP's header
/// has in the clear.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameRtp {
    /// The stream of first transmissions.
    pub ssrc: u32,
    /// Sequence number of the first of its packets that left.
    pub first: MediaSequence,
    /// Sequence number of the last; those between are the frame's as well.
    pub last: MediaSequence,
    /// Those that were sent again.
    pub again: Option<SentAgain>,
}

/// A frame's packets that were sent again. The stream that they are on has other
/// frames' between them, and probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SentAgain {
    /// The stream of retransmissions.
    pub ssrc: u32,
    /// Sequence number of the first there.
    pub first: RtxSequence,
    /// Bit *n* from the least one says that `first` + 1 + *n* is the frame's too.
    /// What comes later than that is left out.
    pub others: u64,
}

impl FrameRtp {
    /// The first transmission with this number.
    #[must_use]
    pub const fn new(ssrc: u32, sequence: MediaSequence) -> Self {
        Self {
            ssrc,
            first: sequence,
            last: sequence,
            again: None,
        }
    }

    /// Adds a packet that was sent again.
    pub fn add_again(&mut self, ssrc: u32, sequence: RtxSequence) {
        let again = self.again.get_or_insert(SentAgain {
            ssrc,
            first: sequence,
            others: 0,
        });
        let after = u32::from(sequence.since(again.first));
        if again.ssrc == ssrc
            && let Some(bit) = after.checked_sub(1).and_then(|bit| 1_u64.checked_shl(bit))
        {
            again.others |= bit;
        }
    }

    /// The sequence numbers of first transmissions.
    pub fn sequences(self) -> impl Iterator<Item = MediaSequence> {
        (0..=self.last.since(self.first)).map(move |after| self.first.plus(after))
    }
}

impl SentAgain {
    /// Their sequence numbers.
    pub fn sequences(self) -> impl Iterator<Item = RtxSequence> {
        let others = (0..64_u16).filter(move |bit| self.others >> bit & 1 == 1);
        std::iter::once(0)
            .chain(others.map(|bit| bit + 1))
            .map(move |after| self.first.plus(after))
    }
}

impl SessionFrame {
    /// Where its time went; `None` unless it was shown and all moments between
    /// are known.
    #[must_use]
    pub fn stages(&self) -> Option<Stages> {
        let sent = self.life.last_sent?;
        let (received, decoded, shown) = (self.received?, self.decoded?, self.shown?);
        Some(Stages {
            capture: self.encode_begun - self.captured,
            encode: self.encode_ended - self.encode_begun,
            pace: sent - self.encode_ended,
            network: received - sent,
            decode: decoded - received,
            present: shown - decoded,
            total: shown - self.captured,
        })
    }
}

/// Where a frame's time went. The parts add up to the total exactly; one of
/// them is negative where the browser's clock is mapped a little wrong.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stages {
    /// From the capture to the beginning of encoding.
    pub capture: TimeDelta,
    /// Encoding.
    pub encode: TimeDelta,
    /// Until the last packet has left.
    pub pace: TimeDelta,
    /// Until the last packet has arrived.
    pub network: TimeDelta,
    /// Decoding.
    pub decode: TimeDelta,
    /// Until it is on the screen.
    pub present: TimeDelta,
    /// From the capture to the screen.
    pub total: TimeDelta,
}

/// Something that happened to a session, as the host's end tells its observers.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// Media flows.
    Connected,
    /// All that will be known about a frame is known.
    Frame(Box<SessionFrame>),
    /// The player's decoder has stopped, and the player was told so.
    DecoderStopped,
    /// The session is over.
    Ended {
        /// Why, in words for a person.
        reason: String,
    },
}
