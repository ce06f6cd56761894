//! The rate that loss allows (`LossBasedBweV2`). The model is a link that loses an inherent share
//! of all packets, and everything above its bandwidth; the most likely of a few candidates is the
//! bandwidth.

use mimosa_facts::{PacketOutcome, PacketReport};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::config::Config;
use super::observations::{Observation, Observations};

/// Lower bound of the inherent loss, as a share (`InherentLossLowerBound`).
pub(super) const LEAST_INHERENT: f64 = 1e-3;
/// First estimate of the inherent loss, as a share (`InitialInherentLossEstimate`).
const FIRST_INHERENT: f64 = 0.01;
/// Multiples of the bandwidth's last estimate that are candidates for the next
/// (`CandidateFactors`).
const FACTORS: [f64; 3] = [1.02, 1.0, 0.95];
/// Preference for higher bandwidths, per kbit/s (`HigherBwBiasFactor`).
const BIAS: f64 = 0.0002;
/// Preference for higher bandwidths, per unit of the logarithm of kbit/s (`HigherLogBwBiasFactor`).
const LOG_BIAS: f64 = 0.02;
/// Distance of the loss from `loss_threshold` at which the preference has half of its weight
/// (`BandwidthPreferenceSmoothingFactor`).
const BIAS_SMOOTHING: f64 = 0.002;
/// Share of Newton's step that the inherent loss takes (`NewtonStepSize`).
const NEWTON_STEP: f64 = 0.75;
/// Fewest observations from which loss allows a rate (`MinNumObservations`).
const FEWEST: u64 = 3;
/// Duration of the first hold (`kInitHoldDuration`).
const FIRST_HOLD: TimeDelta = TimeDelta::from_millis(300);
/// Duration of the longest hold (`kMaxHoldDuration`).
const LONGEST_HOLD: TimeDelta = TimeDelta::from_millis(60_000);
/// Multiple of the hold's rate: while the acknowledged rate is below it, `loss_rampup_in_hold`
/// applies (`BwRampupUpperBoundHoldThreshold`).
const HOLD_THRESHOLD: f64 = 1.3;

/// The limit of the rate (`LossBasedState`).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum LossState {
    /// The delay limits the rate, and loss does not.
    Delay,
    /// Loss limits the rate, which is held or falls.
    Decreasing,
    /// Loss limits the rate, which recovers.
    Increasing,
}

#[derive(Clone, Copy, Debug)]
struct Channel {
    bandwidth: Rate,
    inherent: f64,
}

/// A time after a fall of the rate in which the rate does not grow.
#[derive(Clone, Copy, Debug)]
struct Hold {
    until: Time,
    duration: TimeDelta,
    rate: Rate,
}

const NO_HOLD: Hold = Hold {
    until: Time::ZERO,
    duration: FIRST_HOLD,
    rate: Rate::MAX,
};

/// The loss-based estimator.
#[derive(Debug)]
pub(super) struct Loss {
    min: Rate,
    max: Rate,
    observations: Observations,
    best: Option<Channel>,
    state: LossState,
    result: Rate,
    hold: Hold,
    /// Highest bandwidth that may be reached in this window of growth, and when the window began.
    window: Option<(Rate, Time)>,
}

impl Loss {
    pub(super) fn new(config: &Config, min: Rate, max: Rate) -> Self {
        Self {
            min,
            max,
            observations: Observations::new(config.loss_window),
            best: None,
            state: LossState::Delay,
            result: max,
            hold: NO_HOLD,
            window: None,
        }
    }

    /// Returns what limits the rate.
    pub(super) const fn state(&self) -> LossState {
        self.state
    }

    /// Returns the rate that loss allows; `None` before there are `FEWEST` observations.
    pub(super) fn rate(&self) -> Option<Rate> {
        (self.best.is_some() && self.observations.count() >= FEWEST).then_some(self.result)
    }

