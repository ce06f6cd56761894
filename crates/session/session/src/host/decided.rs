//! The controller's decision and its evidence, in the form in which the statistics carry them to
//! the page.

use mimosa_facts::{Cause, Decision, Pacing};
use mimosa_protocol::control::{BitsPerSecond, Decided, Millis, Pacing as Kind};
use mimosa_units::{Bytes, Rate};

/// The page's form of `decision`, with the pacing in force.
pub(super) fn decided(decision: &Decision, pacing: Pacing) -> Decided {
    let evidence = decision.evidence;
    let plain = Decided {
        reason: Some(decision.cause.in_words().to_owned()),
        smoothed_utilisation: evidence.smoothed_utilization,
        service_rate: evidence.service_rate.and_then(limited),
        backlog: evidence.backlog.map(Bytes::get),
        queue_delay: evidence.queue_delay.map(Millis),
        frame_limit: decision.frame_limit.map(Bytes::get),
        window: decision.window.map(Bytes::get),
        ..Decided::default()
    };
    match pacing {
        Pacing::Burst => Decided {
            pacing: Some(Kind::Burst),
            ..plain
        },
        Pacing::Spread { over, .. } => Decided {
            pacing: Some(Kind::Spread),
            pace_span: Some(Millis(over)),
            ..plain
        },
        Pacing::Bucket { rate, burst } => Decided {
            pacing: Some(Kind::Bucket),
            pace_rate: limited(rate),
            pace_burst: Some(burst.get()),
            ..plain
        },
    }
}

/// The rate as a figure for the page; `None` for [`Rate::MAX`], which means no limit.
fn limited(rate: Rate) -> Option<BitsPerSecond> {
    (rate < Rate::MAX).then_some(BitsPerSecond(rate))
}

/// One word for the kind of situation that a cause belongs to.
pub(super) const fn state(cause: Cause) -> &'static str {
    match cause {
        Cause::Start => "start",
        Cause::MultiplicativeIncrease | Cause::Recover => "increase",
        Cause::FrameFallback | Cause::NextDelayFallback => "fallback",
        Cause::Drain => "drain",
        Cause::FeedbackTimeout => "silence",
        Cause::PathChange => "path change",
        Cause::ApplicationLimited | Cause::AtMaximum | Cause::Fixed => "limited",
        _ => "steady",
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Evidence;
    use mimosa_units::TimeDelta;

    use super::*;

    const MS: TimeDelta = TimeDelta::from_millis(1);
    const TARGET: Rate = Rate::from_kbps(8_000);

    #[test]
    fn a_decision_is_told_with_its_evidence() {
        let decision = Decision {
            frame_limit: Some(Bytes::new(9_000)),
            window: Some(Bytes::new(60_000)),
            cause: Cause::AboveQueueTarget,
            evidence: Evidence {
                utilization: Some(1.1),
                smoothed_utilization: Some(0.9),
                service_rate: Some(Rate::from_kbps(12_000)),
                backlog: Some(Bytes::new(3_000)),
                queue_delay: Some(MS * 2),
            },
            ..Decision::starting_at(TARGET)
        };
        let expected = Decided {
            reason: Some("the link's queue is above its target: less".to_owned()),
            smoothed_utilisation: Some(0.9),
            service_rate: Some(BitsPerSecond(Rate::from_kbps(12_000))),
            backlog: Some(3_000),
            queue_delay: Some(Millis(MS * 2)),
            frame_limit: Some(9_000),
            window: Some(60_000),
            pacing: Some(Kind::Spread),
            pace_span: Some(Millis(MS * 12)),
            pace_rate: None,
            pace_burst: None,
        };
        let spread = Pacing::Spread {
            over: MS * 12,
            lead: 1,
        };
        assert_eq!(decided(&decision, spread), expected);
    }

    #[test]
    fn what_a_controller_does_not_say_is_not_told() {
        let decision = Decision::starting_at(TARGET);
        let expected = Decided {
            reason: Some(Cause::Start.in_words().to_owned()),
            pacing: Some(Kind::Burst),
            ..Decided::default()
        };
        assert_eq!(decided(&decision, Pacing::Burst), expected);
    }

    #[test]
    fn a_rate_without_limit_is_no_figure() {
        let bucket = |rate| Pacing::Bucket {
            rate,
            burst: Bytes::new(2_400),
        };
        let decision = Decision::starting_at(TARGET);
        let told = |rate| decided(&decision, bucket(rate));
        assert_eq!(told(TARGET).pace_rate, Some(BitsPerSecond(TARGET)));
        assert_eq!(told(TARGET).pace_burst, Some(2_400));
        assert_eq!(told(Rate::MAX).pace_rate, None);
    }
}
