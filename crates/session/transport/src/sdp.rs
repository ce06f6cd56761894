//! What an offer holds, and the few lines that str0m does not write by itself.
//!
//! str0m negotiates all but six things, which are put into the text around it:
//!
//! - *transport-wide-cc-02*: Chromium acts on the extension when the answer names
//!   it, though it never offers it. The offer that str0m reads has it in place of
//!   its predecessor.
//! - *RTX* (RFC 4588): str0m resends by itself and at once; here resending is the
//!   pacer's business. str0m negotiates the codec without RTX, and the answer gets the
//!   lines for a second stream that we fill.
//! - *RED* (RFC 2198): how many frames a packet repeats changes with the loss. str0m
//!   negotiates Opus without RED, and the answer gets the lines for it.
//! - *RFC 8888*: str0m knows no such reports. A client of our own offers them, and the
//!   answer gets the line that takes them.
//! - *`FlexFEC`*: str0m knows none. The answer gets the lines for a third stream.
//! - *Repair packets* of our own format: they are told of by a line that str0m passes over.
//!
//! Of the sound's section, str0m reads what the host uses: Opus, and the identification
//! of the media. In particular it has no transport-wide numbers: the video's controller
//! counts on it that every number is one of its packets'.
//!
//! Of candidates, str0m reads none ([`paths`](crate::paths)).

use std::fmt::Write as _;
use std::ops::Range;

use mimosa_facts::Codec;
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::dependency::DEPENDENCY_DESCRIPTOR;
use mimosa_rtp::repair;

use crate::codecs::{CodecOffer, described, first_offered};
use crate::error::OfferError;
use crate::paths::is_candidate;
use crate::sound_section::{self, SoundOffer};

/// URI of transport-wide-cc-02.
pub(crate) const TRANSPORT_CC_02: &str =
    "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02";
/// URI of the version before it.
pub(crate) const TRANSPORT_CC_01: &str =
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
/// Longest offer looked at; a browser's has about 8 KiB.
const LONGEST: usize = 64 * 1024;

/// Repair packets that a receiver knows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RepairOffer {
    None,
    /// [`repair`], on the stream of retransmissions.
    Own,
    /// [`flexfec`](mimosa_rtp::flexfec), with this payload type.
    Flexfec(u8),
}

/// What matters of an offer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Offer {
    /// The offer for str0m to answer.
    pub(crate) text: String,
    /// Identification of the video section (RFC 5888).
    pub(crate) media: String,
    /// What the picture is sent as.
    pub(crate) codec: CodecOffer,
    /// Payload type of its retransmissions, if offered.
    pub(crate) rtx: Option<u8>,
    /// It takes the dependency descriptor.
    pub(crate) bears_gaps: bool,
    /// The repair packets that it knows, and has a stream for.
    pub(crate) repairs: RepairOffer,
    /// The feedback that `text` asks for.
    pub(crate) feedback: FeedbackKind,
    /// The section for sound, if there is one that the host can send on.
    pub(crate) sound: Option<SoundOffer>,
}

