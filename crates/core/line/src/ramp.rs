//! The ramp: a flow faster than the line, until its queue is known.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::config::Config;
use crate::line::{Grade, Medium};
use crate::medium;
use crate::samples::{Count, Part, Sample, Samples, arrivals};

/// Shortest time between two groups of packets: wake-ups cost the sender.
const TICK: TimeDelta = TimeDelta::from_millis(2);
/// Packets in a group below which the time between groups is longer instead, since each group asks for
/// a report.
const GROUP: u64 = 8;
/// Longest time for which a late sender makes up.
const CATCH_UP: TimeDelta = TimeDelta::from_millis(10);
/// First rate of the ramp, in rates of the longest train: above it, since it is to fill the line.
const ABOVE_TRAIN: f64 = 1.5;
/// Lowest first rate, for lines whose trains took very long.
const LEAST_RATE: Rate = Rate::from_kbps(2_000);
/// Time at one rate after which the ramp goes on to the next, if the line carries the rate.
const STEP: TimeDelta = TimeDelta::from_millis(120);
/// The next rate, in rates.
const UP: f64 = 1.5;
/// Share of the departing rate that arrives from which the line carries a step.
const CARRIED: f64 = 0.9;
/// Rate while the queue fills, in rates at which the line serves: the queue then grows by as much time as
/// passes.
const FILLING: f64 = 2.0;
/// Share of packets lost from which the queue counts as full. Random losses stay below it.
const OVERFLOW: f64 = 0.08;
/// Packets by which an overflow is judged, and the fewest.
const OVERFLOW_AMONG: usize = 160;
const OVERFLOW_FEWEST: u32 = 32;
/// A queue that has not grown for this long, though more came than the line serves, grows no more.
const GROWS_WITHIN: TimeDelta = TimeDelta::from_millis(350);
/// Growth that counts.
const GROWTH: TimeDelta = TimeDelta::from_millis(3);
/// Growth of the queue's delay in a step, in lengths of the step, below which the next step is faster: a
/// medium that was held up looks full.
const GROWING: f64 = 0.3;
/// Rate while the queue is full, in rates at which the line serves: enough to keep it full.
const KEEPING: f64 = 1.2;
/// Shortest time of arrivals by which the rate of a steady line is judged, and that of one that serves in
/// bunches: a station of a busy Wi-Fi network sends a few tens of times a second, at random.
const SHORTEST: TimeDelta = TimeDelta::from_millis(400);
const SHORTEST_IN_BUNCHES: TimeDelta = TimeDelta::from_millis(1_200);
/// Delay of the queue beyond the worst grade up to which the ramp fills it.
const BEYOND: TimeDelta = TimeDelta::from_millis(50);
/// Time between two looks at what has arrived.
const LOOK_EVERY: TimeDelta = TimeDelta::from_millis(15);

/// What the ramp found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Number of the first packet that was sent above the line's rate; `None` if the line was never
    /// full.
    pub(crate) full_from: Option<usize>,
    /// Whether the queue was seen to be full, or no longer to grow.
    pub(crate) is_whole: bool,
}

/// The ramp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ramp {
    rate: Rate,
    /// Number of the present step, when it began, and the number of its first packet.
    step: u16,
    began: Time,
    from: usize,
    /// Delay of the queue when the step began.
    met: TimeDelta,
    /// When the ramp began, and the number of its first packet.
    start: Time,
    first: usize,
    /// Until when packets have been sent for.
    sent_for: Time,
    next_look: Time,
    /// Whether enough is on its way.
    is_paused: bool,
    /// Longest delay of the queue so far, and when a packet left that met it.
    longest: (TimeDelta, Time),
    found: Found,
}

impl Ramp {
    /// A ramp from `now` on, after a train that arrived at `train`; `None` if it arrived at once.
    pub(crate) fn new(config: &Config, now: Time, train: Option<Rate>, samples: &Samples) -> Self {
        let rate = train.map_or(config.most_rate, |train| train.scale(ABOVE_TRAIN));
        Self {
            rate: rate.clamp(LEAST_RATE.min(config.most_rate), config.most_rate),
            step: 0,
            began: now,
            from: samples.len(),
            met: TimeDelta::ZERO,
            start: now,
            first: samples.len(),
            sent_for: now,
            next_look: now,
            is_paused: false,
            longest: (TimeDelta::ZERO, now),
            found: Found::default(),
        }
    }

    pub(crate) const fn part(&self) -> Part {
        Part::Ramp(self.step)
    }

    pub(crate) const fn found(&self) -> Found {
        self.found
    }

    /// Time between two groups of packets.
    fn tick(&self, packet: Bytes) -> TimeDelta {
        let group = Bytes::new(packet.get() * GROUP);
        TICK.max(self.rate.transmit_time(group))
    }

    /// When the next group of packets is due.
    pub(crate) fn due(&self, config: &Config) -> Time {
        self.sent_for + self.tick(config.packet)
    }

    /// Number of packets that leave now.
    pub(crate) fn packets(&mut self, config: &Config, now: Time) -> u16 {
        if self.due(config) > now {
            return 0;
        }
        if self.is_paused {
            self.sent_for = now;
            return 0;
        }
        let since = now.since(self.sent_for);
        let longest = self.tick(config.packet) + CATCH_UP;
        if since > longest {
            self.sent_for = now - longest;
        }
        let amount = self.rate.amount_in(now.since(self.sent_for));
        let packets = (amount.get() / config.packet.get().max(1)).min(u64::from(u16::MAX));
        let taken = Bytes::new(packets * config.packet.get());
        self.sent_for += self.rate.transmit_time(taken);
        u16::try_from(packets).unwrap_or(u16::MAX)
    }

