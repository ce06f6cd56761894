//! What the table of controllers in `registry.rs` takes of each.

use mimosa_facts::{Controller, Limits};
use serde::de::DeserializeOwned;

use crate::needs::Needs;
use crate::parameter::ParameterError;

/// A controller that settings and scenarios choose by its name.
///
/// The type that implements this trait is most often the controller itself. It may also be a mere
/// marker, where one type serves several names.
pub trait Named {
    /// The name: lower case, with hyphens between words.
    const NAME: &'static str;
    /// What the controller needs to be told.
    const NEEDS: Needs;
    /// The parameters: every key has a default, and an unknown key is refused.
    type Config: DeserializeOwned;

    /// Makes the controller, before it has been told anything.
    ///
    /// # Errors
    ///
    /// [`ParameterError`] with the first parameter whose value means nothing.
    fn start(config: Self::Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError>;
}