impl Offer {
    /// Reads an offer to a host that sends `codecs`, the one in front rather than those
    /// behind it; `wanted` overrides what the offer says of feedback.
    pub(crate) fn read(
        text: &str,
        codecs: &[Codec],
        wanted: Option<FeedbackKind>,
    ) -> Result<Self, OfferError> {
        if text.len() > LONGEST {
            return Err(OfferError::TooLong { bytes: text.len() });
        }
        let lines = text.lines().map(str::trim_end);
        let lines: Vec<&str> = lines.filter(|line| !is_candidate(line)).collect();
        if lines.first() != Some(&"v=0") {
            return Err(OfferError::NotSdp {
                line: lines.first().unwrap_or(&"").chars().take(40).collect(),
            });
        }
        let video = video_section(&lines)?;
        let section = &lines[video.clone()];
        let codec = first_offered(section, codecs).ok_or_else(|| OfferError::NoCodec {
            known: described(codecs),
        })?;
        let payload_type = codec.payload_type;
        let media = section
            .iter()
            .find_map(|line| line.strip_prefix("a=mid:"))
            .ok_or(OfferError::NoVideo)?;
        let rtx = retransmissions_of(section, payload_type);
        let offered = |uri| section.iter().any(|line| extension(line, uri));
        // Its times are too coarse to go without the other's.
        let both = offered(TRANSPORT_CC_02) && has_congestion_feedback(text, payload_type);
        let feedback = match wanted {
            Some(FeedbackKind::CongestionControl) if !both => FeedbackKind::OnRequest,
            Some(wanted) => wanted,
            None if both => FeedbackKind::CongestionControl,
            None if offered(TRANSPORT_CC_02) => FeedbackKind::OnRequest,
            None if offered(TRANSPORT_CC_01) => FeedbackKind::Periodic,
            None => FeedbackKind::None,
        };
        let feedback = if feedback == FeedbackKind::Periodic && !offered(TRANSPORT_CC_01) {
            FeedbackKind::None
        } else {
            feedback
        };
        let sound = sound_section::find(&lines);
        let offer = sound.clone().and_then(|sound| {
            let taken = [Some(payload_type), rtx];
            sound_section::read(&lines[sound], |number| taken.contains(&Some(number)))
        });
        let audio = sound.zip(offer.as_ref().map(|sound| sound.agreed.opus));
        Ok(Self {
            bears_gaps: offered(DEPENDENCY_DESCRIPTOR),
            repairs: rtx.map_or(RepairOffer::None, |_| repairs_of(section)),
            text: for_str0m(&lines, video, feedback, audio.as_ref()),
            media: media.to_owned(),
            codec,
            rtx,
            feedback,
            sound: offer,
        })
    }
}

/// The lines of the first video section that is not refused.
fn video_section(lines: &[&str]) -> Result<Range<usize>, OfferError> {
    section_of("video", lines).ok_or(OfferError::NoVideo)
}

/// The lines of the first section of a kind that is not refused, if it receives.
pub(crate) fn section_of(kind: &str, lines: &[&str]) -> Option<Range<usize>> {
    let first = lines.iter().position(|line| is_begun(line, kind))?;
    let end = lines[first + 1..]
        .iter()
        .position(|line| line.starts_with("m="))
        .map_or(lines.len(), |next| first + 1 + next);
    let section = first..end;
    let sends_only = lines[section.clone()]
        .iter()
        .any(|line| matches!(*line, "a=sendonly" | "a=inactive"));
    (!sends_only).then_some(section)
}

/// Whether a section of a kind begins on this line, and is not refused.
pub(crate) fn is_begun(line: &str, kind: &str) -> bool {
    let rest = line
        .strip_prefix("m=")
        .and_then(|line| line.strip_prefix(kind));
    rest.is_some_and(|rest| rest.starts_with(' ') && !rest.starts_with(" 0 "))
}

/// Payload type of the retransmissions of another.
fn retransmissions_of(section: &[&str], payload_type: u8) -> Option<u8> {
    let apt = format!("apt={payload_type}");
    section.iter().find_map(|line| {
        let (number, parameters) = line.strip_prefix("a=fmtp:")?.split_once(' ')?;
        let number = number.parse().ok().filter(|&pt: &u8| pt < 128)?;
        let is_rtx = section
            .iter()
            .any(|line| attribute(line, "rtpmap:", number) == Some("rtx/90000"));
        let is_its = parameters.split(';').any(|one| one.trim() == apt);
        (is_rtx && is_its).then_some(number)
    })
}

/// The repair packets that are known: our own, or else those of browsers.
fn repairs_of(section: &[&str]) -> RepairOffer {
    if section.contains(&repair::ATTRIBUTE) {
        return RepairOffer::Own;
    }
    let number = section.iter().find_map(|line| {
        let number = line
            .strip_prefix("a=rtpmap:")?
            .strip_suffix(" flexfec-03/90000")?;
        number.parse().ok().filter(|&number: &u8| number < 128)
    });
    number.map_or(RepairOffer::None, RepairOffer::Flexfec)
}

