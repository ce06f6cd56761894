//! Builds controllers from the names and parameters in settings.

use mimosa_cc::BuildError;
use mimosa_facts::{Controller, Limits};

/// Makes the controller called `name` with `params` in place of defaults.
///
/// [`mimosa_cc::build`] is generic over the form of parameters, and the compiler builds the readers
/// of all parameters wherever it is called. This function calls it once for the host and for the
/// check of its settings.
///
/// # Errors
///
/// [`BuildError`] if there is no such controller or parameter, or if a value is invalid.
pub fn build_controller(
    name: &str,
    params: &toml::Table,
    limits: Limits,
) -> Result<Box<dyn Controller>, BuildError> {
    mimosa_cc::build(name, toml::Value::Table(params.clone()), limits)
}
