//! The game: a ship, blossoms that drift towards it, and shots.

use crate::colour::Colour;
use crate::effects::Effects;
use crate::input::{ActionEffect, Controls};
use crate::landscape::{Geometry, SPEEDS, View};
use crate::number::{fraction, sine};
use crate::palette::PALETTES;
use crate::random::Random;

/// The pixels per second by which the nearest ground passes at speed 1, in units.
const PACE: f32 = 420.0;
/// The slowest and the fastest speed of flight.
const SPEED_RANGE: (f32, f32) = (0.4, 3.0);
/// The share of its speed by which a notch of the wheel changes the flight.
const SPEED_NOTCH: f32 = 0.15;
/// The units per second by which the keys and the stick move the ship.
const SHIP_SPEED: f32 = 760.0;
/// The units per second that a shot flies.
const SHOT_SPEED: f32 = 1500.0;
/// The seconds from one shot to the next while the trigger is held.
const RELOAD: f32 = 0.14;
/// The most shots at a time.
const SHOTS: usize = 40;
/// The radii of blossoms, in units.
pub(crate) const BLOSSOMS: [f32; 4] = [20.0, 28.0, 38.0, 50.0];
/// The number of blossoms at a time.
const TARGETS: usize = 9;
/// The longest time moved at once; a longer step consists of several.
const TICK: f32 = 1.0 / 50.0;
/// The seconds for which the ship's answer to an action stays visible.
const ANSWER: f32 = 0.18;
/// The seconds without an action after which the ship flies by itself.
const PATIENCE: f32 = 8.0;

/// A blossom.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) at: [f32; 2],
    /// The blossom's index in [`BLOSSOMS`].
    pub(crate) size: usize,
    /// The blossom's speed relative to the landscape.
    haste: f32,
    /// The blossom's place in its swing, in turns.
    phase: f32,
    middle: f32,
}

/// The state of the game.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) geometry: Geometry,
    pub(crate) view: View,
    /// The number of the landscape that is shown.
    pub(crate) landscape: usize,
    pub(crate) ship: [f32; 2],
    /// The tilt of the nose: -1 for up, 1 for down.
    pub(crate) tilt: f32,
    /// The freshness of the last action: 1 in the first picture after it.
    pub(crate) answer: f32,
    pub(crate) speed: f32,
    pub(crate) score: u32,
    pub(crate) targets: Vec<Target>,
    pub(crate) shots: Vec<[f32; 2]>,
    pub(crate) effects: Effects,
    /// The seconds since the last action.
    idle: f32,
    reload: f32,
    cut_in: f32,
    random: Random,
}

impl World {
    /// A new game.
    pub(crate) fn new(geometry: Geometry, seed: u64) -> Self {
        let mut random = Random::new(seed, 1);
        let mut world = Self {
            geometry,
            view: View::default(),
            landscape: random.below(PALETTES.len()),
            ship: [geometry.width * 0.24, geometry.height * 0.5],
            tilt: 0.0,
            answer: 0.0,
            speed: 1.0,
            score: 0,
            targets: Vec::new(),
            shots: Vec::new(),
            effects: Effects::new(&geometry, Random::new(seed, 2)),
            idle: PATIENCE,
            reload: 0.0,
            cut_in: random.between(8.0, 16.0),
            random,
        };
        world.scatter();
        world
    }

    /// Whether the ship flies by itself.
    pub(crate) fn is_waiting(&self) -> bool {
        self.idle >= PATIENCE
    }

    /// Carries out an action.
    pub(crate) fn act(&mut self, deed: ActionEffect) {
        (self.answer, self.idle) = (1.0, 0.0);
        if let Some([x, y]) = deed.place {
            self.move_ship([x * self.geometry.width, y * self.geometry.height]);
        }
        let [x, y] = self.ship;
        self.move_ship([x + deed.shift[0], y + deed.shift[1]]);
        let speed = self.speed * (1.0 + SPEED_NOTCH * deed.faster.clamp(-3.0, 3.0));
        self.speed = speed.clamp(SPEED_RANGE.0, SPEED_RANGE.1);
        if deed.fires {
            self.fire();
        }
        if deed.rings {
            self.nova();
        }
    }

