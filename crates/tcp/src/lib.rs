//! TCP as a simulation needs it: bulk data one way, without I/O.
//!
//! A [`Sender`] and a [`Receiver`] are state machines. Whoever drives them
//! carries [`Segment`]s one way and [`Ack`]s the other:
//!
//! 1. tell the sender what happened: [`Sender::acknowledge`] or, when its
//!    [`deadline`](Sender::deadline) has come, [`Sender::timer`];
//! 2. take segments from [`Sender::poll`] until it gives none;
//! 3. ask for the next deadline, and wait for it or for an acknowledgement.
//!
//! Time is an argument, and the same calls give the same answers. A segment's
//! length is its payload; what headers a link carries is the driver's to say.
//!
//! Who keeps packets of another kind can drive a [`Congestion`] too: [`Delivery`] and
//! [`Rtt`] make what it wants to know.
//!
//! ```
//! use mimosa_tcp::{Algorithm, Application, Config, Feedback, Receiver, Sender};
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
mod bbr1;
mod bbr2;
mod bbr3;
mod config;
mod congestion;
mod cubic;
mod dctcp;
mod delivery;
mod filter;
mod pacer;
mod prague;
mod prr;
mod rack;
mod receiver;
mod reno;
mod rtt;
mod scoreboard;
mod sender;
mod wire;

pub use application::Application;
pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use config::{Config, Statistics};
pub use congestion::{AckSample, Algorithm, Congestion, EcnUse, LostSegment, Stage};
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use delivery::{Delivery, DeliverySample, Snapshot, Transmission};
pub use prague::Prague;
pub use receiver::{DELAYED_ACK, Feedback, Receiver};
pub use reno::Reno;
pub use rtt::Rtt;
pub use sender::Sender;
pub use wire::{Ack, Block, MAX_BLOCKS, Segment};
