//! Brightness at half the resolution.

use crate::{Picture, Plane};

/// A picture's brightness, a sample for each square of four pixels.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    width: usize,
    height: usize,
    data: Vec<u8>,
}

impl Half {
    /// Replaces the contents by the brightness of `picture`.
    pub(crate) fn take(&mut self, picture: &Picture) {
        let stride = picture.stride(Plane::Y);
        self.width = stride / 2;
        self.height = picture.size().height() as usize / 2;
        self.data.clear();
        for two in picture.plane(Plane::Y).chunks_exact(2 * stride) {
            let (upper, lower) = two.split_at(stride);
            let squares = upper.chunks_exact(2).zip(lower.chunks_exact(2));
            self.data.extend(squares.map(|(upper, lower)| {
                let sum = [upper[0], upper[1], lower[0], lower[1]]
                    .map(u16::from)
                    .iter()
                    .sum::<u16>();
                #[expect(clippy::cast_possible_truncation, reason = "a mean of bytes")]
                let mean = ((sum + 2) / 4) as u8;
                mean
            }));
        }
    }

    /// The number of samples in a row, and of rows.
    pub(crate) const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Eight samples of row `y`, beginning at column `x`.
    pub(crate) fn row(&self, x: usize, y: usize) -> [u8; 8] {
        let at = y * self.width + x;
        self.data
            .get(at..)
            .and_then(|rest| rest.first_chunk())
            .copied()
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_sample_is_the_mean_of_four() {
        let mut picture = Picture::new("32x16".parse().unwrap());
        let [luma, ..] = picture.planes_mut();
        (luma[2], luma[3], luma[34], luma[35]) = (10, 20, 30, 41);
        let mut half = Half::default();
        half.take(&picture);
        assert_eq!(half.size(), (16, 8));
        assert_eq!(half.row(0, 0)[..3], [16, 25, 16]);
        assert_eq!(half.row(8, 7), [16; 8]);
    }
}
