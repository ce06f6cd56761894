//! BBR at the application layer, with which the C3G paper compares its own controller.
//!
//! A. Alós, F. Morán, P. Carballeira, D. Berjón, N. García: *Congestion Control for Cloud
//! Gaming Over UDP Based on Round-Trip Video Latency*, IEEE Access 7, 2019: section VI-A.
//!
//! *Deviations.* The sent and received bitrates are measured as in [`c3g`](crate::c3g). The
//! target does not rise without a new round-trip video latency (RTVL) since the last
//! iteration, nor beyond a multiple of the bitrate that is sent.

use std::collections::VecDeque;

use mimosa_facts::{Cause, Controller, Decision, Event, FrameId, Limits};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use serde::Deserialize;

use crate::c3g::monitor::{Monitor, Period};
use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::{ParameterError, require};

/// Number of periods without a frame after which the control loop stops until the next frame.
const IDLE_PERIODS: u32 = 20;

/// How the data in flight is estimated from the sent and received bitrates.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "kebab-case")]
pub enum Inflight {
    /// The sent less the received bitrate of the last iteration, times the window w'.
    #[default]
    Iteration,
    /// The data sent less the data received in the last window w'.
    Window,
}

/// Most iterations remembered in the window w'.
const MOST_GROWTHS: usize = 1_024;

/// Parameters of application-layer BBR. Their source is section VI-A of the paper where no
/// other section is named.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Δt of the paper: time between two iterations. *Open* in the paper; our default is 100
    /// ms, which is C3G's.
    pub period: TimeDelta,
    /// w of the paper: number of iterations in the window of the smallest RTVL. The default
    /// is 2.
    pub rtprop_periods: u32,
    /// How the data in flight, (λ - µ) w' in the paper, is computed. *Open* in the paper; our
    /// default uses the last iteration's bitrates.
    pub inflight: Inflight,
    /// w' of the paper: window of the data in flight. The default is 1 s.
    pub inflight_window: TimeDelta,
    /// Factor by which an iteration of Startup raises the target. The default is 2.
    pub startup_gain: f64,
    /// Factor by which the target is multiplied when congestion ends Startup. The default is
    /// 0.5.
    pub startup_reduction: f64,
    /// Target at which Startup ends, the "plateau" of the paper. *Open* in the paper; our
    /// default is `None`, the highest rate of the limits.
    pub plateau: Option<Rate>,
    /// Factor by which a probe raises the target. The default is 1.25.
    pub probe_gain: f64,
    /// Factor by which the target is multiplied on congestion after Startup. The default is
    /// 0.75.
    pub reduction: f64,
    /// Number of iterations at the same rate after a reduction by `reduction`. The default is
    /// 6.
    pub stable_iterations: u32,
    /// Number of iterations at the same rate after a probe that met no congestion. *Open* in
    /// the paper; our default is 7, so that a cycle has eight iterations as BBR's has.
    pub probe_iterations: u32,
    /// Time from a frame's first packet until the frame is shown, complete or not. Section
    /// V-B: 100 ms.
    pub presentation_timeout: TimeDelta,
    /// Multiple of the newest frame's own bitrate beyond which the target does not rise.
    /// *Open* in the paper; our default is 4.
    pub application_headroom: f64,
    /// Age of the oldest frame on its way above which there is congestion, as long as no RTVL
    /// is known. *Open* in the paper; our default is 1 s.
    pub silence: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            period: TimeDelta::from_millis(100),
            rtprop_periods: 2,
            inflight: Inflight::Iteration,
            inflight_window: TimeDelta::from_millis(1_000),
            startup_gain: 2.0,
            startup_reduction: 0.5,
            plateau: None,
            probe_gain: 1.25,
            reduction: 0.75,
            stable_iterations: 6,
            probe_iterations: 7,
            presentation_timeout: TimeDelta::from_millis(100),
            application_headroom: 4.0,
            silence: TimeDelta::from_millis(1_000),
        }
    }
}

