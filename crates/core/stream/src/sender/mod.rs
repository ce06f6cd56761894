//! The sending end: controller, pacer, and the memory of what was sent.

mod aside;
mod parts;
mod recovery;
mod whole;

use std::collections::VecDeque;

use mimosa_facts::{
    ArrivalReport, BucketChange, Controller, Decision, Event, FrameEnd, FrameGrant, FrameId,
    FrameLife, Pacing, PacketKind, SentPacket, Sequence, TransportSequence,
};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

use self::aside::Aside;
use self::parts::Growing;
use self::recovery::{end, frame_in};
use crate::carry::Carry;
use crate::config::SenderConfig;
use crate::ecn::EcnState;
use crate::history::{History, News};
use crate::pace::{Pacer, Rule};
use crate::protection::{Again, Guard};
use crate::retransmission::Outdated;

/// The least number of packets in a congestion window that ask for a report, so that reports can
/// open the window again after it has become smaller. Our choice.
const ASKS_PER_WINDOW: u64 = 8;

/// A packet that leaves now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Outgoing {
    /// Transport-wide sequence number on the wire.
    pub sequence: TransportSequence,
    /// Whether the packet carries media, a retransmission or a probe.
    pub kind: PacketKind,
    /// The frame that the packet belongs to or follows.
    pub frame: FrameId,
    /// The packet's place in the frame, counted from zero; zero for a probe.
    pub index: u32,
    /// Size of the packet on the wire.
    pub size: Bytes,
    /// Whether the packet asks the receiver for a report: the last packet of a frame or of a group
    /// of probes, every retransmission, and, under a congestion window, one packet in each eighth
    /// of it and the last one that the window lets out.
    pub asks_feedback: bool,
    /// The ECN field to send the packet with.
    pub ecn: Ecn,
}

/// Frames that the receiver will never have whole.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Broken {
    /// The oldest broken frame.
    pub frame: FrameId,
    /// Whether part of a broken frame has left, so that the receiver meets a gap. The receiver
    /// knows nothing of broken frames of which no packet has left.
    pub has_left: bool,
}

impl Broken {
    fn add(all: &mut Option<Self>, frame: FrameId, has_left: bool) {
        let others = all.unwrap_or(Self { frame, has_left });
        *all = Some(Self {
            frame: others.frame.min(frame),
            has_left: others.has_left || has_left,
        });
    }
}

/// The sender's handle of a packet in the pacer.
#[derive(Clone, Copy, Debug)]
struct Handle {
    /// The packet's place in its frame.
    index: u32,
    /// The first transmission of a packet that is sent again; `None` for others.
    origin: Option<Sequence>,
    /// Whether the packet is a repair packet.
    is_repair: bool,
}

/// A frame that was asked for and is not encoded yet.
#[derive(Clone, Copy, Debug)]
struct Due {
    frame: FrameId,
    at: Time,
    interval: TimeDelta,
    /// The decision that granted the frame its size; the next report may change the decision.
    decision: Decision,
    /// The most that the frame may have, repair packets included.
    allowed: Bytes,
}

/// The sending end of one stream.
#[derive(Debug)]
pub struct Sender {
    config: SenderConfig,
    controller: Box<dyn Controller>,
    /// The stream's own controller, while another one decides.
    aside: Option<Aside>,
    /// The running pacing policy.
    rule: Rule,
    pacer: Pacer<Handle>,
    history: History,
    /// Chooses repair packets; `None` without them.
    guard: Option<Guard>,
    /// Frames in order, from the oldest that has not ended.
    frames: VecDeque<FrameLife>,
    /// Frames that have ended and that the caller has not taken yet.
    ended: VecDeque<FrameLife>,
    /// Frames that will never be whole and that the caller has not taken yet.
    broken: Option<Broken>,
    /// Frames that are not sent again since they refer to a broken one.
    outdated: Outdated,
    next_frame: FrameId,
    /// The congestion window of the current decision.
    window: Bytes,
    /// Size of the packets sent after the last one that asked for a report.
    unasked: Bytes,
    timer: Option<Time>,
    /// When the next packet may leave or the timer ends; [`Time::MAX`] for never.
    next: Time,
    due: Option<Due>,
    /// The frame of which the last part has not come out of the encoder.
    growing: Option<Growing>,
    /// What frames left of their grants.
    carry: Carry,
    /// The most that frames and their repair packets may take in the long run.
    cap: Option<Rate>,
    interval: TimeDelta,
    /// Frames that the receiver has decoded before all of their packets were accounted for.
    decoded: Vec<FrameId>,
    /// Frames with packets of which nothing will become known, until the controller is told.
    unheard: Vec<FrameId>,
    /// The newest frame of which a packet has left.
    newest_left: FrameId,
    /// Buffers that are reused to save allocations.
    news: News,
    again: Vec<Again>,
    given_up: Vec<FrameId>,
}

