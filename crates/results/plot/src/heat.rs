//! A matrix of texts on coloured cells.

use std::fmt::Write as _;

use crate::draw::UNIT;
use crate::html::escape;
use crate::{PlotError, text};

/// Width of the image, in pixels: that of every figure.
const WIDTH: i32 = crate::draw::WIDTH / UNIT;
/// Room between the content and the edges.
const MARGIN: i32 = 14;
/// Height of a row.
const ROW: i32 = 26;
/// Height of a line of a column's name.
const NAME_LINE: i32 = 14;
/// Widest that a cell becomes; a small matrix does not fill the width.
const WIDEST: i32 = 110;
/// Gap between two cells.
const GAP: i32 = 2;
/// Sizes of the text: of title, subtitle, names and cells.
const TITLE: i32 = 18;
const SUBTITLE: i32 = 12;
const NAME: i32 = 11;
const CELL: i32 = 11;
/// Opacity of the strongest colour, through which a text can be read on light and dark paper.
const STRONGEST: f64 = 0.75;
/// Colours of shades below and above zero: blue and vermilion of Okabe and Ito's palette, which
/// the colour-blind can tell apart.
const BELOW: &str = "#0072B2";
const ABOVE: &str = "#D55E00";
/// The ink of texts, and that of secondary ones.
const INK: &str = "#222222";
const MUTED: &str = "#666666";

/// A matrix of texts on coloured cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heat {
    /// What the matrix shows.
    pub title: String,
    /// The conditions, and what the colours mean; wraps when long.
    pub subtitle: String,
    /// Names of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// Names of the columns, from left to right; they wrap between words.
    pub columns: Vec<String>,
    /// Cells, row by row; `None` where there is nothing.
    pub cells: Vec<Vec<Option<Shaded>>>,
}

/// A cell of a [`Heat`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Shaded {
    /// Text of the cell.
    pub text: String,
    /// Colour of the cell: 0 for none, up to 1 for the warm colour in full, down to -1 for the cold
    /// one. Values outside count as the nearer of these two.
    pub shade: f64,
}

impl Heat {
    /// The matrix as an SVG document, 1000 pixels wide.
    ///
    /// # Errors
    ///
    /// [`PlotError::Font`] if the embedded font is refused, and [`PlotError::TooManyCells`] above
    /// 40 columns or 400 rows.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        // Forty columns are as many as have room for a number each.
        if self.columns.len() > 40 || self.rows.len() > 400 {
            return Err(PlotError::TooManyCells(self.columns.len(), self.rows.len()));
        }
        text::register()?;
        let widths = self.rows.iter().map(|name| pixels(name, NAME));
        let left = MARGIN + widths.max().unwrap_or(0).min(WIDTH / 4) + 2 * GAP;
        let columns = i32::try_from(self.columns.len()).unwrap_or(1).max(1);
        let width = ((WIDTH - MARGIN - left) / columns).min(WIDEST);
        let mut body = String::new();
        let mut top = MARGIN;
        for (words, size, colour) in [(&self.title, TITLE, INK), (&self.subtitle, SUBTITLE, MUTED)]
        {
            for line in text::wrap(words, size, (WIDTH - 2 * MARGIN) * UNIT) {
                let at = (MARGIN, top + size);
                put(&mut body, at, (size, colour, Anchor::Start), &line);
                top += size * 3 / 2;
            }
        }
        let names: Vec<_> = self
            .columns
            .iter()
            .map(|name| wrapped(name, width))
            .collect();
        let lines = names.iter().map(Vec::len).max().unwrap_or(0);
        let lines = i32::try_from(lines).unwrap_or(0);
        top += NAME_LINE * (lines + 1);
        let column = |index: usize| left + i32::try_from(index).unwrap_or(0) * width;
        for (index, name) in names.iter().enumerate() {
            // The last line stands just above the cells.
            for (line, up) in name.iter().rev().zip(0..) {
                let at = (column(index) + width / 2, top - NAME_LINE * up - 2 * GAP);
                put(&mut body, at, (NAME, MUTED, Anchor::Middle), line);
            }
        }
        for (name, cells) in self.rows.iter().zip(&self.cells) {
            let base = top + ROW / 2 + CELL / 2 - 1;
            let name = text::fit(name, NAME, (left - MARGIN) * UNIT);
            put(
                &mut body,
                (left - 2 * GAP, base),
                (NAME, MUTED, Anchor::End),
                &name,
            );
            for (index, cell) in cells.iter().take(self.columns.len()).enumerate() {
                let Some(cell) = cell else {
                    continue;
                };
                let at = (column(index), top);
                fill(&mut body, at, (width - GAP, ROW - GAP), cell.shade);
                let shown = text::fit(&cell.text, CELL, (width - GAP) * UNIT);
                let middle = (at.0 + (width - GAP) / 2, base);
                put(&mut body, middle, (CELL, INK, Anchor::Middle), &shown);
            }
            top += ROW;
        }
        let height = top + MARGIN;
        Ok(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH} {height}\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n{body}</svg>\n"
        ))
    }
}

