//! Colours as a picture holds them: BT.709, limited range.

use crate::number::{between, byte};

/// A colour: Y, U and V on the scale of a picture's bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Colour([f32; 3]);

/// A dot of a texture or sprite.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Texel {
    /// The values of Y, U and V.
    pub(crate) yuv: [u8; 3],
    /// The share of the background that the dot covers: 255 for all of it.
    pub(crate) alpha: u8,
}

impl Colour {
    /// A colour from the web's notation, `0xRRGGBB`.
    pub(crate) const fn rgb(hex: u32) -> Self {
        let red = ((hex >> 16) & 255) as f32 / 255.0;
        let green = ((hex >> 8) & 255) as f32 / 255.0;
        let blue = (hex & 255) as f32 / 255.0;
        // ITU-R BT.709-6, items 3.2, 3.3 and 3.4.
        let luma = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        Self([
            16.0 + 219.0 * luma,
            128.0 + 224.0 * (blue - luma) / 1.8556,
            128.0 + 224.0 * (red - luma) / 1.5748,
        ])
    }

    /// A colour between this one at 0 and `other` at 1.
    pub(crate) fn mix(self, other: Self, part: f32) -> Self {
        let part = part.clamp(0.0, 1.0);
        let [y, u, v] = self.0;
        Self([
            between(y, other.0[0], part),
            between(u, other.0[1], part),
            between(v, other.0[2], part),
        ])
    }

    /// This colour, brighter by `luma`, or darker where `luma` is negative.
    pub(crate) fn lit(self, luma: f32) -> Self {
        let [y, u, v] = self.0;
        Self([y + luma, u, v])
    }

    /// The colour as bytes of a picture, within the limited range.
    pub(crate) fn bytes(self) -> [u8; 3] {
        let [y, u, v] = self.0;
        [
            byte(y.clamp(16.0, 235.0)),
            byte(u.clamp(16.0, 240.0)),
            byte(v.clamp(16.0, 240.0)),
        ]
    }

    /// A dot of this colour that covers what is behind it by `cover`, 0 to 1.
    pub(crate) fn texel(self, cover: f32) -> Texel {
        Texel {
            yuv: self.bytes(),
            alpha: byte(cover * 255.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corners_of_the_range_are_those_of_bt709() {
        assert_eq!(Colour::rgb(0x00_0000).bytes(), [16, 128, 128]);
        assert_eq!(Colour::rgb(0xff_ffff).bytes(), [235, 128, 128]);
        assert_eq!(Colour::rgb(0xff_0000).bytes(), [63, 102, 240]);
        assert_eq!(Colour::rgb(0x00_ff00).bytes(), [173, 42, 26]);
        assert_eq!(Colour::rgb(0x00_00ff).bytes(), [32, 240, 118]);
    }
}
