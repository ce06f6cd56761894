//! How large a frame becomes at which quantiser.
//!
//! The logarithm of a frame's size falls in a straight line with the level of its
//! quantiser. The steepness of the line is learnt from frames with different quantisers.
//! The height of the line follows the frames: there is one height for the pictures, which
//! moves with each frame, and for each place in the cycle of references a difference from
//! that height, because a frame whose reference is older is larger. The margin below the
//! budget is learnt from the share of frames that exceed it.

use mimosa_units::Bytes;
use mimosa_video::Size;

use crate::quantiser::Quantiser;

/// The number of places in the cycle of references: the first refers to the picture four
/// before, the third to the picture two before, the others to the last picture.
const PLACES: usize = 4;
/// The first steepness: halvings of the size per level. Six levels double the step of
/// quantisation.
const STEEPNESS: f64 = 0.2;
/// The bounds of the steepness that is learnt.
const STEEPNESSES: (f64, f64) = (0.05, 0.6);
/// The first difference of each place: doublings of its frames' size above the height.
const ABOVE_HEIGHT: [f64; PLACES] = [0.9, -0.4, -0.1, -0.4];
/// The number of frames after a keyframe that say nothing about the margin below the
/// budget: the first frame at each place refers to the keyframe, which is coarser than
/// later frames.
const UNSETTLED: u32 = 8;
/// The weight of a new frame in the steepness.
const LEARNING: f64 = 0.15;
/// The difference of levels below which two frames teach little about the steepness.
const TELLING: f64 = 2.0;
/// The share by which the height moves towards the last frame.
const FOLLOWING: f64 = 0.7;
/// The weight of a new frame in the differences of places.
const DIFFERING: f64 = 0.1;
/// The share of frames that may exceed their budget.
const ABOVE: f64 = 0.02;
/// The rise of the margin after a frame that exceeds its budget, in halvings.
const STEP: f64 = 0.15;
/// The first margin below the budget, in halvings.
const MARGIN: f64 = 0.3;
/// The bounds of the margin.
const MARGINS: (f64, f64) = (0.03, 1.5);
/// The share of the budget that a keyframe aims at.
const KEYFRAME_AIM: f64 = 0.7;
/// The assumed bits per pixel of the first keyframe at [`FIRST`].
const FIRST_BITS: f64 = 0.15;
/// The level that [`FIRST_BITS`] holds for.
const FIRST: f64 = 30.0;
/// The assumed size of the first frames after a keyframe, relative to the keyframe at the
/// same quantiser.
const OTHERS: f64 = 0.5;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FrameKind {
    /// A keyframe.
    Keyframe,
    /// The frame that comes this many frames after a keyframe.
    Other(u32),
}

/// A point of a line: the logarithm of a size in bytes, and the level at which a frame has
/// it.
#[derive(Clone, Copy, Debug)]
struct Point {
    level: f64,
    bytes: f64,
}

/// The knowledge about sizes that an encoder gathers.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    finest: Quantiser,
    steepness: f64,
    /// The last keyframe.
    keyframe: Point,
    /// The height of the pictures at the last frame; `None` before the first.
    height: Option<Point>,
    /// The difference of each place, in doublings of the size above the height.
    places: [f64; PLACES],
    /// The last frame at each place.
    before: [Option<Point>; PLACES],
    /// The margin below the budget, in halvings.
    margin: f64,
}

impl Sizes {
    /// The state before the first frame, for pictures of `size` and no quantiser finer than
    /// `finest`.
    pub(crate) fn new(size: Size, finest: Quantiser) -> Self {
        let bytes = FIRST_BITS * size.luma_len() as f64 / 8.0;
        Self {
            finest,
            steepness: STEEPNESS,
            keyframe: Point {
                level: FIRST,
                bytes: libm::log2(bytes),
            },
            height: None,
            places: ABOVE_HEIGHT,
            before: [None; PLACES],
            margin: MARGIN,
        }
    }

    /// The quantiser with which a frame should use `budget` and not more.
    pub(crate) fn quantiser(&self, kind: FrameKind, budget: Bytes) -> Quantiser {
        let budget = logarithm(budget);
        let aim = match kind {
            FrameKind::Keyframe => budget + libm::log2(KEYFRAME_AIM),
            FrameKind::Other(_) => budget - self.margin,
        };
        let known = self.known(kind);
        let level = known.level + (known.bytes - aim) / self.steepness;
        Quantiser::not_finer_than(level).max(self.finest)
    }

    /// Records that a frame of `kind` had `size` with `quantiser`, of `budget`.
    pub(crate) fn observe(
        &mut self,
        kind: FrameKind,
        quantiser: Quantiser,
        size: Bytes,
        budget: Bytes,
    ) {
        let (level, bytes) = (quantiser.level(), logarithm(size));
        let FrameKind::Other(number) = kind else {
            self.keyframe = Point { level, bytes };
            self.before = [None; PLACES];
            return;
        };
        self.learn_steepness(number, Point { level, bytes });
        let known = self.known(kind);
        let expected = known.bytes - self.steepness * (level - known.level);
        let error = bytes - expected;
        self.height = Some(Point {
            level,
            bytes: expected - self.place(number) + FOLLOWING * error,
        });
        self.learn_place(number, error);
        // A frame that has all it needs would fit whatever the margin was.
        if number >= UNSETTLED && (quantiser > self.finest || size > budget) {
            self.learn_margin(size > budget);
        }
    }

