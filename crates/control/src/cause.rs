//! Why a decision is what it is.

/// The rule behind a decision. Names are shared between algorithms where the
/// rule is of one kind, so that recordings can be read side by side.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Cause {
    /// Nothing is known yet.
    Start,
    /// The last change's own feedback has not come back.
    AwaitFeedback,
    /// Use is low: raised by a factor.
    MultiplicativeIncrease,
    /// Use is high: moved by a step towards the fair share.
    FairnessStep,
    /// Use is above one, but not for long: left as it is.
    Overuse,
    /// One frame met a queue: the next one alone is smaller.
    FrameFallback,
    /// The oldest frame is overdue: the next one alone is smaller.
    NextDelayFallback,
    /// Several frames met a queue: below the receiving rate until it is gone.
    Drain,
    /// The queue is gone: to the receiving rate in one step.
    Recover,
    /// No feedback for long: reduced.
    FeedbackTimeout,
    /// The smallest delay has changed for good: it is measured anew.
    PathChange,
    /// The encoder uses much less than it was given: not raised.
    ApplicationLimited,
    /// The configured maximum is reached.
    AtMaximum,
    /// The rate is what the controller was told.
    Told,
    /// The rate is set by configuration alone.
    Fixed,
}

impl Cause {
    /// The name in recordings and statistics.
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
            Self::Told => "told",
            Self::Fixed => "fixed",
        }
    }
}

impl std::fmt::Display for Cause {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
