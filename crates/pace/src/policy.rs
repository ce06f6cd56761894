//! Which pacing applies: the controller's own, or one put in its place.

use mimosa_control::{Decision, Pacing};
use mimosa_units::{Bytes, Rate, TimeDelta};

/// libwebrtc's pacing factor: packets leave at this multiple of the target
/// (`PacingController`, `kDefaultPaceMultiplier`).
const WEBRTC_FACTOR: f64 = 2.5;
/// libwebrtc's leaky bucket is drained in steps of this length, so what passes
/// in one step may leave at once (`PacingController`, `kMinSleepTime`).
const WEBRTC_STEP: TimeDelta = TimeDelta::from_millis(5);
/// libwebrtc raises the rate so that no queue lasts longer than this
/// (`PacingController`, `kMaxExpectedQueueLength`).
const WEBRTC_LONGEST_QUEUE: TimeDelta = TimeDelta::from_millis(2_000);

/// The rule that picks the pacing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Policy {
    /// As the controller wishes; Pudica's adaptive multiplier comes this way.
    #[default]
    Controller,
    /// Every packet spaced at this multiple of the target bitrate.
    Multiple(f64),
    /// The leaky bucket of libwebrtc: 2.5 times the target, in steps of 5 ms,
    /// faster when the queue would last longer than 2 s.
    WebRtc,
    /// Everything at once.
    Burst,
}

impl Policy {
    /// The pacing that applies to `decision` when `waiting` is queued already.
    #[must_use]
    pub fn pacing(self, decision: &Decision, waiting: Bytes) -> Pacing {
        match self {
            Self::Controller => decision.pacing,
            Self::Burst => Pacing::Burst,
            Self::Multiple(factor) => Pacing::Bucket {
                rate: decision.target.scale(factor),
                burst: Bytes::ZERO,
            },
            Self::WebRtc => {
                let in_time = Rate::of(waiting, WEBRTC_LONGEST_QUEUE);
                let rate = decision.target.scale(WEBRTC_FACTOR).max(in_time);
                Pacing::Bucket {
                    rate,
                    burst: rate.amount_in(WEBRTC_STEP),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_queue_raises_the_webrtc_rate() {
        let decision = Decision::starting_at(Rate::from_kbps(1_000));
        let rate = |waiting| match Policy::WebRtc.pacing(&decision, Bytes::new(waiting)) {
            Pacing::Bucket { rate, .. } => rate,
            other => panic!("{other:?}"),
        };
        assert_eq!(rate(0), Rate::from_kbps(2_500));
        assert_eq!(rate(1_000_000), Rate::from_kbps(4_000), "8 Mbit in 2 s");
    }

    #[test]
    fn the_controllers_own_wish_passes_through() {
        let mut decision = Decision::starting_at(Rate::from_kbps(1_000));
        decision.pacing = Pacing::Spread {
            over: TimeDelta::from_millis(5),
        };
        assert_eq!(
            Policy::Controller.pacing(&decision, Bytes::ZERO),
            decision.pacing
        );
    }
}
