//! Draws from a seed who plays and watches, over which links, and what goes wrong when.

use mimosa_net::Random;
use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_stream::ProtectionKind;
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::Size;

use crate::fault::{Fault, FaultKind};

/// The transport between the ends of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TransportKind {
    /// The plain connection, without encryption.
    Plain,
    /// WebRTC at both ends.
    WebRtc,
}

/// Time before the first fault, in which sessions connect.
const CALM_BEFORE: TimeDelta = TimeDelta::from_millis(2_500);
/// Time between the last fault and the end of the run, in which everything recovers: twice the
/// longest time that a rule allows.
const CALM_AFTER: TimeDelta = TimeDelta::from_millis(6_000);

/// Longest time between two connectivity checks of a player, in milliseconds: str0m's.
const CHECKS_APART: f64 = 3_000.0;

/// One person at the other end of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonPlan {
    /// Whether the person plays or watches.
    pub role: Role,
    /// Rate of the link towards the person; the link back has half of it.
    pub rate: Rate,
    /// Propagation delay in each direction.
    pub delay: TimeDelta,
    /// Longest queue of the link, as time at its rate.
    pub queue: TimeDelta,
    /// Queue discipline of the link.
    pub discipline: Discipline,
    /// Share of packets that are lost throughout the run, from 0 to 1.
    pub loss: f64,
    /// How the viewer reports arrivals.
    pub feedback: FeedbackKind,
    /// How far the person's clock is ahead of the host's at the beginning.
    pub clock_ahead: TimeDelta,
}

/// A queue discipline of a link.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Discipline {
    /// Drops the newest packet when the queue is full.
    DropTail,
    /// `CoDel` (RFC 8289).
    Codel,
    /// `DualPI2` (RFC 9332), which marks packets.
    DualPi2,
}

/// Everything that a run depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The seed from which the plan was drawn.
    pub seed: u64,
    /// The transport of all sessions.
    pub transport: TransportKind,
    /// How long the run lasts.
    pub duration: TimeDelta,
    /// Time between pictures of the source.
    pub interval: TimeDelta,
    /// Size of the pictures at the beginning.
    pub size: Size,
    /// Whether pixels and pictures may be left away.
    pub adapts_detail: bool,
    /// Whether the host has sound.
    pub has_sound: bool,
    /// Name of the controller.
    pub controller: &'static str,
    /// How frames are protected against loss.
    pub protection: ProtectionKind,
    /// Whether lost packets can be sent again and repair packets be used.
    pub has_repairs: bool,
    /// The most parts in which frames come from their encoder; 1 for whole frames.
    pub parts: u8,
    /// The persons, of whom the first plays.
    pub persons: Vec<PersonPlan>,
    /// The faults, in the order of their beginnings.
    pub faults: Vec<Fault>,
}

/// Sizes that a source may have, which are small because nobody looks at the pictures.
const SIZES: [(u32, u32); 3] = [(64, 48), (96, 64), (32, 32)];

fn size(random: &mut Random) -> Size {
    let (width, height) = SIZES[index(random, SIZES.len())];
    Size::new(width, height).unwrap_or(Size::SMALLEST)
}

/// A random index below `count`.
fn index(random: &mut Random, count: usize) -> usize {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of a small count"
    )]
    let index = (random.uniform() * count as f64) as usize;
    index.min(count.saturating_sub(1))
}

/// A random number between two others, whose logarithm is uniform.
fn between(random: &mut Random, least: f64, most: f64) -> f64 {
    let (low, high) = (libm::log(least), libm::log(most));
    libm::exp(low + random.uniform() * (high - low))
}

fn millis(value: f64) -> TimeDelta {
    TimeDelta::from_secs(value / 1_000.0)
}

