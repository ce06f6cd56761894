//! [`Scene`]: the game and how it is drawn.

use mimosa_facts::Action;
use mimosa_units::TimeDelta;
use mimosa_video::{Picture, Size};

use crate::canvas::Canvas;
use crate::colour::Colour;
use crate::effects::Lights;
use crate::font;
use crate::input::Controls;
use crate::landscape::{Geometry, Landscape};
use crate::marker::{self, Marker};
use crate::number::{index, signed};
use crate::palette::PALETTES;
use crate::random::Random;
use crate::sprite::Sprite;
use crate::world::{BLOSSOMS, World};

/// The number of pictures of the ship, from nose up to nose down.
const TILTS: usize = 13;

/// The built-in game.
pub struct Scene {
    size: Size,
    world: World,
    controls: Controls,
    landscapes: Vec<Landscape>,
    lights: Lights,
    ships: Vec<Sprite>,
    blossoms: Vec<Sprite>,
    actions: u32,
    pictures: u32,
}

impl std::fmt::Debug for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scene")
            .field("size", &self.size)
            .field("actions", &self.actions)
            .field("pictures", &self.pictures)
            .finish_non_exhaustive()
    }
}

impl Scene {
    /// A new game in pictures of `size`. Landscapes are painted here, so that drawing only
    /// copies them.
    #[must_use]
    pub fn new(size: Size, seed: u64) -> Self {
        let geometry = Geometry::new(size);
        let landscape =
            |(stream, palette)| Landscape::new(&geometry, palette, &mut Random::new(seed, stream));
        let tilt = |step: usize| (step as f32 / (TILTS - 1) as f32 - 0.5) * 0.12;
        let mut random = Random::new(seed, 3);
        let blossoms = BLOSSOMS.map(|radius| Sprite::blossom(&mut random, radius * geometry.unit));
        Self {
            size,
            world: World::new(geometry, seed),
            controls: Controls::default(),
            landscapes: (16..).zip(&PALETTES).map(landscape).collect(),
            lights: Lights::new(&geometry),
            ships: (0..TILTS)
                .map(|step| Sprite::ship(geometry.unit, tilt(step)))
                .collect(),
            blossoms: blossoms.into(),
            actions: 0,
            pictures: 0,
        }
    }

    /// Applies an action, which shows in the next picture drawn.
    ///
    /// Every action counts in the marker but two: [`Action::ReleaseAll`], and the state of
    /// a gamepad that says nothing new. That is a state equal to the one before, the first
    /// state of a gamepad that is absent, or one whose index is above 15.
    pub fn act(&mut self, action: Action) {
        if let Some(deed) = self.controls.take(action) {
            self.actions = self.actions.wrapping_add(1);
            self.world.act(deed);
        }
    }

    /// The number of actions so far; the marker shows the low 16 bits.
    #[must_use]
    pub fn actions(&self) -> u32 {
        self.actions
    }

    /// Moves the world on by `step` and draws it. A step below zero counts as none, and one
    /// above a second as a second. A picture whose size is not the scene's is replaced.
    pub fn draw(&mut self, step: TimeDelta, picture: &mut Picture) {
        if picture.size() != self.size {
            *picture = Picture::new(self.size);
        }
        // The step is a second in nanoseconds at most: exact to 64 of them.
        let step = step.max(TimeDelta::ZERO).min(TimeDelta::from_millis(1000));
        let seconds = step.as_nanos() as f32 / 1e9;
        self.world.step(seconds, &self.controls);
        self.pictures = self.pictures.wrapping_add(1);
        let mut canvas = Canvas::new(picture);
        let landscape = &self.landscapes[self.world.landscape];
        landscape.draw_back(&self.world.geometry, &self.world.view, &mut canvas);
        self.draw_game(&mut canvas);
        landscape.draw_front(&self.world.geometry, &self.world.view, &mut canvas);
        self.draw_score(&mut canvas);
        let [actions, pictures] =
            [self.actions, self.pictures].map(|count| u16::try_from(count & 0xffff).unwrap_or(0));
        marker::draw(&mut canvas, self.size, Marker { actions, pictures });
        self.world.fade(seconds);
    }

    fn draw_game(&self, canvas: &mut Canvas<'_>) {
        let World {
            ship,
            tilt,
            answer,
            geometry,
            ..
        } = self.world;
        for target in &self.world.targets {
            let [x, y] = target.at;
            let shine = (Colour::rgb(0xff_e890), 0.3);
            self.lights.draw(canvas, 5, target.at, shine);
            self.blossoms[target.size].draw(canvas, x, y);
        }
        self.world.effects.draw(canvas, &self.lights);
        for &[x, y] in &self.world.shots {
            for (back, size, strength) in [
                (34.0, 2, 0.4),
                (22.0, 2, 0.7),
                (10.0, 3, 0.9),
                (0.0, 3, 1.0),
            ] {
                let at = [x - back * geometry.unit, y];
                let colour = Colour::rgb(0xc8_fff0).mix(Colour::rgb(0x20_e8d0), back / 34.0);
                self.lights.draw(canvas, size, at, (colour, strength));
            }
        }
        let engine = [ship[0] - 52.0 * geometry.unit, ship[1]];
        self.lights
            .draw(canvas, 4, engine, (Colour::rgb(0xff_b060), 0.9));
        let glow = (Colour::rgb(0xff_ffff), 0.15 + 0.8 * answer);
        self.lights.draw(canvas, 5, ship, glow);
        let step = f32::midpoint(tilt, 1.0) * (TILTS - 1) as f32 + 0.5;
        self.ships[index(step).min(TILTS - 1)].draw(canvas, ship[0], ship[1]);
        if answer > 0.0 {
            let texel = Colour::rgb(0xff_ffff).texel(0.9 * answer);
            let radius = (58.0 + 26.0 * (1.0 - answer)) * geometry.unit;
            let width = (5.0 * geometry.unit).max(1.0);
            canvas.ring((ship[0], ship[1]), radius, width, texel);
        }
    }

    fn draw_score(&self, canvas: &mut Canvas<'_>) {
        let unit = self.world.geometry.unit;
        let block = |size: f32| index(size * unit).max(1);
        let margin = block(24.0);
        let right = canvas.width.saturating_sub(margin);
        let score = format!("{:05}", self.world.score.min(99_999));
        let speed = format!("SPEED {:.1}", self.world.speed);
        let (large, small) = (block(6.5), block(2.5));
        label(canvas, &score, right, margin, large);
        label(canvas, &speed, right, margin + 9 * large, small);
        if self.world.is_waiting() {
            let text = "MOVE TO FLY - CLICK OR SPACE TO SHOOT";
            let right = usize::midpoint(canvas.width, font::width(text, small));
            label(canvas, text, right, canvas.height / 8, small);
        }
    }
}

/// Writes a text that ends at `right`, with its shadow.
fn label(canvas: &mut Canvas<'_>, text: &str, right: usize, top: usize, block: usize) {
    let left = signed(right) - signed(font::width(text, block));
    let top = signed(top);
    let shade = signed(block.div_ceil(2));
    let ink = Colour::rgb(0xff_ffff).texel(1.0);
    let shadow = Colour::rgb(0x10_1020).texel(0.65);
    font::write(canvas, text, (left + shade, top + shade), block, shadow);
    font::write(canvas, text, (left, top), block, ink);
}
