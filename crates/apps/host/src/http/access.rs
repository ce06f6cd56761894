//! Decides who may ask for what, by tokens, origins and host names.
//!
//! Pages of other sites run in the same browser as ours. Their `Origin` header keeps them out. A
//! site can also make its own name lead to this machine (DNS rebinding). Against that, the name in
//! `Host` has to be an address, which belongs to no site, or `localhost`, or, if tokens are
//! required, one of the machine's own names or an allowed site.

use std::net::IpAddr;

use axum::http::{HeaderMap, header};
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_protocol::proof::{Secret, is_same};
use mimosa_settings::Token;

/// What a request may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Permission {
    /// Play, watch, and see and change what the host does.
    Own,
    /// Play and watch.
    Play,
    /// Only watch.
    Watch,
}

/// The rules of access.
#[derive(Debug)]
pub(super) struct Access {
    /// Tokens for playing and for watching; `None` if none is required.
    pub(super) tokens: Option<(Token, Token)>,
    /// Token of the host's owner, which is good only if it is proven; `None` on a host that asks nobody.
    pub(super) owner: Option<Token>,
    /// Other sites whose pages may send requests.
    pub(super) allowed_origins: Vec<String>,
    /// Names of this machine.
    pub(super) names: Vec<String>,
}

impl Access {
    /// Checks that a request comes from our own page, from an allowed one, or from no page. Where
    /// the request `is_encrypted`, our own page was so as well: one that came in clear from the same
    /// name may be anybody's.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::Origin`] for another site; [`ErrorCode::BadRequest`] unless there is exactly
    /// one `Host` (RFC 9112, section 3.2).
    pub(super) fn origin(&self, headers: &HeaderMap, is_encrypted: bool) -> Result<(), Problem> {
        let refused = |message: String| Err(Problem::new(ErrorCode::Origin, message));
        let host = only(headers, header::HOST).map_err(|Unclear| {
            let message = "a request has one header `Host`, in ASCII".to_owned();
            Problem::new(ErrorCode::BadRequest, message)
        })?;
        if !host.is_some_and(|host| self.is_ours(host)) {
            let host = host.unwrap_or_default();
            return refused(if self.tokens.is_none() {
                format!(
                    "`{host}` is no name of this machine for itself; use http://localhost or 127.0.0.1"
                )
            } else {
                format!(
                    "`{host}` is no name that this host knows for itself; use its address, or have its owner add http://{host} to allowed_origins"
                )
            });
        }
        let Ok(origin) = only(headers, header::ORIGIN) else {
            return refused("a request has one header `Origin` at most, in ASCII".to_owned());
        };
        let Some(origin) = origin else {
            return Ok(());
        };
        let site = match origin.split_once("://") {
            Some(("https", site)) => Some(site),
            // A proxy in front of us may have taken the encryption off, or there is none.
            Some(("http", site)) if !is_encrypted => Some(site),
            _ => None,
        };
        let own = host.is_some() && host == site;
        if own || self.allowed_origins.iter().any(|allowed| allowed == origin) {
            Ok(())
        } else {
            refused(format!(
                "pages of `{origin}` may not use this host; its owner can allow that with allowed_origins"
            ))
        }
    }

    /// Whether a `Host` header names this host.
    fn is_ours(&self, host: &str) -> bool {
        if self.tokens.is_none() {
            return is_loopback_name(host);
        }
        let name = without_port(host);
        let is_it = |known: &str| name.eq_ignore_ascii_case(known);
        let allowed = self.allowed_origins.iter();
        let mut allowed = allowed.filter_map(|origin| Some(origin.split_once("://")?.1));
        name.parse::<IpAddr>().is_ok()
            || is_it("localhost")
            || self.names.iter().any(|known| is_it(known))
            || allowed.any(|known| is_it(without_port(known)))
    }

