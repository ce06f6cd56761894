//! Drawing into a picture.

use std::ops::Range;

use mimosa_video::Picture;

use crate::colour::Texel;
use crate::number::{byte, signed, whole};

/// A picture being drawn.
pub(crate) struct Canvas<'a> {
    /// The number of pixels in a row.
    pub(crate) width: usize,
    /// The number of rows.
    pub(crate) height: usize,
    /// The planes Y, U and V.
    pub(crate) planes: [&'a mut [u8]; 3],
}

/// Mixes `front` over `back`, covering it by `alpha` of 255.
#[inline]
pub(crate) fn mix(back: u8, front: u8, alpha: u8) -> u8 {
    let alpha = u16::from(alpha) + u16::from(alpha >> 7);
    ((u16::from(back) * (256 - alpha) + u16::from(front) * alpha) >> 8) as u8
}

/// Mixes `front` over `back`, each dot by its own alpha.
pub(crate) fn mix_row(back: &mut [u8], front: &[u8], alpha: &[u8]) {
    for ((back, &front), &alpha) in back.iter_mut().zip(front).zip(alpha) {
        *back = mix(*back, front, alpha);
    }
}

/// The part of `length` dots from `start` that falls within `0..limit`: the number of dots
/// cut off in front, and the range of the others.
fn clip(start: i32, length: usize, limit: usize) -> (usize, Range<usize>) {
    let skip = usize::try_from(-start).unwrap_or(0).min(length);
    let from = usize::try_from(start).unwrap_or(0).min(limit);
    (skip, from..(from + length - skip).min(limit))
}

impl<'a> Canvas<'a> {
    /// A canvas of all of `picture`.
    pub(crate) fn new(picture: &'a mut Picture) -> Self {
        Self {
            width: picture.size().width() as usize,
            height: picture.size().height() as usize,
            planes: picture.planes_mut(),
        }
    }

    /// Draws a box of dots; `texel` gives each dot by its number, row by row.
    pub(crate) fn stamp(
        &mut self,
        (left, top): (i32, i32),
        (width, height): (usize, usize),
        texel: impl Fn(usize) -> Texel,
    ) {
        let (skip_x, columns) = clip(left, width, self.width);
        let (skip_y, rows) = clip(top, height, self.height);
        if columns.is_empty() {
            return;
        }
        let [luma, blue, red] = &mut self.planes;
        let odd = columns.start % 2;
        for (line, y) in rows.enumerate() {
            let first = (skip_y + line) * width + skip_x;
            let row = &mut luma[y * self.width..][columns.clone()];
            for (x, back) in row.iter_mut().enumerate() {
                let front = texel(first + x);
                *back = mix(*back, front.yuv[0], front.alpha);
            }
            if y % 2 == 0 {
                let chroma = y / 2 * (self.width / 2);
                let chroma = chroma + columns.start.div_ceil(2)..chroma + columns.end.div_ceil(2);
                let rows = blue[chroma.clone()].iter_mut().zip(&mut red[chroma]);
                for (x, (blue, red)) in rows.enumerate() {
                    let front = texel(first + odd + 2 * x);
                    *blue = mix(*blue, front.yuv[1], front.alpha);
                    *red = mix(*red, front.yuv[2], front.alpha);
                }
            }
        }
    }

    /// Draws a box of one colour.
    pub(crate) fn fill(&mut self, at: (i32, i32), size: (usize, usize), texel: Texel) {
        self.stamp(at, size, |_| texel);
    }

    /// Draws a soft ring around a point: `width` to either side of `radius`.
    pub(crate) fn ring(&mut self, (x, y): (f32, f32), radius: f32, width: f32, texel: Texel) {
        let (inner, outer) = ((radius - width).max(0.0), radius + width);
        if outer > 4.0 * (self.width + self.height) as f32 {
            return;
        }
        for row in whole(y - outer).max(0)..=whole(y + outer).min(signed(self.height) - 1) {
            let down = row as f32 - y;
            let reach = (outer * outer - down * down).max(0.0).sqrt();
            let hole = (inner * inner - down * down).max(0.0).sqrt();
            // The row has two spans, or one where they would meet.
            let spans = [(x - reach, x - hole), (x + hole, x + reach)];
            let one = [(x - reach, x + reach)];
            let spans = if hole < 1.5 { &one[..] } else { &spans };
            for &(from, to) in spans {
                let (left, right) = (whole(from), whole(to));
                let length = usize::try_from(right - left + 1).unwrap_or(0);
                self.stamp((left, row), (length, 1), |dot| {
                    let right = (left + signed(dot)) as f32 - x;
                    let distance = (right * right + down * down).sqrt();
                    let off = ((distance - radius) / width).abs().min(1.0);
                    let alpha = f32::from(texel.alpha) * (1.0 - off * off);
                    Texel {
                        alpha: byte(alpha),
                        ..texel
                    }
                });
            }
        }
    }

