//! The deterministic event loop that runs scenarios.
//!
//! [`load`](mimosa_scenario::load) reads a [`Scenario`](mimosa_scenario::Scenario) from TOML.
//! [`run`] returns its [`Outcome`] for one seed and lets an [`Observer`](mimosa_facts::Observer)
//! see every frame and packet. The senders and receivers are those of `mimosa-stream`, which a
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
//! let loaded = mimosa_scenario::load(text, "inline", &mut ())?;
//! let (_, scenario) = &loaded.variants[0];
//! let outcome = mimosa_sim::run(scenario, loaded.seed, mimosa_sim::Window::WHOLE, &mut ());
//! assert!(outcome.link.utilization > Some(0.8));
//! assert!(outcome.balance.is_even());
//! # Ok::<(), mimosa_scenario::ScenarioError>(())
//! ```

mod available;
mod deadlines;
mod delay_line;
mod flow;
mod metrics;
mod recovery;
mod simulation;
mod stream;
mod tcp;
mod video;
mod way_back;

pub use metrics::{
    Balance, Collector, Counted, FeedbackOutcome, FlowOutcome, FrameDelays, LinkOutcome, Outcome,
    QueueDelays,
};
pub use recovery::RecoveryOutcome;
pub use simulation::{Window, run};
pub use stream::Stream;
