//! The two ends of a stream, without sockets or clocks.
//!
//! [`Sender`] joins a controller, a pacer and the memory of what was sent;
//! [`Receiver`] turns arrivals into [`Report`]s. A server and a simulation
//! drive the same two machines:
//!
//! ```text
//! encoder -> frame_due -> frame_encoded -> poll_packet -> network
//!                                                            |
//! sender.feedback <- Report <- receiver.packet <-------------+
//! ```
//!
//! Sequence numbers are 16 bits wide on the wire and unwrapped here. [`ReportWriter`] and
//! [`ReportReader`] turn reports into RTCP and back. [`EcnPolicy`] says which packets carry
//! ECT(1), [`Protection`] how frames are kept whole though packets are lost.

mod config;
mod ecn;
mod frame;
mod history;
mod protection;
mod receiver;
mod retransmission;
mod sender;
mod wire;

pub use config::SenderConfig;
pub use ecn::{EcnConfig, EcnFailure, EcnPolicy, EcnState, EcnUse};
pub use frame::{FrameEnd, FrameGrant, FrameLife, FrameProtection};
pub use mimosa_fec::xor::prepare as prepare_repairs;
pub use mimosa_fec::{Code, Loss};
pub use mimosa_pace::{BucketCause, BucketChange};
pub use protection::{FLEXFEC_HEADER, Protection, REPAIR_HEADER, RepairConfig};
pub use receiver::{Arrival, FeedbackMode, Receiver, Report};
pub use retransmission::RetransmissionDeadline;
pub use sender::{Broken, Outgoing, Sender, packetise};
pub use wire::{
    FeedbackFormat, REPORT_HEADERS, ReadError, ReportConfig, ReportReader, ReportWriter,
};
