//! Hosts announced in their own network, and found there.
//!
//! A host announces the service `_mimosa._tcp` by multicast DNS (RFC 6762) with DNS-based service
//! discovery (RFC 6763): its name, its port, whether it speaks HTTPS, its version, and whether it pairs
//! devices. No token, key or PIN is part of an announcement.
//!
//! Anybody in a network can announce anything there. What is found is bounded in number and length, has
//! no control characters, and proves nothing: a client trusts a host by its key or token alone.

mod announce;
mod find;

pub use announce::{Announcement, Standing, announce};
pub use find::{Found, MOST_FOUND, find};

/// The service's type and domain.
const SERVICE: &str = "_mimosa._tcp.local.";
/// Keys of the TXT record.
const VERSION: &str = "v";
const ENCRYPTED: &str = "tls";
const PAIRS: &str = "pair";

/// Why nothing is announced or found: the system lets no socket have the port of multicast DNS, or the
/// announcement is none.
#[derive(Debug, thiserror::Error)]
#[error("multicast DNS is not to be had: {0}")]
pub struct DiscoveryError(#[from] mdns_sd::Error);
