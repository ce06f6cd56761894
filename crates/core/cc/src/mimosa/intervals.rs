//! The recent frames of a flow, and the load that they found.

use mimosa_units::{Bytes, Rate, Time};

use super::busy::{Interval, Reference};
use crate::frame_ring::FrameRing;

/// Weight of a frame of no size, in Mbit/s. `AGE` is the number of frames after which a frame
/// counts half.
const LIGHTEST: f64 = 1.0;
const AGE: f64 = 8.0;
/// Greatest factor by which a frame's load is scaled to another bitrate: the frame says
/// nothing about higher ones.
const MOST_SCALED: f64 = 4.0;

/// The recent intervals.
pub(super) type Intervals = FrameRing<Interval>;

impl Intervals {
    /// Mean load of the intervals that became known after `since`, each scaled to what it
    /// would be with frames of `bitrate`, newer and larger ones with more weight. `None` if
    /// there is none.
    pub(super) fn smoothed(
        &mut self,
        since: Time,
        bitrate: Rate,
        reference: &Reference,
    ) -> Option<f64> {
        let (mut sum, mut weights) = (0.0, 0.0);
        let recent = self.ring.iter_mut().rev();
        let recent = recent
            .skip_while(|each| each.known.is_none())
            .take_while(|each| each.known.is_none_or(|known| known > since));
        let mut next = None;
        for (age, each) in recent.enumerate() {
            let end = next;
            next = reference.link.and_then(|_| each.begin(reference));
            let at = each.bitrate();
            let Some(load) = each.load(reference, end) else {
                continue;
            };
            if at == Rate::ZERO {
                continue;
            }
            let weight = (at.as_mbps() + LIGHTEST) / (age as f64 + AGE);
            sum += weight * load * bitrate.ratio(at).min(MOST_SCALED);
            weights += weight;
        }
        (weights > 0.0).then(|| sum / weights)
    }

    /// The newest load that is known, and the size of its frame; `None` if there is none.
    pub(super) fn newest_load(&mut self, reference: &Reference) -> Option<(f64, Bytes)> {
        let mut next = None;
        self.ring.iter_mut().rev().find_map(|each| {
            let end = next;
            next = reference.link.and_then(|_| each.begin(reference));
            Some((each.load(reference, end)?, each.size))
        })
    }
}
