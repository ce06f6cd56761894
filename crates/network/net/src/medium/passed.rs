//! Packets that have left a medium's links and have not been handed up yet.

use std::collections::VecDeque;

use mimosa_units::Time;

use super::Port;
use crate::link::Served;

/// Packets on their way in both directions, each direction in the order in which they arrive.
#[derive(Debug)]
pub(super) struct Passed<P> {
    there: VecDeque<Served<P>>,
    back: VecDeque<Served<P>>,
}

impl<P> Passed<P> {
    pub(super) const fn new() -> Self {
        Self {
            there: VecDeque::new(),
            back: VecDeque::new(),
        }
    }

    /// Adds a packet, which arrives at its `finished`, but not before the one ahead of it.
    pub(super) fn push(&mut self, port: Port, served: Served<P>) {
        let way = match port {
            Port::There => &mut self.there,
            Port::Back => &mut self.back,
        };
        let ahead = way.back().map_or(Time::ZERO, |ahead| ahead.finished);
        way.push_back(Served {
            finished: served.finished.max(ahead),
            ..served
        });
    }

    /// When the next packet arrives; [`Time::MAX`] for never.
    pub(super) fn next(&self) -> Time {
        next_of(&self.there).min(next_of(&self.back))
    }

    /// Takes a packet that has arrived by `now`, and the link that it passed.
    pub(super) fn pop(&mut self, now: Time) -> Option<(Port, Served<P>)> {
        let (port, way) = if next_of(&self.there) <= next_of(&self.back) {
            (Port::There, &mut self.there)
        } else {
            (Port::Back, &mut self.back)
        };
        let served = way.pop_front_if(|served| served.finished <= now)?;
        Some((port, served))
    }

    /// Number of packets on their way in one direction.
    pub(super) fn len(&self, port: Port) -> usize {
        match port {
            Port::There => self.there.len(),
            Port::Back => self.back.len(),
        }
    }
}

fn next_of<P>(way: &VecDeque<Served<P>>) -> Time {
    way.front().map_or(Time::MAX, |served| served.finished)
}
