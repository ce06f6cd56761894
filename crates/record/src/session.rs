//! One frame of a session: its life at the sender, at the encoder and in the
//! browser.

use mimosa_session::FrameLife;
use mimosa_units::{Bytes, Time, TimeDelta};
use mimosa_video::Complexity;

use crate::column::{Column, Row, bytes, nanos, span};
use crate::life::HasLife;

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
    pub first: u16,
    /// Of the last; those between are the frame's as well.
    pub last: u16,
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
    pub first: u16,
    /// Bit *n* from the least one says that `first` + 1 + *n* is the frame's too.
    /// What comes later than that is left out.
    pub others: u64,
}

impl FrameRtp {
    /// The first transmission with this number.
    #[must_use]
    pub const fn new(ssrc: u32, sequence: u16) -> Self {
        Self {
            ssrc,
            first: sequence,
            last: sequence,
            again: None,
        }
    }

    /// Adds a packet that was sent again.
    pub fn add_again(&mut self, ssrc: u32, sequence: u16) {
        let again = self.again.get_or_insert(SentAgain {
            ssrc,
            first: sequence,
            others: 0,
        });
        let after = u32::from(sequence.wrapping_sub(again.first));
        if again.ssrc == ssrc
            && let Some(bit) = after.checked_sub(1).and_then(|bit| 1_u64.checked_shl(bit))
        {
            again.others |= bit;
        }
    }

    /// The sequence numbers of first transmissions.
    pub fn sequences(self) -> impl Iterator<Item = u16> {
        (0..=self.last.wrapping_sub(self.first)).map(move |after| self.first.wrapping_add(after))
    }
}

impl SentAgain {
    /// Their sequence numbers.
    pub fn sequences(self) -> impl Iterator<Item = u16> {
        let others = (0..64_u16).filter(move |bit| self.others >> bit & 1 == 1);
        std::iter::once(0)
            .chain(others.map(|bit| bit + 1))
            .map(move |after| self.first.wrapping_add(after))
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

impl HasLife for SessionFrame {
    fn life(&self) -> &FrameLife {
        &self.life
    }
}

impl Row for SessionFrame {
    const NAME: &'static str = "session";

    const COLUMNS: &'static [&'static [Column<Self>]] = &[
        Column::LIFE,
        &[
            Column::integer(
                "captured_ns",
                "When the source had the picture: the damage or the drawing began.",
                |row| nanos(row.captured),
            ),
            Column::integer("encode_begun_ns", "When the encoder was given it.", |row| {
                nanos(row.encode_begun)
            }),
            Column::integer("encode_ended_ns", "When the encoder was done.", |row| {
                nanos(row.encode_ended)
            }),
            Column::integer("interval_ns", "Time to the next frame.", |row| {
                span(row.life.interval)
            }),
            Column::integer("coded_bytes", "What the encoder made of it.", |row| {
                bytes(row.coded)
            }),
            Column::integer("budget_bytes", "What the encoder was allowed.", |row| {
                bytes(row.budget)
            }),
            Column::integer("planned_bytes", "The size it was encoded for.", |row| {
                bytes(row.plan.size)
            }),
            Column::text(
                "complexity",
                "The work that was put in: `c0`, `c0+`, `c1` or `c2`.",
                |row| row.plan.complexity.name(),
            ),
            Column::number(
                "predicted_share",
                "Its predicted size over that of others; null where sizes are not predicted.",
                |row| row.plan.relative,
            ),
            Column::flag(
                "keyframe",
                "Whether it can be decoded without the frames before.",
                |row| row.is_keyframe,
            ),
            Column::number(
                "quantiser",
                "The encoder's quantiser; null when it does not tell.",
                |row| row.quantiser.map(f64::from),
            ),
            Column::integer(
                "attempts",
                "How often it was encoded until it fitted.",
                |row| i64::from(row.attempts),
            ),
            Column::integer(
                "inputs",
                "The player's actions since the frame before, applied before the capture.",
                |row| i64::from(row.inputs),
            ),
            Column::optional(
                "input_made_ns",
                "When the newest of them was made in the page, on the host's clock; null without any, and while the page's clock is unknown.",
                |row| row.newest_input.and_then(|input| input.made).map(nanos),
            ),
            Column::optional("input_received_ns", "When the host had it.", |row| {
                row.newest_input.map(|input| nanos(input.received))
            }),
            Column::optional(
                "received_ns",
                "When the browser had its last packet, on the host's clock; null when unknown.",
                |row| row.received.map(nanos),
            ),
            Column::optional(
                "decoded_ns",
                "When the browser had decoded it, on the host's clock.",
                |row| row.decoded.map(nanos),
            ),
            Column::optional(
                "shown_ns",
                "When the browser had it on the screen, on the host's clock; null when it never was.",
                |row| row.shown.map(nanos),
            ),
            Column::optional(
                "sound_skew_ns",
                "By how much later sound is heard than the picture of the same time is seen, as the page had told last; null without sound.",
                |row| row.sound_skew.map(span),
            ),
            Column::optional(
                "sound_concealed",
                "Samples of sound, of 48000 in a second, that the page had made up by then.",
                |row| {
                    row.sound_concealed
                        .and_then(|count| i64::try_from(count).ok())
                },
            ),
        ],
        RTP,
        Column::PROTECTION,
    ];
}

/// The columns of its packets on the wire.
const RTP: &[Column<SessionFrame>] = &[
    Column::optional(
        "rtp_ssrc",
        "RTP stream of first transmissions; null when none is known to have left.",
        |row| row.rtp.map(|rtp| i64::from(rtp.ssrc)),
    ),
    Column::optional(
        "rtp_first",
        "Sequence number there of the first of its packets that left; it wraps at 65536.",
        |row| row.rtp.map(|rtp| i64::from(rtp.first)),
    ),
    Column::optional(
        "rtp_last",
        "Sequence number of the last; those between are the frame's as well.",
        |row| row.rtp.map(|rtp| i64::from(rtp.last)),
    ),
    Column::optional(
        "rtx_ssrc",
        "RTP stream of retransmissions; null when nothing was sent again.",
        |row| again(row).map(|again| i64::from(again.ssrc)),
    ),
    Column::optional(
        "rtx_first",
        "Sequence number there of the first packet sent again.",
        |row| again(row).map(|again| i64::from(again.first)),
    ),
    Column::optional(
        "rtx_others",
        "The others, in bits: the lowest is for the number after `rtx_first`.",
        |row| again(row).map(|again| again.others.cast_signed()),
    ),
];

fn again(row: &SessionFrame) -> Option<SentAgain> {
    row.rtp?.again
}
