//! Offers that no browser makes.

use mimosa_facts::Codec;
use mimosa_protocol::control::FeedbackKind;
use mimosa_transport::{OfferError, Peer};
use proptest::prelude::*;
use proptest::sample::Index;

use crate::world::{NUMBERS, beginning, host_address};

const CHROMIUM: &str = include_str!("../offers/chromium-156.sdp");
/// The offer of a Chromium that reports in RFC 8888 and plays sound.
const REPORTING: &str = include_str!("../offers/chromium-156-ccfb.sdp");

/// What a host that has every codec sends with pleasure.
const ALL: &[Codec] = &[Codec::Av1, Codec::H265, Codec::H264];
const H264: &[Codec] = &[Codec::H264];

/// Answers, or says why not; either in words.
fn answer(
    offer: &str,
    codecs: &[Codec],
    wanted: Option<FeedbackKind>,
) -> Result<String, OfferError> {
    let addresses = [host_address()];
    let answer = Peer::answer(
        offer,
        codecs,
        wanted,
        &addresses,
        NUMBERS,
        true,
        beginning(),
    );
    match &answer {
        Ok((_, text)) => assert!(text.starts_with("v=0\r\n") && text.contains("\r\nm=video ")),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    answer.map(|(_, text)| text)
}

fn wanted() -> impl Strategy<Value = Option<FeedbackKind>> {
    prop::sample::select(vec![
        None,
        Some(FeedbackKind::CongestionControl),
        Some(FeedbackKind::OnRequest),
        Some(FeedbackKind::Periodic),
        Some(FeedbackKind::None),
    ])
}

fn codecs() -> impl Strategy<Value = &'static [Codec]> {
    prop::sample::select(vec![H264, ALL])
}

/// A change to the lines of an offer.
#[derive(Clone, Debug)]
enum Edit {
    Delete(Index),
    Double(Index),
    Swap(Index, Index),
    /// A line's end is lost.
    Cut(Index, Index),
    /// A character becomes another one.
    Change(Index, Index, char),
    /// A value becomes another one.
    Value(Index, String),
}

fn edit() -> impl Strategy<Value = Edit> {
    let at = any::<Index>;
    let character = prop_oneof![
        prop::sample::select(" :;=/-.,0123456789aA\t\u{0}".chars().collect::<Vec<_>>()),
        any::<char>(),
    ];
    let value = prop_oneof![
        Just(String::new()),
        any::<u64>().prop_map(|number| number.to_string()),
        (0..300_u16).prop_map(|number| number.to_string()),
        "[a-zA-Z0-9:/=; ]{0,40}",
        any::<String>(),
    ];
    prop_oneof![
        at().prop_map(Edit::Delete),
        at().prop_map(Edit::Double),
        (at(), at()).prop_map(|(one, other)| Edit::Swap(one, other)),
        (at(), at()).prop_map(|(line, place)| Edit::Cut(line, place)),
        (at(), at(), character).prop_map(|(line, place, to)| Edit::Change(line, place, to)),
        (at(), value).prop_map(|(line, value)| Edit::Value(line, value)),
    ]
}

