//! Why a controller from outside does not begin, or decides no more.

use mimosa_foreign::AnswerError;
use mimosa_units::{TimeDelta, one_line};

/// Longest reason of the system or of the interpreter in a message, in characters.
const LONGEST_WHY: usize = 300;

/// A problem with a controller from outside, and the controller's name.
#[derive(Debug, thiserror::Error)]
#[error("controller `{}`: {problem}", one_line(name, 120))]
pub struct OutsideError {
    /// Name of the controller, as settings and scenarios have it.
    pub name: String,
    /// The problem with it, and what to do instead.
    pub problem: Problem,
}

/// A problem with a controller from outside. Its text says what to do instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The program was built without WebAssembly.
    #[error(
        "this program was built without `wasm`, which this needs; build one with `make all`, or with `cargo build --release -p mimosa-cli --features wasm`"
    )]
    WithoutWasm,
    /// The file of a module cannot be read.
    #[error(
        "cannot read {file}: {}; name a file after `wasm:`",
        one_line(why, LONGEST_WHY)
    )]
    NoFile {
        /// Path of the file.
        file: String,
        /// The system's reason.
        why: String,
    },
    /// The file is too large for a module.
    #[error("{file} has more than {most} MB, and no controller needs that; name a module")]
    Large {
        /// Path of the file.
        file: String,
        /// The most megabytes.
        most: u64,
    },
    /// The file is neither a module nor a component.
    #[error(
        "it is no WebAssembly module or component: {}; build one for `wasm32-unknown-unknown`",
        one_line(why, LONGEST_WHY)
    )]
    NoModule {
        /// The interpreter's reason.
        why: String,
    },
    /// The module or the component asks for something from outside.
    #[error(
        "it imports `{}`, and a controller is given nothing: no clock, no files, no randomness; build it without, for `wasm32-unknown-unknown`",
        one_line(name, LONGEST_WHY)
    )]
    Import {
        /// Name of the import, after that of its module.
        name: String,
    },
    /// The component is more than one module in an envelope.
    #[error(
        "the component {why}; make one of one module that imports nothing, by `wasm-tools component new`"
    )]
    Envelope {
        /// What the component has or does besides, after the words "the component".
        why: &'static str,
    },
    /// The module or the component lacks an export.
    #[error("it has no export `{name}` of the type {is}; export it")]
    Export {
        /// Name of the export.
        name: &'static str,
        /// Its type.
        is: &'static str,
    },
    /// The module does not begin, as when its first memory is above the bound.
    #[error(
        "the module does not begin: {}; raise `bounds` or mend it",
        one_line(why, LONGEST_WHY)
    )]
    Begin {
        /// The interpreter's reason.
        why: String,
    },
    /// A call took more fuel than there is for a line.
    #[error(
        "line {seq} took more fuel than `bounds.fuel` = {fuel}; raise the bound, or do less for a line"
    )]
    Fuel {
        /// Number of the line.
        seq: u64,
        /// The bound.
        fuel: u64,
    },
    /// A call has ended in a trap.
    #[error(
        "line {seq} ended in a trap: {}; mend the module, or raise `bounds.memory` if it ran out of memory",
        one_line(why, LONGEST_WHY)
    )]
    Trap {
        /// Number of the line.
        seq: u64,
        /// The interpreter's reason.
        why: String,
    },
    /// A pointer of the module is not in its memory.
    #[error(
        "line {seq}: {what} from {at} with {length} bytes is not within the module's memory; return places that are"
    )]
    Memory {
        /// Number of the line.
        seq: u64,
        /// Whose pointer it is.
        what: &'static str,
        /// Where it begins.
        at: u64,
        /// Its length in bytes.
        length: u64,
    },
    /// The bounds cannot be used.
    #[error(
        "{0}; a process has `bounds` with `start`, `answer` and `wait`, a module with `fuel` and `memory`"
    )]
    Bounds(String),
    /// There is no command.
    #[error("there is no command; write e.g. `process:python3 controller.py`")]
    NoCommand,
    /// A quote does not end.
    #[error("a quote {0} does not end; close it")]
    Quote(char),
    /// The process cannot be started.
    #[error("cannot start `{program}`: {why}; name a program that is installed, or write its path")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        why: std::io::Error,
    },
    /// The process has ended.
    #[error(
        "the process ended ({how}) and did not answer line {seq}; it must answer until its input ends, and what it said stands on standard error"
    )]
    Ended {
        /// Number of the line.
        seq: u64,
        /// How the process ended.
        how: String,
    },
    /// The process does not answer.
    #[error(
        "no answer to line {seq} came within `bounds.{bound}` = {within}; write a line for each and flush it, or raise the bound"
    )]
    Silent {
        /// Number of the line.
        seq: u64,
        /// Name of the bound.
        bound: &'static str,
        /// The bound.
        within: TimeDelta,
    },
    /// The pipe does not work.
    #[error("the pipe to the process fails: {0}; start again")]
    Pipe(std::io::Error),
    /// The answer cannot be used.
    #[error(transparent)]
    Answer(#[from] AnswerError),
}
