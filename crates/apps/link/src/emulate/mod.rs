//! Scenarios in real time: real packets across an emulated link.
//!
//! [`run`] does with a [`mimosa_scenario::Scenario`] what [`mimosa_sim::run`] does, with
//! another network and another clock: the link is [this crate](crate)'s, between two
//! network namespaces; video and cross traffic go over UDP, TCP flows are the
//! kernel's. Senders, receivers, encoder models, queues and figures are the
//! simulation's own, so that the [`RunFigures`](mimosa_figures::RunFigures) of both compare.
//!
//! | module | |
//! | --- | --- |
//! | `plan` | what of a scenario can be run here |
//! | `ends` | the two namespaces and their devices |
//! | `wire` | the video flow's packets and reports |
//! | `video`, `cbr`, `tcp` | the threads of a flow |
//! | `wait` | the clock's threads: waiting, lateness, priority |
//! | `figures` | from the link's records to the figures |
//! | `run` | all of it, from start to end |

mod cbr;
mod ends;
mod error;
mod figures;
mod plan;
mod run;
mod tcp;
mod video;
mod wait;
mod wire;

pub use ends::Ends;
pub use error::RealtimeError;
pub use figures::Punctuality;
pub use run::{Emulated, run};
pub use wait::Spread;
