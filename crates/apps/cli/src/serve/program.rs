//! What this program supports, for checks of the settings.

use std::sync::LazyLock;

use mimosa_facts::Limits;
use mimosa_settings::{Checks, EncoderName};

use crate::log;

/// This program.
pub(super) struct Program;

/// The checks of the settings that depend on this program.
pub(crate) const fn checks() -> &'static dyn Checks {
    &Program
}

impl Checks for Program {
    fn controllers(&self) -> &[&str] {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
            // A host cannot tell the oracle the network's rate.
            let is_usable = |name: &&&str| **name != mimosa_cc::oracle::NAME;
            mimosa_cc::NAMES.iter().filter(is_usable).copied().collect()
        });
        &NAMES
    }

    fn outside(
        &self,
        name: &str,
        params: &toml::Table,
        limits: Limits,
    ) -> Option<Result<(), String>> {
        mimosa_host::check_outside(name, params, limits)
    }

    fn pacers(&self) -> &[&str] {
        mimosa_stream::pace::NAMES
    }

    fn encoders(&self) -> &[&str] {
        static NAMES: LazyLock<Vec<&str>> = LazyLock::new(|| {
            let built_in = mimosa_host::ENCODERS.iter().copied();
            let names = std::iter::once(EncoderName::Auto).chain(built_in);
            names.map(EncoderName::name).collect()
        });
        &NAMES
    }

    fn params(&self, controller: &str, params: &toml::Table, limits: Limits) -> Result<(), String> {
        mimosa_host::build_controller(controller, params, limits)
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn log(&self, filter: &str) -> Result<(), String> {
        log::filter(filter).map(drop)
    }
}