    /// Whether this request names the machine as only programs on the machine itself do.
    pub(super) fn is_local(headers: &HeaderMap) -> bool {
        only(headers, header::HOST).is_ok_and(|host| host.is_some_and(is_loopback_name))
    }

    /// The other site from which this request comes, if it is an allowed one.
    pub(super) fn foreign_origin<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let origin = only(headers, header::ORIGIN).ok()??;
        self.allowed_origins
            .iter()
            .any(|allowed| allowed == origin)
            .then_some(origin)
    }

    /// What somebody may do who shows no token.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::TokenMissing`] unless the host is open.
    pub(super) fn stranger(&self) -> Result<Permission, Problem> {
        if self.tokens.is_none() {
            return Ok(Permission::Play);
        }
        Err(Problem::new(
            ErrorCode::TokenMissing,
            "this host wants a token: open the URL that it printed when it started".to_owned(),
        ))
    }

    /// What somebody may do who shows this token.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::TokenWrong`] for a wrong token.
    pub(super) fn permission(&self, token: &str) -> Result<Permission, Problem> {
        let Some((play, watch)) = &self.tokens else {
            return Ok(Permission::Play);
        };
        if is_same(token.as_bytes(), play.secret().as_bytes()) {
            Ok(Permission::Play)
        } else if is_same(token.as_bytes(), watch.secret().as_bytes()) {
            Ok(Permission::Watch)
        } else {
            Err(self.wrong())
        }
    }

    /// The secrets of the tokens, and what each is good for.
    pub(super) fn secrets(&self) -> Vec<(Secret, Permission)> {
        let Some((play, watch)) = &self.tokens else {
            return Vec::new();
        };
        let owner = self.owner.as_ref().map(|owner| (owner, Permission::Own));
        let others = [(play, Permission::Play), (watch, Permission::Watch)];
        let all = owner.into_iter().chain(others);
        all.map(|(token, permission)| (Secret::of_token(token.secret()), permission))
            .collect()
    }

    /// The problem with a token that is not this host's.
    #[expect(clippy::unused_self, reason = "it is what this host says")]
    pub(super) fn wrong(&self) -> Problem {
        Problem::new(
            ErrorCode::TokenWrong,
            "this token is not this host's; it has a new one each time it starts, unless one is set"
                .to_owned(),
        )
    }
}

/// A header that comes more than once, or contains other characters than ASCII.
pub(super) struct Unclear;

/// The header of this name, if there is one.
pub(super) fn only(headers: &HeaderMap, name: header::HeaderName) -> Result<Option<&str>, Unclear> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| Unclear),
        (Some(_), Some(_)) => Err(Unclear),
    }
}

/// The name in a `Host` header, or the address without brackets.
fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    }
}

