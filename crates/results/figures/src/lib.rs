//! The figures of a run, gathered by observers of whatever runs it.
//!
//! [`measure`] gives the [`RunFigures`] of a run that it is handed as a closure; the closure
//! tells an [`Observer`](mimosa_facts::Observer) what happens. The simulator and the emulator
//! are two such runs, so that figures of both compare. A run written by hand is a third:
//!
//! ```
//! use mimosa_facts::{FlowPacket, Observer, RunEnd};
//! use mimosa_figures::{Window, measure};
//! use mimosa_units::{Bytes, Time, TimeDelta};
//!
//! let text = "duration = '1s'\n[link]\nrate = '1Mbit/s'\n[[flow]]\nkind = 'cbr'\nrate = '1Mbit/s'\n";
//! let scenario = mimosa_scenario::load(text, "inline", &mut ())?.variants.remove(0).1;
//! let figures = measure(&scenario, Window::WHOLE, &mut (), |observer| {
//!     let (offered, size) = (Time::ZERO, Bytes::new(1_250));
//!     let packet = FlowPacket { flow: 0, size, offered };
//!     observer.offered(&packet);
//!     observer.served(0, Time::from_millis(10), size, TimeDelta::ZERO);
//!     observer.arrived(Time::from_millis(15), &packet);
//!     observer.ended(&RunEnd::default());
//! });
//! assert_eq!(figures.link.utilization, Some(0.01));
//! assert_eq!(figures.flows[0].throughput_mbps, 0.01);
//! assert!(figures.balance.is_even());
//! # Ok::<(), mimosa_scenario::ScenarioError>(())
//! ```
//!
//! | module | |
//! | --- | --- |
//! | `figures` | the figures, by run, flow and link |
//! | `collector` | gathers all of them but for deadlines |
//! | `recovery` | gathers how frames fared against their deadline |
//! | `measure` | puts the two together around a run |
//! | `window` | which part of a run counts |

mod collector;
mod figures;
mod flow;
mod measure;
mod numbers;
mod recovery;
mod window;

pub use collector::Collector;
pub use figures::{
    FeedbackFigures, FlowFigures, FrameDelays, LinkFigures, PageFigures, QueueDelays, RunFigures,
};
pub use measure::measure;
pub use recovery::{Recovery, RecoveryFigures};
pub use window::Window;
