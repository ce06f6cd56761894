//! What is new of a picture after a search for motion, at half the resolution.
//!
//! For each 8x8 block the place in the picture before it that it most likely came
//! from: a block's neighbours and its own last motion are tried first, then a
//! diamond around the best of them that shrinks. What is left is transformed, and
//! counts for no more than the block's own texture, which an encoder would code
//! without the other picture. libx264's lookahead, which the ACE paper takes its
//! sizes from (section 5.1), does likewise and does not give them away.

use crate::hadamard::{Block, SIDE, satd, satd_of_texture};
use crate::half::Half;

/// Distances tried around the best place, in samples.
const STEPS: [i32; 4] = [8, 4, 2, 1];
/// Moves at one distance at most.
const MOVES: u32 = 4;
/// A block that differs by no more than this a pixel on the mean has not changed
/// for an encoder that a stream can afford.
const STILL: u32 = 2 * 64;

/// Columns to the right, rows down.
type Vector = (i32, i32);

/// The search, from picture to picture.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    /// By block, row by row.
    vectors: Vec<Vector>,
}

impl Search {
    /// How much of `new` is not in `old`. Everything when they differ in size.
    pub(crate) fn run(&mut self, new: &Half, old: &Half) -> u64 {
        let (width, height) = new.size();
        let (across, down) = (width / SIDE, height / SIDE);
        self.vectors.resize(across * down, (0, 0));
        let is_comparable = old.size() == new.size();
        let mut sum = 0;
        for row in 0..down {
            for column in 0..across {
                let at = (column * SIDE, row * SIDE);
                let texture = || satd_of_texture(&block(new, at, |_, _| 0));
                let left = if is_comparable {
                    let (vector, difference) = self.find(new, old, (column, row), across);
                    self.vectors[row * across + column] = vector;
                    if difference <= STILL {
                        difference / 8
                    } else {
                        let after = |from| satd(&block(new, at, |x, y| sample(old, from, x, y)));
                        // The least difference is not always the least to code.
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

    /// The best motion of a block, and how much differs then.
    fn find(
        &self,
        new: &Half,
        old: &Half,
        (column, row): (usize, usize),
        across: usize,
    ) -> (Vector, u32) {
        let at = (column * SIDE, row * SIDE);
        let index = row * across + column;
        let rows: [[u8; 8]; SIDE] = std::array::from_fn(|y| new.row(at.0, at.1 + y));
        let difference = |vector: Vector| {
            lies_within(at, vector, old.size()).then(|| {
                let (x, y) = moved(at, vector);
                rows.iter()
                    .enumerate()
                    .map(|(down, row)| absolute(*row, old.row(x, y + down)))
                    .sum::<u32>()
            })
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

/// The sum of absolute differences.
fn absolute(one: [u8; 8], other: [u8; 8]) -> u32 {
    let apart = |(one, other): (u8, u8)| u32::from(one.abs_diff(other));
    one.into_iter().zip(other).map(apart).sum()
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

fn sample(of: &Half, from: (usize, usize), x: usize, y: usize) -> i16 {
    i16::from(of.row(from.0, from.1 + y)[x])
}

/// The block of `new` at this place, less `other`.
fn block(new: &Half, at: (usize, usize), other: impl Fn(usize, usize) -> i16) -> Block {
    std::array::from_fn(|y| {
        let row = new.row(at.0, at.1 + y);
        std::array::from_fn(|x| i16::from(row[x]) - other(x, y))
    })
}
