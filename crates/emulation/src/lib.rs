//! An emulated network without its clock: what happens to IP packets between two
//! hosts, in one [`Direction`] each.
//!
//! It is the simulator's own queue, link and path. A driver reads packets from one
//! host, stamps them, and gives them in with [`Direction::offer`]; it takes them out
//! with [`Direction::release`] when [`Direction::deadline`] has come, and writes them
//! to the other. Everything happens at the times that the schedule gives, however
//! late the driver calls: a late call delays packets on their way out, and no more.

mod direction;
mod monitor;
mod packet;

pub use direction::{Change, Counts, Direction, Fate, Passage, Release, Stamped};
pub use monitor::{DelayCount, Delays, Lane, Monitor};
pub use packet::{IpPacket, NotIp, Rtp};
