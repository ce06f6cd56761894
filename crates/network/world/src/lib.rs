//! The whole system in a simulated world with a seed: a host's sessions, their players, the
//! transport between them, models of encoder and decoder, and links, all in virtual time.
//!
//! **Source.** The method is that of `TigerBeetle`'s simulator and of `FoundationDB` (Zhou et al.,
//! SIGMOD 2021, section 4): the code is the one that runs in production, one number repeats the
//! whole world, faults are drawn from that number, and rules are checked after every step.
//!
//! [`Plan::draw`] makes a plan from a seed: who plays and watches, over which links, and which
//! [`Fault`]s happen when. [`run`] carries it out and returns a [`Summary`], or the first
//! [`Violation`] of a rule. The sessions are those of [`mimosa_session`], which the host and the
//! client run.
//!
//! With [`TransportKind::Plain`], the same seed gives the same run to the byte. With
//! [`TransportKind::WebRtc`], keys and certificates are random. Datagrams without media load the
//! links with rounded sizes, so that this randomness does not change the course of a run.
//!
//! ```
//! use mimosa_world::{Plan, TransportKind, run};
//!
//! let summary = run(&Plan::draw(7, TransportKind::Plain))?;
//! assert!(summary.shown > 100);
//! # Ok::<(), mimosa_world::Violation>(())
//! ```

mod codecs;
mod decoder;
mod encoder;
mod fault;
mod host;
mod liar;
mod person;
mod plan;
mod rules;
mod summary;
mod watch;
mod way;
mod world;
#[cfg(feature = "x264")]
mod x264;

pub use codecs::{Codecs, OpenDecoder, OpenEncoder, PictureDecoder, digest};
pub use fault::{Fault, FaultKind};
pub use plan::{Discipline, PersonPlan, Plan, TransportKind};
pub use rules::{Rule, Violation};
pub use summary::Summary;
pub use world::{run, run_with};
