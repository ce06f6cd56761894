//! The report about a session, as JSON.

use mimosa_protocol::control::Statistics;
use mimosa_session::viewer::{SoundCounts, Tally};
use mimosa_units::{PeerTime, TimeDelta, nearest_rank};
use serde::Serialize;

use super::decode::Decoded;
use super::network::{ConnectionConfig, FromHost};

/// Number of first statistics that are left out, while the controller looks for the link's rate.
const SETTLED: usize = 8;
/// Most values over time, and most long waits: a day of the host's four messages a second, and a bound for a
/// host that sends more.
const MOST_TOLD: usize = 4 * 86_400;
/// A wait for the next picture that counts as long: Pudica's bound of a stall (NSDI 2024, section 5.2).
const LONG_WAIT: f64 = 100.0;

/// The report about a session. Times are in milliseconds, rates in bit/s; unknown values are null.
#[derive(Clone, Debug, Serialize)]
pub struct PlayReport {
    /// Address of the host, `HOST:PORT`.
    host: String,
    /// Why the session ended, and whether the host ended it on purpose.
    end: Option<String>,
    is_final: bool,
    /// The host's source, codec, encoder, controller and kind of feedback.
    source: Option<String>,
    codec: Option<String>,
    encoder: Option<String>,
    controller: Option<String>,
    feedback: Option<String>,
    /// Time from the offer to the connection.
    connected_after: Option<f64>,
    frames: Frames,
    packets: Packets,
    /// Times from a frame's first packet to its last, and of decoding.
    arrival: Spread,
    decoding: Spread,
    /// Time between pictures.
    interval: Spread,
    /// Time from the capture to the decoded picture, above the least of the session.
    lateness: Lateness,
    /// Time from a key press to the decoded picture that shows it, with `--probe` and the demo.
    input: Spread,
    /// The host's medians of the stages, its frame delays and its rates, over the session.
    stages: Stages,
    frame_delay_p95: Spread,
    bitrate: Spread,
    utilisation: Spread,
    /// What the host's statistics said, one after the other, from the first on.
    over_time: Vec<Told>,
    /// Waits for the next picture above 100 ms: seconds from the first picture to the wait's end, and
    /// its milliseconds.
    long_waits: Vec<[f64; 2]>,
    sound: Sound,
    #[serde(skip)]
    samples: Samples,
}

/// What the host told at one time. Every value is by one clock, the host's or this machine's.
#[derive(Clone, Copy, Debug, Serialize)]
struct Told {
    /// Time since the session's start by the host's clock.
    seconds: f64,
    /// Bitrate of the video over the second before.
    bitrate: Option<f64>,
    round_trip: Option<f64>,
    /// 95th percentile of the delay from the end of a frame's encoding to the report of its arrival,
    /// over the ten seconds before.
    frame_delay_p95: Option<f64>,
    /// Frames whose delay was above 100 ms or that were given up, since the start.
    stalls: Option<u64>,
    /// Frames that the host has encoded since the start.
    frames: u64,
    /// Pictures that were decoded here, since the start.
    pictures: usize,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Frames {
    whole: u64,
    decoded: u64,
    shown: u64,
    keyframes: u64,
    keyframes_wanted: u64,
    passed: u64,
    malformed: u64,
    damaged: u64,
    /// Frames over which the decoder's process ended and was replaced.
    decoders_replaced: u64,
    width: u32,
    height: u32,
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Packets {
    datagrams: u64,
    bytes: u64,
    video: u64,
    lost: u64,
    repeated: u64,
    repair: u64,
    repaired: u64,
    ecn_capable: u64,
    ecn_marked: u64,
    reports: u64,
}

#[derive(Clone, Debug, Default, Serialize)]
struct Sound {
    counts: SoundCounts,
    skew: Spread,
    /// The skew over time: seconds from the session's start, and milliseconds.
    skew_over_time: Vec<[f64; 2]>,
}

/// How much later frames were than the earliest one, in milliseconds, and the shares of frames that
/// were later than each bound.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Lateness {
    #[serde(flatten)]
    millis: Spread,
    over_33_ms: Option<f64>,
    over_50_ms: Option<f64>,
    over_100_ms: Option<f64>,
    over_200_ms: Option<f64>,
}

impl Lateness {
    /// The lateness for times from the capture to the decoded picture, measured on two clocks.
    fn of(times: &[f64]) -> Self {
        let least = times.iter().copied().fold(f64::INFINITY, f64::min);
        let late: Vec<_> = times.iter().map(|time| time - least).collect();
        #[expect(clippy::cast_precision_loss, reason = "frames are countable")]
        let over = |limit: f64| {
            let count = late.iter().filter(|late| **late > limit).count();
            (!late.is_empty()).then(|| count as f64 / late.len() as f64)
        };
        Self {
            millis: Spread::of(&late),
            over_33_ms: over(33.0),
            over_50_ms: over(50.0),
            over_100_ms: over(100.0),
            over_200_ms: over(200.0),
        }
    }
}

/// Quantiles of a quantity.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Spread {
    count: usize,
    p50: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
}

