//! The rules that are checked after every step.

use mimosa_units::{Time, TimeDelta};

/// A rule.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Rule {
    /// No frame is decoded whose reference the decoder does not have.
    References,
    /// Frames are decoded in order, with the bytes that were encoded.
    Order,
    /// An encoder has one job at a time, and none after the session's end.
    OneJob,
    /// A frame on the wire is not larger than its grant, if its encoder kept the budget.
    Budget,
    /// The controller's target stays within its limits.
    Limits,
    /// A keyframe that a player asks for is coded soon, unless one was coded just before.
    KeyframeAnswered,
    /// A player does not ask for keyframes more often than allowed.
    KeyframeAsked,
    /// Keyframes are coded only at the start, and for a player that has asked for one.
    KeyframeNeeded,
    /// Sound leaves at the moment at which it comes from the source.
    Sound,
    /// Pictures are displayed again soon after the last fault.
    Pictures,
    /// Both ends learn of the end of a session soon.
    Ends,
    /// A player whose session the host ends learns why, in the host's words.
    Told,
    /// Every datagram arrives, is dropped, is lost, or is on its way.
    Conservation,
    /// The memory of both ends is bounded.
    Memory,
    /// Time advances: no end asks without limit to be called again at the same moment.
    Progress,
    /// Only a player's actions reach the source, each once and in order.
    Actions,
    /// Each frame's life is reported once, in the order of frames.
    Lives,
    /// A player receives the session's statistics.
    Statistics,
}

/// A rule that was broken.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("seed {seed}, at {at}: the rule {rule:?} is broken: {detail}")]
pub struct Violation {
    /// The seed of the run, which repeats it.
    pub seed: u64,
    /// When the rule was broken.
    pub at: Time,
    /// The rule.
    pub rule: Rule,
    /// What was observed.
    pub detail: String,
}

/// Longest time from a request for a keyframe, at its arrival at the host, until one is coded,
/// while pictures come: the 300 ms in which an earlier one may be on its way
/// (`session/host/recovery.rs`), three intervals at 30 frames a second, and encoding.
pub(crate) const KEYFRAME_WITHIN: TimeDelta = TimeDelta::from_millis(450);
/// Time after its encoding for which a keyframe may be on its way (`session/host/recovery.rs`).
pub(crate) const KEYFRAME_UNDERWAY: TimeDelta = TimeDelta::from_millis(310);
/// Least time between a player's requests for a keyframe: 400 ms (`session/viewer`), less the delay
/// with which timers may be called.
pub(crate) const KEYFRAMES_APART: TimeDelta = TimeDelta::from_millis(390);
/// Longest time without a new picture, once there has been no fault for as long.
pub(crate) const PICTURES_WITHIN: TimeDelta = TimeDelta::from_millis(2_500);
/// Longest time until a session has connected or is over: the host waits for 15 s
/// (`session/host/mod.rs`), and looks at its timers within a moment.
pub(crate) const BEGINS_WITHIN: TimeDelta = TimeDelta::from_millis(15_100);
/// Longest time until both ends know that a session has ended: host and player wait 10 s for each
/// other, and messages take time.
pub(crate) const ENDS_WITHIN: TimeDelta = TimeDelta::from_millis(16_000);
/// Most items of any kind that one end may hold.
pub(crate) const MOST_REMEMBERED: usize = 40_000;
/// Number of calls at one moment from which time counts as stopped.
pub(crate) const MOST_AT_ONCE: u32 = 10_000;