/// Whether a `Host` header has a name that leads to the machine itself.
fn is_loopback_name(host: &str) -> bool {
    let name = without_port(host);
    let address = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::names_of;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value.parse().unwrap());
        }
        headers
    }

    fn open() -> Access {
        Access {
            tokens: None,
            owner: None,
            allowed_origins: vec!["https://example.org".to_owned()],
            names: names_of("den.home.arpa\n"),
        }
    }

    fn guarded() -> Access {
        let token = |text| Token::new(text).unwrap();
        Access {
            tokens: Some((token("player-player-player"), token("viewer-viewer-viewer"))),
            ..open()
        }
    }

    #[test]
    fn on_loopback_only_loopback_names_will_do() {
        for good in [
            "localhost",
            "localhost:8080",
            "127.0.0.1:8080",
            "[::1]:8080",
            "LOCALHOST",
        ] {
            let request = headers(&[(header::HOST, good)]);
            assert!(open().origin(&request, false).is_ok(), "{good}");
        }
        for bad in [
            "example.org",
            "localhost.example.org:8080",
            "192.0.2.1",
            "",
            "[2001:db8::1]",
        ] {
            let request = headers(&[(header::HOST, bad)]);
            assert!(open().origin(&request, false).is_err(), "{bad}");
        }
        assert!(open().origin(&HeaderMap::new(), false).is_err());
    }

    #[test]
    fn with_tokens_other_names_of_the_host_will_do() {
        let origin = |host: &str| guarded().origin(&headers(&[(header::HOST, host)]), false);
        for good in [
            "localhost:8080",
            "192.0.2.1:8080",
            "[2001:db8::1]:8080",
            "den.home.arpa",
            "DEN:8080",
            "den.local",
            "example.org",
        ] {
            assert!(origin(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "evil.example:8080",
            "den.evil.example",
            "192.0.2.1.evil.example",
        ] {
            let error = origin(bad).unwrap_err();
            assert_eq!(error.error, ErrorCode::Origin, "{bad}");
            assert!(error.message.contains("allowed_origins"), "{bad}");
        }
        assert!(guarded().origin(&HeaderMap::new(), false).is_err());
    }

    #[test]
    fn what_is_said_twice_or_unreadably_opens_nothing() {
        for access in [open(), guarded()] {
            let local = (header::HOST, "localhost");
            let twice = headers(&[local.clone(), local.clone()]);
            let error = access.origin(&twice, false).unwrap_err();
            assert_eq!(error.error, ErrorCode::BadRequest);
            assert!(!Access::is_local(&twice));
            let own = (header::ORIGIN, "http://localhost");
            assert!(
                access
                    .origin(&headers(&[local.clone(), own.clone()]), false)
                    .is_ok()
            );
            let twice = headers(&[local.clone(), own.clone(), own]);
            assert!(access.origin(&twice, false).is_err());
            let mut latin = headers(&[local]);
            let value = axum::http::HeaderValue::from_bytes(b"http://caf\xe9.example").unwrap();
            latin.append(header::ORIGIN, value);
            assert!(access.origin(&latin, false).is_err());
        }
    }

    #[test]
    fn other_sites_pages_are_refused_unless_allowed() {
        let from = |origin| headers(&[(header::HOST, "localhost:8080"), (header::ORIGIN, origin)]);
        assert!(open().origin(&from("http://localhost:8080"), false).is_ok());
        assert!(open().origin(&from("https://example.org"), false).is_ok());
        for bad in ["http://localhost:8081", "http://example.org", "null"] {
            assert!(open().origin(&from(bad), false).is_err(), "{bad}");
            assert!(guarded().origin(&from(bad), false).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_page_in_clear_may_not_ask_over_https() {
        let from = |origin| headers(&[(header::HOST, "192.0.2.1:8080"), (header::ORIGIN, origin)]);
        let (clear, encrypted) = (
            from("http://192.0.2.1:8080"),
            from("https://192.0.2.1:8080"),
        );
        for (request, is_encrypted, is_taken) in [
            (&clear, false, true),
            (&clear, true, false),
            (&encrypted, true, true),
            (&encrypted, false, true),
        ] {
            let taken = guarded().origin(request, is_encrypted).is_ok();
            assert_eq!(taken, is_taken, "{request:?} {is_encrypted}");
        }
    }

    #[test]
    fn tokens_open_what_they_are_for() {
        let access = guarded();
        let code = |token: &str| access.permission(token).map_err(|problem| problem.error);
        assert_eq!(code("player-player-player"), Ok(Permission::Play));
        assert_eq!(code("viewer-viewer-viewer"), Ok(Permission::Watch));
        for wrong in ["player-player-playes", "player-player-playe", ""] {
            assert_eq!(code(wrong), Err(ErrorCode::TokenWrong), "{wrong}");
        }
        let stranger = access.stranger().map_err(|problem| problem.error);
        assert_eq!(stranger, Err(ErrorCode::TokenMissing));
        assert_eq!(open().stranger(), Ok(Permission::Play));
        assert_eq!(open().permission("").ok(), Some(Permission::Play));
    }
}