    /// A point of the line on which frames of `kind` lie.
    fn known(&self, kind: FrameKind) -> Point {
        match (kind, self.height) {
            (FrameKind::Keyframe, _) => self.keyframe,
            (FrameKind::Other(number), Some(height)) => height.raised(self.place(number)),
            (FrameKind::Other(_), None) => self.keyframe.raised(libm::log2(OTHERS)),
        }
    }

    fn place(&self, number: u32) -> f64 {
        self.places.get(index(number)).copied().unwrap_or_default()
    }

    /// Compares a frame with the last one at its place, which differs from it in the
    /// quantiser and little else.
    fn learn_steepness(&mut self, number: u32, frame: Point) {
        let Some(place) = self.before.get_mut(index(number)) else {
            return;
        };
        let Some(before) = place.replace(frame) else {
            return;
        };
        let distance = frame.level - before.level;
        let error = frame.bytes - (before.bytes - self.steepness * distance);
        let change = LEARNING * error * distance / (distance * distance + TELLING);
        let (least, most) = STEEPNESSES;
        self.steepness = (self.steepness - change).max(least).min(most);
    }

    /// Moves the difference of a place by part of `error`, and all differences so that
    /// their mean is zero.
    fn learn_place(&mut self, number: u32, error: f64) {
        if let Some(place) = self.places.get_mut(index(number)) {
            *place += DIFFERING * error;
        }
        let mean = self.places.iter().sum::<f64>() / PLACES as f64;
        for place in &mut self.places {
            *place -= mean;
        }
        self.height = self.height.map(|height| height.raised(mean));
    }

    /// Raises the margin by a large step for a frame above its budget, and lowers it by a
    /// small one for any other.
    fn learn_margin(&mut self, is_above: bool) {
        let step = if is_above { 1.0 - ABOVE } else { -ABOVE };
        let (least, most) = MARGINS;
        self.margin = (self.margin + STEP * step).max(least).min(most);
    }
}

impl Point {
    /// The point that lies this many doublings higher.
    fn raised(self, doublings: f64) -> Self {
        Self {
            bytes: self.bytes + doublings,
            ..self
        }
    }
}

fn logarithm(size: Bytes) -> f64 {
    libm::log2(size.get().max(1) as f64)
}

/// The place of the frame that comes this many frames after a keyframe.
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or_default() % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Bytes = Bytes::new(20_000);

    /// The size of a frame in an invented world, where sizes lie on a line for each place.
    fn size(kind: FrameKind, quantiser: Quantiser, steepness: f64) -> Bytes {
        let factor = match kind {
            FrameKind::Keyframe => 4.0,
            FrameKind::Other(number) => [2.0, 0.8, 1.4, 0.8][index(number)],
        };
        let level = quantiser.level() - 30.0;
        Bytes::new(1).scale(20_000.0 * factor * libm::exp2(-steepness * level))
    }

    fn taught(steepness: f64, budgets: impl Fn(u32) -> Bytes) -> (Sizes, Vec<f64>) {
        let picture = Size::new(1280, 720).unwrap();
        let mut sizes = Sizes::new(picture, Quantiser::FINEST);
        let uses = (0..400)
            .map(|number| {
                let kind = match number {
                    0 => FrameKind::Keyframe,
                    _ => FrameKind::Other(number),
                };
                let budget = budgets(number);
                let quantiser = sizes.quantiser(kind, budget);
                let size = size(kind, quantiser, steepness);
                sizes.observe(kind, quantiser, size, budget);
                size.get() as f64 / budget.get() as f64
            })
            .collect();
        (sizes, uses)
    }

    #[test]
    fn places_and_steepness_are_learnt() {
        for steepness in [0.12, 0.2, 0.3] {
            let random = |number| BUDGET.scale(0.3 + f64::from(number * 7919 % 97) / 60.0);
            let (sizes, uses) = taught(steepness, random);
            let late = &uses[200..];
            let mean = late.iter().sum::<f64>() / late.len() as f64;
            let above = late.iter().filter(|&&used| used > 1.0).count();
            assert!(mean > 0.85, "{mean} of the budgets at {steepness}");
            assert!(above <= 8, "{above} of 200 above at {steepness}");
            assert!(
                (sizes.steepness - steepness).abs() < 0.03,
                "{} for {steepness}",
                sizes.steepness
            );
        }
    }

    #[test]
    fn a_keyframe_teaches_the_next() {
        let (sizes, _) = taught(0.2, |_| BUDGET);
        let quantiser = sizes.quantiser(FrameKind::Keyframe, BUDGET);
        let used = size(FrameKind::Keyframe, quantiser, 0.2);
        assert!(used <= BUDGET && used > BUDGET.scale(0.5), "{used}");
    }

    #[test]
    fn nothing_is_finer_than_the_finest() {
        let picture = Size::new(1280, 720).unwrap();
        let finest = Quantiser::not_finer_than(30.0);
        let sizes = Sizes::new(picture, finest);
        let much = Bytes::new(100_000_000);
        assert_eq!(sizes.quantiser(FrameKind::Keyframe, much), finest);
        assert_eq!(
            sizes.quantiser(FrameKind::Other(1), Bytes::new(1)),
            Quantiser::COARSEST
        );
    }

    #[test]
    fn who_exceeds_aims_lower() {
        let (mut sizes, _) = taught(0.2, |_| BUDGET);
        let before = sizes.quantiser(FrameKind::Other(400), BUDGET);
        let margin = sizes.margin;
        sizes.observe(FrameKind::Other(400), before, BUDGET.scale(1.3), BUDGET);
        assert!(sizes.margin > margin + 0.1);
        assert!(sizes.quantiser(FrameKind::Other(404), BUDGET) > before);
    }
}
