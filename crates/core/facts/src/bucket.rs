//! What became of the bucket, and why.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// The rule behind the depth of a bucket.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BucketCause {
    /// Nothing is known yet.
    Start,
    /// Nothing has been heard since the last change: left as it is.
    AwaitFeedback,
    /// The queue is short: deeper by a step.
    AdditiveIncrease,
    /// The queue is gone: as deep as it is known to be harmless.
    FastRecovery,
    /// Deeper than the frame before was large: left as it is.
    ApplicationLimited,
    /// The queue is above its threshold: reduced by the excess.
    QueueThreshold,
    /// Packets were lost: halved.
    Loss,
}

impl BucketCause {
    /// The name in recordings.
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

/// A decision about a bucket's depth, with what it saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BucketChange {
    /// When it was made.
    pub at: Time,
    /// The depth from then on.
    pub depth: Bytes,
    /// The rule that set it.
    pub cause: BucketCause,
    /// Delay of the queue that the rule saw; `None` before there was a round trip.
    pub queue_delay: Option<TimeDelta>,
    /// The capacity by which that delay was made an amount; the target before packets have
    /// told it.
    pub capacity: Rate,
    /// That amount.
    pub queue: Option<Bytes>,
}
