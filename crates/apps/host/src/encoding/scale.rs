//! Scales pictures down.

use fast_image_resize::images::{TypedImage, TypedImageRef};
use fast_image_resize::pixels::U8;
use fast_image_resize::{FilterType, ResizeAlg, ResizeOptions, Resizer};
use mimosa_video::{Picture, Size};

/// Scales pictures down, and keeps the memory for it.
#[derive(Debug)]
pub(crate) struct Scaler {
    resizer: Resizer,
    options: ResizeOptions,
    made: Option<Picture>,
}

impl Scaler {
    pub(crate) fn new() -> Self {
        // Each sample is the mean of what it covers, so that nothing flickers or rings.
        let algorithm = ResizeAlg::Convolution(FilterType::Box);
        Self {
            resizer: Resizer::new(),
            options: ResizeOptions::new().resize_alg(algorithm),
            made: None,
        }
    }

    /// `picture` at `size`; unchanged if it has that size, or cannot be scaled.
    pub(crate) fn scale<'a>(&'a mut self, picture: &'a Picture, size: Size) -> &'a Picture {
        if picture.size() == size {
            return picture;
        }
        let made = self.made.take().filter(|made| made.size() == size);
        let mut made = made.unwrap_or_else(|| Picture::new(size));
        let done = self.fill(picture, &mut made);
        let made = self.made.insert(made);
        if done.is_some() { made } else { picture }
    }

    fn fill(&mut self, picture: &Picture, made: &mut Picture) -> Option<()> {
        let halves = [1, 2, 2];
        let (from, to) = (picture.size(), made.size());
        for ((half, from_plane), to_plane) in halves
            .into_iter()
            .zip(picture.planes())
            .zip(made.planes_mut())
        {
            let (width, height) = (from.width() / half, from.height() / half);
            let from = TypedImageRef::<U8>::from_buffer(width, height, from_plane).ok()?;
            let (width, height) = (to.width() / half, to.height() / half);
            let mut to = TypedImage::<U8>::from_buffer(width, height, to_plane).ok()?;
            // The generic `resize` would make the compiler build the code for all kinds of images.
            self.resizer
                .resize_typed(&from, &mut to, &self.options)
                .ok()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_means_of_four() {
        let mut picture = Picture::new("64x32".parse().unwrap());
        let [luma, ..] = picture.planes_mut();
        (luma[0], luma[1], luma[64], luma[65]) = (10, 30, 50, 70);
        let mut scaler = Scaler::new();
        let made = scaler.scale(&picture, "32x16".parse().unwrap());
        assert_eq!(made.size().to_string(), "32x16");
        let [luma, u, v] = made.planes();
        assert_eq!(luma[..2], [40, 16]);
        assert_eq!((u[0], v[5]), (128, 128));
    }

    #[test]
    fn three_quarters_keep_edges_where_they_are() {
        let mut picture = Picture::new("1280x720".parse().unwrap());
        let [luma, ..] = picture.planes_mut();
        for row in luma.chunks_mut(1280) {
            row[640..].fill(235);
        }
        let mut scaler = Scaler::new();
        let made = scaler.scale(&picture, "960x540".parse().unwrap());
        let [luma, ..] = made.planes();
        assert!(
            luma.chunks(960)
                .all(|row| row[479] == 16 && row[480] == 235)
        );
    }

    #[test]
    fn a_picture_of_that_size_is_itself() {
        let picture = Picture::new("64x32".parse().unwrap());
        let mut scaler = Scaler::new();
        assert_eq!(scaler.scale(&picture, picture.size()), &picture);
        assert!(scaler.made.is_none());
    }
}
