//! The amount of a picture that is new.

use crate::Picture;

use crate::complexity::difference::difference;
use crate::complexity::half::Half;
use crate::complexity::motion::Search;

/// The reference that a picture is compared with.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Kind {
    /// The previous picture with its motion: see `motion`.
    #[default]
    Motion,
    /// The previous picture as it was: the ACE paper, equation 3.
    Difference,
}

/// A measure of pictures, one after the other.
#[derive(Clone, Debug)]
pub struct Measure(Inner);

#[derive(Clone, Debug)]
enum Inner {
    Motion {
        search: Search,
        new: Half,
        old: Half,
    },
    Difference {
        old: Option<Picture>,
    },
}

impl Measure {
    /// A measure that has seen no picture.
    #[must_use]
    pub fn new(kind: Kind) -> Self {
        Self(match kind {
            Kind::Motion => Inner::Motion {
                search: Search::default(),
                new: Half::default(),
                old: Half::default(),
            },
            Kind::Difference => Inner::Difference { old: None },
        })
    }

    /// The sum of the absolute transformed differences between `picture` and the previous
    /// one, in levels of brightness. The first picture, or one of another size, counts with
    /// all its texture by [`Kind::Motion`], and with nothing by [`Kind::Difference`].
    pub fn of(&mut self, picture: &Picture) -> u64 {
        match &mut self.0 {
            Inner::Motion { search, new, old } => {
                std::mem::swap(new, old);
                new.take(picture);
                search.run(new, old)
            }
            Inner::Difference { old } => {
                let comparable = old.as_ref().filter(|old| old.size() == picture.size());
                let sum = comparable.map_or(0, |old| difference(picture, old));
                match old {
                    Some(old) if old.size() == picture.size() => old.clone_from(picture),
                    _ => *old = Some(picture.clone()),
                }
                sum
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture of noise.
    fn picture(shift: usize, level: u8) -> Picture {
        let mut picture = Picture::new("256x128".parse().unwrap());
        let width = 256;
        let [luma, ..] = picture.planes_mut();
        for (at, sample) in luma.iter_mut().enumerate() {
            // Patches of 4x4 survive half the resolution.
            let (x, y) = ((at % width + shift) / 4, at / width / 4);
            let hash = (x * 7919 + y * 104_729).wrapping_mul(2_654_435_761) >> 8;
            *sample = level + u8::try_from(hash % 64).unwrap();
        }
        picture
    }

    fn both(first: &Picture, second: &Picture) -> [u64; 2] {
        [Kind::Motion, Kind::Difference].map(|kind| {
            let mut measure = Measure::new(kind);
            measure.of(first);
            measure.of(second)
        })
    }

    #[test]
    fn nothing_is_new_of_a_still_picture() {
        assert_eq!(both(&picture(0, 50), &picture(0, 50)), [0, 0]);
    }

    /// Waves that a shift preserves, and whose place a descent finds.
    fn waves(shift: f64) -> Picture {
        let mut picture = Picture::new("256x128".parse().unwrap());
        let [luma, ..] = picture.planes_mut();
        for (at, sample) in luma.iter_mut().enumerate() {
            let (x, y) = ((at % 256) as f64 + shift, (at / 256) as f64);
            let level = 30.0 * libm::sin(x / 13.0) + 25.0 * libm::sin(y / 9.0 + x / 31.0);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "between 65 and 175"
            )]
            let level = (120.0 + level) as u8;
            *sample = level;
        }
        picture
    }

    #[test]
    fn a_moved_picture_is_new_at_its_edge_alone() {
        let [motion, difference] = both(&waves(0.0), &waves(24.0));
        assert!(difference > 8 * motion, "{difference}, {motion}");
    }

    #[test]
    fn more_light_is_one_coefficient_a_block() {
        let [motion, difference] = both(&picture(0, 50), &picture(0, 60));
        // 10 levels, 8 a block, 128 blocks: at half the resolution a quarter of the whole's
        // blocks. Some blocks are found brighter elsewhere.
        assert_eq!(difference, 10_240);
        assert!((5_000..=10_240).contains(&motion), "{motion}");
    }

    #[test]
    fn no_block_is_more_than_its_own_texture() {
        let mut measure = Measure::new(Kind::Motion);
        let first = measure.of(&picture(0, 50));
        assert!(first > 0, "the first picture is all new");
        let after_a_cut = measure.of(&Picture::new("256x128".parse().unwrap()));
        assert_eq!(after_a_cut, 0, "a black picture costs nothing");
        let back = measure.of(&picture(0, 50));
        assert!(back <= first, "{back}, {first}");
    }

    #[test]
    fn a_picture_of_another_size_begins_anew() {
        let small = Picture::new("128x128".parse().unwrap());
        assert_eq!(both(&small, &picture(0, 50))[1], 0);
        let [motion, _] = both(&small, &picture(0, 50));
        let mut fresh = Measure::new(Kind::Motion);
        assert_eq!(motion, fresh.of(&picture(0, 50)));
    }
}
