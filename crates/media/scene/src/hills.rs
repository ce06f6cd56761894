//! Ranges of hills: a ridge, rock lit from one side, snow, trees and haze.

use crate::colour::Colour;
use crate::landscape::Geometry;
use crate::layer::Layer;
use crate::noise::{Noise, Trail};
use crate::number::{between, even, fraction, index, signed, sine, smooth, whole};
use crate::palette::Palette;
use crate::random::Random;
use crate::sheet::Sheet;

/// One range of hills.
pub(crate) struct Hills {
    /// The height of the highest peak above the horizon, in parts of the picture's height.
    height: f32,
    /// The height of the lowest saddle, in parts of the highest peak.
    saddle: f32,
    /// The distance from one peak to the next, in units.
    spacing: f32,
    dark: Colour,
    light: Colour,
    haze: Colour,
    /// The share of haze at the top and at the foot.
    hazy: [f32; 2],
    snow: Option<Colour>,
    has_trees: bool,
    is_terraced: bool,
}

impl Hills {
    /// The range farthest away.
    pub(crate) fn far(palette: &Palette) -> Self {
        let [dark, light] = palette.ranges[0];
        Self {
            height: if palette.is_desert { 0.3 } else { 0.42 },
            saddle: 0.25,
            spacing: 330.0,
            dark,
            light,
            haze: palette.haze,
            hazy: [0.2, 0.85],
            snow: palette.snow,
            has_trees: false,
            is_terraced: palette.is_desert,
        }
    }

    /// The range in the middle.
    pub(crate) fn middle(palette: &Palette) -> Self {
        let [dark, light] = palette.ranges[1];
        Self {
            height: if palette.is_desert { 0.36 } else { 0.24 },
            saddle: 0.1,
            spacing: 420.0,
            dark,
            light,
            hazy: [0.05, 0.55],
            snow: None,
            ..Self::far(palette)
        }
    }

    /// The nearest range.
    pub(crate) fn near(palette: &Palette) -> Self {
        let [dark, light] = palette.ranges[2];
        Self {
            height: 0.12,
            saddle: 0.15,
            spacing: 520.0,
            dark,
            light,
            hazy: [0.0, 0.2],
            has_trees: !palette.is_desert,
            ..Self::middle(palette)
        }
    }

    /// The height of the ridge by column, 0 to 1.
    fn ridge(&self, geometry: &Geometry, random: &mut Random) -> Vec<f32> {
        let mut ridge = vec![0.0; geometry.period];
        let peaks = geometry.period as f32 / (self.spacing * geometry.unit);
        Noise::new(random, peaks, 7).row(0.5, &mut ridge);
        let (low, high) = ridge
            .iter()
            .fold((1.0_f32, 0.0_f32), |(low, high), &height| {
                (low.min(height), high.max(height))
            });
        for height in &mut ridge {
            let stretched = (*height - low) / (high - low).max(0.01);
            *height = if self.is_terraced {
                // The ridge is steep between flat steps.
                let steps = stretched * 3.0;
                let step = steps.floor() + smooth(0.45, 0.62, fraction(steps));
                step / 3.0 * 0.9 + stretched * 0.1
            } else {
                stretched
            };
            *height = between(self.saddle, 1.0, *height);
        }
        ridge
    }

    /// Puts trees on the ridge, whose heights are in rows. Returns the height of each
    /// column with its tree.
    fn planted(&self, geometry: &Geometry, ridge: &[f32], random: &mut Random) -> Vec<f32> {
        let mut crowns = ridge.to_vec();
        let mut x = 0.0;
        while self.has_trees && x < ridge.len() as f32 {
            let height = random.between(22.0, 64.0) * geometry.unit;
            let half = height * random.between(0.17, 0.24);
            let root = index(x) % ridge.len();
            let reach = index(half.max(1.0));
            for column in 0..=2 * reach {
                let off = (column as f32 - reach as f32).abs() / half.max(1.0);
                // A tree has boughs in five tiers, each hanging a little.
                let tier = 0.55 * (off * 5.0).floor() / 5.0 + 0.45 * off;
                let crown = ridge[root] + height * (1.0 - tier) - 2.0 * geometry.unit;
                let at = (root + column + ridge.len() - reach % ridge.len()) % ridge.len();
                crowns[at] = crowns[at].max(crown);
            }
            // Trees stand in groups with clearings between them.
            let gap = if random.uniform() < 0.12 { 130.0 } else { 17.0 };
            x += (random.between(0.3, 1.0) * gap * geometry.unit).max(1.0);
        }
        crowns
    }
}