impl Config {
    /// Checks that every parameter has a valid value.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    pub fn check(&self) -> Result<(), ParameterError> {
        for (key, span) in [
            ("period", self.period),
            ("inflight_window", self.inflight_window),
            ("presentation_timeout", self.presentation_timeout),
            ("silence", self.silence),
        ] {
            let range = TimeDelta::from_millis(1)..=TimeDelta::from_millis(100_000);
            require(range.contains(&span), key, "from 1 ms to 100 s")?;
        }
        let is_window = (1..=1_000).contains(&self.rtprop_periods);
        require(is_window, "rtprop_periods", "from 1 to 1000")?;
        let is_plateau = self.plateau.is_none_or(|plateau| plateau > Rate::ZERO);
        require(is_plateau, "plateau", "above zero")?;
        for (key, gain) in [
            ("startup_gain", self.startup_gain),
            ("probe_gain", self.probe_gain),
            ("application_headroom", self.application_headroom),
        ] {
            require((1.0..=1e3).contains(&gain), key, "from 1 to 1000")?;
        }
        for (key, share) in [
            ("startup_reduction", self.startup_reduction),
            ("reduction", self.reduction),
        ] {
            require((1e-3..=1.0).contains(&share), key, "from 0.001 to 1")?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Startup,
    /// The phase after Startup, with the number of iterations before the next probe.
    ProbeBandwidth(u32),
}

/// The application-layer BBR controller.
#[derive(Debug)]
pub struct BbrApp {
    config: Config,
    limits: Limits,
    decision: Decision,
    monitor: Monitor,
    phase: Phase,
    /// The smallest RTVL of each of the last iterations, in ms; `None` for one without any.
    smallest: VecDeque<Option<f64>>,
    /// The last known `RTprop`, the smallest RTVL of its window, in ms.
    rtprop: Option<f64>,
    /// End of each iteration in w', and the bytes sent less the bytes received in it.
    growths: VecDeque<(Time, f64)>,
    interval: TimeDelta,
    /// Bitrate of the newest frame: its size over the frame interval.
    sent: Rate,
    last_due: Time,
    next_run: Option<Time>,
}

impl BbrApp {
    /// A controller that begins at `limits.start()`.
    #[must_use]
    pub fn new(config: Config, limits: Limits) -> Self {
        Self {
            decision: Decision::starting_at(limits.start()),
            monitor: Monitor::new(config.presentation_timeout, true),
            phase: Phase::Startup,
            smallest: VecDeque::new(),
            rtprop: None,
            growths: VecDeque::new(),
            interval: TimeDelta::ZERO,
            sent: Rate::ZERO,
            last_due: Time::ZERO,
            next_run: None,
            config,
            limits,
        }
    }

    fn frame_due(&mut self, now: Time, frame: FrameId, interval: TimeDelta) {
        self.interval = interval;
        self.last_due = now;
        self.monitor.frame_due(now, frame);
        if self.next_run.is_none() {
            self.monitor.begin(now);
            self.next_run = Some(now + self.config.period);
        }
    }

    /// Runs one iteration of the control loop.
    fn run(&mut self, now: Time) {
        let period = self.monitor.end_period(now);
        let is_idle = now.since(self.last_due) > self.config.period * IDLE_PERIODS;
        self.next_run = (!is_idle).then(|| now + self.config.period);
        self.smallest.push_back(period.rtvl.min);
        while self.smallest.len() > self.config.rtprop_periods as usize {
            self.smallest.pop_front();
        }
        let smallest = self.smallest.iter().flatten().copied();
        self.rtprop = smallest.reduce(f64::min).or(self.rtprop);
        let inflight = self.inflight(now, &period);
        let evidence = &mut self.decision.evidence;
        evidence.service_rate = Some(period.arrival_rate());
        evidence.backlog = Some(inflight);
        evidence.queue_delay = self.monitor.queue_delay();
        let is_congested = if let Some(rtprop) = self.rtprop {
            // inflight > BDP
            let rtprop = TimeDelta::from_secs(rtprop / 1e3);
            inflight > period.arrival_rate().amount_in(rtprop)
        } else {
            let age = self.monitor.oldest_age(now);
            age.is_some_and(|age| age > self.config.silence.as_millis())
        };
        if is_congested {
            self.reduce();
        } else {
            self.hold_or_raise(&period);
        }
    }

