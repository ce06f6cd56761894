//! The rate that the delay allows (`DelayBasedBwe`): groups of packets, the trend of their delay,
//! and the rate that follows from it.

use mimosa_facts::SentPacket;
use mimosa_units::{PeerTime, Rate, Time};

use super::aimd::{Aimd, Step};
use super::config::Config;
use super::inter_arrival::InterArrival;
use super::trendline::{Trendline, Usage};

/// When a packet arrived, and the packet.
pub(super) type Arrival = (PeerTime, SentPacket);

/// The delay-based estimator.
#[derive(Debug)]
pub(super) struct Delay {
    groups: InterArrival,
    trendline: Trendline,
    aimd: Aimd,
    heard: Option<Time>,
}

impl Delay {
    pub(super) fn new(config: &Config, start: Rate, min: Rate) -> Self {
        Self {
            groups: InterArrival::default(),
            trendline: Trendline::new(config),
            aimd: Aimd::new(start, min),
            heard: None,
        }
    }

    pub(super) const fn rate(&self) -> Rate {
        self.aimd.rate()
    }

    pub(super) const fn step(&self) -> Step {
        self.aimd.step()
    }

    pub(super) const fn usage(&self) -> Usage {
        self.trendline.usage()
    }

    pub(super) const fn aimd(&mut self) -> &mut Aimd {
        &mut self.aimd
    }

    /// Takes `arrivals`, in the order of their times. `probed` is the result of a probe, if there
    /// is one. Returns whether the delay has stopped falling; false in case of overuse or of a
    /// probe's result.
    pub(super) fn update(
        &mut self,
        config: &Config,
        now: Time,
        arrivals: &[Arrival],
        acknowledged: Option<Rate>,
        probed: Option<Rate>,
        is_limited: bool,
    ) -> bool {
        if self
            .heard
            .is_some_and(|heard| now.since(heard) > config.stream_timeout)
        {
            self.groups = InterArrival::default();
            self.trendline = Trendline::new(config);
        }
        self.heard = Some(now);
        let mut has_recovered = false;
        for &(at, ref packet) in arrivals {
            let before = self.trendline.usage();
            if let Some(deltas) = self.groups.add(config, now, packet.sent, at) {
                self.trendline.add(config, deltas, at);
            }
            has_recovered |= before == Usage::Under && self.trendline.usage() == Usage::Normal;
        }
        match (self.trendline.usage(), acknowledged, probed) {
            (Usage::Over, Some(rate), _) => {
                if self.aimd.may_reduce(now, rate) {
                    self.aimd
                        .update(config, now, Usage::Over, acknowledged, is_limited);
                }
            }
            (Usage::Over, None, _) => {
                // Overuse before the acknowledged rate is known halves the rate.
                let half = self.aimd.rate().scale(0.5);
                if self.aimd.may_reduce(now, half) {
                    self.aimd.set_rate(now, half, Step::Decrease);
                }
            }
            (_, _, Some(rate)) => self.aimd.set_rate(now, rate, Step::Probe),
            (usage, _, None) => {
                self.aimd
                    .update(config, now, usage, acknowledged, is_limited);
                return has_recovered;
            }
        }
        false
    }
}
