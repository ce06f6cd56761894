//! Tests of the whole controller, over a link that the test controls.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, Sequence};
use mimosa_units::{Bytes, Ecn, PeerTime};

use super::*;

const FRAME: TimeDelta = TimeDelta::from_millis(16);
const DELAY: TimeDelta = TimeDelta::from_millis(25);
/// Offset of the receiver's clock from the sender's.
const OFFSET: TimeDelta = TimeDelta::from_millis(-90_000);

fn mbps(mbps: f64) -> Rate {
    Rate::from_mbps(mbps)
}

/// A stream whose packets leave evenly, over a link with a queue of any length.
struct Stream {
    gcc: Gcc,
    now: Time,
    link: Rate,
    free: Time,
    /// The highest bitrate of the encoder.
    content: Rate,
    /// One packet in this many is lost.
    loss: u64,
    /// Reports are held until a multiple of this time; zero for no wait.
    interval: TimeDelta,
    is_silent: bool,
    sequence: u64,
    frame: u64,
    /// Probes to send: when, how many, how far apart, and how large.
    probes: (Time, u16, TimeDelta, Bytes),
    seen: u64,
    asked: Vec<f64>,
    reports: VecDeque<(Time, PacketReport)>,
}

impl Stream {
    fn new(config: &Config, start: f64, link: f64) -> Self {
        config.check().unwrap();
        let limits = Limits::new(Rate::from_kbps(200), mbps(start), mbps(50.0));
        Self {
            gcc: Gcc::new(*config, limits),
            now: Time::from_secs(1),
            link: mbps(link),
            free: Time::ZERO,
            content: Rate::MAX,
            loss: u64::MAX,
            interval: TimeDelta::ZERO,
            is_silent: false,
            sequence: 0,
            frame: 0,
            probes: (Time::MAX, 0, TimeDelta::ZERO, Bytes::ZERO),
            seen: 0,
            asked: Vec::new(),
            reports: VecDeque::new(),
        }
    }

    fn without_probes(start: f64, link: f64) -> Self {
        let config = Config {
            probing: false,
            ..Config::default()
        };
        Self::new(&config, start, link)
    }

    fn target(&self) -> f64 {
        self.gcc.decision().target.as_mbps()
    }

    fn cause(&self) -> Cause {
        self.gcc.decision().cause
    }

    fn send(&mut self, kind: PacketKind, size: Bytes) {
        self.sequence += 1;
        let packet = SentPacket {
            sequence: Sequence(self.sequence),
            frame: FrameId(self.frame),
            kind,
            size,
            sent: self.now,
        };
        self.free = self.free.max(self.now) + self.link.transmit_time(size);
        let arrived = self.free + DELAY;
        let at = PeerTime::from_nanos(arrived.as_nanos().cast_signed()) + OFFSET;
        let outcome = if self.sequence.is_multiple_of(self.loss) {
            PacketOutcome::Lost
        } else {
            PacketOutcome::Arrived {
                at,
                ecn: Ecn::NotEct,
                after_loss: false,
            }
        };
        let mut known = arrived + DELAY;
        if self.interval > TimeDelta::ZERO {
            let every = self.interval.as_nanos().unsigned_abs();
            known = Time::from_nanos(known.as_nanos().div_ceil(every) * every);
        }
        self.reports
            .push_back((known, PacketReport { packet, outcome }));
        self.gcc.handle(self.now, Event::PacketSent(packet));
    }

    /// Handles everything that happens until `end`, except for the frame's packets.
    fn until(&mut self, end: Time) {
        loop {
            self.take_probe();
            let known = self.reports.front().map_or(Time::MAX, |report| report.0);
            let next = known.min(self.probes.0);
            if next > end {
                break;
            }
            self.now = self.now.max(next);
            if next == self.probes.0 {
                let (at, left, interval, size) = self.probes;
                let next = if left > 1 { at + interval } else { Time::MAX };
                self.probes = (next, left.saturating_sub(1), interval, size);
                self.send(PacketKind::Probe, size);
            } else {
                let count = self
                    .reports
                    .iter()
                    .take_while(|report| report.0 == known)
                    .count();
                let reports: Vec<_> = self.reports.drain(..count).map(|report| report.1).collect();
                let event = Event::Feedback {
                    reports: &reports,
                    in_flight: Bytes::ZERO,
                };
                if !self.is_silent {
                    self.gcc.handle(self.now, event);
                }
            }
        }
        self.now = end;
    }

