//! Scripted causes: what is said of a stream to which one thing happens.
//!
//! A model makes the frames of a session in virtual time: a source, an encoder, a pacer, a link with a queue,
//! a way back, a decoder and a screen, each with its noise. After eight calm seconds a script changes one part,
//! by an amount drawn from the seed. A busy computer also delays arrivals and reports, as real ones do.
//!
//! `cargo test -p mimosa-why --test causes -- --nocapture` prints the table of docs/use/why.md.

#![allow(clippy::unwrap_used, reason = "a test may")]

use mimosa_facts::{
    Decision, Evidence, FrameEnd, FrameId, FrameLife, FramePlan, Pacing, SessionFrame,
};
use mimosa_units::random::SplitMix;
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};
use mimosa_why::{Severity, Why};

/// Runs of each script.
const SEEDS: u64 = 100;
/// When the script begins, and how long the stream goes on.
const BEGINS: Time = Time::from_secs(8);
const LENGTH: Time = Time::from_secs(13);
const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);
/// Time over which the packets of a frame are spread, in milliseconds.
const OVER: f64 = 8.0;

/// The parts of the model. Times in milliseconds, rates in Mbit/s.
#[derive(Clone, Copy, Debug)]
struct Parts {
    source: f64,
    wait: f64,
    encode: f64,
    late: f64,
    link: f64,
    /// Share of the link that others have, and the queue that they keep.
    others: f64,
    standing: f64,
    delay: f64,
    loss: f64,
    back: f64,
    decode: f64,
    present: f64,
    /// When nothing passes the link, and for how long.
    pause: Option<(Time, f64)>,
    /// How late the player's computer reads what has come, now and then.
    reads_late: f64,
}

struct Draw(SplitMix);

impl Draw {
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + self.0.uniform() * (most - least)
    }
}

fn calm(draw: &mut Draw) -> Parts {
    Parts {
        source: 16.667,
        wait: draw.between(0.3, 2.0),
        encode: draw.between(3.0, 9.0),
        late: draw.between(0.1, 1.0),
        link: draw.between(12.0, 60.0),
        others: 0.0,
        standing: 0.0,
        delay: draw.between(3.0, 30.0),
        loss: 0.0,
        back: draw.between(3.0, 15.0),
        decode: draw.between(2.0, 7.0),
        present: draw.between(4.0, 20.0),
        pause: None,
        reads_late: 0.0,
    }
}

/// A script: its cause, its name in the table, and what it changes.
type Script = (
    Option<&'static str>,
    &'static str,
    fn(&mut Parts, &mut Draw),
);

const SCRIPTS: &[Script] = &[
    (None, "nothing", |_, _| {}),
    (
        Some("encoder-slow"),
        "encoding takes 18 to 40 ms",
        |parts, draw| {
            parts.encode = draw.between(18.0, 40.0);
            parts.late = draw.between(0.5, 4.0);
        },
    ),
    (
        Some("host-busy"),
        "pictures wait 16 to 60 ms for the encoder",
        |parts, draw| {
            parts.wait = draw.between(16.0, 60.0);
            parts.late = draw.between(1.0, 12.0);
        },
    ),
    (
        Some("sender-late"),
        "packets leave 13 to 50 ms late",
        |parts, draw| {
            parts.late = draw.between(13.0, 50.0);
            parts.back += draw.between(0.0, 40.0);
        },
    ),
    (
        Some("decoder-slow"),
        "decoding takes 17 to 40 ms",
        |parts, draw| {
            parts.decode = draw.between(17.0, 40.0);
            parts.back += draw.between(0.0, 50.0);
            parts.reads_late = draw.between(0.0, 90.0);
        },
    ),
    (
        Some("screen-late"),
        "decoded pictures wait 50 to 150 ms",
        |parts, draw| {
            parts.present = draw.between(50.0, 150.0);
            parts.back += draw.between(0.0, 40.0);
            parts.reads_late = draw.between(0.0, 90.0);
        },
    ),
    (
        Some("outage"),
        "nothing passes for 0.6 to 2 s",
        |parts, draw| {
            parts.pause = Some((BEGINS, draw.between(600.0, 2_000.0)));
        },
    ),
    (
        Some("pause"),
        "the line pauses for 60 to 300 ms",
        |parts, draw| {
            parts.pause = Some((BEGINS, draw.between(60.0, 300.0)));
        },
    ),
    (
        Some("loss"),
        "2 to 10 % of packets are lost",
        |parts, draw| {
            parts.loss = draw.between(0.02, 0.1);
        },
    ),
    (
        Some("line-slower"),
        "the link falls to 0.15 to 0.55 of its rate",
        |parts, draw| {
            parts.link *= draw.between(0.15, 0.55);
        },
    ),
    (
        Some("shared"),
        "a download takes 0.35 to 0.8 of the link, behind 25 to 150 ms",
        |parts, draw| {
            parts.others = draw.between(0.35, 0.8);
            parts.standing = draw.between(25.0, 150.0);
        },
    ),
    (
        Some("way-back-busy"),
        "reports come 40 to 300 ms late",
        |parts, draw| {
            parts.back += draw.between(40.0, 300.0);
        },
    ),
    (
        Some("game-slow"),
        "the game makes 15 to 40 pictures a second",
        |parts, draw| {
            parts.source = 1_000.0 / draw.between(15.0, 40.0);
        },
    ),
];

