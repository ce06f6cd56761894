//! TCP for simulations: bulk data one way, without I/O.
//!
//! A [`Sender`] and a [`Receiver`] are state machines. The driver carries [`Segment`]s one way and
//! [`Ack`]s the other:
//!
//! 1. tell the sender what happened: [`Sender::acknowledge`] or, when its
//!    [`deadline`](Sender::deadline) has come, [`Sender::timer`];
//! 2. take segments from [`Sender::poll`] until it returns `None`;
//! 3. ask for the next deadline, and wait for it or for an acknowledgement.
//!
//! Time is an argument, and the same calls give the same answers. A segment's length is its
//! payload; the driver decides what headers a link carries.
//!
//! The congestion control algorithms are those of [`mimosa_cc::window`], which other drivers can
//! use too.
//!
//! ```
//! use mimosa_cc::window::Algorithm;
//! use mimosa_tcp::{Application, Config, Feedback, Receiver, Sender};
//! use mimosa_units::{Bytes, Time};
//!
//! let mut sender = Sender::new(Config {
//!     application: Application::Finite(Bytes::new(3_000)),
//!     algorithm: Algorithm::Cubic,
//!     ..Config::default()
//! });
//! let mut receiver = Receiver::new(Feedback::Classic, Bytes::new(1_000_000));
//! let now = Time::from_millis(1);
//! while let Some(segment) = sender.poll(now) {
//!     if let Some(ack) = receiver.receive(now, &segment) {
//!         sender.acknowledge(now, &ack);
//!     }
//! }
//! let now = receiver.deadline().unwrap_or(now);
//! if let Some(ack) = receiver.timer(now) {
//!     sender.acknowledge(now, &ack);
//! }
//! assert!(sender.is_finished());
//! ```

mod application;
mod config;
mod pacer;
mod prr;
mod rack;
mod receiver;
mod scoreboard;
mod sender;
mod wire;

pub use application::{Application, Steps};
pub use config::{Config, Statistics};
pub use receiver::{DELAYED_ACK, Feedback, Receiver};
pub use sender::Sender;
pub use wire::{Ack, Block, MAX_BLOCKS, Segment};
