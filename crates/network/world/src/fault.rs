//! The faults that can happen in a world.

use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::Size;

/// A kind of fault.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum FaultKind {
    /// Single packets are lost.
    Loss,
    /// All packets of a short time are lost.
    Burst,
    /// Packets overtake each other.
    Reordering,
    /// Packets arrive twice.
    Duplication,
    /// Nothing passes for up to several seconds.
    Outage,
    /// The player's address changes, as after a NAT has forgotten it.
    Rebinding,
    /// The link's rate changes.
    RateChange,
    /// Reports stop coming, and come again.
    FeedbackPause,
    /// The player's program is stalled.
    Stall,
    /// The player leaves.
    Close,
    /// The player leaves and returns.
    Reload,
    /// The host ends the session, as when its game ends.
    Dismissal,
    /// The player's end sends false reports and malformed messages.
    Lie,
    /// The encoder exceeds its budget.
    EncoderOverrun,
    /// The encoder fails for good.
    EncoderFailure,
    /// The source's pictures change their size.
    Resize,
    /// The player's clock jumps.
    ClockStep,
    /// The encoder takes longer, as when other programs have the processor. No seed draws it.
    SlowEncoder,
    /// The viewer's decoder takes longer. No seed draws it.
    SlowDecoder,
    /// The player asks for a test of the line, which is no fault and is not drawn: it stops the pictures
    /// and fills the link.
    LineTest,
    /// The player asks for at most a rate, which is no fault and is not drawn.
    Limit,
}

impl FaultKind {
    /// The kinds that seeds draw.
    pub const ALL: [Self; 17] = [
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
        Self::Dismissal,
        Self::Lie,
        Self::EncoderOverrun,
        Self::EncoderFailure,
        Self::Resize,
        Self::ClockStep,
    ];

    /// Name of the kind in reports.
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
            Self::Dismissal => "dismissal",
            Self::Lie => "lie",
            Self::EncoderOverrun => "encoder-overrun",
            Self::EncoderFailure => "encoder-failure",
            Self::Resize => "resize",
            Self::ClockStep => "clock-step",
            Self::SlowEncoder => "slow-encoder",
            Self::SlowDecoder => "slow-decoder",
            Self::LineTest => "line-test",
            Self::Limit => "limit",
        }
    }
}

/// A fault in a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// Number of the person affected, in the order of the plan.
    pub person: usize,
    /// When the fault begins.
    pub at: Time,
    /// How long the fault lasts; zero for a fault that happens at once.
    pub lasts: TimeDelta,
    /// Share of packets affected, from 0 to 1, or the factor by which an encoder exceeds its
    /// budget or something takes longer, depending on the kind.
    pub strength: f64,
    /// For [`FaultKind::RateChange`], the link's rate from then on; for [`FaultKind::Limit`], what is
    /// asked for.
    pub rate: Rate,
    /// For [`FaultKind::Resize`], the size of pictures from then on.
    pub size: Size,
}

impl Fault {
    /// When the fault is over.
    #[must_use]
    pub fn ends(&self) -> Time {
        self.at + self.lasts
    }
}