    fn move_ship(&mut self, [x, y]: [f32; 2]) {
        let Geometry { width, height, .. } = self.geometry;
        let margin = 0.03;
        let before = self.ship[1];
        self.ship = [
            x.clamp(width * margin, width * (1.0 - margin)),
            y.clamp(height * margin, height * (1.0 - margin)),
        ];
        let fallen = (self.ship[1] - before) / (14.0 * self.geometry.unit);
        self.tilt = (self.tilt + fallen * 0.3).clamp(-1.0, 1.0);
    }

    fn fire(&mut self) {
        self.reload = RELOAD;
        if self.shots.len() < SHOTS {
            let nose = self.ship[0] + 58.0 * self.geometry.unit;
            self.shots.push([nose, self.ship[1]]);
        }
    }

    /// Sends out a ring around the ship, which bursts the blossoms near it.
    fn nova(&mut self) {
        let reach = 230.0;
        self.effects
            .ring(self.ship, reach, 0.6, Colour::rgb(0x70_e0ff));
        self.effects
            .ring(self.ship, reach * 0.7, 0.5, Colour::rgb(0xff_ffff));
        let (ship, reach) = (self.ship, reach * self.geometry.unit);
        self.burst(10, |target, radius| {
            is_near(target.at, ship, reach + radius)
        });
    }

    /// Bursts the blossoms that are `hit` and counts them. Another blossom comes for each.
    fn burst(&mut self, points: u32, hit: impl Fn(&Target, f32) -> bool) {
        let drift = self.pace() * 0.3;
        for at in 0..self.targets.len() {
            let size = self.targets[at].size;
            if hit(&self.targets[at], BLOSSOMS[size] * self.geometry.unit) {
                let worth = u32::try_from(BLOSSOMS.len() - size).unwrap_or(1) * points;
                self.score = self.score.saturating_add(worth);
                self.effects.burst(self.targets[at].at, drift);
                let next = self.target(1.05);
                self.targets[at] = next;
            }
        }
    }

    /// Makes a new blossom, `right` of the picture's left edge in parts of the picture's
    /// width, or up to one picture farther.
    fn target(&mut self, right: f32) -> Target {
        let Geometry { width, height, .. } = self.geometry;
        let middle = height * self.random.between(0.16, 0.8);
        Target {
            at: [width * (right + self.random.uniform()), middle],
            size: self.random.below(BLOSSOMS.len()),
            haste: self.random.between(0.35, 0.85),
            phase: self.random.uniform(),
            middle,
        }
    }

    /// Replaces all blossoms by new ones within the picture.
    fn scatter(&mut self) {
        let targets = (0..TARGETS).map(|_| self.target(0.35)).collect();
        self.targets = targets;
    }

    /// The pixels per second by which the nearest ground passes.
    fn pace(&self) -> f32 {
        PACE * self.geometry.unit * self.speed
    }

    /// Moves the world on by `seconds`, 0 to 1.
    pub(crate) fn step(&mut self, seconds: f32, controls: &Controls) {
        let mut left = seconds;
        while left > 0.0 {
            let tick = left.min(TICK);
            self.tick(tick, controls);
            left -= tick;
        }
        let level = self.ship[1] / self.geometry.height * 2.0 - 1.0;
        self.view.rise = -level.clamp(-1.0, 1.0);
    }

    /// Fades the answer to the last action by `seconds` after it was drawn.
    pub(crate) fn fade(&mut self, seconds: f32) {
        self.answer = (self.answer - seconds / ANSWER).max(0.0);
    }

