//! Forward error correction of frames: what to send beside a frame's packets so that the frame is
//! whole in time although some are lost.
//!
//! [`encode`] and [`decode`] are the code: any `k` packets of `k` media and `r` repair packets give
//! the `k` media packets back. [`xor`] is the code that browsers know. [`LossEstimator`] estimates
//! how packets are lost, and [`Planner`] decides how many repair packets a frame needs for that
//! loss and for the rounds of retransmission that fit before its deadline.

mod error;
mod gf256;
mod loss;
mod plan;
mod reed_solomon;
pub mod xor;

pub use error::CodeError;
pub use loss::LossEstimator;
pub use plan::{Code, Lacking, Plan, Planner, Target, losses};
pub use reed_solomon::{MOST_PACKETS, decode, encode, repair};
