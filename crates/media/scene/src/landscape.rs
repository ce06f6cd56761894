//! Landscapes: sky, three ranges of hills, ground or water, and stalks in front, each a
//! layer that passes at its own speed.

use mimosa_video::Size;

use crate::canvas::Canvas;
use crate::colour::Texel;
use crate::ground;
use crate::hills::{self, Hills};
use crate::layer::Layer;
use crate::number::{even, fraction, index, signed, sine, whole};
use crate::palette::Palette;
use crate::random::Random;
use crate::sky;

/// The measures of a picture that everything in it follows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Geometry {
    /// The number of pixels in a row.
    pub(crate) width: f32,
    /// The number of rows.
    pub(crate) height: f32,
    /// The number of pixels that stand for one pixel of a picture of 1280x720.
    pub(crate) unit: f32,
    /// The pixels after which the layers repeat, wider than the picture.
    pub(crate) period: usize,
    /// The row of the horizon when the camera is level.
    pub(crate) horizon: usize,
    /// The rows by which the camera may rise or sink.
    pub(crate) slack: usize,
}

impl Geometry {
    /// The measures of a picture of this size.
    pub(crate) fn new(size: Size) -> Self {
        let (width, height) = (size.width() as f32, size.height() as f32);
        Self {
            width,
            height,
            unit: (width / 1280.0).min(height / 720.0),
            period: even(width * 1.25),
            horizon: even(height * 0.72),
            slack: even(height * 0.03),
        }
    }
}

/// The progress of the layers and the place of the camera.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct View {
    /// The part of its period by which each layer of [`SPEEDS`] has passed.
    pub(crate) passed: [f32; SPEEDS.len()],
    /// The time in seconds, for things that sway.
    pub(crate) seconds: f32,
    /// The height of the camera: -1 for the lowest, 1 for the highest.
    pub(crate) rise: f32,
}

/// The speed of each layer relative to the nearest ground: sky, the ranges from far to
/// near, ground, and the things in front.
pub(crate) const SPEEDS: [f32; 6] = [0.015, 0.06, 0.14, 0.3, 1.0, 1.7];

/// A landscape, drawn behind everything but its own front.
pub(crate) struct Landscape {
    sky: Layer,
    ranges: [Layer; 3],
    ground: Layer,
    front: Layer,
    water: Option<Texel>,
}

impl Landscape {
    /// A landscape with these colours and with shapes that come from `random`.
    pub(crate) fn new(geometry: &Geometry, palette: &Palette, random: &mut Random) -> Self {
        let ranges = [
            Hills::far(palette),
            Hills::middle(palette),
            Hills::near(palette),
        ];
        let water = palette.is_water.then(|| palette.floor[0].texel(0.3));
        Self {
            sky: sky::layer(geometry, palette, random),
            ranges: ranges.map(|range| hills::layer(geometry, &range, random)),
            ground: ground::layer(geometry, palette, random),
            front: ground::stalks(geometry, palette, random),
            water,
        }
    }

    /// Draws everything behind the player.
    pub(crate) fn draw_back(&self, geometry: &Geometry, view: &View, canvas: &mut Canvas<'_>) {
        let sink = |part: f32| whole(view.rise * part * geometry.slack as f32);
        let horizon = signed(geometry.horizon);
        let slack = signed(geometry.slack);
        self.sky.draw(canvas, sink(0.2) - slack, view.passed[0]);
        for (number, range) in self.ranges.iter().enumerate() {
            let down = sink([0.3, 0.5, 0.8][number]);
            let top = horizon + slack + down - range.height();
            range.draw(canvas, top, view.passed[number + 1]);
        }
        let shore = horizon + sink(0.9);
        if let Some(tint) = self.water {
            let depth = geometry.height - geometry.horizon as f32;
            let sway = |row: usize| {
                let near = row as f32 / depth;
                let wave = sine(view.seconds * 0.9 - 1.6 / (near + 0.3))
                    + 0.6
                        * sine(
                            fraction(view.seconds * 1.7)
                                + row as f32 / (23.0 * geometry.unit + 4.0),
                        );
                whole(wave * (0.6 + 5.0 * near) * geometry.unit)
            };
            let tint = |row: usize| Texel {
                alpha: u8::try_from(50 + index(110.0 * row as f32 / depth)).unwrap_or(200),
                ..tint
            };
            canvas.reflect(usize::try_from(shore).unwrap_or(0), sway, tint);
        }
        self.ground.draw(canvas, shore, view.passed[4]);
    }

    /// Draws everything between the player and the camera.
    pub(crate) fn draw_front(&self, geometry: &Geometry, view: &View, canvas: &mut Canvas<'_>) {
        let sink = whole((view.rise + 1.0) * 0.9 * geometry.slack as f32);
        let top = whole(geometry.height) - self.front.height() + sink;
        self.front.draw(canvas, top, view.passed[5]);
    }
}
