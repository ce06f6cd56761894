//! Why a scenario file was refused. Every problem is a mistake of the file's author.

use mimosa_cc::BuildError;
use mimosa_net::KeyProblem;
use mimosa_stream::pace::PolicyError;
use mimosa_trace::TraceError;
use mimosa_units::{Time, Where, one_line, shortened};

/// Length of the longest message, in characters: room for the mistake and for a list of valid
/// values.
const LONGEST_MESSAGE: usize = 2_000;

/// A mistake in a scenario file, with its place.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{place}: {}", one_line(&problem.to_string(), LONGEST_MESSAGE))]
pub struct ScenarioError {
    /// Place of the mistake.
    pub place: Where,
    /// The mistake.
    pub problem: Problem,
}

/// A mistake in a scenario file. Its message says what to write instead.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file is not TOML, a key is unknown, or a value has the wrong type or unit.
    #[error("{0}")]
    Toml(String),
    /// A key is wrong or missing.
    #[error(transparent)]
    Key(#[from] KeyProblem),
    /// The scenario has no flow.
    #[error("there is no flow; add a `[[flow]]` with `kind = \"video\"`, `\"tcp\"` or `\"cbr\"`")]
    NoFlow,
    /// The link's rate is not stated, or more than once.
    #[error("the link has {found}; give it exactly one of `rate`, `steps` and `trace`")]
    RateNotOnce {
        /// What the file states instead, in words.
        found: &'static str,
    },
    /// The steps of a rate, of a link, a trace or a flow, are not in order or do not begin at zero.
    #[error("the steps must begin with `at = \"0s\"` and go forwards in time")]
    StepsOutOfOrder,
    /// The rate of the link's last step is zero, so that nothing passes after it.
    #[error(
        "the link's rate is zero for ever after its last step, so nothing could pass; end with a rate above zero"
    )]
    EndsInOutage,
    /// A flow stops before it starts, or at the same time.
    #[error("the flow starts at {start} and stops at {stop}; let `stop` be later than `start`")]
    StopsBeforeStart {
        /// When the flow starts.
        start: Time,
        /// When the flow stops.
        stop: Time,
    },
    /// A flow starts when the run is over.
    #[error(
        "the flow starts at {start}, but the run ends at {end}; let it start earlier, or lengthen `duration`"
    )]
    StartsAfterEnd {
        /// When the flow starts.
        start: Time,
        /// When the run ends, which is its duration.
        end: Time,
    },
    /// A file that the scenario names cannot be read, or has no content that can be used.
    #[error(
        "cannot read `{}`: {why}; paths count from the scenario's own folder",
        one_line(path, Where::LONGEST_FILE)
    )]
    Unreadable {
        /// The path in the scenario.
        path: String,
        /// The reason, such as the system's error message.
        why: String,
    },
    /// A trace has an invalid line; the error's place is in the trace.
    #[error("{}", .0.problem)]
    Trace(TraceError),
    /// A list of frame sizes has an invalid line; the error's place is in that list.
    #[error(
        "`{}` is no frame size; write one whole number of bytes above zero a line",
        shortened(text)
    )]
    BadFrameSize {
        /// The text of the line.
        text: String,
    },
    /// The controller cannot be made with this name and these parameters.
    #[error("{0}")]
    Controller(BuildError),
    /// The controller from outside the program does not begin.
    #[error("{0}")]
    Outside(String),
    /// The pacer cannot be made with this name and these parameters.
    #[error("{0}")]
    Pacer(PolicyError),
}
