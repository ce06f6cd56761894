//! What differs in place: the ACE paper, equation 3.
//!
//! The transform is linear, so that of the difference serves. A quarter of the
//! blocks says as much as all of them at a quarter of the time.

use mimosa_video::{Picture, Plane};

use crate::hadamard::{Block, SIDE, satd};

/// Every so many blocks are looked at, along both sides.
const EVERY: usize = 2;

/// How much of `new` differs from `old`, both pictures of one size.
pub(crate) fn difference(new: &Picture, old: &Picture) -> u64 {
    let stride = new.stride(Plane::Y);
    let rows = new.size().height() as usize / SIDE;
    let (new, old) = (new.plane(Plane::Y), old.plane(Plane::Y));
    let mut sum = 0;
    for row in (0..rows).step_by(EVERY) {
        for column in (0..stride / SIDE).step_by(EVERY) {
            let block: Block = std::array::from_fn(|y| {
                let at = (row * SIDE + y) * stride + column * SIDE;
                std::array::from_fn(|x| i16::from(new[at + x]) - i16::from(old[at + x]))
            });
            sum += u64::from(satd(&block));
        }
    }
    sum
}
