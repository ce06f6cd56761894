//! TCP's congestion controls: what a window and a pace should be, acknowledgement by
//! acknowledgement, without I/O.
//!
//! `mimosa-tcp` drives them with segments; [`Windowed`](crate::windowed::Windowed) drives
//! them with the packets of video. [`Delivery`] and [`Rtt`] make what they want to know.

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
