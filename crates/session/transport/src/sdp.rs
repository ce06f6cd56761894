//! Reads offers, and adds lines to offers and answers that str0m does not write.
//!
//! str0m negotiates everything but six things, for which the text is changed before or after it:
//!
//! - *transport-wide-cc-02*: Chromium supports the extension if the answer names it, though it
//!   never offers it. In the offer that str0m reads, it replaces its predecessor.
//! - *RTX* (RFC 4588): str0m would send lost packets again by itself and at once, while here the
//!   pacer decides when. str0m negotiates the codec without RTX, and the answer gets lines for a
//!   second stream, which this crate fills.
//! - *RED* (RFC 2198): how many frames a packet repeats depends on the loss. str0m negotiates Opus
//!   without RED, and the answer gets the lines for it.
//! - *RFC 8888*: str0m does not know its reports. Where they are offered, the answer gets the lines
//!   that accept them. A browser then reports in no other format, and gets no transport-wide numbers;
//!   the native client, which offers transport-wide-cc-02 by itself, reports in both.
//! - *`FlexFEC`*: str0m does not know it. The answer gets the lines for a third stream.
//! - *Repair packets* of our own format: a line announces them that str0m ignores.
//!
//! str0m reads only those lines of the sound section that the host uses: Opus, and the media
//! identification. In particular it reads no transport-wide numbers there, because every number has
//! to be one of the video's packets.
//!
//! str0m reads no candidates ([`paths`](crate::paths)).

use std::fmt::Write as _;
use std::ops::Range;

use mimosa_facts::Codec;
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::dependency::DEPENDENCY_DESCRIPTOR;
use mimosa_rtp::repair;

use crate::codecs::{CodecOffer, described, first_offered};
use crate::error::OfferError;
use crate::paths::is_candidate;
use crate::reports::{Numbers, TRANSPORT_CC_02, agree, is_numbers};
use crate::sound_section::{self, SoundOffer};

/// Longest offer that is read, in bytes; a browser's has about 8 KiB.
const LONGEST: usize = 64 * 1024;

/// The format of repair packets that a receiver supports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum RepairOffer {
    None,
    /// Our own format, [`repair`], on the stream of retransmissions.
    Own,
    /// [`flexfec`](mimosa_rtp::flexfec), with this payload type.
    Flexfec(u8),
}

/// The relevant content of an offer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Offer {
    /// The offer for str0m to answer.
    pub(crate) text: String,
    /// Identification of the video section (RFC 5888).
    pub(crate) media: String,
    /// The codec in which the picture is sent.
    pub(crate) codec: CodecOffer,
    /// Payload type of retransmissions of that codec, if offered.
    pub(crate) rtx: Option<u8>,
    /// Whether the receiver supports the dependency descriptor.
    pub(crate) bears_gaps: bool,
    /// Whether the receiver wants frames in parts.
    pub(crate) takes_parts: bool,
    /// The format of repair packets that the receiver supports.
    pub(crate) repairs: RepairOffer,
    /// The feedback that is agreed on.
    pub(crate) feedback: FeedbackKind,
    /// The transport-wide numbers that `text` asks for.
    pub(crate) numbers: Numbers,
    /// The sound section, if there is one in which the host can send.
    pub(crate) sound: Option<SoundOffer>,
}

impl Offer {
    /// Reads an offer to a host that sends `codecs`, most wanted first. `wanted` replaces the
    /// feedback that the offer asks for.
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
                line: mimosa_units::one_line(lines.first().unwrap_or(&""), 40),
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
        let sound = sound_section::find(&lines);
        let offer = sound.clone().and_then(|sound| {
            let taken = [Some(payload_type), rtx];
            sound_section::read(&lines[sound], |number| taken.contains(&Some(number)))
        });
        let audio = sound.zip(offer.as_ref().map(|sound| sound.agreed.opus));
        let spoken = audio.clone().map(|(sound, opus)| (&lines[sound], opus));
        let (feedback, numbers) = agree(wanted, (section, payload_type), spoken);
        let text = for_str0m(&lines, video, numbers, audio.as_ref());
        if let Some(number) = payload_type_twice(&text) {
            return Err(OfferError::PayloadTypeTwice { number });
        }
        Ok(Self {
            bears_gaps: offered(DEPENDENCY_DESCRIPTOR),
            takes_parts: section.contains(&PARTS),
            repairs: rtx.map_or(RepairOffer::None, |_| repairs_of(section)),
            text,
            media: media.to_owned(),
            codec,
            rtx,
            feedback,
            numbers,
            sound: offer,
        })
    }
}

/// A payload type that two lines of a section give to a codec, which str0m takes for a mistake of its own.
fn payload_type_twice(text: &str) -> Option<u8> {
    let mut seen = Vec::new();
    text.lines().find_map(|line| {
        if line.starts_with("m=") {
            seen.clear();
        }
        let number = line.strip_prefix("a=rtpmap:")?.split(' ').next()?;
        let number: u8 = number.parse().ok()?;
        let is_again = seen.contains(&number);
        seen.push(number);
        is_again.then_some(number)
    })
}

/// The lines of the first video section that is not refused and receives.
fn video_section(lines: &[&str]) -> Result<Range<usize>, OfferError> {
    section_of("video", lines).ok_or(OfferError::NoVideo)
}

/// The lines of the first section of this kind that is not refused, if it receives.
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

