//! The causes of decisions.

/// The rule behind a decision. Algorithms share the name of a rule of the same kind, so that
/// recordings of different algorithms can be compared.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// Nothing is known yet: the starting rate.
    Start,
    /// Feedback about the last change has not come yet: unchanged.
    AwaitFeedback,
    /// Utilisation is low: raised by a factor.
    MultiplicativeIncrease,
    /// Utilisation is high: moved by a step towards the fair share.
    FairnessStep,
    /// Utilisation is above one, but not for long: unchanged.
    Overuse,
    /// One frame met a queue: only the next one is smaller.
    FrameFallback,
    /// The oldest frame is overdue: only the next one is smaller.
    NextDelayFallback,
    /// A queue has built up: below the receiving rate until the queue is gone.
    Drain,
    /// The queue is gone: set to the receiving rate in one step.
    Recover,
    /// Feedback has not come for long: reduced.
    FeedbackTimeout,
    /// The smallest delay has changed lastingly: measured again.
    PathChange,
    /// The encoder uses much less than allowed: not raised.
    ApplicationLimited,
    /// The configured maximum is reached: not raised.
    AtMaximum,
    /// No queue has shown yet: raised with every acknowledgement.
    SlowStart,
    /// Above the estimate of the path's capacity, to find out whether the path carries more.
    Probing,
    /// Little in flight for a while, to measure the path's delay without a queue.
    ProbeRtt,
    /// The queue is shorter than the algorithm aims at: raised.
    BelowQueueTarget,
    /// The queue is longer than the algorithm aims at: lowered.
    AboveQueueTarget,
    /// Moved towards the estimate of the path's capacity.
    TowardsEstimate,
    /// As much as arrives within the delay budget, by the estimate of the path's capacity.
    DelayBudget,
    /// Set to the rate that the controller was told.
    Told,
    /// Packets were lost: reduced.
    Loss,
    /// Packets were marked as having met congestion (ECN): reduced.
    Marked,
    /// The queueing delay is above its target: reduced.
    QueueDelay,
    /// No sign of congestion: raised by a step.
    AdditiveIncrease,
    /// Changed in proportion to the congestion signal's distance from its target, and to the
    /// signal's change.
    GradualUpdate,
    /// There is no reason for a change: unchanged.
    Hold,
    /// Lower rates did better: lowered by a step.
    StepBack,
    /// More is in flight than the path holds: lowered by a factor.
    MultiplicativeDecrease,
    /// The delay rises: set below the receiving rate.
    DelayTrend,
    /// Other flows fill the queue: moved towards the share of it that losses allow.
    Competing,
    /// A probe has measured the link's rate: set to it.
    ProbeResult,
    /// The rate is set by configuration alone.
    Fixed,
    /// A controller outside the program set the rate, and gave no rule that has a name here.
    External,
}

impl Cause {
    /// Every cause, in the order of their definitions.
    pub const ALL: [Self; 34] = [
        Self::Start,
        Self::AwaitFeedback,
        Self::MultiplicativeIncrease,
        Self::FairnessStep,
        Self::Overuse,
        Self::FrameFallback,
        Self::NextDelayFallback,
        Self::Drain,
        Self::Recover,
        Self::FeedbackTimeout,
        Self::PathChange,
        Self::ApplicationLimited,
        Self::AtMaximum,
        Self::SlowStart,
        Self::Probing,
        Self::ProbeRtt,
        Self::BelowQueueTarget,
        Self::AboveQueueTarget,
        Self::TowardsEstimate,
        Self::DelayBudget,
        Self::Told,
        Self::Loss,
        Self::Marked,
        Self::QueueDelay,
        Self::AdditiveIncrease,
        Self::GradualUpdate,
        Self::Hold,
        Self::StepBack,
        Self::MultiplicativeDecrease,
        Self::DelayTrend,
        Self::Competing,
        Self::ProbeResult,
        Self::Fixed,
        Self::External,
    ];

