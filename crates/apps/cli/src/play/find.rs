//! The hosts of this network, for `mimosa play` without a URL.

use std::io::{self, BufRead, IsTerminal};
use std::time::Duration;

use mimosa_client::Address;
use mimosa_discovery::{Found, find};
use serde::Serialize;

use super::error::PlayError;
use crate::{pair, terminal};

/// How long hosts are looked for. Our choice: an answer comes within 120 ms (RFC 6762, section 6), and a
/// question that is lost is asked again after a second.
const WAIT: Duration = Duration::from_secs(2);

/// A host in the list.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
struct Listed {
    /// The name that the host gave itself.
    name: String,
    /// The URL to play at, without a token.
    url: String,
    /// The host's version, or nothing.
    version: String,
    /// Whether this user has paired with the host at this address.
    is_paired: bool,
    /// Whether the host says that devices can pair.
    pairs: bool,
}

/// Lists the hosts of this network, and has the user choose one if there is a terminal. Returns the URL of the
/// chosen one, with which this user has paired or tried to; `None` if there is nothing to choose with.
///
/// # Errors
///
/// [`PlayError`] if no host is found, or if the user's answer is none.
pub(super) fn choose(only_lists: bool, as_json: bool) -> Result<Option<String>, PlayError> {
    let is_paired = |url: &str| Address::parse(url).is_ok_and(|it| it.or_paired().has_token());
    let all: Vec<_> = find(WAIT)?
        .into_iter()
        .map(|found| listed(found, is_paired))
        .collect();
    if as_json {
        let text = serde_json::to_string_pretty(&all).unwrap_or_default();
        terminal::print(&(text + "\n"))?;
        return Ok(None);
    }
    if all.is_empty() {
        return Err(PlayError::NoneFound);
    }
    terminal::print(&table(&all))?;
    if only_lists || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Ok(None);
    }
    terminal::print("Which one to play? ")?;
    let mut answer = String::new();
    // Who closes standard input has not chosen.
    let _ = io::stdin().lock().read_line(&mut answer);
    let chosen = chosen(&all, answer.trim())?;
    if !chosen.is_paired && chosen.pairs {
        let done = pair::with(&Address::parse(&chosen.url)?, None).map_err(PlayError::Pairing)?;
        terminal::print(&done)?;
    }
    Ok(Some(chosen.url.clone()))
}

/// What is listed of a host: the first address with which this user has paired, or else the first.
fn listed(found: Found, is_paired: impl Fn(&str) -> bool) -> Listed {
    let scheme = if found.is_encrypted { "https" } else { "http" };
    let urls: Vec<_> = found
        .addresses
        .iter()
        .map(|address| format!("{scheme}://{address}/"))
        .collect();
    let paired = urls.iter().find(|url| is_paired(url));
    let url = paired.or_else(|| urls.first()).cloned();
    Listed {
        name: found.name,
        is_paired: paired.is_some(),
        url: url.unwrap_or_default(),
        version: found.version,
        pairs: found.pairs,
    }
}

/// The hosts, numbered from one, a line each.
fn table(all: &[Listed]) -> String {
    let longest = |of: fn(&Listed) -> &str| all.iter().map(|one| of(one).chars().count()).max();
    let name = longest(|one| &one.name).unwrap_or(0);
    let url = longest(|one| &one.url).unwrap_or(0);
    let line = |(index, one): (usize, &Listed)| {
        let how = match (one.is_paired, one.pairs) {
            (true, _) => "paired",
            (false, true) => "pairs by a PIN",
            (false, false) => "needs its URL with the token",
        };
        let number = index + 1;
        format!("{number:>2}  {:name$}  {:url$}  {how}\n", one.name, one.url)
    };
    all.iter().enumerate().map(line).collect()
}

/// The host with the number in `answer`; without one, the only host that there is.
fn chosen<'a>(all: &'a [Listed], answer: &str) -> Result<&'a Listed, PlayError> {
    let number = match (answer, all) {
        ("", [_]) => Some(1),
        (text, _) => text.parse::<usize>().ok(),
    };
    let chosen = number.and_then(|number| all.get(number.checked_sub(1)?));
    chosen.ok_or_else(|| PlayError::Choice {
        given: answer.to_owned(),
        most: all.len(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, addresses: &[&str]) -> Found {
        Found {
            name: name.to_owned(),
            addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
            is_encrypted: true,
            pairs: true,
            version: "0.1.0".to_owned(),
        }
    }

    #[test]
    fn the_address_that_is_known_is_listed() {
        let two = ["192.0.2.7:8080", "[2001:db8::1]:8080"];
        let one = listed(found("den", &two), |_| false);
        assert_eq!(
            (one.url.as_str(), one.is_paired),
            ("https://192.0.2.7:8080/", false)
        );
        let one = listed(found("den", &two), |url| url.contains("2001"));
        assert_eq!(
            (one.url.as_str(), one.is_paired),
            ("https://[2001:db8::1]:8080/", true)
        );
    }

    #[test]
    fn hosts_are_numbered_and_chosen_by_number() {
        let all = [
            listed(found("den", &["192.0.2.7:8080"]), |_| true),
            listed(found("attic", &["192.0.2.10:8080"]), |_| false),
        ];
        assert_eq!(
            table(&all),
            " 1  den    https://192.0.2.7:8080/   paired\n 2  attic  https://192.0.2.10:8080/  pairs by a PIN\n"
        );
        assert_eq!(chosen(&all, "2").unwrap().name, "attic");
        for bad in ["", "0", "3", "-1", "attic", "99999999999999999999"] {
            assert!(chosen(&all, bad).is_err(), "{bad}");
        }
        assert_eq!(chosen(&all[..1], "").unwrap().name, "den");
    }
}
