//! One frame of a session: its life at the sender, at the encoder and at the player.

use mimosa_units::{Bytes, Time, TimeDelta};

use crate::frame::FrameLife;
use crate::media::Complexity;
use crate::number::{MediaSequence, RtxSequence};
use crate::relief::Relief;

/// One frame of a session, from the capture to the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionFrame {
    /// When the source reported the change, or began to draw the picture.
    pub captured: Time,
    /// When the encoder took the picture.
    pub encode_begun: Time,
    /// When the encoder had the frame ready.
    pub encode_ended: Time,
    /// How long the encoder's thread had a processor in between, if that says how much work it was.
    pub encode_processor: Option<TimeDelta>,
    /// What the stream was spared when the picture was handed to the encoder.
    pub relief: Relief,
    /// The frame's life at the sender.
    pub life: FrameLife,
    /// Size of the frame as it was coded.
    pub coded: Bytes,
    /// The budget of the frame.
    pub budget: Bytes,
    /// What the frame was planned to be.
    pub plan: FramePlan,
    /// Whether the frame can be decoded without any earlier frame.
    pub is_keyframe: bool,
    /// The quantiser that the encoder used, if it says.
    pub quantiser: Option<f32>,
    /// How many times the frame was encoded until it fitted.
    pub attempts: u32,
    /// When the browser received the frame's last packet, on the host's clock.
    pub received: Option<Time>,
    /// When the browser had decoded the frame, on the host's clock.
    pub decoded: Option<Time>,
    /// When the frame was on the screen, on the host's clock.
    pub shown: Option<Time>,
    /// Number of the player's actions since the frame before, all of which this frame shows.
    pub inputs: u32,
    /// When the newest of those actions was made and came; `None` without any.
    pub newest_input: Option<InputTimes>,
    /// The skew that the page had last reported: how much later sound was heard than the picture of
    /// the same moment was seen.
    pub sound_skew: Option<TimeDelta>,
    /// Number of samples of sound that the page had made up since the session's start.
    pub sound_concealed: Option<u64>,
    /// The frame's packets on the wire; `None` if they are unknown or none left.
    pub rtp: Option<FrameRtp>,
}

/// When an action of the player was made and when it came, on the host's clock.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct InputTimes {
    /// When the browser told its page of the action; `None` if the page's clock is unknown.
    pub made: Option<Time>,
    /// When the host received the action.
    pub received: Time,
}

/// What a frame was planned to be when it was handed to the encoder.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FramePlan {
    /// The complexity level.
    pub complexity: Complexity,
    /// The size for which the frame was encoded: the budget, unless something else decides.
    pub size: Bytes,
    /// The frame's predicted size as a share of other frames' sizes, if sizes are predicted.
    pub relative: Option<f64>,
}

impl FramePlan {
    /// The plan without a prediction: `size`, with the least work.
    #[must_use]
    pub const fn as_asked(size: Bytes) -> Self {
        Self {
            complexity: Complexity::C0,
            size,
            relative: None,
        }
    }

    /// Whether the complexity level is above the lowest.
    #[must_use]
    pub fn is_more_work(&self) -> bool {
        self.complexity > Complexity::C0
    }
}

/// The RTP numbers of a frame's packets, which are in the clear on the wire.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FrameRtp {
    /// SSRC of the stream of first transmissions.
    pub ssrc: u32,
    /// RTP number of the first of the frame's packets that left.
    pub first: MediaSequence,
    /// RTP number of the last of the frame's packets that left. All numbers in between are the
    /// frame's.
    pub last: MediaSequence,
    /// The packets of the frame that were sent again.
    pub again: Option<SentAgain>,
}

/// The packets of a frame that were sent again. In between, the stream of retransmissions carries
/// other frames' packets and probes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct SentAgain {
    /// SSRC of the stream of retransmissions.
    pub ssrc: u32,
    /// RTX number of the first of these packets.
    pub first: RtxSequence,
    /// Bit *n*, from the least significant one, says that the packet with the number `first` + 1 +
    /// *n* is the frame's. Later packets are left out.
    pub others: u64,
}

impl FrameRtp {
    /// The numbers of a frame of which one packet has left.
    #[must_use]
    pub const fn new(ssrc: u32, sequence: MediaSequence) -> Self {
        Self {
            ssrc,
            first: sequence,
            last: sequence,
            again: None,
        }
    }

    /// Adds a packet that was sent again. A packet on another stream, or too far from the first, is
    /// left out.
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

    /// The RTP numbers of the first transmissions.
    pub fn sequences(self) -> impl Iterator<Item = MediaSequence> {
        (0..=self.last.since(self.first)).map(move |after| self.first.plus(after))
    }
}

impl SentAgain {
    /// The RTX numbers of the packets that were sent again.
    pub fn sequences(self) -> impl Iterator<Item = RtxSequence> {
        let others = (0..64_u16).filter(move |bit| self.others >> bit & 1 == 1);
        std::iter::once(0)
            .chain(others.map(|bit| bit + 1))
            .map(move |after| self.first.plus(after))
    }
}

impl SessionFrame {
    /// How long each stage took; `None` unless the frame was displayed and all times in between are
    /// known.
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

/// How long each stage of a frame took. The parts add up to the total exactly. A part is negative
/// if the map to the browser's clock is slightly wrong.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Stages {
    /// Time from the capture to the beginning of encoding.
    pub capture: TimeDelta,
    /// Duration of encoding.
    pub encode: TimeDelta,
    /// Time from the end of encoding until the last packet left.
    pub pace: TimeDelta,
    /// Time from the departure of the last packet to its arrival.
    pub network: TimeDelta,
    /// Duration of decoding.
    pub decode: TimeDelta,
    /// Time from the end of decoding until the frame was on the screen.
    pub present: TimeDelta,
    /// Time from the capture to the screen.
    pub total: TimeDelta,
}

/// Something that happened to a session, as the host's end reports it to observers.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionEvent {
    /// The connection is established, and media flows.
    Connected,
    /// All that will ever be known about a frame is known.
    Frame(Box<SessionFrame>),
    /// The player's decoder has stopped, and the page was notified.
    DecoderStopped,
    /// The session is over.
    Ended {
        /// Why the session ended, in words.
        reason: String,
    },
}