fn millis(value: f64) -> TimeDelta {
    TimeDelta::from_secs(value / 1e3)
}

/// A frame with these times, in milliseconds: captured, encoding begun and ended, sent, arrived, acknowledged,
/// decoded and shown; and with so many packets, sent and lost.
fn made(
    number: u64,
    times: [f64; 8],
    size: Bytes,
    [packets, lost]: [u32; 2],
    parts: &Parts,
) -> SessionFrame {
    let [
        captured,
        begun,
        ended,
        sent,
        arrives,
        acknowledged,
        decoded,
        shown,
    ] = times;
    let at = |value: f64| Time::ZERO + millis(value);
    let peer = |value: f64| PeerTime::from_nanos(millis(value + 77_000.0).as_nanos());
    let life = FrameLife {
        frame: FrameId(number),
        due: at(begun),
        interval: INTERVAL,
        decision: Decision {
            evidence: Evidence {
                service_rate: Some(Rate::from_mbps(parts.link)),
                ..Evidence::NONE
            },
            ..Decision::starting_at(Rate::from_mbps(parts.link * 0.8))
        },
        allowed: size,
        handed_over: at(ended),
        pacing: Pacing::Spread {
            over: millis(OVER),
            lead: 1,
        },
        bucket: None,
        size,
        packets,
        first_sent: Some(at(ended)),
        last_sent: Some(at(sent)),
        first_arrival: Some(peer(arrives - 1.0)),
        last_arrival: Some(peer(arrives)),
        arrived: packets - lost,
        lost,
        retransmitted: lost,
        end: Some(FrameEnd::Acknowledged(at(acknowledged))),
        protection: None,
    };
    SessionFrame {
        captured: at(captured),
        encode_begun: at(begun),
        encode_ended: at(ended),
        encode_processor: None,
        relief: mimosa_facts::Relief::NONE,
        life,
        coded: life.size,
        budget: life.size,
        plan: FramePlan::as_asked(life.size),
        is_keyframe: number == 0,
        quantiser: None,
        attempts: 1,
        received: Some(at(arrives)),
        decoded: Some(at(decoded)),
        shown: Some(at(shown)),
        inputs: 0,
        newest_input: None,
        sound_skew: None,
        sound_concealed: None,
        rtp: None,
    }
}

