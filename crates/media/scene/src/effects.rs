//! Sparks and rings: things that fly about, shine and fade.

use crate::canvas::Canvas;
use crate::colour::Colour;
use crate::landscape::Geometry;
use crate::number::{cosine, sine};
use crate::random::Random;
use crate::sprite::Glow;

/// The most sparks at a time; further ones are not begun.
const SPARKS: usize = 500;
/// The most rings at a time.
const RINGS: usize = 24;
/// The seconds in which a spark loses most of its speed.
const DRAG: f32 = 0.9;

/// The radii of the lights that are painted in advance, in units.
const RADII: [f32; 6] = [3.0, 5.0, 8.0, 14.0, 26.0, 70.0];

/// Lights of every size, painted once.
pub(crate) struct Lights([Glow; RADII.len()]);

impl Lights {
    /// The lights for pictures of these measures.
    pub(crate) fn new(geometry: &Geometry) -> Self {
        Self(RADII.map(|radius| Glow::new((radius * geometry.unit).max(1.0))))
    }

    /// Draws light number `size` with a strength of 0 to 1.
    pub(crate) fn draw(
        &self,
        canvas: &mut Canvas<'_>,
        size: usize,
        at: [f32; 2],
        (colour, strength): (Colour, f32),
    ) {
        self.0[size].draw(canvas, at[0], at[1], colour.texel(strength.clamp(0.0, 1.0)));
    }
}

/// A spark.
#[derive(Clone, Debug)]
struct Spark {
    at: [f32; 2],
    /// The speed in pixels per second.
    speed: [f32; 2],
    /// The seconds that the spark has left.
    left: f32,
    life: f32,
    size: usize,
    colour: Colour,
}

/// A ring that grows.
#[derive(Clone, Debug)]
struct Ring {
    at: [f32; 2],
    /// The ring's final radius in pixels.
    radius: f32,
    left: f32,
    life: f32,
    colour: Colour,
}

/// Everything that shines and fades.
#[derive(Clone, Debug)]
pub(crate) struct Effects {
    sparks: Vec<Spark>,
    rings: Vec<Ring>,
    random: Random,
    unit: f32,
}

impl Effects {
    /// Effects without any spark or ring.
    pub(crate) fn new(geometry: &Geometry, random: Random) -> Self {
        Self {
            sparks: Vec::with_capacity(SPARKS),
            rings: Vec::with_capacity(RINGS),
            random,
            unit: geometry.unit,
        }
    }

    /// Removes all sparks and rings.
    pub(crate) fn clear(&mut self) {
        self.sparks.clear();
        self.rings.clear();
    }

    /// Adds the sparks of a blossom that bursts.
    pub(crate) fn burst(&mut self, at: [f32; 2], drift: f32) {
        const COLOURS: [Colour; 4] = [
            Colour::rgb(0xff_f4b0),
            Colour::rgb(0xff_d030),
            Colour::rgb(0xff_9a20),
            Colour::rgb(0xff_ffff),
        ];
        for _ in 0..70 {
            let turn = self.random.uniform();
            let speed = self.random.between(40.0, 620.0) * self.unit;
            let life = self.random.between(0.35, 1.3);
            let spark = Spark {
                at,
                speed: [cosine(turn) * speed - drift, sine(turn) * speed],
                left: life,
                life,
                size: self.random.below(4),
                colour: COLOURS[self.random.below(4)],
            };
            self.spark(spark);
        }
        self.ring(at, 130.0, 0.5, Colour::rgb(0xff_f0c0));
    }

    /// Adds the sparks of the burning engine.
    pub(crate) fn exhaust(&mut self, at: [f32; 2], power: f32) {
        let life = self.random.between(0.2, 0.55);
        let spread = self.random.between(-38.0, 38.0);
        let speed = self.random.between(380.0, 640.0) * power;
        let spark = Spark {
            at,
            speed: [-speed * self.unit, spread * self.unit],
            left: life,
            life,
            size: self.random.below(4),
            colour: Colour::rgb(0xff_7a30).mix(Colour::rgb(0x60_c8ff), self.random.uniform()),
        };
        self.spark(spark);
    }

    /// Adds a ring of at most `radius` units for `life` seconds.
    pub(crate) fn ring(&mut self, at: [f32; 2], radius: f32, life: f32, colour: Colour) {
        if self.rings.len() >= RINGS {
            self.rings.remove(0);
        }
        self.rings.push(Ring {
            at,
            radius: radius * self.unit,
            left: life,
            life,
            colour,
        });
    }

    fn spark(&mut self, spark: Spark) {
        if self.sparks.len() < SPARKS {
            self.sparks.push(spark);
        }
    }

    /// Moves everything on by `seconds`. Rings stay with the landscape, which passes by
    /// `drift` pixels per second.
    pub(crate) fn step(&mut self, seconds: f32, drift: f32) {
        let kept = (1.0 - seconds / DRAG).max(0.0);
        for spark in &mut self.sparks {
            spark.left -= seconds;
            for (at, speed) in spark.at.iter_mut().zip(&mut spark.speed) {
                *at += *speed * seconds;
                *speed *= kept;
            }
            spark.speed[1] += 160.0 * self.unit * seconds;
        }
        for ring in &mut self.rings {
            ring.left -= seconds;
            ring.at[0] -= drift * seconds;
        }
        self.sparks.retain(|spark| spark.left > 0.0);
        self.rings.retain(|ring| ring.left > 0.0);
    }

    /// Draws all sparks and rings.
    pub(crate) fn draw(&self, canvas: &mut Canvas<'_>, lights: &Lights) {
        for ring in &self.rings {
            let part = ring.left / ring.life;
            let grown = 1.0 - part * part;
            let width = (9.0 * part + 2.0) * self.unit;
            let texel = ring.colour.texel(0.85 * part);
            let radius = ring.radius * (0.2 + 0.8 * grown);
            canvas.ring((ring.at[0], ring.at[1]), radius, width.max(1.0), texel);
        }
        for spark in &self.sparks {
            let part = spark.left / spark.life;
            lights.draw(canvas, spark.size, spark.at, (spark.colour, part * 1.4));
        }
    }
}
