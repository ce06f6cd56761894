//! Why a policy could not be made.

use crate::pace::policy::NAMES;

/// What is wrong with a pacer's name or parameters.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No pacer has this name.
    #[error(
        "there is no pacer `{name}`; there is {}, multiples of the bitrate such as 2x, and rates such as 800Mbit/s",
        NAMES.join(", ")
    )]
    UnknownName {
        /// The name asked for.
        name: String,
    },
    /// Parameters were given to a pacer without any.
    #[error("the pacer `{name}` has no parameters; remove `pacer_params`")]
    NoParams {
        /// The pacer's name.
        name: String,
    },
    /// The parameters could not be read: one is unknown or of the wrong type.
    #[error("{0}")]
    Params(String),
    /// A parameter has a value outside its valid range.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
}

/// A parameter's value is outside its valid range.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{key}` must be {must}")]
pub struct ParameterError {
    /// The parameter's key.
    pub key: &'static str,
    /// The values that the parameter may have.
    pub must: &'static str,
}

/// Refuses the parameter `key` unless `is_valid`.
///
/// # Errors
///
/// [`ParameterError`], which says what the parameter `must` be.
pub(crate) const fn require(
    is_valid: bool,
    key: &'static str,
    must: &'static str,
) -> Result<(), ParameterError> {
    if is_valid {
        Ok(())
    } else {
        Err(ParameterError { key, must })
    }
}
