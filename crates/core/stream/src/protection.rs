//! Keeps frames whole in time when packets are lost, by repair packets and retransmissions.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, FrameProtection, PacketKind, PacketOutcome, Sequence};
use mimosa_fec::{Code, Lacking, LossEstimator, Planner, Target, xor};
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::history::{Media, News};
use crate::retransmission::RetransmissionDeadline;

/// Size that a repair packet has in addition to the longest packet of its frame: a header of 8
/// bytes (`mimosa_rtp::repair`) and the coded packet length, less the dependency descriptor of
/// media packets.
pub const REPAIR_HEADER: Bytes = Bytes::new(8);
/// Size that a `FlexFEC` repair packet has in addition to the longest packet of its frame: a header
/// of 20 or 24 bytes, and the packets' header extensions, which are coded with them.
pub const FLEXFEC_HEADER: Bytes = Bytes::new(56);

/// The most rounds of retransmission that are planned for; few packets need a fourth.
const MOST_ROUNDS: u32 = 3;
/// A frame that would have fewer bytes than this beside its repair packets gets no repair packets:
/// such a small picture needs the bytes more than it needs to be on time. Our choice.
const LEAST_PROTECTED: Bytes = Bytes::new(600);
/// The divisor of a time's smoothing: alpha = 1/8, as in RFC 6298, section 2.
const SMOOTHING: u32 = 8;
/// The divisor of the smoothing of a time's deviation: beta = 1/4, as in RFC 6298, section 2.
const DEVIATION_SMOOTHING: u32 = 4;

/// The kind of [`Protection`], as settings name it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ProtectionKind {
    /// Lost packets are sent again.
    Retransmission,
    /// Repair packets replace lost packets.
    Fec,
    /// Repair packets are sent where there is no time for retransmissions.
    #[default]
    Joint,
}

impl ProtectionKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Retransmission, Self::Fec, Self::Joint];

    /// The name of the kind in settings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retransmission => "retransmission",
            Self::Fec => "fec",
            Self::Joint => "joint",
        }
    }
}

/// How frames are kept whole when packets are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Protection {
    /// No protection: a lost packet stays lost.
    None,
    /// Lost packets are sent again while their frame is young enough.
    #[default]
    Retransmission,
    /// Frames have repair packets, and no packet is sent again.
    Fec(RepairConfig),
    /// Lost packets are sent again, and frames have repair packets where there is no time for that.
    Joint(RepairConfig),
}

impl Protection {
    /// Whether a lost packet may be sent again.
    pub(crate) const fn retransmits(&self) -> bool {
        matches!(self, Self::Retransmission | Self::Joint(_))
    }
}

/// The aims and limits of repair packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepairConfig {
    /// The age, from its hand-over, by which a frame has to be whole at the receiver.
    pub deadline: TimeDelta,
    /// The share of frames, 0 to 1, that may be late because of lost packets.
    pub late_target: f64,
    /// The most repair packets of a frame as a share of its media packets, rounded up to whole
    /// packets.
    pub most_overhead: f64,
    /// Size on the wire of the largest packet that a frame is cut into.
    pub largest_packet: Bytes,
    /// The erasure code that makes repair packets.
    pub code: Code,
}

impl RepairConfig {
    const fn header(&self) -> Bytes {
        match self.code {
            Code::ReedSolomon => REPAIR_HEADER,
            Code::Xor => FLEXFEC_HEADER,
        }
    }
}

impl Default for RepairConfig {
    /// A deadline of 100 ms as for retransmissions; one late frame in a thousand, one in 17 s at 60
    /// a second; at most half as many repair packets as media packets, which limits the loss of
    /// picture quality on a bad link. The last two are our choice.
    fn default() -> Self {
        Self {
            deadline: TimeDelta::from_millis(100),
            late_target: 1e-3,
            most_overhead: 0.5,
            largest_packet: Bytes::new(1_200),
            code: Code::ReedSolomon,
        }
    }
}

/// What a lost packet leads to: a packet to send, or a broken frame.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Again {
    /// A lost packet to be sent again.
    Lost(Media),
    /// A further repair packet of a frame.
    Further {
        frame: FrameId,
        index: u32,
        size: Bytes,
    },
    /// No packet: the frame will never be whole.
    Broken(FrameId),
}