    fn take_probe(&mut self) {
        let Some(probe) = self.gcc.decision().probe else {
            return;
        };
        if probe.id != self.seen {
            self.seen = probe.id;
            let size = probe.size.unwrap();
            self.asked
                .push(Rate::of(size, probe.interval).as_mbps().round());
            self.probes = (self.now, probe.packets, probe.interval, size);
        }
    }

    fn frame(&mut self) {
        self.frame += 1;
        let due = Event::FrameDue {
            frame: FrameId(self.frame),
            interval: FRAME,
        };
        let rate = self.gcc.handle(self.now, due).target.min(self.content);
        let size = rate.amount_in(FRAME);
        let count = u32::try_from(size.pieces(Bytes::new(1_200))).unwrap();
        let begin = self.now;
        for i in 0..count {
            self.until(begin + FRAME * i / count);
            self.send(PacketKind::Media, Bytes::new(size.get() / u64::from(count)));
        }
        self.until(begin + FRAME);
    }

    fn run(&mut self, ms: u64) {
        let end = self.now + TimeDelta::from_millis(ms.cast_signed());
        while self.now < end {
            self.frame();
        }
    }
}

#[test]
fn the_first_probes_find_the_link() {
    let mut stream = Stream::new(&Config::default(), 5.0, 20.0);
    let mut is_probed = false;
    for _ in 0..25 {
        stream.frame();
        is_probed |= stream.cause() == Cause::ProbeResult;
    }
    assert!(is_probed);
    assert_eq!(stream.asked, [15.0, 30.0]);
    // A probe that is faster than 20 Mbit/s arrives at 20 Mbit/s, and its result is 95 % of that.
    let target = stream.target();
    assert!((18.5..=19.1).contains(&target), "{target}");
}

#[test]
fn a_fast_link_is_probed_to_the_maximum() {
    let mut stream = Stream::new(&Config::default(), 5.0, 200.0);
    stream.run(2_000);
    assert_eq!(stream.asked, [15.0, 30.0, 50.0]);
    assert_eq!((stream.target(), stream.cause()), (50.0, Cause::AtMaximum));
}

#[test]
fn without_probes_the_rate_grows_by_eight_per_cent_a_second() {
    let mut stream = Stream::without_probes(5.0, 100.0);
    stream.run(1_000);
    let (from, before) = (stream.now, stream.target());
    stream.run(5_000);
    let seconds = stream.now.since(from).as_secs();
    let growth = libm::pow(stream.target() / before, 1.0 / seconds);
    assert!((1.078..=1.082).contains(&growth), "{growth}");
    assert_eq!(stream.cause(), Cause::MultiplicativeIncrease);
}

#[test]
fn a_growing_queue_takes_the_rate_below_what_arrives_and_empties() {
    let mut stream = Stream::without_probes(9.0, 10.0);
    stream.run(1_000);
    stream.link = mbps(6.0);
    let mut is_trend = false;
    for _ in 0..200 {
        stream.frame();
        is_trend |= stream.cause() == Cause::DelayTrend;
    }
    assert!(is_trend);
    let target = stream.target();
    // The target is 0.85 of 6 Mbit/s less 5 kbit/s, and what was added since.
    assert!((4.5..=5.9).contains(&target), "{target}");
    let queued = stream.gcc.decision().evidence.queue_delay.unwrap();
    assert!(queued < TimeDelta::from_millis(5), "{queued}");
}

#[test]
fn packets_leave_at_two_and_a_half_times_the_target() {
    let stream = Stream::without_probes(4.0, 10.0);
    let rate = mbps(10.0);
    let burst = rate.amount_in(TimeDelta::from_millis(5));
    assert_eq!(stream.gcc.decision().pacing, Pacing::Bucket { rate, burst });
}

