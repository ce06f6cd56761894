//! Why a scenario file was refused. Every variant is the author's to mend.

use mimosa_cc::BuildError;
use mimosa_stream::pace::PolicyError;
use mimosa_trace::TraceError;
use mimosa_units::{Bytes, Rate, Time, TimeDelta, Where, one_line, shortened};

/// Longest message, in characters: room for what is wrong and for a list of what would be right.
const LONGEST_MESSAGE: usize = 2_000;
/// Longest name of a flow, a class or a variant, in characters: a table has a column for each.
pub(super) const LONGEST_NAME: usize = 64;

/// What is wrong with a scenario file, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {}", one_line(&problem.to_string(), LONGEST_MESSAGE))]
pub struct ScenarioError {
    /// Where.
    pub place: Where,
    /// What.
    pub problem: Problem,
}

/// What is wrong, and what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// Not TOML, an unknown key, or a value of the wrong type or unit.
    #[error("{0}")]
    Toml(String),
    /// Nobody sends.
    #[error("there is no flow; add a `[[flow]]` with `kind = \"video\"`, `\"tcp\"` or `\"cbr\"`")]
    NoFlow,
    /// The link's rate is stated not once.
    #[error("the link has {found}; give it exactly one of `rate`, `steps` and `trace`")]
    RateNotOnce {
        /// What it has.
        found: &'static str,
    },
    /// Steps that are no schedule.
    #[error("the steps must begin with `at = \"0s\"` and go forwards in time")]
    StepsOutOfOrder,
    /// A link that never carries anything.
    #[error(
        "the link's rate is zero for ever after its last step, so nothing could pass; end with a rate above zero"
    )]
    EndsInOutage,
    /// A queue that cannot hold a packet.
    #[error(
        "the queue holds {limit}, less than one packet of {packet}, so nothing would pass; raise `limit` to {packet} or more"
    )]
    QueueBelowPacket {
        /// What it holds.
        limit: Bytes,
        /// The largest packet of the scenario.
        packet: Bytes,
    },
    /// A queue that cannot hold a packet at the link's rate.
    #[error(
        "a queue of {limit} at {rate} holds less than one packet of {packet}, so nothing would pass; raise `limit` to {needs} or more"
    )]
    QueueTimeBelowPacket {
        /// What it holds.
        limit: TimeDelta,
        /// The link's lowest rate above zero.
        rate: Rate,
        /// The largest packet of the scenario.
        packet: Bytes,
        /// What would be enough.
        needs: TimeDelta,
    },
    /// A limit that is none.
    #[error(
        "`{}` is no limit of a queue; write a size \"500kB\", a time \"300ms\", or a number \"250packets\"",
        shortened(text)
    )]
    BadLimit {
        /// The text as it stood.
        text: String,
    },
    /// A name that nothing has.
    #[error("there is no {what} `{}`; there is {known}", shortened(name))]
    UnknownName {
        /// What was named.
        what: &'static str,
        /// The name.
        name: String,
        /// The names that exist.
        known: &'static str,
    },
    /// A key that means nothing for this kind.
    #[error("`{key}` means nothing for {kind}; remove it")]
    KeyNotFor {
        /// The key.
        key: &'static str,
        /// What it was given to.
        kind: &'static str,
    },
    /// A key that means nothing for this kind of queue.
    #[error(
        "`{key}` means nothing for a queue of kind \"{}\", which has {known}",
        shortened(queue)
    )]
    KeyNotForQueue {
        /// The key.
        key: &'static str,
        /// The kind.
        queue: String,
        /// The keys that it has.
        known: String,
    },
    /// A class that nobody has described.
    #[error("there is no class `{}`; there is {known}", shortened(name))]
    UnknownClass {
        /// What was named.
        name: String,
        /// The classes that exist.
        known: String,
    },
    /// A flow that nobody has described.
    #[error("there is no flow `{}`; there is {known}", shortened(name))]
    UnknownFlow {
        /// What was named.
        name: String,
        /// The flows that exist.
        known: String,
    },
    /// Classes that are no tree.
    #[error("{0}")]
    Classes(String),
    /// A key that must be there.
    #[error("`{key}` is missing; {mend}")]
    Missing {
        /// The key.
        key: &'static str,
        /// What to write.
        mend: &'static str,
    },
    /// Two keys that exclude each other.
    #[error("`{one}` and `{other}` exclude each other; keep one")]
    Exclusive {
        /// One of them.
        one: &'static str,
        /// The other.
        other: &'static str,
    },
    /// A number outside its range.
    #[error("`{key}` must be {must}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// What it must be.
        must: &'static str,
    },
    /// A flow that ends before it begins.
    #[error("the flow stops at {stop}, before it starts at {start}; let `stop` be later")]
    StopsBeforeStart {
        /// When it starts.
        start: Time,
        /// When it stops.
        stop: Time,
    },
    /// A flow that begins when all is over.
    #[error(
        "the flow starts at {start}, but the run ends at {end}; let it start earlier, or lengthen `duration`"
    )]
    StartsAfterEnd {
        /// When it starts.
        start: Time,
        /// When the run ends.
        end: Time,
    },
    /// Two flows or two variants of one name.
    #[error("the name `{}` is taken; give each its own", shortened(name))]
    NameTaken {
        /// The name.
        name: String,
    },
    /// A name that no table has room for, or that a terminal would obey.
    #[error(
        "`{}` cannot be a name; write up to {LONGEST_NAME} characters on one line, without control characters",
        shortened(name)
    )]
    BadName {
        /// The name.
        name: String,
    },
    /// A file that the scenario names cannot be read.
    #[error(
        "cannot read `{}`: {why}; paths count from the scenario's own folder",
        one_line(path, Where::LONGEST_FILE)
    )]
    Unreadable {
        /// The path as it stood.
        path: String,
        /// The system's word.
        why: String,
    },
    /// A trace with a broken line; the place is in the trace.
    #[error("{}", .0.problem)]
    Trace(TraceError),
    /// A list of frame sizes with a broken line; the place is in that list.
    #[error(
        "`{}` is no frame size; write one whole number of bytes above zero a line",
        shortened(text)
    )]
    BadFrameSize {
        /// The line as it stood.
        text: String,
    },
    /// The controller cannot be made.
    #[error("{0}")]
    Controller(BuildError),
    /// The pacer cannot be made.
    #[error("{0}")]
    Pacer(PolicyError),
}