/// The name on lines that fit a column of this width.
fn wrapped(name: &str, width: i32) -> Vec<String> {
    text::wrap(name, NAME, (width - GAP) * UNIT)
}

/// Width of a text in pixels, rounded up.
fn pixels(words: &str, size: i32) -> i32 {
    (text::width(words, size) + UNIT - 1) / UNIT
}

/// The side of a text that its place is about.
#[derive(Clone, Copy)]
enum Anchor {
    Start,
    Middle,
    End,
}

/// Appends a line of text whose baseline is at `at`.
fn put(body: &mut String, at: (i32, i32), (size, colour, anchor): (i32, &str, Anchor), line: &str) {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let (x, y) = at;
    let _ = writeln!(
        body,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\" font-family=\"{}\" \
         font-size=\"{size}\" fill=\"{colour}\">{}</text>",
        text::FONT,
        escape(line)
    );
}

/// Appends the ground of a cell: a path, because pages give all rectangles the colour of paper.
fn fill(body: &mut String, (x, y): (i32, i32), (width, height): (i32, i32), shade: f64) {
    let strength = if shade.is_nan() {
        0.0
    } else {
        shade.clamp(-1.0, 1.0)
    };
    let colour = if strength < 0.0 { BELOW } else { ABOVE };
    let _ = writeln!(
        body,
        "<path d=\"M{x} {y}h{width}v{height}h-{width}z\" fill=\"{colour}\" \
         fill-opacity=\"{:.3}\"/>",
        strength.abs() * STRONGEST
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heat() -> Heat {
        let cell = |text: &str, shade| {
            let text = text.to_owned();
            Some(Shaded { text, shade })
        };
        Heat {
            title: "Shares <1>".to_owned(),
            subtitle: "of the link".to_owned(),
            rows: vec!["one".to_owned(), "two".to_owned()],
            columns: vec!["first".to_owned(), "a second that needs lines".to_owned()],
            cells: vec![
                vec![cell("50", 0.0), cell("90", 0.8)],
                vec![cell("1", -3.0), None],
            ],
        }
    }

    #[test]
    fn a_cell_has_its_text_and_the_strength_of_its_shade() {
        let svg = heat().to_svg().unwrap();
        assert_eq!(svg.matches("<path ").count(), 3, "{svg}");
        for expected in [
            ">50</text>",
            "fill=\"#D55E00\" fill-opacity=\"0.000\"",
            "fill=\"#D55E00\" fill-opacity=\"0.600\"",
            // Beyond the strongest there is none.
            "fill=\"#0072B2\" fill-opacity=\"0.750\"",
            "Shares &lt;1&gt;",
            ">needs lines</text>",
        ] {
            assert!(svg.contains(expected), "{expected} in {svg}");
        }
        assert_eq!(heat().to_svg().unwrap(), svg);
        // A reader of SVG can draw it.
        assert!(crate::draw::png(&svg).is_ok());
    }

    #[test]
    fn too_many_cells_are_refused() {
        let columns = vec![String::new(); 41];
        let error = Heat { columns, ..heat() }.to_svg().unwrap_err();
        assert_eq!(
            error.to_string(),
            "41 columns and 2 rows are too many for one matrix; split it"
        );
        assert!(Heat::default().to_svg().is_ok());
    }
}