    /// Takes `reports` about packets. `delay` is the rate that the delay allows.
    pub(super) fn update(
        &mut self,
        config: &Config,
        reports: &[PacketReport],
        delay: Rate,
        acknowledged: Option<Rate>,
        is_limited: bool,
    ) {
        for report in reports {
            let packet = &report.packet;
            match report.outcome {
                PacketOutcome::Lost => self.observations.lost(packet.sent, packet.size),
                PacketOutcome::Arrived {
                    after_loss: true, ..
                } => self.observations.found(packet.size),
                PacketOutcome::Arrived { .. } => {
                    self.observations.arrived(packet.sent, packet.size);
                }
            }
        }
        if let Some(at) = self.observations.close(config.loss_observation) {
            self.estimate(config, at, delay, acknowledged, is_limited);
        }
    }

    fn estimate(
        &mut self,
        config: &Config,
        at: Time,
        delay: Rate,
        acknowledged: Option<Rate>,
        is_limited: bool,
    ) {
        let current = *self.best.get_or_insert(Channel {
            bandwidth: delay,
            inherent: FIRST_INHERENT,
        });
        let average = self.observations.average_loss();
        let candidate = acknowledged.filter(|_| !is_limited);
        let mut best = self.most_likely(config, current, delay, candidate, average);
        if average > best.inherent && current.bandwidth < best.bandwidth {
            best.bandwidth = current.bandwidth;
        }
        if self.state != LossState::Delay {
            best.bandwidth = self.slowed(config, at, current, best.bandwidth, acknowledged);
        }
        let lower = acknowledged.unwrap_or(Rate::ZERO).max(self.min);
        let upper = self.instant_bound(config, average);
        let bounded = best.bandwidth.min(upper).min(delay).max(lower);
        self.best = Some(if bounded < best.bandwidth {
            Channel {
                bandwidth: bounded,
                inherent: 0.0,
            }
        } else {
            Channel {
                bandwidth: best.bandwidth.max(lower),
                ..best
            }
        });
        if self.state == LossState::Decreasing && self.hold.until > at && bounded < delay {
            self.hold.rate = self.hold.rate.max(lower);
            self.result = self.hold.rate.min(bounded);
            return;
        }
        self.conclude(config, at, bounded, delay);
        let is_over = self
            .window
            .is_none_or(|(_, since)| at.since(since) > config.loss_growth_window);
        if self.state != LossState::Delay && is_over {
            let most = self
                .best
                .map_or(bounded, |best| best.bandwidth.scale(config.loss_growth));
            self.window = Some((most.max(self.min), at));
        }
    }

    /// Sets the next state, and the rate that loss allows.
    fn conclude(&mut self, config: &Config, at: Time, bounded: Rate, delay: Rate) {
        let is_limiting = bounded < delay && bounded < self.max;
        if is_limiting && self.is_growth(self.result, bounded) {
            self.state = LossState::Increasing;
        } else if is_limiting {
            if self.state != LossState::Decreasing {
                self.hold = Hold {
                    until: at + self.hold.duration,
                    duration: self.hold.duration.scale(config.loss_hold).min(LONGEST_HOLD),
                    rate: bounded,
                };
            }
            self.state = LossState::Decreasing;
        } else {
            self.hold = NO_HOLD;
            self.state = LossState::Delay;
        }
        self.result = bounded;
    }

    /// Whether a change of the estimate from `old` to `new` is growth while loss limits it. While
    /// the rate recovers, no change counts as growth too.
    fn is_growth(&self, old: Rate, new: Rate) -> bool {
        match self.state {
            LossState::Delay => false,
            LossState::Decreasing => old < new,
            LossState::Increasing => old <= new,
        }
    }

