//! The lines between the pictures of a YUV4MPEG2 file.

/// What a frame's line begins with.
pub(crate) const FRAME: &str = "FRAME";
/// A comment as the format has it, which other programs pass over.
pub(crate) const NUMBER: &str = "XNUMBER=";

/// The line before a frame's planes, with its end. A number tells which frame it is
/// where others are missing.
#[must_use]
pub fn frame_line(number: Option<u64>) -> String {
    match number {
        Some(number) => format!("{FRAME} {NUMBER}{number}\n"),
        None => format!("{FRAME}\n"),
    }
}
