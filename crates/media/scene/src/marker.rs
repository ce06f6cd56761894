//! Two counters in the picture's corner that a machine can read: the number of the player's
//! actions before this picture, and the number of the picture.
//!
//! # Geometry
//!
//! All lengths are in pixels of the picture, `/` drops the remainder. With
//! `width` the picture's width,
//!
//! ```text
//! cell   = max(8, width / 80), less one where that is odd
//! border = max(2, cell / 4),   less one where that is odd
//! ```
//!
//! The marker is a white box in the upper left corner, from (0, 0), that is
//! `34 * cell + 2 * border` wide and `cell + 2 * border` high. Within the border
//! stand 34 cells of `cell` by `cell` side by side: cell `i` begins at
//! (`border + i * cell`, `border`).
//!
//! | cells | hold |
//! | --- | --- |
//! | 0 | white |
//! | 1 | black |
//! | 2 to 17 | the low 16 bits of the count of actions, in Gray code |
//! | 18 to 33 | the low 16 bits of the count of pictures, in Gray code |
//!
//! The most significant bit comes first; 1 is white (Y = 235), 0 is black
//! (Y = 16), U and V are 128. The Gray code of `n` is `n ^ (n >> 1)`. The first
//! picture drawn has count 1. At 1280x720 a cell is 16, the border 4, and the
//! marker 552x24. A picture the box does not fit into has no marker.
//!
//! # Reading
//!
//! A cell's value is the mean brightness of its inner half: `cell / 2` by
//! `cell / 2` pixels, beginning `cell / 4` into the cell both ways. Cells 0 and
//! 1 must be at least 64 apart, white above black; a cell is 1 above the middle
//! between them. The border above and below the cells must be white in the same
//! sense: the mean of its first row, and of the row that is `border - 1` below
//! the cells. The rule holds for any brightness, limited range or full.

use mimosa_video::{Picture, Plane, Size};

use crate::canvas::Canvas;
use crate::colour::Texel;
use crate::number::signed;

const CELLS: usize = 34;
const BITS: usize = 16;

const WHITE: Texel = Texel {
    yuv: [235, 128, 128],
    alpha: 255,
};
const BLACK: Texel = Texel {
    yuv: [16, 128, 128],
    alpha: 255,
};

/// The contents of a marker.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Marker {
    /// The number of actions before this picture, modulo 65536.
    pub actions: u16,
    /// The number of pictures drawn up to this one, included, modulo 65536.
    pub pictures: u16,
}

/// The lengths of the marker's parts in pixels.
struct Lengths {
    cell: usize,
    border: usize,
}

impl Lengths {
    /// The lengths for a picture of `size`; `None` where the marker does not fit.
    fn new(size: Size) -> Option<Self> {
        let (width, height) = (size.width() as usize, size.height() as usize);
        let cell = (width / 80).max(8) & !1;
        let lengths = Self {
            cell,
            border: (cell / 4).max(2) & !1,
        };
        let (across, down) = lengths.size();
        (across <= width && down <= height).then_some(lengths)
    }

    fn size(&self) -> (usize, usize) {
        let borders = 2 * self.border;
        (CELLS * self.cell + borders, self.cell + borders)
    }
}

/// The size of the marker in a picture of `size`, in pixels from its upper left corner;
/// `None` where the marker does not fit.
#[must_use]
pub fn extent(size: Size) -> Option<(usize, usize)> {
    Lengths::new(size).map(|lengths| lengths.size())
}

/// Draws a marker.
pub(crate) fn draw(canvas: &mut Canvas<'_>, size: Size, marker: Marker) {
    let Some(lengths) = Lengths::new(size) else {
        return;
    };
    let Lengths { cell, border } = lengths;
    canvas.fill((0, 0), lengths.size(), WHITE);
    for (place, bit) in bits(marker).into_iter().enumerate() {
        let at = (signed(border + place * cell), signed(border));
        canvas.fill(at, (cell, cell), if bit { WHITE } else { BLACK });
    }
}

