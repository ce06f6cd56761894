//! The sky: its colours from top to horizon, clouds, sun or moon, stars.

use crate::colour::{Colour, Texel};
use crate::landscape::Geometry;
use crate::layer::Layer;
use crate::noise::{Noise, Trail};
use crate::number::{between, index, sine, smooth};
use crate::palette::Palette;
use crate::random::{Random, lattice};
use crate::sheet::Sheet;

/// Paints the layer of the sky: from a slack above the picture to below the horizon.
pub(crate) fn layer(geometry: &Geometry, palette: &Palette, random: &mut Random) -> Layer {
    let (period, unit) = (geometry.period, geometry.unit);
    let mut sheet = Sheet::new(period, geometry.horizon + 3 * geometry.slack);
    let height = sheet.rows.len() as f32;
    let cloud_width = 300.0 * unit;
    let clouds = Noise::new(random, period as f32 / cloud_width, 6);
    let lights = Lights::new(geometry, random);
    let seed = u32::try_from(random.next() >> 32).unwrap_or(0);
    // Clouds flatten towards the horizon.
    let at = |y: f32| 40.0 + y / (cloud_width * between(0.5, 0.2, y / height));
    let lift = u16::try_from(index(7.0 * unit).max(1)).unwrap_or(1);
    let mut trail = Trail::new(&clouds, period, lift, at);
    for (y, row) in (0_u32..).zip(&mut sheet.rows) {
        let down = y as f32 / height;
        let air = gradient(&palette.sky, down);
        let (here, above) = trail.next(at(y as f32));
        let bare = between(0.78, 0.36, palette.cloudiness);
        for ((x, dot), (&here, &above)) in (0_u32..).zip(row).zip(here.iter().zip(above)) {
            let mut colour = air;
            if palette.is_night {
                let star = lattice(x, y, seed);
                if star > 0.9982 {
                    colour = colour.lit(lattice(y, x, seed) * 170.0 * (1.0 - down));
                }
                let shine = lights.at(x as usize, y as f32);
                colour = colour.mix(palette.clouds[1], shine);
            }
            let (core, shine) = sun(geometry, palette, x as f32, y as f32);
            colour = colour.mix(palette.sun, shine * (1.0 - 0.5 * lit(palette)));
            colour = colour.mix(palette.sun.lit((here - 0.5) * -90.0 * lit(palette)), core);
            let cover = smooth(bare, bare + 0.2, here) * (1.0 - smooth(0.72, 1.0, down));
            if cover > 0.0 {
                let light = 0.5 + (here - above) * 4.5 + shine * 0.6;
                let [dark, bright] = palette.clouds;
                let bright = if palette.is_night {
                    air.lit(26.0)
                } else {
                    bright
                };
                colour = colour.mix(dark.mix(bright, light).mix(air, 0.25), cover * 0.9);
            }
            *dot = Texel {
                yuv: colour.bytes(),
                alpha: 255,
            };
        }
    }
    Layer::new(&sheet)
}

/// The strength of the mottling on the sun's face, which only the moon has.
fn lit(palette: &Palette) -> f32 {
    if palette.is_night { 1.0 } else { 0.0 }
}

/// The colour at `part` of the way through four others.
fn gradient(colours: &[Colour; 4], part: f32) -> Colour {
    let [top, high, low, end] = *colours;
    top.mix(high, part / 0.4)
        .mix(low, (part - 0.4) / 0.32)
        .mix(end, (part - 0.72) / 0.28)
}

/// The share of a dot that is sun, and the share that is light around it.
fn sun(geometry: &Geometry, palette: &Palette, x: f32, y: f32) -> (f32, f32) {
    let radius = palette.sun_radius * geometry.height;
    let right = x - palette.sun_at.0 * geometry.width;
    let down = y - palette.sun_at.1 * geometry.height - geometry.slack as f32;
    let distance = (right * right + down * down).sqrt();
    let core = (radius - distance + 0.5).clamp(0.0, 1.0);
    let far = distance / (radius * 2.1);
    (core, 0.75 / (1.0 + far * far))
}

/// Northern lights: curtains that hang from a curve.
struct Lights {
    /// The lower edge of the curtain, by column.
    edge: Vec<f32>,
    /// How bright its folds are, by column.
    folds: Vec<f32>,
    /// The height that the curtain reaches above its edge.
    reach: f32,
}

impl Lights {
    fn new(geometry: &Geometry, random: &mut Random) -> Self {
        let period = geometry.period;
        let (mut edge, mut folds) = (vec![0.0; period], vec![0.0; period]);
        Noise::new(random, 4.0, 3).row(0.5, &mut edge);
        let folds_across = period as f32 / (60.0 * geometry.unit);
        Noise::new(random, folds_across, 3).row(0.5, &mut folds);
        for (x, edge) in edge.iter_mut().enumerate() {
            let wave = sine(x as f32 / period as f32 * 3.0);
            *edge = geometry.height * (0.12 + 0.3 * *edge + 0.05 * wave);
        }
        let reach = geometry.height * 0.3;
        Self { edge, folds, reach }
    }

    fn at(&self, x: usize, y: f32) -> f32 {
        let up = (self.edge[x] - y) / self.reach;
        let rise = smooth(-0.35, 0.2, up) * (1.0 - up.max(0.0)).max(0.0);
        rise * rise * smooth(0.1, 0.9, self.folds[x]) * 0.8
    }
}