    /// Estimates the data in flight, (λ - µ) w' in the paper; zero instead of a negative
    /// estimate.
    fn inflight(&mut self, now: Time, period: &Period) -> Bytes {
        let window = self.config.inflight_window;
        let inflight = match self.config.inflight {
            Inflight::Iteration => {
                period.growth() * window.as_secs() / period.span.as_secs().max(1e-9)
            }
            Inflight::Window => {
                self.growths.push_back((now, period.growth()));
                while self.growths.len() > MOST_GROWTHS
                    || self
                        .growths
                        .front()
                        .is_some_and(|(at, _)| now.since(*at) >= window)
                {
                    self.growths.pop_front();
                }
                self.growths.iter().map(|(_, growth)| growth).sum()
            }
        };
        Bytes::from_f64(inflight.max(0.0))
    }

    fn reduce(&mut self) {
        let factor = match self.phase {
            Phase::Startup => {
                self.phase = Phase::ProbeBandwidth(0);
                self.config.startup_reduction
            }
            Phase::ProbeBandwidth(_) => {
                self.phase = Phase::ProbeBandwidth(self.config.stable_iterations);
                self.config.reduction
            }
        };
        self.set_rate(factor, Cause::MultiplicativeDecrease);
    }

    fn hold_or_raise(&mut self, period: &Period) {
        let gain = match self.phase {
            Phase::Startup if self.decision.target >= self.plateau() => {
                self.phase = Phase::ProbeBandwidth(0);
                self.decision.cause = Cause::AtMaximum;
                return;
            }
            Phase::Startup => self.config.startup_gain,
            Phase::ProbeBandwidth(0) => self.config.probe_gain,
            Phase::ProbeBandwidth(left) => {
                self.phase = Phase::ProbeBandwidth(left - 1);
                self.decision.cause = Cause::Hold;
                return;
            }
        };
        if period.rtvl.mean().is_none() {
            self.decision.cause = Cause::AwaitFeedback;
        } else if self.decision.target.scale(gain)
            > self.sent.scale(self.config.application_headroom)
        {
            self.decision.cause = Cause::ApplicationLimited;
        } else if self.decision.target >= self.limits.max() {
            self.decision.cause = Cause::AtMaximum;
        } else {
            if matches!(self.phase, Phase::ProbeBandwidth(_)) {
                self.phase = Phase::ProbeBandwidth(self.config.probe_iterations);
            }
            self.set_rate(gain, Cause::MultiplicativeIncrease);
        }
    }

    fn plateau(&self) -> Rate {
        let highest = self.limits.max();
        self.config
            .plateau
            .map_or(highest, |plateau| plateau.min(highest))
    }

    fn set_rate(&mut self, factor: f64, cause: Cause) {
        let mut target = self.decision.target.scale(factor);
        if matches!(self.phase, Phase::Startup) {
            target = target.min(self.plateau().max(self.decision.target));
        }
        self.decision.target = self.limits.clamp(target);
        self.decision.cause = cause;
    }
}

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    what is sent and not yet reported counts as in flight, and is answered as congestion: it \
    uses less of the link, and with reports 250 ms apart the lowest rate alone";

impl Named for BbrApp {
    const NAME: &'static str = "bbr-app";
    const NEEDS: Needs = Needs::by_round_trips(WITH_LESS);
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        config.check()?;
        Ok(Box::new(Self::new(config, limits)))
    }
}

