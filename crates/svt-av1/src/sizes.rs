//! How large a frame becomes at which quantiser.
//!
//! The logarithm of a frame's size falls in a straight line with the level of its
//! quantiser. How steeply is learnt from frames with different ones. How high the line
//! is follows the frames: one height for the pictures, which moves with each frame, and
//! for each place in the cycle of references how far it is from that height, since a
//! frame whose reference is older is larger. How far below the budget to aim is learnt
//! from how many frames exceed it.

use mimosa_units::Bytes;
use mimosa_video::Size;

use crate::quantiser::Quantiser;

/// Places in the cycle of references: the first refers to the picture four before, the
/// third to that two before, the others to the last.
const PLACES: usize = 4;
/// Halvings of the size for a level higher by one, before any is known: six levels
/// double the step.
const STEEPNESS: f64 = 0.2;
/// Bounds of what is learnt.
const STEEPNESSES: (f64, f64) = (0.05, 0.6);
/// How many doublings above the height frames at each place are, before any is known.
const ABOVE_HEIGHT: [f64; PLACES] = [0.9, -0.4, -0.1, -0.4];
/// Frames after a keyframe that say nothing about how far to aim below the budget: the
/// first of each place refers to the keyframe, which is coarser than what follows.
const UNSETTLED: u32 = 8;
/// How fast the steepness is learnt.
const LEARNING: f64 = 0.15;
/// Levels that differ by less teach little.
const TELLING: f64 = 2.0;
/// How far the height goes towards what the last frame had.
const FOLLOWING: f64 = 0.7;
/// How fast the places' differences are learnt.
const DIFFERING: f64 = 0.1;
/// The part of frames that may exceed the budget.
const ABOVE: f64 = 0.02;
/// How far one that does takes the aim down, in halvings.
const STEP: f64 = 0.15;
/// The aim of the first frames, in halvings below the budget.
const MARGIN: f64 = 0.3;
/// Bounds of the aim.
const MARGINS: (f64, f64) = (0.03, 1.5);
/// The part of the budget that a keyframe aims at.
const KEYFRAME_AIM: f64 = 0.7;
/// The first keyframe is thought to have this many bits per pixel at [`FIRST`].
const FIRST_BITS: f64 = 0.15;
/// See [`FIRST_BITS`].
const FIRST: f64 = 30.0;
/// The first frames after a keyframe have this part of its size at the same quantiser,
/// before any is known.
const OTHERS: f64 = 0.5;

/// Which frame it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// A keyframe.
    Keyframe,
    /// So many frames after one.
    Other(u32),
}

/// A point of a line: the logarithm of a size in bytes, and the level where it is.
#[derive(Clone, Copy, Debug)]
struct Point {
    level: f64,
    bytes: f64,
}

/// What is known of sizes.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    finest: Quantiser,
    steepness: f64,
    /// The last keyframe.
    keyframe: Point,
    /// The height of the pictures, where the last frame was; `None` before the first.
    height: Option<Point>,
    /// By place, how many doublings its frames are above that height.
    places: [f64; PLACES],
    /// By place, the last frame there.
    before: [Option<Point>; PLACES],
    /// Halvings that are aimed at below the budget.
    margin: f64,
}

impl Sizes {
    /// No frame yet, of pictures of `size`, and no quantiser finer than `finest`.
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

    /// The quantiser with which a frame is thought to use `budget` and not more.
    pub(crate) fn quantiser(&self, kind: Kind, budget: Bytes) -> Quantiser {
        let budget = logarithm(budget);
        let aim = match kind {
            Kind::Keyframe => budget + libm::log2(KEYFRAME_AIM),
            Kind::Other(_) => budget - self.margin,
        };
        let known = self.known(kind);
        let level = known.level + (known.bytes - aim) / self.steepness;
        Quantiser::not_finer_than(level).max(self.finest)
    }

    /// A frame of `kind` has `size` with `quantiser`, of `budget`.
    pub(crate) fn observe(&mut self, kind: Kind, quantiser: Quantiser, size: Bytes, budget: Bytes) {
        let (level, bytes) = (quantiser.level(), logarithm(size));
        let Kind::Other(number) = kind else {
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
        // One that has all it needs would fit whatever was aimed at.
        if number >= UNSETTLED && (quantiser > self.finest || size > budget) {
            self.learn_margin(size > budget);
        }
    }

    /// A point of the line on which frames of `kind` are.
    fn known(&self, kind: Kind) -> Point {
        match (kind, self.height) {
            (Kind::Keyframe, _) => self.keyframe,
            (Kind::Other(number), Some(height)) => height.raised(self.place(number)),
            (Kind::Other(_), None) => self.keyframe.raised(libm::log2(OTHERS)),
        }
    }

    fn place(&self, number: u32) -> f64 {
        self.places.get(index(number)).copied().unwrap_or_default()
    }

    /// Compares a frame with the one before at its place, which differs from it in the
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

    /// Moves part of `error` to the place, and all places so that their mean is zero.
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

    /// Up by a large step for each frame above, down by a small one for each other.
    fn learn_margin(&mut self, is_above: bool) {
        let step = if is_above { 1.0 - ABOVE } else { -ABOVE };
        let (least, most) = MARGINS;
        self.margin = (self.margin + STEP * step).max(least).min(most);
    }
}

impl Point {
    /// The point so many doublings higher.
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

/// The place of the frame so many after a keyframe.
fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or_default() % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Bytes = Bytes::new(20_000);

    /// A world in which frames have sizes on a line of its own, by their place.
    fn size(kind: Kind, quantiser: Quantiser, steepness: f64) -> Bytes {
        let factor = match kind {
            Kind::Keyframe => 4.0,
            Kind::Other(number) => [2.0, 0.8, 1.4, 0.8][index(number)],
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
                    0 => Kind::Keyframe,
                    _ => Kind::Other(number),
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
        let quantiser = sizes.quantiser(Kind::Keyframe, BUDGET);
        let used = size(Kind::Keyframe, quantiser, 0.2);
        assert!(used <= BUDGET && used > BUDGET.scale(0.5), "{used}");
    }

    #[test]
    fn nothing_is_finer_than_the_finest() {
        let picture = Size::new(1280, 720).unwrap();
        let finest = Quantiser::not_finer_than(30.0);
        let sizes = Sizes::new(picture, finest);
        let much = Bytes::new(100_000_000);
        assert_eq!(sizes.quantiser(Kind::Keyframe, much), finest);
        assert_eq!(
            sizes.quantiser(Kind::Other(1), Bytes::new(1)),
            Quantiser::COARSEST
        );
    }

    #[test]
    fn who_exceeds_aims_lower() {
        let (mut sizes, _) = taught(0.2, |_| BUDGET);
        let before = sizes.quantiser(Kind::Other(400), BUDGET);
        let margin = sizes.margin;
        sizes.observe(Kind::Other(400), before, BUDGET.scale(1.3), BUDGET);
        assert!(sizes.margin > margin + 0.1);
        assert!(sizes.quantiser(Kind::Other(404), BUDGET) > before);
    }
}