/// What follows `a=NAME:PAYLOAD_TYPE ` on this line.
pub(crate) fn attribute<'a>(line: &'a str, name: &str, payload_type: u8) -> Option<&'a str> {
    let (number, rest) = line
        .strip_prefix("a=")?
        .strip_prefix(name)?
        .split_once(' ')?;
    (number.parse() == Ok(payload_type)).then_some(rest)
}

/// The number of a header extension on this line.
fn extension_number(line: &str) -> Option<u8> {
    let rest = line.strip_prefix("a=extmap:")?;
    rest.split([' ', '/']).next()?.parse().ok()
}

/// Whether this line offers this header extension.
pub(crate) fn extension(line: &str, uri: &str) -> bool {
    line.starts_with("a=extmap:") && line.split(' ').nth(1) == Some(uri)
}

/// The offer with exactly the lines for `feedback` in its video section, and
/// without retransmissions there: what it is offered, str0m takes. Of the section for
/// sound there is what is about this payload type.
fn for_str0m(
    lines: &[&str],
    video: Range<usize>,
    feedback: FeedbackKind,
    sound: Option<&(Range<usize>, u8)>,
) -> String {
    let section = &lines[video.clone()];
    let resent: Vec<&str> = section
        .iter()
        .filter_map(|line| line.strip_prefix("a=rtpmap:")?.strip_suffix(" rtx/90000"))
        .collect();
    let is_about_resent = |line: &str| {
        let of = |prefix| line.strip_prefix(prefix)?.split(' ').next();
        let number = of("a=rtpmap:").or_else(|| of("a=fmtp:"));
        number.is_some_and(|number| resent.contains(&number))
    };
    let is_unwanted = |line: &str| {
        is_about_resent(line)
            || match feedback {
                FeedbackKind::CongestionControl | FeedbackKind::OnRequest => {
                    extension(line, TRANSPORT_CC_01)
                }
                FeedbackKind::Periodic => extension(line, TRANSPORT_CC_02),
                FeedbackKind::None => {
                    extension(line, TRANSPORT_CC_01) || extension(line, TRANSPORT_CC_02)
                }
            }
    };
    let mut kept: Vec<String> = section
        .iter()
        .filter(|line| !is_unwanted(line))
        .map(|&line| line.to_owned())
        .collect();
    if let Some(first) = kept.first_mut() {
        // `m=video PORT PROTOCOL`, and then the payload types.
        let is_kept = |&(place, part): &(usize, &str)| place < 3 || !resent.contains(&part);
        let parts = first.split(' ').enumerate().filter(is_kept);
        *first = parts.map(|(_, part)| part).collect::<Vec<_>>().join(" ");
    }
    let is_named = section.iter().any(|line| extension(line, TRANSPORT_CC_02));
    if feedback == FeedbackKind::OnRequest && !is_named {
        // A number is the same in all sections of a bundle (RFC 8843, section
        // 7.1.2): none that another section has, but the one just given up.
        let taken: Vec<u8> = lines
            .iter()
            .filter(|line| !is_unwanted(line))
            .filter_map(|line| extension_number(line))
            .collect();
        // One-byte headers reach to 14 (RFC 8285, section 4.2).
        if let Some(number) = (1..=14).rev().find(|number| !taken.contains(number)) {
            let attributes = kept.iter().position(|line| line.starts_with("a="));
            kept.insert(
                attributes.unwrap_or(kept.len()),
                format!("a=extmap:{number} {TRANSPORT_CC_02}"),
            );
        }
    }
    let mut text = String::new();
    let mut add = |line: &str| {
        text.push_str(line);
        text.push_str("\r\n");
    };
    for (number, &line) in lines.iter().enumerate() {
        match sound {
            _ if number == video.start => kept.iter().for_each(|line| add(line)),
            _ if video.contains(&number) => {}
            Some((section, opus)) if section.start == number => {
                add(&sound_section::only(line, *opus));
            }
            Some((section, opus)) if section.contains(&number) => {
                if sound_section::is_about(line, *opus) {
                    add(line);
                }
            }
            _ => add(line),
        }
    }
    text
}

/// The line for reports of RFC 8888 (its section 6) on this payload type.
fn congestion_feedback(payload_type: u8) -> String {
    format!("a=rtcp-fb:{payload_type} ack ccfb")
}

