//! TCP's congestion control algorithms. Each one computes a window, and most a pacing
//! rate, from acknowledgements and losses, without I/O.
//!
//! `mimosa-tcp` drives the algorithms with segments;
//! [`Windowed`](crate::windowed::Windowed) drives them with the packets of video.
//! [`Delivery`] and [`Rtt`] make the measurements that the algorithms take.

mod bbr1;
mod bbr2;
mod bbr3;
mod burst;
mod congestion;
mod cubic;
mod dctcp;
mod delivery;
mod filter;
mod prague;
mod reno;
mod rtt;

pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use burst::{LEAST_SEGMENTS, burst_segments, near_allowance};
pub use congestion::{AckSample, Algorithm, Congestion, EcnUse, LostSegment, Stage};
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use delivery::{Delivery, DeliverySample, Snapshot, Transmission};
pub use prague::Prague;
pub use reno::Reno;
pub use rtt::Rtt;
