//! What happened and what was decided: the types that every other crate shares.
//!
//! Simulator, emulator, host and client produce these facts; figures, recordings and
//! reports consume them. Nothing here reads a clock or a socket.
//!
//! | module | facts about |
//! | --- | --- |
//! | `event`, `decision`, `cause` | a controller's events, its decisions, and their causes |
//! | `controller` | the trait that turns events into decisions |
//! | `frame`, `bucket`, `loss` | a frame's life at its sender |
//! | `passage` | a packet's passage through a network, and its one fate |
//! | `number` | the numbers of packets on the wire, a type for each space |
//! | `report` | arrivals, as a receiver reports them |
//! | `session` | a frame from capture to screen, and how a session goes |
//! | `action`, `media`, `sound` | what a player does, how frames are coded, how sound is counted |
//! | `run` | packets as they are counted, and the end of a run |
//! | `observer` | who watches |
//!
//! # Controllers
//!
//! Events go in, and one standing [`Decision`] comes out. The same sequence of `(now, event)` gives
//! the same decisions. The vocabulary is wide enough for rate-based, window-based and per-frame
//! algorithms, so that a caller never has to know which kind it drives:
//!
//! 1. [`Event::FrameDue`]: before each frame is encoded. The decision after it says how large this
//!    frame may be.
//! 2. [`Event::FrameEncoded`]: the frame is handed to the pacer. The decision after it says how to
//!    pace the frame and which probes follow it. Where an encoder hands out parts of a frame while it
//!    works on the rest, [`Event::FrameBegun`] comes with the first part, the decision after it says
//!    how to pace all of them, and [`Event::FrameEncoded`] comes with the last.
//! 3. [`Event::PacketSent`]: once for each packet as it leaves; or [`Event::FrameGivenUp`] when a
//!    frame has waited too long to leave whole.
//! 4. [`Event::Feedback`]: everything that became known about packets at once, be it about one
//!    packet, a frame's packets, or those of 50 ms. Where feedback is infrequent
//!    or a report can be lost, [`Event::FrameDecoded`] may come before it, and [`Event::Unknown`]
//!    says of which packets nothing will become known.
//! 5. [`Event::Timer`]: the controller's own deadline has come.
//!
//! A stream that pauses simply stops giving the first two events. A controller has to cope with a
//! gap of any length between them.

mod action;
mod bucket;
mod cause;
mod controller;
mod decision;
mod event;
mod frame;
mod loss;
mod media;
mod number;
mod observer;
mod page;
mod passage;
mod relief;
mod report;
mod run;
mod session;
pub mod sound;

pub use action::{Action, Button, Gamepad, TouchPhase};
pub use bucket::{BucketCause, BucketChange};
pub use cause::Cause;
pub use controller::{Controller, Limits};
pub use decision::{Decision, Evidence, Pacing, Probe, ProbeStart};
pub use event::{Event, FrameId, PacketKind, PacketOutcome, PacketReport, SentPacket, Sequence};
pub use frame::{FrameEnd, FrameGrant, FrameLife, FrameProtection};
pub use loss::Loss;
pub use media::{Codec, Complexity, EntropyCoding};
pub use number::{FecSequence, MediaSequence, RtxSequence, StreamSequence, TransportSequence};
pub use observer::Observer;
pub use page::PageLoad;
pub use passage::{Fate, Header, LinkPacket, Passage, RtpPacket, StreamPacket};
pub use relief::{Relief, Strain};
pub use report::{Absences, Arrival, ArrivalReport};
pub use run::{Balance, FlowPacket, RunEnd};
pub use session::{FramePlan, FrameRtp, InputTimes, SentAgain, SessionEvent, SessionFrame, Stages};
