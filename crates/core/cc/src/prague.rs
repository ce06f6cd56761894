//! Prague as a controller of video frames. `window/prague.rs` names the sources of the
//! algorithm; `windowed` adapts it to frames.

use mimosa_facts::{Controller, Limits};

use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;
use crate::window::Algorithm;
use crate::windowed::{Config, Windowed};

/// How the controller behaves when reports are fewer or contain less.
const WITH_LESS: &str = "\
    round trips hold the wait for a report: it uses less of a link that changes; without ECN it \
    goes by losses alone and fills the queue";

/// Marker type of the controller `prague`: [`Windowed`] with [`Algorithm::Prague`].
#[derive(Clone, Copy, Debug)]
pub struct Prague;

impl Named for Prague {
    const NAME: &'static str = "prague";
    const NEEDS: Needs = Needs {
        uses_ecn: true,
        ..Needs::by_round_trips(WITH_LESS)
    };
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        Windowed::start(Algorithm::Prague, config, limits)
    }
}
