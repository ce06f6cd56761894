//! A texture that repeats sideways, cut into runs so that drawing it is mostly copying
//! rows.

use crate::canvas::{Canvas, mix_row};
use crate::colour::Texel;
use crate::number::{index, signed};
use crate::sheet::Sheet;

/// A layer of the landscape.
pub(crate) struct Layer {
    luma: Cut,
    /// The planes U and V.
    chroma: [Cut; 2],
}

/// The rows of one plane.
#[derive(Default)]
struct Cut {
    samples: Vec<u8>,
    alpha: Vec<u8>,
    runs: Vec<Run>,
    rows: Vec<Row>,
}

/// One row of a plane.
struct Row {
    /// The index of the row's first sample.
    samples: usize,
    /// The number of samples after which the row repeats.
    period: usize,
    /// The range of the row's runs.
    runs: std::ops::Range<usize>,
}

/// Neighbouring samples of which none is transparent.
struct Run {
    /// The first sample, and the one after the last, counted from the row's start.
    from: usize,
    to: usize,
    /// The index of the run's first alpha; `None` where the samples cover the background.
    alpha: Option<usize>,
}

impl Cut {
    /// Adds a row of samples and their alpha.
    fn push(&mut self, row: impl Iterator<Item = (u8, u8)>) {
        let (samples, first) = (self.samples.len(), self.runs.len());
        for (x, (sample, alpha)) in row.enumerate() {
            self.samples.push(sample);
            if alpha == 0 {
                continue;
            }
            let run = self.runs[first..].last_mut().filter(|run| run.to == x);
            match run {
                Some(run) if run.alpha.is_none() == (alpha == 255) => run.to += 1,
                _ => self.runs.push(Run {
                    from: x,
                    to: x + 1,
                    alpha: (alpha < 255).then_some(self.alpha.len()),
                }),
            }
            if alpha < 255 {
                self.alpha.push(alpha);
            }
        }
        self.rows.push(Row {
            samples,
            period: self.samples.len() - samples,
            runs: first..self.runs.len(),
        });
    }

    /// Draws into a plane of `width` samples a row, from row `top` down, moved to the left
    /// by `shift` of each row's period.
    fn draw(&self, plane: &mut [u8], width: usize, top: i32, shift: f32) {
        let (skip, first) = match usize::try_from(top) {
            Ok(top) => (0, top),
            Err(_) => (top.unsigned_abs() as usize, 0),
        };
        let lines = plane.chunks_exact_mut(width).skip(first);
        for (line, row) in lines.zip(self.rows.iter().skip(skip)) {
            let mut from = index(shift * row.period as f32).min(row.period - 1);
            let mut line = line;
            while !line.is_empty() {
                let length = line.len().min(row.period - from);
                let (part, rest) = line.split_at_mut(length);
                self.copy(row, from, part);
                (line, from) = (rest, 0);
            }
        }
    }

    /// Draws the part of `row` that begins with sample `from`.
    #[inline]
    fn copy(&self, row: &Row, from: usize, line: &mut [u8]) {
        let to = from + line.len();
        let runs = &self.runs[row.runs.clone()];
        for run in &runs[runs.partition_point(|run| run.to <= from)..] {
            if run.from >= to {
                break;
            }
            let (start, end) = (run.from.max(from), run.to.min(to));
            let samples = &self.samples[row.samples + start..row.samples + end];
            let line = &mut line[start - from..end - from];
            match run.alpha {
                None => line.copy_from_slice(samples),
                Some(alpha) => mix_row(line, samples, &self.alpha[alpha + start - run.from..]),
            }
        }
    }
}

impl Layer {
    /// Cuts a sheet, whose rows may differ in length but must be even.
    pub(crate) fn new(sheet: &Sheet) -> Self {
        let (mut luma, mut chroma) = (Cut::default(), [Cut::default(), Cut::default()]);
        for (y, row) in sheet.rows.iter().enumerate() {
            luma.push(row.iter().map(|dot| (dot.yuv[0], dot.alpha)));
            if y % 2 == 0 {
                for (plane, cut) in (1..).zip(&mut chroma) {
                    cut.push(row.chunks_exact(2).map(|pair| halved(pair, plane)));
                }
            }
        }
        Self { luma, chroma }
    }

    /// Draws the layer with its first row at `top`, moved to the left by `shift` of its
    /// period, 0 to below 1.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, top: i32, shift: f32) {
        // The colour planes have half the rows: an odd row would part them from the
        // brightness plane.
        let top = top & !1;
        let [luma, blue, red] = &mut canvas.planes;
        self.luma.draw(luma, canvas.width, top, shift);
        for (plane, cut) in [blue, red].into_iter().zip(&self.chroma) {
            cut.draw(plane, canvas.width / 2, top / 2, shift);
        }
    }

    /// The number of rows.
    pub(crate) fn height(&self) -> i32 {
        signed(self.luma.rows.len())
    }
}

/// The colour of two neighbouring dots, and their alpha.
fn halved(pair: &[Texel], plane: usize) -> (u8, u8) {
    let weight = |dot: &Texel| u32::from(dot.alpha);
    let alpha: u32 = pair.iter().map(weight).sum();
    let sum: u32 = pair
        .iter()
        .map(|dot| u32::from(dot.yuv[plane]) * weight(dot))
        .sum();
    let byte = |value: u32| u8::try_from(value).unwrap_or(u8::MAX);
    (
        byte(sum.checked_div(alpha).unwrap_or(128)),
        byte(alpha.div_ceil(2)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::Colour;
    use mimosa_video::{Picture, Plane, Size};

    #[test]
    fn a_layer_repeats_moves_and_leaves_gaps() {
        let mut sheet = Sheet::new(20, 4);
        for y in 0..4 {
            sheet.span(y, 2.0, 6.0, Colour::rgb(0xff_ffff));
        }
        sheet.dot(10, 0, Colour::rgb(0xff_ffff).texel(0.5));
        let layer = Layer::new(&sheet);
        let mut picture = Picture::new(Size::new(32, 16).unwrap());
        layer.draw(&mut Canvas::new(&mut picture), 4, 0.1);
        let luma = picture.plane(Plane::Y);
        let row = |y: usize| -> String {
            let letter = |&luma: &u8| match luma {
                16 => '.',
                235 => '#',
                _ => '+',
            };
            luma[y * 32..][..32].iter().map(letter).collect()
        };
        assert_eq!(row(3), "................................");
        assert_eq!(row(4), "####....+...........####....+...");
        assert_eq!(row(7), "####................####........");
        assert_eq!(row(8), "................................");
        // Nothing is drawn above and below the picture.
        for top in [-40, -4, 16, 40] {
            let before = picture.clone();
            layer.draw(&mut Canvas::new(&mut picture), top, 0.999);
            assert_eq!(picture, before, "{top}");
        }
    }
}
