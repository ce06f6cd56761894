//! Fractal value noise that repeats horizontally.

use std::collections::VecDeque;

use crate::number::{between, fraction, index};
use crate::random::{Random, lattice};

/// Noise made of octaves, each twice as fine and half as strong as the last.
pub(crate) struct Noise {
    octaves: Vec<Octave>,
}

struct Octave {
    seed: u32,
    /// The number of lattice points in one period.
    cells: u32,
    /// The number of lattice rows in one unit of height.
    rate: f32,
    weight: f32,
}

impl Noise {
    /// Noise with `cells` features across its period in the first of `count`
    /// octaves; one unit of height is one of those features.
    pub(crate) fn new(random: &mut Random, cells: f32, count: u16) -> Self {
        let cells = u32::try_from(index(cells)).unwrap_or(1).clamp(2, 1 << 16);
        let total = 2.0 - 2.0 / (1_u32 << count) as f32;
        let octaves = (0..count)
            .map(|octave| Octave {
                seed: u32::try_from(random.next() >> 32).unwrap_or(0),
                cells: cells << octave,
                rate: (1_u32 << octave) as f32,
                weight: 1.0 / ((1_u32 << octave) as f32 * total),
            })
            .collect();
        Self { octaves }
    }

    /// Writes the noise at height `y` over one period, as many values as `row` holds, each
    /// from 0 to 1. Octaves too fine for that many values are left out.
    pub(crate) fn row(&self, y: f32, row: &mut [f32]) {
        row.fill(0.0);
        let mut points = Vec::new();
        for octave in &self.octaves {
            let cells = octave.cells as usize;
            if cells * 2 > row.len() && octave.rate > 1.0 {
                for value in row.iter_mut() {
                    *value += 0.5 * octave.weight;
                }
                continue;
            }
            let height = (y * octave.rate).max(0.0);
            let below = u32::try_from(index(height)).unwrap_or(0);
            let part = ease(fraction(height));
            points.clear();
            points.extend((0..=cells).map(|cell| {
                let column = u32::try_from(cell % cells).unwrap_or(0);
                let from = lattice(column, below, octave.seed);
                let to = lattice(column, below + 1, octave.seed);
                between(from, to, part) * octave.weight
            }));
            let step = cells as f32 / row.len() as f32;
            let length = row.len();
            for (cell, ends) in points.windows(2).take(cells).enumerate() {
                let first = (cell * length).div_ceil(cells);
                let last = ((cell + 1) * length).div_ceil(cells);
                let (from, rise) = (ends[0], ends[1] - ends[0]);
                let offset = first as f32 * step - cell as f32;
                for (x, value) in (0_u16..).zip(&mut row[first..last]) {
                    *value += from + rise * ease(offset + f32::from(x) * step);
                }
            }
        }
    }
}

/// Two rows of noise, one after the other: the latest row, and one some rows before it.
pub(crate) struct Trail<'a> {
    noise: &'a Noise,
    rows: VecDeque<Vec<f32>>,
}

impl<'a> Trail<'a> {
    /// A trail `back` rows long, of rows of `width` values. `height` gives the noise's
    /// height by the number of the row; the trail begins before row 0.
    pub(crate) fn new(
        noise: &'a Noise,
        width: usize,
        back: u16,
        height: impl Fn(f32) -> f32,
    ) -> Self {
        let rows = (0..=back).map(|row| {
            let mut values = vec![0.0; width];
            noise.row(height(f32::from(row) - f32::from(back) - 1.0), &mut values);
            values
        });
        Self {
            noise,
            rows: rows.collect(),
        }
    }

    /// Goes on to the row at `height`; returns this row and the earlier one.
    pub(crate) fn next(&mut self, height: f32) -> (&[f32], &[f32]) {
        let mut row = self.rows.pop_front().unwrap_or_default();
        self.noise.row(height, &mut row);
        self.rows.push_back(row);
        let [first, last] = [0, self.rows.len() - 1];
        (&self.rows[last], &self.rows[first])
    }
}

/// A curve from 0 to 1 with level ends.
fn ease(part: f32) -> f32 {
    part * part * (3.0 - 2.0 * part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_smooth_in_range_and_repeats() {
        let noise = Noise::new(&mut Random::new(3, 0), 8.0, 3);
        let (mut row, mut next) = (vec![0.0; 640], vec![0.0; 640]);
        noise.row(4.3, &mut row);
        noise.row(4.31, &mut next);
        assert!(row.iter().all(|value| (0.0..=1.0).contains(value)));
        let around = row.iter().zip(row.iter().cycle().skip(1));
        assert!(around.clone().all(|(a, b)| (a - b).abs() < 0.05));
        assert!(row.iter().zip(&next).all(|(a, b)| (a - b).abs() < 0.05));
        let widest = row.iter().fold((1.0_f32, 0.0_f32), |(low, high), value| {
            (low.min(*value), high.max(*value))
        });
        assert!(widest.1 - widest.0 > 0.2, "{widest:?}");
    }
}
