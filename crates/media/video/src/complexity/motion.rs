//! The new part of a picture after a search for motion, at half the resolution.
//!
//! The search finds, for each 8x8 block, the place in the previous picture from which it
//! most likely came: a block's neighbours and its own last motion are tried first, then a
//! diamond around the best of them that shrinks. The remaining difference is transformed,
//! and counts for no more than the block's own texture, which an encoder would code without
//! the other picture. libx264's lookahead, which the ACE paper takes its sizes from
//! (section 5.1), works in the same way but does not give its results to callers.

use crate::complexity::hadamard::{Block, SIDE, satd, satd_of_texture};
use crate::complexity::half::Half;

/// The distances tried around the best place, in samples.
const STEPS: [i32; 3] = [6, 3, 1];
/// The most moves at one distance.
const MOVES: u32 = 2;
/// The most that a block differs per pixel, on the mean, while it counts as unchanged: an
/// encoder does not code such a difference at the rates of a stream.
const STILL: u32 = 2 * 64;

/// A motion: columns to the right, rows down.
type Vector = (i32, i32);
/// The samples of a block, row by row.
type Samples = [[u8; SIDE]; SIDE];

/// The search, from picture to picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// The motion of each block, row by row.
    vectors: Vec<Vector>,
}

impl Search {
    /// The amount of `new` that is not in `old`; everything when they differ in size.
    pub(crate) fn run(&mut self, new: &Half, old: &Half) -> u64 {
        let (width, height) = new.size();
        let (across, down) = (width / SIDE, height / SIDE);
        self.vectors.resize(across * down, (0, 0));
        let is_comparable = old.size() == new.size();
        let mut sum = 0;
        for row in 0..down {
            for column in 0..across {
                let at = (column * SIDE, row * SIDE);
                let rows = rows(new, at);
                let texture = || satd_of_texture(&apart(&rows, &[[0; SIDE]; SIDE]));
                let left = if is_comparable {
                    let (vector, difference) = self.find(&rows, old, (column, row), across);
                    self.vectors[row * across + column] = vector;
                    if difference <= STILL {
                        difference / 8
                    } else {
                        let after = |from| satd(&apart(&rows, &self::rows(old, from)));
                        // The place with the least difference is not always the cheapest to
                        // code.
                        let in_place = if vector == (0, 0) {
                            u32::MAX
                        } else {
                            after(at)
                        };
                        after(moved(at, vector)).min(in_place).min(texture())
                    }
                } else {
                    texture()
                };
                sum += u64::from(left);
            }
        }
        sum
    }

    /// The best motion of a block, and the difference that remains.
    fn find(
        &self,
        rows: &Samples,
        old: &Half,
        (column, row): (usize, usize),
        across: usize,
    ) -> (Vector, u32) {
        let at = (column * SIDE, row * SIDE);
        let index = row * across + column;
        let difference = |vector: Vector| {
            lies_within(at, vector, old.size())
                .then(|| absolute(rows, &self::rows(old, moved(at, vector))))
        };
        let mut best = ((0, 0), difference((0, 0)).unwrap_or(u32::MAX));
        if best.1 <= STILL {
            return best;
        }
        let attempt = |vector: Vector, best: &mut (Vector, u32)| {
            let found = (vector != best.0).then(|| difference(vector)).flatten();
            let is_better = found.is_some_and(|found| found < best.1);
            if let (true, Some(found)) = (is_better, found) {
                *best = (vector, found);
            }
            is_better
        };
        let neighbours = [
            (column > 0).then(|| index - 1),
            (row > 0).then(|| index - across),
            (row > 0 && column + 1 < across).then(|| index + 1 - across),
            Some(index),
        ];
        for neighbour in neighbours.into_iter().flatten() {
            attempt(self.vectors[neighbour], &mut best);
        }
        for step in STEPS {
            for _ in 0..MOVES {
                let (x, y) = best.0;
                let around = [(x - step, y), (x + step, y), (x, y - step), (x, y + step)];
                let mut has_moved = false;
                for vector in around {
                    has_moved |= attempt(vector, &mut best);
                }
                if !has_moved || best.1 <= STILL {
                    break;
                }
            }
        }
        best
    }
}

/// The samples of the block at a place.
fn rows(of: &Half, (x, y): (usize, usize)) -> Samples {
    std::array::from_fn(|down| of.row(x, y + down))
}

/// The sum of absolute differences of two blocks.
fn absolute(one: &Samples, other: &Samples) -> u32 {
    // Summing by column first lets a processor add all columns at once.
    let mut columns = [0_u16; SIDE];
    for (one, other) in one.iter().zip(other) {
        for (sum, (one, other)) in columns.iter_mut().zip(one.iter().zip(other)) {
            *sum += u16::from(one.abs_diff(*other));
        }
    }
    columns.into_iter().map(u32::from).sum()
}

/// The differences of two blocks.
fn apart(one: &Samples, other: &Samples) -> Block {
    std::array::from_fn(|y| std::array::from_fn(|x| i16::from(one[y][x]) - i16::from(other[y][x])))
}

/// Whether the block moved by `vector` lies in a picture of this size.
fn lies_within(at: (usize, usize), vector: Vector, size: (usize, usize)) -> bool {
    let fits = |at: usize, by: i32, most: usize| {
        at.checked_add_signed(by as isize)
            .is_some_and(|at| at + SIDE <= most)
    };
    fits(at.0, vector.0, size.0) && fits(at.1, vector.1, size.1)
}

/// `at` moved by a vector that was found to lie within.
const fn moved(at: (usize, usize), vector: Vector) -> (usize, usize) {
    (
        at.0.saturating_add_signed(vector.0 as isize),
        at.1.saturating_add_signed(vector.1 as isize),
    )
}
