//! Both ends of one person's session, without sockets, clocks or threads.
//!
//! [`host::Session`] is the host's end of a session with one player or viewer; [`viewer::Session`]
//! is the player's or viewer's end. Times, pictures and datagrams go in; jobs for the encoder,
//! frames to decode, datagrams and actions come out. A driver owns the sockets, the clock and the
//! threads.
//!
//! ```text
//! picture -> host::Session -> Job -> encoder -> Encoded -> host::Session -> datagrams
//!                                                                              |
//! Action <- host::Session <- datagrams <- viewer::Session <-- network <--------+
//!                                              |
//!                                              +-> frames to decode, sound to play
//! ```
//!
//! A session talks through a [`HostTransport`](mimosa_transport::HostTransport) or a
//! [`ViewerTransport`](mimosa_transport::ViewerTransport), which WebRTC and a plain connection
//! implement.

pub mod host;
pub mod viewer;