impl Again {
    pub(crate) const fn frame(&self) -> FrameId {
        match self {
            Self::Lost(Media { frame, .. }) | Self::Further { frame, .. } | Self::Broken(frame) => {
                *frame
            }
        }
    }

    /// The size of the packet to send, if there is one.
    pub(crate) const fn size(&self) -> Option<Bytes> {
        match self {
            Self::Lost(Media { size, .. }) | Self::Further { size, .. } => Some(*size),
            Self::Broken(_) => None,
        }
    }
}

/// A smoothed time and its mean deviation.
#[derive(Clone, Copy, Debug)]
struct Smoothed {
    mean: TimeDelta,
    deviation: TimeDelta,
}

impl Smoothed {
    fn add(this: &mut Option<Self>, sample: TimeDelta) {
        let Some(smoothed) = this else {
            *this = Some(Self {
                mean: sample,
                deviation: TimeDelta::ZERO,
            });
            return;
        };
        let error = sample - smoothed.mean;
        let size = error.max(-error);
        smoothed.mean += error / SMOOTHING;
        smoothed.deviation += (size - smoothed.deviation) / DEVIATION_SMOOTHING;
    }
}

/// A frame under way.
#[derive(Debug)]
struct Coded {
    frame: FrameId,
    handed_over: Time,
    media: u32,
    /// Number of the frame's packets sent or in the pacer, each place counted once.
    places: u32,
    /// Size of each repair packet of the frame.
    repair: Bytes,
    /// Probability that a packet of the frame has to be sent again, as planned.
    again: f64,
    rounds: u32,
    /// Packets of the frame that arrived, and how many of these are media packets.
    arrived: u32,
    media_arrived: u32,
    /// Media packets of the frame of which nothing will become known.
    media_unknown: u32,
    /// Packets of the frame that may still arrive.
    expected: u32,
    /// Packets of the frame that were lost.
    lost: Vec<Media>,
    /// Whether each place's packet has arrived, and whether its first transmission was lost; kept
    /// for the codes that need it.
    there: Vec<bool>,
    lost_first: Vec<bool>,
    /// The repair packets that cover each media packet, in the exclusive-or code.
    columns: Vec<u32>,
    is_broken: bool,
    /// Whether further media packets of the frame, and its repair packets, are still to come.
    is_growing: bool,
}

impl Coded {
    /// A frame of which no packet has been handed over.
    const fn new(handed_over: Time, frame: FrameId) -> Self {
        Self {
            frame,
            handed_over,
            media: 0,
            places: 0,
            repair: Bytes::ZERO,
            again: 0.0,
            rounds: 0,
            arrived: 0,
            media_arrived: 0,
            media_unknown: 0,
            expected: 0,
            lost: Vec::new(),
            there: Vec::new(),
            lost_first: Vec::new(),
            columns: Vec::new(),
            is_broken: false,
            is_growing: true,
        }
    }

    /// Adds `count` packets that are handed over.
    fn grow(&mut self, count: u32) {
        self.places += count;
        self.expected += count;
        self.there.resize(self.places as usize, false);
        self.lost_first.resize(self.places as usize, false);
    }

    /// How many packets more the frame needs besides those on their way, and, for the exclusive-or
    /// code, which.
    fn lacking(&self, code: Code) -> (u32, Vec<usize>) {
        match code {
            Code::ReedSolomon => {
                let there = self.arrived + self.expected;
                (self.media.saturating_sub(there), Vec::new())
            }
            Code::Xor => {
                let mut which = self.residual(|place| self.lost_first[place]);
                which.retain(|place| self.lost.iter().any(|lost| lost.index as usize == *place));
                (u32::try_from(which.len()).unwrap_or(u32::MAX), which)
            }
        }
    }

    /// Whether the packets that have arrived make the frame whole. A browser does not use
    /// retransmitted packets for repair, so each of them replaces only itself.
    fn is_whole(&self, code: Code) -> bool {
        match code {
            Code::ReedSolomon => self.arrived >= self.media,
            Code::Xor => {
                let left = self.residual(|place| !self.there[place] || self.lost_first[place]);
                left.iter().all(|place| self.there[*place])
            }
        }
    }

