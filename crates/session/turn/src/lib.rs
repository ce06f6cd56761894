//! A client of TURN: an address at a relay, for a host behind a router that lets nobody in.
//!
//! [`Client`] is a state machine of RFC 8656, for one allocation over UDP. It does no I/O: datagrams of the relay and
//! times go in, datagrams for the relay and [`Event`]s come out. What peers send to the relayed address comes out of
//! [`Client::receive`]; [`Client::wrap`] puts what goes to a peer into the form in which the relay passes it on.
//!
//! ```text
//! Client::begin -> Allocate -> 401 with realm and nonce -> Allocate, signed -> Event::Allocated
//! Client::permit -> CreatePermission; Client::wrap -> Send indication and ChannelBind, then ChannelData
//! ```
//!
//! | section | what |
//! |---|---|
//! | RFC 8489, 5, 6.3, 14 | messages, attributes ([`stun`]) |
//! | RFC 8489, 6.2.1 | retransmission ([`transaction`]) |
//! | RFC 8489, 9.2 | long-term credentials, stale nonces ([`auth`]) |
//! | RFC 8656, 7, 8 | Allocate, Refresh ([`client`]) |
//! | RFC 8656, 9, 10 | permissions |
//! | RFC 8656, 11 | Send and Data indications |
//! | RFC 8656, 12 | channels ([`channels`]) |
//!
//! [`Credentials`] are made from a secret that the host shares with the relay (draft-uberti-behave-turn-rest-00), as
//! coturn takes them with `use-auth-secret`.
//!
//! What the relay says is untrusted. An answer counts if it is to a request that waits, whose 96 bits nobody guesses
//! who does not see it, and if it is signed. Only the answers that say which realm and nonce to sign with (401, 438)
//! cannot be, and one without a signature does nothing but start another attempt, of which there are few. Channel data
//! and indications are not signed in TURN: whoever can send from the relay's address can make them, and they are
//! for the session's own ciphers to judge, as is every datagram.
//!
//! # Deviations
//!
//! - An allocation is refreshed every 15 s instead of a minute before its end. The same datagrams keep the router's
//!   mapping to the relay (RFC 8445, section 11, has that interval), and a relay that has forgotten the allocation, since
//!   it was started again, says so at the next one.
//! - What RFC 8489 adds to RFC 5389 is left out: `USERHASH`, and passwords with SHA-256. A relay that demands them
//!   refuses the allocation, and the event says so. `FINGERPRINT` is neither sent nor read.
//! - The error 300 (Try Alternate) is a refusal.
//! - A relayed address has the family that the relay gives without being asked, which is IPv4.

pub mod auth;
pub mod channels;
pub mod client;
mod event;
mod hash;
pub mod stun;
pub mod transaction;

pub use auth::Credentials;
pub use client::{Client, MOST_PERMISSIONS};
pub use event::{Carried, Event, Trouble};
