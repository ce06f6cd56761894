//! Chooses the codec that an offer and a host have in common.

use mimosa_facts::Codec;
use str0m::format::FormatParams;

use crate::sdp::attribute;

/// A codec of an offer.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CodecOffer {
    pub(crate) codec: Codec,
    /// The codec's payload type.
    pub(crate) payload_type: u8,
    /// The codec's format parameters in the offer, as str0m's type.
    pub(crate) format: FormatParams,
}

/// The first of `codecs` that a video section offers in a form that the host can send.
pub(crate) fn first_offered(section: &[&str], codecs: &[Codec]) -> Option<CodecOffer> {
    let find = |codec: &Codec| best(section, *codec);
    codecs.iter().find_map(find)
}

/// The forms of these codecs that the host can send, in words.
pub(crate) fn described(codecs: &[Codec]) -> String {
    let all = codecs.iter().map(|codec| match codec {
        Codec::H264 => "H.264 with packetization-mode=1",
        Codec::H265 => "H.265 with profile-id=1",
        Codec::Av1 => "AV1 with profile=0",
    });
    all.collect::<Vec<_>>().join(", ")
}

/// str0m's name of a codec.
pub(crate) const fn known(codec: Codec) -> str0m::format::Codec {
    match codec {
        Codec::H264 => str0m::format::Codec::H264,
        Codec::H265 => str0m::format::Codec::H265,
        Codec::Av1 => str0m::format::Codec::Av1,
    }
}

/// The best of the forms in which a video section offers a codec.
fn best(section: &[&str], codec: Codec) -> Option<CodecOffer> {
    let offered = section.iter().filter_map(|line| {
        let (number, name) = line.strip_prefix("a=rtpmap:")?.split_once(' ')?;
        let payload_type = number.parse().ok().filter(|&pt: &u8| pt < 128)?;
        let (name, rate) = name.split_once('/')?;
        let is_it = name.eq_ignore_ascii_case(codec.name()) && rate == "90000";
        is_it.then_some(payload_type)
    });
    let forms = offered.filter_map(|payload_type| {
        let mut lines = section.iter();
        let parameters = lines.find_map(|line| attribute(line, "fmtp:", payload_type));
        let (rank, format) = match codec {
            Codec::H264 => h264(parameters?),
            Codec::H265 => h265(parameters.unwrap_or_default()),
            Codec::Av1 => av1(parameters.unwrap_or_default()),
        }?;
        let offer = CodecOffer {
            codec,
            payload_type,
            format,
        };
        Some((rank, offer))
    });
    let best = forms.min_by_key(|(rank, _)| *rank);
    best.map(|(_, offer)| offer)
}

/// Rank and format of an offered form of H.264, if it has packetization mode 1. High is the best
/// profile, before Main, Constrained Baseline, Baseline and all others.
fn h264(parameters: &str) -> Option<(u8, FormatParams)> {
    if value(parameters, "packetization-mode") != Some("1") {
        return None;
    }
    // RFC 6184, section 8.1: without the parameter, Baseline at level 1.
    let profile = value(parameters, "profile-level-id").unwrap_or("42000a");
    let profile = u32::from_str_radix(profile, 16).ok()?;
    let rank = match profile >> 8 {
        0x6400 | 0x640c => 0,
        0x4d00 | 0x4d40 => 1,
        0x42e0 | 0x42c0 => 2,
        0x4200 => 3,
        _ => 4,
    };
    let format = FormatParams {
        level_asymmetry_allowed: Some(true),
        packetization_mode: Some(1),
        profile_level_id: Some(profile),
        ..FormatParams::default()
    };
    Some((rank, format))
}

/// Rank and format of an offered form of H.265, if it is profile Main, on one stream, without
/// decoding order numbers. These are also the defaults (RFC 7798, section 7.1).
fn h265(parameters: &str) -> Option<(u8, FormatParams)> {
    let is_plain = |name, plain: &str| {
        let said = value(parameters, name);
        said.is_none_or(|said| said.eq_ignore_ascii_case(plain))
    };
    let fits = is_plain("profile-space", "0")
        && is_plain("profile-id", "1")
        && is_plain("tx-mode", "SRST")
        && is_plain("sprop-max-don-diff", "0");
    fits.then(|| (0, FormatParams::parse_line(parameters)))
}