    fn tick(&mut self, seconds: f32, controls: &Controls) {
        self.idle += seconds;
        self.view.seconds = (self.view.seconds + seconds) % 3600.0;
        let part = self.pace() * seconds / self.geometry.period as f32;
        for (passed, speed) in self.view.passed.iter_mut().zip(SPEEDS) {
            *passed = fraction(*passed + part * speed);
        }
        self.cut_in -= seconds;
        if self.cut_in <= 0.0 {
            self.cut();
        }
        self.steer(seconds, controls);
        self.fly(seconds);
        self.effects.step(seconds, self.pace() * 0.3);
    }

    /// Goes to another landscape with other blossoms.
    fn cut(&mut self) {
        let others = PALETTES.len() - 1;
        self.landscape = (self.landscape + 1 + self.random.below(others)) % PALETTES.len();
        self.cut_in = self.random.between(8.0, 16.0);
        self.view.passed = [0.0; SPEEDS.len()];
        self.effects.clear();
        self.shots.clear();
        self.scatter();
    }

    fn steer(&mut self, seconds: f32, controls: &Controls) {
        let (way, fires) = if self.is_waiting() {
            self.pilot()
        } else {
            (controls.steering(), controls.is_firing())
        };
        let reach = SHIP_SPEED * self.geometry.unit * seconds;
        let [x, y] = self.ship;
        self.tilt *= (1.0 - 5.0 * seconds).max(0.0);
        self.move_ship([x + way[0] * reach, y + way[1] * reach]);
        self.reload -= seconds;
        if fires && self.reload <= 0.0 {
            self.fire();
        }
        let tail = [self.ship[0] - 50.0 * self.geometry.unit, self.ship[1]];
        self.effects.exhaust(tail, 0.6 + 0.4 * self.speed);
        self.effects.exhaust(tail, 0.6 + 0.4 * self.speed);
    }

    /// The ship's own steering: it flies to the next blossom.
    fn pilot(&self) -> ([f32; 2], bool) {
        let Geometry { width, unit, .. } = self.geometry;
        let ahead = self
            .targets
            .iter()
            .filter(|target| target.at[0] > self.ship[0] + 120.0 * unit && target.at[0] < width)
            .min_by(|a, b| a.at[0].total_cmp(&b.at[0]));
        let station = width * (0.25 + 0.06 * sine(self.view.seconds * 0.13));
        let pull = |distance: f32| (distance / (90.0 * unit)).clamp(-0.6, 0.6);
        let right = pull(station - self.ship[0]);
        let Some(target) = ahead else {
            return ([right, 0.0], false);
        };
        let down = target.at[1] - self.ship[1];
        let aligned = down.abs() < BLOSSOMS[target.size] * unit * 0.7;
        ([right, pull(down)], aligned)
    }

    fn fly(&mut self, seconds: f32) {
        let Geometry { width, unit, .. } = self.geometry;
        let pace = self.pace() * 0.55;
        for target in &mut self.targets {
            target.at[0] -= (pace * target.haste + 40.0 * unit) * seconds;
            target.phase = fraction(target.phase + 0.3 * seconds);
            target.at[1] = target.middle + 34.0 * unit * sine(target.phase);
        }
        for at in 0..self.targets.len() {
            if self.targets[at].at[0] < -60.0 * unit {
                let next = self.target(1.05);
                self.targets[at] = next;
            }
        }
        for shot in &mut self.shots {
            shot[0] += SHOT_SPEED * unit * seconds;
        }
        let shots = std::mem::take(&mut self.shots);
        self.burst(10, |target, radius| {
            shots
                .iter()
                .any(|&shot| is_near(target.at, shot, radius + 10.0 * unit))
        });
        let ship = self.ship;
        self.burst(5, |target, radius| {
            is_near(target.at, ship, radius + 24.0 * unit)
        });
        self.shots = shots;
        self.shots.retain(|shot| shot[0] < width + 60.0 * unit);
    }
}

fn is_near(a: [f32; 2], b: [f32; 2], reach: f32) -> bool {
    let (right, down) = (a[0] - b[0], a[1] - b[1]);
    right * right + down * down < reach * reach
}
