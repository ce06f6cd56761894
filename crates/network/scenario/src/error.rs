//! Why a scenario file was refused. Every variant is the author's to mend.

use mimosa_cc::BuildError;
use mimosa_net::queue::KeyProblem;
use mimosa_stream::pace::PolicyError;
use mimosa_trace::TraceError;
use mimosa_units::{Time, Where, one_line, shortened};

/// Longest message, in characters: room for what is wrong and for a list of what would be right.
const LONGEST_MESSAGE: usize = 2_000;

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
    /// A key that is wrong or is not there.
    #[error(transparent)]
    Key(#[from] KeyProblem),
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
