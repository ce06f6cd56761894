//! The drawing itself: the canvas, the panels and their series.

use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use resvg::{tiny_skia, usvg};

use crate::axis::Axis;
use crate::head::{Colours, Head};
use crate::{Figure, Kind, Panel, PlotError, shape, text};

/// Drawing units per pixel. The library draws at whole units, so this is also
/// how finely positions and widths are resolved.
pub(crate) const UNIT: i32 = 10;

/// The width of every figure.
pub(crate) const WIDTH: i32 = 1000 * UNIT;

/// The room between the figure's content and its edges.
pub(crate) const MARGIN: i32 = 14 * UNIT;

/// The height of a panel with its title.
const PANEL: i32 = 220 * UNIT;

/// The part of a panel above its plot.
const PANEL_TITLE: i32 = 36 * UNIT;

/// The room below the last panel for the labels of the x axis.
const X_LABELS: i32 = 56 * UNIT;

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

/// The size of the text at and beside the axes.
const AXIS_TEXT: i32 = 12;

pub(crate) const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
pub(crate) const MUTED: RGBColor = RGBColor(0x66, 0x66, 0x66);
const GRID: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);

pub(crate) type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(crate) type Drawn<T> = Result<T, DrawingAreaErrorKind<io::Error>>;

/// The figure as an SVG document.
pub(crate) fn svg(figure: &Figure) -> Result<String, PlotError> {
    text::register()?;
    let mut svg = String::new();
    let height = draw(figure, &mut svg).map_err(|error| PlotError::Draw(Box::new(error)))?;
    // The library knows neither fractions of pixels nor round joints.
    let body = svg.split_once('>').map_or("", |(_, body)| body);
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
         viewBox=\"0 0 {WIDTH} {height}\" stroke-linejoin=\"round\">{body}",
        WIDTH / UNIT,
        height / UNIT,
    ))
}

/// The pixels of `svg`, a figure of so many `panels`.
pub(crate) fn png(svg: &str, panels: usize) -> Result<Vec<u8>, PlotError> {
    let tree = usvg::Tree::from_str(svg, &text::rendering())
        .map_err(|error| PlotError::Render(Box::new(error)))?;
    let size = tree.size().to_int_size();
    let mut pixels = tiny_skia::Pixmap::new(size.width(), size.height())
        .ok_or(PlotError::TooLarge { panels })?;
    let identity = tiny_skia::Transform::identity();
    resvg::render(&tree, identity, &mut pixels.as_mut());
    pixels
        .encode_png()
        .map_err(|error| PlotError::Render(Box::new(error)))
}

/// Draws `figure` and says how high it is.
fn draw(figure: &Figure, svg: &mut String) -> Drawn<i32> {
    let colours = Colours::of(figure);
    let head = Head::lay_out(figure, &colours);
    let panels = i32::try_from(figure.panels.len()).unwrap_or(i32::MAX);
    let height = head
        .height
        .saturating_add(PANEL.saturating_mul(panels))
        .saturating_add(X_LABELS);
    let size = (WIDTH.unsigned_abs(), height.unsigned_abs());
    let x_axis = x_axis(figure);
    let y_axes: Vec<Axis> = figure.panels.iter().map(y_axis).collect();
    let mut left = 0;
    for axis in &y_axes {
        for tick in axis.ticks() {
            left = left.max(text::width(&axis.label(tick), AXIS_TEXT));
        }
    }
    left += 2 * TICK + 2 * AXIS_TEXT * UNIT;
    let canvas: Canvas = SVGBackend::with_string(svg, size).into_drawing_area();
    canvas.fill(&WHITE)?;
    head.draw(&canvas)?;
    let mut top = head.height;
    for (index, (panel, y_axis)) in figure.panels.iter().zip(&y_axes).enumerate() {
        let last = index + 1 == figure.panels.len();
        let height = if last { PANEL + X_LABELS } else { PANEL };
        let frame = Frame {
            canvas: canvas.clone().shrink((0, top), (WIDTH, height)),
            left,
            x_label: last.then_some(figure.x_label.as_str()),
            x_axis: &x_axis,
            y_axis,
        };
        frame.draw(panel, &colours)?;
        top += PANEL;
    }
    canvas.present()?;
    Ok(height)
}

