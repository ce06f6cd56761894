//! An emulated link between two network namespaces, in real time.
//!
//! A TUN device in each namespace is one end. A thread for each direction reads what
//! a host sends, gives it to a [`mimosa_emulation::Direction`], waits until a packet
//! is due, and writes it to the other end. What happens to a packet is decided there,
//! without a clock; here is only the waiting.
//!
//! | module | |
//! | --- | --- |
//! | `tun` | devices; the one file with `unsafe` |
//! | `namespace` | doing something in another network namespace |
//! | `clock` | the clock, and how to wait for it |
//! | `engine` | the threads |

mod clock;
mod engine;
mod error;
mod namespace;
#[expect(unsafe_code, reason = "creates a device by ioctl")]
mod tun;

pub use clock::Clock;
pub use engine::{Engine, Lateness, Tally, Waiting};
pub use error::LinkError;
pub use namespace::within;
pub use tun::Tun;
