//! Requests as the checks make them.

use mimosa_facts::{Complexity, FrameId};
use mimosa_units::{Bytes, Rate, TimeDelta};
use mimosa_video::{FrameRequest, Recovery};

/// The time between two frames: a sixtieth of a second.
pub const INTERVAL: TimeDelta = TimeDelta::from_micros(16_667);

/// The budget of a frame at `mbps` megabits per second.
#[must_use]
pub fn amount(mbps: f64) -> Bytes {
    Rate::from_mbps(mbps).amount_in(INTERVAL)
}

/// A request for frame number `frame` with no recovery, at the least complexity.
#[must_use]
pub const fn plain_request(frame: u64, budget: Bytes) -> FrameRequest {
    FrameRequest {
        frame: FrameId(frame),
        budget,
        interval: INTERVAL,
        complexity: Complexity::C0,
        recovery: Recovery::None,
    }
}

/// Rates from a tenth of `highest` to `highest`, a random one for every frame.
pub(crate) fn random_rates(frames: usize, highest: f64) -> Vec<f64> {
    // The linear congruential generator of "Numerical Recipes", section 7.1.
    let mut state = 12_345_u32;
    (0..frames)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            highest * (0.1 + 0.9 * f64::from(state >> 8) / f64::from(1 << 24))
        })
        .collect()
}

/// Rates that alternate between two, beginning with `first`, every `period` frames.
pub(crate) fn stepping_rates(frames: usize, period: usize, first: f64, second: f64) -> Vec<f64> {
    (0..frames)
        .map(|time| {
            if (time / period).is_multiple_of(2) {
                first
            } else {
                second
            }
        })
        .collect()
}
