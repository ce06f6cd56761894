//! The columns of a session's frame: its life at the sender, at the encoder and in the browser.

use mimosa_facts::{FrameLife, SentAgain, SessionFrame, Strain};

use crate::column::{Column, Row, bytes, nanos, span};
use crate::life::HasLife;

/// The strain of a frame for which nothing was spared.
pub(crate) const NO_STRAIN: &str = "none";

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
            Column::optional(
                "encode_processor_ns",
                "How long the encoder's thread had a processor in between; null where that does not say how much work it was.",
                |row| row.encode_processor.map(span),
            ),
            Column::text(
                "strain",
                "What could not keep up, or who asked for less: `encoder-at-limit`, `processor-taken`, `viewer-behind`, `viewer-limit` or `none`.",
                |row| row.relief.strain.map_or(NO_STRAIN, Strain::as_str),
            ),
            Column::integer(
                "relief_every",
                "For that, one of so many pictures was encoded,",
                |row| i64::from(row.relief.every),
            ),
            Column::integer(
                "relief_quarters",
                "with sides of so many quarters of the source's,",
                |row| i64::from(row.relief.quarters),
            ),
            Column::optional(
                "relief_bytes",
                "and with at most so many bytes; null without such a bound.",
                |row| row.relief.most.map(bytes),
            ),
            Column::flag(
                "relief_analysis",
                "Whether the encoder looked for less than its settings say.",
                |row| row.relief.less_analysis,
            ),
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

/// The columns about the frame's packets on the wire.
const RTP: &[Column<SessionFrame>] = &[
    Column::optional(
        "rtp_ssrc",
        "RTP stream of first transmissions; null when none is known to have left.",
        |row| row.rtp.map(|rtp| i64::from(rtp.ssrc)),
    ),
    Column::optional(
        "rtp_first",
        "Sequence number there of the first of its packets that left; it wraps at 65536.",
        |row| row.rtp.map(|rtp| i64::from(rtp.first.0)),
    ),
    Column::optional(
        "rtp_last",
        "Sequence number of the last; those between are the frame's as well.",
        |row| row.rtp.map(|rtp| i64::from(rtp.last.0)),
    ),
    Column::optional(
        "rtx_ssrc",
        "RTP stream of retransmissions; null when nothing was sent again.",
        |row| again(row).map(|again| i64::from(again.ssrc)),
    ),
    Column::optional(
        "rtx_first",
        "Sequence number there of the first packet sent again.",
        |row| again(row).map(|again| i64::from(again.first.0)),
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
