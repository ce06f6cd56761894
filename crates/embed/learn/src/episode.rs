//! A run that a learner steers.

use mimosa_facts::{Controller, Limits};
use mimosa_scenario::{FlowKind, Scenario};
use mimosa_sim::Run;
use mimosa_units::{Time, TimeDelta};

use crate::observation::Observation;
use crate::oracle::OracleRun;
use crate::outcome::{Ended, Outcome};
use crate::pilot::{Action, Pilot, Stick};
use crate::reward::Rewards;

/// A step: what became of earlier frames, and what is known before the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// The observation before the next frame.
    pub observation: Observation,
    /// What became of frames since the step before.
    pub outcome: Outcome,
    /// What the step is worth.
    pub reward: f64,
    /// How much more the oracle's step in the same time is worth, in an [`Episode::beside_oracle`]. It is below zero
    /// where the learner did better: the oracle keeps the queue empty, and aims at no reward.
    pub regret: Option<f64>,
}

/// The scenario has no video flow with this number.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "there is no video flow with the number {0}; flows are counted from 0, in the order of the scenario"
)]
pub struct NoSuchFlow(pub usize);

/// A run, steered frame by frame.
pub struct Episode {
    /// `None` when the run is over.
    run: Option<Run>,
    flow: usize,
    limits: Limits,
    interval: TimeDelta,
    rewards: Rewards,
    stick: Stick,
    ended: Ended,
    oracle: Option<OracleRun>,
    /// When the frame is due before which the run stands.
    due: Option<Time>,
    first: Observation,
}

impl Episode {
    /// The run of `scenario` with `seed` whose flow with the number `flow` is steered, before the
    /// first frame of that flow.
    ///
    /// # Errors
    ///
    /// [`NoSuchFlow`] if the scenario has no such video flow.
    pub fn new(
        scenario: &Scenario,
        seed: u64,
        flow: usize,
        rewards: Rewards,
    ) -> Result<Self, NoSuchFlow> {
        let config = scenario.flows.get(flow).ok_or(NoSuchFlow(flow))?;
        let FlowKind::Video(video) = &config.kind else {
            return Err(NoSuchFlow(flow));
        };
        let (pilot, stick) = Pilot::new(video.limits);
        let mut pilot: Option<Box<dyn Controller>> = Some(Box::new(pilot));
        let run = Run::with(scenario, seed, &mut |number| {
            (number == flow).then(|| pilot.take()).flatten()
        });
        let interval = TimeDelta::from_nanos(1_000_000_000 / i64::from(video.fps.max(1)));
        let mut episode = Self {
            run: Some(run),
            flow,
            limits: video.limits,
            interval,
            rewards,
            stick,
            ended: Ended::of(flow, rewards.deadline),
            oracle: None,
            due: None,
            first: Observation::default(),
        };
        if let Some(observation) = episode.forward() {
            episode.first = observation;
        }
        Ok(episode)
    }

    /// The episode of [`Self::new`], beside which the oracle has the same flow in a run of its own. The oracle is told
    /// the links' rates one feedback delay late. Of a medium it knows what one sender gets there that is alone and near,
    /// which may be more than the flow can have: a learner may do better than the oracle there.
    ///
    /// # Errors
    ///
    /// [`NoSuchFlow`] if the scenario has no such video flow.
    pub fn beside_oracle(
        scenario: &Scenario,
        seed: u64,
        flow: usize,
        rewards: Rewards,
    ) -> Result<Self, NoSuchFlow> {
        let mut episode = Self::new(scenario, seed, flow, rewards)?;
        let mut oracle = OracleRun::new(scenario, seed, flow, rewards.deadline);
        if let Some(due) = episode.due {
            oracle.until(due);
        }
        episode.oracle = Some(oracle);
        Ok(episode)
    }

    /// The observation before the first frame.
    #[must_use]
    pub const fn first(&self) -> Observation {
        self.first
    }

    /// The bounds of the target.
    #[must_use]
    pub const fn limits(&self) -> Limits {
        self.limits
    }

