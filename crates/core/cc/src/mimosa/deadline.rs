//! The size of a frame that does best before a deadline.
//!
//! Over a radio a frame waits for its turn however small it is, and each frame waits for another time.
//! With X the delay of a frame less the time that the link needs for the frame itself, of which the newest
//! frames give the distribution, a frame of size s is in time with the probability P(X <= D - s / C). The
//! best size maximises
//!
//! ```text
//! s P(X <= D - s / C)^n
//! ```
//!
//! With n = 1 most data arrive in time, and half of the frames may be late; a higher n weighs late frames
//! more than the bitrate.
//!
//! *Deviations*: none, because there is no paper.

use std::collections::VecDeque;

use mimosa_units::{Bytes, Rate, TimeDelta};

/// Frames remembered: our choice, three seconds at 60 frames a second.
const REMEMBERED: usize = 192;
/// Least number of frames from which a size is computed: our choice.
const LEAST: usize = 32;
/// Share of frames that may be late without a bound on the size: our choice, as Pudica's evaluation
/// counts a session as good.
const FEW: f64 = 0.05;

/// A frame that arrived.
#[derive(Clone, Copy, Debug)]
struct Arrived {
    /// Time from its first packet's departure until it was known to have arrived.
    delay: TimeDelta,
    /// The delay less the link's time for the frame.
    wait: TimeDelta,
}

/// The newest frames that arrived.
#[derive(Debug, Default)]
pub(super) struct Deadline {
    newest: VecDeque<Arrived>,
}

impl Deadline {
    /// Takes a frame of `size` that was known to have arrived `delay` after its first packet left, over
    /// a link that serves this flow at `link`.
    pub(super) fn arrived(&mut self, delay: TimeDelta, size: Bytes, link: Rate) {
        if self.newest.len() == REMEMBERED {
            self.newest.pop_front();
        }
        let wait = delay - link.transmit_time(size);
        self.newest.push_back(Arrived { delay, wait });
    }

    /// The best size for frames that are to arrive within `deadline`, with n of the rule `punctuality`,
    /// over a link that serves this flow at `link`. `None` before enough frames, while few are late, and
    /// where even the smallest would be.
    pub(super) fn best(&self, deadline: TimeDelta, punctuality: f64, link: Rate) -> Option<Bytes> {
        let count = self.newest.len();
        let late = self.newest.iter().filter(|each| each.delay > deadline);
        if count < LEAST || (late.count() as f64) < FEW * count as f64 {
            return None;
        }
        let mut waits: Vec<_> = self.newest.iter().map(|each| each.wait).collect();
        waits.sort_unstable();
        let sizes = (1..=count).zip(waits).map(|(in_time, wait)| {
            let size = link.amount_in((deadline - wait).max(TimeDelta::ZERO));
            let share = in_time as f64 / count as f64;
            (size, size.get() as f64 * libm::pow(share, punctuality))
        });
        let (best, _) = sizes.max_by(|(_, one), (_, other)| one.total_cmp(other))?;
        (best > Bytes::ZERO).then_some(best)
    }
}
