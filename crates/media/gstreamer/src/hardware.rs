//! The hardware encoders of this machine, and whether they work.

use mimosa_video::Size;

use crate::elements::{ELEMENTS, Element};
use crate::encoder::GStreamer;
use crate::library::{self, NotStarted};
use crate::opening::{Config, Delivery};
use crate::steering::ChangeCost;

/// The number of parts that elements are asked for. Our choice: the host's default.
const PARTS: u8 = 8;

/// The result of trying an element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum TrialResult {
    /// The element is not registered: there is no such hardware, driver or plugin.
    Nothing,
    /// The element was opened and encoded trial pictures. A change of its bitrate costs so much, and its frames leave in
    /// this way.
    Works(ChangeCost, Delivery),
    /// The element is registered, but did not work, for the reason given.
    Fails(String),
}

/// Tries every hardware element with pictures of `size`.
///
/// # Errors
///
/// [`NotStarted`] if GStreamer is not there or does not start.
pub fn find(
    size: Size,
    frames_per_second: u32,
) -> Result<Vec<(&'static Element, TrialResult)>, NotStarted> {
    let library = library::start()?;
    let hardware = ELEMENTS.iter().filter(|element| element.is_hardware);
    let found = hardware.map(|element| {
        let found = if library.has(element.name) {
            let config = Config {
                element: element.name.to_owned(),
                parts: PARTS,
                ..Config::new(size, frames_per_second)
            };
            match GStreamer::open(&config) {
                Ok(opened) => TrialResult::Works(opened.change_cost(), opened.delivery().clone()),
                Err(error) => TrialResult::Fails(error.to_string()),
            }
        } else {
            TrialResult::Nothing
        };
        (element, found)
    });
    Ok(found.collect())
}
