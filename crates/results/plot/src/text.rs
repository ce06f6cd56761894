//! Text in the embedded font, and how much room it takes.

use plotters::prelude::*;
use plotters::style::register_font;
use resvg::usvg;

use crate::PlotError;
use crate::draw::UNIT;

/// The name of the embedded font. Verdana, its sibling, has the same widths if a viewer of the SVG
/// lacks it.
pub(crate) const FONT: &str = "DejaVu Sans, Verdana, sans-serif";

/// The library's ratio of a font's size to the size of an em in SVG.
const SIZE_PER_EM: f64 = 1.24;

/// The character that replaces the rest of a text that does not fit.
pub(crate) const ELLIPSIS: char = '…';

/// Makes the embedded font known to the drawing library.
pub(crate) fn register() -> Result<(), PlotError> {
    register_font(FONT, FontStyle::Normal, dejavu::sans::regular()).map_err(|_| PlotError::Font)
}

/// Makes the embedded font, and no other, known to the rendering library.
pub(crate) fn rendering() -> usvg::Options<'static> {
    let mut options = usvg::Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    options
}

/// The font with an em of `pixels`.
pub(crate) fn font(pixels: i32) -> FontDesc<'static> {
    let size = f64::from(pixels * UNIT) * SIZE_PER_EM;
    FontDesc::new(FontFamily::Name(FONT), size, FontStyle::Normal)
}

/// Width of `text`, in drawing units, rounded up.
pub(crate) fn width(text: &str, pixels: i32) -> i32 {
    let size = font(pixels).box_size(text);
    size.map_or(0, |(width, _)| width.cast_signed()) // fails only unregistered
}

/// `text` on one line, shortened if it is wider than `room`.
pub(crate) fn fit(text: &str, pixels: i32, room: i32) -> String {
    let mut line: String = text.chars().map(printable).collect();
    let mut fitting = line.clone();
    while width(&fitting, pixels) > room && line.pop().is_some() {
        fitting = format!("{}{ELLIPSIS}", line.trim_end());
    }
    fitting
}

/// `text` on as many lines as it needs, broken between words.
pub(crate) fn wrap(text: &str, pixels: i32, room: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let word = fit(word, pixels, room);
        if let Some(line) = lines.last_mut() {
            let longer = format!("{line} {word}");
            if width(&longer, pixels) <= room {
                *line = longer;
                continue;
            }
        }
        lines.push(word);
    }
    lines
}

/// The character itself, or a space where XML does not allow it.
pub(crate) fn printable(character: char) -> char {
    match character {
        '\u{FFFE}' | '\u{FFFF}' => ' ',
        other if other.is_control() => ' ',
        other => other,
    }
}
