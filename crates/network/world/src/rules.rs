//! The rules that hold after every step, and what breaks one.

use mimosa_units::{Time, TimeDelta};

/// A rule of the world.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// No frame is decoded that refers to one that the decoder does not have.
    References,
    /// Frames are decoded in their order, and as they were coded.
    Order,
    /// An encoder has one frame at a time, and is asked for none after the session's end.
    OneJob,
    /// A frame on the wire has no more than its grant, if its encoder kept to its budget.
    Budget,
    /// The controller's target stays within its limits.
    Limits,
    /// A keyframe that a player asks for is coded soon, or one was just before.
    KeyframeAnswered,
    /// A player asks for keyframes no more often than it may.
    KeyframeAsked,
    /// Keyframes are coded only at the start, and for a player that has asked for one.
    KeyframeNeeded,
    /// Sound leaves in the moment in which it comes.
    Sound,
    /// Pictures come again soon after the last fault.
    Pictures,
    /// The end of a session is known on both sides soon.
    Ends,
    /// Every datagram arrives, is dropped, is lost, or is on its way.
    Conservation,
    /// Neither side remembers without bound.
    Memory,
    /// Neither side asks to be called again and again at one moment.
    Progress,
    /// Only a player's actions reach the source, each once and in their order.
    Actions,
    /// Each frame's life is told once, in their order.
    Lives,
    /// A player is told how the session stands.
    Statistics,
}

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("seed {seed}, at {at}: the rule {rule:?} is broken: {detail}")]
pub struct Violation {
    /// The seed of the run, which repeats it.
    pub seed: u64,
    /// When it happened.
    pub at: Time,
    /// Which rule.
    pub rule: Rule,
    /// What was seen.
    pub detail: String,
}

/// Longest from the moment in which a wish for a keyframe reaches the host until one is
/// coded, while pictures come: the 300 ms in which one may be under way
/// (`session/host/recovery.rs`), three intervals at 30 frames a second, and coding.
pub(crate) const KEYFRAME_WITHIN: TimeDelta = TimeDelta::from_millis(450);
/// A keyframe that was coded so long ago may be under way (`session/host/recovery.rs`).
pub(crate) const KEYFRAME_UNDERWAY: TimeDelta = TimeDelta::from_millis(310);
/// Least time between a player's wishes for a keyframe (`session/viewer`, 400 ms), less what
/// clocks are called late.
pub(crate) const KEYFRAMES_APART: TimeDelta = TimeDelta::from_millis(390);
/// Longest without a new picture once everything has been calm for that long.
pub(crate) const PICTURES_WITHIN: TimeDelta = TimeDelta::from_millis(2_500);
/// Longest until both sides know of a session's end: the host waits 10 s for a player, and
/// the player for a host; messages take a moment.
pub(crate) const ENDS_WITHIN: TimeDelta = TimeDelta::from_millis(16_000);
/// Most that one side may remember: items of any kind.
pub(crate) const MOST_REMEMBERED: usize = 40_000;
/// Calls at one moment that mean that time does not go on.
pub(crate) const MOST_AT_ONCE: u32 = 10_000;
