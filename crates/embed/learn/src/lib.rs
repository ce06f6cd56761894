//! Sessions that a learner steers frame by frame.
//!
//! An [`Episode`] is a run of a scenario in the simulator, in which one video flow has no controller
//! of its own. It stops before each of that flow's frames and gives an [`Observation`]: only what a
//! controller may know, from the events that every controller is told. The learner answers with an
//! [`Action`], and the run goes on to the next frame, with an [`Outcome`] of the frames that ended
//! on the way and a reward by [`Rewards`]. A policy that has been learnt is a controller like any
//! other: [`Steered`].
//!
//! ```
//! use mimosa_learn::{Action, Episode, Rewards};
//!
//! let text = "duration = '2s'\n[link]\nrate = '20Mbit/s'\n[[flow]]\n";
//! let scenario = mimosa_scenario::load(text, "inline", &mut ())?.variants.remove(0).1;
//! let mut episode = Episode::new(&scenario, 1, 0, Rewards::default()).unwrap();
//! let mut frames = 0;
//! while let Some(step) = episode.step(Action { target_mbps: 10.0, limit: 1.0, pace: 2.5 }) {
//!     frames += step.outcome.frames;
//!     assert!(step.observation.queue_delay_ms < 5.0, "half of the link is used");
//! }
//! assert!(frames > 100);
//! # Ok::<(), mimosa_scenario::ScenarioError>(())
//! ```
//!
//! | module | |
//! | --- | --- |
//! | `episode` | the run and its steps |
//! | `observation` | gathers what a controller knows |
//! | `oracle` | the same session in the oracle's hands, beside which regret is counted |
//! | `outcome` | gathers what becomes of frames |
//! | `pilot` | the controllers that do what a learner or a policy says |
//! | `reward` | what a step is worth |

mod episode;
mod observation;
mod oracle;
mod outcome;
mod pilot;
mod reward;

pub use episode::{Episode, NoSuchFlow, Step};
pub use observation::Observation;
pub use outcome::Outcome;
pub use pilot::{Action, Steered};
pub use reward::Rewards;
