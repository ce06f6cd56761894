//! Senders and receivers over a bottleneck in virtual time.

mod bottleneck;
mod ecn;
mod link;
mod repair;
