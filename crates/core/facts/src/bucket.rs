//! Changes of a token bucket's depth, and their causes.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// The rule that set the depth of a bucket.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BucketCause {
    /// Nothing is known yet: the initial depth.
    Start,
    /// No feedback has come since the last change: unchanged.
    AwaitFeedback,
    /// The queue is short: increased by a step.
    AdditiveIncrease,
    /// The queue is gone: set to the depth that is known to be harmless.
    FastRecovery,
    /// The depth is more than the size of the frame before: unchanged.
    ApplicationLimited,
    /// The queue is above its threshold: reduced by the excess.
    QueueThreshold,
    /// Packets were lost: halved.
    Loss,
}

impl BucketCause {
    /// The rule's name in recordings.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::AwaitFeedback => "await-feedback",
            Self::AdditiveIncrease => "additive-increase",
            Self::FastRecovery => "fast-recovery",
            Self::ApplicationLimited => "application-limited",
            Self::QueueThreshold => "queue-threshold",
            Self::Loss => "loss",
        }
    }
}

/// A decision about a bucket's depth, with the measurements behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BucketChange {
    /// When the depth was set.
    pub at: Time,
    /// The depth from then on.
    pub depth: Bytes,
    /// The rule that set the depth.
    pub cause: BucketCause,
    /// Queueing delay that the rule used; `None` before the first round trip.
    pub queue_delay: Option<TimeDelta>,
    /// Capacity by which the delay was converted to bytes; the target while no capacity has been
    /// measured.
    pub capacity: Rate,
    /// Bytes in the queue, from the delay and the capacity.
    pub queue: Option<Bytes>,
}