    /// The missing places that repair packets cannot restore, if the places for which `is_missing`
    /// holds are missing.
    fn residual(&self, is_missing: impl Fn(usize) -> bool) -> Vec<usize> {
        let missing: Vec<usize> = (0..self.there.len()).filter(|i| is_missing(*i)).collect();
        if missing.is_empty() {
            return missing;
        }
        let repairs = (self.places - self.media) as usize;
        xor::residual(&self.columns, repairs, &missing)
    }
}

/// What became of a packet.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// The packet, which left at this time, arrived.
    Arrived(Time),
    /// The packet, which left at this time, was lost.
    Lost(Time),
    /// Nothing will become known of the packet.
    Unknown,
}

/// Chooses repair packets and retransmissions.
#[derive(Debug)]
pub(crate) struct Guard {
    config: RepairConfig,
    retransmits: bool,
    planner: Planner,
    estimator: LossEstimator,
    /// What became of each packet from number `first` on; `None` as long as that is not known.
    outcomes: VecDeque<Option<Fate>>,
    first: u64,
    /// Time from a departure to the report that the packet arrived.
    round_trip: Option<Smoothed>,
    /// Time from a departure until the packet counts as lost.
    noticed: Option<Smoothed>,
    interval: TimeDelta,
    /// Whether the frame last asked for has no room for repair packets.
    is_too_small: bool,
    /// Time from the hand-over of the newest frame to its last packet's departure.
    departs: TimeDelta,
    frames: VecDeque<Coded>,
}

impl Guard {
    /// A guard for this protection; `None` without repair packets.
    pub(crate) fn new(protection: &Protection) -> Option<Self> {
        let (Protection::Fec(config) | Protection::Joint(config)) = protection else {
            return None;
        };
        Some(Self {
            config: *config,
            retransmits: protection.retransmits(),
            planner: Planner::new(
                Target {
                    late: config.late_target,
                    most_overhead: config.most_overhead,
                },
                config.code,
            ),
            estimator: LossEstimator::default(),
            outcomes: VecDeque::new(),
            first: 0,
            round_trip: None,
            noticed: None,
            interval: TimeDelta::ZERO,
            is_too_small: false,
            departs: TimeDelta::ZERO,
            frames: VecDeque::new(),
        })
    }

    /// The largest size of a frame that stays within `granted` together with its repair packets,
    /// with the number of packets that carries most.
    pub(crate) fn grant(&mut self, granted: Bytes, interval: TimeDelta) -> Bytes {
        self.interval = interval;
        self.planner.set_loss(self.estimator.loss());
        let rounds = self.rounds(self.config.deadline - self.departs);
        let packet = self.config.largest_packet;
        let most = u32::try_from(granted.pieces(packet)).unwrap_or(u32::MAX);
        let times = |size: Bytes, count: u32| Bytes::new(size.get().saturating_mul(count.into()));
        let mut best = Bytes::ZERO;
        for media in (1..=most).rev() {
            let bound = times(packet, media);
            if bound <= best {
                break;
            }
            let repairs = self.planner.plan(media, rounds).repairs;
            best = best.max(bound.min(granted - times(packet + self.config.header(), repairs)));
        }
        // One smaller packet, with repair packets of its size.
        let repairs = u64::from(self.planner.plan(1, rounds).repairs);
        let rest = granted - Bytes::new(self.config.header().get() * repairs);
        best = best.max(Bytes::new(rest.get() / (1 + repairs)).min(packet));
        self.is_too_small = best < LEAST_PROTECTED;
        if self.is_too_small {
            best = granted;
        }
        // A frame of zero bytes would be skipped.
        if granted == Bytes::ZERO {
            granted
        } else {
            best.max(Bytes::new(1))
        }
    }

    /// Takes in a part of a frame, of `media` packets. [`Self::hand_over`] follows with the last part.
    pub(crate) fn part(&mut self, now: Time, frame: FrameId, media: u32) {
        let is_new = self
            .frames
            .back()
            .is_none_or(|newest| newest.frame != frame);
        if is_new {
            self.frames.push_back(Coded::new(now, frame));
        }
        if let Some(coded) = self.frames.back_mut() {
            coded.media += media;
            coded.grow(media);
        }
    }

