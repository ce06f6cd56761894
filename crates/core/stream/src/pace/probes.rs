//! Groups of probe packets waiting for their time.

use mimosa_facts::{FrameId, Probe, ProbeStart};
use mimosa_units::{Bytes, Time, TimeDelta};

/// At most one group is under way; a new one replaces it.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    group: Option<Group>,
    /// The `id` of the last group asked for, so that a repeated decision starts its group only
    /// once.
    last_id: Option<u64>,
}

#[derive(Debug)]
struct Group {
    frame: FrameId,
    /// Whether the group ends when the next frame comes.
    follows_frame: bool,
    left: u16,
    size: Bytes,
    interval: TimeDelta,
    /// When the next probe is due; `None` until the frame that the group follows has left.
    next: Option<Time>,
}

impl Probes {
    /// Schedules `probe` unless it was asked for before; returns whether it is new.
    pub(crate) fn schedule(
        &mut self,
        now: Time,
        probe: &Probe,
        newest: FrameId,
        smallest: Bytes,
    ) -> bool {
        if self.last_id == Some(probe.id) {
            return false;
        }
        self.last_id = Some(probe.id);
        let (frame, follows_frame, next) = match probe.start {
            ProbeStart::AfterFrame(frame) => (frame, true, None),
            ProbeStart::Now => (newest, false, Some(now)),
        };
        self.group = (probe.packets > 0).then_some(Group {
            frame,
            follows_frame,
            left: probe.packets,
            size: probe.size.unwrap_or(smallest).max(smallest),
            interval: probe.interval.max(TimeDelta::ZERO),
            next,
        });
        true
    }

    /// Takes a group for sent, and drops the one under way.
    pub(crate) fn pass_over(&mut self, probe: &Probe) {
        self.last_id = Some(probe.id);
        self.group = None;
    }

    /// The last packet of `frame` left at `now`.
    pub(crate) fn frame_left(&mut self, now: Time, frame: FrameId) {
        if let Some(group) = &mut self.group
            && group.follows_frame
            && group.frame == frame
            && group.next.is_none()
        {
            group.next = Some(now + group.interval);
        }
    }

    /// A new frame came: a group that follows another frame is dropped.
    pub(crate) fn frame_came(&mut self, frame: FrameId) {
        if self
            .group
            .as_ref()
            .is_some_and(|group| group.follows_frame && group.frame != frame)
        {
            self.group = None;
        }
    }

    /// When the next probe is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.group.as_ref().and_then(|group| group.next)
    }

    /// Takes the probe that is due at `now`: its frame, its size, and whether
    /// it is the last of its group.
    pub(crate) fn pop(&mut self, now: Time) -> Option<(FrameId, Bytes, bool)> {
        let group = self.group.as_mut()?;
        if group.next? > now {
            return None;
        }
        group.left -= 1;
        group.next = Some(now + group.interval);
        let taken = (group.frame, group.size, group.left == 0);
        if group.left == 0 {
            self.group = None;
        }
        Some(taken)
    }
}
