//! Quantities with their units in the type, and small things that every crate shares: quantiles,
//! random numbers, the ECN field, and places in files.
//!
//! All quantities are integers inside, so that the same run gives the same numbers everywhere.
//! Their arithmetic saturates, so that no input can make it panic. Floating point appears only in
//! the conversions that the papers' formulas need, and those name their unit: [`Rate::as_mbps`],
//! [`TimeDelta::as_secs`].
//!
//! ```
//! use mimosa_units::{Bytes, Rate, TimeDelta};
//!
//! let rate: Rate = "20Mbit/s".parse()?;
//! assert_eq!(rate.transmit_time(Bytes::new(1250)), TimeDelta::from_micros(500));
//! # Ok::<(), mimosa_units::UnitError>(())
//! ```

mod bytes;
mod ecn;
mod place;
pub mod random;
mod rank;
mod rate;
mod text;
mod time;

pub use bytes::Bytes;
pub use ecn::Ecn;
pub use place::Where;
pub use rank::{nearest_rank, nearest_rank_index};
pub use rate::Rate;
pub use text::{UnitError, one_line, shortened};
pub use time::{PeerTime, Time, TimeDelta};
