//! Errors of `mimosa proxy`.

use std::path::PathBuf;

use mimosa_units::Rate;

/// Why an end of the proxy does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProxyError {
    #[error("cannot start the log: {0}")]
    Log(String),
    #[error(transparent)]
    Relay(#[from] mimosa_relay::RelayError),
    #[error(transparent)]
    Output(#[from] crate::output::OutputError),
    #[error("cannot start: {0}")]
    Start(std::io::Error),
    #[error("--min-bitrate is {min}, which is above --max-bitrate, {max}")]
    Limits { min: Rate, max: Rate },
    #[error("--params: `{0}` is no list of parameters; write e.g. 'alpha = 0.9, beta = 2'")]
    Params(String),
    #[error("the oracle needs to be told the network's rate, which no proxy knows; choose another")]
    Oracle,
    #[error("--controller: {0}")]
    Controller(#[from] mimosa_cc::BuildError),
    #[error(transparent)]
    KeyFile(#[from] crate::secret_file::SecretFileError),
    #[error("--key-file: {} has fewer than 16 characters; `openssl rand -hex 16` makes a key", .0.display())]
    Key(PathBuf),
    #[error("--pacer: {0}")]
    Pacer(#[from] mimosa_stream::pace::PolicyError),
}