impl Plan {
    /// Draws the plan of a seed.
    #[must_use]
    pub fn draw(seed: u64, transport: TransportKind) -> Self {
        let mut random = Random::new(seed, "plan");
        let duration = millis(between(&mut random, 15_000.0, 40_000.0));
        let fps = [30_u32, 60, 60, 90][index(&mut random, 4)];
        let controllers: Vec<_> = mimosa_cc::NAMES
            .iter()
            .copied()
            // The oracle would have to be told the link's rate, and the fixed controller never
            // adapts.
            .filter(|name| !matches!(*name, "oracle" | "fixed"))
            .collect();
        let controller = if random.chance(0.5) {
            "mimosa"
        } else {
            controllers[index(&mut random, controllers.len())]
        };
        let watchers = index(&mut random, 3);
        let persons: Vec<_> = std::iter::once(Role::Player)
            .chain(std::iter::repeat_n(Role::Viewer, watchers))
            .map(|role| person(&mut random, role))
            .collect();
        let mut plan = Self {
            seed,
            transport,
            duration,
            interval: TimeDelta::from_secs(1.0) / fps,
            size: size(&mut random),
            adapts_detail: false,
            has_sound: random.chance(0.5),
            controller,
            protection: ProtectionKind::ALL[index(&mut random, 3)],
            has_repairs: random.chance(0.8),
            parts: if Random::new(seed, "parts").chance(0.5) {
                8
            } else {
                1
            },
            persons,
            faults: Vec::new(),
        };
        let mut random = Random::new(seed, "faults");
        for _ in 0..3 + index(&mut random, 8) {
            let kind = FaultKind::ALL[index(&mut random, FaultKind::ALL.len())];
            let fault = plan.fault(&mut random, kind);
            plan.faults.push(fault);
        }
        plan.faults.sort_by_key(|fault| fault.at);
        plan
    }

    fn fault(&self, random: &mut Random, kind: FaultKind) -> Fault {
        let lasts = millis(match kind {
            FaultKind::Burst => between(random, 5.0, 300.0),
            // One outage in four is longer than either end waits.
            FaultKind::Outage if random.chance(0.25) => between(random, 11_000.0, 16_000.0),
            FaultKind::Outage | FaultKind::Stall => between(random, 200.0, 6_000.0),
            FaultKind::Loss
            | FaultKind::Reordering
            | FaultKind::Duplication
            | FaultKind::FeedbackPause
            | FaultKind::Lie
            | FaultKind::EncoderOverrun => between(random, 300.0, 5_000.0),
            FaultKind::ClockStep => between(random, 1.0, 8_000.0),
            // Until the next connectivity check tells the host where the player is.
            FaultKind::Rebinding if self.transport == TransportKind::WebRtc => CHECKS_APART,
            _ => 0.0,
        });
        let strength = match kind {
            FaultKind::EncoderOverrun => between(random, 1.2, 6.0),
            _ => between(random, 0.01, 0.5),
        };
        let person = index(random, self.persons.len());
        let rate = self.persons.get(person).map_or(Rate::ZERO, |person| {
            Rate::from_mbps(person.rate.as_mbps() * between(random, 0.3, 2.0))
        });
        let room = (self.duration - CALM_BEFORE - CALM_AFTER - lasts).max(TimeDelta::ZERO);
        Fault {
            kind,
            person,
            at: Time::ZERO + CALM_BEFORE + room.scale(random.uniform()),
            lasts: lasts.min(self.duration - CALM_BEFORE - CALM_AFTER),
            strength,
            rate,
            size: size(random),
        }
    }

    /// When the last fault is over, and sessions have had time to connect.
    #[must_use]
    pub fn calm_from(&self) -> Time {
        let ends = self.faults.iter().map(Fault::ends);
        ends.fold(Time::ZERO + CALM_BEFORE, Time::max)
    }
}

fn person(random: &mut Random, role: Role) -> PersonPlan {
    let kinds = [
        FeedbackKind::CongestionControl,
        FeedbackKind::CongestionControl,
        FeedbackKind::CongestionControl,
        FeedbackKind::OnRequest,
        FeedbackKind::OnRequest,
        FeedbackKind::Periodic,
        FeedbackKind::None,
    ];
    PersonPlan {
        role,
        rate: Rate::from_mbps(between(random, 1.5, 12.0)),
        delay: millis(between(random, 1.0, 60.0)),
        queue: millis(between(random, 20.0, 250.0)),
        discipline: [
            Discipline::DropTail,
            Discipline::DropTail,
            Discipline::Codel,
            Discipline::DualPi2,
        ][index(random, 4)],
        loss: if random.chance(0.5) {
            0.0
        } else {
            between(random, 0.000_1, 0.01)
        },
        feedback: kinds[index(random, kinds.len())],
        clock_ahead: millis(between(random, 1.0, 1_000_000.0)),
    }
}
