//! Conversion from a screen's colours to those of video: ITU-R BT.709, limited range.
//!
//! The matrix is that of Recommendation ITU-R BT.709-6, section 3, scaled to 219 and 224
//! steps (section 4), in 1/256; each sample is within one of the exact value. A colour
//! sample is the mean of its four pixels.

use crate::picture::Picture;

/// The bytes of a pixel: blue, green, red, and one without a meaning.
const PIXEL: usize = 4;

/// There are too few pixels for a picture.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[error("{got} bytes of pixels; the picture needs {needed}")]
pub struct TooFewPixels {
    got: usize,
    needed: usize,
}

impl Picture {
    /// Draws `pixels`: rows without gaps, four bytes a pixel, blue first.
    ///
    /// # Errors
    ///
    /// [`TooFewPixels`]; the picture stays unchanged.
    pub fn draw_bgra(&mut self, pixels: &[u8]) -> Result<(), TooFewPixels> {
        let size = self.size();
        let needed = size.luma_len() * PIXEL;
        let pixels = pixels.get(..needed).ok_or(TooFewPixels {
            got: pixels.len(),
            needed,
        })?;
        let width = size.width() as usize;
        let [y, u, v] = self.planes_mut();
        let pairs = pixels.chunks_exact(2 * width * PIXEL);
        let luma = y.chunks_exact_mut(2 * width);
        let chroma = u
            .chunks_exact_mut(width / 2)
            .zip(v.chunks_exact_mut(width / 2));
        for ((pair, luma), (u, v)) in pairs.zip(luma).zip(chroma) {
            let (upper, lower) = pair.split_at(width * PIXEL);
            brightness(pair, luma);
            colours(upper, lower, u, v);
        }
        Ok(())
    }
}

/// Widens a pixel to the sixteen bits of the computation, which compilers turn into
/// vectors.
fn parts(pixel: &[u8]) -> [u16; 3] {
    [pixel[0], pixel[1], pixel[2]].map(u16::from)
}

fn brightness(pixels: &[u8], luma: &mut [u8]) {
    for (pixel, luma) in pixels.chunks_exact(PIXEL).zip(luma) {
        let [blue, green, red] = parts(pixel);
        let sum = 47 * red + 157 * green + 16 * blue + 128;
        *luma = (sum >> 8) as u8 + 16;
    }
}

fn colours(upper: &[u8], lower: &[u8], u: &mut [u8], v: &mut [u8]) {
    let pairs = upper
        .chunks_exact(2 * PIXEL)
        .zip(lower.chunks_exact(2 * PIXEL));
    for ((upper, lower), (u, v)) in pairs.zip(u.iter_mut().zip(v)) {
        let four = [&upper[..4], &upper[4..], &lower[..4], &lower[4..]].map(parts);
        let mean = |part: usize| (four.iter().map(|pixel| pixel[part]).sum::<u16>() + 2) / 4;
        let (blue, green, red) = (mean(0), mean(1), mean(2));
        // Adding 128 before the subtractions, in 1/256, keeps all values above zero.
        let middle = 128 * 256 + 128;
        *u = ((middle + 112 * blue - 26 * red - 86 * green) >> 8) as u8;
        *v = ((middle + 112 * red - 102 * green - 10 * blue) >> 8) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::Size;

    /// The formula of the recommendation, in full.
    fn exact([blue, green, red]: [f64; 3]) -> [f64; 3] {
        let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        [
            16.0 + 219.0 / 255.0 * luma,
            128.0 + 224.0 / 255.0 * (blue - luma) / 1.8556,
            128.0 + 224.0 / 255.0 * (red - luma) / 1.5748,
        ]
    }

    #[test]
    fn every_colour_is_within_one_of_the_exact_value() {
        let mut picture = Picture::new(Size::new(16, 16).unwrap());
        for blue in (0..=255_u8).step_by(15) {
            for green in (0..=255_u8).step_by(15) {
                for red in (0..=255_u8).step_by(15) {
                    let pixels = [blue, green, red, 0xff].repeat(256);
                    picture.draw_bgra(&pixels).unwrap();
                    let expected = exact([blue, green, red].map(f64::from));
                    for (plane, expected) in picture.planes().into_iter().zip(expected) {
                        let error = (f64::from(plane[7]) - expected).abs();
                        assert!(
                            error <= 1.1,
                            "{blue} {green} {red}: {} for {expected}",
                            plane[7]
                        );
                        assert!(plane.iter().all(|sample| *sample == plane[0]));
                    }
                }
            }
        }
    }

    #[test]
    fn pixels_stay_where_they_are() {
        let size = Size::new(32, 16).unwrap();
        let mut pixels = vec![0; size.luma_len() * PIXEL];
        let at = (5 * 32 + 9) * PIXEL;
        pixels[at..at + 3].copy_from_slice(&[255, 255, 255]);
        let mut picture = Picture::new(size);
        picture.draw_bgra(&pixels).unwrap();
        let bright = |plane: &[u8]| plane.iter().position(|sample| *sample > 200);
        assert_eq!(bright(picture.planes()[0]), Some(5 * 32 + 9));
    }

    #[test]
    fn too_few_pixels_change_nothing() {
        let mut picture = Picture::new(Size::new(16, 16).unwrap());
        let before = picture.clone();
        let error = picture.draw_bgra(&[0; 100]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "100 bytes of pixels; the picture needs 1024"
        );
        assert_eq!(picture, before);
    }
}
