//! The two ends of a connection: WebRTC by str0m, with every packet under our pacer.
//!
//! [`Peer`] is the host's end, towards one browser or one [`Caller`], the end of a client of
//! our own. Both are sans-IO: datagrams and times go in, datagrams and events come out.
//! str0m does ICE, DTLS, SRTP, SCTP and SDP. Its bandwidth estimator, its pacer and
//! its retransmissions are off: a packet leaves when [`Peer::send`] is called.
//!
//! ```text
//! Sender::poll_packet -> Peer::send -> poll_datagram -> socket
//! frame of sound -> Peer::send_sound -> poll_datagram -> socket
//! socket -> Peer::receive -> PeerEvent::Feedback -> Sender::feedback
//!
//! socket -> Caller::receive -> CallerEvent::Packet; Caller::report -> poll_datagram -> socket
//! ```

mod caller;
mod codecs;
mod config;
mod error;
mod extension;
mod feedback;
mod peer;
mod sdp;
mod sound;
mod sound_section;
mod store;
mod tap;

pub use caller::{Caller, CallerEvent, Carries, Incoming};
pub use error::{CallError, OfferError};
pub use peer::{Channel, Datagram, LARGEST_PAYLOAD, OVERHEAD, Peer, PeerEvent};
pub use sound::SOUND_OVERHEAD;
