//! The sound section of an offer and of an answer.

use std::fmt::Write as _;
use std::ops::Range;

use crate::sdp::{attribute, extension, is_begun, section_of};
use crate::sound::Agreed;

/// URI of the header extension with the media identification (RFC 9143, section 15).
const MEDIA_ID: &str = "urn:ietf:params:rtp-hdrext:sdes:mid";

/// The relevant content of a sound section.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct SoundOffer {
    /// Identification of the section (RFC 5888).
    pub(crate) media: String,
    /// Payload types of the section.
    pub(crate) agreed: Agreed,
}

/// The lines of the first sound section that is not refused, if it receives.
pub(crate) fn find(lines: &[&str]) -> Option<Range<usize>> {
    section_of("audio", lines)
}

/// Reads a sound section. `is_taken` says which payload types the video uses: in a bundle they mean
/// the same in all sections (RFC 8843, section 7.1.2).
pub(crate) fn read(section: &[&str], is_taken: impl Fn(u8) -> bool) -> Option<SoundOffer> {
    let number_of = |codec: &str| {
        section.iter().find_map(|line| {
            let (number, name) = line.strip_prefix("a=rtpmap:")?.split_once(' ')?;
            let number = number.parse().ok().filter(|&pt: &u8| pt < 128)?;
            name.eq_ignore_ascii_case(codec).then_some(number)
        })
    };
    let opus = number_of("opus/48000/2").filter(|&opus| !is_taken(opus))?;
    // The redundancy has to be of Opus alone.
    let is_its = |number: &u8| {
        let mut lines = section.iter();
        let found = lines.find_map(|line| attribute(line, "fmtp:", *number));
        found.is_some_and(|types| types.split('/').all(|one| one.parse() == Ok(opus)))
    };
    let red = number_of("red/48000/2").filter(is_its);
    let media = section
        .iter()
        .find_map(|line| line.strip_prefix("a=mid:"))?;
    Some(SoundOffer {
        media: media.to_owned(),
        agreed: Agreed {
            opus,
            red: red.filter(|&red| red != opus && !is_taken(red)),
        },
    })
}

/// The line `m=audio PORT PROTOCOL` with this payload type alone.
pub(crate) fn only(line: &str, payload_type: u8) -> String {
    let mut parts: Vec<_> = line.split(' ').take(3).map(str::to_owned).collect();
    parts.push(payload_type.to_string());
    parts.join(" ")
}

/// Whether the host uses this line of a sound section.
pub(crate) fn is_about(line: &str, opus: u8) -> bool {
    if line.starts_with("a=extmap:") {
        return extension(line, MEDIA_ID);
    }
    let is_of_type = ["a=rtpmap:", "a=fmtp:"]
        .iter()
        .any(|name| line.starts_with(name));
    if is_of_type {
        let own = |name| attribute(line, name, opus).is_some();
        return own("rtpmap:") || own("fmtp:");
    }
    !line.starts_with("a=rtcp-fb:")
}

