//! Errors of `mimosa proxy`.

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
    #[error("--pacer: {0}")]
    Pacer(#[from] mimosa_stream::pace::PolicyError),
}
