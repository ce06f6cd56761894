//! Hosts with which this user's client has paired, with their tokens and keys, in a file of the user's state
//! folder: `hosts.json`.

use std::collections::BTreeMap;
use std::io;

use mimosa_system::state;
use mimosa_tls::KeyHash;
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
    /// The SHA-256 of the key of the host's own certificate, in hexadecimal; `None` if the host had no
    /// certificate, or one that an authority has signed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<String>,
}

impl Known {
    /// The key of the host's own certificate.
    pub(super) fn key(&self) -> Option<KeyHash> {
        self.key.as_deref().and_then(KeyHash::parse)
    }
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
    let hosts: BTreeMap<String, Known> = serde_json::from_str(text)?;
    // A key that cannot be read would be one that is not asked for.
    let is_bad = |known: &Known| known.key.is_some() && known.key().is_none();
    match hosts.iter().find(|(_, known)| is_bad(known)) {
        Some((host, _)) => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!("the key of {host} is no 64 hexadecimal digits"),
        )),
        None => Ok(hosts),
    }
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
            key: Some("0f".repeat(32)),
        };
        assert_eq!(known.key(), KeyHash::parse(&"0f".repeat(32)));
        let hosts = BTreeMap::from([("box:8080".to_owned(), known.clone())]);
        let text = serde_json::to_string_pretty(&hosts).unwrap();
        assert_eq!(parse(&text).unwrap(), hosts);
        assert!(parse("{").is_err());
        let without = parse(r#"{"box:8080": {"id": "0a", "token": "secret"}}"#).unwrap();
        assert_eq!(without["box:8080"].key, None);
        let bad = r#"{"box:8080": {"id": "0a", "token": "secret", "key": "0f"}}"#;
        assert!(parse(bad).is_err(), "not taken for one without a key");
        assert_eq!(format!("{known:?}"), "Known(0a)");
    }
}