    /// Returns `bandwidth`, lowered as far as the bounds of growth require while loss limits the
    /// rate.
    fn slowed(
        &self,
        config: &Config,
        at: Time,
        current: Channel,
        bandwidth: Rate,
        acknowledged: Option<Rate>,
    ) -> Rate {
        let bandwidth = match self.window {
            Some((most, since)) if at.since(since) < config.loss_growth_window => {
                bandwidth.min(most)
            }
            _ => bandwidth,
        };
        let Some(acknowledged) =
            acknowledged.filter(|_| self.is_growth(current.bandwidth, bandwidth))
        else {
            return bandwidth;
        };
        let is_in_hold =
            self.hold.rate < Rate::MAX && acknowledged < self.hold.rate.scale(HOLD_THRESHOLD);
        let rampup = if is_in_hold {
            config.loss_rampup_in_hold
        } else {
            config.loss_rampup
        };
        let slowed = bandwidth
            .min(acknowledged.scale(rampup))
            .max(current.bandwidth);
        if self.state == LossState::Decreasing && slowed == current.bandwidth {
            return slowed + Rate::from_bps(1);
        }
        slowed
    }

    /// Returns the candidate that explains the observations best.
    fn most_likely(
        &self,
        config: &Config,
        current: Channel,
        delay: Rate,
        acknowledged: Option<Rate>,
        average: f64,
    ) -> Channel {
        let most = match self.window {
            Some((most, _)) if self.state != LossState::Delay => most,
            _ => self.max,
        };
        let most = most.max(current.bandwidth);
        let scaled = FACTORS.map(|factor| Some(current.bandwidth.scale(factor)));
        let others = [
            acknowledged,
            Some(delay).filter(|&rate| rate > current.bandwidth),
        ];
        let mut best = (f64::NEG_INFINITY, current);
        for bandwidth in scaled.into_iter().chain(others).flatten() {
            let mut channel = Channel {
                bandwidth: bandwidth.min(most),
                ..current
            };
            channel.inherent = feasible(config, &channel);
            channel.inherent -= NEWTON_STEP * self.newton(&channel);
            channel.inherent = feasible(config, &channel);
            let objective = self.objective(config, &channel, average);
            if objective > best.0 {
                best = (objective, channel);
            }
        }
        best.1
    }

    /// Returns Newton's step: the first derivative of the log-likelihood over the second, or zero
    /// without losses and arrivals.
    fn newton(&self, channel: &Channel) -> f64 {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, observation) in self.observations.weighted() {
            let loss = probability(channel, observation);
            let arrival = 1.0 - loss;
            let gone = kilobytes(observation.lost);
            let there = kilobytes(observation.arrived());
            first += weight * (gone / loss - there / arrival);
            second -= weight * (gone / (loss * loss) + there / (arrival * arrival));
        }
        if second < 0.0 { first / second } else { 0.0 }
    }

    fn objective(&self, config: &Config, channel: &Channel, average: f64) -> f64 {
        let distance = config.loss_threshold - average;
        let preference = distance / (BIAS_SMOOTHING + distance.abs());
        let kbps = channel.bandwidth.as_mbps() * 1e3;
        let bias = preference * (BIAS * kbps + LOG_BIAS * libm::log(1.0 + kbps));
        let mut objective = 0.0;
        for (weight, observation) in self.observations.weighted() {
            let loss = probability(channel, observation);
            let likelihood = kilobytes(observation.lost) * libm::log(loss)
                + kilobytes(observation.arrived()) * libm::log(1.0 - loss);
            objective += weight * (likelihood + bias * kilobytes(observation.size));
        }
        objective
    }

    /// Returns the highest rate that the average loss allows at once.
    fn instant_bound(&self, config: &Config, average: f64) -> Rate {
        if average > config.loss_offset {
            let share = 1.0 / (average - config.loss_offset);
            config.loss_balance.scale(share).min(self.max)
        } else {
            self.max
        }
    }
}

/// Returns the channel's inherent loss, within its bounds at the channel's bandwidth.
fn feasible(config: &Config, channel: &Channel) -> f64 {
    let most = if channel.bandwidth == Rate::ZERO {
        1.0
    } else {
        (config.loss_offset + config.loss_balance.ratio(channel.bandwidth)).min(1.0)
    };
    channel.inherent.max(LEAST_INHERENT).min(most)
}