impl Edit {
    fn apply(&self, lines: &mut Vec<String>) {
        if lines.is_empty() {
            return;
        }
        match self {
            Self::Delete(at) => drop(lines.remove(at.index(lines.len()))),
            Self::Double(at) => {
                let at = at.index(lines.len());
                lines.insert(at, lines[at].clone());
            }
            Self::Swap(one, other) => {
                let (one, other) = (one.index(lines.len()), other.index(lines.len()));
                lines.swap(one, other);
            }
            Self::Cut(line, place) => {
                let line = line.index(lines.len());
                let characters: Vec<char> = lines[line].chars().collect();
                lines[line] = characters[..place.index(characters.len() + 1)]
                    .iter()
                    .collect();
            }
            Self::Change(line, place, to) => {
                let line = line.index(lines.len());
                let mut characters: Vec<char> = lines[line].chars().collect();
                if !characters.is_empty() {
                    let place = place.index(characters.len());
                    characters[place] = *to;
                }
                lines[line] = characters.into_iter().collect();
            }
            Self::Value(line, value) => {
                let line = line.index(lines.len());
                if let Some((name, _)) = lines[line].split_once([':', '=']) {
                    lines[line] = format!("{}{value}", &lines[line][..=name.len()]);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn a_changed_offer_is_answered_or_refused(
        offer in prop::sample::select(vec![CHROMIUM, REPORTING]),
        edits in prop::collection::vec(edit(), 1..8),
        wanted in wanted(),
        codecs in codecs(),
        ending in prop::sample::select(vec!["\r\n", "\n"]),
    ) {
        let mut lines: Vec<String> = offer.lines().map(str::to_owned).collect();
        for edit in edits {
            edit.apply(&mut lines);
        }
        let _ = answer(&(lines.join(ending) + ending), codecs, wanted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn text_is_refused(text: String, codecs in codecs(), wanted in wanted()) {
        prop_assert!(answer(&text, codecs, wanted).is_err());
        let headed = format!("v=0\r\n{text}");
        prop_assert!(answer(&headed, codecs, wanted).is_err());
    }
}

#[test]
fn a_browsers_offer_is_answered() {
    for (wanted, has) in [
        (None, "-01"),
        (Some(FeedbackKind::OnRequest), "-02"),
        (Some(FeedbackKind::Periodic), "-01"),
    ] {
        let text = answer(CHROMIUM, H264, wanted).unwrap();
        let extensions = text
            .lines()
            .filter(|line| line.contains("transport-wide-cc"));
        let extensions: Vec<_> = extensions.collect();
        assert!(
            extensions.len() == 1 && extensions[0].ends_with(has),
            "{extensions:?}"
        );
    }
    let text = answer(CHROMIUM, H264, Some(FeedbackKind::None)).unwrap();
    assert!(!text.contains("transport-wide-cc"));
}

/// The sections of an answer: video, sound, data.
fn sections(text: &str) -> [&str; 3] {
    let (_, rest) = text.split_once("m=video ").unwrap();
    let (video, rest) = rest.split_once("m=audio ").unwrap();
    let (sound, data) = rest.split_once("m=application ").unwrap();
    [video, sound, data]
}

#[test]
fn reports_of_rfc_8888_are_accepted_in_every_section_and_alone() {
    for wanted in [None, Some(FeedbackKind::CongestionControl)] {
        let text = answer(REPORTING, H264, wanted).unwrap();
        let [video, sound, data] = sections(&text);
        for section in [video, sound] {
            assert!(section.starts_with("9 "), "it is not refused: {section}");
            assert_eq!(section.matches("ccfb").count(), 1);
            assert!(section.contains("\r\na=rtcp-fb:* ack ccfb\r\n"));
        }
        assert!(!data.contains("ccfb"));
        assert!(!text.contains("transport-wide-cc") && !text.contains("transport-cc"));
        // Other feedback stays as it is.
        assert!(video.contains("a=rtcp-fb:116 nack pli\r\n"));
        assert!(video.contains(" rtx/90000") && video.contains(" flexfec-03/90000"));
        assert!(sound.contains("a=rtpmap:63 red/48000/2\r\n"));
    }
}

#[test]
fn what_is_wanted_comes_before_reports_of_rfc_8888() {
    for (wanted, has) in [
        (FeedbackKind::OnRequest, "-02"),
        (FeedbackKind::Periodic, "-01"),
    ] {
        let text = answer(REPORTING, H264, Some(wanted)).unwrap();
        let mut lines = text.lines();
        assert!(lines.any(|line| line.contains("transport-wide-cc") && line.ends_with(has)));
        assert!(!text.contains("ccfb") && text.contains(" transport-cc"));
    }
    // A browser that does not offer them is asked for the next best.
    let asked = Some(FeedbackKind::CongestionControl);
    let text = answer(CHROMIUM, H264, asked).unwrap();
    assert!(text.contains("transport-wide-cc-02") && !text.contains("ccfb"));
}

/// Chromium reports only if all sections agree, so that an offer without them in one is one
/// without them.
#[test]
fn reports_of_rfc_8888_are_on_all_sections_or_none() {
    let asked = Some(FeedbackKind::CongestionControl);
    for silent in ["a=rtcp-fb:111 ack ccfb\n", "a=rtcp-fb:116 ack ccfb\n"] {
        let offer = REPORTING.replace(silent, "");
        assert!(offer.len() < REPORTING.len());
        let text = answer(&offer, H264, asked).unwrap();
        assert!(!text.contains("ccfb") && text.contains("transport-wide-cc-02"));
        let text = answer(&offer, H264, None).unwrap();
        assert!(!text.contains("ccfb") && text.contains("extensions-01"));
    }
    // A wildcard is as good, and a refused section has no say.
    let line = |line: &str| {
        let is_its =
            line.ends_with(" ack ccfb") && !line.contains(":116 ") && !line.contains(":111 ");
        let line = if line.ends_with(" ack ccfb") {
            "a=rtcp-fb:* ack ccfb"
        } else {
            line
        };
        (!is_its).then(|| format!("{line}\n"))
    };
    let wild: String = REPORTING.lines().filter_map(line).collect();
    assert_eq!(wild.matches("a=rtcp-fb:* ack ccfb\n").count(), 2);
    let silent = REPORTING
        .replace("m=audio 9 ", "m=audio 0 ")
        .replace("a=rtcp-fb:111 ack ccfb\n", "");
    for offer in [wild, silent] {
        let text = answer(&offer, H264, asked).unwrap();
        assert!(text.contains("a=rtcp-fb:* ack ccfb") && !text.contains("transport-wide-cc"));
        assert!(!text.contains("\r\nm=audio 0 ") || sections(&text)[1].find("ccfb").is_none());
    }
}

/// A second video section is answered, but nothing is sent on it.
#[test]
fn the_first_video_section_is_sent_on() {
    let (session, sections) = CHROMIUM.split_once("m=video ").unwrap();
    let (video, data) = sections.split_once("m=application ").unwrap();
    let second = video.replace("a=mid:0", "a=mid:2");
    let session = session.replace("BUNDLE 0 1", "BUNDLE 0 2 1");
    let offer = format!("{session}m=video {video}m=video {second}m=application {data}");
    let text = answer(&offer, H264, None).unwrap();
    assert_eq!(text.matches("m=video 9 ").count(), 2);
    let (first, second) = text.split_once("a=mid:2").unwrap();
    assert_eq!(first.matches(" rtx/90000").count(), 1);
    assert!(!second.contains("rtx") && !second.contains("ssrc-group"));
}

/// AV1 with the parameters of the offer, its retransmissions and `FlexFEC`, and nothing else
/// for video.
#[test]
fn a_browser_that_has_it_gets_av1() {
    let text = answer(CHROMIUM, ALL, Some(FeedbackKind::OnRequest)).unwrap();
    let line = |prefix: &str| text.lines().find(|line| line.starts_with(prefix));
    let video = line("m=video ").unwrap();
    assert!(video.ends_with(" 45 46 49"), "{video}");
    assert_eq!(line("a=rtpmap:45 "), Some("a=rtpmap:45 AV1/90000"));
    assert_eq!(line("a=fmtp:46 "), Some("a=fmtp:46 apt=45"));
    let form = line("a=fmtp:45 ").unwrap();
    for parameter in ["level-idx=5", "profile=0", "tier=0"] {
        assert!(form.contains(parameter), "{form}");
    }
    assert!(!text.contains("H264"));
}
