//! Controllers by the names and parameters of settings.

use mimosa_cc::BuildError;
use mimosa_facts::{Controller, Limits};

/// Makes the controller called `name` with `params` over its defaults.
///
/// [`mimosa_cc::build`] takes parameters in any form, so the compiler builds the readers of
/// all parameters where it is called: for a host and whoever checks its settings, once.
///
/// # Errors
///
/// [`BuildError`] when there is no such controller or no such parameter, or when a
/// parameter's value makes no sense.
pub fn build_controller(
    name: &str,
    params: &toml::Table,
    limits: Limits,
) -> Result<Box<dyn Controller>, BuildError> {
    mimosa_cc::build(name, toml::Value::Table(params.clone()), limits)
}