    /// The cause with this name, as [`Self::as_str`] gives it; `None` if there is none.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == name)
    }

    /// The cause's name in recordings and statistics.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::AwaitFeedback => "await-feedback",
            Self::MultiplicativeIncrease => "multiplicative-increase",
            Self::FairnessStep => "fairness-step",
            Self::Overuse => "overuse",
            Self::FrameFallback => "frame-fallback",
            Self::NextDelayFallback => "next-delay-fallback",
            Self::Drain => "drain",
            Self::Recover => "recover",
            Self::FeedbackTimeout => "feedback-timeout",
            Self::PathChange => "path-change",
            Self::ApplicationLimited => "application-limited",
            Self::AtMaximum => "at-maximum",
            Self::SlowStart => "slow-start",
            Self::Probing => "probing",
            Self::ProbeRtt => "probe-rtt",
            Self::BelowQueueTarget => "below-queue-target",
            Self::AboveQueueTarget => "above-queue-target",
            Self::TowardsEstimate => "towards-estimate",
            Self::DelayBudget => "delay-budget",
            Self::Told => "told",
            Self::Loss => "loss",
            Self::Marked => "marked",
            Self::QueueDelay => "queue-delay",
            Self::AdditiveIncrease => "additive-increase",
            Self::GradualUpdate => "gradual-update",
            Self::Hold => "hold",
            Self::StepBack => "step-back",
            Self::MultiplicativeDecrease => "multiplicative-decrease",
            Self::DelayTrend => "delay-trend",
            Self::Competing => "competing",
            Self::ProbeResult => "probe-result",
            Self::Fixed => "fixed",
            Self::External => "external",
        }
    }

    /// The cause as a clause for people: what was observed, and what was done.
    #[must_use]
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Start => "nothing is known of the link yet: the rate to begin with",
            Self::AwaitFeedback => "the last change has not been answered yet: left as it is",
            Self::MultiplicativeIncrease => "the link has room: more, by a factor",
            Self::FairnessStep => "the link is well used: a step towards the fair share",
            Self::Overuse => "the link is overused, but not for long: left as it is",
            Self::FrameFallback => "a frame met a queue: the next one alone is smaller",
            Self::NextDelayFallback => "the oldest frame is overdue: the next one alone is smaller",
            Self::Drain => "a queue has built up: less than arrives until it is gone",
            Self::Recover => "the queue is gone: back to the rate that arrives",
            Self::FeedbackTimeout => "nothing has been heard for long: less",
            Self::PathChange => "the path's smallest delay has changed: it is measured anew",
            Self::ApplicationLimited => "the encoder uses much less than it may: not raised",
            Self::AtMaximum => "the configured maximum is reached: no more",
            Self::SlowStart => "no queue has shown yet: more with every answer",
            Self::Probing => "above the estimate, to learn whether the link carries more",
            Self::ProbeRtt => "little in flight for a while, to learn the delay without a queue",
            Self::BelowQueueTarget => "the link's queue is below its target: more",
            Self::AboveQueueTarget => "the link's queue is above its target: less",
            Self::TowardsEstimate => "towards what the link is estimated to carry",
            Self::DelayBudget => "as much as arrives within the delay allowed",
            Self::Told => "the rate that the controller was told",
            Self::Loss => "packets were lost: less",
            Self::Marked => "packets were marked in a queue: less",
            Self::QueueDelay => "the queueing delay is above its target: less",
            Self::AdditiveIncrease => "no sign of congestion: more, by a step",
            Self::GradualUpdate => "moved by how far the congestion signal is from its target",
            Self::Hold => "nothing speaks for a change: left as it is",
            Self::StepBack => "lower rates have done better: less, by a step",
            Self::MultiplicativeDecrease => "more in flight than the path holds: less, by a factor",
            Self::DelayTrend => "the delay rises: less than arrives",
            Self::Competing => "others fill the queue: towards the part that losses leave",
            Self::ProbeResult => "a probe has found what the link carries: set to it",
            Self::Fixed => "the rate is set by configuration alone",
            Self::External => "a controller outside the program has set the rate",
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// All names of causes in this file's source are in the list.
    #[test]
    fn every_cause_is_in_the_list() {
        let source = include_str!("cause.rs");
        let (names, _words) = source.split_once("fn in_words").unwrap();
        let names: Vec<_> = names
            .lines()
            .filter_map(|line| line.split_once("=> \"")?.1.split_once('"'))
            .map(|(name, _)| name)
            .collect();
        assert_eq!(Cause::ALL.map(Cause::as_str)[..], names[..]);
    }

    #[test]
    fn every_cause_has_words_of_its_own() {
        let words: BTreeSet<_> = Cause::ALL.into_iter().map(Cause::in_words).collect();
        assert_eq!(words.len(), Cause::ALL.len());
    }
}
