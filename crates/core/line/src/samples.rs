//! The packets of a test and what became of them.

use mimosa_facts::{PacketOutcome, PacketReport, SentPacket};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};

/// The part of the test that a packet belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    /// A small packet, at rest or between trains.
    Small,
    /// A packet of the train with this number.
    Train(u8),
    /// A packet of the ramp, with the number of its step.
    Ramp(u16),
    /// A small packet after the ramp, which waits behind it.
    After,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Fate {
    /// Nothing is known.
    Open,
    /// The packet arrived.
    Arrived(PeerTime),
    /// The packet is lost.
    Lost,
}

/// One packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    sequence: u64,
    pub(crate) part: Part,
    pub(crate) sent: Time,
    pub(crate) size: Bytes,
    pub(crate) fate: Fate,
}

/// All packets of a test, in the order in which they left.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    all: Vec<Sample>,
    /// Size of all packets.
    pub(crate) spent: Bytes,
    /// Size of the packets of which nothing is known.
    pub(crate) open: Bytes,
    /// The smallest one-way delay, on two clocks.
    least: Option<TimeDelta>,
    /// The smallest time from a departure to the report on it.
    pub(crate) round_trip: Option<TimeDelta>,
}

impl Samples {
    pub(crate) fn sent(&mut self, part: Part, packet: &SentPacket) {
        self.spent += packet.size;
        self.open += packet.size;
        self.all.push(Sample {
            sequence: packet.sequence.0,
            part,
            sent: packet.sent,
            size: packet.size,
            fate: Fate::Open,
        });
    }

    pub(crate) fn told(&mut self, now: Time, report: &PacketReport) {
        // Packets of the stream have numbers in between.
        let number = report.packet.sequence.0;
        let place = self
            .all
            .binary_search_by_key(&number, |sample| sample.sequence);
        let Some(sample) = place.ok().and_then(|place| self.all.get_mut(place)) else {
            return;
        };
        let fate = match report.outcome {
            PacketOutcome::Arrived { at, .. } => Fate::Arrived(at),
            PacketOutcome::Lost => Fate::Lost,
        };
        if sample.fate == Fate::Open {
            self.open -= sample.size;
        }
        sample.fate = fate;
        if let Fate::Arrived(at) = fate {
            let delay = at - sample.sent;
            self.least = Some(self.least.map_or(delay, |least| least.min(delay)));
            let took = now.since(sample.sent);
            self.round_trip = Some(self.round_trip.map_or(took, |least| least.min(took)));
        }
    }

    /// The packets, from number `from` on.
    pub(crate) fn from(&self, from: usize) -> &[Sample] {
        self.all.get(from..).unwrap_or_default()
    }

    pub(crate) const fn len(&self) -> usize {
        self.all.len()
    }

    /// A packet's delay above the least of all; `None` if the packet has not arrived.
    pub(crate) fn queued(&self, sample: &Sample) -> Option<TimeDelta> {
        match sample.fate {
            Fate::Arrived(at) => Some(at - sample.sent - self.least?),
            Fate::Open | Fate::Lost => None,
        }
    }

    /// The packets of one part.
    pub(crate) fn part(&self, part: Part) -> impl Iterator<Item = &Sample> + Clone {
        self.all.iter().filter(move |sample| sample.part == part)
    }
}

/// The arrivals of packets, sorted.
pub(crate) fn arrivals<'a>(of: impl Iterator<Item = &'a Sample>) -> Vec<PeerTime> {
    let mut arrivals: Vec<_> = of
        .filter_map(|sample| match sample.fate {
            Fate::Arrived(at) => Some(at),
            Fate::Open | Fate::Lost => None,
        })
        .collect();
    arrivals.sort_unstable();
    arrivals
}

/// How many of some packets arrived and were lost, and when.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub(crate) arrived: u32,
    pub(crate) lost: u32,
    pub(crate) open: u32,
    /// When the first and when the last of the packets left whose fate is known; in `left`, the size of
    /// all of them but the last.
    sent: Option<(Time, Time)>,
    left: Bytes,
    newest: Bytes,
    /// When the first and when the last packet arrived; in `size`, the size of all that arrived, and in
    /// `first`, that of the packet that arrived first.
    span: Option<(PeerTime, PeerTime)>,
    size: Bytes,
    first: Bytes,
}

impl Count {
    pub(crate) fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Self {
        let mut count = Self::default();
        for sample in samples {
            match sample.fate {
                Fate::Open => {
                    count.open += 1;
                    continue;
                }
                Fate::Lost => count.lost += 1,
                Fate::Arrived(at) => {
                    count.arrived += 1;
                    count.size += sample.size;
                    match &mut count.span {
                        None => {
                            count.span = Some((at, at));
                            count.first = sample.size;
                        }
                        Some((first, last)) => {
                            if at < *first {
                                count.first = sample.size;
                            }
                            *first = at.min(*first);
                            *last = at.max(*last);
                        }
                    }
                }
            }
            count.left += count.newest;
            count.newest = sample.size;
            let first = count.sent.map_or(sample.sent, |(first, _)| first);
            count.sent = Some((first, sample.sent));
        }
        count
    }

    /// Share of packets lost among those whose fate is known.
    pub(crate) fn loss(&self) -> f64 {
        f64::from(self.lost) / f64::from((self.lost + self.arrived).max(1))
    }

    /// Time between the first and the last arrival.
    pub(crate) fn arrival_span(&self) -> TimeDelta {
        self.span
            .map_or(TimeDelta::ZERO, |(first, last)| last - first)
    }

    /// Time between the first and the last departure.
    pub(crate) fn departure_span(&self) -> TimeDelta {
        self.sent
            .map_or(TimeDelta::ZERO, |(first, last)| last.since(first))
    }

    /// The rate at which packets arrived; `None` if they all arrived at once.
    pub(crate) fn arrival_rate(&self) -> Option<Rate> {
        let span = self.arrival_span();
        (span > TimeDelta::ZERO).then(|| Rate::of(self.size - self.first, span))
    }

    /// The rate at which packets left; `None` if they all left at once.
    pub(crate) fn departure_rate(&self) -> Option<Rate> {
        let span = self.departure_span();
        (span > TimeDelta::ZERO).then(|| Rate::of(self.left, span))
    }
}
