//! The rate that the delay allows: additive or multiplicative increase, multiplicative
//! decrease (`AimdRateControl`, `LinkCapacityEstimator`).

use mimosa_units::{Rate, Time, TimeDelta};

use super::config::Config;
use super::trendline::Usage;

/// Round trip assumed before the first measurement (`kDefaultRtt`).
const DEFAULT_RTT: TimeDelta = TimeDelta::from_millis(200);
/// Lower bound of the time between two decreases (`TimeToReduceFurther`).
const REDUCTION_MIN: TimeDelta = TimeDelta::from_millis(10);
/// Upper bound of the time between two decreases (`TimeToReduceFurther`).
const REDUCTION_MAX: TimeDelta = TimeDelta::from_millis(200);
/// Time, in addition to a round trip, in which overuse shows (`GetNearMaxIncreaseRate…`).
const DETECTION: TimeDelta = TimeDelta::from_millis(100);
/// Frames a second that the additive increase assumes (`GetNearMaxIncreaseRate…`).
const FRAMES_A_SECOND: f64 = 30.0;
/// Largest packet that the additive increase assumes, in bytes (`GetNearMaxIncreaseRate…`).
const PACKET: f64 = 1_200.0;
/// Least additive increase in a second, in bit/s (`GetNearMaxIncreaseRate…`).
const LEAST_ADDITIVE: f64 = 4_000.0;
/// Least multiplicative increase in the time `REPORTS` (`MultiplicativeRateIncrease`).
const LEAST_MULTIPLICATIVE: Rate = Rate::from_bps(1_000);
/// Time between two reports of libwebrtc's receiver (`TransportSequenceNumberFeedbackGenerator`,
/// default interval).
const REPORTS: TimeDelta = TimeDelta::from_millis(100);
/// Rate that a decrease subtracts after the factor `backoff` (`subtract_additional_backoff_term_`).
const BACKOFF_TERM: Rate = Rate::from_kbps(5);
/// Weight of a sample in the estimate of the link's capacity (`LinkCapacityEstimator`).
const CAPACITY_GAIN: f64 = 0.05;
/// Bounds of the capacity's variance, normalised by the capacity, in kbit/s
/// (`LinkCapacityEstimator`).
const VARIANCE: std::ops::RangeInclusive<f64> = 0.4..=2.5;
/// Number of standard deviations from the capacity at which a rate is far from it
/// (`LinkCapacityEstimator`).
const FAR: f64 = 3.0;

/// An estimate of the link's capacity: a mean of the acknowledged rates at times of overuse.
#[derive(Clone, Copy, Debug)]
struct Capacity {
    kbps: Option<f64>,
    variance: f64,
}

impl Capacity {
    const fn new() -> Self {
        Self {
            kbps: None,
            variance: *VARIANCE.start(),
        }
    }

    fn deviation(&self) -> f64 {
        libm::sqrt(self.variance * self.kbps.unwrap_or(0.0))
    }

    /// Whether the capacity is known and far below `kbps`, a rate in kbit/s.
    fn is_below(&self, kbps: f64) -> bool {
        self.kbps
            .is_some_and(|capacity| kbps > capacity + FAR * self.deviation())
    }

    /// Whether the capacity is known and far above `kbps`, a rate in kbit/s.
    fn is_above(&self, kbps: f64) -> bool {
        self.kbps
            .is_some_and(|capacity| kbps < capacity - FAR * self.deviation())
    }

    fn sample(&mut self, sample: f64) {
        let old = self.kbps.unwrap_or(sample);
        let kbps = (1.0 - CAPACITY_GAIN) * old + CAPACITY_GAIN * sample;
        let error = kbps - sample;
        let normalised = error * error / kbps.max(1.0);
        let variance = (1.0 - CAPACITY_GAIN) * self.variance + CAPACITY_GAIN * normalised;
        self.variance = variance.clamp(*VARIANCE.start(), *VARIANCE.end());
        self.kbps = Some(kbps);
    }
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    Hold,
    Increase,
}

/// The last step of the rate.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// No step yet: the first rate is in force.
    Start,
    /// The rate was held, because a queue empties.
    Hold,
    /// The rate was raised by a factor, because the capacity is unknown.
    Multiplicative,
    /// The rate was raised by a step, because it is near the capacity.
    Additive,
    /// The rate was not raised, because too little is acknowledged.
    Limited,
    /// The rate was reduced.
    Decrease,
    /// The rate was set to the result of a probe.
    Probe,
}

/// The delay-based rate.
#[derive(Debug)]
pub(super) struct Aimd {
    rate: Rate,
    min: Rate,
    state: State,
    capacity: Capacity,
    acknowledged: Rate,
    changed: Option<Time>,
    rtt: TimeDelta,
    step: Step,
}

impl Aimd {
    pub(super) const fn new(start: Rate, min: Rate) -> Self {
        Self {
            rate: start,
            min,
            state: State::Hold,
            capacity: Capacity::new(),
            acknowledged: start,
            changed: None,
            rtt: DEFAULT_RTT,
            step: Step::Start,
        }
    }