    /// Takes in a frame of `media` packets, those of its earlier parts included, the largest of size
    /// `largest`, whose last packet leaves after `departs`. Says how many repair packets go with it, and
    /// of what size.
    pub(crate) fn hand_over(
        &mut self,
        now: Time,
        frame: FrameId,
        media: u32,
        largest: Bytes,
        departs: TimeDelta,
    ) -> (FrameProtection, Bytes) {
        let newest = self.frames.back().filter(|newest| newest.frame == frame);
        let before = newest.map_or(0, |begun| begun.media);
        self.part(now, frame, media.saturating_sub(before));
        self.departs = departs;
        self.planner.set_loss(self.estimator.loss());
        let rounds = self.rounds(self.config.deadline - departs);
        let mut plan = self.planner.plan(media, rounds);
        if self.is_too_small {
            plan.repairs = 0;
        }
        let repair = largest + self.config.header();
        if let Some(coded) = self.frames.back_mut() {
            coded.grow(plan.repairs);
            coded.repair = repair;
            coded.again = plan.again;
            coded.is_growing = false;
            if self.config.code == Code::Xor {
                coded.columns = xor::columns(media as usize, plan.repairs as usize);
            }
        }
        let protection = FrameProtection {
            repairs: plan.repairs,
            rounds,
            loss: self.planner.loss(),
            late: plan.late,
            repaired: 0,
        };
        (protection, repair)
    }

    /// Learns which packets arrived, which were lost, and of which nothing will become known.
    pub(crate) fn learn(&mut self, now: Time, news: &News) {
        for packet in &news.unknown {
            self.outcome(packet.sequence, Fate::Unknown);
            let coded = self.frame(packet.frame);
            if let Some(coded) = coded.filter(|_| packet.kind == PacketKind::Media) {
                coded.media_unknown += 1;
            }
        }
        for report in &news.reports {
            let sent = report.packet.sent;
            let is_lost = report.outcome == PacketOutcome::Lost;
            let time = now.since(sent);
            Smoothed::add(
                if is_lost {
                    &mut self.noticed
                } else {
                    &mut self.round_trip
                },
                time,
            );
            let fate = if is_lost { Fate::Lost } else { Fate::Arrived };
            self.outcome(report.packet.sequence, fate(sent));
        }
        while let Some(&Some(fate)) = self.outcomes.front() {
            self.outcomes.pop_front();
            self.first += 1;
            match fate {
                Fate::Arrived(sent) => self.estimator.packet(sent, false),
                Fate::Lost(sent) => self.estimator.packet(sent, true),
                Fate::Unknown => {}
            }
        }
    }

    /// Notes what became of a packet, unless that is noted already.
    fn outcome(&mut self, sequence: Sequence, fate: Fate) {
        let Some(place) = sequence.0.checked_sub(self.first) else {
            return;
        };
        let place = usize::try_from(place).unwrap_or(usize::MAX);
        while self.outcomes.len() <= place {
            self.outcomes.push_back(None);
        }
        self.outcomes[place].get_or_insert(fate);
    }

    /// A packet has arrived for the first time.
    pub(crate) fn delivered(&mut self, packet: &Media) {
        let Some(coded) = self.frame(packet.frame) else {
            return;
        };
        coded.arrived += 1;
        coded.media_arrived += u32::from(packet.index < coded.media);
        if let Some(there) = coded.there.get_mut(packet.index as usize) {
            *there = true;
        }
        let lost = coded.lost.len();
        coded.lost.retain(|lost| lost.index != packet.index);
        if coded.lost.len() == lost {
            coded.expected = coded.expected.saturating_sub(1);
        }
    }

    /// A packet is lost, and no transmission of it has arrived.
    pub(crate) fn lost(&mut self, packet: Media) {
        if let Some(coded) = self.frame(packet.frame) {
            coded.expected = coded.expected.saturating_sub(1);
            if let Some(lost) = coded.lost_first.get_mut(packet.index as usize) {
                *lost = true;
            }
            coded.lost.push(packet);
        }
    }

