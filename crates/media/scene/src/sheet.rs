//! The sheet that a layer is painted on before it is cut into runs.

use crate::colour::{Colour, Texel};
use crate::number::{between, byte, fraction, signed, whole};
use crate::sprite::Sprite;

/// Rows of dots, transparent at first; painting wraps around the sides.
pub(crate) struct Sheet {
    pub(crate) rows: Vec<Vec<Texel>>,
}

impl Sheet {
    /// A transparent sheet.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        Self {
            rows: vec![vec![Texel::default(); width]; height],
        }
    }

    /// Paints one dot over what is there.
    pub(crate) fn dot(&mut self, x: i32, y: i32, front: Texel) {
        let Some(row) = usize::try_from(y).ok().and_then(|y| self.rows.get_mut(y)) else {
            return;
        };
        let column = usize::try_from(x.rem_euclid(signed(row.len()))).unwrap_or(0);
        let back = &mut row[column];
        let cover = f32::from(front.alpha) / 255.0;
        let alpha = between(f32::from(back.alpha), 255.0, cover);
        let part = f32::from(front.alpha) / alpha.max(1.0);
        for (back, front) in back.yuv.iter_mut().zip(front.yuv) {
            *back = byte(between(f32::from(*back), f32::from(front), part));
        }
        back.alpha = byte(alpha);
    }

    /// Paints a span of one row; each end covers part of its dot.
    pub(crate) fn span(&mut self, y: i32, from: f32, to: f32, colour: Colour) {
        let (first, last) = (whole(from), whole(to));
        for x in first..=last {
            let mut cover = 1.0;
            if x == first {
                cover -= fraction(from);
            }
            if x == last {
                cover -= 1.0 - fraction(to);
            }
            self.dot(x, y, colour.texel(cover.clamp(0.0, 1.0)));
        }
    }

    /// Paints a sprite around a point.
    pub(crate) fn sprite(&mut self, sprite: &Sprite, (x, y): (i32, i32)) {
        let (left, top) = (
            x - signed(sprite.width / 2),
            y - signed(sprite.height() / 2),
        );
        for (row, dots) in sprite.texels.chunks_exact(sprite.width).enumerate() {
            for (column, &dot) in dots.iter().enumerate() {
                self.dot(left + signed(column), top + signed(row), dot);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_covers_its_length_and_wraps() {
        let mut sheet = Sheet::new(8, 2);
        sheet.span(1, 6.5, 9.25, Colour::rgb(0xff_ffff));
        let alphas: Vec<u8> = sheet.rows[1].iter().map(|dot| dot.alpha).collect();
        assert_eq!(alphas, [255, 64, 0, 0, 0, 0, 128, 255]);
        assert!(sheet.rows[0].iter().all(|dot| dot.alpha == 0));
        sheet.span(5, 0.0, 1.0, Colour::rgb(0xff_ffff));
    }
}
