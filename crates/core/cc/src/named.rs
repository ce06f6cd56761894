//! The trait that the table in `registry.rs` requires of each controller.

use mimosa_facts::{Controller, Limits};
use serde::de::DeserializeOwned;

use crate::needs::Needs;
use crate::parameter::ParameterError;

/// A controller that settings and scenarios choose by its name.
///
/// The type that implements this trait is usually the controller itself. Where one controller
/// serves several names, it is a marker type for each name.
pub trait Named {
    /// Name of the controller in settings and scenarios: lower case, with hyphens between words.
    const NAME: &'static str;
    /// The feedback that the controller needs.
    const NEEDS: Needs;
    /// Parameters of the controller. Every key has a default, and an unknown key is refused.
    type Config: DeserializeOwned;

    /// Makes the controller in its initial state, before any event.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] for the first parameter whose value is invalid.
    fn start(config: Self::Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError>;
}
