//! The elements that encode, and their settings.
//!
//! Properties have their names of GStreamer 1.22 or later; a property that another version
//! lacks is left out. As far as the elements can be set up so, none makes frames that wait
//! for later pictures, and none makes keyframes unasked.

use mimosa_facts::Codec;

/// An element that encodes.
#[derive(Debug)]
pub struct Element {
    /// The element's name, e.g. `vah264enc`.
    pub name: &'static str,
    /// The codec of the element's frames.
    pub codec: Codec,
    /// Whether the element uses a graphics processor or other hardware.
    pub is_hardware: bool,
    /// What contains the element.
    pub package: &'static str,
    /// The element before it that brings pictures into its memory, where it takes no others.
    pub(crate) upload: Option<&'static str>,
    /// The property that sets the bitrate.
    pub(crate) bitrate: Bitrate,
    /// The property that sets the size of the rate control's buffer, which is to hold one
    /// frame; `None` where there is no such property.
    pub(crate) buffer: Option<Buffer>,
    /// The property that sets the number of threads or slices.
    pub(crate) threads: Option<&'static str>,
    /// The property that sets the number of slices of a frame, where the element may hand them out one by one.
    pub(crate) slices: Option<&'static str>,
    /// The property that sets the lowest quantiser, where it is on H.264's scale.
    pub(crate) finest: Option<&'static str>,
    /// Further properties that are set when the element is opened, and their values.
    pub(crate) settings: &'static [(&'static str, &'static str)],
}