/// Paints the layer of a range, down to a slack below the horizon.
pub(crate) fn layer(geometry: &Geometry, hills: &Hills, random: &mut Random) -> Layer {
    let (period, unit) = (geometry.period, geometry.unit);
    let peak = hills.height * geometry.height;
    let mut ridge = hills.ridge(geometry, random);
    for height in &mut ridge {
        *height *= peak;
    }
    let crowns = hills.planted(geometry, &ridge, random);
    let above = if hills.has_trees { 70.0 * unit } else { 2.0 };
    let rows = even(peak + above) + 2 * geometry.slack;
    let foot = (rows - 2 * geometry.slack) as f32;
    let mut sheet = Sheet::new(period, rows);
    let feature = 110.0 * unit;
    let rock = Noise::new(random, period as f32 / feature, 6);
    let shift = index(2.0 * unit).max(1) % period;
    let back = u16::try_from(shift).unwrap_or(1);
    let mut trail = Trail::new(&rock, period, back, |y| 8.0 + y / feature);
    for (y, row) in sheet.rows.iter_mut().enumerate() {
        let up = foot - y as f32;
        let (here, before) = trail.next(8.0 + y as f32 / feature);
        let strata = if hills.is_terraced {
            6.0 * sine(up / (26.0 * unit))
        } else {
            0.0
        };
        for (x, dot) in row.iter_mut().enumerate() {
            let cover = (crowns[x] - up + 1.0).clamp(0.0, 1.0);
            if cover <= 0.0 {
                continue;
            }
            let crease = |value: f32| 1.0 - (2.0 * value - 1.0).abs();
            let slope = crease(before[(x + period - shift) % period]) - crease(here[x]);
            let in_tree = up > ridge[x];
            let depth = ((ridge[x] - up) / peak).clamp(0.0, 1.0);
            // Spurs run down from the ridge, bent by the rock.
            let bend = index((here[x] * 160.0 + depth * 90.0) * unit);
            let spur = (x + bend) % period;
            let falls = ridge[(spur + 3 * shift) % period] - ridge[spur];
            let face = (falls / (5.0 * shift as f32)).clamp(-0.28, 0.28) * (1.0 - depth);
            let light = if in_tree {
                0.1 + 0.5 * (here[x] - 0.4)
            } else {
                0.5 + 6.0 * slope - face + 0.6 * (here[x] - 0.5) - 0.25 * depth
            };
            let mut colour = hills.dark.mix(hills.light, light).lit(strata);
            if let Some(snow) = hills.snow {
                let line = 0.6 + 0.9 * (here[x] - 0.5) - 2.4 * slope - 0.5 * face;
                let white = smooth(line, line + 0.06, up / peak);
                colour = colour.mix(snow.lit(110.0 * (light.min(0.8) - 0.72)), white * 0.9);
            }
            let low = 1.0 - up / (crowns[x].max(1.0));
            let haze = between(hills.hazy[0], hills.hazy[1], smooth(0.0, 1.0, low));
            *dot = colour.mix(hills.haze, haze).texel(cover);
        }
    }
    if hills.has_trees {
        forest(&mut sheet, hills, &ridge, (foot, unit), random);
    }
    Layer::new(&sheet)
}

/// Plants trees on the face of a range whose ridge is so many rows above its `foot`, from
/// the top down, so that near trees stand before far ones.
fn forest(
    sheet: &mut Sheet,
    hills: &Hills,
    ridge: &[f32],
    (foot, unit): (f32, f32),
    random: &mut Random,
) {
    const TREES: usize = 420;
    let stand = Noise::new(random, 9.0, 3);
    let mut density = vec![0.0; ridge.len()];
    stand.row(0.5, &mut density);
    for number in 0..TREES {
        let down = number as f32 / TREES as f32;
        let x = random.uniform() * ridge.len() as f32;
        let at = index(x) % ridge.len();
        if density[at] < random.between(0.2, 0.75) {
            continue;
        }
        let root = foot - ridge[at] * (1.0 - down);
        let height = between(20.0, 44.0, down) * random.between(0.7, 1.2) * unit;
        let tone = random.between(0.05, 0.5);
        let haze = between(hills.hazy[0], hills.hazy[1], down) * 0.5;
        let shade = |light: f32| hills.dark.mix(hills.light, light).mix(hills.haze, haze);
        for row in 0..index(height) {
            let part = row as f32 / height;
            let bough = 0.6 * part + 0.4 * fraction(part * 4.0) * part.sqrt();
            let half = (height * 0.22 * bough).max(0.4);
            let y = whole(root - height) + signed(row);
            sheet.span(y, x - half, x, shade(tone * 0.5));
            sheet.span(y, x, x + half, shade(tone));
        }
    }
}
