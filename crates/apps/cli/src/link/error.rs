//! Why `mimosa link` could not do what was asked.

use std::path::PathBuf;

use mimosa_link::LinkError;
use mimosa_record::RecordError;
use mimosa_scenario::ScenarioError;

use crate::output::OutputError;
use crate::text::TextError;

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// The file is wrong.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// One of several networks must be chosen.
    #[error("{} has the variants {known}; choose one with --variant", path.display())]
    WhichVariant { path: PathBuf, known: String },
    /// The file has no such variant.
    #[error("{} has no variant `{name}`; {known}", path.display())]
    NoVariant {
        path: PathBuf,
        name: String,
        known: String,
    },
    /// The link itself.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A name that cannot be that of a file.
    #[error(
        "`{0}` cannot be a link's name; write 1 to 40 letters, digits, `-` and `_`, a letter first"
    )]
    BadName(String),
    /// Two links of one name.
    #[error(
        "there is a link `{0}` already; end it with `mimosa link down {0}`, or take another name"
    )]
    NameTaken(String),
    /// No link of this name.
    #[error("there is no link `{name}`; {known}")]
    NoLink { name: String, known: String },
    /// No link at all.
    #[error("there is no link; begin one with `mimosa link up NAME PATH.toml`")]
    NoLinks,
    /// One of several links must be named.
    #[error("there are the links {0}; name one")]
    WhichLink(String),
    /// The place of links' sockets.
    #[error("cannot use {} for the links of this user: {source}", path.display())]
    Place {
        path: PathBuf,
        source: std::io::Error,
    },
    /// A link does not answer as it should.
    #[error("the link `{name}` does not answer: {why}; end it with `mimosa link down {name}`")]
    Silent { name: String, why: String },
    /// The log or the summary cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The log library's.
    #[error("cannot write {}: {source}", path.display())]
    Record { path: PathBuf, source: RecordError },
    /// The summary or the status cannot be put into JSON.
    #[error("cannot write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// No thread writes the log.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The command's end is not known.
    #[error("cannot wait for the command: {0}")]
    Wait(std::io::Error),
    /// What `up` leaves behind did not come up.
    #[error("{0}")]
    Hold(String),
    /// A command that cannot be started at an end.
    #[error("cannot start `{name}`: {source}")]
    Exec {
        name: String,
        source: std::io::Error,
    },
}
