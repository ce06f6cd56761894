//! The two ends of a stream, without sockets or clocks.
//!
//! [`Sender`] joins a controller, a pacer and the memory of what was sent;
//! [`Receiver`] turns arrivals into [`ArrivalReport`](mimosa_facts::ArrivalReport)s. A server and a simulation
//! drive the same two machines:
//!
//! ```text
//! encoder -> frame_due -> frame_encoded -> poll_packet -> network
//!                                                            |
//! sender.feedback <- Report <- receiver.packet <-------------+
//! ```
//!
//! Sequence numbers are 16 bits wide on the wire and unwrapped here. [`ReportWriter`] and
//! [`ReportReader`] turn reports into RTCP and back, [`StreamReader`] reads those on several RTP
//! streams. [`EcnPolicy`] says which packets carry
//! ECT(1), [`Protection`] how frames are kept whole though packets are lost.

mod carry;
mod config;
mod ecn;
mod history;
pub mod pace;
mod protection;
mod receiver;
mod retransmission;
mod sender;
mod streams;
mod wire;

pub use carry::USUAL_CARRY;
pub use config::SenderConfig;
pub use ecn::{EcnConfig, EcnFailure, EcnPolicy, EcnState, EcnUse};
pub use mimosa_fec::{Code, xor::prepare as prepare_repairs};
pub use protection::{FLEXFEC_HEADER, Protection, ProtectionKind, REPAIR_HEADER, RepairConfig};
pub use receiver::{FeedbackMode, Receiver};
pub use retransmission::RetransmissionDeadline;
pub use sender::{Broken, Outgoing, Sender, packetise};
pub use streams::StreamReader;
pub use wire::{
    FeedbackFormat, REPORT_HEADERS, ReadError, ReportConfig, ReportReader, ReportWriter,
};
