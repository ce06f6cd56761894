//! When an element's bitrate and buffer are set.
//!
//! Source: GStreamer 1.22 to 1.28. A change of the bitrate makes VA-API's elements (`gstvah264enc.c` and
//! others, `reconfig`) and `nvh264enc` up to 1.24 (`gstnvbaseenc.c`, `NV_ENC_RECONFIGURE_PARAMS` with
//! `forceIDR`) begin anew with a keyframe, and a change of `vbv-buffer-size` makes `nvcudah264enc` and
//! `nvh264enc` from 1.26 on (`gstnvencoder.cpp`) start again. A budget for each frame would therefore make
//! each frame a keyframe. So:
//!
//! - Where a change of the bitrate costs nothing, each frame has its own.
//! - Where it costs a keyframe, the bitrate changes when the budgets of [`PATIENCE`] frames in a row lie
//!   below [`LOWEST`] or above [`HIGHEST`] of it, and whenever the next frame is a keyframe anyway.
//! - The buffer is set at first, and again only together with a keyframe.

use mimosa_units::{Bytes, Rate};

/// The parts of the bitrate between which budgets leave it as it is. Our choice: frames above their
/// budgets make a queue and those below leave a part of the link, so that the lower one is nearer.
const LOWEST: f64 = 0.85;
const HIGHEST: f64 = 1.3;
/// The number of frames in a row whose budgets leave the band before the bitrate changes. Our choice: a
/// controller makes single frames smaller, for which no keyframe is worth its size.
const PATIENCE: u32 = 4;
/// The factor beyond which the buffer is set again at a keyframe. Our choice: the buffer of a frame lets
/// frames differ by as much.
const OTHER_BUFFER: f64 = 2.0;

/// What a change of an element's bitrate costs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ChangeCost {
    /// The next frame is one like any other.
    Nothing,
    /// The next frame is a keyframe.
    Keyframe,
}

/// The properties that are to be set before the next frame.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Change {
    pub(crate) bitrate: Option<Rate>,
    /// The size of the buffer: that of a frame.
    pub(crate) buffer: Option<Bytes>,
}

/// Decides about the bitrate and the buffer of one element.
#[derive(Debug)]
pub(crate) struct Steering {
    cost: ChangeCost,
    frames_per_second: u32,
    bitrate: Option<Rate>,
    buffer: Option<Bytes>,
    /// The number of frames in a row whose budgets are outside the band.
    outside: u32,
}

impl Steering {
    pub(crate) const fn new(cost: ChangeCost, frames_per_second: u32) -> Self {
        Self {
            cost,
            frames_per_second,
            bitrate: None,
            buffer: None,
            outside: 0,
        }
    }

    /// What to set before a frame that may have `budget` and is a keyframe in any case if
    /// `is_keyframe`.
    pub(crate) fn before(&mut self, budget: Bytes, is_keyframe: bool) -> Change {
        let bits = budget
            .bits()
            .saturating_mul(u64::from(self.frames_per_second));
        let wanted = Rate::from_bps(bits);
        let is_free = is_keyframe || self.cost == ChangeCost::Nothing;
        let changes = is_free && self.bitrate != Some(wanted) || self.is_due(wanted);
        let mut change = Change::default();
        if changes {
            self.outside = 0;
            self.bitrate = Some(wanted);
            change.bitrate = Some(wanted);
        }
        let is_restarted = is_keyframe || changes && self.cost == ChangeCost::Keyframe;
        if self.buffer.is_none() || is_restarted && self.is_other_buffer(budget) {
            self.buffer = Some(budget);
            change.buffer = Some(budget);
        }
        change
    }

    /// Whether the bitrate has to change although that costs a keyframe.
    fn is_due(&mut self, wanted: Rate) -> bool {
        let Some(bitrate) = self.bitrate else {
            return true;
        };
        let is_inside = wanted >= bitrate.scale(LOWEST) && wanted <= bitrate.scale(HIGHEST);
        self.outside = if is_inside { 0 } else { self.outside + 1 };
        self.outside >= PATIENCE
    }

    fn is_other_buffer(&self, budget: Bytes) -> bool {
        self.buffer.is_none_or(|buffer| {
            budget > buffer.scale(OTHER_BUFFER) || buffer > budget.scale(OTHER_BUFFER)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Bytes = Bytes::new(10_000);

    fn rate(bytes: u64) -> Rate {
        Rate::from_bps(bytes * 8 * 60)
    }

    /// The bitrates that are set before frames with these budgets, as frames of that bitrate; zero for none.
    fn set(steering: &mut Steering, budgets: &[u64]) -> Vec<u64> {
        let each = |&budget: &u64| {
            let change = steering.before(Bytes::new(budget), false);
            change.bitrate.map_or(0, |rate| rate.as_bps() / 480)
        };
        budgets.iter().map(each).collect()
    }

    #[test]
    fn where_a_change_is_free_each_frame_has_its_bitrate() {
        let mut steering = Steering::new(ChangeCost::Nothing, 60);
        let first = steering.before(FRAME, true);
        assert_eq!(first.bitrate, Some(rate(10_000)));
        assert_eq!(first.buffer, Some(FRAME));
        assert_eq!(
            set(&mut steering, &[10_000, 9_000, 9_100]),
            [0, 9_000, 9_100]
        );
    }

    #[test]
    fn where_a_change_costs_a_keyframe_small_and_short_ones_are_left() {
        let mut steering = Steering::new(ChangeCost::Keyframe, 60);
        steering.before(FRAME, true);
        assert_eq!(
            set(&mut steering, &[9_000, 12_500, 1_000, 2_000, 500]),
            [0; 5]
        );
        assert_eq!(set(&mut steering, &[10_000; 3]), [0; 3]);
        assert_eq!(set(&mut steering, &[8_000; 5]), [0, 0, 0, 8_000, 0]);
        assert_eq!(set(&mut steering, &[11_000; 5]), [0, 0, 0, 11_000, 0]);
        // A keyframe that comes anyway costs nothing more.
        let change = steering.before(Bytes::new(11_500), true);
        assert_eq!(change.bitrate, Some(rate(11_500)));
    }

    #[test]
    fn the_buffer_is_set_with_keyframes_alone() {
        for cost in [ChangeCost::Nothing, ChangeCost::Keyframe] {
            let mut steering = Steering::new(cost, 60);
            assert_eq!(steering.before(FRAME, true).buffer, Some(FRAME));
            let large = Bytes::new(30_000);
            for number in 0..20 {
                let change = steering.before(large, false);
                let is_keyframe = cost == ChangeCost::Keyframe && number == 3;
                assert_eq!(
                    change.buffer,
                    is_keyframe.then_some(large),
                    "{cost:?} {number}"
                );
            }
            let after = steering.before(large, true).buffer;
            assert_eq!(after.is_some(), cost == ChangeCost::Nothing);
            assert_eq!(steering.before(Bytes::new(20_000), true).buffer, None);
        }
    }
}