    /// Looks at what has arrived. Returns whether the ramp is over.
    pub(crate) fn look(&mut self, config: &Config, now: Time, samples: &Samples) -> bool {
        if samples.spent >= config.most_bytes || now.since(self.start) >= config.longest_ramp {
            self.conclude(samples);
            return true;
        }
        if now < self.next_look {
            return false;
        }
        self.next_look = now + LOOK_EVERY;
        let step = Count::of(samples.from(self.from).iter());
        if self.found.full_from.is_none() {
            let is_judged = step.departure_span() >= STEP;
            let is_full = self.is_overflowing(samples)
                || self.delay(samples) >= Grade::WORST / 4
                || is_judged && !carries(&step);
            if is_full {
                self.fill(config, now, &step, samples);
            } else if is_judged && self.rate >= config.most_rate {
                return true;
            } else if is_judged {
                self.begin(now, self.rate.scale(UP).min(config.most_rate), samples);
            }
            return false;
        }
        self.is_known(config, now, samples)
    }

    /// Begins another step.
    fn begin(&mut self, now: Time, rate: Rate, samples: &Samples) {
        self.step = self.step.saturating_add(1);
        (self.rate, self.began, self.from) = (rate, now, samples.len());
        self.met = self.delay(samples);
    }

    /// The line is full: goes on at a rate that fills its queue.
    fn fill(&mut self, config: &Config, now: Time, step: &Count, samples: &Samples) {
        self.found.full_from = Some(self.from);
        let served = step.arrival_rate().unwrap_or(self.rate);
        let rate = served.scale(FILLING).clamp(LEAST_RATE, config.most_rate);
        // A rate that already fills the queue stays, so that losses do not become more.
        if served.scale(UP) > self.rate && rate > self.rate {
            self.begin(now, rate, samples);
        }
    }

    /// Whether enough is known of a line that is full.
    fn is_known(&mut self, config: &Config, now: Time, samples: &Samples) -> bool {
        let delay = self.delay(samples);
        let full = self.found.full_from.unwrap_or(self.first);
        let count = Count::of(samples.from(full).iter());
        let arrivals = arrivals(samples.from(full).iter());
        let shortest = match medium::judge(&arrivals, TimeDelta::ZERO) {
            Medium::Steady | Medium::Unknown => SHORTEST,
            Medium::InAggregates | Medium::InTurns => SHORTEST_IN_BUNCHES,
        };
        let is_long = count.arrival_span() >= shortest;
        if delay >= self.longest.0 + GROWTH {
            self.longest = (delay, now);
        }
        // What is on its way will have waited longer than the worst grade, or was dropped.
        let served = count.arrival_rate().unwrap_or(self.rate);
        let rest = samples.round_trip.unwrap_or(TimeDelta::ZERO);
        self.is_paused = samples.open > served.amount_in(rest + Grade::WORST + BEYOND);
        let is_worst = delay >= Grade::WORST;
        let stands_still = now.since(self.longest.1) >= GROWS_WITHIN;
        let is_overflowing = self.is_overflowing(samples);
        let is_whole = is_overflowing || stands_still && is_long;
        if is_whole && !std::mem::replace(&mut self.found.is_whole, true) {
            let rate = served.scale(KEEPING).clamp(LEAST_RATE, config.most_rate);
            self.begin(now, rate.min(self.rate), samples);
        }
        let step = now.since(self.began);
        if !self.found.is_whole && step >= STEP {
            let grown = delay - self.met;
            if grown < step.scale(GROWING) {
                self.begin(now, self.rate.scale(UP).min(config.most_rate), samples);
            } else {
                (self.began, self.met) = (now, delay);
            }
        }
        (is_worst || self.found.is_whole) && is_long
    }

    /// Judges a ramp that ends because of its bounds.
    fn conclude(&mut self, samples: &Samples) {
        let step = Count::of(samples.from(self.from).iter());
        let is_full = self.is_overflowing(samples) || !carries(&step);
        if self.found.full_from.is_none() && is_full && step.arrived > 0 {
            self.found.full_from = Some(self.from);
        }
        self.found.is_whole |= self.is_overflowing(samples);
    }

    /// Whether the newest packets of the ramp whose fate is known were dropped by a full queue.
    fn is_overflowing(&self, samples: &Samples) -> bool {
        let known = samples.from(self.first).iter().rev();
        let known = known.filter(|sample| is_known(sample)).take(OVERFLOW_AMONG);
        let count = Count::of(known);
        count.arrived + count.lost >= OVERFLOW_FEWEST && count.loss() >= OVERFLOW
    }

    /// Delay of the queue that the newest packet met.
    fn delay(&self, samples: &Samples) -> TimeDelta {
        let newest = samples.from(self.first).iter().rev();
        let mut delays = newest.filter_map(|sample| samples.queued(sample));
        delays.next().unwrap_or(TimeDelta::ZERO)
    }
}

fn is_known(sample: &Sample) -> bool {
    sample.fate != crate::samples::Fate::Open
}

/// Whether the line carries a step: as much arrives as leaves.
fn carries(step: &Count) -> bool {
    let (Some(arrives), Some(leaves)) = (step.arrival_rate(), step.departure_rate()) else {
        return true;
    };
    step.loss() < OVERFLOW && arrives.ratio(leaves) >= CARRIED
}