impl Controller for BbrApp {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        // An iteration that is due runs before an event at the same time.
        if self.next_run.is_some_and(|due| due <= now) {
            self.run(now);
        }
        match event {
            Event::FrameDue { frame, interval } => self.frame_due(now, frame, interval),
            Event::FrameBegun { frame, packets, .. } => {
                self.monitor.frame_encoded(now, frame, packets);
            }
            Event::FrameEncoded {
                frame,
                size,
                packets,
            } => {
                self.sent = Rate::of(size, self.interval);
                self.monitor.frame_encoded(now, frame, packets);
            }
            Event::FrameGivenUp { frame } => self.monitor.frame_given_up(frame),
            Event::FrameDecoded { frame } => self.monitor.frame_decoded(now, frame),
            Event::PacketSent(packet) => self.monitor.packet_sent(&packet),
            Event::Feedback { reports, .. } => self.monitor.feedback(now, reports),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn deadline(&self) -> Option<Time> {
        self.next_run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c3g::stream::Stream;

    fn stream(config: Config, start_kbps: u64) -> Stream<BbrApp> {
        let limits = Limits::new(
            Rate::from_kbps(200),
            Rate::from_kbps(start_kbps),
            Rate::from_kbps(50_000),
        );
        Stream::new(BbrApp::new(config, limits))
    }

    #[test]
    fn startup_doubles_until_congestion_and_then_halves() {
        let mut stream = stream(Config::default(), 2_000);
        let mut targets = Vec::new();
        for _ in 0..5 {
            stream.period(Rate::from_kbps(9_000));
            targets.push((stream.target_kbps(), stream.cause()));
        }
        let up = Cause::MultiplicativeIncrease;
        let rising = targets.iter().take_while(|(_, cause)| *cause == up).count();
        assert_eq!(targets[..2], [(4_000, up), (8_000, up)]);
        assert_eq!(targets[2], (16_000, up), "8 of 9 Mbit/s is no congestion");
        assert_eq!(rising, 3);
        assert_eq!(targets[3], (8_000, Cause::MultiplicativeDecrease));
    }

    #[test]
    fn startup_ends_at_the_plateau() {
        let config = Config {
            plateau: Some(Rate::from_kbps(5_000)),
            ..Config::default()
        };
        let mut stream = stream(config, 2_000);
        let mut targets = Vec::new();
        for _ in 0..4 {
            stream.period(Rate::from_kbps(90_000));
            targets.push(stream.target_kbps());
        }
        assert_eq!(targets, [4_000, 5_000, 5_000, 6_250], "then x1.25");
    }

    #[test]
    fn a_probe_is_kept_unless_congestion_answers_it() {
        let config = Config {
            plateau: Some(Rate::from_kbps(1_000)),
            ..Config::default()
        };
        let mut stream = stream(config, 8_000);
        stream.period(Rate::from_kbps(90_000));
        let mut targets = Vec::new();
        for _ in 0..9 {
            stream.period(Rate::from_kbps(90_000));
            targets.push(stream.target_kbps());
        }
        let mut expected = vec![10_000; 8];
        expected.push(12_500);
        assert_eq!(targets, expected, "one probe in eight iterations");
        // A target of 12.5 Mbit/s on a link of 10 is reduced, and then kept for six
        // iterations.
        targets.clear();
        for _ in 0..8 {
            stream.period(Rate::from_kbps(10_000));
            targets.push(stream.target_kbps());
        }
        assert_eq!(targets, [&[9_375; 7][..], &[11_718]].concat());
    }

    #[test]
    fn what_is_not_sent_is_not_raised() {
        let mut stream = stream(Config::default(), 8_000);
        stream.used = 0.1;
        for _ in 0..30 {
            stream.period(Rate::from_kbps(90_000));
        }
        assert_eq!(
            (stream.target_kbps(), stream.cause()),
            (8_000, Cause::ApplicationLimited)
        );
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let plain = Config::default();
        assert_eq!(plain.check(), Ok(()));
        #[rustfmt::skip]
        let wrong = [
            ("period", Config { period: TimeDelta::ZERO, ..plain }),
            ("reduction", Config { reduction: 0.0, ..plain }),
            ("probe_gain", Config { probe_gain: f64::NAN, ..plain }),
            ("plateau", Config { plateau: Some(Rate::ZERO), ..plain }),
        ];
        for (key, config) in wrong {
            assert_eq!(config.check().unwrap_err().key, key);
        }
    }
}
