//! Scenarios and the deterministic event loop that runs them.
//!
//! A [`Scenario`] is read from TOML by [`load`]; [`run`] gives its [`Outcome`]
//! for one seed and lets an [`Observer`] see every frame and packet. The
//! senders and receivers inside are `mimosa-session`'s, the very ones that a
//! server runs.
//!
//! ```
//! let text = r#"
//!     duration = "10s"
//!     [link]
//!     rate = "20Mbit/s"
//!     [[flow]]
//!     controller = "pudica"
//! "#;
//! let loaded = mimosa_sim::load(text, "inline", &mut ())?;
//! let (_, scenario) = &loaded.variants[0];
//! let outcome = mimosa_sim::run(scenario, loaded.seed, mimosa_sim::Window::WHOLE, &mut ());
//! assert!(outcome.link.utilization > Some(0.8));
//! assert!(outcome.balance.is_even());
//! # Ok::<(), mimosa_sim::ScenarioError>(())
//! ```

mod available;
mod deadlines;
mod delay_line;
mod flow;
mod metrics;
mod observe;
mod recovery;
pub mod scenario;
mod simulation;
mod stream;
mod tcp;
mod video;
mod way_back;

pub use metrics::{
    Balance, Collector, Counted, FeedbackOutcome, FlowOutcome, FrameDelays, LinkOutcome, Outcome,
    QueueDelays,
};
pub use observe::{Observer, PacketFate, PacketRecord};
pub use recovery::RecoveryOutcome;
pub use scenario::{Loaded, Scenario, ScenarioError, load};
pub use simulation::{Window, run};
pub use stream::Stream;
