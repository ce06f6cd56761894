//! A rate that halves after each report of a loss, to count what a new controller touches.
//!
//! *Deviations.* None: there is no source.

use mimosa_facts::{Cause, Controller, Decision, Event, Limits, PacketOutcome};
use mimosa_units::Time;
use serde::Deserialize;

use crate::named::Named;
use crate::needs::{Arrivals, Needs, Reports};
use crate::parameter::{ParameterError, require};

/// The parameters.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is left of the rate after a loss. Our choice: a half.
    pub share: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self { share: 0.5 }
    }
}

/// The controller.
#[derive(Clone, Copy, Debug)]
pub struct Toy {
    config: Config,
    limits: Limits,
    decision: Decision,
}

impl Named for Toy {
    const NAME: &'static str = "toy";
    const NEEDS: Needs = Needs::by_arrivals(Reports::PerFrame, Arrivals::Nothing, "it falls later");
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        let is_share = config.share > 0.0 && config.share <= 1.0;
        require(is_share, "share", "above 0 and at most 1")?;
        let decision = Decision::starting_at(limits.start());
        Ok(Box::new(Self {
            config,
            limits,
            decision,
        }))
    }
}

impl Controller for Toy {
    fn handle(&mut self, _now: Time, event: Event<'_>) -> &Decision {
        if let Event::Feedback { reports, .. } = event
            && reports
                .iter()
                .any(|report| report.outcome == PacketOutcome::Lost)
        {
            let fallen = self.decision.target.scale(self.config.share);
            self.decision.target = self.limits.clamp(fallen);
            self.decision.cause = Cause::Loss;
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }
}