/// Rank and format of an offered form of AV1, if it is profile Main, the default (section 7.2 of
/// the RTP payload format for AV1).
fn av1(parameters: &str) -> Option<(u8, FormatParams)> {
    let fits = value(parameters, "profile").is_none_or(|profile| profile == "0");
    fits.then(|| (0, FormatParams::parse_line(parameters)))
}

/// The value of a format parameter.
fn value<'a>(parameters: &'a str, name: &str) -> Option<&'a str> {
    parameters.split(';').find_map(|parameter| {
        let (key, value) = parameter.trim().split_once('=')?;
        key.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECTION: [&str; 15] = [
        "m=video 9 UDP/TLS/RTP/SAVPF 96 97 98 99 100 101 102",
        "a=rtpmap:96 VP8/90000",
        "a=rtpmap:97 H264/90000",
        "a=fmtp:97 packetization-mode=1;profile-level-id=42001f",
        "a=rtpmap:98 h264/90000",
        "a=fmtp:98 profile-level-id=64001f; packetization-mode=1",
        "a=rtpmap:99 H264/90000",
        "a=rtpmap:100 AV1/90000",
        "a=fmtp:100 level-idx=5;profile=1;tier=0",
        "a=rtpmap:101 AV1/90000",
        "a=rtpmap:102 H265/90000",
        "a=fmtp:102 level-id=93;profile-id=2;tier-flag=0;tx-mode=SRST",
        "a=rtpmap:103 H265/90000",
        "a=fmtp:103 level-id=93;profile-id=1;tier-flag=0;tx-mode=srst",
        "a=rtpmap:200 H265/90000",
    ];

    fn payload_type(section: &[&str], codecs: &[Codec]) -> Option<u8> {
        first_offered(section, codecs).map(|offer| offer.payload_type)
    }

    #[test]
    fn the_hosts_order_decides() {
        use Codec::{Av1, H264, H265};
        for (codecs, expected) in [
            (&[H264, H265, Av1][..], Some(98)),
            (&[H265, H264], Some(103)),
            (&[Av1, H264], Some(101)),
            (&[], None),
        ] {
            assert_eq!(payload_type(&SECTION, codecs), expected, "{codecs:?}");
        }
        let only = |name: &str| SECTION.map(|line| line.replace(name, "VP9"));
        let without = only("AV1");
        let without: Vec<&str> = without.iter().map(String::as_str).collect();
        assert_eq!(payload_type(&without, &[Av1, H265]), Some(103));
        assert_eq!(payload_type(&without, &[Av1]), None);
    }

    #[test]
    fn a_form_that_is_not_sent_is_none() {
        let section = |name, parameters: &str| {
            let fmtp = format!("a=fmtp:96 {parameters}");
            let rtpmap = format!("a=rtpmap:96 {name}/90000");
            let offered = |codec| payload_type(&[&rtpmap, &fmtp], &[codec]).is_some();
            [Codec::H264, Codec::H265, Codec::Av1].map(offered)
        };
        for (name, parameters, expected) in [
            ("H264", "packetization-mode=1", [true, false, false]),
            ("H264", "packetization-mode=0", [false; 3]),
            ("H264", "profile-level-id=64001f", [false; 3]),
            (
                "H264",
                "packetization-mode=1;profile-level-id=x",
                [false; 3],
            ),
            ("H265", "level-id=93", [false, true, false]),
            ("H265", "profile-id=1;tx-mode=MRST", [false; 3]),
            ("H265", "profile-id=1;sprop-max-don-diff=2", [false; 3]),
            ("H265", "profile-id=4", [false; 3]),
            ("H265", "profile-space=1;profile-id=1", [false; 3]),
            ("AV1", "profile=0", [false, false, true]),
            ("AV1", "profile=2", [false; 3]),
        ] {
            assert_eq!(section(name, parameters), expected, "{name} {parameters}");
        }
    }
}
