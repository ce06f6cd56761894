//! The simulator for a page in a browser: the text of a scenario goes in, and JSON with the
//! figures of its runs and with their course over time comes out.
//!
//! The figures are those that `mimosa sim` prints for the same text: the scenario, the simulator
//! and the figures are the same crates. The page is in `web/playground`, and
//! `docs/use/playground.md` describes it.
//!
//! ```
//! let text = "duration = '2s'\n[link]\nrate = '10Mbit/s'\n[[flow]]\ncontroller = 'pudica'\n";
//! let answer = mimosa_playground::answer(text);
//! assert_eq!(answer["runs"][0]["figures"]["flows"][0]["name"], "flow1");
//!
//! let answer = mimosa_playground::answer("duration = 'soon'");
//! assert!(answer["error"].as_str().is_some_and(|error| error.starts_with("scenario:1")));
//! ```
//!
//! | module | |
//! | --- | --- |
//! | `answer` | from a text to the answer |
//! | `watch` | an observer that gathers a run over time |
//! | `bins` | equal intervals of a run, and what is counted in each |
//! | `ffi` | the functions that WebAssembly exports, which alone are unsafe |

mod answer;
mod bins;
mod ffi;
mod watch;

pub use answer::{answer, choices};
pub use ffi::{mimosa_allocate, mimosa_choices, mimosa_release, mimosa_simulate};