/// The axis all panels share.
fn x_axis(figure: &Figure) -> Axis {
    let series = figure.panels.iter().flat_map(|panel| &panel.series);
    let (low, high) = extent(
        series
            .flat_map(shape::samples)
            .filter_map(|(x, y)| y.and(Some(x))),
    );
    Axis::exact(low, high, INTERVALS.0)
}

/// The panel's own axis.
fn y_axis(panel: &Panel) -> Axis {
    match panel.y_range {
        Some((low, high)) if low < high && low.is_finite() && high.is_finite() => {
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

/// One panel's place and axes.
struct Frame<'a> {
    canvas: Canvas<'a>,
    left: i32,
    x_label: Option<&'a str>,
    x_axis: &'a Axis,
    y_axis: &'a Axis,
}

impl Frame<'_> {
    fn draw(&self, panel: &Panel, colours: &Colours) -> Drawn<()> {
        let (x, y) = (self.x_axis, self.y_axis);
        let title = text::fit(&panel.title, 13, WIDTH - MARGIN - self.left - RIGHT);
        let style = text::font(13).color(&INK);
        let place = (MARGIN + self.left, PANEL_TITLE * 2 / 5);
        self.canvas.draw_text(&title, &style, place)?;

        let mut chart = ChartBuilder::on(&self.canvas)
            .margin_top(PANEL_TITLE)
            .margin_left(MARGIN)
            .margin_right(RIGHT)
            .margin_bottom(if self.x_label.is_some() { MARGIN } else { 0 })
            .set_label_area_size(LabelAreaPosition::Left, self.left)
            .set_label_area_size(
                LabelAreaPosition::Bottom,
                if self.x_label.is_some() {
                    X_LABELS - MARGIN
                } else {
                    0
                },
            )
            .build_cartesian_2d(x.clone(), y.clone())?;
        let plot = chart.plotting_area().strip_coord_spec();
        let (width, height) = plot.dim_in_pixel();
        let (width, height) = (width.cast_signed(), height.cast_signed());
        chart
            .configure_mesh()
            .bold_line_style(GRID.stroke_width(THIN))
            .light_line_style(TRANSPARENT)
            .axis_style(MUTED.stroke_width(THIN))
            .set_all_tick_mark_size(TICK)
            .label_style(text::font(AXIS_TEXT).color(&INK))
            .x_desc(text::fit(
                self.x_label.unwrap_or_default(),
                AXIS_TEXT,
                width,
            ))
            .y_desc(text::fit(&panel.y_label, AXIS_TEXT, height))
            .draw()?;

        let floor = [(0, height - 1), (width, height - 1)];
        plot.draw(&PathElement::new(floor, MUTED.stroke_width(THIN)))?;

        let mut empty = true;
        let (references, data): (Vec<_>, Vec<_>) = panel
            .series
            .iter()
            .partition(|series| series.kind == Kind::Reference);
        for series in references.into_iter().chain(data) {
            let colour = colours.get(series);
            for run in shape::runs(series, x.low, x.high) {
                empty = false;
                for part in shape::clip(run, y.low, y.high) {
                    if series.kind == Kind::Dots || part.len() == 1 {
                        let dot = |point| Circle::new(point, 2 * UNIT, colour.filled());
                        chart.draw_series(part.into_iter().map(dot))?;
                    } else {
                        let style = colour.stroke_width(THICK);
                        chart.draw_series([PathElement::new(part, style)])?;
                    }
                }
            }
        }
        if empty {
            let centred = text::font(13)
                .color(&MUTED)
                .pos(Pos::new(HPos::Center, VPos::Center));
            plot.draw_text("no data", &centred, (width / 2, height / 2))?;
        }
        Ok(())
    }
}
