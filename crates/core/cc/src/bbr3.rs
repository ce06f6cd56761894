//! BBR version 3 as a controller of frames. `window/bbr3.rs` has its sources, `windowed` what
//! packets of video make of it.

use mimosa_facts::{Controller, Limits};

use crate::bbr2::WITH_LESS;
use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;
use crate::window::Algorithm;
use crate::windowed::{Config, Windowed};

/// The marker of [`Windowed`] with [`Algorithm::Bbr3`].
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
