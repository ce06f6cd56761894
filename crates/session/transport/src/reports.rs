//! Which reports an offer and its answer agree on.
//!
//! *Reading.* RFC 8888, section 6, wants the line with the wildcard, and one mechanism in an answer.
//! Chromium offers its reports with a line for each payload type, and counts a section of an answer
//! only if all its payload types have them (`UpdateFromMediaSectionWideSettings` in `webrtc_sdp.cc`),
//! which the wildcard does.

use std::fmt::Write as _;

use mimosa_protocol::control::FeedbackKind;

use crate::feedback::Congestion;
use crate::sdp::{attribute, extension, extension_number, is_begun};

/// URI of transport-wide-cc-02.
pub(crate) const TRANSPORT_CC_02: &str =
    "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02";
/// URI of transport-wide-cc-01.
pub(crate) const TRANSPORT_CC_01: &str =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";

/// The transport-wide numbers that packets carry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Numbers {
    /// Packets carry none.
    None,
    /// Packets carry the numbers of transport-wide-cc-01.
    First,
    /// Packets carry the numbers of transport-wide-cc-02, with which a packet can ask for a report.
    Second,
}

impl Numbers {
    /// The header extension that carries the numbers.
    pub(crate) const fn uri(self) -> Option<&'static str> {
        match self {
            Self::None => None,
            Self::First => Some(TRANSPORT_CC_01),
            Self::Second => Some(TRANSPORT_CC_02),
        }
    }
}

/// Whether this line offers transport-wide numbers.
pub(crate) fn is_numbers(line: &str) -> bool {
    extension(line, TRANSPORT_CC_01) || extension(line, TRANSPORT_CC_02)
}

/// The lines of a section, and the payload type of its codec.
type Spoken<'a> = (&'a [&'a str], u8);

/// The feedback of a connection, and the transport-wide numbers that its packets carry. `wanted`
/// replaces the feedback that the offer asks for. `sound` is the sound section, if the host sends
/// on it.
pub(crate) fn agree(
    wanted: Option<FeedbackKind>,
    video: Spoken<'_>,
    sound: Option<Spoken<'_>>,
) -> (FeedbackKind, Numbers) {
    let offered = |uri| video.0.iter().any(|line| extension(line, uri));
    let [first, second] = [TRANSPORT_CC_01, TRANSPORT_CC_02].map(offered);
    // Reports beside transport-wide ones need not be about the sound.
    let reports = |(lines, payload_type): Spoken<'_>| {
        has_congestion_feedback(lines.iter().copied(), payload_type)
    };
    let has_reports = reports(video) && (second || sound.is_none_or(reports));
    let feedback = match wanted {
        Some(FeedbackKind::CongestionControl) | None if has_reports => {
            FeedbackKind::CongestionControl
        }
        Some(FeedbackKind::CongestionControl) => FeedbackKind::OnRequest,
        Some(FeedbackKind::Periodic) if !first => FeedbackKind::None,
        Some(wanted) => wanted,
        None if second => FeedbackKind::OnRequest,
        None if first => FeedbackKind::Periodic,
        None => FeedbackKind::None,
    };
    let numbers = match feedback {
        FeedbackKind::CongestionControl if !second => Numbers::None,
        FeedbackKind::CongestionControl | FeedbackKind::OnRequest => Numbers::Second,
        FeedbackKind::Periodic => Numbers::First,
        FeedbackKind::None => Numbers::None,
    };
    (feedback, numbers)
}

/// The line that asks for reports of RFC 8888 (its section 6), which are on all payload types.
const CONGESTION_FEEDBACK: &str = "a=rtcp-fb:* ack ccfb";

/// Whether these lines have reports of RFC 8888 on this payload type, or on all types. Chromium
/// offers them for each type.
pub(crate) fn has_congestion_feedback<'a>(
    mut lines: impl Iterator<Item = &'a str>,
    payload_type: u8,
) -> bool {
    lines.any(|line| {
        let own = attribute(line, "rtcp-fb:", payload_type);
        line == CONGESTION_FEEDBACK || own == Some("ack ccfb")
    })
}

/// Adds reports of RFC 8888 to each section of an offer or an answer that has RTP and is not
/// refused. Chromium wants them in all of them (`sdp_offer_answer.cc`).
pub(crate) fn add_congestion_feedback(text: &str) -> String {
    let mut added = String::new();
    let mut is_rtp = false;
    for line in text.lines().map(str::trim_end) {
        let _ = write!(added, "{line}\r\n");
        if line.starts_with("m=") {
            is_rtp = is_begun(line, "video") || is_begun(line, "audio");
        }
        if is_rtp && line.starts_with("a=mid:") {
            let _ = write!(added, "{CONGESTION_FEEDBACK}\r\n");
        }
    }
    added
}

/// An answer with the reports of RFC 8888 that it accepts.
pub(crate) fn accept(answer: String, congestion: Congestion) -> String {
    match congestion {
        Congestion::None => answer,
        Congestion::Beside => add_congestion_feedback(&answer),
        Congestion::Alone => without_transport_wide(&add_congestion_feedback(&answer)),
    }
}

/// Removes transport-wide feedback from an answer, in which RFC 8888 takes its place.
fn without_transport_wide(answer: &str) -> String {
    let is_kept =
        |line: &&str| !(line.starts_with("a=rtcp-fb:") && line.ends_with(" transport-cc"));
    let mut kept = String::new();
    for line in answer.lines().map(str::trim_end).filter(is_kept) {
        let _ = write!(kept, "{line}\r\n");
    }
    kept
}

/// The number of the header extension for transport-wide numbers in an answer; zero without one.
pub(crate) fn transport_extension(answer: &str) -> u8 {
    let mut lines = answer.lines().map(str::trim_end);
    let found = lines.find(|line| is_numbers(line));
    found.and_then(extension_number).unwrap_or(0)
}
