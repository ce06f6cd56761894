//! Frames whole in time though packets are lost: repair packets, and what is sent again.

use std::collections::VecDeque;

use mimosa_facts::{FrameId, FrameProtection, PacketOutcome, PacketReport};
use mimosa_fec::{Code, Lacking, LossEstimator, Planner, Target, xor};
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::history::Media;
use crate::retransmission::RetransmissionDeadline;

/// What a repair packet has besides the longest packet of its frame: a header of 8 bytes
/// (`mimosa_rtp::repair`) and that one's length, which is coded with it, without the
/// dependency descriptor that media packets have.
pub const REPAIR_HEADER: Bytes = Bytes::new(8);
/// The same of `FlexFEC`: its header of 20 or 24 bytes, and the header extensions of the
/// packets, which are coded with them.
pub const FLEXFEC_HEADER: Bytes = Bytes::new(56);

/// More rounds than this are not planned for: what comes to the fourth is rare enough.
const MOST_ROUNDS: u32 = 3;
/// A frame that would have less than this beside its repair packets has none: a picture of so
/// few bytes is worth more than that it is on time. Our choice.
const LEAST_PROTECTED: Bytes = Bytes::new(600);
/// Times are smoothed as in RFC 6298, section 2: alpha = 1/8.
const SMOOTHING: u32 = 8;
/// And their deviation with beta = 1/4.
const DEVIATION_SMOOTHING: u32 = 4;

/// Which kind of [`Protection`] frames have, as settings name it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum ProtectionKind {
    /// Lost packets are sent again.
    Retransmission,
    /// Repair packets stand for lost ones.
    Fec,
    /// Repair packets as far as there is no time to send again.
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

/// How frames are kept whole.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Protection {
    /// Not at all: what is lost stays lost.
    None,
    /// What is lost is sent again while its frame is young enough.
    #[default]
    Retransmission,
    /// Repair packets, and nothing is sent again.
    Fec(RepairConfig),
    /// Both: repair packets as far as there is no time to send again.
    Joint(RepairConfig),
}

impl Protection {
    /// Whether what is lost may be sent again.
    pub(crate) const fn retransmits(&self) -> bool {
        matches!(self, Self::Retransmission | Self::Joint(_))
    }
}

/// What repair packets are to reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepairConfig {
    /// When a frame has to be whole at the receiver, from its hand-over on.
    pub deadline: TimeDelta,
    /// Share of frames that may be late for what was lost of them.
    pub late_target: f64,
    /// Most repair packets over media packets of a frame, rounded up to whole packets.
    pub most_overhead: f64,
    /// The largest packet that a frame is cut into, on the wire.
    pub largest_packet: Bytes,
    /// What repair packets are made of.
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
    /// 100 ms as for retransmissions; one frame of a thousand, one in 17 s at 60 a second;
    /// half of the frame again, so that a bad link halves nobody's picture. The last two are
    /// our choice.
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

/// A packet to be sent again, or in place of one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Again {
    /// What was lost.
    Lost(Media),
    /// A further repair packet.
    Further {
        frame: FrameId,
        index: u32,
        size: Bytes,
    },
    /// Nothing: the frame will never be whole.
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

    /// What is sent, if anything is.
    pub(crate) const fn size(&self) -> Option<Bytes> {
        match self {
            Self::Lost(Media { size, .. }) | Self::Further { size, .. } => Some(*size),
            Self::Broken(_) => None,
        }
    }
}

/// A time, smoothed, and how far it deviates on the mean.
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
    /// Packets sent or in the pacer, each place once.
    places: u32,
    /// Size of its repair packets.
    repair: Bytes,
    /// Probability that something has to be sent again, as planned.
    again: f64,
    rounds: u32,
    /// Packets that arrived, and those of them that are media.
    arrived: u32,
    media_arrived: u32,
    /// Packets that may still arrive.
    expected: u32,
    /// Packets that were lost.
    lost: Vec<Media>,
    /// Whether each place's packet has arrived, and whether it was lost at first, for codes
    /// that it matters to.
    there: Vec<bool>,
    lost_first: Vec<bool>,
    /// Which repair packets each media packet is in, of the exclusive or.
    columns: Vec<u32>,
    is_broken: bool,
}

impl Coded {
    /// How many packets more it takes, with those that are on their way; and of the
    /// exclusive or which.
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

    /// Whether what has arrived makes it whole. A browser does not repair by what was sent
    /// again, so that this stands for itself alone.
    fn is_whole(&self, code: Code) -> bool {
        match code {
            Code::ReedSolomon => self.arrived >= self.media,
            Code::Xor => {
                let left = self.residual(|place| !self.there[place] || self.lost_first[place]);
                left.iter().all(|place| self.there[*place])
            }
        }
    }

    /// What repair packets do not make good without the places of which this is true.
    fn residual(&self, is_missing: impl Fn(usize) -> bool) -> Vec<usize> {
        let missing: Vec<usize> = (0..self.there.len()).filter(|i| is_missing(*i)).collect();
        if missing.is_empty() {
            return missing;
        }
        let repairs = (self.places - self.media) as usize;
        xor::residual(&self.columns, repairs, &missing)
    }
}

/// Chooses repair packets, and what is sent again.
#[derive(Debug)]
pub(crate) struct Guard {
    config: RepairConfig,
    retransmits: bool,
    planner: Planner,
    estimator: LossEstimator,
    /// What became of packets from number `first` on, as far as is known.
    outcomes: VecDeque<Option<(Time, bool)>>,
    first: u64,
    /// From a departure to the report that it arrived.
    round_trip: Option<Smoothed>,
    /// From a departure until it counts as lost.
    noticed: Option<Smoothed>,
    interval: TimeDelta,
    /// The frame last asked for has no room for repair packets.
    is_too_small: bool,
    /// From a hand-over to the last departure, as it was last.
    departs: TimeDelta,
    frames: VecDeque<Coded>,
}

