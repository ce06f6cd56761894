//! What can go wrong.

use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::Size;

/// Which kind of fault it is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum FaultKind {
    /// Packets are lost one by one.
    Loss,
    /// All packets of a short time are lost.
    Burst,
    /// Packets overtake each other.
    Reordering,
    /// Packets arrive twice.
    Duplication,
    /// Nothing passes for up to several seconds.
    Outage,
    /// The player's address changes, as behind a NAT that has forgotten.
    Rebinding,
    /// The link's rate changes.
    RateChange,
    /// Reports stop coming, and come again.
    FeedbackPause,
    /// The player's program stands still.
    Stall,
    /// The player leaves.
    Close,
    /// The player leaves and comes again.
    Reload,
    /// The player's end sends false reports and messages that make no sense.
    Lie,
    /// The encoder exceeds its budget.
    EncoderOverrun,
    /// The encoder fails for good.
    EncoderFailure,
    /// The source's pictures have another size.
    Resize,
    /// The player's clock jumps.
    ClockStep,
}

impl FaultKind {
    /// All kinds.
    pub const ALL: [Self; 16] = [
        Self::Loss,
        Self::Burst,
        Self::Reordering,
        Self::Duplication,
        Self::Outage,
        Self::Rebinding,
        Self::RateChange,
        Self::FeedbackPause,
        Self::Stall,
        Self::Close,
        Self::Reload,
        Self::Lie,
        Self::EncoderOverrun,
        Self::EncoderFailure,
        Self::Resize,
        Self::ClockStep,
    ];

    /// The name of the kind in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Burst => "burst",
            Self::Reordering => "reordering",
            Self::Duplication => "duplication",
            Self::Outage => "outage",
            Self::Rebinding => "rebinding",
            Self::RateChange => "rate-change",
            Self::FeedbackPause => "feedback-pause",
            Self::Stall => "stall",
            Self::Close => "close",
            Self::Reload => "reload",
            Self::Lie => "lie",
            Self::EncoderOverrun => "encoder-overrun",
            Self::EncoderFailure => "encoder-failure",
            Self::Resize => "resize",
            Self::ClockStep => "clock-step",
        }
    }
}

/// One fault of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// Which kind of fault it is.
    pub kind: FaultKind,
    /// Number of the person whom it meets, in the order of the plan.
    pub person: usize,
    /// When the fault begins.
    pub at: Time,
    /// How long the fault lasts, where it lasts.
    pub lasts: TimeDelta,
    /// Share of packets, or how far an encoder exceeds its budget, by the kind.
    pub strength: f64,
    /// The link's rate from then on, of [`FaultKind::RateChange`].
    pub rate: Rate,
    /// The size of pictures from then on, of [`FaultKind::Resize`].
    pub size: Size,
}

impl Fault {
    /// When the fault is over.
    #[must_use]
    pub fn ends(&self) -> Time {
        self.at + self.lasts
    }
}