/// Returns the share of the observation's packets that the channel would lose.
fn probability(channel: &Channel, observation: &Observation) -> f64 {
    let excess = (observation.rate - channel.bandwidth).ratio(observation.rate);
    let loss = channel.inherent + (1.0 - channel.inherent) * excess;
    loss.clamp(1e-6, 1.0 - 1e-6)
}

fn kilobytes(bytes: Bytes) -> f64 {
    bytes.get() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{FrameId, PacketKind, SentPacket, Sequence};
    use mimosa_units::{Ecn, PeerTime};

    use super::*;

    fn mbps(mbps: u64) -> Rate {
        Rate::from_kbps(mbps * 1_000)
    }

    struct Link {
        loss: Loss,
        config: Config,
        sent: u64,
    }

    impl Link {
        fn new() -> Self {
            let config = Config::default();
            Self {
                loss: Loss::new(&config, Rate::from_kbps(200), mbps(50)),
                config,
                sent: 0,
            }
        }

        /// Sends a packet of 1250 B every millisecond, 10 Mbit/s, for `ms`. Every `nth` is lost.
        fn run(&mut self, ms: u64, nth: u64, delay: Rate, acknowledged: Rate) {
            for _ in 0..ms {
                self.sent += 1;
                let packet = SentPacket {
                    sequence: Sequence(self.sent),
                    frame: FrameId(0),
                    kind: PacketKind::Media,
                    size: Bytes::new(1_250),
                    sent: Time::from_millis(self.sent),
                };
                let outcome = if self.sent.is_multiple_of(nth) {
                    PacketOutcome::Lost
                } else {
                    PacketOutcome::Arrived {
                        at: PeerTime::from_nanos(0),
                        ecn: Ecn::NotEct,
                        after_loss: false,
                    }
                };
                let report = PacketReport { packet, outcome };
                self.loss
                    .update(&self.config, &[report], delay, Some(acknowledged), false);
            }
        }
    }

    #[test]
    fn without_loss_the_delay_decides() {
        let mut link = Link::new();
        link.run(600, u64::MAX, mbps(12), mbps(10));
        assert_eq!(link.loss.rate(), None, "two observations");
        link.run(400, u64::MAX, mbps(12), mbps(10));
        assert_eq!(link.loss.rate(), Some(mbps(12)));
        assert_eq!(link.loss.state(), LossState::Delay);
    }

    /// One packet in 50 is lost at every rate: the loss is inherent, and the rate stays.
    #[test]
    fn little_loss_is_taken_to_be_inherent() {
        let mut link = Link::new();
        link.run(8_000, 50, mbps(12), mbps(10));
        assert_eq!(link.loss.rate(), Some(mbps(12)));
    }

    /// A loss of 20 % is 15 % above the offset, and 100 kbit/s over 0.15 is below the acknowledged
    /// rate, which therefore is the bound.
    #[test]
    fn much_loss_takes_the_rate_to_what_is_acknowledged() {
        let mut link = Link::new();
        link.run(1_000, u64::MAX, mbps(12), mbps(10));
        link.run(4_000, 5, mbps(12), mbps(8));
        assert_eq!(link.loss.rate(), Some(mbps(8)));
        assert_eq!(link.loss.state(), LossState::Decreasing);
    }

    /// While loss limits the rate, it grows at most by a factor of 1.3 in 300 ms, and only after
    /// the hold of 300 ms.
    #[test]
    fn after_loss_the_rate_is_held_and_then_grows() {
        let mut link = Link::new();
        link.run(1_000, u64::MAX, mbps(40), mbps(10));
        link.run(4_000, 4, mbps(40), mbps(8));
        let low = link.loss.rate().unwrap();
        assert_eq!(low, mbps(8));
        link.run(10_000, u64::MAX, mbps(40), mbps(10));
        let grown = link.loss.rate().unwrap();
        assert!(grown > mbps(10) && grown <= mbps(40), "{grown}");
        assert_ne!(link.loss.state(), LossState::Decreasing);
    }
}
