//! The drawing itself: the canvas, the panels and their series.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use resvg::{tiny_skia, usvg};

use crate::axis::Axis;
use crate::head::{self, Colours};
use crate::{Figure, Kind, Panel, PlotError, Series, shape, text};

/// Drawing units per pixel. The library draws at whole units, so this is also
/// how finely positions and widths are resolved.
pub(crate) const UNIT: i32 = 10;

/// The width of every figure.
pub(crate) const WIDTH: i32 = 1000 * UNIT;

/// The room between the figure's content and its edges.
pub(crate) const MARGIN: i32 = 14 * UNIT;

/// The most panels in one figure. It keeps the size of an image in bounds.
const MOST_PANELS: usize = 100;

/// The height of a panel with its title.
const PANEL: i32 = 220 * UNIT;

/// The part of a panel above its plot.
const PANEL_TITLE: i32 = 36 * UNIT;

/// The room below the last panel for the labels of the x axis.
const X_LABELS: i32 = 42 * UNIT;

/// The room to the right of a plot: half of the last label.
const RIGHT: i32 = 28 * UNIT;

/// The length of a tick. The room between an axis and its labels is twice this.
const TICK: i32 = 4 * UNIT;

/// The width of the grid's lines.
const THIN: u32 = UNIT.unsigned_abs();

/// The width of a series' line.
const THICK: u32 = THIN * 3 / 2;

/// The most intervals between ticks, across and up.
const INTERVALS: (f64, f64) = (9.0, 6.5);

/// The most across a square panel.
const SQUARE_INTERVALS: f64 = 5.0;

/// The radius of a dot.
const DOT: i32 = 2 * UNIT;

/// The size of the text at and beside the axes.
const AXIS_TEXT: i32 = 12;

/// The size of a panel's title.
const PANEL_TEXT: i32 = 13;

pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(crate) const MUTED: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);

pub(crate) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;
pub(crate) type Drawn<T> = Result<T, DrawingAreaErrorKind<io::Error>>;

/// The room for the labels of the figure's y axes, in drawing units.
pub(crate) fn left(figure: &Figure) -> Result<i32, PlotError> {
    text::register()?;
    let y_axes: Vec<Axis> = figure.panels.iter().map(y_axis).collect();
    Ok(labels(&y_axes))
}

/// The figure as an SVG document, with at least `room` for the y axes' labels.
pub(crate) fn svg(figure: &Figure, room: i32) -> Result<String, PlotError> {
    if figure.panels.len() > MOST_PANELS {
        return Err(PlotError::TooManyPanels(figure.panels.len()));
    }
    text::register()?;
    let mut svg = String::new();
    let height = draw(figure, room, &mut svg).map_err(|error| PlotError::Draw(Box::new(error)))?;
    // Replaces the library's first tag, which knows neither the height, nor fractions of pixels,
    // nor round joints.
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {WIDTH} {height}\" stroke-linejoin=\"round\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>{body}",
        WIDTH / UNIT,
        height / UNIT,
    ))
}

/// The pixels of `svg`.
pub(crate) fn png(svg: &str) -> Result<Vec<u8>, PlotError> {
    let tree = usvg::Tree::from_str(svg, &text::rendering())
        .map_err(|error| PlotError::Render(Box::new(error)))?;
    let size = tree.size().to_int_size();
    let mut pixels =
        tiny_skia::Pixmap::new(size.width(), size.height()).ok_or(PlotError::TooLarge)?;
    let identity = tiny_skia::Transform::identity();
    resvg::render(&tree, identity, &mut pixels.as_mut());
    let encoded = pixels.encode_png();
    encoded.map_err(|error| PlotError::Render(Box::new(error)))
}

/// The arrangement of panels: one below the other, or square ones side by side.
struct Grid {
    columns: usize,
    /// The height of a panel with its title.
    panel: i32,
    is_square: bool,
}

/// The place of a panel below the head.
struct Cell {
    at: (i32, i32),
    width: i32,
    panel: i32,
    /// The room for the labels of the x axis below.
    labels: i32,
}

