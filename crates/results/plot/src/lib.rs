//! Figures of recorded series as SVG, PNG and HTML.
//!
//! A [`Figure`] is a stack of [`Panel`]s over one x axis. It carries no meaning
//! of its own: names, units and numbers come from the caller. The same figure
//! gives the same bytes of SVG and HTML everywhere, because the only font is
//! embedded; the PNG is a rendering of the SVG, so both look alike. A [`Page`]
//! puts several figures between text and [`Table`]s.

mod axis;
mod draw;
mod head;
mod html;
mod shape;
mod table;
mod text;

use std::error::Error;

pub use html::{Page, Part};
pub use table::Table;

/// Panels stacked above one shared x axis, under one title and one legend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// What the figure shows.
    pub title: String,
    /// The conditions it was recorded under; wraps when long.
    pub subtitle: String,
    /// The x axis, with its unit, e.g. `Time (s)`.
    pub x_label: String,
    /// From top to bottom.
    pub panels: Vec<Panel>,
}

/// One plot of a figure.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// What is measured.
    pub title: String,
    /// The y axis, with its unit, e.g. `Mbit/s`.
    pub y_label: String,
    /// The lowest and highest value shown. What lies outside is cut off.
    /// `None` shows all data and zero.
    pub y_range: Option<(f64, f64)>,
    /// Later series lie above earlier ones, and all of them above references;
    /// only areas lie otherwise.
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
    /// Each value holds until the next point.
    Steps,
    /// The points alone. The panels of a figure with nothing else stand side by side.
    Dots,
    /// Filled from zero to a value, which holds until the next point. Areas lie
    /// behind all else and earlier ones above later ones, so that series of
    /// growing sums make a stack.
    Area,
    /// Straight lines between the points as they are given, which may lead back and forth.
    /// The panels of a figure with one are square and stand side by side.
    Path,
    /// A grey line to compare with, e.g. the link's rate. Each value holds
    /// until the next point, the last one to the end of the axis.
    Reference,
}

/// Why a figure could not be made. No content leads to these except its size.
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
    /// A figure of so many panels would be too high.
    #[error("{0} panels are too many for one figure; split it")]
    TooManyPanels(usize),
    /// The head's text is too long for an image.
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
    /// As [`Figure::to_svg`]; [`PlotError::TooLarge`] when the image would be,
    /// and [`PlotError::Render`] when the rendering library fails.
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        draw::png(&self.to_svg()?)
    }

    /// A page of its own with title, subtitle, `tables` and the figure.
    ///
    /// The page refers to nothing outside of itself, follows the reader's light
    /// or dark mode, and scrolls the figure where the screen is narrow.
    ///
    /// # Errors
    ///
    /// As [`Figure::to_svg`].
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
