//! The statistics about a stream that its page receives.

use std::collections::VecDeque;

use mimosa_facts::{Decision, FrameEnd, FrameLife, Pacing, Relief, SessionFrame, Stages};
use mimosa_protocol::control::{
    BitsPerSecond, Delay, FeedbackKind, Frames, Millis, Point, RtpClock, Sound,
    Stages as PrintedStages, Statistics as Message, Trouble,
};
use mimosa_transport::SOUND_OVERHEAD;
use mimosa_units::{Bytes, Rate, Time, TimeDelta, nearest_rank};
use mimosa_why::{Severity, Why};

use super::decided::{decided, state};

/// Frame delay above which a frame is a stall (the Pudica paper, section 5.1).
pub const STALL: TimeDelta = TimeDelta::from_millis(100);
/// Time span over which percentiles and loss are computed.
const LONG: TimeDelta = TimeDelta::from_millis(10_000);
/// Time span over which rates and stages are computed.
const SHORT: TimeDelta = TimeDelta::from_millis(1_000);

/// What a page is told while there is no sound.
const SOUND_IS_AWAY: &str =
    "The host's sound has stopped; the host starts it again as soon as it can.";

/// The values of the last `span` of time.
#[derive(Debug)]
struct Window<T> {
    span: TimeDelta,
    values: VecDeque<(Time, T)>,
}

impl<T> Window<T> {
    const fn new(span: TimeDelta) -> Self {
        Self {
            span,
            values: VecDeque::new(),
        }
    }

    fn push(&mut self, now: Time, value: T) {
        self.values.push_back((now, value));
        self.forget(now);
    }

    fn forget(&mut self, now: Time) {
        while self
            .values
            .pop_front_if(|(at, _)| now.since(*at) > self.span)
            .is_some()
        {}
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().map(|(_, value)| value)
    }
}

/// Counts and windows of one session.
#[derive(Debug)]
pub(crate) struct Statistics {
    pub(crate) captured: u64,
    pub(crate) encoded: u64,
    pub(crate) skipped: u64,
    pub(crate) acknowledged: u64,
    pub(crate) shown: u64,
    pub(crate) keyframes: u64,
    pub(crate) stalls: u64,
    pub(crate) retransmissions: u64,
    pub(crate) reports: u64,
    pub(crate) quantiser: Option<f32>,
    /// What is spared at present.
    pub(crate) relief: Relief,
    /// The most that picture and sound may take, as the viewer asked.
    pub(crate) limit: Option<Rate>,
    pub(crate) round_trip: Option<TimeDelta>,
    delays: Window<TimeDelta>,
    sizes: Window<Bytes>,
    /// Sizes of the packets of sound on the wire.
    sounds: Window<Bytes>,
    redundancy: usize,
    sound_clock: Option<RtpClock>,
    /// Whether the host has no sound for now that the page would hear.
    pub(crate) sound_is_away: bool,
    /// For each frame, the packets sent (retransmissions included) and the packets lost.
    packets: Window<(u32, u32)>,
    stages: Window<Stages>,
    why: Why,
    /// Longest frame delay since the last message.
    longest: Option<TimeDelta>,
}

impl Statistics {
    /// Number of values that the windows hold.
    pub(crate) fn held(&self) -> usize {
        let windows = [
            self.delays.values.len(),
            self.sizes.values.len(),
            self.sounds.values.len(),
            self.packets.values.len(),
            self.stages.values.len(),
        ];
        windows.into_iter().sum::<usize>() + self.why.held()
    }

    /// Statistics of a session that has just begun.
    pub(crate) const fn new() -> Self {
        Self {
            captured: 0,
            encoded: 0,
            skipped: 0,
            acknowledged: 0,
            shown: 0,
            keyframes: 0,
            stalls: 0,
            retransmissions: 0,
            reports: 0,
            quantiser: None,
            relief: Relief::NONE,
            limit: None,
            round_trip: None,
            delays: Window::new(LONG),
            sizes: Window::new(SHORT),
            sounds: Window::new(SHORT),
            redundancy: 0,
            sound_clock: None,
            sound_is_away: false,
            packets: Window::new(LONG),
            stages: Window::new(SHORT),
            why: Why::new(),
            longest: None,
        }
    }

    /// Takes a frame that came out of the encoder.
    pub(crate) fn encoded(&mut self, now: Time, size: Bytes, is_keyframe: bool) {
        self.encoded += 1;
        self.keyframes += u64::from(is_keyframe);
        self.sizes.push(now, size);
    }

    /// Takes a packet of sound that has left, with `length` bytes and `redundancy` repeated frames.
    /// `clock` is the capture of its newest frame.
    pub(crate) fn sound(
        &mut self,
        now: Time,
        length: usize,
        redundancy: usize,
        clock: Option<RtpClock>,
    ) {
        self.sound_clock = clock;
        let size = Bytes::new(length as u64) + SOUND_OVERHEAD;
        self.sounds.push(now, size);
        self.redundancy = redundancy;
    }

