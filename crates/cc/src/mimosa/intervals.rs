//! The recent frames of a flow, and the load that they found.

use std::collections::VecDeque;

use mimosa_control::FrameId;
use mimosa_units::{Rate, Time};

use super::busy::{Interval, Reference};

/// Frames remembered: two seconds at 240 frames a second.
const REMEMBERED: usize = 480;
/// Weights: that of a frame of no size in Mbit/s, and the frames after which one counts half.
const LIGHTEST: f64 = 1.0;
const AGE: f64 = 8.0;
/// A frame says nothing about a bitrate more than so many times its own.
const MOST_SCALED: f64 = 4.0;

/// The recent intervals in order, oldest first.
#[derive(Debug, Default)]
pub(super) struct Intervals {
    ring: VecDeque<Interval>,
    /// Every one before this position is closed.
    open: usize,
}

impl Intervals {
    /// Adds an interval; one that does not follow the others is not added.
    pub(super) fn push(&mut self, interval: Interval) {
        if self.ring.back().is_some_and(|last| last.id >= interval.id) {
            return;
        }
        if self.ring.len() == REMEMBERED {
            self.ring.pop_front();
            self.open = self.open.saturating_sub(1);
        }
        self.ring.push_back(interval);
    }

    pub(super) fn get_mut(&mut self, id: FrameId) -> Option<&mut Interval> {
        let first = self.ring.front()?.id;
        let guess = usize::try_from(id.0.checked_sub(first.0)?).ok()?;
        let index = match self.ring.get(guess) {
            Some(interval) if interval.id == id => guess,
            _ => self.ring.binary_search_by_key(&id, |each| each.id).ok()?,
        };
        self.ring.get_mut(index)
    }

    /// The oldest frame on its way.
    pub(super) fn oldest_open(&mut self) -> Option<&Interval> {
        while self.ring.get(self.open).is_some_and(|each| !each.is_open()) {
            self.open += 1;
        }
        self.ring.get(self.open)
    }

    /// Mean load of the intervals known since `since`, each scaled to what it would be with
    /// frames of `bitrate`, newer and larger ones with more weight.
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

    /// The newest load that is known.
    pub(super) fn newest_load(&mut self, reference: &Reference) -> Option<f64> {
        let mut recent = self.ring.iter_mut().rev();
        recent.find_map(|each| each.load(reference, None))
    }
}
