//! BBR version 2 as a controller of video frames. `window/bbr2.rs` has the sources and
//! constants of the algorithm; `windowed` adapts it to frames.

use mimosa_facts::{Controller, Limits};

use crate::named::Named;
use crate::needs::Needs;
use crate::parameter::ParameterError;
use crate::window::Algorithm;
use crate::windowed::{Config, Windowed};

/// How BBR, version 2 or 3, behaves when reports are fewer or contain less.
pub(crate) const WITH_LESS: &str = "\
    up to reports 100 ms apart it keeps most of the link and after a fall has a longer queue; \
    250 ms apart it loses a third to six sevenths of it";

/// Marker type of the controller `bbr2`: [`Windowed`] with [`Algorithm::Bbr2`].
#[derive(Clone, Copy, Debug)]
pub struct Bbr2;

impl Named for Bbr2 {
    const NAME: &'static str = "bbr2";
    const NEEDS: Needs = Needs::by_round_trips(WITH_LESS);
    type Config = Config;

    fn start(config: Config, limits: Limits) -> Result<Box<dyn Controller>, ParameterError> {
        Windowed::start(Algorithm::Bbr2, config, limits)
    }
}
