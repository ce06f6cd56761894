//! A made-up session: a link of 30 Mbit/s that falls to 8 for a while.

use mimosa_facts::{
    Cause, Decision, Evidence, FrameEnd, FrameId, FrameLife, FramePlan, Pacing, SessionFrame,
};
use mimosa_record::Session;
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

pub(crate) const ABOUT: &str = r#"{"role":"player","source":"demo","width":1280,"height":720,
"fps":60,"encoder":"libx264 0.164","controller":"pudica","feedback":"twcc-02",
"started":"2026-03-14T15:09:26Z","version":"0.1.0"}"#;

/// The time between two frames.
const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);

/// A sequence of numbers that is the same every time.
struct Noise(u64);

impl Noise {
    /// The next number, from zero to one.
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Seldom large.
    fn tail(&mut self) -> f64 {
        0.5 / (1.05 - self.next())
    }
}

/// A session of `count` frames at 60 fps.
pub(crate) fn session(count: u32) -> Session {
    let mut noise = Noise(88_172_645_463_325_252);
    let mut target = 5.0;
    let mut queue = 0.0; // in Mbit
    let frames = (0..count).map(|number| {
        let share = f64::from(number) / f64::from(count);
        let link = if (0.45..0.6).contains(&share) {
            8.0
        } else {
            30.0
        };
        let cause = rule(target, link, queue, &mut noise);
        let limit = match cause {
            Cause::Drain => 0.6,
            Cause::FrameFallback => 0.8,
            _ => 1.0,
        };
        target = match cause {
            Cause::MultiplicativeIncrease => f64::min(target * 1.01, 28.0),
            Cause::FairnessStep => target - 0.05,
            Cause::Drain => target * 0.9,
            Cause::Recover => link * 0.85,
            _ => target,
        };
        let is_keyframe = number == 0 || number == count / 2;
        let budget = target * limit / 60.0 * 1e6 / 8.0;
        let use_of_it = if is_keyframe {
            1.4
        } else {
            0.75 + 0.2 * noise.next()
        };
        queue = f64::max(queue + budget * use_of_it * 8.0 / 1e6 - link / 60.0, 0.0);
        let wait = queue / link * 1e3;
        frame(
            number,
            &Coded {
                cause,
                target,
                link,
                budget,
                use_of_it,
                wait,
                is_keyframe,
            },
            &mut noise,
        )
    });
    Session {
        about: ABOUT.to_owned(),
        frames: frames.collect(),
    }
}

fn rule(target: f64, link: f64, queue: f64, noise: &mut Noise) -> Cause {
    let used = target / link;
    match noise.next() {
        chance if chance < 0.05 => Cause::AwaitFeedback,
        chance if chance < 0.055 => Cause::FrameFallback,
        _ if queue > 0.1 => Cause::Drain,
        _ if target < link * 0.4 && target > 5.0 => Cause::Recover,
        _ if target > 27.0 => Cause::AtMaximum,
        _ if used < 0.85 => Cause::MultiplicativeIncrease,
        _ if used < 1.0 => Cause::FairnessStep,
        _ => Cause::Overuse,
    }
}

/// What the frame depends on.
struct Coded {
    cause: Cause,
    target: f64,
    link: f64,
    budget: f64,
    use_of_it: f64,
    wait: f64,
    is_keyframe: bool,
}

fn frame(number: u32, coded: &Coded, noise: &mut Noise) -> SessionFrame {
    let ms = |millis: f64| TimeDelta::from_millis(1).scale(millis);
    let captured = Time::from_secs(3) + INTERVAL * number;
    let begun = captured + ms(0.2 + 0.2 * noise.next());
    let ended = begun + ms(4.0 + 2.0 * noise.next() + 0.6 * noise.tail());
    let handed_over = ended + ms(0.05);
    let sent = handed_over + ms(9.0 + 2.0 * noise.next());
    let is_lost = noise.next() < 0.002;
    let again = if is_lost { 25.0 } else { 0.0 };
    let received = sent + ms(0.4 + coded.wait + again + 0.3 * noise.tail());
    let decoded = received + ms(1.0 + 0.5 * noise.next());
    let shown = decoded + ms(3.0 + 10.0 * noise.next());
    // The host's player pulls the plug for a moment.
    let is_given_up = number % 4_000 >= 3_980;
    let seen = |at: Time| (!is_given_up).then_some(at);
    let size = Bytes::from_f64(coded.budget * coded.use_of_it);
    let pacing = Pacing::Spread {
        over: ms(11.0),
        lead: 1,
    };
    SessionFrame {
        captured,
        encode_begun: begun,
        encode_ended: ended,
        encode_processor: None,
        relief: mimosa_facts::Relief::NONE,
        life: FrameLife {
            frame: FrameId(u64::from(number)),
            due: captured,
            interval: INTERVAL,
            decision: Decision {
                pacing,
                cause: coded.cause,
                evidence: Evidence {
                    utilization: Some(coded.target / coded.link * (0.9 + 0.2 * noise.next())),
                    smoothed_utilization: Some(coded.target / coded.link),
                    service_rate: Some(Rate::from_mbps(coded.link * (0.97 + 0.06 * noise.next()))),
                    backlog: Some(Bytes::from_f64(coded.wait / 8.0 * coded.link * 1e3)),
                    queue_delay: Some(ms(coded.wait)),
                },
                ..Decision::starting_at(Rate::from_mbps(coded.target))
            },
            allowed: size.scale(1.04),
            handed_over,
            pacing,
            bucket: None,
            size: size.scale(1.04),
            packets: 1 + u32::try_from(size.get() / 1_150).unwrap_or(u32::MAX),
            first_sent: Some(handed_over),
            last_sent: Some(sent),
            first_arrival: Some(PeerTime::from_nanos(0)),
            last_arrival: Some(PeerTime::from_nanos(0)),
            arrived: 0,
            lost: u32::from(is_lost),
            retransmitted: u32::from(is_lost),
            protection: None,
            end: Some(if is_given_up {
                FrameEnd::GivenUp
            } else {
                FrameEnd::Acknowledged(received + ms(0.6))
            }),
        },
        coded: size,
        budget: Bytes::from_f64(coded.budget),
        plan: FramePlan::as_asked(Bytes::from_f64(coded.budget)),
        is_keyframe: coded.is_keyframe,
        quantiser: Some(22.5),
        attempts: 1 + u32::from(noise.next() < 0.01),
        received: seen(received),
        decoded: seen(decoded),
        shown: seen(shown),
        inputs: u32::from(number.is_multiple_of(5)),
        newest_input: None,
        sound_skew: None,
        sound_concealed: None,
        rtp: None,
    }
}