impl Guard {
    /// `None` where nothing is coded.
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

    /// How large a frame may be, so that it and its repair packets stay within `granted`: of
    /// so many packets that they carry most.
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
        // One packet that is smaller, and its repair packets like it.
        let repairs = u64::from(self.planner.plan(1, rounds).repairs);
        let rest = granted - Bytes::new(self.config.header().get() * repairs);
        best = best.max(Bytes::new(rest.get() / (1 + repairs)).min(packet));
        self.is_too_small = best < LEAST_PROTECTED;
        if self.is_too_small {
            best = granted;
        }
        // Nothing would be to skip the frame.
        if granted == Bytes::ZERO {
            granted
        } else {
            best.max(Bytes::new(1))
        }
    }

    /// A frame of so many packets, the largest of this size, is handed over; its last one
    /// leaves after `departs`. Says how many repair packets go with it, and of what size.
    pub(crate) fn hand_over(
        &mut self,
        now: Time,
        frame: FrameId,
        media: u32,
        largest: Bytes,
        departs: TimeDelta,
    ) -> (FrameProtection, Bytes) {
        self.departs = departs;
        self.planner.set_loss(self.estimator.loss());
        let rounds = self.rounds(self.config.deadline - departs);
        let mut plan = self.planner.plan(media, rounds);
        if self.is_too_small {
            plan.repairs = 0;
        }
        let repair = largest + self.config.header();
        self.frames.push_back(Coded {
            frame,
            handed_over: now,
            media,
            places: media + plan.repairs,
            repair,
            again: plan.again,
            rounds: 0,
            arrived: 0,
            media_arrived: 0,
            expected: media + plan.repairs,
            lost: Vec::new(),
            there: vec![false; (media + plan.repairs) as usize],
            lost_first: vec![false; (media + plan.repairs) as usize],
            columns: match self.config.code {
                Code::ReedSolomon => Vec::new(),
                Code::Xor => xor::columns(media as usize, plan.repairs as usize),
            },
            is_broken: false,
        });
        let protection = FrameProtection {
            repairs: plan.repairs,
            rounds,
            loss: self.planner.loss(),
            late: plan.late,
            repaired: 0,
        };
        (protection, repair)
    }

    /// Takes in what became of packets.
    pub(crate) fn learn(&mut self, now: Time, reports: &[PacketReport]) {
        for report in reports {
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
            let Some(place) = report.packet.sequence.0.checked_sub(self.first) else {
                continue;
            };
            let place = usize::try_from(place).unwrap_or(usize::MAX);
            while self.outcomes.len() <= place {
                self.outcomes.push_back(None);
            }
            self.outcomes[place].get_or_insert((sent, is_lost));
        }
        while let Some(&Some((sent, is_lost))) = self.outcomes.front() {
            self.outcomes.pop_front();
            self.first += 1;
            self.estimator.packet(sent, is_lost);
        }
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

    /// A packet of which nothing has arrived was lost.
    pub(crate) fn lost(&mut self, packet: Media) {
        if let Some(coded) = self.frame(packet.frame) {
            coded.expected = coded.expected.saturating_sub(1);
            if let Some(lost) = coded.lost_first.get_mut(packet.index as usize) {
                *lost = true;
            }
            coded.lost.push(packet);
        }
    }

    /// What to send again now, of frames not past this deadline.
    pub(crate) fn again(
        &mut self,
        now: Time,
        deadline: RetransmissionDeadline,
        again: &mut Vec<Again>,
    ) {
        for position in 0..self.frames.len() {
            let coded = &self.frames[position];
            let (lacking, which) = coded.lacking(self.config.code);
            if lacking == 0 || coded.is_broken {
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

    /// Whether a frame of which as many packets have arrived as it has is whole.
    pub(crate) fn is_whole(&mut self, frame: FrameId) -> bool {
        let code = self.config.code;
        self.frame(frame).is_none_or(|coded| coded.is_whole(code))
    }

    /// The frame's life has ended. Gives how many of its media packets repair packets stood
    /// for.
    pub(crate) fn end(&mut self, frame: FrameId) -> u32 {
        let Ok(position) = self
            .frames
            .binary_search_by_key(&frame, |coded| coded.frame)
        else {
            return 0;
        };
        let ended = self.frames.remove(position);
        ended.map_or(0, |coded| coded.media.saturating_sub(coded.media_arrived))
    }

    fn frame(&mut self, frame: FrameId) -> Option<&mut Coded> {
        let position = self
            .frames
            .binary_search_by_key(&frame, |coded| coded.frame);
        self.frames.get_mut(position.ok()?)
    }

    /// From a departure to the arrival: half of the round trip.
    fn one_way(&self) -> TimeDelta {
        self.round_trip
            .map_or(TimeDelta::ZERO, |trip| trip.mean / 2)
    }

    /// From a departure until what was lost is sent again. As long as nothing was lost: a
    /// round trip, a quarter of it for what may have been overtaken, and the interval in
    /// which the next packet comes after the last of a frame.
    fn round(&self) -> TimeDelta {
        let round = match (self.noticed, self.round_trip) {
            (Some(noticed), _) => noticed.mean + noticed.deviation,
            (None, Some(trip)) => trip.mean + trip.mean / 4 + self.interval,
            (None, None) => TimeDelta::MAX,
        };
        round.max(TimeDelta::from_nanos(1))
    }

    /// Rounds of retransmission after a departure that fit in this time, the last one's
    /// arrival included.
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
