//! A picture in planes of 8 bits: I420, ITU-R BT.709, limited range.

/// Width and height of a picture in pixels: even, and at least 16.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Size {
    width: u32,
    height: u32,
}

/// The size is one that no picture can have.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[error(
    "`{text}` is not a picture size; write WIDTHxHEIGHT, both even, from 16x16 to 8192x8192, e.g. `1280x720`"
)]
pub struct BadSize {
    text: String,
}

impl Size {
    const RANGE: std::ops::RangeInclusive<u32> = 16..=Self::LARGEST_SIDE;

    /// The longest side that there is, in pixels.
    pub const LARGEST_SIDE: u32 = 8192;

    /// The smallest size that there is.
    pub const SMALLEST: Self = Self {
        width: 16,
        height: 16,
    };

    /// A size, unless a side is odd, below 16 or above 8192.
    ///
    /// # Errors
    ///
    /// [`BadSize`] names what was given.
    pub fn new(width: u32, height: u32) -> Result<Self, BadSize> {
        let fits = |side: u32| Self::RANGE.contains(&side) && side.is_multiple_of(2);
        if fits(width) && fits(height) {
            Ok(Self { width, height })
        } else {
            Err(BadSize {
                text: format!("{width}x{height}"),
            })
        }
    }

    /// The number of pixels in a row.
    #[must_use]
    pub const fn width(self) -> u32 {
        self.width
    }

    /// The number of rows.
    #[must_use]
    pub const fn height(self) -> u32 {
        self.height
    }

    /// The bytes of the brightness plane.
    #[must_use]
    pub const fn luma_len(self) -> usize {
        self.width as usize * self.height as usize
    }

    /// The bytes of each colour plane.
    #[must_use]
    pub const fn chroma_len(self) -> usize {
        self.luma_len() / 4
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

impl std::str::FromStr for Size {
    type Err = BadSize;

    fn from_str(text: &str) -> Result<Self, BadSize> {
        let bad = || BadSize {
            text: text.to_owned(),
        };
        let (width, height) = text.split_once('x').ok_or_else(bad)?;
        let side = |side: &str| side.parse().map_err(|_| bad());
        Self::new(side(width)?, side(height)?).map_err(|_| bad())
    }
}

/// One of the planes of a picture.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Plane {
    /// Brightness, one byte a pixel.
    Y,
    /// Blue difference, one byte for each square of four pixels.
    U,
    /// Red difference, one byte for each square of four pixels.
    V,
}

/// A picture: its planes one after the other, rows without gaps.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Picture {
    size: Size,
    data: Vec<u8>,
}

impl Picture {
    /// A black picture.
    #[must_use]
    pub fn new(size: Size) -> Self {
        let mut data = vec![16; size.luma_len()];
        data.resize(size.luma_len() + 2 * size.chroma_len(), 128);
        Self { size, data }
    }

    /// The size of this picture.
    #[must_use]
    pub const fn size(&self) -> Size {
        self.size
    }

    /// The bytes from one row of `plane` to the next.
    #[must_use]
    pub const fn stride(&self, plane: Plane) -> usize {
        match plane {
            Plane::Y => self.size.width as usize,
            Plane::U | Plane::V => self.size.width as usize / 2,
        }
    }

    /// The samples of one plane, row by row.
    #[must_use]
    pub fn plane(&self, plane: Plane) -> &[u8] {
        let [y, u, v] = self.planes();
        match plane {
            Plane::Y => y,
            Plane::U => u,
            Plane::V => v,
        }
    }

    /// All planes: Y, U, V.
    #[must_use]
    pub fn planes(&self) -> [&[u8]; 3] {
        let (y, rest) = self.data.split_at(self.size.luma_len());
        let (u, v) = rest.split_at(self.size.chroma_len());
        [y, u, v]
    }

    /// All planes, to draw into: Y, U, V.
    pub fn planes_mut(&mut self) -> [&mut [u8]; 3] {
        let (y, rest) = self.data.split_at_mut(self.size.luma_len());
        let (u, v) = rest.split_at_mut(self.size.chroma_len());
        [y, u, v]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_reads_as_it_prints() {
        let size: Size = "1280x720".parse().unwrap();
        assert_eq!((size.width(), size.height()), (1280, 720));
        assert_eq!(size.to_string(), "1280x720");
    }

    #[test]
    fn a_size_that_cannot_be_is_named() {
        for text in ["", "720", "1281x720", "0x0", "16384x720", "1280x-2", "axb"] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.contains(&format!("`{text}`")), "{error}");
        }
    }

    #[test]
    fn planes_cover_the_picture_once() {
        let mut picture = Picture::new(Size::new(32, 16).unwrap());
        assert_eq!(picture.planes().map(<[u8]>::len), [512, 128, 128]);
        let [y, u, v] = picture.planes_mut();
        (y[0], u[0], v[0]) = (1, 2, 3);
        assert_eq!(picture.plane(Plane::Y)[0], 1);
        assert_eq!(picture.plane(Plane::U)[0], 2);
        assert_eq!(picture.plane(Plane::V)[0], 3);
        assert_eq!(picture.stride(Plane::U), 16);
    }
}