/// The way in which an element's bitrate is set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Bitrate {
    /// A property in kilobits per second.
    Kilobits(&'static str),
    /// A property in bits per second.
    Bits(&'static str),
    /// Controls of a Video4Linux device, in bits per second.
    Controls,
}

/// The way in which the size of an element's buffer is set.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Buffer {
    /// A property in milliseconds at the bitrate.
    Milliseconds(&'static str),
    /// A property in kilobits.
    Kilobits(&'static str),
}

const BAD: &str = "Debian's gstreamer1.0-plugins-bad";
const GOOD: &str = "Debian's gstreamer1.0-plugins-good";
const UGLY: &str = "Debian's gstreamer1.0-plugins-ugly";

/// NVIDIA's encoders, by the NVENC library.
const NVENC: Element = Element {
    name: "nvh264enc",
    codec: Codec::H264,
    is_hardware: true,
    package: BAD,
    upload: None,
    bitrate: Bitrate::Kilobits("bitrate"),
    buffer: Some(Buffer::Kilobits("vbv-buffer-size")),
    threads: None,
    slices: None,
    finest: None,
    settings: &[
        ("preset", "low-latency-hq"),
        ("tune", "ultra-low-latency"),
        ("rc-mode", "cbr"),
        ("zerolatency", "true"),
        ("zero-reorder-delay", "true"),
        ("rc-lookahead", "0"),
        ("bframes", "0"),
        ("b-frames", "0"),
        ("gop-size", "-1"),
        ("i-adapt", "false"),
        ("repeat-sequence-header", "true"),
    ],
};

/// The encoders of AMD and Intel graphics, by VA-API.
const VA: Element = Element {
    name: "vah264enc",
    codec: Codec::H264,
    is_hardware: true,
    package: BAD,
    upload: None,
    bitrate: Bitrate::Kilobits("bitrate"),
    buffer: Some(Buffer::Kilobits("cpb-size")),
    threads: Some("num-slices"),
    slices: None,
    finest: Some("min-qp"),
    settings: &[
        ("rate-control", "cbr"),
        ("b-frames", "0"),
        ("gf-group-size", "1"),
        ("ref-frames", "1"),
        ("target-usage", "7"),
        // The highest value of the property.
        ("key-int-max", "1024"),
    ],
};

/// Intel's encoders, by its media library.
const QUICK_SYNC: Element = Element {
    name: "qsvh264enc",
    codec: Codec::H264,
    is_hardware: true,
    package: BAD,
    upload: None,
    bitrate: Bitrate::Kilobits("bitrate"),
    buffer: None,
    threads: None,
    slices: None,
    finest: None,
    settings: &[
        ("rate-control", "cbr"),
        ("low-latency", "true"),
        ("b-frames", "0"),
        ("ref-frames", "1"),
        ("gop-size", "2147483647"),
        ("target-usage", "7"),
    ],
};

/// The VCU, an encoder in some of AMD's Zynq chips, by `gst-omx`: the only one of these elements whose frames may leave
/// in parts (`gstomxh264enc.c`, `gstomxvideoenc.c`). Names and units are those of AMD's product guide (PG252).
const VCU: Element = Element {
    name: "omxh264enc",
    codec: Codec::H264,
    is_hardware: true,
    package: "AMD's system for its Zynq chips",
    upload: None,
    bitrate: Bitrate::Kilobits("target-bitrate"),
    // The buffer can be set only before the element starts.
    buffer: None,
    threads: None,
    slices: Some("num-slices"),
    finest: Some("min-qp"),
    settings: &[
        ("control-rate", "low-latency"),
        ("gop-mode", "low-delay-p"),
        ("b-frames", "0"),
        // The highest value of the property.
        ("gop-length", "1000"),
        ("filler-data", "false"),
        // A frame and two, in milliseconds at 60 frames a second.
        ("initial-delay", "17"),
        ("cpb-size", "34"),
    ],
};

/// Every element that can be used: hardware in the order in which it is tried, H.264 first,
/// then software.
pub static ELEMENTS: &[Element] = &[
    // From GStreamer 1.26 on it has the name `nvh264enc`.
    Element {
        name: "nvcudah264enc",
        upload: Some("cudaupload"),
        ..NVENC
    },
    NVENC,
    VA,
    Element {
        name: "vah264lpenc",
        ..VA
    },
    QUICK_SYNC,
    Element {
        name: "v4l2h264enc",
        codec: Codec::H264,
        is_hardware: true,
        package: GOOD,
        upload: None,
        bitrate: Bitrate::Controls,
        buffer: None,
        threads: None,
        slices: None,
        finest: None,
        settings: &[],
    },
    VCU,
    Element {
        name: "nvcudah265enc",
        codec: Codec::H265,
        upload: Some("cudaupload"),
        ..NVENC
    },
    Element {
        name: "nvh265enc",
        codec: Codec::H265,
        ..NVENC
    },
    Element {
        name: "vah265enc",
        codec: Codec::H265,
        ..VA
    },
    Element {
        name: "vah265lpenc",
        codec: Codec::H265,
        ..VA
    },
    Element {
        name: "qsvh265enc",
        codec: Codec::H265,
        ..QUICK_SYNC
    },
    Element {
        name: "omxh265enc",
        codec: Codec::H265,
        ..VCU
    },
    Element {
        name: "nvav1enc",
        codec: Codec::Av1,
        ..NVENC
    },
    Element {
        name: "vaav1enc",
        codec: Codec::Av1,
        threads: None,
        finest: None,
        ..VA
    },
    Element {
        name: "qsvav1enc",
        codec: Codec::Av1,
        ..QUICK_SYNC
    },
    Element {
        name: "x264enc",
        codec: Codec::H264,
        is_hardware: false,
        package: UGLY,
        upload: None,
        bitrate: Bitrate::Kilobits("bitrate"),
        buffer: Some(Buffer::Milliseconds("vbv-buf-capacity")),
        threads: Some("threads"),
        slices: None,
        finest: Some("qp-min"),
        settings: &[
            ("pass", "cbr"),
            ("tune", "zerolatency"),
            ("speed-preset", "superfast"),
            ("key-int-max", "2147483647"),
            ("option-string", "scenecut=0"),
            ("sliced-threads", "true"),
            ("aud", "false"),
        ],
    },
    Element {
        name: "openh264enc",
        codec: Codec::H264,
        is_hardware: false,
        package: BAD,
        upload: None,
        bitrate: Bitrate::Bits("bitrate"),
        buffer: None,
        threads: Some("multi-thread"),
        slices: None,
        finest: Some("qp-min"),
        settings: &[
            ("rate-control", "bitrate"),
            ("complexity", "low"),
            ("gop-size", "0"),
            ("scene-change-detection", "false"),
            ("background-detection", "false"),
            ("enable-frame-skip", "false"),
        ],
    },
    Element {
        name: "x265enc",
        codec: Codec::H265,
        is_hardware: false,
        package: BAD,
        upload: None,
        bitrate: Bitrate::Kilobits("bitrate"),
        buffer: None,
        threads: None,
        slices: None,
        finest: None,
        settings: &[
            ("tune", "zerolatency"),
            ("speed-preset", "ultrafast"),
            ("key-int-max", "2147483647"),
            ("option-string", "scenecut=0:bframes=0:rc-lookahead=0"),
        ],
    },
];

impl Element {
    /// The element of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        ELEMENTS.iter().find(|element| element.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hardware_comes_first_and_every_name_once() {
        let software = ELEMENTS.iter().position(|element| !element.is_hardware);
        let (hardware, others) = ELEMENTS.split_at(software.unwrap());
        assert!(others.iter().all(|element| !element.is_hardware));
        assert_eq!(hardware[0].codec, Codec::H264);
        let mut names: Vec<_> = ELEMENTS.iter().map(|element| element.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ELEMENTS.len());
        assert!(Element::named("x264enc").is_some_and(|element| element.codec == Codec::H264));
        assert!(Element::named("x264").is_none());
    }
}
