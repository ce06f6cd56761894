//! The head of a figure: title, subtitle and legend. Its height depends on how
//! they wrap.

use std::collections::BTreeMap;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::draw::{Canvas, Drawn, INK, MARGIN, MUTED, UNIT, WIDTH};
use crate::{Figure, Kind, Series, text};

/// Okabe and Ito's palette, which the colour-blind can tell apart, with the
/// faintest colour last.
const PALETTE: [RGBColor; 8] = [
    RGBColor(0x00, 0x72, 0xB2),
    RGBColor(0xD5, 0x5E, 0x00),
    RGBColor(0x00, 0x9E, 0x73),
    RGBColor(0xCC, 0x79, 0xA7),
    RGBColor(0x56, 0xB4, 0xE9),
    RGBColor(0xE6, 0x9F, 0x00),
    RGBColor(0x00, 0x00, 0x00),
    RGBColor(0xF0, 0xE4, 0x42),
];

/// The grey of references.
const REFERENCE: RGBColor = RGBColor(0x8C, 0x8C, 0x8C);

/// The width of the sample of a line in the legend, with the gap to its name.
const SAMPLE: i32 = 31 * UNIT;

/// The gap between a sample and its name.
const SAMPLE_GAP: i32 = 7 * UNIT;

/// The room between two entries of the legend.
const ENTRY_GAP: i32 = 22 * UNIT;

/// The height of a row of the legend.
const ROW: i32 = 20 * UNIT;

/// The size of the legend's text.
const LEGEND_TEXT: i32 = 12;

/// Which colour each name has.
pub(crate) struct Colours<'a>(BTreeMap<&'a str, RGBColor>);

impl<'a> Colours<'a> {
    /// Gives out the palette in the order in which the names appear.
    pub(crate) fn of(figure: &'a Figure) -> Self {
        let mut colours = BTreeMap::new();
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            if series.kind != Kind::Reference {
                let next = PALETTE[colours.len() % PALETTE.len()];
                colours.entry(series.name.as_str()).or_insert(next);
            }
        }
        Self(colours)
    }

    /// The colour of `series`.
    pub(crate) fn get(&self, series: &Series) -> RGBColor {
        match series.kind {
            Kind::Reference => REFERENCE,
            Kind::Line | Kind::Steps | Kind::Dots | Kind::Area | Kind::Path => {
                *self.0.get(series.name.as_str()).unwrap_or(&INK)
            }
        }
    }
}

/// Draws the head at the top of `canvas` and says where it ends.
pub(crate) fn draw(canvas: &Canvas, figure: &Figure, colours: &Colours) -> Drawn<i32> {
    let room = WIDTH - 2 * MARGIN;
    let mut top = MARGIN;
    for (text, pixels, colour) in [(&figure.title, 18, INK), (&figure.subtitle, 12, MUTED)] {
        for line in text::wrap(text, pixels, room) {
            canvas.draw_text(&line, &text::font(pixels).color(&colour), (MARGIN, top))?;
            top += pixels * UNIT * 3 / 2;
        }
    }
    let mut listed = Vec::new();
    let mut left = MARGIN;
    for series in figure.panels.iter().flat_map(|panel| &panel.series) {
        let key = (series.name.as_str(), series.kind == Kind::Reference);
        if series.name.is_empty() || listed.contains(&key) {
            continue;
        }
        listed.push(key);
        let name = text::fit(&series.name, LEGEND_TEXT, room - SAMPLE);
        let width = SAMPLE + text::width(&name, LEGEND_TEXT);
        if left > MARGIN && left + width > MARGIN + room {
            left = MARGIN;
            top += ROW;
        }
        entry(
            canvas,
            (left, top + ROW * 3 / 4),
            series.kind,
            colours.get(series),
            &name,
        )?;
        left += width + ENTRY_GAP;
    }
    Ok(if listed.is_empty() {
        top
    } else {
        top + ROW * 5 / 4
    })
}

/// Draws one entry of the legend, with its left end at `at`.
fn entry(canvas: &Canvas, at: (i32, i32), kind: Kind, colour: RGBColor, name: &str) -> Drawn<()> {
    let (left, middle) = at;
    let end = left + SAMPLE - SAMPLE_GAP;
    if kind == Kind::Area {
        let half = 5 * UNIT;
        let (above, below) = (middle - half, middle + half);
        let corners = [(left, above), (end, above), (end, below), (left, below)];
        canvas.draw(&Polygon::new(corners, colour.filled()))?;
    } else if kind == Kind::Dots {
        let centre = (i32::midpoint(left, end), middle);
        canvas.draw(&Circle::new(centre, 4 * UNIT, colour.filled()))?;
    } else {
        let style = colour.stroke_width((5 * UNIT / 2).unsigned_abs());
        canvas.draw(&PathElement::new([at, (end, middle)], style))?;
    }
    let style = text::font(LEGEND_TEXT)
        .color(&INK)
        .pos(Pos::new(HPos::Left, VPos::Center));
    canvas.draw_text(name, &style, (left + SAMPLE, middle))
}
