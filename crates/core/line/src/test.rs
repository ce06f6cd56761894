//! The course of a test.

use std::sync::{Arc, Mutex, PoisonError};

use mimosa_facts::{Cause, Controller, Decision, Event, Pacing, PacketKind, Probe, ProbeStart};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::config::Config;
use crate::judge::{Trains, judge};
use crate::line::Outcome;
use crate::ramp::{Found, Ramp};
use crate::samples::{Count, Fate, Part, Samples};

/// Packets of the trains, in the order in which they leave: a whole frame at 4 Mbit/s and 60 frames a
/// second has 8, and 128 are as many as a keyframe has.
const TRAINS: [u16; 5] = [8, 16, 32, 64, 128];
/// Share of a train lost from which it was too large for the line, and the fewest packets. Random losses
/// stay below both.
const OVERFLOW: f64 = 0.08;
const OVERFLOW_FEWEST: u32 = 3;
/// Longest time that a train may take, by the rate of the one before.
const LONGEST_TRAIN: TimeDelta = TimeDelta::from_millis(300);
/// Fewest packets of a train that show a rate.
const SHOWS_RATE: u16 = 16;
/// Longest time that the fate of a train or of the ramp is waited for, beyond round trips.
const PATIENCE: TimeDelta = TimeDelta::from_millis(400);
/// The golden ratio's fractional part. Multiples of it, modulo one, spread the small packets evenly
/// over the turns of any medium.
const GOLDEN: f64 = 0.618_033_988_749_895;
/// A bit that marks the numbers of a test's probes: it is set in all of them, and in none of another
/// controller's.
const OWN: u64 = 1 << 63;

#[derive(Clone, Copy, Debug)]
enum Stage {
    Rest,
    /// A train has left, and its fate is waited for.
    Train {
        place: usize,
        sent: Time,
    },
    Ramp(Ramp),
    /// The ramp is over, and the fate of its packets is waited for.
    After {
        since: Time,
        found: Found,
    },
    Over,
}

/// A test of a line: a controller that sends probes and no frames.
#[derive(Debug)]
pub struct LineTest {
    config: Config,
    begun: Time,
    decision: Decision,
    samples: Samples,
    stage: Stage,
    /// The part of the packets that leave now, and how many of them have not left.
    part: Part,
    unsent: u16,
    trains: Trains,
    /// The rate of the largest train that shows one.
    train_rate: Option<Rate>,
    smalls: u32,
    next_small: Time,
    result: Option<Outcome>,
}

impl LineTest {
    /// A test that begins at `now`.
    #[must_use]
    pub fn new(config: Config, now: Time) -> Self {
        Self {
            config,
            begun: now,
            decision: Decision {
                frame_limit: Some(Bytes::ZERO),
                pacing: Pacing::Burst,
                cause: Cause::Start,
                ..Decision::starting_at(Rate::ZERO)
            },
            samples: Samples::default(),
            stage: Stage::Rest,
            part: Part::Small,
            unsent: 0,
            trains: Trains::default(),
            train_rate: None,
            smalls: 0,
            next_small: now,
            result: None,
        }
    }

    /// The result; `None` while the test runs.
    #[must_use]
    pub const fn result(&self) -> Option<Outcome> {
        self.result
    }

    /// Asks for packets that leave now.
    fn send(&mut self, now: Time, part: Part, packets: u16, size: Bytes) {
        if packets == 0 {
            return;
        }
        (self.part, self.unsent) = (part, packets);
        let last = self
            .decision
            .probe
            .map_or(now.as_nanos() | OWN, |probe| probe.id);
        self.decision.probe = Some(Probe {
            id: last + 1,
            packets,
            interval: TimeDelta::ZERO,
            size: Some(size),
            start: ProbeStart::Now,
        });
    }

    /// Sends the next small packet if it is due.
    fn small(&mut self, now: Time, part: Part) {
        if now < self.next_small {
            return;
        }
        self.smalls += 1;
        let place = f64::from(self.smalls) * GOLDEN;
        let times = 0.5 + (place - place.floor());
        self.next_small = now + self.config.small_every.scale(times);
        self.send(now, part, 1, self.config.small);
    }

    fn round_trip(&self) -> TimeDelta {
        self.samples.round_trip.unwrap_or(TimeDelta::ZERO)
    }