/// Reads the marker of a picture that may have been encoded with loss; `None` if there is
/// none.
#[must_use]
pub fn read(picture: &Picture) -> Option<Marker> {
    let Lengths { cell, border } = Lengths::new(picture.size())?;
    let stride = picture.stride(Plane::Y);
    let luma = picture.plane(Plane::Y);
    let mean = |(x, y): (usize, usize), (width, height): (usize, usize)| -> usize {
        let rows = luma[y * stride..].chunks(stride).take(height);
        let sum: usize = rows
            .map(|row| {
                row[x..x + width]
                    .iter()
                    .map(|&y| usize::from(y))
                    .sum::<usize>()
            })
            .sum();
        sum / (width * height)
    };
    let inner = |place: usize| {
        let at = (border + place * cell + cell / 4, border + cell / 4);
        mean(at, (cell / 2, cell / 2))
    };
    let (white, black) = (inner(0), inner(1));
    if white < black + 64 {
        return None;
    }
    let is_white = |value: usize| 2 * value > white + black;
    let across = CELLS * cell + 2 * border;
    let frame = [0, cell + 2 * border - 1].map(|y| mean((0, y), (across, 1)));
    if !frame.into_iter().all(is_white) {
        return None;
    }
    let number = |first: usize| {
        let gray = (first..first + BITS)
            .map(inner)
            .fold(0_u16, |bits, value| bits << 1 | u16::from(is_white(value)));
        from_gray(gray)
    };
    Some(Marker {
        actions: number(2),
        pictures: number(2 + BITS),
    })
}

fn bits(marker: Marker) -> [bool; CELLS] {
    let mut bits = [false; CELLS];
    bits[0] = true;
    for (first, number) in [(2, marker.actions), (2 + BITS, marker.pictures)] {
        let gray = number ^ (number >> 1);
        for (place, bit) in bits[first..first + BITS].iter_mut().enumerate() {
            *bit = gray >> (BITS - 1 - place) & 1 == 1;
        }
    }
    bits
}

/// The number whose Gray code is `gray`.
fn from_gray(gray: u16) -> u16 {
    [1, 2, 4, 8]
        .iter()
        .fold(gray, |bits, by| bits ^ (bits >> by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn drawn(width: u32, height: u32, marker: Marker) -> Picture {
        let size = Size::new(width, height).unwrap();
        let mut picture = Picture::new(size);
        draw(&mut Canvas::new(&mut picture), size, marker);
        picture
    }

    #[test]
    fn every_number_reads_back() {
        for actions in 0..=u16::MAX {
            assert_eq!(from_gray(actions ^ (actions >> 1)), actions);
        }
        for (width, height) in [
            (1280, 720),
            (276, 12),
            (640, 360),
            (1366, 768),
            (3840, 2160),
        ] {
            for (actions, pictures) in [(0, 0), (1, 65_535), (0x1234, 0xfedc), (43_690, 21_845)] {
                let marker = Marker { actions, pictures };
                let picture = drawn(width.max(16), height.max(16), marker);
                assert_eq!(read(&picture), Some(marker), "{width}x{height}");
            }
        }
    }

    #[test]
    fn it_is_where_its_description_says() {
        assert_eq!(extent(Size::new(1280, 720).unwrap()), Some((552, 24)));
        let marker = Marker {
            actions: 0x8000,
            pictures: 1,
        };
        let picture = drawn(1280, 720, marker);
        let at = |x: usize, y: usize| picture.plane(Plane::Y)[y * 1280 + x];
        assert_eq!(
            [at(0, 0), at(551, 23), at(552, 23), at(551, 24)],
            [235, 235, 16, 16]
        );
        assert_eq!([at(4, 4), at(20, 4), at(35, 19)], [235, 16, 16]);
        // The Gray code of 0x8000 is 0xc000, and of 1 it is 1.
        assert_eq!([at(36, 4), at(52, 4), at(68, 4)], [235, 235, 16]);
        assert_eq!([at(516, 4), at(532, 4), at(547, 19)], [16, 235, 235]);
    }

    #[test]
    fn noise_does_not_harm_it() {
        let marker = Marker {
            actions: 0xbeef,
            pictures: 777,
        };
        for (width, seed) in [(1280, 1), (640, 2), (276, 3)] {
            let mut picture = drawn(width, 64, marker);
            let mut random = Random::new(seed, 0);
            for luma in &mut *picture.planes_mut()[0] {
                let noise = random.between(-20.0, 20.0);
                *luma = crate::number::byte(f32::from(*luma) * 0.7 + 30.0 + noise);
            }
            assert_eq!(read(&picture), Some(marker), "width {width}");
        }
    }

    #[test]
    fn there_is_none_where_there_is_none() {
        let size = Size::new(1280, 720).unwrap();
        assert_eq!(read(&Picture::new(size)), None);
        let mut picture = Picture::new(size);
        picture.planes_mut()[0].fill(235);
        assert_eq!(read(&picture), None);
        let marker = Marker {
            actions: 1,
            pictures: 1,
        };
        assert_eq!(read(&drawn(274, 64, marker)), None);
        let mut torn = drawn(1280, 720, marker);
        torn.planes_mut()[0][..1280].fill(16);
        assert_eq!(read(&torn), None);
    }
}