/// Whether an offer or an answer has reports of RFC 8888 on this payload type, or on all.
pub(crate) fn has_congestion_feedback(text: &str, payload_type: u8) -> bool {
    let own = congestion_feedback(payload_type);
    let mut lines = text.lines().map(str::trim_end);
    lines.any(|line| line == own || line == "a=rtcp-fb:* ack ccfb")
}

/// Adds reports of RFC 8888 on this payload type to an offer or an answer.
pub(crate) fn add_congestion_feedback(text: &str, payload_type: u8) -> String {
    let mut added = String::new();
    for line in text.lines().map(str::trim_end) {
        let _ = write!(added, "{line}\r\n");
        if attribute(line, "rtpmap:", payload_type).is_some() {
            let _ = write!(added, "{}\r\n", congestion_feedback(payload_type));
        }
    }
    added
}

/// Says in the video section of an offer or an answer that repair packets are known.
pub(crate) fn add_repairs(text: &str) -> String {
    let mut added = String::new();
    let mut is_video = false;
    for line in text.lines().map(str::trim_end) {
        let _ = write!(added, "{line}\r\n");
        is_video = line.starts_with("m=video ") || is_video && !line.starts_with("m=");
        if is_video && line.starts_with("a=mid:") {
            let _ = write!(added, "{}\r\n", repair::ATTRIBUTE);
        }
    }
    added
}

/// A stream beside the media.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    /// What it carries.
    pub(crate) payload_type: u8,
    /// The name of that in `a=rtpmap`, and its parameters.
    pub(crate) format: &'static str,
    pub(crate) parameters: String,
    /// How the streams belong together (RFC 5576, section 4.2).
    pub(crate) group: &'static str,
    pub(crate) ssrc: u32,
}

impl Beside {
    /// Retransmissions (RFC 4588) of `media`.
    pub(crate) fn retransmissions(payload_type: u8, media: u8, ssrc: u32) -> Self {
        Self {
            payload_type,
            format: "rtx/90000",
            parameters: format!("apt={media}"),
            group: "FID",
            ssrc,
        }
    }

    /// `FlexFEC` packets; a frame is repaired within 10 s, or never.
    pub(crate) fn flexfec(payload_type: u8, ssrc: u32) -> Self {
        Self {
            payload_type,
            format: "flexfec-03/90000",
            parameters: "repair-window=10000000".to_owned(),
            group: "FEC-FR",
            ssrc,
        }
    }
}

/// Adds a stream to the video section of an answer, beside the one of this SSRC.
pub(crate) fn add_stream(answer: &str, media_ssrc: u32, beside: &Beside) -> String {
    let mut text = String::new();
    let own = format!("a=ssrc:{media_ssrc} ");
    // Both streams are of one source and one track, and have to say so.
    let mut described = Vec::new();
    let (mut in_video, mut is_done) = (false, false);
    let Beside {
        payload_type,
        format,
        parameters,
        group,
        ssrc,
    } = beside;
    let end = |text: &mut String, described: &[&str]| {
        let _ = write!(text, "a=rtpmap:{payload_type} {format}\r\n");
        let _ = write!(text, "a=fmtp:{payload_type} {parameters}\r\n");
        let _ = write!(text, "a=ssrc-group:{group} {media_ssrc} {ssrc}\r\n");
        for attribute in described {
            let _ = write!(text, "a=ssrc:{ssrc} {attribute}\r\n");
        }
    };
    for line in answer.lines().map(str::trim_end) {
        if line.starts_with("m=") && in_video {
            end(&mut text, &described);
            (in_video, is_done) = (false, true);
        }
        described.extend(line.strip_prefix(own.as_str()));
        let is_sent_on = line.starts_with("m=video ") && !line.starts_with("m=video 0 ");
        if is_sent_on && !is_done {
            in_video = true;
            let _ = write!(text, "{line} {payload_type}\r\n");
        } else {
            let _ = write!(text, "{line}\r\n");
        }
    }
    if in_video {
        end(&mut text, &described);
    }
    text
}

