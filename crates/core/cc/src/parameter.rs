//! The error for an invalid value of a parameter.

use std::fmt;

/// The error for a parameter whose value makes the algorithm's formulas invalid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ParameterError {
    /// Name of the parameter.
    pub key: &'static str,
    /// Description of the valid values, which follows "must be" in the message.
    pub must: &'static str,
    /// The invalid value; `None` if the message does not show it.
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

/// Returns an error about the parameter `key` unless `is_valid`.
///
/// # Errors
///
/// [`ParameterError`] without a value, whose message says what the parameter `must` be.
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
