//! Neighbours: stations that send for themselves, and take the air from others.
//!
//! A neighbour has no packets, only an amount of data that waits. Its traffic does not respond to
//! congestion: a neighbour whose traffic shall is a flow of the scenario with a station of its own.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::contender::Contender;
use super::standard::Timing;
use crate::random::Random;

/// Size of a neighbour's packets: full Ethernet frames.
const PACKET: Bytes = Bytes::new(1_500);
/// Most packets that wait at a neighbour; what comes beyond is lost.
const MOST_WAITING: u64 = 100;

/// What a neighbour sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Load {
    /// As much as the air carries.
    Saturated,
    /// A constant rate.
    Constant(Rate),
    /// A rate in periods whose lengths, and those of the pauses between, are distributed
    /// exponentially.
    OnOff {
        /// The rate within a period.
        rate: Rate,
        /// Mean length of a period.
        on: TimeDelta,
        /// Mean length of a pause.
        off: TimeDelta,
    },
}

/// A neighbour: its traffic and its physical rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// What the neighbour sends.
    pub load: Load,
    /// The neighbour's physical rate; `None` for that of one spatial stream.
    pub rate: Option<Rate>,
}

/// A neighbour on the air.
#[derive(Debug)]
pub(super) struct Transmits {
    load: Load,
    rate: Rate,
    pub(super) contender: Contender,
    /// Data that wait at the time `since`.
    waits: Bytes,
    since: Time,
    /// Whether a period lasts, and when it or the pause ends; [`Time::MAX`] for never.
    is_on: bool,
    until: Time,
    /// Durations of periods and pauses.
    lengths: Random,
}

impl Transmits {
    pub(super) fn new(neighbour: &Neighbour, timing: &Timing, seed: u64, name: &str) -> Self {
        let mut lengths = Random::new(seed, &format!("{name} periods"));
        let (is_on, until) = match neighbour.load {
            Load::OnOff { off, .. } => (false, Time::ZERO + lengths.exponential(off)),
            _ => (true, Time::MAX),
        };
        let mut made = Self {
            load: neighbour.load,
            rate: neighbour.rate.unwrap_or(timing.neighbour),
            contender: Contender::new(Random::new(seed, &format!("{name} back-off"))),
            waits: Bytes::ZERO,
            since: Time::ZERO,
            is_on,
            until,
            lengths,
        };
        made.advance(Time::ZERO, false);
        made
    }

    /// Counts what has come by `now`, where the air is `busy` or not.
    pub(super) fn advance(&mut self, now: Time, busy: bool) {
        while self.until <= now {
            let at = self.until;
            self.count(at);
            self.is_on = !self.is_on;
            let mean = match self.load {
                Load::OnOff { on, .. } if self.is_on => on,
                Load::OnOff { off, .. } => off,
                _ => TimeDelta::ZERO,
            };
            self.until = at + self.lengths.exponential(mean);
        }
        self.count(now);
        if self.waits >= PACKET {
            self.contender.begins(now, busy);
        } else {
            self.contender.ready = Time::MAX;
        }
    }

    fn count(&mut self, now: Time) {
        let most = Bytes::new(PACKET.get() * MOST_WAITING);
        let passed = now.since(self.since);
        let came = match self.load {
            Load::Saturated => most,
            Load::Constant(rate) => rate.amount_in(passed),
            Load::OnOff { rate, .. } if self.is_on => rate.amount_in(passed),
            Load::OnOff { .. } => Bytes::ZERO,
        };
        // A part of a byte would be lost where the time is short.
        if came > Bytes::ZERO || !self.is_on {
            self.since = now;
        }
        self.waits = (self.waits + came).min(most);
    }

    /// When [`Transmits::advance`] has to be called although nobody sends: when a packet is
    /// complete, or a period ends or begins.
    pub(super) fn event(&self) -> Time {
        if self.contender.ready < Time::MAX {
            return Time::MAX;
        }
        let rate = match self.load {
            Load::Saturated => return Time::MAX,
            Load::Constant(rate) => rate,
            Load::OnOff { rate, .. } if self.is_on => rate,
            Load::OnOff { .. } => return self.until,
        };
        // At least a microsecond, so that time goes on whatever is rounded.
        let rest = rate.transmit_time(PACKET - self.waits) + TimeDelta::from_micros(1);
        self.until.min(self.since + rest)
    }

    /// The time that the neighbour's next transmission takes, and its data.
    pub(super) fn transmission(&self, timing: &Timing, longest: TimeDelta) -> (TimeDelta, Bytes) {
        let each = Timing::on_air(PACKET);
        let fits = self.rate.amount_in(longest - timing.preamble);
        let fits = fits.min(timing.most_bytes).get() / each.get();
        let waits = self.waits.get() / PACKET.get();
        let most = fits.min(timing.window as u64).min(waits).max(1);
        let on_air = Bytes::new(each.get() * most);
        let sent = Bytes::new(PACKET.get() * most).min(self.waits);
        (timing.airtime(on_air, self.rate), sent)
    }

    /// Notes that a transmission of `sent` is over, or was given up.
    pub(super) fn sent(&mut self, sent: Bytes) {
        self.waits -= sent;
        if self.waits < PACKET {
            self.contender.ready = Time::MAX;
        }
    }

    /// Data that wait.
    #[cfg(test)]
    pub(super) const fn waiting(&self) -> Bytes {
        self.waits
    }
}
