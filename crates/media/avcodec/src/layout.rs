//! Where the fields that are read lie in libavcodec's structures.
//!
//! The source is `offsetof` of the headers of FFmpeg 4.3, 5.1, 6.1, 7.1, 8.0 and 9.0 on a system
//! with 64 bits, as Debian and Ubuntu have them; `tests` asks the header that is installed again.
//! Fields that a major version adds come at the end, so that a place holds for all its versions.

#![expect(unsafe_code, reason = "reads C's structures")]

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;

/// The beginning of an `AVPacket`, alike in all versions.
#[repr(C)]
pub(crate) struct Packet {
    buffer: *mut c_void,
    pub(crate) pts: i64,
    dts: i64,
    pub(crate) data: *mut u8,
    size: c_int,
}

/// The beginning of an `AVFrame`, alike in all versions.
#[repr(C)]
pub(crate) struct Frame {
    pub(crate) data: [*mut u8; 8],
    pub(crate) linesize: [c_int; 8],
    extended_data: *mut *mut u8,
    pub(crate) width: c_int,
    pub(crate) height: c_int,
    samples: c_int,
    pub(crate) format: c_int,
    /// The kind of picture and the shape of its samples, in a different order each.
    between: [u8; 16],
    pub(crate) pts: i64,
}

/// The places of further numbers in an `AVFrame`, in bytes. Each is a C `int`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Layout {
    pub(crate) flags: usize,
    pub(crate) color_range: usize,
    pub(crate) colorspace: usize,
    pub(crate) decode_error_flags: usize,
}

/// The layouts by libavutil's major version.
const LAYOUTS: [(u32, Layout); 6] = [
    (56, Layout::new([380, 384, 396, 440])),
    (57, Layout::new([316, 320, 332, 376])),
    (58, Layout::new([316, 320, 332, 376])),
    (59, Layout::new([292, 296, 308, 344])),
    (60, Layout::new([276, 280, 292, 320])),
    (61, Layout::new([276, 280, 292, 320])),
];

impl Layout {
    const fn new([flags, color_range, colorspace, decode_error_flags]: [usize; 4]) -> Self {
        Self {
            flags,
            color_range,
            colorspace,
            decode_error_flags,
        }
    }

    /// The layout of frames of libavutil's `major` version; `None` if it is not known.
    pub(crate) fn of(major: u32) -> Option<Self> {
        let found = LAYOUTS.iter().find(|(known, _)| *known == major);
        found.map(|(_, layout)| *layout)
    }

    /// The number at `place`, which is one of this layout's, of `frame`.
    ///
    /// # Safety
    ///
    /// libavutil of this layout's version made `frame`, and nobody changes it meanwhile.
    pub(crate) unsafe fn number(frame: NonNull<Frame>, place: usize) -> c_int {
        // SAFETY: the frame is libavutil's, which has an `int` there, aligned as C aligns it.
        unsafe { frame.cast::<c_int>().byte_add(place).read() }
    }
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;
    use std::process::Command;

    use super::*;

    /// Compiles and runs a program that prints the header's places, in the order of the fields
    /// here, after libavutil's major version.
    fn installed() -> Vec<usize> {
        const FIELDS: &str = "AVPacket,pts AVPacket,data AVFrame,data AVFrame,linesize AVFrame,width \
             AVFrame,height AVFrame,format AVFrame,pts AVFrame,flags AVFrame,color_range \
             AVFrame,colorspace AVFrame,decode_error_flags";
        let print = |field| format!("printf(\"%zu\\n\", offsetof({field}));\n");
        let printed: Vec<_> = FIELDS.split_whitespace().map(print).collect();
        let printed = printed.concat();
        let source = format!(
            "#include <stddef.h>\n#include <stdio.h>\n#include <libavcodec/avcodec.h>\n\
             int main(void) {{\nprintf(\"%d\\n\", LIBAVUTIL_VERSION_MAJOR);\n{printed}}}\n"
        );
        let folder = std::env::temp_dir().join(format!("mimosa-layout-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (file, program) = (folder.join("places.c"), folder.join("places"));
        std::fs::write(&file, source).unwrap();
        let compiled = Command::new("cc")
            .arg("-w")
            .arg(&file)
            .arg("-o")
            .arg(&program)
            .output();
        let compiled = compiled.unwrap();
        assert!(compiled.status.success(), "{compiled:?}");
        let output = Command::new(&program).output().unwrap().stdout;
        std::fs::remove_dir_all(&folder).unwrap();
        let lines = String::from_utf8(output).unwrap();
        lines.lines().map(|line| line.parse().unwrap()).collect()
    }

    #[test]
    fn the_header_that_is_installed_has_the_fields_in_these_places() {
        let installed = installed();
        let major = u32::try_from(installed[0]).unwrap();
        let layout = Layout::of(major).unwrap_or_else(|| panic!("no layout of libavutil {major}"));
        let here = [
            offset_of!(Packet, pts),
            offset_of!(Packet, data),
            offset_of!(Frame, data),
            offset_of!(Frame, linesize),
            offset_of!(Frame, width),
            offset_of!(Frame, height),
            offset_of!(Frame, format),
            offset_of!(Frame, pts),
            layout.flags,
            layout.color_range,
            layout.colorspace,
            layout.decode_error_flags,
        ];
        assert_eq!(installed[1..], here);
    }
}
