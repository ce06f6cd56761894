//! Controllers from outside the program: `wasm:FILE` is a WebAssembly module or component, and
//! `process:COMMAND` a process that reads events from a pipe and writes decisions to another.
//!
//! [`find`] gives a [`Maker`](mimosa_foreign::Maker) for such a name, which simulations and sessions
//! are handed. What is said on the way is [`Dialogue`](mimosa_foreign::Dialogue)'s; this crate is the
//! driver that reads the file, starts the process and bounds both. `docs/embed/foreign.md` describes
//! the lines, modules and components, and the bounds.
//!
//! ```
//! use mimosa_facts::Limits;
//! use mimosa_foreign::OutsideName;
//! use mimosa_outside::{Pace, find};
//! use mimosa_units::{Rate, Time};
//!
//! // A controller that answers each line without a decision.
//! let script = r#"n=0; while read -r line; do echo "{\"seq\":$n}"; n=$((n+1)); done"#;
//! let command = format!("sh -c '{script}'");
//! let folder = std::env::temp_dir();
//! let maker = find(OutsideName::Process { command: &command }, &folder, Pace::Simulated)?;
//! let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
//! let limits = Limits::new(mbps(1), mbps(2), mbps(10));
//! let mut controller = maker.make(&toml::Table::new(), limits);
//! let decision = controller.handle(Time::ZERO, mimosa_facts::Event::Timer);
//! assert_eq!(decision.target, mbps(2));
//! assert_eq!(controller.failure(), None);
//! # Ok::<(), mimosa_outside::OutsideError>(())
//! ```

mod bounds;
mod command;
mod digest;
mod driven;
mod error;
mod find;
mod pipe;
mod process;
#[cfg(feature = "wasm")]
mod wasm;

pub use bounds::{ProcessBounds, WasmBounds};
pub use error::{OutsideError, Problem};
pub use find::{Pace, find};
