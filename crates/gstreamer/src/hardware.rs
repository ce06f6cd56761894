//! What of this machine encodes, and works.

use mimosa_video::Size;

use crate::elements::{ELEMENTS, Element};
use crate::encoder::{Config, GStreamer, prepare};

/// What was found of an element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Found {
    /// It is not registered: no such hardware, no driver for it, or no such plugin.
    Nothing,
    /// It was opened and made frames of trial pictures.
    Works,
    /// It is registered and was tried, but did not work.
    Fails(String),
}

/// Tries every element for hardware with pictures of `size`.
///
/// # Errors
///
/// GStreamer's own message if it does not start.
pub fn find(size: Size, frames_per_second: u32) -> Result<Vec<(&'static Element, Found)>, String> {
    prepare().map_err(|error| error.to_string())?;
    let hardware = ELEMENTS.iter().filter(|element| element.is_hardware);
    let found = hardware.map(|element| {
        let found = if is_registered(element) {
            let config = Config {
                element: element.name.to_owned(),
                ..Config::new(size, frames_per_second)
            };
            match GStreamer::open(&config) {
                Ok(_) => Found::Works,
                Err(error) => Found::Fails(error.to_string()),
            }
        } else {
            Found::Nothing
        };
        (element, found)
    });
    Ok(found.collect())
}

/// GStreamer has the element here.
pub(crate) fn is_registered(element: &Element) -> bool {
    gstreamer::ElementFactory::find(element.name).is_some()
}
