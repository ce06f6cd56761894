//! An emulated link between two network namespaces, in real time.
//!
//! A TUN device in each namespace is one end. A thread for each direction reads what a host sends,
//! passes it to a [`mimosa_net::Direction`], waits until a packet is due, and writes it to the
//! other end. The direction decides what happens to a packet, without a clock; the threads only
//! wait.
//!
//! | module | |
//! | --- | --- |
//! | `sides` | the two hosts |
//! | `namespace` | network namespaces |
//! | `program` | running something at a side |
//! | `user` | whom it runs as |
//! | `translation` | the way beyond this machine |
//! | `device` | addresses and routes |
//! | `tun` | what a device sends and receives |
//! | `clock` | the clock, and how to wait for it |
//! | `engine` | the threads' beginning and end |
//! | `way` | what a thread does |
//! | `tally` | what it has done |

#[expect(unsafe_code, reason = "sets up devices by ioctl")]
mod device;
pub mod emulate;
mod engine;
mod error;
#[expect(
    unsafe_code,
    reason = "leaves namespaces by a call that rustix calls unsafe"
)]
mod namespace;
mod netlink;
#[expect(
    unsafe_code,
    reason = "has a program hear of its parent's death, and run as another user"
)]
mod program;
mod sides;
mod tally;
mod translation;
#[expect(unsafe_code, reason = "creates a device by ioctl")]
mod tun;
mod user;
mod way;

pub use device::Addresses;
pub use engine::{Control, Engine, Waiting};
pub use error::LinkError;
pub use mimosa_system::clock::Clock;
pub use namespace::{Namespace, become_own_root, join_user_namespace, may_make_devices, within};
pub use program::{Program, run_as};
pub use sides::{End, Side, Sides};
pub use tally::Tally;
pub use translation::Translation;
pub use tun::Tun;
pub use user::User;
