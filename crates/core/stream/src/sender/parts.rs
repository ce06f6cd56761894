//! Frames on their way from the encoder to the pacer, whole or in parts.
//!
//! An encoder that hands out parts of a frame while it works on the rest lets the frame leave sooner. The
//! sender does not know then how large the frame will be: until the last part is there, the controller and
//! the pacer go by the most that it may have. Repair packets follow the last part.

use mimosa_facts::{Event, FrameEnd, FrameId, FrameLife, FrameProtection, Pacing};
use mimosa_units::{Bytes, Time, TimeDelta};

use super::recovery::{end, frame_in};
use super::{Due, Handle, Sender};

/// A frame of which the last part has not come out of the encoder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growing {
    due: Due,
    /// When the first part came.
    begun: Time,
    /// Number and size of the packets so far, and the size of the largest.
    count: u32,
    size: Bytes,
    largest: Bytes,
}

impl Growing {
    const fn new(now: Time, due: Due) -> Self {
        Self {
            due,
            begun: now,
            count: 0,
            size: Bytes::ZERO,
            largest: Bytes::ZERO,
        }
    }

    pub(super) const fn frame(&self) -> FrameId {
        self.due.frame
    }

    /// Size and number of all packets if the frame is as large as it may be.
    fn expected(&self) -> (Bytes, u32) {
        let size = self.due.allowed.max(self.size);
        let packets = u128::from(self.count) * u128::from(size.get());
        let packets = packets.div_ceil(u128::from(self.size.get().max(1)));
        (size, u32::try_from(packets).unwrap_or(u32::MAX))
    }
}

impl Sender {
    /// The frame last asked for is encoded: `packets` are the sizes of its packets on the wire, in
    /// order. Without packets the frame was skipped.
    pub fn frame_encoded(
        &mut self,
        now: Time,
        packets: impl ExactSizeIterator<Item = Bytes> + Clone,
    ) {
        self.frame_part(now, packets, true);
    }

    /// A part of the frame last asked for is encoded: `packets` are the sizes of the part's packets on
    /// the wire, in order; `is_last` if it is the frame's last part. A frame without packets was skipped.
    pub fn frame_part(
        &mut self,
        now: Time,
        packets: impl ExactSizeIterator<Item = Bytes> + Clone,
        is_last: bool,
    ) {
        let begun = self.growing.take();
        let is_first = begun.is_none();
        let Some(mut growing) = begun.or_else(|| Some(Growing::new(now, self.due.take()?))) else {
            return;
        };
        let count = u32::try_from(packets.len()).unwrap_or(u32::MAX);
        if count == 0 && is_first {
            // Nothing has come yet, or the frame was skipped.
            if is_last {
                self.carry.took(Bytes::ZERO);
            } else {
                self.due = Some(growing.due);
            }
            return;
        }
        let (frame, first) = (growing.frame(), growing.count);
        growing.count = first.saturating_add(count);
        growing.size += packets.clone().sum();
        growing.largest = growing
            .largest
            .max(packets.clone().max().unwrap_or_default());
        let is_given_up = !is_first && !self.is_open(frame);
        if is_given_up {
            // Nothing more of it leaves, and the controller knows.
            if is_last {
                self.carry.took(growing.size);
            }
            self.growing = (!is_last).then_some(growing);
            return;
        }
        let (protection, repair, (size, number)) = if is_last {
            self.complete(now, &growing)
        } else {
            if let Some(guard) = &mut self.guard {
                guard.part(now, frame, count);
            }
            let (size, packets) = growing.expected();
            if is_first {
                let event = Event::FrameBegun {
                    frame,
                    size,
                    packets,
                };
                self.decide(now, event);
            }
            (None, Bytes::ZERO, (size, packets))
        };
        if is_first {
            self.open(now, &growing);
            let number = usize::try_from(number).unwrap_or(usize::MAX);
            self.pacer.begin_frame(now, frame, size, number);
        }
        self.growing = (!is_last).then_some(growing);
        let Some(life) = frame_in(&mut self.frames, frame) else {
            return;
        };
        (life.size, life.packets, life.protection) = (growing.size, growing.count, protection);
        let repairs = protection.map_or(0, |protection| protection.repairs);
        let mut media = packets;
        let all = (0..count + repairs).map(|place| {
            let handle = Handle {
                index: first + place,
                origin: None,
                is_repair: place >= count,
            };
            (media.next().unwrap_or(repair), handle)
        });
        self.pacer.push_part(now, all, is_last);
        self.refresh();
    }

    /// Whether a frame is on its way.
    fn is_open(&mut self, frame: FrameId) -> bool {
        frame_in(&mut self.frames, frame).is_some_and(|life| life.end.is_none())
    }

    /// Takes in the last part of a frame: plans its repair packets, and tells the controller. Returns the
    /// plan, the size of a repair packet, and size and number of all packets.
    fn complete(
        &mut self,
        now: Time,
        growing: &Growing,
    ) -> (Option<FrameProtection>, Bytes, (Bytes, u32)) {
        let (frame, count) = (growing.frame(), growing.count);
        let departs = self.departs(growing.size) - now.since(growing.begun);
        let (protection, repair) = self
            .guard
            .as_mut()
            .map(|guard| guard.hand_over(now, frame, count, growing.largest, departs))
            .unzip();
        let repairs = protection.map_or(0, |protection| protection.repairs);
        let repair = repair.unwrap_or(Bytes::ZERO);
        let size = growing.size + Bytes::new(repair.get() * u64::from(repairs));
        let packets = count + repairs;
        self.carry.took(size);
        self.decide(
            now,
            Event::FrameEncoded {
                frame,
                size,
                packets,
            },
        );
        (protection, repair, (size, packets))
    }

    /// Opens the life of a frame that is handed over, or whose first part is.
    fn open(&mut self, now: Time, growing: &Growing) {
        let due = growing.due;
        self.frames.push_back(FrameLife {
            frame: due.frame,
            due: due.at,
            interval: due.interval,
            decision: due.decision,
            allowed: due.allowed,
            handed_over: now,
            pacing: self.pacer.pacing(),
            bucket: self.rule.bucket(),
            size: growing.size,
            packets: growing.count,
            first_sent: None,
            last_sent: None,
            first_arrival: None,
            last_arrival: None,
            arrived: 0,
            lost: 0,
            retransmitted: 0,
            end: None,
            protection: None,
        });
    }

    /// Time from the hand-over of a frame of this size to its last packet's departure.
    fn departs(&self, size: Bytes) -> TimeDelta {
        match self.pacer.pacing() {
            Pacing::Burst => TimeDelta::ZERO,
            Pacing::Spread { over, .. } => over,
            Pacing::Bucket { rate, burst } => {
                rate.transmit_time(self.pacer.waiting() + size - burst)
            }
        }
    }

    /// Gives up a frame of which the last part has not come.
    pub(super) fn abandon(&mut self, now: Time) {
        let Some(growing) = self.growing.take() else {
            return;
        };
        self.carry.took(growing.size);
        let frame = growing.frame();
        if let Some(life) = frame_in(&mut self.frames, frame) {
            end(life, FrameEnd::GivenUp, &mut self.guard, &mut self.ended);
            let has_left = life.first_sent.is_some();
            self.give_up(frame, has_left);
        }
        self.decide(now, Event::FrameGivenUp { frame });
    }
}
