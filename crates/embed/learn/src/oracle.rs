//! A learner's session, run once more with the [oracle](mimosa_cc::oracle) as the controller of the learner's flow. A
//! learner's regret is counted against that run.

use mimosa_cc::oracle;
use mimosa_scenario::{FlowKind, Scenario};
use mimosa_sim::Run;
use mimosa_units::{Time, TimeDelta};

use crate::outcome::{Ended, Outcome};

/// A run of a learner's scenario and seed in which the oracle has the learner's flow.
pub(crate) struct OracleRun {
    run: Run,
    ended: Ended,
}

impl OracleRun {
    /// The run at its beginning. Frames above `deadline` are late.
    pub(crate) fn new(scenario: &Scenario, seed: u64, flow: usize, deadline: TimeDelta) -> Self {
        let mut scenario = scenario.clone();
        if let Some(FlowKind::Video(video)) =
            scenario.flows.get_mut(flow).map(|flow| &mut flow.kind)
        {
            oracle::NAME.clone_into(&mut video.controller);
            video.outside = None;
            video.params.clear();
        }
        Self {
            run: Run::new(&scenario, seed),
            ended: Ended::of(flow, deadline),
        }
    }

    /// What became of frames from the last call until just before `time`.
    pub(crate) fn until(&mut self, time: Time) -> Outcome {
        self.run.until(time, &mut self.ended);
        self.ended.take()
    }
}