impl Sender {
    /// A sender that has sent nothing.
    #[must_use]
    pub fn new(config: SenderConfig, controller: Box<dyn Controller>) -> Self {
        Self {
            rule: config.policy.start(),
            pacer: Pacer::new(config.bounds),
            window: controller.decision().window.unwrap_or(Bytes::MAX),
            unasked: Bytes::ZERO,
            timer: controller.deadline(),
            next: controller.deadline().unwrap_or(Time::MAX),
            carry: Carry::new(config.carry),
            cap: None,
            config,
            controller,
            aside: None,
            history: History::new(config.ecn),
            guard: Guard::new(&config.protection),
            frames: VecDeque::new(),
            ended: VecDeque::new(),
            broken: None,
            outdated: Outdated::default(),
            next_frame: FrameId(0),
            due: None,
            growing: None,
            interval: TimeDelta::ZERO,
            decoded: Vec::new(),
            unheard: Vec::new(),
            newest_left: FrameId(0),
            news: News::default(),
            again: Vec::new(),
            given_up: Vec::new(),
        }
    }

    /// The current decision of the stream's own controller.
    #[must_use]
    pub fn decision(&self) -> &Decision {
        match &self.aside {
            Some(aside) => aside.decision(),
            None => self.controller.decision(),
        }
    }

