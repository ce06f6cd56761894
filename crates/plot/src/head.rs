//! The head of a figure: title, subtitle and legend, laid out before drawing
//! because the figure's height depends on them.

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

/// The width of the sample of a line in the legend.
const SAMPLE: i32 = 24 * UNIT;

/// The room between that and the name.
const GAP: i32 = 7 * UNIT;

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
            Kind::Line | Kind::Steps | Kind::Dots => {
                *self.0.get(series.name.as_str()).unwrap_or(&INK)
            }
        }
    }
}

/// Title, subtitle and legend with their places.
pub(crate) struct Head {
    lines: Vec<Line>,
    entries: Vec<Entry>,
    pub(crate) height: i32,
}

/// A line of the title or the subtitle.
struct Line {
    text: String,
    pixels: i32,
    colour: RGBColor,
    top: i32,
}

/// A name in the legend.
struct Entry {
    name: String,
    kind: Kind,
    colour: RGBColor,
    at: (i32, i32),
}

impl Head {
    /// Gives everything its place, from the top down.
    pub(crate) fn lay_out(figure: &Figure, colours: &Colours) -> Self {
        let room = WIDTH - 2 * MARGIN;
        let mut head = Self {
            lines: Vec::new(),
            entries: Vec::new(),
            height: MARGIN,
        };
        head.add_lines(&figure.title, 18, INK, room);
        head.add_lines(&figure.subtitle, 12, MUTED, room);
        head.add_legend(figure, colours, room);
        head
    }

    fn add_lines(&mut self, text: &str, pixels: i32, colour: RGBColor, room: i32) {
        for text in text::wrap(text, pixels, room) {
            let top = self.height;
            self.lines.push(Line {
                text,
                pixels,
                colour,
                top,
            });
            self.height += pixels * UNIT * 3 / 2;
        }
    }

    fn add_legend(&mut self, figure: &Figure, colours: &Colours, room: i32) {
        let mut listed = Vec::new();
        let mut left = MARGIN;
        let mut middle = self.height + ROW * 3 / 4;
        for series in figure.panels.iter().flat_map(|panel| &panel.series) {
            let colour = colours.get(series);
            let key = (series.name.as_str(), series.kind == Kind::Reference);
            if series.name.is_empty() || listed.contains(&key) {
                continue;
            }
            listed.push(key);
            let name = text::fit(&series.name, LEGEND_TEXT, room - SAMPLE - GAP);
            let right = left + SAMPLE + GAP + text::width(&name, LEGEND_TEXT);
            if right > MARGIN + room && left > MARGIN {
                left = MARGIN;
                middle += ROW;
            }
            let at = (left, middle);
            left += SAMPLE + GAP + text::width(&name, LEGEND_TEXT) + ENTRY_GAP;
            self.entries.push(Entry {
                name,
                kind: series.kind,
                colour,
                at,
            });
        }
        if !self.entries.is_empty() {
            self.height = middle + ROW / 2;
        }
    }

    /// Draws the head at the top of `canvas`.
    pub(crate) fn draw(&self, canvas: &Canvas) -> Drawn<()> {
        for line in &self.lines {
            let style = text::font(line.pixels).color(&line.colour);
            canvas.draw_text(&line.text, &style, (MARGIN, line.top))?;
        }
        let style = text::font(LEGEND_TEXT)
            .color(&INK)
            .pos(Pos::new(HPos::Left, VPos::Center));
        for entry in &self.entries {
            let (left, middle) = entry.at;
            if entry.kind == Kind::Dots {
                let centre = (left + SAMPLE / 2, middle);
                canvas.draw(&Circle::new(centre, 4 * UNIT, entry.colour.filled()))?;
            } else {
                let ends = [(left, middle), (left + SAMPLE, middle)];
                let width = (5 * UNIT / 2).unsigned_abs();
                canvas.draw(&PathElement::new(ends, entry.colour.stroke_width(width)))?;
            }
            canvas.draw_text(&entry.name, &style, (left + SAMPLE + GAP, middle))?;
        }
        Ok(())
    }
}
