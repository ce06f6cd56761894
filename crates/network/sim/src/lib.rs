//! The deterministic event loop that runs scenarios.
//!
//! A [`Scenario`](mimosa_scenario::Scenario) is read from TOML by
//! [`load`](mimosa_scenario::load). [`run`] runs it with one seed and tells an
//! [`Observer`](mimosa_facts::Observer) each event once. Figures, recordings and tests are
//! observers; the figures are `mimosa-figures`'. A [`Run`] is taken forward in steps. [`try_run`] ends
//! with an error where a controller from outside the program fails. The senders and receivers inside are
//! `mimosa-stream`'s, the very ones that a server runs.
//!
//! ```
//! use mimosa_figures::{Window, measure};
//!
//! let text = r#"
//!     duration = "10s"
//!     [link]
//!     rate = "20Mbit/s"
//!     [[flow]]
//!     controller = "pudica"
//! "#;
//! let loaded = mimosa_scenario::load(text, "inline", &mut ())?;
//! let (_, scenario) = &loaded.variants[0];
//! let figures = measure(scenario, Window::WHOLE, &mut (), |observer| {
//!     mimosa_sim::run(scenario, loaded.seed, observer);
//! });
//! assert!(figures.link.utilization > Some(0.8));
//! assert!(figures.balance.is_even());
//! # Ok::<(), mimosa_scenario::ScenarioError>(())
//! ```

mod available;
mod deadlines;
mod delay_line;
mod failure;
mod flow;
mod pages;
mod simulation;
mod stream;
mod tcp;
mod video;
mod way_back;

pub use failure::{ControllerFailed, try_run};
pub use simulation::{Run, run};
pub use stream::Stream;
