//! What `mimosa --version` says: the version, the commit, and what is built in.

/// The features of `mimosa-cli`, and whether each is built in.
const FEATURES: &[(&str, bool)] = &[
    ("serve", cfg!(feature = "serve")),
    ("play", cfg!(feature = "play")),
    ("window", cfg!(feature = "window")),
    ("proxy", cfg!(feature = "proxy")),
    ("lab", cfg!(feature = "lab")),
    ("wasm", cfg!(feature = "wasm")),
    ("openh264", cfg!(feature = "openh264")),
    ("x264", cfg!(feature = "x264")),
    ("svt-av1", cfg!(feature = "svt-av1")),
    ("gstreamer", cfg!(feature = "gstreamer")),
];

/// Version, commit and features, a line for each.
pub(crate) fn long() -> String {
    let features = FEATURES.iter().filter(|(_, is_there)| *is_there);
    let features: Vec<_> = features.map(|(name, _)| *name).collect();
    format!(
        "{}\ncommit: {}\nfeatures: {}",
        env!("CARGO_PKG_VERSION"),
        env!("BUILD_COMMIT"),
        features.join(", ")
    )
}