    /// Share of packets lost in the last ten seconds, from 0 to 1; `None` if none were sent.
    pub(crate) fn loss(&mut self, now: Time) -> Option<f64> {
        self.packets.forget(now);
        let (packets, lost) = self.packets.iter().fold((0_u64, 0_u64), |sum, one| {
            (sum.0 + u64::from(one.0), sum.1 + u64::from(one.1))
        });
        (packets > 0).then(|| lost as f64 / packets as f64)
    }

    /// Takes the sender's account of how a frame ended.
    pub(crate) fn ended(&mut self, now: Time, life: &FrameLife) {
        self.retransmissions += u64::from(life.retransmitted);
        let sent = life.packets + life.retransmitted;
        self.packets.push(now, (sent, life.lost));
        match life.end {
            Some(FrameEnd::Acknowledged(at)) => {
                self.acknowledged += 1;
                self.round_trip = life.last_sent.map(|sent| at.since(sent));
            }
            Some(FrameEnd::GivenUp) | None => self.stalls += 1,
        }
        if let Some(delay) = life.delay() {
            self.stalls += u64::from(delay > STALL);
            self.delays.push(now, delay);
            self.longest = Some(self.longest.map_or(delay, |longest| longest.max(delay)));
        }
    }

    /// Takes a frame about which everything is known.
    pub(crate) fn told(&mut self, now: Time, frame: &SessionFrame) {
        self.shown += u64::from(frame.shown.is_some());
        self.why.frame(frame);
        if let Some(stages) = frame.stages() {
            self.stages.push(now, stages);
        }
    }

    /// Forgets what troubled the stream, after a time without pictures.
    pub(crate) fn begin_anew(&mut self) {
        self.why.forget();
    }

    /// Bitrate of the video over the last second of a session that began at `begun`.
    pub(crate) fn bitrate(&mut self, now: Time, begun: Time) -> Rate {
        rate(&mut self.sizes, now, begun)
    }

    /// Bitrate of the sound over the last second of a session that began at `begun`.
    pub(crate) fn sound_rate(&mut self, now: Time, begun: Time) -> Rate {
        rate(&mut self.sounds, now, begun)
    }

    /// The message for the page.
    pub(crate) fn message(
        &mut self,
        now: Time,
        begun: Time,
        decision: &Decision,
        pacing: Pacing,
        feedback: FeedbackKind,
        viewers: usize,
    ) -> Message {
        self.delays.forget(now);
        self.sizes.forget(now);
        self.sounds.forget(now);
        self.stages.forget(now);
        let loss = self.loss(now);
        let mut delays: Vec<_> = self.delays.iter().copied().collect();
        delays.sort_unstable();
        let delay = |share: f64| nearest_rank(&delays, share).map(Millis);
        let span = now.since(begun).min(SHORT);
        let rate_of = |sizes: &Window<Bytes>| {
            let sent = sizes.iter().copied().sum();
            (span > TimeDelta::ZERO).then(|| BitsPerSecond(Rate::of(sent, span)))
        };
        Message {
            time: Millis(now.since(begun)),
            feedback,
            reports: self.reports,
            frames: Frames {
                captured: self.captured,
                encoded: self.encoded,
                skipped: self.skipped,
                acknowledged: Some(self.acknowledged),
                shown: Some(self.shown),
                keyframes: self.keyframes,
            },
            target: Some(BitsPerSecond(decision.target)),
            bitrate: rate_of(&self.sizes),
            limit: self.limit.map(BitsPerSecond),
            utilisation: decision.evidence.utilization,
            state: Some(state(decision.cause).to_owned()),
            cause: Some(decision.cause.as_str().replace('-', " ")),
            decision: decided(decision, pacing),
            relief: self.relief.in_words(),
            delay: Delay {
                p50: delay(0.50),
                p95: delay(0.95),
                p99: delay(0.99),
            },
            stalls: Some(self.stalls),
            loss,
            retransmissions: self.retransmissions,
            rtt: self.round_trip.map(Millis),
            quantiser: self.quantiser.map(f64::from),
            viewers: u32::try_from(viewers).unwrap_or(u32::MAX),
            stages: self.stages().unwrap_or_default(),
            sound: self.sound_clock.map(|clock| Sound {
                clock,
                bitrate: rate_of(&self.sounds),
                redundancy: u32::try_from(self.redundancy).unwrap_or(u32::MAX),
            }),
            why: self.trouble(now),
            point: Point {
                target: Some(BitsPerSecond(decision.target)),
                delay: self.longest.take().map(Millis),
            },
        }
    }

    /// What troubles the stream most. Sound that is away counts more than what is only good to know.
    fn trouble(&mut self, now: Time) -> Option<Trouble> {
        let sentence = self.why.now(now);
        let is_felt = sentence.is_some_and(|sentence| sentence.severity > Severity::Note);
        if self.sound_is_away && !is_felt {
            return Some(Trouble {
                cause: "sound-away".to_owned(),
                severity: Severity::Trouble.name().to_owned(),
                words: SOUND_IS_AWAY.to_owned(),
            });
        }
        sentence.map(|sentence| Trouble {
            cause: sentence.cause.name().to_owned(),
            severity: sentence.severity.name().to_owned(),
            words: sentence.cause.in_words(),
        })
    }

