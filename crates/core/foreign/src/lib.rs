//! Controllers of other languages: the form in which they are told events and give decisions.
//!
//! An [`EventForm`] is an [`Event`](mimosa_facts::Event) as a record of plain numbers and texts, and
//! a [`DecisionForm`] becomes a [`Decision`](mimosa_facts::Decision). Both go through `serde`, so
//! that a driver chooses how they travel: as objects of Python, or as lines of JSON. Times and spans
//! are in nanoseconds, sizes in bytes, rates in bits per second, as the last word of each name says.
//! [`Standing`] is the decision that a controller's answers change, and [`Dialogue`] the lines of JSON
//! by which a process or a WebAssembly module is told and answers. Nothing here opens a file or starts
//! a process: a driver implements [`Maker`], and hands it to simulations and sessions.
//!
//! ```
//! use mimosa_facts::{Decision, Event, FrameId, Limits, Pacing};
//! use mimosa_foreign::{DecisionForm, EventForm};
//! use mimosa_units::{Rate, TimeDelta};
//!
//! let event = Event::FrameDue { frame: FrameId(7), interval: TimeDelta::from_millis(16) };
//! let text = serde_json::to_string(&EventForm::of(&event)).unwrap();
//! assert_eq!(text, r#"{"kind":"frame-due","frame":7,"interval_ns":16000000}"#);
//!
//! let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
//! let limits = Limits::new(mbps(1), mbps(2), mbps(10));
//! let mut decision = Decision::starting_at(limits.start());
//! let answer = r#"{"target_bps": 5e6, "pacing": {"kind": "spread", "over_ns": 8000000}}"#;
//! let form: DecisionForm = serde_json::from_str(answer).unwrap();
//! form.apply(&mut decision, limits)?;
//! assert_eq!(decision.target, mbps(5));
//! assert_eq!(decision.pacing, Pacing::Spread { over: TimeDelta::from_millis(8), lead: 0 });
//! # Ok::<(), mimosa_foreign::FormError>(())
//! ```

mod decision;
mod dialogue;
mod event;
mod maker;
mod name;
mod standing;

pub use decision::{DecisionForm, FormError, PacingForm, ProbeForm};
pub use dialogue::{AnswerError, Dialogue, LONGEST_ANSWER, VERSION};
pub use event::{EventForm, PacketForm, ReportForm};
pub use maker::Maker;
pub use name::OutsideName;
pub use standing::Standing;