impl Grid {
    fn of(figure: &Figure, left: i32) -> Self {
        if !is_square(figure) {
            return Self {
                columns: 1,
                panel: PANEL,
                is_square: false,
            };
        }
        let columns: u8 = match figure.panels.len() {
            0..=2 | 4 => 2,
            _ => 3,
        };
        let width = WIDTH / i32::from(columns);
        Self {
            columns: usize::from(columns),
            panel: (width - MARGIN - left - RIGHT).max(PANEL / 2) + PANEL_TITLE,
            is_square: true,
        }
    }

    fn cell(&self, index: usize, panels: usize) -> Cell {
        let number = |count: usize| i32::try_from(count).unwrap_or(0);
        let width = WIDTH / number(self.columns).max(1);
        let labels = if self.is_square { X_LABELS } else { 0 };
        let (row, column) = (index / self.columns, index % self.columns);
        let is_last = index + 1 == panels;
        Cell {
            at: (number(column) * width, number(row) * (self.panel + labels)),
            width,
            panel: self.panel,
            labels: if is_last { X_LABELS } else { labels },
        }
    }
}

/// Whether the figure has a path, or several panels of dots and nothing else.
fn is_square(figure: &Figure) -> bool {
    let kinds = || {
        let series = figure.panels.iter().flat_map(|panel| &panel.series);
        series.map(|series| series.kind)
    };
    let is_scatter = figure.panels.len() > 1 && kinds().all(|kind| kind == Kind::Dots);
    is_scatter || kinds().any(|kind| kind == Kind::Path)
}

/// The room for the labels and the names of `y_axes`.
fn labels(y_axes: &[Axis]) -> i32 {
    let labels = y_axes
        .iter()
        .flat_map(|axis| axis.ticks().into_iter().map(|tick| axis.label(tick)));
    let widest = labels.map(|label| text::width(&label, AXIS_TEXT)).max();
    widest.unwrap_or_default() + 2 * TICK + 2 * AXIS_TEXT * UNIT
}

/// Draws `figure`, and returns its height.
fn draw(figure: &Figure, room: i32, svg: &mut String) -> Drawn<i32> {
    let x_axis = x_axis(figure);
    let y_axes: Vec<Axis> = figure.panels.iter().map(y_axis).collect();
    let left = labels(&y_axes).max(room);

    let size = (WIDTH.unsigned_abs(), i32::MAX.unsigned_abs());
    let canvas: Canvas = SVGBackend::with_string(svg, size).into_drawing_area();
    let colours = Colours::of(figure);
    let top = head::draw(&canvas, figure, &colours)?;
    let grid = Grid::of(figure, left);
    let mut bottom = top;
    for (index, (panel, y_axis)) in figure.panels.iter().zip(&y_axes).enumerate() {
        let Cell {
            at: (x, y),
            width,
            panel: panel_height,
            labels,
        } = grid.cell(index, figure.panels.len());
        let height = panel_height + labels;
        let place = canvas.clone().shrink((x, top + y), (width, height));
        let mut chart = ChartBuilder::on(&place)
            .margin_top(PANEL_TITLE)
            .margin_left(MARGIN)
            .margin_right(RIGHT)
            .set_label_area_size(LabelAreaPosition::Left, left)
            .set_label_area_size(LabelAreaPosition::Bottom, labels)
            .build_cartesian_2d(x_axis.clone(), y_axis.clone())?;
        let title = text::fit(&panel.title, PANEL_TEXT, width - MARGIN - left - RIGHT);
        let style = text::font(PANEL_TEXT).color(&INK);
        place.draw_text(&title, &style, (MARGIN + left, PANEL_TITLE * 2 / 5))?;
        draw_axes(&mut chart, &figure.x_label, &panel.y_label)?;
        draw_series(&mut chart, &panel.series, &colours)?;
        bottom = bottom.max(top + y + height);
    }
    canvas.present()?;
    Ok(bottom + MARGIN)
}

