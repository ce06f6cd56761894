//! What makes controllers that are not part of the program.

use std::fmt::Debug;

use mimosa_facts::{Controller, Limits};

/// Makes controllers from outside the program: the program's drivers implement this trait, and
/// simulations and sessions, which open no file and start no process, are given a maker.
pub trait Maker: Debug + Send + Sync {
    /// Checks that a controller with `params` begins, by making one.
    ///
    /// # Errors
    ///
    /// A line that says what is wrong with the controller, and what to do instead.
    fn check(&self, params: &toml::Table, limits: Limits) -> Result<(), String>;

    /// Makes a controller in its initial state. One that does not begin keeps the first decision
    /// of `limits`, and says why in [`Controller::failure`].
    fn make(&self, params: &toml::Table, limits: Limits) -> Box<dyn Controller>;

    /// A hash of what is known of the controller's code, by which results of other code are told
    /// apart.
    fn digest(&self) -> u64;
}