impl Spread {
    /// The quantiles by nearest rank.
    fn of(values: &[f64]) -> Self {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |share| nearest_rank(&sorted, share);
        Self {
            count: sorted.len(),
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            max: at(1.0),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Stages {
    capture: Spread,
    encode: Spread,
    pace: Spread,
    network: Spread,
    decode: Spread,
    present: Spread,
    total: Spread,
}

#[derive(Clone, Debug, Default)]
struct Samples {
    arrival: Vec<f64>,
    decoding: Vec<f64>,
    interval: Vec<f64>,
    /// Times from the capture, by unwrapped RTP timestamps, to the decoded picture.
    ages: Vec<f64>,
    timestamp: Option<(u32, i64)>,
    input: Vec<f64>,
    stages: [Vec<f64>; 7],
    delay: Vec<f64>,
    bitrate: Vec<f64>,
    utilisation: Vec<f64>,
    skew: Vec<[f64; 2]>,
    statistics: usize,
    first: Option<PeerTime>,
    newest: Option<PeerTime>,
}

/// A frame's contribution to the report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    arrival: TimeDelta,
    decoding: TimeDelta,
    at: PeerTime,
    timestamp: u32,
    size: Option<(u32, u32)>,
    is_damaged: bool,
}

impl Sample {
    pub(super) fn of(decoded: &Decoded) -> Self {
        let size = decoded
            .picture
            .as_ref()
            .map(super::engine::DecodedFrame::size);
        Self {
            arrival: decoded.frame.last - decoded.frame.first,
            decoding: decoded.took,
            at: PeerTime::from_nanos(i64::try_from(decoded.at.as_nanos()).unwrap_or(i64::MAX)),
            timestamp: decoded.frame.timestamp,
            size: size.map(|size| (size.width(), size.height())),
            is_damaged: decoded.is_broken,
        }
    }
}

impl PlayReport {
    pub(super) fn new(config: &ConnectionConfig) -> Self {
        Self {
            host: config.address.host().to_owned(),
            end: None,
            is_final: false,
            source: None,
            codec: None,
            encoder: None,
            controller: None,
            feedback: None,
            connected_after: None,
            frames: Frames::default(),
            packets: Packets::default(),
            arrival: Spread::default(),
            decoding: Spread::default(),
            interval: Spread::default(),
            lateness: Lateness::default(),
            input: Spread::default(),
            stages: Stages::default(),
            frame_delay_p95: Spread::default(),
            bitrate: Spread::default(),
            utilisation: Spread::default(),
            over_time: Vec::new(),
            long_waits: Vec::new(),
            sound: Sound::default(),
            samples: Samples::default(),
        }
    }

    pub(super) fn frame(&mut self, sample: &Sample) {
        let samples = &mut self.samples;
        samples.arrival.push(sample.arrival.as_millis());
        samples.decoding.push(sample.decoding.as_millis());
        if let Some(before) = samples.newest.replace(sample.at) {
            let interval = (sample.at - before).as_millis();
            samples.interval.push(interval);
            let first = *samples.first.get_or_insert(before);
            if interval > LONG_WAIT && self.long_waits.len() < MOST_TOLD {
                let seconds = (sample.at - first).as_secs();
                self.long_waits.push([seconds, interval]);
            }
        }
        let (before, ticks) = samples.timestamp.unwrap_or((sample.timestamp, 0));
        let step = sample.timestamp.wrapping_sub(before).cast_signed();
        let ticks = ticks + i64::from(step);
        samples.timestamp = Some((sample.timestamp, ticks));
        if samples.statistics > SETTLED {
            // 90 ticks are a millisecond (RFC 6184, section 8.1).
            #[expect(clippy::cast_precision_loss, reason = "a session has fewer than 2^53")]
            let captured = ticks as f64 / 90.0;
            let decoded = (sample.at - PeerTime::from_nanos(0)).as_millis();
            samples.ages.push(decoded - captured);
        }
        if let Some((width, height)) = sample.size {
            (self.frames.width, self.frames.height) = (width, height);
        }
        self.frames.damaged += u64::from(sample.is_damaged);
    }

    /// Adds that the decoder's process was replaced.
    pub(super) fn replaced(&mut self) {
        self.frames.decoders_replaced += 1;
    }

    pub(super) fn input(&mut self, latency: TimeDelta) {
        self.samples.input.push(latency.as_millis());
    }

    pub(super) fn heard(&mut self, message: &FromHost) {
        match message {
            FromHost::Hello(hello) => {
                self.source = Some(hello.source.clone());
                self.codec = Some(hello.codec.clone());
                self.encoder = Some(hello.encoder.clone());
                self.controller = Some(hello.controller.clone());
                self.feedback = Some(hello.feedback.name().to_owned());
            }
            FromHost::Statistics(statistics, _, skew) => {
                self.samples.statistics += 1;
                self.told(statistics);
                if self.samples.statistics > SETTLED {
                    self.statistics(statistics);
                    let time = statistics.time.0.as_secs();
                    let skew = skew.map(|skew| [time, skew.as_millis()]);
                    self.samples.skew.extend(skew);
                }
            }
            _ => {}
        }
    }

    fn told(&mut self, statistics: &Statistics) {
        if self.over_time.len() >= MOST_TOLD {
            return;
        }
        let bitrate = statistics.bitrate.map(|rate| rate.0.as_mbps() * 1e6);
        let delay = statistics.delay.p95;
        self.over_time.push(Told {
            seconds: statistics.time.0.as_secs(),
            bitrate,
            round_trip: statistics.rtt.map(|rtt| rtt.0.as_millis()),
            frame_delay_p95: delay.map(|delay| delay.0.as_millis()),
            stalls: statistics.stalls,
            frames: statistics.frames.encoded,
            pictures: self.samples.arrival.len(),
        });
    }

    fn statistics(&mut self, statistics: &Statistics) {
        let samples = &mut self.samples;
        let stages = &statistics.stages;
        let parts = [
            stages.capture,
            stages.encode,
            stages.pace,
            stages.network,
            stages.decode,
            stages.present,
            stages.total,
        ];
        for (all, part) in samples.stages.iter_mut().zip(parts) {
            all.extend(part.map(|part| part.0.as_millis()));
        }
        let delay = statistics.delay.p95;
        samples.delay.extend(delay.map(|delay| delay.0.as_millis()));
        let bits = |rate: mimosa_protocol::control::BitsPerSecond| rate.0.as_mbps() * 1e6;
        samples.bitrate.extend(statistics.bitrate.map(bits));
        samples.utilisation.extend(statistics.utilisation);
    }

    /// Adds the counts at the end of the session.
    pub(super) fn ended(&mut self, reason: &str, is_final: bool, tally: &Tally) {
        self.end = Some(reason.to_owned());
        self.is_final = is_final;
        self.connected_after = tally.connected.map(TimeDelta::as_millis);
        self.frames = Frames {
            whole: tally.frames.whole,
            decoded: tally.decoded,
            shown: tally.shown,
            keyframes: tally.keyframes,
            keyframes_wanted: tally.keyframes_wanted,
            passed: tally.frames.passed,
            malformed: tally.frames.malformed,
            ..self.frames
        };
        self.packets = Packets {
            datagrams: tally.packets.datagrams,
            bytes: tally.packets.bytes,
            video: tally.packets.came,
            lost: tally.packets.lost(),
            repeated: tally.packets.repeated,
            repair: tally.packets.repair,
            repaired: tally.frames.repaired,
            ecn_capable: tally.packets.capable,
            ecn_marked: tally.packets.marked,
            reports: tally.reports,
        };
        let samples = &self.samples;
        self.arrival = Spread::of(&samples.arrival);
        self.decoding = Spread::of(&samples.decoding);
        self.interval = Spread::of(&samples.interval);
        self.lateness = Lateness::of(&samples.ages);
        self.input = Spread::of(&samples.input);
        let [capture, encode, pace, network, decode, present, total] =
            [0, 1, 2, 3, 4, 5, 6].map(|stage: usize| Spread::of(&samples.stages[stage]));
        self.stages = Stages {
            capture,
            encode,
            pace,
            network,
            decode,
            present,
            total,
        };
        self.frame_delay_p95 = Spread::of(&samples.delay);
        self.bitrate = Spread::of(&samples.bitrate);
        self.utilisation = Spread::of(&samples.utilisation);
        let skews: Vec<f64> = samples.skew.iter().map(|[_, skew]| *skew).collect();
        self.sound = Sound {
            counts: tally.sound,
            skew: Spread::of(&skews),
            skew_over_time: samples.skew.clone(),
        };
    }

    /// Whether a picture was displayed.
    #[must_use]
    pub const fn has_pictures(&self) -> bool {
        self.frames.shown > 0
    }

    /// Whether media could flow: a datagram of the host's came back.
    #[must_use]
    pub const fn was_connected(&self) -> bool {
        self.connected_after.is_some()
    }

    /// Why the session ended.
    #[must_use]
    pub fn end(&self) -> Option<&str> {
        self.end.as_deref()
    }

    /// The report as JSON, with a line for each field.
    #[must_use]
    pub fn to_json(&self) -> String {
        // The report has string keys and no values that could fail to be JSON: numbers that JSON
        // lacks become null.
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_values_that_occurred() {
        let values: Vec<_> = (1..=200).map(f64::from).collect();
        let spread = Spread::of(&values);
        assert_eq!((spread.count, spread.p50), (200, Some(100.0)));
        assert_eq!((spread.p95, spread.p99), (Some(190.0), Some(198.0)));
        assert_eq!(spread.max, Some(200.0));
        assert_eq!(Spread::of(&[]).p50, None);
        assert_eq!(Spread::of(&[3.0]).p99, Some(3.0));
    }

    #[test]
    fn the_quickest_frame_is_the_one_that_is_not_late() {
        let late = Lateness::of(&[905.0, 900.0, 940.0, 1_200.5]);
        assert_eq!((late.millis.p50, late.millis.max), (Some(5.0), Some(300.5)));
        let shares = [late.over_33_ms, late.over_50_ms, late.over_200_ms];
        assert_eq!(shares, [Some(0.5), Some(0.25), Some(0.25)]);
        assert_eq!(Lateness::of(&[]).over_100_ms, None);
    }
}
