//! The built-in demonstration: a small game that answers every action in the next picture,
//! and that is as hard on an encoder as a game.
//!
//! A ship flies over landscapes of several layers. Pointer, finger, `W` `A` `S` `D`, arrows
//! and a gamepad's left stick steer it; the left button, space, a finger and the gamepad's
//! first button shoot at drifting blossoms; the other buttons send out a ring; the wheel
//! sets the speed of flight. Every 8 to 16 seconds the landscape changes at once, as in a
//! cut. Until the first action, and after a while without one, the ship flies by itself.
//!
//! The corner of each picture holds a [`marker`] with the number of actions seen and of
//! pictures drawn, for measuring the delay from one to the other.
//!
//! The scene reads no clock and draws no random numbers from outside: the same size, seed,
//! actions and steps give the same pictures on every machine.

mod canvas;
mod colour;
mod effects;
mod font;
mod ground;
mod hills;
mod input;
mod landscape;
mod layer;
pub mod marker;
mod noise;
mod number;
mod palette;
mod random;
mod scene;
mod sheet;
mod sky;
mod sprite;
mod world;

pub use scene::Scene;