/// The frames of a stream in the order in which all is known of them, each with the time of that.
fn frames(script: &Script, seed: u64) -> Vec<(Time, SessionFrame)> {
    let mut draw = Draw(SplitMix::stream(seed, script.1.len() as u64));
    let calm = calm(&mut draw);
    let mut troubled = calm;
    (script.2)(&mut troubled, &mut draw);
    let mut frames = Vec::new();
    let (mut captured, mut encoder, mut link, mut reader) = (0.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
    let mut number = 0;
    let seconds = |at: Time| at.since(Time::ZERO).as_millis();
    while captured < seconds(LENGTH) {
        let is_troubled = captured >= seconds(BEGINS);
        let parts = if is_troubled { troubled } else { calm };
        let mut noisy = |value: f64| value * draw.between(0.8, 1.25);
        let begun = (captured + noisy(parts.wait)).max(encoder);
        let ended = begun + noisy(parts.encode);
        encoder = ended;
        let own = parts.link * (1.0 - parts.others);
        // The controller leaves a fifth of what it has.
        let size = own * 0.8 * parts.source.max(parts.encode).max(16.667) / 8.0 * 1e3;
        let sent = ended + OVER + noisy(parts.late);
        let mut arrives =
            (sent + noisy(parts.standing)).max(link) + size * 8.0 / 1e3 / parts.link * 0.3;
        if let Some((from, lasts)) = parts.pause {
            let (from, until) = (seconds(from), seconds(from) + lasts);
            if (from..until).contains(&arrives) {
                arrives = until;
            }
        }
        link = arrives;
        arrives += parts.delay + noisy(0.3);
        // Now and then the player's computer reads late.
        if parts.reads_late > 0.0 && number % 23 == 0 {
            reader = arrives + parts.reads_late;
        }
        arrives = arrives.max(reader.min(arrives + parts.reads_late));
        let acknowledged = arrives + noisy(parts.back);
        let decoded = arrives + noisy(parts.decode);
        let shown = decoded + noisy(parts.present);
        let size = Bytes::from_f64(size);
        let packets = u32::try_from(size.pieces(Bytes::new(1_200))).unwrap();
        let lost = (0..packets)
            .filter(|_| draw.between(0.0, 1.0) < parts.loss)
            .count();
        let lost = u32::try_from(lost).unwrap();
        let times = [
            captured,
            begun,
            ended,
            sent,
            arrives,
            acknowledged,
            decoded,
            shown,
        ];
        let frame = made(number, times, size, [packets, lost], &parts);
        let known = Time::ZERO + millis(shown.max(acknowledged) + calm.delay);
        frames.push((known, frame));
        number += 1;
        captured += parts.source * draw.between(0.97, 1.03);
        // Of the pictures that come while the encoder is busy it takes the newest.
        while captured + parts.source < encoder {
            captured += parts.source;
        }
    }
    frames.sort_by_key(|(known, frame)| (*known, frame.life.frame));
    frames
}

/// The causes that the stream's sentences name at the end of the calm and four seconds after the script began.
fn said(script: &Script, seed: u64) -> [Option<&'static str>; 2] {
    let mut why = Why::default();
    let mut frames = frames(script, seed).into_iter().peekable();
    let mut said = [None; 2];
    let mut now = Time::ZERO;
    while now < LENGTH {
        while let Some((_, frame)) = frames.next_if(|(known, _)| *known <= now) {
            why.frame(&frame);
        }
        let sentence = why.now(now).map(|sentence| sentence.cause.name());
        if now < BEGINS {
            said[0] = said[0].or(sentence);
        } else if now <= BEGINS + TimeDelta::from_millis(4_000) {
            said[1] = sentence;
        }
        now += TimeDelta::from_millis(100);
    }
    assert!(why.held() < 2_000);
    said
}

#[test]
fn scripted_causes_are_named() {
    println!("| what happens | said | right |");
    println!("|---|---|--:|");
    let mut poor = Vec::new();
    for script in SCRIPTS {
        let mut right = 0;
        let mut others = std::collections::BTreeMap::new();
        for seed in 1..=SEEDS {
            let [before, after] = said(script, seed);
            if before.is_none() && after == script.0 {
                right += 1;
            } else {
                *others.entry((before, after)).or_insert(0) += 1;
            }
        }
        println!(
            "| {} | {} | {right} of {SEEDS} |",
            script.1,
            script.0.unwrap_or("nothing")
        );
        if right * 10 < SEEDS * 9 {
            poor.push(format!("{}: {right} of {SEEDS}, else {others:?}", script.1));
        }
    }
    assert!(poor.is_empty(), "{poor:#?}");
}

#[test]
fn a_sentence_has_its_evidence_and_goes_when_its_cause_has_gone() {
    let script = &SCRIPTS[7];
    let mut why = Why::default();
    let mut words = Vec::new();
    let mut now = Time::ZERO;
    let mut frames = frames(script, 3).into_iter().peekable();
    while now < Time::from_secs(20) {
        while let Some((_, frame)) = frames.next_if(|(known, _)| *known <= now) {
            why.frame(&frame);
        }
        let sentence = why.now(now);
        if let Some(sentence) = sentence {
            assert!(sentence.severity >= Severity::Trouble);
            words.push((now, sentence.cause.in_words()));
        }
        now += TimeDelta::from_millis(100);
    }
    let (first, text) = words.first().unwrap();
    let (last, _) = words.last().unwrap();
    assert!(
        text.starts_with("Your line paused for ") && text.contains(" ms"),
        "{text}"
    );
    assert!(*first >= BEGINS && *first < BEGINS + TimeDelta::from_millis(1_000));
    let kept = last.since(*first);
    assert!(kept >= mimosa_why::KEPT - TimeDelta::from_millis(200) && kept < mimosa_why::KEPT * 2);
}