    /// Why the controller decides no more; `None` while it decides, as every controller does that
    /// is part of the program.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.controller.failure()
    }

    /// The current pacing: the controller's, or the policy's in its place.
    #[must_use]
    pub const fn pacing(&self) -> Pacing {
        self.pacer.pacing()
    }

    /// The last decision about the depth of the pacer's bucket; `None` if no policy adapts it.
    #[must_use]
    pub fn bucket(&self) -> Option<BucketChange> {
        self.rule.bucket()
    }

    /// The ECN policy's judgement of the path; `None` for a fixed field.
    #[must_use]
    pub const fn ecn_state(&self) -> Option<EcnState> {
        self.history.ecn_state()
    }

    /// Size of the packets sent and neither acknowledged nor lost.
    #[must_use]
    pub const fn in_flight(&self) -> Bytes {
        self.history.in_flight()
    }

    /// From now on, frames and their repair packets may take at most `cap` in the long run, whatever the
    /// controller grants; `None` for what it grants.
    pub const fn set_cap(&mut self, cap: Option<Rate>) {
        self.cap = cap;
    }

    /// The encoder is about to start a frame; the next one follows after `interval`. Returns how
    /// large the frame may be. An earlier frame of which the last part has not come is given up.
    pub fn frame_due(&mut self, now: Time, interval: TimeDelta) -> FrameGrant {
        self.abandon(now);
        self.expire(now);
        let frame = self.next_frame;
        self.next_frame = FrameId(frame.0 + 1);
        self.interval = interval;
        self.decide(now, Event::FrameDue { frame, interval });
        self.refresh();
        let decision = *self.controller.decision();
        let granted = decision
            .frame_limit
            .unwrap_or_else(|| decision.target.amount_in(interval));
        let share = self.cap.map(|cap| cap.amount_in(interval));
        let capped = share.filter(|share| *share < granted);
        let granted = capped.unwrap_or(granted);
        let is_limit = decision.frame_limit.is_some() && capped.is_none();
        let allowed = self.carry.allow(granted, is_limit);
        self.due = Some(Due {
            frame,
            at: now,
            interval,
            decision,
            allowed,
        });
        FrameGrant {
            frame,
            target: decision.target,
            size: match &mut self.guard {
                Some(guard) => guard.grant(allowed, interval),
                None => allowed,
            },
            is_limit,
            is_capped: capped.is_some(),
            cause: decision.cause,
        }
    }

    /// Tells the controller which rate of the link was available to it, `age` ago and on the mean
    /// since the time before; see [`Event::Told`].
    pub fn told(&mut self, now: Time, rate: Rate, mean: Rate, age: TimeDelta) {
        self.decide(now, Event::Told { rate, mean, age });
    }

    /// Takes the packet that leaves at `now`. Call this until it returns `None`.
    pub fn poll_packet(&mut self, now: Time) -> Option<Outgoing> {
        if self.next > now {
            return None;
        }
        let released = self.pacer.pop(now, self.room())?;
        let handle = released.payload;
        let index = handle.map_or(0, |handle| handle.index);
        let origin = handle.and_then(|handle| handle.origin);
        let kind = match released.kind {
            PacketKind::Media if handle.is_some_and(|handle| handle.is_repair) => {
                PacketKind::Repair
            }
            kind => kind,
        };
        let packet = SentPacket {
            sequence: self.history.next(),
            frame: released.frame,
            kind,
            size: released.size,
            sent: now,
        };
        let ecn = self.history.sent(packet, index, origin);
        if kind == PacketKind::Media {
            self.newest_left = self.newest_left.max(packet.frame);
        }
        let opens_or_closes = index == 0 || released.last;
        if (released.kind == PacketKind::Media && opens_or_closes
            || released.kind == PacketKind::Retransmission)
            && let Some(life) = frame_in(&mut self.frames, released.frame)
        {
            life.first_sent.get_or_insert(now);
            life.last_sent = Some(now);
        }
        self.decide(now, Event::PacketSent(packet));
        self.refresh();
        self.unasked += packet.size;
        let asks_feedback =
            released.last || packet.kind == PacketKind::Retransmission || self.window_asks();
        if asks_feedback {
            self.unasked = Bytes::ZERO;
        }
        Some(Outgoing {
            sequence: TransportSequence::of(packet.sequence.0),
            kind: packet.kind,
            frame: packet.frame,
            index,
            size: packet.size,
            asks_feedback,
            ecn,
        })
    }

    /// Takes in a receiver report.
    pub fn feedback(&mut self, now: Time, report: &ArrivalReport) {
        self.history.feedback(now, report, &mut self.news);
        for &(ref media, at) in &self.news.delivered {
            if let Some(life) = frame_in(&mut self.frames, media.frame) {
                life.arrived += 1;
                life.first_arrival = Some(life.first_arrival.map_or(at, |first| first.min(at)));
                life.last_arrival = Some(life.last_arrival.map_or(at, |last| last.max(at)));
                if let Some(guard) = &mut self.guard {
                    guard.delivered(media);
                }
                let is_whole = |guard: &mut Guard| guard.is_whole(media.frame);
                let is_growing = self
                    .growing
                    .is_some_and(|growing| growing.frame() == media.frame);
                if !is_growing
                    && life.arrived >= life.packets
                    && self.guard.as_mut().is_none_or(is_whole)
                {
                    let how = FrameEnd::Acknowledged(now);
                    end(life, how, &mut self.guard, &mut self.ended);
                }
            }
        }
        self.news.delivered.clear();
        self.settle(now);
    }

    /// The receiver says that it lacks packet `index` of `frame` (a NACK, RFC 4585, section 6.2.1):
    /// the packet is sent again while its frame can be on time.
    pub fn missing(&mut self, now: Time, frame: FrameId, index: u32) {
        self.history.missing(now, frame, index, &mut self.news);
        if !self.news.is_empty() {
            self.settle(now);
        }
    }

    /// The receiver says that it has decoded a frame, ahead of any report of its packets. Where a
    /// lost report leaves packets of the frame unknown, this acknowledges the frame.
    pub fn decoded(&mut self, now: Time, frame: FrameId) {
        self.note_decoded(now, frame);
        if self.decide(now, Event::FrameDecoded { frame }) {
            self.refresh();
        }
    }

    /// When to call [`Self::poll_packet`] or [`Self::timer`]; `None` when only
    /// feedback or a frame can change anything.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        (self.next < Time::MAX).then_some(self.next)
    }

    /// When the next packet of a frame may leave, of those that wait for their turn: no packet that comes before then
    /// leaves earlier. `None` when none waits.
    #[must_use]
    pub fn next_of_frames(&self) -> Option<Time> {
        self.pacer.next_of_frames(self.room())
    }

    /// Lets the controller know that its deadline has come.
    pub fn timer(&mut self, now: Time) {
        if self.timer.is_some_and(|due| due <= now) {
            self.decide(now, Event::Timer);
            self.refresh();
        }
    }

    /// Takes a frame whose life has ended, in the order of their ends.
    pub fn poll_frame(&mut self) -> Option<FrameLife> {
        self.ended.pop_front()
    }

    /// Takes the frames that became broken since the last call: frames given up in the pacer, or
    /// with a lost packet that is not sent again. A frame that refers to one cannot be decoded, so
    /// the encoder has to act.
    pub fn poll_broken(&mut self) -> Option<Broken> {
        self.broken.take()
    }

    /// Number of repair packets handed over with this frame, which is on its way.
    #[must_use]
    pub fn repairs(&self, frame: FrameId) -> u32 {
        let life = self.frames.iter().rev().find(|life| life.frame == frame);
        let protection = life.and_then(|life| life.protection);
        protection.map_or(0, |protection| protection.repairs)
    }

    /// Number of packets remembered because a report may still be about them, and of frames whose
    /// end has not been taken.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.history.remembered() + self.ended.len()
    }

    /// Frames still on their way, oldest first.
    pub fn open_frames(&self) -> impl Iterator<Item = &FrameLife> {
        self.frames.iter().filter(|life| life.end.is_none())
    }

    /// Sends lost packets again, passes the reports to the controller, and forgets frames that have
    /// ended.
    fn settle(&mut self, now: Time) {
        if let Some(guard) = &mut self.guard {
            guard.learn(now, &self.news);
        }
        let mut changed = !self.news.lost.is_empty();
        if changed {
            self.retransmit(now);
        }
        let mut unknown = std::mem::take(&mut self.news.unknown);
        if !unknown.is_empty() {
            changed |= self.decide(now, Event::Unknown { packets: &unknown });
            self.note_unheard(&unknown);
            unknown.clear();
            self.end_decoded(now);
        }
        self.news.unknown = unknown;
        let mut reports = std::mem::take(&mut self.news.reports);
        changed |= self.decide(
            now,
            Event::Feedback {
                reports: &reports,
                in_flight: self.history.in_flight(),
            },
        );
        reports.clear();
        self.news.reports = reports;
        changed |= self.tell_unheard(now);
        if changed {
            self.refresh();
        }
        while self
            .frames
            .pop_front_if(|life| life.end.is_some())
            .is_some()
        {}
    }

    /// Passes the event to the controller and applies its decision to the pacer. Returns whether
    /// that can have moved the time of the next packet.
    fn decide(&mut self, now: Time, event: Event<'_>) -> bool {
        if let Some(aside) = &mut self.aside {
            aside.tell(now, event);
        }
        let decision = self.controller.handle(now, event);
        let window = decision.window.unwrap_or(Bytes::MAX);
        self.rule.handle(now, &event, decision);
        let decision = *decision;
        let mut changed = window < Bytes::MAX || self.window < Bytes::MAX;
        self.window = window;
        changed |= self.pace(now, &decision);
        if let Some(probe) = &decision.probe {
            changed |= self.pacer.schedule(now, probe);
        }
        let timer = self.controller.deadline();
        changed |= timer != self.timer;
        self.timer = timer;
        changed
    }

    /// Applies the pacing of a decision, and returns whether it is another one.
    fn pace(&mut self, now: Time, decision: &Decision) -> bool {
        let pacing = self.rule.pacing(decision, self.pacer.waiting());
        let changes = self.pacer.pacing() != pacing;
        match pacing {
            _ if !changes => {}
            Pacing::Bucket { rate, burst } if self.rule.has_depth() => {
                self.pacer.set_bucket(now, rate, burst);
            }
            _ => self.pacer.set_pacing(pacing),
        }
        changes
    }

    /// Computes again when the next packet may leave.
    fn refresh(&mut self) {
        let packet = self.pacer.next_due(self.room()).unwrap_or(Time::MAX);
        self.next = packet.min(self.timer.unwrap_or(Time::MAX));
    }

    /// Whether the packet that leaves has to ask for a report because of the window: the next
    /// packet to ask may be held back until a report comes.
    fn window_asks(&self) -> bool {
        if self.window == Bytes::MAX {
            return false;
        }
        let is_stuck =
            self.pacer.waiting() > Bytes::ZERO && self.pacer.next_due(self.room()).is_none();
        is_stuck || self.unasked.get().saturating_mul(ASKS_PER_WINDOW) >= self.window.get()
    }

    /// How many bytes more may be in flight.
    fn room(&self) -> Bytes {
        if self.window == Bytes::MAX {
            Bytes::MAX
        } else {
            self.window - self.history.in_flight()
        }
    }
}

/// Cuts a frame of `size` into packets of at most `largest` payload, as equal as possible, and adds
/// `overhead` to each. Returns the packets' sizes on the wire.
#[must_use]
pub fn packetise(
    size: Bytes,
    largest: Bytes,
    overhead: Bytes,
) -> impl ExactSizeIterator<Item = Bytes> + Clone {
    let size = size.get().max(1);
    let count = u32::try_from(Bytes::new(size).pieces(largest)).unwrap_or(u32::MAX);
    let (each, larger) = (size / u64::from(count), size % u64::from(count));
    (0..count).map(move |i| Bytes::new(each + u64::from(u64::from(i) < larger)) + overhead)
}
