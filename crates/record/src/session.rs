//! One frame of a session: its life at the sender, at the encoder and in the
//! browser.

use mimosa_session::FrameLife;
use mimosa_units::{Bytes, Time, TimeDelta};

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
        ],
    ];
}
