//! Things smaller than the landscape: the ship, blossoms and points of light.

use crate::canvas::{Canvas, mix};
use crate::colour::{Colour, Texel};
use crate::number::{byte, cosine, even, index, signed, sine, smooth, whole};
use crate::random::Random;

/// A thing painted once and drawn often.
pub(crate) struct Sprite {
    pub(crate) width: usize,
    pub(crate) texels: Vec<Texel>,
}

/// A round light without a colour of its own.
pub(crate) struct Glow {
    width: usize,
    alpha: Vec<u8>,
}

/// The number of samples across a dot, for smooth edges.
const SAMPLES: usize = 3;

impl Sprite {
    /// Paints each dot with the mean of `paint` within it; `paint` takes a place relative
    /// to the sprite's centre, to the right and down, in pixels.
    fn paint(width: usize, height: usize, paint: impl Fn(f32, f32) -> Option<Colour>) -> Self {
        let place = |dot: usize, sample: usize, length: usize| {
            dot as f32 + (sample as f32 + 0.5) / SAMPLES as f32 - length as f32 / 2.0
        };
        let texel = |dot: usize| {
            let mut sum = [0.0; 3];
            let mut hits = 0.0;
            for sample in 0..SAMPLES * SAMPLES {
                let x = place(dot % width, sample % SAMPLES, width);
                let y = place(dot / width, sample / SAMPLES, height);
                if let Some(colour) = paint(x, y) {
                    hits += 1.0;
                    for (sum, part) in sum.iter_mut().zip(colour.bytes()) {
                        *sum += f32::from(part);
                    }
                }
            }
            Texel {
                yuv: sum.map(|sum| byte(sum / f32::max(hits, 1.0))),
                alpha: byte(hits * 255.0 / (SAMPLES * SAMPLES) as f32),
            }
        };
        Self {
            width,
            texels: (0..width * height).map(texel).collect(),
        }
    }

    /// The number of rows.
    pub(crate) fn height(&self) -> usize {
        self.texels.len() / self.width
    }

    /// The ship with its nose `tilt` of a turn below level, with `unit` pixels to a point.
    pub(crate) fn ship(unit: f32, tilt: f32) -> Self {
        const HULL: Colour = Colour::rgb(0xf2_f0ff);
        const SHADE: Colour = Colour::rgb(0x74_7aa8);
        const WING: Colour = Colour::rgb(0xff_5a4e);
        const WING_SHADE: Colour = Colour::rgb(0x9c_2440);
        const GLASS: Colour = Colour::rgb(0x30_d8ff);
        const GLASS_SHADE: Colour = Colour::rgb(0x0a_3c78);
        const ENGINE: Colour = Colour::rgb(0x30_3450);
        let (sin, cos) = (sine(tilt), cosine(tilt));
        Self::paint(even(112.0 * unit), even(72.0 * unit), |x, y| {
            let (x, y) = ((x * cos + y * sin) / unit, (y * cos - x * sin) / unit);
            // The hull is thickest amidships and ends in a point at the nose.
            let along = smooth(-44.0, -20.0, x) * (1.0 - smooth(-6.0, 52.0, x));
            let hull = 3.0 + 10.0 * along;
            let within = |x0: f32, x1: f32| (x0..x1).contains(&x);
            let lower_wing = within(-40.0, 14.0) && y > 1.0 && y < 24.0 - (x + 40.0) * 0.42;
            let fin = within(-46.0, -14.0) && y < -4.0 && y > -26.0 + (x + 46.0) * 0.7;
            if lower_wing && y > 3.0 {
                return Some(WING.mix(WING_SHADE, smooth(4.0, 20.0, y)));
            }
            if within(-4.0, 26.0) && y < -1.0 && y > -hull - 3.0 + (x - 10.0).abs() * 0.16 {
                let part = smooth(-13.0, -1.0, y);
                return Some(GLASS.mix(GLASS_SHADE, part));
            }
            if within(-44.0, 52.0) && y.abs() < hull * (1.0 - smooth(30.0, 54.0, x) * 0.8) {
                let stripe = within(-20.0, -14.0) || within(32.0, 36.0);
                let part = smooth(-hull, hull, y);
                return Some(if stripe { WING } else { HULL.mix(SHADE, part) });
            }
            if within(-50.0, -42.0) && y.abs() < 7.0 {
                return Some(ENGINE);
            }
            fin.then(|| WING.mix(WING_SHADE, smooth(-30.0, 10.0, x)))
        })
    }

