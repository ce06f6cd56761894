//! The lines between the pictures of a YUV4MPEG2 file.

/// The beginning of a frame's line.
pub(crate) const FRAME: &str = "FRAME";
/// The beginning of a frame's number, written as a comment of the format, which other
/// programs skip.
pub(crate) const NUMBER: &str = "XNUMBER=";

/// The line before a frame's planes, with its line end. The number says which frame it is,
/// where others are missing.
#[must_use]
pub fn frame_line(number: Option<u64>) -> String {
    match number {
        Some(number) => format!("{FRAME} {NUMBER}{number}\n"),
        None => format!("{FRAME}\n"),
    }
}
