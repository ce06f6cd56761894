//! Prague as a controller of frames. `window/prague.rs` has its sources, `windowed` what packets
//! of video make of it.

use mimosa_facts::{Controller, Limits};

use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;
use crate::window::Algorithm;
use crate::windowed::{Config, Windowed};

/// What becomes of the controller when reports are fewer or say less.
const WITH_LESS: &str = "\
    round trips hold the wait for a report: it uses less of a link that changes; without ECN it \
    goes by losses alone and fills the queue";

/// The marker of [`Windowed`] with [`Algorithm::Prague`].
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
