//! The two ends of a connection: WebRTC by str0m, with every packet under Mimosa's pacer.
//!
//! [`Peer`] is the host's end, towards one browser or one [`Caller`], which is the native client's
//! end. Neither does I/O: datagrams and times go in, datagrams and events come out. str0m does ICE,
//! DTLS, SRTP, SCTP and SDP. Its bandwidth estimator, its pacer and its retransmissions are off: a
//! packet leaves when [`HostTransport::send`] is called.
//!
//! ```text
//! Sender::poll_packet -> Peer::send -> poll_datagram -> socket
//! frame of sound -> Peer::send_sound -> poll_datagram -> socket
//! socket -> Peer::receive -> PeerEvent::Feedback -> Sender::feedback
//!
//! socket -> Caller::receive -> CallerEvent::Packet; Caller::report -> poll_datagram -> socket
//! ```

mod advertised;
mod caller;
mod codecs;
mod config;
mod ends;
mod error;
mod extension;
mod feedback;
mod numbers;
mod paths;
mod peer;
pub mod plain;
mod reports;
mod rtc;
mod sdp;
mod sound;
mod sound_section;
mod start;
mod store;
mod tap;
mod time;
mod video;

pub use advertised::advertise;
pub use caller::{Call, Caller};
pub use ends::{
    Addresses, Agreed, CallerEvent, Carries, Channel, Datagram, HostTransport, Incoming, Left,
    PeerEvent, ViewerTransport,
};
pub use error::{CallError, OfferError};
pub use numbers::StreamNumbers;
pub use paths::{candidate_addresses, check_candidate, is_reachable, is_stun};
pub use peer::{LARGEST_PAYLOAD, OVERHEAD, Peer};
pub use sound::SOUND_OVERHEAD;
pub use start::Start;
