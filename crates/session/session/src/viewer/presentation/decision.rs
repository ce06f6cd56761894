//! [`Decision`]: what is shown at a refresh, and why.

use mimosa_units::Time;

/// Why a picture is shown, or the last one repeated.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum Cause {
    /// Shown: the display's refresh is unknown, so that nothing is waited for.
    AtOnce,
    /// Shown: the newest picture, on a display that is slower than the stream.
    Newest,
    /// Shown: it is due.
    Due,
    /// Shown: it is due, and the newer one that has only just become due is left to the next refresh.
    Kept,
    /// Repeated: no picture is ready.
    NothingReady,
    /// Repeated: the picture that is ready is held for the next refresh.
    Held,
}

/// Why a picture is never shown.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum DropCause {
    /// A newer one was due.
    NewerDue,
    /// It would have been held for two refreshes.
    HeldTooLong,
    /// More pictures came at once than can wait.
    TooMany,
}

/// What to show at a refresh.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Decision {
    /// The refresh; `None` where it is unknown.
    pub refresh: Option<Time>,
    /// The number of the picture to show; `None` to repeat the last one, for which nothing needs to be
    /// drawn.
    pub show: Option<u64>,
    /// Why.
    pub cause: Cause,
    /// Pictures that are never shown, and why, in order.
    pub dropped: Vec<(u64, DropCause)>,
}

/// What was decided, counted.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PresentationCounts {
    /// Pictures shown.
    pub shown: u64,
    /// Refreshes that repeat a picture because none was ready.
    pub repeated: u64,
    /// Refreshes that repeat a picture because the next one was held.
    pub held: u64,
    /// Pictures that are never shown.
    pub dropped: u64,
}