    /// Does what is due by `now`.
    fn advance(&mut self, now: Time) {
        // Other packets would take the place of those that have not left.
        if self.unsent > 0 {
            return;
        }
        let is_running = !matches!(self.stage, Stage::Over);
        if is_running && now.since(self.begun) >= self.config.longest {
            let found = match self.stage {
                Stage::Ramp(ramp) => ramp.found(),
                Stage::After { found, .. } => found,
                Stage::Rest | Stage::Train { .. } | Stage::Over => Found::default(),
            };
            return self.end(now, found);
        }
        match self.stage {
            Stage::Rest => {
                if now.since(self.begun) < self.config.rest {
                    self.small(now, Part::Small);
                } else if self.samples.round_trip.is_some() {
                    self.train(now, 0);
                } else {
                    self.end(now, Found::default());
                }
            }
            Stage::Train { place, sent } => self.wait_for_train(now, place, sent),
            Stage::Ramp(mut ramp) => {
                let is_over = ramp.look(&self.config, now, &self.samples);
                if is_over {
                    let found = ramp.found();
                    self.stage = Stage::After { since: now, found };
                } else {
                    let packets = ramp.packets(&self.config, now);
                    self.send(now, ramp.part(), packets, self.config.packet);
                    self.stage = Stage::Ramp(ramp);
                }
            }
            Stage::After { since, found } => {
                let open = Count::of(
                    self.samples
                        .from(0)
                        .iter()
                        .filter(|sample| matches!(sample.part, Part::Ramp(_))),
                );
                let patience = PATIENCE * 2 + self.round_trip() * 3;
                if open.open == 0 || now.since(since) >= patience {
                    self.end(now, found);
                } else {
                    self.small(now, Part::After);
                }
            }
            Stage::Over => {}
        }
    }

    /// Sends the train at this place of the list.
    fn train(&mut self, now: Time, place: usize) {
        self.stage = Stage::Train { place, sent: now };
        self.trains.largest = u8::try_from(place).unwrap_or(u8::MAX);
        let part = Part::Train(self.trains.largest);
        self.send(now, part, TRAINS[place], self.config.packet);
    }

    fn wait_for_train(&mut self, now: Time, place: usize, sent: Time) {
        let count = Count::of(self.samples.part(Part::Train(self.trains.largest)));
        let patience = PATIENCE + self.round_trip() * 3;
        let is_known = count.open == 0;
        if !is_known && now.since(sent) < patience {
            return self.small(now, Part::Small);
        }
        self.trains.overflowed = count.lost >= OVERFLOW_FEWEST && count.loss() >= OVERFLOW;
        if TRAINS[place] >= SHOWS_RATE {
            self.train_rate = count.arrival_rate().or(self.train_rate);
        }
        let next = TRAINS.get(place + 1).filter(|next| {
            let size = Bytes::new(u64::from(**next) * self.config.packet.get());
            let takes = self.train_rate.map(|rate| rate.transmit_time(size));
            !self.trains.overflowed && takes.is_none_or(|takes| takes <= LONGEST_TRAIN)
        });
        if next.is_some() {
            self.train(now, place + 1);
        } else {
            let ramp = Ramp::new(&self.config, now, self.train_rate, &self.samples);
            self.stage = Stage::Ramp(ramp);
        }
    }

    fn end(&mut self, now: Time, found: Found) {
        self.stage = Stage::Over;
        let took = now.since(self.begun);
        let line = judge(&self.samples, self.trains, found, took);
        self.result = Some(line.map_or(Outcome::NoReports, Outcome::Found));
    }
}

impl Controller for LineTest {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        match event {
            Event::PacketSent(packet) if packet.kind == PacketKind::Probe => {
                self.unsent = self.unsent.saturating_sub(1);
                self.samples.sent(self.part, &packet);
            }
            Event::Feedback { reports, .. } => {
                for report in reports {
                    self.samples.told(now, report);
                }
                if self.deadline().is_none_or(|due| due <= now) || self.is_waiting() {
                    self.advance(now);
                }
            }
            Event::Timer => self.advance(now),
            _ => {}
        }
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn deadline(&self) -> Option<Time> {
        match &self.stage {
            Stage::Rest | Stage::Train { .. } | Stage::After { .. } => Some(self.next_small),
            Stage::Ramp(ramp) => Some(ramp.due(&self.config)),
            Stage::Over => None,
        }
    }
}

impl LineTest {
    /// Whether reports alone take the test on.
    fn is_waiting(&self) -> bool {
        let Stage::Train { .. } = self.stage else {
            return false;
        };
        let part = Part::Train(self.trains.largest);
        let mut train = self.samples.part(part);
        train.all(|sample| sample.fate != Fate::Open)
    }
}

/// The result of a test that a sender drives.
#[derive(Clone, Debug)]
pub struct Handle(Arc<Mutex<LineTest>>);

impl Handle {
    /// The result, as [`LineTest::result`] has it.
    #[must_use]
    pub fn result(&self) -> Option<Outcome> {
        let test = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        test.result()
    }
}

/// A test that begins at `now`, as a controller, and the handle of its result.
#[must_use]
pub fn shared(config: Config, now: Time) -> (Box<dyn Controller>, Handle) {
    let test = LineTest::new(config, now);
    let decision = *test.decision();
    let handle = Handle(Arc::new(Mutex::new(test)));
    let deadline = Some(now);
    let shared = Shared {
        handle: handle.clone(),
        decision,
        deadline,
    };
    (Box::new(shared), handle)
}

/// A test whose result another one holds.
#[derive(Debug)]
struct Shared {
    handle: Handle,
    decision: Decision,
    deadline: Option<Time>,
}

impl Controller for Shared {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        let mut test = self.handle.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.decision = *test.handle(now, event);
        self.deadline = test.deadline();
        &self.decision
    }

    fn decision(&self) -> &Decision {
        &self.decision
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline
    }
}
