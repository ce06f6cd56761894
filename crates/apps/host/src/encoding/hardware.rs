//! Finds hardware encoders, and tries which of them work.

use std::path::Path;

use mimosa_video::Size;

/// The folder of the system's devices.
const DEVICES: &str = "/dev";

/// What was found about hardware encoders.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Hardware {
    /// There is no device that could encode, and nothing else was tried.
    NoDevice,
    /// There are devices that could encode, with these paths, but this program was built without
    /// GStreamer.
    NotBuilt(Vec<String>),
    /// There are devices that could encode, with these paths. Each element was tried, or none was
    /// for the reason given.
    Looked(Vec<String>, Result<Vec<(&'static str, Element)>, String>),
}

/// What was found about a GStreamer element for hardware.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Element {
    /// The element is not registered: the hardware, its driver or the plugin is missing.
    Absent,
    /// The element encoded trial pictures.
    Works {
        /// Whether a change of its bitrate makes a keyframe.
        restarts: bool,
        /// How frames leave it.
        leaves: Leaves,
    },
    /// The element is registered, and failed with this error.
    Fails(String),
}

/// How frames leave a GStreamer element.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Leaves {
    /// They leave whole.
    Whole,
    /// They leave in so many parts, while the element codes the rest.
    InParts(u32),
    /// They leave whole, because the element hands out parts that have this fault.
    WholeFor(String),
}

/// Looks for hardware encoders of pictures of `size`, and tries each.
#[must_use]
pub fn look_for_hardware(size: Size, frames_per_second: u32) -> Hardware {
    let devices = devices(Path::new(DEVICES));
    if devices.is_empty() {
        return Hardware::NoDevice;
    }
    look(devices, size, frames_per_second)
}

/// Whether the machine has a device that could encode.
pub(crate) fn may_encode() -> bool {
    !devices(Path::new(DEVICES)).is_empty()
}

#[cfg(feature = "gstreamer")]
fn look(devices: Vec<String>, size: Size, frames_per_second: u32) -> Hardware {
    use mimosa_gstreamer::{ChangeCost, Delivery, TrialResult};
    let found = mimosa_gstreamer::find(size, frames_per_second).map(|found| {
        let found = found.into_iter().map(|(element, found)| {
            let found = match found {
                TrialResult::Nothing => Element::Absent,
                TrialResult::Works(cost, delivery) => Element::Works {
                    restarts: cost == ChangeCost::Keyframe,
                    leaves: match delivery {
                        Delivery::Whole => Leaves::Whole,
                        Delivery::InParts(parts) => Leaves::InParts(parts),
                        Delivery::Refused(fault) => Leaves::WholeFor(fault),
                    },
                },
                TrialResult::Fails(reason) => Element::Fails(reason),
            };
            (element.name, found)
        });
        found.collect()
    });
    Hardware::Looked(devices, found.map_err(|error| error.to_string()))
}

#[cfg(not(feature = "gstreamer"))]
fn look(devices: Vec<String>, _: Size, _: u32) -> Hardware {
    Hardware::NotBuilt(devices)
}

/// The devices below `folder` that could encode: graphics processors, Video4Linux devices and AMD's VCU. This
/// costs almost nothing, while GStreamer takes half a second if it does not know its plugins yet.
fn devices(folder: &Path) -> Vec<String> {
    let names = |folder: &Path, prefix: &str| {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut names: Vec<_> = paths
            .filter(|path| {
                let name = path.file_name().map(|name| name.to_string_lossy());
                name.is_some_and(|name| name.starts_with(prefix))
            })
            .map(|path| path.display().to_string())
            .collect();
        names.sort();
        names
    };
    [
        names(&folder.join("dri"), "renderD"),
        names(folder, "nvidia0"),
        names(folder, "video"),
        names(folder, "allegroIP"),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_may_encode_are_found() {
        let folder = std::env::temp_dir().join(format!("mimosa-devices-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("dri")).unwrap();
        let none = devices(&folder);
        std::fs::write(folder.join("dri/card0"), "").unwrap();
        let no_renderer = devices(&folder);
        for name in ["dri/renderD128", "nvidia0", "video11", "allegroIP"] {
            std::fs::write(folder.join(name), "").unwrap();
        }
        let all = devices(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(none, Vec::<String>::new());
        assert_eq!(
            none, no_renderer,
            "a card without a renderer encodes nothing"
        );
        let ends: Vec<_> = all
            .iter()
            .filter_map(|path| path.rsplit('/').next())
            .collect();
        assert_eq!(ends, ["renderD128", "nvidia0", "video11", "allegroIP"]);
    }
}