    /// Gives the frame that is due what `action` says, and goes on to the next frame; `None` if
    /// there is no further frame. The run is over then, and every further step gives `None`.
    pub fn step(&mut self, action: Action) -> Option<Step> {
        let (due, run) = (self.due?, self.run.as_mut()?);
        self.stick.act(action);
        run.through(due, &mut self.ended);
        let observation = self.forward()?;
        let (highest, interval) = (self.limits.max(), self.interval);
        let worth = |outcome: &Outcome| self.rewards.of(outcome, highest, interval);
        let outcome = self.ended.take();
        let reward = worth(&outcome);
        let best = self.oracle.as_mut().zip(self.due);
        let best = best.map(|(oracle, due)| worth(&oracle.until(due)));
        Some(Step {
            observation,
            outcome,
            reward,
            regret: best.map(|best| best - reward),
        })
    }

    /// Goes on until just before the next frame.
    fn forward(&mut self) -> Option<Observation> {
        let run = self.run.as_mut()?;
        self.due = run.next_frame(self.flow);
        let Some(due) = self.due else {
            self.run = None;
            return None;
        };
        run.until(due, &mut self.ended);
        Some(self.stick.observe(due, self.limits, self.interval))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::pilot::Steered;

    fn scenario(keys: &str) -> Scenario {
        let text = format!("duration = '5s'\n[link]\nrate = '20Mbit/s'\n{keys}");
        let mut loaded = mimosa_scenario::load(&text, "inline", &mut ()).unwrap();
        loaded.variants.remove(0).1
    }

    fn played(seed: u64, target_mbps: f64, limit: f64) -> Vec<Step> {
        let scenario = scenario("[[flow]]\nframe_noise = 0.1\n");
        let mut episode = Episode::new(&scenario, seed, 0, Rewards::default()).unwrap();
        let action = Action {
            target_mbps,
            limit,
            pace: 2.5,
        };
        std::iter::from_fn(|| episode.step(action)).collect()
    }

    #[test]
    fn more_than_the_link_carries_costs_more_than_it_is_worth() {
        let sum = |steps: &[Step]| steps.iter().map(|step| step.reward).sum::<f64>();
        let late = |steps: &[Step]| steps.iter().map(|step| step.outcome.late).sum::<u32>();
        let [little, much, too_much] = [5.0, 16.0, 30.0].map(|mbps| played(1, mbps, 1.0));
        assert!(little.len() > 290, "{}", little.len());
        assert_eq!((late(&little), late(&much)), (0, 0));
        assert!(late(&too_much) > 100, "{}", late(&too_much));
        assert!(sum(&too_much) < sum(&little) && sum(&little) < sum(&much));
    }

    #[test]
    fn the_queue_is_seen_and_a_skipped_frame_sends_nothing() {
        let over = played(1, 30.0, 1.0);
        assert!(over[60].observation.queue_delay_ms > 50.0, "{:?}", over[60]);
        assert!(over[60].observation.train_mbps < 21.0);
        let none = played(1, 10.0, 0.0);
        assert!(none.iter().all(|step| step.outcome.frames == 0));
    }

    #[test]
    fn runs_repeat_and_seeds_differ() {
        let [first, again, other] = [3, 3, 4].map(|seed| played(seed, 15.0, 1.0));
        assert!(first == again, "the same seed gives the same steps");
        assert!(first != other, "another seed gives others");
    }

    /// The learner's flow shares a link whose rate falls with a stream of Pudica, so that the oracle's run differs from
    /// the learner's in more than the frames of the one flow.
    #[test]
    fn regret_is_counted_beside_a_run_of_the_oracle() {
        let text = "duration = '6s'\n[link]\nsteps = [{ at = '0s', rate = '20Mbit/s' }, { at = '3s', rate = '8Mbit/s' }]\n\
            [[flow]]\nframe_noise = 0.1\n[[flow]]\ncontroller = 'pudica'\nmax_bitrate = '4Mbit/s'\n";
        let scenario = mimosa_scenario::load(text, "inline", &mut ())
            .unwrap()
            .variants
            .remove(0)
            .1;
        let rewards = Rewards::default();
        let regret = |target_mbps: f64| {
            let mut episode = Episode::beside_oracle(&scenario, 1, 0, rewards).unwrap();
            let action = Action {
                target_mbps,
                limit: 1.0,
                pace: 2.5,
            };
            let steps = std::iter::from_fn(|| episode.step(action));
            let both = steps.map(|step| (step.regret.unwrap(), step.reward));
            both.fold((0.0, 0.0), |sum, step| (sum.0 + step.0, sum.1 + step.1))
        };
        let [little, much, too_much] = [2.0, 3.5, 30.0].map(regret);
        // Whatever the learner does, reward and regret together are the oracle's reward.
        for (regret, reward) in [much, too_much] {
            assert!(
                (regret + reward - little.0 - little.1).abs() < 1e-9,
                "{regret} {reward}"
            );
        }
        assert!(
            too_much.0 > little.0 && little.0 > much.0 && much.0 > 0.0,
            "{little:?} {much:?} {too_much:?}"
        );
        // Whatever controller the scenario names for the flow, the oracle is compared with.
        let named = |controller: &str| {
            let text = text.replacen(
                "[[flow]]\n",
                &format!("[[flow]]\ncontroller = '{controller}'\n"),
                1,
            );
            let mut loaded = mimosa_scenario::load(&text, "inline", &mut ()).unwrap();
            let mut episode =
                Episode::beside_oracle(&loaded.variants.remove(0).1, 1, 0, rewards).unwrap();
            let action = Action {
                target_mbps: 2.0,
                limit: 1.0,
                pace: 2.5,
            };
            let regrets = std::iter::from_fn(|| episode.step(action)?.regret);
            regrets.sum::<f64>()
        };
        for regret in [named("oracle"), named("fixed")] {
            assert!((regret - little.0).abs() < 1e-9, "{regret} {little:?}");
        }
        let alone = Episode::new(&scenario, 1, 0, rewards)
            .unwrap()
            .step(Action {
                target_mbps: 2.0,
                limit: 1.0,
                pace: 1.0,
            });
        assert_eq!(alone.unwrap().regret, None);
    }

    /// No report comes in the moment of a frame here, so that both know the same.
    #[test]
    fn a_policy_sees_what_a_learner_sees() {
        let scenario = scenario("[[flow]]\nfps = 50\nframe_noise = 0.1\n");
        let policy = |seen: &Observation| Action {
            target_mbps: 12.0 + seen.queue_delay_ms / 10.0 - seen.train_mbps / 10.0,
            limit: 1.0,
            pace: 2.0,
        };
        let mut episode = Episode::new(&scenario, 2, 0, Rewards::default()).unwrap();
        let mut learnt = vec![episode.first()];
        while let Some(step) = episode.step(policy(learnt.last().unwrap())) {
            learnt.push(step.observation);
        }
        let limits = episode.limits();
        let told = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&told);
        let mut steered = Some(Steered::new(limits, move |seen: &Observation| {
            kept.lock().unwrap().push(*seen);
            policy(seen)
        }));
        let mut run = Run::with(&scenario, 2, &mut |_| {
            Some(Box::new(steered.take()?) as Box<dyn Controller>)
        });
        run.until(Time::MAX, &mut ());
        run.finish(&mut ());
        let told = told.lock().unwrap();
        assert!(told.len() > 240, "{}", told.len());
        let apart = told
            .iter()
            .zip(&learnt)
            .position(|(one, other)| one != other);
        let both = apart.map(|place| (place, told[place], learnt[place]));
        assert_eq!((both, told.len()), (None, learnt.len()));
    }

    #[test]
    fn only_a_video_flow_is_steered() {
        let scenario = scenario("[[flow]]\nkind = 'cbr'\nrate = '1Mbit/s'\n");
        for flow in [0, 1] {
            let made = Episode::new(&scenario, 1, flow, Rewards::default());
            assert_eq!(made.err(), Some(NoSuchFlow(flow)));
        }
    }
}
