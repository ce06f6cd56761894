//! Environment variables.

use crate::error::{Origin, Problem, SettingsError};
use crate::given::{Given, Said};
use crate::key::PREFIX;
use crate::keys::KEYS;
use crate::nearest::nearest;

/// What `mimosa link` tells the commands that it runs: of no concern to a host that is
/// one of them.
const LINK: &str = "MIMOSA_LINK";
/// What tells `mimosa quality` of an `ffmpeg`: no concern of a host's either.
const FFMPEG: &str = "MIMOSA_FFMPEG";

/// Takes what the variables of ours say.
pub(crate) fn read(
    variables: impl IntoIterator<Item = (String, String)>,
    said: &mut Said,
) -> Result<(), SettingsError> {
    for (variable, text) in variables {
        let is_link = variable
            .strip_prefix(LINK)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'));
        if is_link || variable == FFMPEG || !variable.starts_with(PREFIX) {
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

/// What to write instead of a variable that there is not.
fn mend(variable: &str) -> String {
    let names = || KEYS.iter().map(|key| key.variable());
    // What all have in common says nothing about which was meant.
    let rest = variable.trim_start_matches(PREFIX);
    let endings = names().map(|name| name.trim_start_matches(PREFIX).to_owned());
    match nearest(rest, endings) {
        Some(name) => format!("did you mean {PREFIX}{name}?"),
        None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
    }
}
