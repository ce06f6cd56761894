//! Quantities with their units in the type.
//!
//! Integers inside, so that the same run gives the same numbers everywhere;
//! arithmetic saturates, so that no input can make it panic. Floating point
//! appears only in the conversions that the papers' formulas need, and those
//! name their unit: [`Rate::as_mbps`], [`TimeDelta::as_secs`].

mod bytes;
mod ecn;
mod rate;
mod text;
mod time;

pub use bytes::Bytes;
pub use ecn::Ecn;
pub use rate::Rate;
pub use text::UnitError;
pub use time::{PeerTime, Time, TimeDelta};
