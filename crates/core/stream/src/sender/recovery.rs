//! Frames that lose packets: what is sent again, and what is given up.

use std::collections::VecDeque;

use mimosa_facts::{Event, FrameEnd, FrameId, FrameLife};
use mimosa_units::{Bytes, Time};

use super::{Broken, Handle, Sender};
use crate::protection::{Again, Guard};
use crate::retransmission::RetransmissionDeadline;

impl Sender {
    /// Sends again the lost packets whose frames can still use them.
    pub(super) fn retransmit(&mut self, now: Time) {
        let deadline = self.config.retransmission_deadline;
        let retransmits = self.config.protection.retransmits();
        for media in self.news.lost.drain(..) {
            let Some(life) = frame_in(&mut self.frames, media.frame) else {
                continue;
            };
            life.lost += 1;
            // A decoded frame needs nothing, though some of its packets never came.
            if matches!(life.end, Some(FrameEnd::Acknowledged(_))) {
                continue;
            }
            if self.outdated.has(media.frame) {
                continue;
            }
            if let Some(guard) = &mut self.guard {
                guard.lost(media);
            } else if retransmits && !deadline.is_past(now.since(life.handed_over)) {
                self.again.push(Again::Lost(media));
            } else {
                self.again.push(Again::Broken(media.frame));
            }
        }
        if let Some(guard) = &mut self.guard {
            guard.again(now, deadline, &mut self.again);
        }
        let mut all = std::mem::take(&mut self.again);
        self.choose(&mut all);
        for again in all.drain(..) {
            let (frame, size, index, origin) = match again {
                Again::Lost(media) => (media.frame, media.size, media.index, Some(media.origin)),
                Again::Further { frame, index, size } => (frame, size, index, None),
                Again::Broken(frame) => {
                    self.give_up(frame, true);
                    continue;
                }
            };
            if let Some(life) = frame_in(&mut self.frames, frame) {
                life.retransmitted += 1;
            }
            let handle = Handle {
                index,
                origin,
                is_repair: origin.is_none(),
            };
            self.pacer.push_retransmission(now, frame, size, handle);
        }
        self.again = all;
    }

    /// Replaces the retransmissions by a broken frame, the oldest of them, if they take longer to
    /// send than a frame does.
    fn choose(&self, all: &mut Vec<Again>) {
        if self.config.retransmission_deadline != RetransmissionDeadline::Chain {
            return;
        }
        let sizes = all.iter().filter_map(Again::size);
        let size = sizes.sum::<Bytes>() + self.pacer.waiting_again();
        let frame = self.controller.decision().target.amount_in(self.interval);
        let oldest = all.iter().map(Again::frame).min();
        if let Some(oldest) = oldest.filter(|_| size > frame && all.len() > 1) {
            all.clear();
            all.push(Again::Broken(oldest));
        }
    }

    /// Marks a frame that will never be whole; `has_left` when part of it has left.
    pub(super) fn give_up(&mut self, frame: FrameId, has_left: bool) {
        Broken::add(&mut self.broken, frame, has_left);
        if self.config.retransmission_deadline == RetransmissionDeadline::Chain {
            let oldest = self.frames.front().map_or(frame, |life| life.frame);
            self.outdated.add(frame, self.next_frame, oldest);
        }
    }

    /// Gives up frames that have waited too long, in the pacer or for feedback.
    pub(super) fn expire(&mut self, now: Time) {
        self.pacer.expire(now, &mut self.given_up);
        for frame in std::mem::take(&mut self.given_up) {
            if let Some(life) = frame_in(&mut self.frames, frame) {
                end(life, FrameEnd::GivenUp, &mut self.guard, &mut self.ended);
                let has_left = life.first_sent.is_some();
                self.give_up(frame, has_left);
            }
            self.decide(now, Event::FrameGivenUp { frame });
        }
        self.pacer.expire_again(now, &mut self.given_up);
        for frame in std::mem::take(&mut self.given_up) {
            self.give_up(frame, true);
        }
        for life in &mut self.frames {
            if now.since(life.handed_over) <= self.config.give_up_after {
                break;
            }
            end(life, FrameEnd::GivenUp, &mut self.guard, &mut self.ended);
        }
        self.history.declare_lost(now, &mut self.news);
        if !self.news.is_empty() || self.frames.front().is_some_and(|life| life.end.is_some()) {
            self.settle(now);
        }
    }
}

/// Ends a frame's life, once, and adds the frame to `ended`.
pub(super) fn end(
    life: &mut FrameLife,
    how: FrameEnd,
    guard: &mut Option<Guard>,
    ended: &mut VecDeque<FrameLife>,
) {
    if life.end.is_none() {
        life.end = Some(how);
        if let (Some(guard), Some(protection)) = (guard, &mut life.protection) {
            let stood_for = guard.end(life.frame);
            if how != FrameEnd::GivenUp {
                protection.repaired = stood_for;
            }
        }
        ended.push_back(*life);
    }
}

/// The frame with this number among `frames`, which are in order.
pub(super) fn frame_in(frames: &mut VecDeque<FrameLife>, frame: FrameId) -> Option<&mut FrameLife> {
    let first = frames.front()?.frame;
    let guess = usize::try_from(frame.0.checked_sub(first.0)?).ok()?;
    let index = match frames.get(guess) {
        Some(life) if life.frame == frame => guess,
        _ => frames
            .binary_search_by_key(&frame, |life| life.frame)
            .ok()?,
    };
    frames.get_mut(index)
}