/// Adds packets with redundancy to the sound section of an answer.
pub(crate) fn add_redundancy(answer: &str, opus: u8, red: u8) -> String {
    let mut text = String::new();
    let mut is_inside = false;
    for line in answer.lines().map(str::trim_end) {
        if line.starts_with("m=") {
            is_inside = is_begun(line, "audio");
        }
        let _ = match line {
            _ if is_inside && line.starts_with("m=") => write!(text, "{line} {red}\r\n"),
            _ if is_inside && attribute(line, "rtpmap:", opus).is_some() => write!(
                text,
                "{line}\r\na=rtpmap:{red} red/48000/2\r\na=fmtp:{red} {opus}/{opus}\r\n"
            ),
            _ => write!(text, "{line}\r\n"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Codec;
    use mimosa_protocol::control::FeedbackKind;

    use super::*;
    use crate::sdp::Offer;

    const CHROMIUM: &str = include_str!("../tests/offers/chromium-156.sdp");

    /// What a browser offers for sound, without the lines that all sections have.
    const SOUND: &str = "m=audio 9 UDP/TLS/RTP/SAVPF 111 63 9 0 126\r\n\
        c=IN IP4 0.0.0.0\r\n\
        a=mid:2\r\n\
        a=extmap:12 urn:ietf:params:rtp-hdrext:ssrc-audio-level\r\n\
        a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01\r\n\
        a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid\r\n\
        a=recvonly\r\n\
        a=rtcp-mux\r\n\
        a=rtpmap:111 opus/48000/2\r\n\
        a=rtcp-fb:111 transport-cc\r\n\
        a=fmtp:111 minptime=10;useinbandfec=1\r\n\
        a=rtpmap:63 red/48000/2\r\n\
        a=fmtp:63 111/111\r\n\
        a=rtpmap:9 G722/8000\r\n\
        a=rtpmap:0 PCMU/8000\r\n\
        a=rtpmap:126 telephone-event/8000\r\n";

    fn with_sound(sound: &str) -> Offer {
        let (before, after) = CHROMIUM.split_once("m=application").unwrap();
        let text = format!("{before}{sound}m=application{after}");
        Offer::read(&text, &[Codec::H264], Some(FeedbackKind::OnRequest)).unwrap()
    }

    #[test]
    fn of_the_sound_str0m_reads_what_is_used() {
        let offer = with_sound(SOUND);
        let agreed = Agreed {
            opus: 111,
            red: Some(63),
        };
        let sound = offer.sound.unwrap();
        assert_eq!((sound.media.as_str(), sound.agreed), ("2", agreed));
        let (_, sound) = offer.text.split_once("m=audio").unwrap();
        let (sound, _) = sound.split_once("m=application").unwrap();
        let expected = " 9 UDP/TLS/RTP/SAVPF 111\r\n\
            c=IN IP4 0.0.0.0\r\n\
            a=mid:2\r\n\
            a=extmap:9 urn:ietf:params:rtp-hdrext:sdes:mid\r\n\
            a=recvonly\r\n\
            a=rtcp-mux\r\n\
            a=rtpmap:111 opus/48000/2\r\n\
            a=fmtp:111 minptime=10;useinbandfec=1\r\n";
        assert_eq!(sound, expected);
        let silent = Offer::read(CHROMIUM, &[Codec::H264], Some(FeedbackKind::OnRequest)).unwrap();
        assert_eq!(silent.sound, None);
        let (before, after) = offer.text.split_once("m=audio").unwrap();
        let after = &after[after.find("m=application").unwrap()..];
        assert_eq!(
            format!("{before}{after}"),
            silent.text,
            "the rest is as it was"
        );
    }

    #[test]
    fn sound_that_cannot_be_sent_is_none() {
        let change = |from, to| with_sound(&SOUND.replace(from, to)).sound;
        assert!(change("a=recvonly", "a=sendonly").is_none());
        assert!(change("m=audio 9 ", "m=audio 0 ").is_none());
        assert!(change("opus/48000/2", "speex/8000").is_none());
        // The payload type is the video's.
        assert!(change("111", "116").is_none());
        let red = |from, to| change(from, to).unwrap().agreed.red;
        assert_eq!(red("a=rtcp-mux", "a=rtcp-mux"), Some(63));
        assert_eq!(red("red/48000/2", "other/48000/2"), None);
        assert_eq!(red("111/111", "111/0"), None);
        assert_eq!(red("a=fmtp:63 111/111\r\n", ""), None);
        // The payload type is that of the retransmissions.
        assert_eq!(red("63", "117"), None);
    }

    #[test]
    fn an_answer_gets_redundancy() {
        let answer = "v=0\r\nm=video 9 X 116\r\na=rtpmap:111 H264/90000\r\nm=audio 9 X 111\r\n\
            a=rtpmap:111 opus/48000/2\r\na=fmtp:111 stereo=1\r\nm=application 9 Y z\r\n";
        let expected = "v=0\r\nm=video 9 X 116\r\na=rtpmap:111 H264/90000\r\nm=audio 9 X 111 63\r\n\
            a=rtpmap:111 opus/48000/2\r\na=rtpmap:63 red/48000/2\r\na=fmtp:63 111/111\r\n\
            a=fmtp:111 stereo=1\r\nm=application 9 Y z\r\n";
        assert_eq!(add_redundancy(answer, 111, 63), expected);
        let refused = answer.replace("m=audio 9", "m=audio 0");
        assert_eq!(add_redundancy(&refused, 111, 63), refused);
    }
}