    /// The packets to send again now, of frames that are not past this deadline.
    pub(crate) fn again(
        &mut self,
        now: Time,
        deadline: RetransmissionDeadline,
        again: &mut Vec<Again>,
    ) {
        for position in 0..self.frames.len() {
            let coded = &self.frames[position];
            let (lacking, which) = coded.lacking(self.config.code);
            // What a frame lacks of which parts are still to come is seen when it is whole.
            if lacking == 0 || coded.is_broken || coded.is_growing {
                continue;
            }
            let age = now.since(coded.handed_over);
            if !self.retransmits || deadline.is_past(age) {
                again.push(Again::Broken(coded.frame));
                self.frames[position].is_broken = true;
                continue;
            }
            let left = self.config.deadline - age;
            let is_last = left >= self.one_way() && self.rounds(left) == 0;
            let further = if is_last {
                self.planner.extra(&Lacking {
                    media: coded.media,
                    repairs: coded.places - coded.media,
                    packets: lacking,
                    rounds: coded.rounds,
                    again: coded.again,
                })
            } else {
                0
            };
            let coded = &mut self.frames[position];
            coded.rounds += 1;
            coded.expected += lacking + further;
            // Media first: they need no decoding.
            coded.lost.sort_unstable_by_key(|packet| packet.index);
            let (mut chosen, rest): (Vec<_>, Vec<_>) = coded
                .lost
                .drain(..)
                .partition(|packet| which.is_empty() || which.contains(&(packet.index as usize)));
            coded.lost = rest;
            let count = (lacking as usize).min(chosen.len());
            coded.lost.extend(chosen.drain(count..));
            again.extend(chosen.into_iter().map(Again::Lost));
            again.extend((0..further).map(|number| Again::Further {
                frame: coded.frame,
                index: coded.places + number,
                size: coded.repair,
            }));
            coded.places += further;
            coded.there.resize(coded.places as usize, false);
            coded.lost_first.resize(coded.places as usize, false);
        }
    }

    /// Whether a frame is whole of which as many packets have arrived as it has media packets.
    pub(crate) fn is_whole(&mut self, frame: FrameId) -> bool {
        let code = self.config.code;
        self.frame(frame).is_none_or(|coded| coded.is_whole(code))
    }

    /// Ends a frame. Returns how many of its media packets were restored by repair packets.
    pub(crate) fn end(&mut self, frame: FrameId) -> u32 {
        let Ok(position) = self
            .frames
            .binary_search_by_key(&frame, |coded| coded.frame)
        else {
            return 0;
        };
        let ended = self.frames.remove(position);
        ended.map_or(0, |coded| {
            let came = coded.media_arrived + coded.media_unknown;
            coded.media.saturating_sub(came)
        })
    }

    fn frame(&mut self, frame: FrameId) -> Option<&mut Coded> {
        let position = self
            .frames
            .binary_search_by_key(&frame, |coded| coded.frame);
        self.frames.get_mut(position.ok()?)
    }

    /// Time from a departure to the arrival: half of the round trip.
    fn one_way(&self) -> TimeDelta {
        self.round_trip
            .map_or(TimeDelta::ZERO, |trip| trip.mean / 2)
    }

    /// Time from a departure until a lost packet is sent again. Before the first loss this is a
    /// round trip, a quarter of it for reordering, and the frame interval, after which a packet
    /// follows the last one of a frame.
    fn round(&self) -> TimeDelta {
        let round = match (self.noticed, self.round_trip) {
            (Some(noticed), _) => noticed.mean + noticed.deviation,
            (None, Some(trip)) => trip.mean + trip.mean / 4 + self.interval,
            (None, None) => TimeDelta::MAX,
        };
        round.max(TimeDelta::from_nanos(1))
    }

    /// Number of rounds of retransmission after a departure that fit in this time, including the
    /// last one's arrival.
    fn rounds(&self, left: TimeDelta) -> u32 {
        if !self.retransmits {
            return 0;
        }
        let (left, round) = (left - self.one_way(), self.round());
        (0..MOST_ROUNDS)
            .find(|&rounds| round * (rounds + 1) > left)
            .unwrap_or(MOST_ROUNDS)
    }
}