/// After three seconds without feedback the rate falls by 20 % each second; the first feedback
/// restores it.
#[test]
fn silence_reduces_the_rate_step_by_step() {
    let mut stream = Stream::without_probes(5.0, 20.0);
    stream.run(1_000);
    stream.is_silent = true;
    let before = stream.target();
    stream.run(2_900);
    assert!((stream.target() - before).abs() < 1e-6);
    stream.run(3_000);
    let expected = before * 0.8 * 0.8 * 0.8;
    assert!(
        (stream.target() - expected).abs() < 0.01,
        "{}",
        stream.target()
    );
    assert_eq!(stream.cause(), Cause::FeedbackTimeout);
    stream.run(30_000);
    assert!((stream.target() - 0.2).abs() < 1e-9, "the lowest");
    stream.is_silent = false;
    stream.run(200);
    assert!(stream.target() > 0.9 * before, "{}", stream.target());
}

/// The rate is at most 1.5 times the acknowledged rate plus 10 kbit/s.
#[test]
fn an_application_that_sends_little_bounds_the_rate() {
    let mut stream = Stream::without_probes(5.0, 20.0);
    stream.content = mbps(4.0);
    stream.run(20_000);
    let (target, cause) = (stream.target(), stream.cause());
    assert!((5.9..=6.1).contains(&target), "{target}");
    assert_eq!(cause, Cause::ApplicationLimited);
    assert_eq!(stream.gcc.limited.since(), None, "4 of 6 are above 65 %");
}

#[test]
fn a_limited_stream_is_probed_every_five_seconds() {
    let mut stream = Stream::new(&Config::default(), 2.0, 100.0);
    stream.content = mbps(1.0);
    stream.run(3_000);
    assert!(stream.gcc.limited.since().is_some());
    let before = stream.asked.len();
    stream.run(10_500);
    let asked = &stream.asked[before..];
    assert!((2..=6).contains(&asked.len()), "{asked:?}");
    assert!(asked.iter().all(|&rate| rate <= 50.0));
}

/// After each bound by the delay the inherent loss is sought from zero again, with one Newton step
/// (`BoundBestCandidate`). A loss of 1 % is above the result, and growth waits for holds.
#[test]
fn much_loss_takes_the_rate_down_and_little_slows_its_growth() {
    let run = |loss| {
        let mut stream = Stream::without_probes(5.0, 100.0);
        stream.loss = loss;
        stream.run(10_000);
        (stream.target(), stream.cause())
    };
    let ((none, _), (few, _), (many, cause)) = (run(u64::MAX), run(100), run(4));
    assert!(none > 9.0, "without: {none}");
    assert!(few > 5.5 && few < 0.9 * none, "1 %: {few}");
    assert!(many < 4.0, "25 %: {many}");
    assert_eq!(cause, Cause::Loss);
}

/// Reports every 50 ms contain as much as a report for each packet, only later.
#[test]
fn reports_of_50_ms_are_enough() {
    for interval in [0, 50] {
        let mut stream = Stream::new(&Config::default(), 5.0, 10.0);
        stream.interval = TimeDelta::from_millis(interval);
        stream.run(10_000);
        let target = stream.target();
        assert!((7.5..=10.0).contains(&target), "{interval} ms: {target}");
        stream.link = mbps(5.0);
        stream.run(5_000);
        let target = stream.target();
        assert!((3.5..=5.0).contains(&target), "{interval} ms: {target}");
    }
}

#[test]
fn what_means_nothing_is_refused() {
    let refused = |change: &dyn Fn(&mut Config)| {
        let mut config = Config::default();
        change(&mut config);
        config.check().unwrap_err().key
    };
    assert_eq!(Config::default().check(), Ok(()));
    assert_eq!(refused(&|config| config.backoff = 1.0), "backoff");
    assert_eq!(refused(&|config| config.window = 9), "window");
    assert_eq!(refused(&|config| config.smoothing = f64::NAN), "smoothing");
    assert_eq!(
        refused(&|config| config.threshold_min = 700.0),
        "threshold_min"
    );
    assert_eq!(refused(&|config| config.threshold_up = 1.0), "threshold_up");
    assert_eq!(refused(&|config| config.limited_stop = 0.9), "limited_stop");
    assert_eq!(refused(&|config| config.probe_packets = 1), "probe_packets");
    assert_eq!(refused(&|config| config.loss_offset = 0.0), "loss_offset");
    assert_eq!(refused(&|config| config.loss_window = 1), "loss_window");
    let none = Some(TimeDelta::ZERO);
    assert_eq!(refused(&|config| config.window_time = none), "window_time");
}