    pub(super) const fn rate(&self) -> Rate {
        self.rate
    }

    pub(super) const fn step(&self) -> Step {
        self.step
    }

    pub(super) const fn set_rtt(&mut self, rtt: TimeDelta) {
        self.rtt = rtt;
    }

    /// Sets the rate, as the result of `step`.
    pub(super) fn set_rate(&mut self, now: Time, rate: Rate, step: Step) {
        self.rate = rate.max(self.min);
        self.changed = Some(now);
        self.step = step;
    }

    /// Whether overuse may reduce the rate again: a round trip after the last change, or at once
    /// when `acknowledged` is below half of the rate.
    pub(super) fn may_reduce(&self, now: Time, acknowledged: Rate) -> bool {
        let wait = self.rtt.clamp(REDUCTION_MIN, REDUCTION_MAX);
        self.changed
            .is_none_or(|changed| now.since(changed) >= wait)
            || acknowledged < self.rate.scale(0.5)
    }

    /// Takes one step, from the detector's `usage` and the acknowledged rate, if it is known.
    pub(super) fn update(
        &mut self,
        config: &Config,
        now: Time,
        usage: Usage,
        acknowledged: Option<Rate>,
        is_limited: bool,
    ) {
        self.acknowledged = acknowledged.unwrap_or(self.acknowledged);
        match usage {
            Usage::Over => self.decrease(config, now),
            Usage::Under => {
                self.state = State::Hold;
                self.step = Step::Hold;
            }
            Usage::Normal => {
                if self.state == State::Hold {
                    self.changed = Some(now);
                    self.state = State::Increase;
                }
                self.increase(config, now, is_limited);
            }
        }
    }

    fn increase(&mut self, config: &Config, now: Time, is_limited: bool) {
        if self.capacity.is_below(kbps(self.acknowledged)) {
            self.capacity = Capacity::new();
        }
        let limit = if is_limited && config.hold_when_limited {
            self.rate
        } else {
            self.acknowledged.scale(config.headroom) + config.headroom_rate
        };
        let since = now.since(self.changed.unwrap_or(now));
        self.changed = Some(now);
        if self.rate >= limit {
            self.step = Step::Limited;
            return;
        }
        let (more, step) = if self.capacity.kbps.is_some() {
            (self.additive(since), Step::Additive)
        } else {
            (self.multiplicative(config, since), Step::Multiplicative)
        };
        self.step = step;
        self.rate = (self.rate + more).min(limit).max(self.min);
    }

    fn multiplicative(&self, config: &Config, since: TimeDelta) -> Rate {
        let factor = libm::pow(config.growth, since.as_secs().min(1.0));
        let least = LEAST_MULTIPLICATIVE.scale(since.ratio(REPORTS).min(1.0));
        self.rate.scale(factor - 1.0).max(least)
    }

    /// Returns the additive increase in the time `since`: one packet in twice the time in which
    /// overuse would show.
    fn additive(&self, since: TimeDelta) -> Rate {
        let frame = self.rate.as_mbps() * 1e6 / 8.0 / FRAMES_A_SECOND;
        let packet = frame / (frame / PACKET).ceil().max(1.0);
        let response = (self.rtt.max(TimeDelta::ZERO) + DETECTION) * 2;
        let a_second = (packet * 8.0 / response.as_secs()).max(LEAST_ADDITIVE);
        Rate::from_mbps(a_second * since.as_secs() / 1e6)
    }

    fn decrease(&mut self, config: &Config, now: Time) {
        let acknowledged = kbps(self.acknowledged);
        let mut rate = self.acknowledged.scale(config.backoff);
        if rate > BACKOFF_TERM {
            rate = rate - BACKOFF_TERM;
        }
        if rate > self.rate
            && let Some(capacity) = self.capacity.kbps
        {
            rate = Rate::from_mbps(config.backoff * capacity / 1e3);
        }
        self.rate = rate.min(self.rate).max(self.min);
        if self.capacity.is_above(acknowledged) {
            self.capacity = Capacity::new();
        }
        if config.capacity {
            self.capacity.sample(acknowledged);
        }
        self.state = State::Hold;
        self.changed = Some(now);
        self.step = Step::Decrease;
    }
}

fn kbps(rate: Rate) -> f64 {
    rate.as_mbps() * 1e3
}

#[cfg(test)]
mod tests {
    use super::super::config::Version;
    use super::*;

    const CONFIG: fn() -> Config = Config::default;

    fn mbps(mbps: f64) -> Rate {
        Rate::from_mbps(mbps)
    }

    fn aimd(start: f64) -> Aimd {
        Aimd::new(mbps(start), Rate::from_kbps(200))
    }

    /// Updates every 100 ms for `seconds`, with the whole rate acknowledged. Returns the end, in
    /// ms.
    fn run(aimd: &mut Aimd, from: u64, seconds: u64) -> u64 {
        for step in 0..=10 * seconds {
            let rate = aimd.rate();
            let now = Time::from_millis(from + 100 * step);
            aimd.update(&CONFIG(), now, Usage::Normal, Some(rate), false);
        }
        from + 1_000 * seconds
    }

