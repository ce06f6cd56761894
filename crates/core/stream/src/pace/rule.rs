//! Running policies.

use mimosa_facts::{BucketChange, Decision, Event, Pacing};
use mimosa_units::{Bytes, Time};

use crate::pace::ace_n::AceN;
use crate::pace::policy::Policy;
use crate::pace::salsify::Salsify;

/// A running policy: it receives the same events as the controller, and says which pacing applies.
#[derive(Debug)]
pub struct Rule(Kind);

#[derive(Debug)]
enum Kind {
    /// A policy without state.
    Plain(Policy),
    Salsify(Salsify),
    AceN(Box<AceN>),
}

impl Policy {
    /// Makes a running rule of this policy.
    #[must_use]
    pub fn start(self) -> Rule {
        Rule(match self {
            Self::Salsify(config) => Kind::Salsify(Salsify::new(config)),
            Self::AceN(config) => Kind::AceN(Box::new(AceN::new(config))),
            plain => Kind::Plain(plain),
        })
    }
}

impl Rule {
    /// Takes in what happened, and the controller's `decision` after it.
    pub fn handle(&mut self, now: Time, event: &Event<'_>, decision: &Decision) {
        match &mut self.0 {
            Kind::Plain(_) => {}
            Kind::Salsify(salsify) => salsify.handle(event),
            Kind::AceN(ace_n) => ace_n.handle(now, event, decision),
        }
    }

    /// The pacing that applies to `decision` when `waiting` is queued already.
    #[must_use]
    pub fn pacing(&self, decision: &Decision, waiting: Bytes) -> Pacing {
        match &self.0 {
            Kind::Plain(policy) => match policy {
                Policy::Multiple(factor) => Pacing::Bucket {
                    rate: decision.target.scale(*factor),
                    burst: Bytes::ZERO,
                },
                Policy::Rate(rate) => Pacing::Bucket {
                    rate: *rate,
                    burst: Bytes::ZERO,
                },
                Policy::Burst => Pacing::Burst,
                Policy::WebRtc(config) => config.pacing(decision.target, waiting),
                Policy::TokenBucket(config) => config.pacing(decision.target),
                Policy::Scream(config) => config.pacing(decision.target),
                Policy::Controller | Policy::Salsify(_) | Policy::AceN(_) => decision.pacing,
            },
            Kind::Salsify(salsify) => salsify.pacing(),
            Kind::AceN(ace_n) => ace_n.pacing(decision.target),
        }
    }

    /// Whether the depth of the bucket is an amount of data, to be set by
    /// [`Pacer::set_bucket`](crate::pace::Pacer::set_bucket).
    #[must_use]
    pub const fn has_depth(&self) -> bool {
        matches!(self.0, Kind::AceN(_) | Kind::Plain(Policy::TokenBucket(_)))
    }

    /// The last decision about the depth of the bucket; `None` for a rule that does not adapt it.
    #[must_use]
    pub fn bucket(&self) -> Option<BucketChange> {
        match &self.0 {
            Kind::AceN(ace_n) => ace_n.change(),
            Kind::Plain(_) | Kind::Salsify(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use mimosa_units::{Rate, TimeDelta};

    use super::*;

    #[test]
    fn the_controllers_own_wish_passes_through() {
        let mut decision = Decision::starting_at(Rate::from_kbps(1_000));
        decision.pacing = Pacing::Spread {
            over: TimeDelta::from_millis(5),
            lead: 1,
        };
        let rule = Policy::Controller.start();
        assert_eq!(rule.pacing(&decision, Bytes::ZERO), decision.pacing);
        assert_eq!(rule.bucket(), None);
    }

    #[test]
    fn others_take_its_place() {
        let decision = Decision::starting_at(Rate::from_kbps(1_000));
        let bucket = |kbps, burst| Pacing::Bucket {
            rate: Rate::from_kbps(kbps),
            burst: Bytes::new(burst),
        };
        for (name, expected) in [
            ("burst", Pacing::Burst),
            ("2x", bucket(2_000, 0)),
            ("800Mbit/s", bucket(800_000, 0)),
            ("webrtc", bucket(2_500, 1_563)),
            ("token-bucket", bucket(1_250, 12_000)),
            ("scream", bucket(1_500, 0)),
            ("ace-n", bucket(1_000, 0)),
        ] {
            let rule = Policy::from_name(name).unwrap().start();
            assert_eq!(rule.pacing(&decision, Bytes::ZERO), expected, "{name}");
        }
    }
}