/// Whether this line begins a section of this kind that is not refused.
pub(crate) fn is_begun(line: &str, kind: &str) -> bool {
    let rest = line
        .strip_prefix("m=")
        .and_then(|line| line.strip_prefix(kind));
    rest.is_some_and(|rest| rest.starts_with(' ') && !rest.starts_with(" 0 "))
}

/// Payload type of the retransmissions of another payload type.
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

/// The format of repair packets that a section offers: our own if possible, otherwise `FlexFEC`.
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

/// The part of this line after `a=NAME:PAYLOAD_TYPE `, if it begins so.
pub(crate) fn attribute<'a>(line: &'a str, name: &str, payload_type: u8) -> Option<&'a str> {
    let (number, rest) = line
        .strip_prefix("a=")?
        .strip_prefix(name)?
        .split_once(' ')?;
    (number.parse() == Ok(payload_type)).then_some(rest)
}

/// The number of the header extension that this line offers.
pub(crate) fn extension_number(line: &str) -> Option<u8> {
    let rest = line.strip_prefix("a=extmap:")?;
    rest.split([' ', '/']).next()?.parse().ok()
}

/// Whether this line offers this header extension.
pub(crate) fn extension(line: &str, uri: &str) -> bool {
    line.starts_with("a=extmap:") && line.split(' ').nth(1) == Some(uri)
}

/// The offer for str0m to answer: with exactly the line for `numbers` in its video section, and
/// without retransmissions there, because str0m accepts all that it is offered. Of the sound
/// section, only the lines about this payload type remain.
fn for_str0m(
    lines: &[&str],
    video: Range<usize>,
    numbers: Numbers,
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
        let is_other = is_numbers(line) && !numbers.uri().is_some_and(|uri| extension(line, uri));
        is_about_resent(line) || is_other
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
    if numbers == Numbers::Second && !is_named {
        // A number means the same extension in all sections of a bundle (RFC 8843, section 7.1.2),
        // so that the new one must be free in all of them.
        let taken: Vec<u8> = lines
            .iter()
            .filter(|line| !is_unwanted(line))
            .filter_map(|line| extension_number(line))
            .collect();
        // One-byte headers have numbers up to 14 (RFC 8285, section 4.2).
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

/// The line of an offer that says that the receiver wants frames in parts, each as soon as it is coded.
pub(crate) const PARTS: &str = "a=x-mimosa-parts";

/// Adds the line for our own repair packets to the video section of an offer or an answer.
pub(crate) fn add_repairs(text: &str) -> String {
    add_to_video(text, repair::ATTRIBUTE)
}

/// Adds the line with which a receiver asks for frames in parts to an offer's video section.
pub(crate) fn add_parts(text: &str) -> String {
    add_to_video(text, PARTS)
}

/// Adds a line to the video section of an offer or an answer.
fn add_to_video(text: &str, attribute: &str) -> String {
    let mut added = String::new();
    let mut is_video = false;
    for line in text.lines().map(str::trim_end) {
        let _ = write!(added, "{line}\r\n");
        is_video = line.starts_with("m=video ") || is_video && !line.starts_with("m=");
        if is_video && line.starts_with("a=mid:") {
            let _ = write!(added, "{attribute}\r\n");
        }
    }
    added
}

/// A stream beside the media stream.
#[derive(Clone, Debug)]
pub(crate) struct Beside {
    /// Payload type of the stream.
    pub(crate) payload_type: u8,
    /// The stream's format in `a=rtpmap`, and its parameters in `a=fmtp`.
    pub(crate) format: &'static str,
    pub(crate) parameters: String,
    /// How the streams belong together (RFC 5576, section 4.2).
    pub(crate) group: &'static str,
    pub(crate) ssrc: u32,
}

impl Beside {
    /// A stream of retransmissions (RFC 4588) of the payload type `media`.
    pub(crate) fn retransmissions(payload_type: u8, media: u8, ssrc: u32) -> Self {
        Self {
            payload_type,
            format: "rtx/90000",
            parameters: format!("apt={media}"),
            group: "FID",
            ssrc,
        }
    }

    /// A stream of `FlexFEC` packets, whose parameters bound the repair of a frame to 10 s.
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

/// Gives a stream of an answer another SSRC.
pub(crate) fn rename(answer: &str, from: u32, to: u32) -> String {
    answer.replace(&format!("\na=ssrc:{from} "), &format!("\na=ssrc:{to} "))
}

/// Adds a stream to the video section of an answer, beside the stream with this SSRC.
pub(crate) fn add_stream(answer: &str, media_ssrc: u32, beside: &Beside) -> String {
    let mut text = String::new();
    let own = format!("a=ssrc:{media_ssrc} ");
    // Both streams have the same source and track, and each has to say so.
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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::reports::TRANSPORT_CC_01;

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
        // The codec is Main, as there is no High, and the retransmissions are those of Main.
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

    /// An offer with as many candidates as it has room for.
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

    /// A host with several codecs takes the browser's codec and its retransmissions.
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
        // Only the section in which video is sent gets the stream.
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
    fn a_payload_type_stands_for_one_codec() {
        let twice = CHROMIUM.replacen("a=rtpmap:114 H264", "a=rtpmap:116 H264", 1);
        assert_ne!(twice, CHROMIUM);
        let error = read(&twice, None).unwrap_err().to_string();
        assert!(
            error.starts_with("payload type 116 stands for two"),
            "{error}"
        );
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
