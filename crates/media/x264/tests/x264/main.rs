//! Tests of the encoder through its public interface.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod conformance;
mod decoding;
mod encoding;
mod parts;