    /// A blossom of mimosa: a ball of stamens, lit from the upper left.
    pub(crate) fn blossom(random: &mut Random, radius: f32) -> Self {
        const DEEP: Colour = Colour::rgb(0xb8_6a00);
        const GOLD: Colour = Colour::rgb(0xff_c81e);
        const TIP: Colour = Colour::rgb(0xff_f6a8);
        let width = even(2.0 * radius + 2.0);
        let centre = width as f32 / 2.0;
        let mut ball = Self::paint(width, width, |x, y| {
            let distance = (x * x + y * y).sqrt() / radius;
            (distance < 0.8).then(|| DEEP.mix(GOLD, 0.45 - (x + y) / radius * 0.35))
        });
        let stamens = 60 + 4 * index(radius);
        for number in 0..stamens {
            // Stamens are painted from the rim to the middle, so that near ones hide far
            // ones.
            let depth = number as f32 / stamens as f32;
            let out = (1.0 - depth * depth).sqrt() * random.between(0.86, 1.0);
            let turn = random.uniform();
            let (right, down) = (cosine(turn) * out, sine(turn) * out);
            let light = 0.5 * depth - 0.35 * (right + down);
            let colour = if light < 0.3 {
                DEEP.mix(GOLD, 0.5 + light * 1.6)
            } else {
                GOLD.mix(TIP, light * 1.3 - 0.3)
            };
            let size = (radius * 0.075).max(0.7);
            ball.speck(
                (centre + right * radius, centre + down * radius),
                size,
                colour,
            );
        }
        ball
    }

    /// This sprite in the shade: mixed with `part` of `colour`.
    pub(crate) fn shaded(mut self, colour: Colour, part: f32) -> Self {
        let shade = colour.texel(part);
        for dot in &mut self.texels {
            for (back, front) in dot.yuv.iter_mut().zip(shade.yuv) {
                *back = mix(*back, front, shade.alpha);
            }
        }
        self
    }

    /// Paints a small disc into the sprite.
    fn speck(&mut self, (x, y): (f32, f32), radius: f32, colour: Colour) {
        let (width, height) = (signed(self.width), signed(self.height()));
        for row in whole(y - radius).max(0)..=whole(y + radius).min(height - 1) {
            for column in whole(x - radius).max(0)..=whole(x + radius).min(width - 1) {
                let (right, down) = (column as f32 + 0.5 - x, row as f32 + 0.5 - y);
                let distance = (right * right + down * down).sqrt();
                let cover = (radius + 0.5 - distance).clamp(0.0, 1.0);
                let at = usize::try_from(row * width + column).unwrap_or(0);
                let (front, back) = (colour.texel(cover), &mut self.texels[at]);
                if back.alpha == 0 {
                    back.yuv = front.yuv;
                }
                for (back, front_part) in back.yuv.iter_mut().zip(front.yuv) {
                    *back = mix(*back, front_part, front.alpha);
                }
                back.alpha = back.alpha.max(front.alpha);
            }
        }
    }

    /// Draws the sprite around a point.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, x: f32, y: f32) {
        let (width, height) = (self.width, self.height());
        let at = (whole(x) - signed(width / 2), whole(y) - signed(height / 2));
        canvas.stamp(at, (width, height), |dot| self.texels[dot]);
    }
}

impl Glow {
    /// A light that fades out at `radius`.
    pub(crate) fn new(radius: f32) -> Self {
        let width = even(2.0 * radius);
        let alpha = |dot: usize| {
            let off = |dot: usize| (dot as f32 + 0.5 - width as f32 / 2.0) / radius;
            let (right, down) = (off(dot % width), off(dot / width));
            let left = (1.0 - right * right - down * down).max(0.0);
            byte(left * left * 255.0)
        };
        Self {
            width,
            alpha: (0..width * width).map(alpha).collect(),
        }
    }

    /// Draws the light around a point, `strength` of 255 strong in the middle.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, x: f32, y: f32, colour: Texel) {
        let half = signed(self.width / 2);
        let strength = u16::from(colour.alpha);
        canvas.stamp(
            (whole(x) - half, whole(y) - half),
            (self.width, self.width),
            |dot| Texel {
                alpha: u8::try_from(u16::from(self.alpha[dot]) * strength / 255).unwrap_or(255),
                ..colour
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sprites_have_a_solid_middle_and_clear_corners() {
        let mut random = Random::new(1, 1);
        for unit in [0.02, 0.5, 1.0, 3.0] {
            let ship = Sprite::ship(unit, 0.03);
            assert_eq!(ship.texels[0].alpha, 0);
            let solid = ship.texels.iter().filter(|dot| dot.alpha == 255).count();
            assert!(unit < 0.1 || solid * 8 > ship.texels.len());
            let ball = Sprite::blossom(&mut random, 30.0 * unit);
            assert!(unit < 0.1 || ball.texels[0].alpha == 0);
            let middle = ball.width / 2 * ball.width + ball.width / 2;
            assert!(ball.texels[middle].alpha > 200, "{unit}");
        }
    }

    #[test]
    fn a_glow_fades() {
        let glow = Glow::new(8.0);
        assert_eq!(glow.width, 16);
        let row = &glow.alpha[8 * 16 + 8..9 * 16];
        assert!(row.is_sorted_by(|a, b| a > b), "{row:?}");
        assert!(row[0] > 240);
    }
}
