//! What frames leave of their grants, for the frames that follow.
//!
//! An encoder that keeps each frame within its own grant leaves a tenth to a fifth of it: libx264
//! plans below the limit so that no row of blocks exceeds it. A frame that may have what earlier ones
//! left fills the link without more in sum: any run of frames has at most its grants and one
//! [`Carry::most`] of a grant. Where a frame exceeds what it might have, later ones have less.
//!
//! # Source
//!
//! No paper. The rule and its bound of a quarter of a grant are measured on libx264: sizes of 0.97 to
//! 1.00 of the grants in place of 0.65 to 0.93, single frames of 1.03 to 1.11 grants at the 95th
//! percentile.

use mimosa_units::Bytes;

/// The most of what earlier frames left that hosts allow a frame beyond its grant, in grants: with a
/// quarter, grants are filled that are steady or walk by a twentieth a frame.
pub const USUAL_CARRY: f64 = 0.25;

/// The largest debt, in grants; a frame's size beyond that is not paid back, so that a keyframe that
/// nothing could make small enough is not made up for by seconds of bad pictures. Chosen.
const DEEPEST_DEBT: f64 = 0.5;

/// What earlier frames left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Carry {
    /// The most that a frame is allowed beyond its grant, in grants; zero for strict sizes.
    most: f64,
    /// Bytes that earlier frames left; negative where they took more than they might.
    left: f64,
    /// The grant of the frame that is encoded now, and what it was allowed, in bytes.
    due: Option<(f64, f64)>,
}

impl Carry {
    /// Frames may have at most `most` of a grant beyond it.
    pub(crate) const fn new(most: f64) -> Self {
        Self {
            most,
            left: 0.0,
            due: None,
        }
    }

    /// The most that the next frame may have, whose grant is `grant`. A grant that `is_limit` is what a
    /// backlog leaves: what earlier frames left has become part of it, and is forgotten.
    pub(crate) fn allow(&mut self, grant: Bytes, is_limit: bool) -> Bytes {
        if self.most <= 0.0 {
            return grant;
        }
        let bytes = grant.get() as f64;
        let carried = if is_limit {
            0.0
        } else {
            self.left.clamp(-DEEPEST_DEBT * bytes, self.most * bytes)
        };
        self.due = Some((bytes, bytes + carried));
        grant.scale(if bytes > 0.0 {
            1.0 + carried / bytes
        } else {
            1.0
        })
    }

    /// The frame came out at `size`; zero if it was skipped.
    pub(crate) fn took(&mut self, size: Bytes) {
        if let Some((grant, allowed)) = self.due.take() {
            let left = allowed - size.get() as f64;
            self.left = left.clamp(-DEEPEST_DEBT * grant, self.most * grant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRANT: Bytes = Bytes::new(20_000);

    /// Sizes of frames that an encoder makes which fills `part` of what it may.
    fn sizes(carry: &mut Carry, frames: usize, part: f64) -> Vec<f64> {
        (0..frames)
            .map(|_| {
                let size = carry.allow(GRANT, false).scale(part);
                carry.took(size);
                size.get() as f64 / GRANT.get() as f64
            })
            .collect()
    }

    #[test]
    fn what_one_frame_leaves_another_has() {
        for part in [0.81, 0.9, 0.97, 1.0] {
            let sizes = sizes(&mut Carry::new(0.25), 200, part);
            let mean = sizes[20..].iter().sum::<f64>() / 180.0;
            assert!((0.995..1.0001).contains(&mean), "{mean} with {part}");
            let most = sizes.iter().copied().fold(0.0, f64::max);
            assert!(most <= 1.25, "{most} with {part}");
        }
    }

    #[test]
    fn no_run_of_frames_has_more_than_its_grants_and_the_most() {
        let mut carry = Carry::new(0.25);
        let (mut state, mut sum, mut least) = (1_u32, 0.0_f64, 0.0_f64);
        for _ in 0..5_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let part = f64::from(state >> 16) / 65_536.0;
            let size = carry.allow(GRANT, state.is_multiple_of(8)).scale(part);
            carry.took(size);
            sum += size.get() as f64 / GRANT.get() as f64 - 1.0;
            assert!(sum - least <= 0.2501, "{}", sum - least);
            least = least.min(sum);
        }
    }

    #[test]
    fn a_frame_that_is_too_large_is_paid_back() {
        let mut carry = Carry::new(0.25);
        carry.allow(GRANT, false);
        carry.took(GRANT.scale(1.2));
        assert_eq!(carry.allow(GRANT, false), GRANT.scale(0.8));
        carry.took(GRANT.scale(0.8));
        assert_eq!(carry.allow(GRANT, false), GRANT);
        carry.took(GRANT.scale(9.0));
        assert_eq!(carry.allow(GRANT, false), GRANT.scale(0.5));
    }

    #[test]
    fn a_limit_forgets_what_was_left_and_strict_sizes_carry_nothing() {
        let mut carry = Carry::new(0.25);
        carry.allow(GRANT, false);
        carry.took(GRANT.scale(0.8));
        assert_eq!(carry.allow(GRANT.scale(0.5), true), GRANT.scale(0.5));
        carry.took(GRANT.scale(0.5));
        assert_eq!(carry.allow(GRANT, false), GRANT);
        let mut strict = Carry::new(0.0);
        strict.allow(GRANT, false);
        strict.took(GRANT.scale(0.5));
        assert_eq!(strict.allow(GRANT, false), GRANT);
    }
}
