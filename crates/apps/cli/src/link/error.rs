//! Errors of `mimosa link`.

use std::path::PathBuf;

use mimosa_link::LinkError;
use mimosa_record::RecordError;
use mimosa_scenario::ScenarioError;

use crate::output::OutputError;
use crate::text::TextError;

/// Why `mimosa link` failed. Each error says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The scenario file cannot be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// The scenario file is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The file has several variants, and none was chosen.
    #[error("{} has the variants {known}; choose one with --variant", path.display())]
    WhichVariant { path: PathBuf, known: String },
    /// The file has no such variant.
    #[error("{} has no variant `{name}`; {known}", path.display())]
    NoVariant {
        path: PathBuf,
        name: String,
        known: String,
    },
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The name cannot be a link's.
    #[error(
        "`{0}` cannot be a link's name; write 1 to 40 letters, digits, `-` and `_`, a letter first"
    )]
    BadName(String),
    /// A link of this name exists.
    #[error(
        "there is a link `{0}` already; end it with `mimosa link down {0}`, or take another name"
    )]
    NameTaken(String),
    /// There is no link of this name.
    #[error("there is no link `{name}`; {known}")]
    NoLink { name: String, known: String },
    /// There is no link at all.
    #[error("there is no link; begin one with `mimosa link up NAME PATH.toml`")]
    NoLinks,
    /// There are several links, and none was named.
    #[error("there are the links {0}; name one")]
    WhichLink(String),
    /// The folder of the links' sockets cannot be used.
    #[error("cannot use {} for the links of this user: {source}", path.display())]
    Place {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A link does not answer, or not as it should.
    #[error("the link `{name}` does not answer: {why}; end it with `mimosa link down {name}`")]
    Silent { name: String, why: String },
    /// The log or the summary cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The recording of the packets cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Record { path: PathBuf, source: RecordError },
    /// The summary or the status cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The thread that writes the log cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The end of the command cannot be waited for.
    #[error("cannot wait for the command: {0}")]
    Wait(std::io::Error),
    /// The process that keeps a link did not start it.
    #[error("{0}")]
    Hold(String),
    /// A command cannot be started at an end.
    #[error("cannot start `{name}`: {source}")]
    Exec {
        name: String,
        source: std::io::Error,
    },
}
