//! Transport-wide congestion control: sequence numbers common to all packets of a connection, and
//! reports of when each of them arrived.
//!
//! The header extension is [`TransportExtension`]. The RTCP packet is
//! [`TransportFeedback`] (draft-holmer-rmcat-transport-wide-cc-extensions-01,
//! section 3.1); [`Unwrapper`] puts its times on one clock.

mod chunks;
mod error;
mod extension;
mod feedback;
mod unwrapper;

pub use error::FeedbackError;
pub use extension::{ExtensionError, TransportExtension};
pub use feedback::TransportFeedback;
pub use unwrapper::Unwrapper;