    /// Medians of the stages, rounded to tenths of a millisecond so that the printed parts add up
    /// to the printed total.
    fn stages(&self) -> Option<PrintedStages> {
        const TENTH: i64 = 100_000;
        let median = |stage: fn(&Stages) -> TimeDelta| {
            let mut all: Vec<_> = self.stages.iter().map(stage).collect();
            all.sort_unstable();
            let nanos = nearest_rank(&all, 0.5)?.as_nanos();
            let tenths = (nanos + TENTH / 2).div_euclid(TENTH);
            Some(TimeDelta::from_nanos(tenths * TENTH))
        };
        let capture = median(|stages| stages.capture)?;
        let encode = median(|stages| stages.encode)?;
        let pace = median(|stages| stages.pace)?;
        let network = median(|stages| stages.network)?;
        let decode = median(|stages| stages.decode)?;
        let present = median(|stages| stages.present)?;
        Some(PrintedStages {
            capture: Some(Millis(capture)),
            encode: Some(Millis(encode)),
            pace: Some(Millis(pace)),
            network: Some(Millis(network)),
            decode: Some(Millis(decode)),
            present: Some(Millis(present)),
            total: Some(Millis(capture + encode + pace + network + decode + present)),
        })
    }
}

/// The rate of what left over the last second of a session that began at `begun`.
fn rate(sizes: &mut Window<Bytes>, now: Time, begun: Time) -> Rate {
    sizes.forget(now);
    let span = now.since(begun).min(SHORT);
    if span > TimeDelta::ZERO {
        Rate::of(sizes.iter().copied().sum(), span)
    } else {
        Rate::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);
    const START: Time = Time::from_secs(100);

    fn message(statistics: &mut Statistics, now: Time) -> Message {
        let decision = Decision::starting_at(Rate::from_kbps(8_000));
        statistics.message(
            now,
            START,
            &decision,
            Pacing::Burst,
            FeedbackKind::OnRequest,
            2,
        )
    }

    #[test]
    fn nothing_is_known_at_first() {
        let message = message(&mut Statistics::new(), START);
        assert_eq!(
            (message.bitrate, message.loss, message.rtt),
            (None, None, None)
        );
        assert_eq!(message.stages, PrintedStages::default());
        assert_eq!(message.viewers, 2);
    }

    #[test]
    fn sound_that_is_away_is_told() {
        let mut statistics = Statistics::new();
        assert_eq!(message(&mut statistics, START).why, None);
        statistics.sound_is_away = true;
        let why = message(&mut statistics, START).why.unwrap();
        assert_eq!(
            (&why.cause[..], &why.severity[..]),
            ("sound-away", "trouble")
        );
        assert!(why.words.contains("sound has stopped"), "{}", why.words);
        statistics.sound_is_away = false;
        assert_eq!(message(&mut statistics, START).why, None);
    }

    #[test]
    fn the_bitrate_is_that_of_the_last_second() {
        let mut statistics = Statistics::new();
        for frame in 0..120 {
            let now = START + MS * 16 * frame;
            statistics.encoded(now, Bytes::new(10_000), frame == 0);
        }
        let now = START + MS * 16 * 119;
        let message = message(&mut statistics, now);
        let bitrate = message.bitrate.unwrap().0.as_mbps();
        assert!((4.8..5.2).contains(&bitrate), "{bitrate}");
        assert_eq!((message.frames.encoded, message.frames.keyframes), (120, 1));
        let later = self::message(&mut statistics, now + MS * 2_000);
        assert_eq!(later.bitrate.unwrap().0, Rate::ZERO);
    }

    #[test]
    fn the_stages_add_up_as_they_are_printed() {
        let mut statistics = Statistics::new();
        let micros = TimeDelta::from_micros;
        for step in 0..30_i64 {
            let stages = Stages {
                capture: micros(251 + step),
                encode: micros(6_649 + 7 * step),
                pace: micros(3_050),
                network: micros(349),
                decode: micros(1_251 - step),
                present: micros(6_050 + 13 * step),
                total: TimeDelta::ZERO,
            };
            statistics.stages.push(START, stages);
        }
        let stages = message(&mut statistics, START).stages;
        let parts = [
            stages.capture,
            stages.encode,
            stages.pace,
            stages.network,
            stages.decode,
            stages.present,
        ];
        let tenths = |span: Option<Millis>| {
            let millis = f64::from(span.unwrap());
            assert!(
                (millis * 10.0 - (millis * 10.0).round()).abs() < 1e-6,
                "{millis}"
            );
            (millis * 10.0).round()
        };
        let sum: f64 = parts.map(tenths).iter().sum();
        assert!((sum - tenths(stages.total)).abs() < 1e-9);
    }
}
