//! The interface between congestion controllers and whoever drives them.
//!
//! Events go in, one standing [`Decision`] comes out. Nothing here reads a
//! clock or a socket; the same sequence of `(now, event)` gives the same
//! decisions. The vocabulary is wide enough for rate-based, window-based and
//! per-frame algorithms, so that a caller never asks which one it is driving:
//!
//! 1. [`Event::FrameDue`]: before each frame is encoded. The decision that
//!    stands then says how large this frame may be.
//! 2. [`Event::FrameEncoded`]: the frame is handed to the pacer. The decision
//!    says how to pace it and which probes follow it.
//! 3. [`Event::PacketSent`]: once for each packet as it leaves; or
//!    [`Event::FrameGivenUp`] when a frame has waited too long to leave whole.
//! 4. [`Event::Feedback`]: whatever became known about packets at once: one
//!    packet, a frame's, or those of 50 ms.
//!    Where feedback comes seldom, [`Event::FrameDecoded`] may come before it.
//! 5. [`Event::Timer`]: the controller's own deadline has come.
//!
//! A stream that pauses simply stops giving the first two; a controller must
//! take a gap of any length between them.

mod cause;
mod controller;
mod decision;
mod event;

pub use cause::Cause;
pub use controller::{Controller, Limits};
pub use decision::{Decision, Evidence, Pacing, Probe, ProbeStart};
pub use event::{Event, FrameId, Outcome, PacketKind, PacketReport, SentPacket, Sequence};
