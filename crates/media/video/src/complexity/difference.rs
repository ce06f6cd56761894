//! The difference between two pictures in place: the ACE paper, equation 3.
//!
//! The transform is linear, so the transform of the difference serves. A quarter of the
//! blocks says as much as all of them in a quarter of the time.

use crate::{Picture, Plane};

use crate::complexity::hadamard::{Block, SIDE, satd};

/// The distance between the blocks that are compared, along both sides.
const EVERY: usize = 2;

/// The amount of `new` that differs from `old`, both pictures of one size.
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
