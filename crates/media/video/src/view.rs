//! A picture whose planes lie elsewhere, with gaps between their rows.

use crate::picture::{Picture, Plane, Size};

/// The meaning of samples as colours.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Colours {
    /// The matrix by which red, green and blue add up to brightness.
    pub matrix: Matrix,
    /// Whether samples go from 0 to 255, and not from 16 to 235 and 240.
    pub is_full_range: bool,
}

/// A matrix by which red, green and blue add up to brightness.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Matrix {
    /// ITU-R BT.709, the matrix of a [`Picture`].
    #[default]
    Bt709,
    /// ITU-R BT.601.
    Bt601,
}

/// The samples of one plane.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// The samples row by row; the last row need not extend beyond the picture.
    pub data: &'a [u8],
    /// The bytes from one row to the next.
    pub stride: usize,
}

/// A picture in planes of 8 bits, I420, in memory that belongs to someone else.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    size: Size,
    planes: [Samples<'a>; 3],
    colours: Colours,
}

/// A plane does not hold a picture of the stated size.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{bytes} bytes in rows of {stride} for plane {plane:?} of a picture of {size}")]
pub struct TooFewSamples {
    plane: Plane,
    bytes: usize,
    stride: usize,
    size: Size,
}

impl<'a> View<'a> {
    /// A view of a picture of `size`; the planes are Y, U, V.
    ///
    /// # Errors
    ///
    /// [`TooFewSamples`] names the plane that is too short.
    pub fn new(
        size: Size,
        planes: [Samples<'a>; 3],
        colours: Colours,
    ) -> Result<Self, TooFewSamples> {
        for (plane, Samples { data, stride }) in [Plane::Y, Plane::U, Plane::V].iter().zip(planes) {
            let (width, height) = extent(size, *plane);
            let needed = stride.checked_mul(height - 1).map(|before| before + width);
            if stride < width || needed.is_none_or(|needed| data.len() < needed) {
                return Err(TooFewSamples {
                    plane: *plane,
                    bytes: data.len(),
                    stride,
                    size,
                });
            }
        }
        Ok(Self {
            size,
            planes,
            colours,
        })
    }

    /// The size of the picture.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// The meaning of the samples as colours.
    #[must_use]
    pub const fn colours(&self) -> Colours {
        self.colours
    }

    /// All planes: Y, U, V.
    #[must_use]
    pub const fn planes(&self) -> [Samples<'a>; 3] {
        self.planes
    }

    /// The rows of one plane, without the gaps between them.
    pub fn rows(&self, plane: Plane) -> impl Iterator<Item = &'a [u8]> {
        let [y, u, v] = self.planes;
        let samples = match plane {
            Plane::Y => y,
            Plane::U => u,
            Plane::V => v,
        };
        let (width, height) = extent(self.size, plane);
        let rows = samples.data.chunks(samples.stride).take(height);
        rows.map(move |row| &row[..width])
    }
}

impl Picture {
    /// A view of this picture.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        let [y, u, v] = self.planes();
        let width = self.stride(Plane::Y);
        let samples = |data, stride| Samples { data, stride };
        View {
            size: self.size(),
            planes: [
                samples(y, width),
                samples(u, width / 2),
                samples(v, width / 2),
            ],
            colours: Colours::default(),
        }
    }
}

/// The columns and rows of a plane.
fn extent(size: Size, plane: Plane) -> (usize, usize) {
    let (width, height) = (size.width() as usize, size.height() as usize);
    match plane {
        Plane::Y => (width, height),
        Plane::U | Plane::V => (width / 2, height / 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(strides: [usize; 3], missing: usize) -> Result<Vec<Vec<u8>>, TooFewSamples> {
        let size = Size::new(18, 16).unwrap();
        let data: Vec<u8> = (0..=255).cycle().take(1_000).collect();
        let [y, u, v] = strides;
        let planes = [
            (y, 15 * y + 18),
            (u, 7 * u + 9),
            (v, (7 * v + 9).saturating_sub(missing)),
        ];
        let planes = planes.map(|(stride, bytes)| Samples {
            data: &data[..bytes],
            stride,
        });
        let view = View::new(size, planes, Colours::default())?;
        Ok(view.rows(Plane::V).map(<[u8]>::to_vec).collect())
    }

    #[test]
    fn rows_are_without_their_gaps() {
        let rows = view([18, 9, 20], 0).unwrap();
        assert_eq!(rows.len(), 8);
        assert_eq!(rows[0], (0..9).collect::<Vec<u8>>());
        assert_eq!(rows[7], (140..149).collect::<Vec<u8>>());
    }

    #[test]
    fn a_plane_that_is_too_small_is_named() {
        assert!(view([17, 9, 9], 0).is_err(), "rows overlap");
        let error = view([18, 9, 9], 1).unwrap_err().to_string();
        assert_eq!(
            error,
            "71 bytes in rows of 9 for plane V of a picture of 18x16"
        );
    }

    #[test]
    fn a_picture_looks_like_itself() {
        let mut picture = Picture::new(Size::new(16, 18).unwrap());
        for (number, sample) in (0_u8..).zip(&mut picture.planes_mut()[1][..72]) {
            *sample = number;
        }
        let view = picture.view();
        let rows: Vec<u8> = view.rows(Plane::U).flatten().copied().collect();
        assert_eq!(rows, picture.plane(Plane::U));
        let [y, u, v] = view.planes();
        assert!(View::new(view.size(), [y, u, v], view.colours()).is_ok());
    }
}
