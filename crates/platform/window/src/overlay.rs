//! The layout of lines of text over the picture.

use crate::pointer::Area;

/// The blocks of a letter, both ways.
const LETTER: f32 = 8.0;
/// The blocks from one line to the next.
const LINE: f32 = 11.0;
/// The blocks between the text and the edge of its box, and from there to the edge of the
/// window.
const MARGIN: f32 = 6.0;
/// The rows of a window for each step in the size of letters.
const ROWS: f32 = 360.0;

/// The layout of some lines.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    /// The pixels of a block.
    pub(crate) scale: f32,
    /// The area that is darkened.
    pub(crate) shade: Area,
    /// The place where each line begins.
    pub(crate) places: Vec<(f32, f32)>,
}

/// Lays out `lines` in the upper left corner of a window of so many pixels: as large as can
/// be read, or as fits.
pub(crate) fn layout(lines: &[String], (width, height): (f32, f32)) -> Option<Layout> {
    let letters = lines.iter().map(|line| line.chars().count()).max()?;
    if letters == 0 {
        return None;
    }
    let needed = (
        letters as f32 * LETTER + 4.0 * MARGIN,
        lines.len() as f32 * LINE + 4.0 * MARGIN,
    );
    let fits = (width / needed.0).min(height / needed.1);
    let scale = (height / ROWS).min(fits).floor().max(1.0);
    let margin = MARGIN * scale;
    let shade = Area {
        x: margin,
        y: margin,
        width: (needed.0 - 2.0 * MARGIN) * scale,
        height: (needed.1 - 2.0 * MARGIN) * scale,
    };
    let top = |line: usize| 2.0 * margin + line as f32 * LINE * scale;
    Some(Layout {
        scale,
        shade,
        places: (0..lines.len())
            .map(|line| (2.0 * margin, top(line)))
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str], size: (f32, f32)) -> Option<Layout> {
        let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        layout(&lines, size)
    }

    #[test]
    fn letters_grow_with_the_window() {
        for (height, scale) in [(240.0, 1.0), (720.0, 2.0), (1080.0, 3.0), (2160.0, 6.0)] {
            let layout = of(&["delay 12 ms"], (height * 16.0 / 9.0, height)).unwrap();
            assert!((layout.scale - scale).abs() < 0.01, "{layout:?}");
        }
    }

    #[test]
    fn long_lines_are_smaller_and_all_is_in_the_box() {
        let long = "x".repeat(90);
        let layout = of(&[&long, "y"], (1280.0, 720.0)).unwrap();
        assert!((layout.scale - 1.0).abs() < 0.01);
        let shade = layout.shade;
        assert!(shade.x + shade.width <= 1280.0);
        for (x, y) in layout.places {
            assert!(x >= shade.x && y >= shade.y);
            assert!(y + LETTER * layout.scale <= shade.y + shade.height);
        }
    }

    #[test]
    fn no_text_has_no_box() {
        assert_eq!(of(&[], (1280.0, 720.0)), None);
        assert_eq!(of(&["", ""], (1280.0, 720.0)), None);
    }
}