    /// Mirrors the rows above row `shore` below it, as water does. Each row is moved
    /// sideways by `sway` pixels and tinted by `tint`; both depend on the distance from the
    /// shore in rows.
    pub(crate) fn reflect(
        &mut self,
        shore: usize,
        sway: impl Fn(usize) -> i32,
        tint: impl Fn(usize) -> Texel,
    ) {
        let shore = (shore & !1).min(self.height);
        for (plane, samples) in self.planes.iter_mut().enumerate() {
            let scale = if plane == 0 { 1 } else { 2 };
            let width = self.width / scale;
            let (above, below) = samples.split_at_mut(shore / scale * width);
            let depth = above.len() / width;
            for (row, back) in below.chunks_exact_mut(width).enumerate().take(depth) {
                let source = &above[(depth - 1 - row) * width..][..width];
                let by = sway(row * scale) / signed(scale);
                let by = by.clamp(-signed(width), signed(width));
                let away = by.unsigned_abs() as usize;
                let tint = tint(row * scale);
                let front = tint.yuv[plane];
                let (whole, edge) = (width - away, away);
                // Where the moved row ends, the unmoved one fills the gap.
                let (to, from, gap) = if by >= 0 {
                    (0..whole, away..width, whole..whole + edge)
                } else {
                    (away..width, 0..whole, 0..edge)
                };
                for (range, source) in [(to, &source[from]), (gap.clone(), &source[gap])] {
                    for (back, &mirrored) in back[range].iter_mut().zip(source) {
                        *back = mix(mirrored, front, tint.alpha);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mimosa_video::{Plane, Size};

    const WHITE: Texel = Texel {
        yuv: [235, 10, 20],
        alpha: 255,
    };

    #[test]
    fn mixing_has_exact_ends() {
        for value in [0, 16, 128, 235, 255] {
            assert_eq!(mix(77, value, 255), value);
            assert_eq!(mix(value, 77, 0), value);
        }
        assert_eq!(mix(0, 200, 128), 100);
    }

    #[test]
    fn a_box_is_cut_at_the_edges() {
        let mut picture = Picture::new(Size::new(16, 16).unwrap());
        let mut canvas = Canvas::new(&mut picture);
        canvas.fill((-3, 14), (5, 9), WHITE);
        canvas.fill((40, 0), (5, 9), WHITE);
        canvas.fill((0, -40), (5, 9), WHITE);
        let luma = picture.plane(Plane::Y);
        assert_eq!(
            luma.iter().map(|&luma| u32::from(luma == 235)).sum::<u32>(),
            4
        );
        assert!([14 * 16, 14 * 16 + 1, 15 * 16, 15 * 16 + 1].map(|at| luma[at]) == [235; 4]);
        let blue = picture.plane(Plane::U);
        assert_eq!(blue[7 * 8], 10);
        assert_eq!(
            blue.iter().map(|&blue| u32::from(blue == 10)).sum::<u32>(),
            1
        );
    }

    #[test]
    fn a_ring_is_hollow() {
        let mut picture = Picture::new(Size::new(64, 64).unwrap());
        Canvas::new(&mut picture).ring((32.0, 32.0), 20.0, 3.0, WHITE);
        let luma = picture.plane(Plane::Y);
        assert_eq!(luma[32 * 64 + 32], 16);
        assert_eq!(luma[0], 16);
        assert!(luma[32 * 64 + 12] > 200 && luma[52 * 64 + 32] > 200);
        // No dot is drawn twice: the ring is equally bright from the left and from the
        // right.
        for row in luma.chunks_exact(64) {
            assert!((1..32).all(|x| row[x] == row[64 - x]), "{row:?}");
        }
    }

    #[test]
    fn water_mirrors() {
        let mut picture = Picture::new(Size::new(16, 32).unwrap());
        let mut canvas = Canvas::new(&mut picture);
        canvas.fill((4, 14), (2, 2), WHITE);
        canvas.reflect(16, |_| -3, |_| Texel::default());
        let luma = picture.plane(Plane::Y);
        assert_eq!(luma[16 * 16 + 7], 235);
        assert_eq!(luma[18 * 16 + 7], 16);
    }
}
