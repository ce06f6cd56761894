//! Figures of recorded series as SVG, PNG and HTML.
//!
//! A [`Figure`] is a stack of [`Panel`]s over one x axis. Names, units and numbers all come from
//! the caller. The same figure gives the same bytes of SVG and HTML everywhere, because the only
//! font is embedded; the PNG is a rendering of the SVG, so that both look alike. A [`Heat`] is a
//! matrix on coloured cells. A [`Page`] puts several figures between text and [`Table`]s.

mod axis;
mod draw;
mod head;
mod heat;
mod html;
mod shape;
mod table;
mod text;

use std::error::Error;

pub use heat::{Heat, Shaded};
pub use html::{Page, Part};
pub use table::Table;

/// Panels stacked above one shared x axis, under one title and one legend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// What the figure shows.
    pub title: String,
    /// The conditions of the recording; wraps when long.
    pub subtitle: String,
    /// Label of the x axis, with its unit, e.g. `Time (s)`.
    pub x_label: String,
    /// The panels, from top to bottom.
    pub panels: Vec<Panel>,
}

/// One plot of a figure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// The quantity that the panel shows.
    pub title: String,
    /// Label of the y axis, with its unit, e.g. `Mbit/s`.
    pub y_label: String,
    /// The lowest and highest value shown; what lies outside is cut off. `None` shows all data and
    /// zero.
    pub y_range: Option<(f64, f64)>,
    /// The series. Later ones are drawn above earlier ones and all of them above references; areas
    /// are drawn in another order.
    pub series: Vec<Series>,
}

/// Named points of one kind. Series of one name have one colour in all panels.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// The name in the legend; a series without one is left out of it.
    pub name: String,
    /// Pairs of x and y. A pair that is not finite is skipped and breaks the
    /// line. Of a long series each two pixels show the first, last, lowest and
    /// highest point.
    pub points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub kind: Kind,
}

/// How a series is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kind {
    /// Straight lines between the points.
    #[default]
    Line,
    /// Steps: each value is valid until the next point.
    Steps,
    /// Dots at the points. The panels of a figure with nothing else stand side by side.
    Dots,
    /// Areas from zero to a value, which is valid until the next point. Areas are drawn behind
    /// everything else, with earlier ones above later ones, so that series of growing sums make a
    /// stack.
    Area,
    /// Straight lines between the points in the given order, which may lead back and forth. The
    /// panels of a figure with a path are square and stand side by side.
    Path,
    /// A grey line for comparison, e.g. the link's rate. Each value is valid until the next point,
    /// the last one to the end of the axis.
    Reference,
}

/// Why a figure cannot be made. The content of a figure causes none of these errors, except by its
/// size.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The embedded font was refused.
    #[error("the embedded font cannot be read")]
    Font,
    /// The SVG could not be drawn.
    #[error("the figure cannot be drawn")]
    Draw(#[source] Box<dyn Error + Send + Sync>),
    /// The SVG could not be turned into pixels.
    #[error("the figure cannot be rendered as pixels")]
    Render(#[source] Box<dyn Error + Send + Sync>),
    /// The figure has too many panels, and would be too high.
    #[error("{0} panels are too many for one figure; split it")]
    TooManyPanels(usize),
    /// The matrix has too many cells for their texts to be read: so many columns and rows.
    #[error("{0} columns and {1} rows are too many for one matrix; split it")]
    TooManyCells(usize, usize),
    /// The text of the head is too long for an image.
    #[error("the figure is too high for an image; shorten its title and names")]
    TooLarge,
}

impl Figure {
    /// The figure as an SVG document, 1000 pixels wide.
    ///
    /// # Errors
    ///
    /// [`PlotError::TooManyPanels`] above 100 panels; [`PlotError::Font`] or
    /// [`PlotError::Draw`] when the drawing library fails.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        draw::svg(self, 0)
    }

    /// The figure as a PNG, rendered from its SVG.
    ///
    /// # Errors
    ///
    /// The errors of [`Figure::to_svg`]; [`PlotError::TooLarge`] if the image would be too large,
    /// and [`PlotError::Render`] if the rendering library fails.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        draw::png(&self.to_svg()?)
    }

    /// An HTML page with title, subtitle, `tables` and the figure.
    ///
    /// The page has no external references, follows the reader's light or dark mode, and scrolls
    /// the figure where the screen is narrow.
    ///
    /// # Errors
    ///
    /// The errors of [`Figure::to_svg`].
    pub fn to_html(&self, tables: &[Table]) -> Result<String, PlotError> {
        let untitled = Self {
            title: String::new(),
            subtitle: String::new(),
            ..self.clone()
        };
        let tables = tables.iter().cloned().map(Part::Table);
        let page = Page {
            title: self.title.clone(),
            subtitle: self.subtitle.clone(),
            parts: tables.chain([Part::Figure(untitled)]).collect(),
        };
        page.to_html()
    }
}
