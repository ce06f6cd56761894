//! Settings from environment variables.

use crate::error::{Origin, Problem, SettingsError};
use crate::given::{Given, Said};
use crate::key::PREFIX;
use crate::keys::KEYS;
use crate::nearest::nearest;

/// Prefix of the variables that `mimosa link` sets for the commands that it runs. A host that is
/// one of them ignores these.
const LINK: &str = "MIMOSA_LINK";
/// Variables that are no settings, and that a host ignores: `MIMOSA_FFMPEG` names an `ffmpeg` for `mimosa quality`,
/// and `MIMOSA_GROUP` marks what a host has started (`mimosa-system`), another host perhaps.
const OTHERS: [&str; 2] = ["MIMOSA_FFMPEG", "MIMOSA_GROUP"];

/// Adds the values of all variables that begin with `MIMOSA_`.
pub(crate) fn read(
    variables: impl IntoIterator<Item = (String, String)>,
    said: &mut Said,
) -> Result<(), SettingsError> {
    for (variable, text) in variables {
        let is_link = variable
            .strip_prefix(LINK)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        if is_link || OTHERS.contains(&variable.as_str()) || !variable.starts_with(PREFIX) {
            continue;
        }
        let origin = Origin::Variable(variable.clone());
        let Some(key) = KEYS.iter().find(|key| key.variable() == variable) else {
            let mend = mend(&variable);
            let problem = Problem::UnknownVariable { mend };
            return Err(SettingsError { origin, problem });
        };
        said.add(Given::text(key, &text, origin)?);
    }
    Ok(())
}

/// What to write instead of an unknown variable.
fn mend(variable: &str) -> String {
    let names = || KEYS.iter().map(|key| key.variable());
    // The common prefix says nothing about which variable was meant.
    let rest = variable.trim_start_matches(PREFIX);
    let endings = names().map(|name| name.trim_start_matches(PREFIX).to_owned());
    match nearest(rest, endings) {
        Some(name) => format!("did you mean {PREFIX}{name}?"),
        None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    }
}
