//! What is wrong with a parameter's value.

use std::fmt;

/// A value with which an algorithm's formulas mean nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterError {
    /// The parameter.
    pub key: &'static str,
    /// What it must be.
    pub must: &'static str,
    /// What it is, where the message says so.
    pub value: Option<f64>,
}

impl fmt::Display for ParameterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` must be {}", self.key, self.must)?;
        match self.value {
            Some(value) => write!(f, ", but is {value}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for ParameterError {}

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
        Err(ParameterError {
            key,
            must,
            value: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_has_the_value_where_it_is_known() {
        let mut error = ParameterError {
            key: "alpha",
            must: "above zero",
            value: None,
        };
        assert_eq!(error.to_string(), "`alpha` must be above zero");
        error.value = Some(-0.5);
        assert_eq!(error.to_string(), "`alpha` must be above zero, but is -0.5");
    }
}
