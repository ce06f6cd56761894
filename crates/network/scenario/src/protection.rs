//! Reads how a video flow keeps its frames whole, and when they are late.

use mimosa_net::KeyProblem;
use mimosa_stream::{Protection, RepairConfig};
use mimosa_units::{Bytes, TimeDelta};
use toml::Spanned;

use super::parse::{Read, Reader, value};
use super::raw;

impl Reader<'_> {
    /// Reads `protection` and `protection_params` of a flow whose largest packet has
    /// the size `packet` on the wire.
    pub(super) fn protection(&self, raw: &raw::Flow, packet: Bytes) -> Read<Protection> {
        let defaults = RepairConfig::default();
        let params = raw.protection_params.as_ref();
        let given = params.map(|params| *params.get_ref()).unwrap_or_default();
        let config = RepairConfig {
            deadline: value(raw.deadline.as_ref(), defaults.deadline),
            late_target: given.late_target.unwrap_or(defaults.late_target),
            most_overhead: given.most_overhead.unwrap_or(defaults.most_overhead),
            largest_packet: packet,
            ..defaults
        };
        let name = raw.protection.as_ref().map(Spanned::get_ref);
        let protection = match name.map(String::as_str) {
            None | Some("retransmission") => Protection::Retransmission,
            Some("none") => Protection::None,
            Some("fec") => Protection::Fec(config),
            Some("joint") => Protection::Joint(config),
            Some(name) => {
                let problem = KeyProblem::UnknownName {
                    what: "protection",
                    name: name.to_owned(),
                    known: "none, retransmission, fec, joint".to_owned(),
                };
                let at = raw.protection.as_ref().map_or(0..0, Spanned::span);
                return Err(self.error(at, problem));
            }
        };
        if let Some(params) = params {
            let at = params.span();
            if !matches!(protection, Protection::Fec(_) | Protection::Joint(_)) {
                let key = "protection_params";
                let kind = "a flow whose `protection` is neither \"fec\" nor \"joint\"";
                return Err(self.error(at, KeyProblem::KeyNotFor { key, kind }));
            }
            let is_share = config.late_target > 0.0 && config.late_target < 1.0;
            let must = "a share between 0 and 1";
            self.range(at.clone(), "late_target", is_share, must)?;
            let is_bounded = (0.0..=10.0).contains(&config.most_overhead);
            self.range(at, "most_overhead", is_bounded, "from 0 to 10")?;
        }
        Ok(protection)
    }

    /// Reads the age, from its hand-over to the pacer, at which a frame is late. `None`
    /// where the flow has neither `deadline` nor `protection`, so that late frames are
    /// not counted.
    pub(super) fn deadline(&self, raw: &raw::Flow) -> Read<Option<TimeDelta>> {
        if let Some(given) = &raw.deadline {
            let valid = *given.get_ref() > TimeDelta::ZERO;
            self.range(given.span(), "deadline", valid, "above zero")?;
        }
        let asked = raw.deadline.is_some() || raw.protection.is_some();
        let default = RepairConfig::default().deadline;
        Ok(asked.then(|| value(raw.deadline.as_ref(), default)))
    }
}
