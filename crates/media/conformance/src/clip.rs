//! A synthetic clip: a textured background that scrolls, textured sprites that
//! cross it, and noise that no prediction can foresee.

use mimosa_video::{Picture, Size};

/// The side of the texture in pixels, a power of two.
const SIDE: usize = 1024;
/// The side of a sprite in pixels.
const SPRITE: usize = 48;

/// Draws the pictures of a clip.
pub struct Clip {
    size: Size,
    texture: Vec<u8>,
    /// The most that noise adds to a pixel.
    noise: u32,
    state: u32,
}

impl Clip {
    /// A clip of `size`; `noise` of zero gives clean pictures, 14 gives dirty ones.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "no texture is that large")]
    pub fn new(size: Size, noise: u32) -> Self {
        let mut clip = Self {
            size,
            texture: vec![0; SIDE * SIDE],
            noise,
            state: 1,
        };
        // Gradients between random corners, at six scales.
        let mut sums = vec![0_u32; SIDE * SIDE];
        for octave in 0..6 {
            let cell = 128 >> octave;
            let cells = SIDE / cell;
            let corners: Vec<u32> = (0..cells * cells).map(|_| clip.random()).collect();
            let corner = |x: usize, y: usize| corners[(y % cells) * cells + x % cells];
            for (index, sum) in sums.iter_mut().enumerate() {
                let (x, y) = (index % SIDE / cell, index / SIDE / cell);
                let (right, down) = ((index % SIDE % cell) as u32, (index / SIDE % cell) as u32);
                let (left, up) = (cell as u32 - right, cell as u32 - down);
                let mixed = corner(x, y) * left * up
                    + corner(x + 1, y) * right * up
                    + corner(x, y + 1) * left * down
                    + corner(x + 1, y + 1) * right * down;
                *sum += (mixed / (cell * cell) as u32) >> octave;
            }
        }
        for (texel, sum) in clip.texture.iter_mut().zip(sums) {
            *texel = u8::try_from((sum * 2 / 5).clamp(16, 235)).unwrap();
        }
        clip
    }

    /// The next random number, 0 to 255.
    fn random(&mut self) -> u32 {
        self.state = self
            .state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        self.state >> 24
    }

    fn texel(&self, x: usize, y: usize) -> u8 {
        self.texture[y % SIDE * SIDE + x % SIDE]
    }

    /// The picture at `time`, in frames.
    pub fn picture(&mut self, time: u64) -> Picture {
        let time = usize::try_from(time).unwrap();
        let mut picture = Picture::new(self.size);
        let (width, height) = (self.size.width() as usize, self.size.height() as usize);
        let [luma, blue, red] = picture.planes_mut();
        for (y, row) in luma.chunks_exact_mut(width).enumerate() {
            // The lower third is nearer and passes faster.
            let speed = if y > height * 2 / 3 { 15 } else { 5 };
            for (x, pixel) in row.iter_mut().enumerate() {
                *pixel = self.texel(x + time * speed, y + time * 2);
            }
        }
        for sprite in 0..12 {
            let left = (sprite * 211 + time * (sprite * 3 + 4)) % (width - SPRITE);
            let top = (sprite * 97 + time * (sprite + 1)) % (height - SPRITE);
            for y in 0..SPRITE {
                for x in 0..SPRITE {
                    luma[(top + y) * width + left + x] =
                        self.texel(x * 3 + sprite * 50, y * 3 + sprite * 100);
                }
            }
        }
        if self.noise > 0 {
            for pixel in luma.iter_mut() {
                let noise = (self.random() * self.noise) >> 8;
                *pixel = pixel.saturating_add(u8::try_from(noise).unwrap());
            }
        }
        for (index, (blue, red)) in blue.iter_mut().zip(red).enumerate() {
            let (x, y) = (index % (width / 2), index / (width / 2));
            *blue = 100 + (self.texel(x + time * 3, y + time) >> 3);
            *red = 110 + (self.texel(x, y) >> 4);
        }
        picture
    }
}
