//! One picture of any size: three planes of 8 bits, the colour planes halved both ways.

/// The width and height of a plane, in samples.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PlaneSize {
    /// The number of samples in a row.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
}

impl PlaneSize {
    /// The number of samples in the plane.
    #[must_use]
    pub const fn area(self) -> usize {
        self.width * self.height
    }

    /// The size of each colour plane beside a brightness plane of this size.
    #[must_use]
    pub const fn halved(self) -> Self {
        Self {
            width: self.width.div_ceil(2),
            height: self.height.div_ceil(2),
        }
    }

    /// The sizes of the planes of a picture of this size: Y, U, V.
    #[must_use]
    pub const fn planes(self) -> [Self; 3] {
        [self, self.halved(), self.halved()]
    }

    /// The bytes of a picture of this size.
    #[must_use]
    pub const fn frame_len(self) -> usize {
        self.area() + 2 * self.halved().area()
    }
}

impl std::fmt::Display for PlaneSize {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// A picture: its planes one after the other, rows without gaps.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Frame {
    /// The frame's number, if the file states one (see [`frame_line`](crate::frame_line)).
    pub number: Option<u64>,
    size: PlaneSize,
    data: Vec<u8>,
}

impl Frame {
    /// A picture with these planes; `None` when `data` has not as many bytes as `size`
    /// needs.
    #[must_use]
    pub fn new(size: PlaneSize, data: Vec<u8>) -> Option<Self> {
        (data.len() == size.frame_len()).then_some(Self {
            number: None,
            size,
            data,
        })
    }

    /// The size of the brightness plane.
    #[must_use]
    pub const fn size(&self) -> PlaneSize {
        self.size
    }

    /// All planes, one after the other.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The planes: Y, U, V.
    #[must_use]
    pub fn planes(&self) -> [&[u8]; 3] {
        let (y, rest) = self.data.split_at(self.size.area());
        let (u, v) = rest.split_at(self.size.halved().area());
        [y, u, v]
    }
}