/// The number of the extension with transport-wide numbers in an answer's first section for
/// video; zero without one.
pub(crate) fn transport_extension(answer: &str) -> u8 {
    let is_its = |line: &&str| extension(line, TRANSPORT_CC_02) || extension(line, TRANSPORT_CC_01);
    let found = answer.lines().map(str::trim_end).find(is_its);
    found.and_then(extension_number).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHROMIUM: &str = include_str!("../tests/offers/chromium-156.sdp");

    fn read(text: &str, wanted: Option<FeedbackKind>) -> Result<Offer, OfferError> {
        Offer::read(text, &[Codec::H264], wanted)
    }

    fn section(text: &str) -> Vec<&str> {
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        let range = video_section(&lines).unwrap();
        lines[range].to_vec()
    }

    #[test]
    fn a_browsers_offer_is_understood() {
        let offer = read(CHROMIUM, None).unwrap();
        // Main, as it has no High; its retransmissions.
        assert_eq!(offer.codec.payload_type, 116);
        assert_eq!(offer.codec.format.profile_level_id, Some(0x4d_001f));
        assert_eq!(offer.rtx, Some(117));
        assert_eq!(
            offer.feedback,
            FeedbackKind::Periodic,
            "what it names itself"
        );
    }

    #[test]
    fn feedback_on_request_takes_the_place_of_its_predecessor() {
        let offer = read(CHROMIUM, Some(FeedbackKind::OnRequest)).unwrap();
        let lines = section(&offer.text);
        assert!(!lines.iter().any(|line| extension(line, TRANSPORT_CC_01)));
        let line = lines
            .iter()
            .find(|line| extension(line, TRANSPORT_CC_02))
            .unwrap();
        let number = extension_number(line).unwrap();
        let same = offer
            .text
            .lines()
            .filter(|line| extension_number(line) == Some(number));
        assert_eq!(same.count(), 1, "its number is its own");
        let is_else = |line: &&str| {
            let changed = ["m=video", "a=extmap:", "a=fmtp:"];
            !changed.iter().any(|prefix| line.starts_with(prefix)) && !line.ends_with("rtx/90000")
        };
        let rest = |text: &str| -> Vec<String> {
            text.lines().filter(is_else).map(str::to_owned).collect()
        };
        assert_eq!(
            rest(&offer.text),
            rest(CHROMIUM),
            "nothing else has changed"
        );
        assert!(!offer.text.contains("rtx/90000") && !offer.text.contains("apt="));
    }

    /// As many as an offer has room for.
    #[test]
    fn no_candidate_reaches_str0m() {
        let line = |n: usize| format!("a=candidate:{n} 1 udp {n} 10.0.0.2 {n} typ host\n");
        let many: String = (1_000..2_000).map(line).collect();
        let flooded = CHROMIUM.replacen("a=mid:0\n", &format!("a=mid:0\n{many}"), 1);
        assert_eq!(flooded.matches("a=candidate:").count(), 1_000);
        let [plain, flooded] = [CHROMIUM, &flooded].map(|text| read(text, None).unwrap());
        assert_eq!(plain, flooded);
        assert!(plain.text.contains("a=ice-ufrag:"));
    }

    #[test]
    fn without_feedback_none_is_asked_for() {
        let offer = read(CHROMIUM, Some(FeedbackKind::None)).unwrap();
        assert!(!offer.text.contains("transport-wide-cc"));
        let silent = CHROMIUM.replace("transport-wide-cc", "something-else");
        let offer = read(&silent, Some(FeedbackKind::Periodic)).unwrap();
        assert_eq!(offer.feedback, FeedbackKind::None, "it was not offered");
    }

    #[test]
    fn the_best_profile_is_taken_and_packetization_mode_1_only() {
        let high = CHROMIUM.replace("profile-level-id=f4001f", "profile-level-id=64001f");
        assert_eq!(read(&high, None).unwrap().codec.payload_type, 41);
        for none in [
            CHROMIUM.replace("packetization-mode=1", "packetization-mode=0"),
            CHROMIUM.replace("H264/90000", "VP7/90000"),
        ] {
            let error = read(&none, None).unwrap_err();
            let expected = "none of what this host sends, H.264 with packetization-mode=1;";
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    /// A host that has several takes what the browser has, and its retransmissions.
    #[test]
    fn another_codec_takes_the_same_way() {
        let codecs = [Codec::H265, Codec::Av1, Codec::H264];
        let offer = Offer::read(CHROMIUM, &codecs, Some(FeedbackKind::OnRequest)).unwrap();
        assert_eq!(
            (offer.codec.codec, offer.codec.payload_type),
            (Codec::Av1, 45)
        );
        assert_eq!((offer.rtx, offer.bears_gaps), (Some(46), false));
        let rest = read(CHROMIUM, Some(FeedbackKind::OnRequest)).unwrap();
        assert_eq!((offer.text, offer.sound), (rest.text, rest.sound));
        let both = Offer::read(CHROMIUM, &codecs[..1], None).unwrap_err();
        assert!(
            both.to_string().contains("sends, H.265 with profile-id=1;"),
            "{both}"
        );
    }

    #[test]
    fn what_is_no_offer_of_video_is_refused_by_name() {
        let message = |text: &str| read(text, None).unwrap_err().to_string();
        assert!(message("").contains("begins with ``"));
        assert!(message("GET / HTTP/1.1").contains("`GET / HTTP/1.1`"));
        assert!(message("v=0\r\n").contains("no video section"));
        assert!(
            message(&CHROMIUM.replace("a=recvonly", "a=inactive")).contains("no video section")
        );
        assert!(message(&CHROMIUM.replace("m=video 9", "m=video 0")).contains("no video section"));
        assert!(message(&"v=0\r\n".repeat(20_000)).contains("100000 bytes"));
    }

    #[test]
    fn an_answer_gets_a_second_stream() {
        let answer = "v=0\r\nm=video 9 UDP/TLS/RTP/SAVPF 116\r\na=ssrc:7 cname:x\r\na=ssrc:7 msid:s t\r\n\
            a=rtpmap:116 H264/90000\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\na=mid:1\r\n";
        let text = add_stream(answer, 7, &Beside::retransmissions(117, 116, 8));
        assert!(text.contains("m=video 9 UDP/TLS/RTP/SAVPF 116 117\r\n"));
        let (video, data) = text.split_once("m=application").unwrap();
        for line in [
            "a=rtpmap:117 rtx/90000\r\n",
            "a=fmtp:117 apt=116\r\n",
            "a=ssrc-group:FID 7 8\r\n",
            "a=ssrc:8 cname:x\r\na=ssrc:8 msid:s t\r\n",
        ] {
            assert!(video.contains(line), "{line}");
        }
        assert!(!data.contains("rtx"));
        // The section that is sent on gets one, and no other.
        let others = format!("{answer}m=video 0 UDP/TLS/RTP/SAVPF 116\r\n{answer}");
        let text = add_stream(&others, 7, &Beside::retransmissions(117, 116, 8));
        assert_eq!(text.matches(" rtx/90000").count(), 1);
        assert!(text.find("rtx") < text.find("m=application"));
        let both = add_stream(&text, 7, &Beside::flexfec(49, 9));
        assert!(both.contains("m=video 9 UDP/TLS/RTP/SAVPF 116 117 49\r\n"));
        for line in [
            "a=rtpmap:49 flexfec-03/90000\r\na=fmtp:49 repair-window=10000000\r\n",
            "a=ssrc-group:FEC-FR 7 9\r\n",
            "a=ssrc:9 cname:x\r\na=ssrc:9 msid:s t\r\n",
        ] {
            assert!(both.contains(line), "{line}");
        }
    }

    #[test]
    fn our_own_repair_packets_come_before_those_of_browsers() {
        assert_eq!(
            read(CHROMIUM, None).unwrap().repairs,
            RepairOffer::Flexfec(49)
        );
        let own = add_repairs(CHROMIUM);
        assert_eq!(read(&own, None).unwrap().repairs, RepairOffer::Own);
        let none = CHROMIUM.replace("flexfec-03", "other");
        assert_eq!(read(&none, None).unwrap().repairs, RepairOffer::None);
        let alone = CHROMIUM.replace("rtx/90000", "other/90000");
        assert_eq!(read(&alone, None).unwrap().repairs, RepairOffer::None);
    }
}
