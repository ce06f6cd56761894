//! Errors of `mimosa campaign`.

use std::io;
use std::path::PathBuf;

use mimosa_campaign::CampaignError;

use crate::output::OutputError;
use crate::text::TextError;

/// Why a campaign does not run, or cannot be reported. Each error says what to do instead.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The campaign file cannot be read.
    #[error(transparent)]
    Read(#[from] TextError),
    /// The campaign file is wrong.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// An output cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
    /// The folder has the sessions of another campaign.
    #[error("{} has the sessions of another campaign file; give this one a folder of its own with --out", .0.display())]
    Other(PathBuf),
    /// Another driver runs the campaign.
    #[error("another `mimosa campaign run` uses {}; wait until it is done, or end it", .0.display())]
    Busy(PathBuf),
    /// The folder cannot be used.
    #[error("cannot use {}: {source}", path.display())]
    Folder { path: PathBuf, source: io::Error },
    /// What a session left is not what this program writes.
    #[error("{} is no row of a session: {why}; remove its folder, and `run` again", path.display())]
    Row { path: PathBuf, why: String },
    /// A thread of this program has panicked.
    #[error(
        "a part of this program has failed; `run` again to go on with the sessions that are left"
    )]
    Broken,
    /// The program does not run on a machine.
    #[error(
        "`mimosa --version` does not run on the machine `{machine}`: {why}; check how the campaign file reaches the machine, and its key `mimosa`"
    )]
    Machine { machine: String, why: String },
}
