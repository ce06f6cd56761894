//! What is wrong with a parameter's value.

/// A value with which an algorithm's formulas mean nothing.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("`{key}` must be {must}")]
pub struct ParameterError {
    /// The parameter.
    pub key: &'static str,
    /// What it must be.
    pub must: &'static str,
}

/// Refuses `key` unless `is_valid`.
///
/// # Errors
///
/// [`ParameterError`] that says what it `must` be.
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
