//! Reads the ECN field with which a flow sends, and how the path changes the field.

use mimosa_net::KeyProblem;
use mimosa_stream::{EcnUse, FeedbackFormat};
use mimosa_units::Ecn;
use toml::Spanned;

use super::controller::automatic;
use super::parse::{Read, Reader};
use super::raw;

impl Reader<'_> {
    /// Reads the ECN field with which a flow's packets are sent; `None` if the
    /// flow does not state it.
    pub(super) fn ecn(&self, raw: &raw::Flow) -> Read<Option<Ecn>> {
        self.read_sent(raw, "not-ect, ect0, ect1")
    }

    /// Reads how a video flow uses ECN. Where `auto` can have no effect, a note
    /// says why, and the default applies.
    pub(super) fn video_ecn(
        &mut self,
        raw: &raw::Flow,
        controller: &str,
        format: FeedbackFormat,
    ) -> Read<EcnUse> {
        let auto = raw.ecn.as_ref().filter(|name| name.get_ref() == "auto");
        let Some(auto) = auto else {
            let ecn = self.read_sent(raw, "auto, not-ect, ect0, ect1")?;
            return Ok(ecn.map_or_else(EcnUse::default, EcnUse::Fixed));
        };
        if !format.carries_ecn() {
            let text = "its reports do not carry the ECN field, so that no packet is marked";
            self.note(auto.span(), text.to_owned());
            return Ok(EcnUse::default());
        }
        let used = automatic(controller);
        if used == EcnUse::default() {
            let text = format!("`{controller}` answers no marks, so that no packet asks for them");
            self.note(auto.span(), text);
        }
        Ok(used)
    }

    /// Whether a video flow uses ECN under every controller that answers marks.
    pub(super) fn asks_for_ecn(raw: &raw::Flow, format: FeedbackFormat) -> bool {
        let is_auto = |name: &Spanned<String>| name.get_ref() == "auto";
        raw.ecn.as_ref().is_some_and(is_auto) && format.carries_ecn()
    }

    fn read_sent(&self, raw: &raw::Flow, known: &'static str) -> Read<Option<Ecn>> {
        let Some(name) = &raw.ecn else {
            return Ok(None);
        };
        let ecn = Ecn::from_name(name.get_ref()).filter(|ecn| *ecn != Ecn::Ce);
        ecn.map(Some).ok_or_else(|| {
            let problem = KeyProblem::UnknownName {
                what: "ECN field to send with",
                name: name.get_ref().clone(),
                known: known.to_owned(),
            };
            self.error(name.span(), problem)
        })
    }

    /// Reads `bleach` and `mangle`: the ECN field with which ECN-capable
    /// packets arrive; `None` where they keep theirs.
    pub(super) fn remark(&self, link: &raw::Link) -> Read<Option<Ecn>> {
        let is_bleached = link.bleach.as_ref().is_some_and(|bleach| *bleach.get_ref());
        let Some(mangle) = &link.mangle else {
            return Ok(is_bleached.then_some(Ecn::NotEct));
        };
        if is_bleached {
            let (one, other) = ("bleach", "mangle");
            return Err(self.error(mangle.span(), KeyProblem::Exclusive { one, other }));
        }
        match mangle.get_ref().as_str() {
            "ect0" => Ok(Some(Ecn::Ect0)),
            "ce" => Ok(Some(Ecn::Ce)),
            name => {
                let problem = KeyProblem::UnknownName {
                    what: "ECN field to mangle to",
                    name: name.to_owned(),
                    known: "ect0, ce (and the key `bleach`)".to_owned(),
                };
                Err(self.error(mangle.span(), problem))
            }
        }
    }
}

/// The ECN field of a flow's first packets, before an ECN policy has decided, where there is one.
pub(super) const fn at_first(used: EcnUse) -> Ecn {
    match used {
        EcnUse::Fixed(ecn) => ecn,
        EcnUse::Auto(_) => Ecn::NotEct,
    }
}
