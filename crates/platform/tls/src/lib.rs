//! TLS of host and client: the certificate that a host makes for itself, those that its owner gives
//! it, the key by which a client knows a host, and the configurations of rustls that follow.
//!
//! Nothing here opens a socket or a file, or reads a clock: dates are arguments, except that rustls
//! reads the system's date when it checks a certificate against roots.

mod certificate;
mod challenge;
mod client;
mod key_hash;
mod own;
mod pair;
mod server;

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, aws_lc_rs};

pub use certificate::{About, Name, Unreadable, day};
pub use challenge::{Challenge, challenge};
pub use client::{Trust, Untrusted, client_config, untrusted};
pub use key_hash::KeyHash;
pub use own::{OwnKey, OwnKeyError, RENEWAL, VALIDITY, is_due};
pub use pair::{Pair, PairError};
/// The error of the library.
pub use rustls::Error as LibraryError;
pub use server::{HTTP_1, HTTP_2, Slot, server_config};

/// The ciphers of both ends: those of aws-lc, which encrypts the media as well.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(aws_lc_rs::default_provider())
}
