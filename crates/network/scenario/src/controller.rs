//! Makes the controller of a flow, and gives a flow another one than the scenario names.

use std::sync::Arc;

use mimosa_cc::BuildError;
use mimosa_cc::needs::needs;
use mimosa_cc::window::Algorithm;
use mimosa_facts::{Controller, Limits};
use mimosa_foreign::Maker;
use mimosa_stream::{EcnConfig, EcnUse};

use super::ecn::at_first;
use super::flow::ecn_use;
use super::{FlowConfig, FlowKind, VideoConfig};

impl VideoConfig {
    /// A new controller of the flow, with the flow's parameters and bounds.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if another controller was set that refuses the parameters.
    pub fn build_controller(&self) -> Result<Box<dyn Controller>, BuildError> {
        match &self.outside {
            Some(maker) => Ok(maker.make(&self.params, self.limits)),
            None => build(&self.controller, self.params.clone(), self.limits),
        }
    }
}

/// Makes a controller. [`mimosa_cc::build`] is generic over the form of parameters, and the compiler
/// builds the readers of all parameters wherever it is called. This function calls it once for the
/// check of a scenario and for the runs.
pub(super) fn build(
    name: &str,
    params: toml::Table,
    limits: Limits,
) -> Result<Box<dyn Controller>, BuildError> {
    mimosa_cc::build(name, toml::Value::Table(params), limits)
}

impl FlowConfig {
    /// Gives the flow the controller called `name`, or a TCP flow the congestion control of that
    /// name. A video flow with `ecn = "auto"` then uses ECN if the controller answers marks, and a
    /// TCP flow uses ECN as the algorithm does where a scenario does not state it. Parameters stay
    /// as they are. Returns `false`, and changes nothing, if the flow can have no such controller.
    pub fn set_controller(&mut self, name: &str) -> bool {
        match &mut self.kind {
            FlowKind::Video(video) if mimosa_cc::NAMES.contains(&name) => {
                name.clone_into(&mut video.controller);
                video.outside = None;
                if video.asks_for_ecn {
                    video.sender.ecn = automatic(name);
                    self.ecn = at_first(video.sender.ecn);
                }
                true
            }
            FlowKind::Tcp(tcp) => {
                let algorithm = Algorithm::from_name(name);
                let both =
                    algorithm.and_then(|algorithm| Some((algorithm, ecn_use(algorithm, None)?)));
                if let Some((algorithm, ecn)) = both {
                    tcp.algorithm = algorithm;
                    tcp.ecn = ecn;
                }
                both.is_some()
            }
            FlowKind::Video(_) | FlowKind::Cbr(_) => false,
        }
    }

    /// Gives a video flow the controller called `name` that `maker` makes. With `ecn = "auto"` the
    /// flow then uses no ECN, as nothing is known of how such a controller answers marks. Parameters
    /// stay as they are. Returns `false`, and changes nothing, if the flow is no video.
    pub fn set_outside(&mut self, name: &str, maker: Arc<dyn Maker>) -> bool {
        let FlowKind::Video(video) = &mut self.kind else {
            return false;
        };
        name.clone_into(&mut video.controller);
        video.outside = Some(maker);
        if video.asks_for_ecn {
            video.sender.ecn = automatic(name);
            self.ecn = at_first(video.sender.ecn);
        }
        true
    }
}

/// How a flow with `ecn = "auto"` uses ECN under this controller, if its reports carry the field.
pub(super) fn automatic(controller: &str) -> EcnUse {
    if needs(controller).is_some_and(|needs| needs.uses_ecn) {
        EcnUse::Auto(EcnConfig::default())
    } else {
        EcnUse::default()
    }
}

#[cfg(test)]
mod tests {
    use mimosa_cc::window;
    use mimosa_units::Ecn;

    use super::*;

    fn flows(keys: &str) -> Vec<FlowConfig> {
        let text = format!("duration = '1s'\n[link]\nrate = '1Mbit/s'\n{keys}");
        let mut loaded = crate::load(&text, "test", &mut ()).unwrap();
        loaded.variants.remove(0).1.flows
    }

    fn ecn(flow: &FlowConfig) -> EcnUse {
        match &flow.kind {
            FlowKind::Video(video) => video.sender.ecn,
            FlowKind::Cbr(_) | FlowKind::Tcp(_) => panic!("{flow:?}"),
        }
    }

    #[test]
    fn automatic_ecn_goes_by_the_new_controller() {
        let auto = EcnUse::Auto(EcnConfig::default());
        let mut flow = flows("[[flow]]\necn = 'auto'\n").remove(0);
        assert_eq!(ecn(&flow), EcnUse::default(), "Pudica answers no marks");
        assert!(flow.set_controller("prague"));
        assert_eq!((flow.controller_name(), ecn(&flow)), (Some("prague"), auto));
        assert!(flow.set_controller("gcc"));
        assert_eq!(ecn(&flow), EcnUse::default());
        assert!(!flow.set_controller("cubic"), "which is of TCP");
        assert_eq!(flow.controller_name(), Some("gcc"));

        // What the scenario states holds for every controller, and reports without the field
        // carry no mark.
        let mut flow = flows("[[flow]]\necn = 'ect1'\n").remove(0);
        assert!(flow.set_controller("gcc"));
        assert_eq!(
            (ecn(&flow), flow.ecn),
            (EcnUse::Fixed(Ecn::Ect1), Ecn::Ect1)
        );
        let reports = "[[flow]]\necn = 'auto'\nfeedback = 'transport-cc-02'\n";
        let mut flow = flows(reports).remove(0);
        assert!(flow.set_controller("prague"));
        assert_eq!(ecn(&flow), EcnUse::default());
    }

    #[test]
    fn tcp_uses_ecn_as_its_algorithm_does() {
        let mut flow = flows("[[flow]]\nkind = 'tcp'\n").remove(0);
        let used = |flow: &FlowConfig| match &flow.kind {
            FlowKind::Tcp(tcp) => tcp.ecn,
            FlowKind::Cbr(_) | FlowKind::Video(_) => panic!("{flow:?}"),
        };
        assert!(flow.set_controller("prague"));
        assert_eq!(used(&flow), window::EcnUse::L4s);
        assert!(flow.set_controller("bbr3"));
        assert_eq!(used(&flow), window::EcnUse::Off);
        assert!(!flow.set_controller("gcc"), "which is of video");
        assert_eq!(flow.controller_name(), Some("bbr3"));
        let mut cross = flows("[[flow]]\nkind = 'cbr'\nrate = '1Mbit/s'\n").remove(0);
        assert!(!cross.set_controller("gcc"));
    }
}
