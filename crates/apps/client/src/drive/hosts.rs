//! Hosts with which this user's client has paired, with their tokens, in a file of the user's state
//! folder: `hosts.json`.

use std::collections::BTreeMap;
use std::io;

use mimosa_system::state;
use serde::{Deserialize, Serialize};

/// Name of the file.
const FILE: &str = "hosts.json";

/// What the client knows of a host with which it has paired. `Debug` does not print the token.
#[derive(Clone, Deserialize, Eq, PartialEq, Serialize)]
pub(super) struct Known {
    /// The host's identifier of this client.
    pub(super) id: String,
    /// The client's token.
    pub(super) token: String,
}

impl std::fmt::Debug for Known {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Known({})", self.id)
    }
}

/// Looks up the host at this address, `HOST:PORT`. A file that cannot be read knows no host.
pub(super) fn find(host: &str) -> Option<Known> {
    let text = state::read(&state::path(FILE)?).ok()?;
    parse(&text).ok()?.remove(host)
}

/// Keeps what is known of a host.
///
/// # Errors
///
/// The system's error, or that of a file that is not as it was written.
pub(super) fn keep(host: &str, known: Known) -> io::Result<()> {
    let path = state::path(FILE)
        .ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is an absolute path"))?;
    state::change(&path, |text| {
        let mut hosts = parse(text)?;
        hosts.insert(host.to_owned(), known);
        Ok(serde_json::to_string_pretty(&hosts)? + "\n")
    })
}

fn parse(text: &str) -> io::Result<BTreeMap<String, Known>> {
    if text.is_empty() {
        return Ok(BTreeMap::new());
    }
    Ok(serde_json::from_str(text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_read_as_they_are_written() {
        assert_eq!(parse("").unwrap().len(), 0);
        let known = Known {
            id: "0a".to_owned(),
            token: "secret".to_owned(),
        };
        let hosts = BTreeMap::from([("box:8080".to_owned(), known.clone())]);
        let text = serde_json::to_string_pretty(&hosts).unwrap();
        assert_eq!(parse(&text).unwrap(), hosts);
        assert!(parse("{").is_err());
        assert_eq!(format!("{known:?}"), "Known(0a)");
    }
}