    /// `AimdRateControl` grows by 8 % in a second while the capacity is unknown.
    #[test]
    fn without_a_capacity_the_rate_grows_by_eight_per_cent_a_second() {
        let mut aimd = aimd(5.0);
        run(&mut aimd, 0, 5);
        let expected = 5.0 * libm::pow(1.08, 5.0);
        assert!(
            (aimd.rate().as_mbps() - expected).abs() < 0.02,
            "{}",
            aimd.rate()
        );
        assert_eq!(aimd.step(), Step::Multiplicative);
    }

    /// Overuse leaves 0.85 of the acknowledged rate less 5 kbit/s, and reduces no further for a
    /// round trip.
    #[test]
    fn overuse_takes_the_rate_below_what_is_acknowledged() {
        let mut aimd = aimd(5.0);
        aimd.set_rtt(TimeDelta::from_millis(50));
        let now = Time::from_secs(1);
        aimd.update(&CONFIG(), now, Usage::Over, Some(mbps(4.0)), false);
        assert_eq!(aimd.rate(), Rate::from_kbps(3_395));
        let soon = now + TimeDelta::from_millis(49);
        assert!(!aimd.may_reduce(soon, mbps(3.0)));
        assert!(aimd.may_reduce(soon, mbps(1.6)), "less than half arrives");
        assert!(aimd.may_reduce(now + TimeDelta::from_millis(50), mbps(3.0)));
    }

    /// A packet of 1200 B in twice 50 + 100 ms is a growth of 32 kbit/s a second. At 5 Mbit/s a
    /// frame of 20.8 kB has 18 packets of 1157 B, so that the growth is 30.9 kbit/s a second.
    #[test]
    fn near_the_capacity_the_rate_grows_by_a_packet() {
        let mut aimd = aimd(5.0);
        aimd.set_rtt(TimeDelta::from_millis(50));
        let now = Time::from_secs(1);
        aimd.update(&CONFIG(), now, Usage::Over, Some(mbps(5.9)), false);
        assert_eq!(aimd.rate(), mbps(5.0), "never raised by overuse");
        run(&mut aimd, 1_100, 4);
        let growth = aimd.rate().as_mbps() - 5.0;
        assert!(
            (growth - 4.0 * 0.0309).abs() < 0.002,
            "{growth} Mbit/s in 4 s"
        );
        assert_eq!(aimd.step(), Step::Additive);
        // Far more arrives than the capacity would let through, so the capacity is forgotten.
        let now = Time::from_secs(6);
        aimd.update(&CONFIG(), now, Usage::Normal, Some(mbps(9.0)), false);
        assert_eq!(aimd.step(), Step::Multiplicative);
    }

    /// Without an estimate of the capacity growth is by 5 % a second, also right after overuse.
    #[test]
    fn the_classic_increase_is_always_multiplicative() {
        let classic = Config::from(Version::Classic);
        let mut aimd = aimd(5.0);
        let over = Time::from_secs(1);
        aimd.update(&classic, over, Usage::Over, Some(mbps(5.9)), false);
        for step in 0..=20 {
            let now = Time::from_millis(1_100 + 100 * step);
            let rate = aimd.rate();
            aimd.update(&classic, now, Usage::Normal, Some(rate), false);
        }
        assert_eq!(aimd.step(), Step::Multiplicative);
        let expected = 5.0 * 1.05 * 1.05;
        let rate = aimd.rate().as_mbps();
        assert!((rate - expected).abs() < 0.01, "{rate}");
    }

    #[test]
    fn what_is_acknowledged_bounds_the_growth() {
        let mut aimd = aimd(5.0);
        for ms in 0..20_000 {
            let now = Time::from_millis(ms);
            aimd.update(&CONFIG(), now, Usage::Normal, Some(mbps(4.0)), true);
        }
        assert_eq!(aimd.rate(), Rate::from_kbps(6_010));
        assert_eq!(aimd.step(), Step::Limited);
        let hold = Config {
            hold_when_limited: true,
            ..Config::default()
        };
        let now = Time::from_secs(30);
        aimd.update(&hold, now, Usage::Normal, Some(mbps(40.0)), true);
        assert_eq!(aimd.rate(), Rate::from_kbps(6_010));
    }

    #[test]
    fn underuse_holds() {
        let mut aimd = aimd(5.0);
        aimd.update(
            &CONFIG(),
            Time::from_secs(1),
            Usage::Under,
            Some(mbps(5.0)),
            false,
        );
        assert_eq!((aimd.rate(), aimd.step()), (mbps(5.0), Step::Hold));
    }

    /// A capacity of 10 Mbit/s with variance 0.4 has a deviation of 63 kbit/s.
    #[test]
    fn three_deviations_are_far_from_the_capacity() {
        let mut capacity = Capacity::new();
        capacity.sample(10_000.0);
        // The first sample has no error, so the variance stays at its lower bound.
        assert!(!capacity.is_below(10_189.0) && capacity.is_below(10_190.0));
        assert!(!capacity.is_above(9_811.0) && capacity.is_above(9_810.0));
    }
}