/// The x axis that all panels share.
fn x_axis(figure: &Figure) -> Axis {
    let series = figure.panels.iter().flat_map(|panel| &panel.series);
    let samples = series.flat_map(shape::samples);
    let (low, high) = extent(samples.filter_map(|(x, y)| y.and(Some(x))));
    let intervals = if is_square(figure) {
        SQUARE_INTERVALS
    } else {
        INTERVALS.0
    };
    Axis::exact(low, high, intervals)
}

/// The y axis of a panel.
fn y_axis(panel: &Panel) -> Axis {
    match panel.y_range {
        Some((low, high)) if low < high && (high - low).is_finite() => {
            Axis::exact(low, high, INTERVALS.1)
        }
        _ => {
            let samples = panel.series.iter().flat_map(shape::samples);
            let (low, high) = extent(samples.filter_map(|(_, y)| y));
            Axis::around(low, high, INTERVALS.1)
        }
    }
}

/// The least and the greatest of `values`, or zero if there are none.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .map(|value| (value, value))
        .reduce(|all, one| (all.0.min(one.0), all.1.max(one.1)))
        .unwrap_or((0.0, 0.0))
}

/// Draws grid, axes and their labels.
fn draw_axes(chart: &mut Chart, x_label: &str, y_label: &str) -> Drawn<()> {
    let plot = chart.plotting_area().strip_coord_spec();
    let (width, height) = size(&plot);
    chart
        .configure_mesh()
        .bold_line_style(GRID.stroke_width(THIN))
        .light_line_style(TRANSPARENT)
        .axis_style(MUTED.stroke_width(THIN))
        .set_all_tick_mark_size(TICK)
        .label_style(text::font(AXIS_TEXT).color(&INK))
        .x_desc(text::fit(x_label, AXIS_TEXT, width))
        .y_desc(text::fit(y_label, AXIS_TEXT, height))
        .draw()?;
    // Above another panel the library leaves the x axis out.
    let floor = [(0, height - 1), (width, height - 1)];
    plot.draw(&PathElement::new(floor, MUTED.stroke_width(THIN)))
}

/// Draws the series, areas first and references next, or says that there is
/// nothing to draw.
fn draw_series(chart: &mut Chart, series: &[Series], colours: &Colours) -> Drawn<()> {
    let plot = chart.plotting_area().strip_coord_spec();
    let (x, y) = (chart.x_range(), chart.y_range());
    let of = |kinds: &'static [Kind]| series.iter().filter(|series| kinds.contains(&series.kind));
    let order = of(&[Kind::Area])
        .rev()
        .chain(of(&[Kind::Reference]))
        .chain(of(&[Kind::Line, Kind::Steps, Kind::Dots, Kind::Path]));
    let mut empty = true;
    for series in order {
        let colour = colours.get(series);
        let runs = shape::runs(series, x.start, x.end);
        empty &= runs.is_empty();
        if series.kind == Kind::Area {
            for run in runs {
                let outline = shape::outline(run, y.start, y.end);
                chart.draw_series([Polygon::new(outline, colour.filled())])?;
            }
            continue;
        }
        for part in runs
            .into_iter()
            .flat_map(|run| shape::clip(run, y.start, y.end))
        {
            if series.kind == Kind::Dots || part.len() == 1 {
                let dot = |point| Circle::new(point, DOT, colour.filled());
                chart.draw_series(part.into_iter().map(dot))?;
            } else {
                chart.draw_series([PathElement::new(part, colour.stroke_width(THICK))])?;
            }
        }
    }
    if empty {
        let centred = Pos::new(HPos::Center, VPos::Center);
        let style = text::font(PANEL_TEXT).color(&MUTED).pos(centred);
        let (width, height) = size(&plot);
        plot.draw_text("no data", &style, (width / 2, height / 2))?;
    }
    Ok(())
}

/// Width and height of `area`.
fn size(area: &Canvas) -> (i32, i32) {
    let (width, height) = area.dim_in_pixel();
    (width.cast_signed(), height.cast_signed())
}
