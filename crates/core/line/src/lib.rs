//! What a line is like, found in a few seconds before the stream begins.
//!
//! [`LineTest`] is the sending end of the test. It has the interface of a controller
//! ([`mimosa_facts::Controller`]), so that a [`Sender`] drives it as it drives any other: it asks for
//! groups of probes, and reads the receiver's reports on them. The receiver does nothing but report
//! arrivals, which browsers and the native client do for every stream. While the test runs, it grants
//! frames no bytes. [`shared`] makes a test and a [`Handle`] that has the [`Line`] when the test is over.
//!
//! The test has three parts, each on the packets of the one before:
//!
//! 1. *Rest*: small packets, far apart. They give the round trip, the jitter and the loss of a line that
//!    does nothing else.
//! 2. *Trains* of 8, 16, ... 128 packets at once, each after the fate of the one before is known. They
//!    show how much the line takes at once, and roughly how fast it is.
//! 3. *Ramp*: a flow above the rate that the trains show, until the queue is full, its delay is beyond
//!    the worst grade, or it no longer grows. The ramp gives the rate, the buffer, the loss of a full
//!    line, and how the medium serves.
//!
//! # Sources
//!
//! - Rate from the arrivals of packets that left together: Dovrolis, Ramanathan and Moore, *What do
//!   packet dispersion techniques measure?* (INFOCOM 2001). They show that a train on a shared link
//!   does not measure the rate that a flow gets, which is why the ramp has the last word.
//! - [`Grade`]: the bufferbloat test of Waveform, which grades by the delay that load adds.
//! - Arrivals in bunches as the mark of a medium that serves aggregates: *The last mile as it serves
//!   packets*, sections 1 and 2 of the project's research.
//!
//! # Deviations
//!
//! - The delay of the queue is a difference of one-way delays and not of round trips, so that a busy
//!   way back does not count as a queue on the way there.
//! - The ramp ends as soon as the grade is the worst one. The buffer is then said to be at least as large.
//!
//! [`Sender`]: https://docs.rs/mimosa-stream

mod config;
mod judge;
mod line;
mod medium;
mod ramp;
mod samples;
mod test;
mod words;

pub use config::Config;
pub use line::{Buffer, Grade, Line, Medium, Outcome};
pub use test::{Handle, LineTest, shared};
