//! BBR version 3 as a controller of video frames. `window/bbr3.rs` names the sources of the
//! algorithm; `windowed` adapts it to frames.

use mimosa_facts::{Controller, Limits};

use crate::bbr2::WITH_LESS;
use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;
use crate::window::Algorithm;
use crate::windowed::{Config, Windowed};

/// Marker type of the controller `bbr3`: [`Windowed`] with [`Algorithm::Bbr3`].
#[derive(Clone, Copy, Debug)]
pub struct Bbr3;

impl Named for Bbr3 {
    const NAME: &'static str = "bbr3";
    const NEEDS: Needs = Needs::by_round_trips(WITH_LESS);
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        Windowed::start(Algorithm::Bbr3, config, limits)
    }
}
