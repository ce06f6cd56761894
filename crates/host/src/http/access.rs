//! Who may ask for what: tokens, origins and names.
//!
//! On loopback there is no token, but other sites' pages run in the same browser.
//! They are kept out by their `Origin`, and by the `Host` name they reached us
//! under, which must be a loopback one (against DNS rebinding).

use axum::http::{HeaderMap, header};
use mimosa_settings::Token;
use mimosa_wire::problem::{ErrorCode, Problem};

/// What somebody may do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Permission {
    /// Play and watch.
    Play,
    /// Only watch.
    Watch,
}

/// The rules.
#[derive(Debug)]
pub(super) struct Access {
    /// Tokens for playing and for watching; `None` where none is needed.
    pub(super) tokens: Option<(Token, Token)>,
    /// Sites whose pages may ask beside our own.
    pub(super) allowed_origins: Vec<String>,
}

impl Access {
    /// Whether this request comes from our own page, an allowed one, or none.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::Origin`].
    pub(super) fn origin(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let refused = |message: String| Err(Problem::new(ErrorCode::Origin, message));
        let host = text(headers, header::HOST);
        if self.tokens.is_none() && !host.is_some_and(is_loopback_name) {
            let host = host.unwrap_or_default();
            return refused(format!(
                "`{host}` is no name of this machine for itself; use http://localhost or 127.0.0.1"
            ));
        }
        let Some(origin) = text(headers, header::ORIGIN) else {
            return Ok(());
        };
        let own = host.is_some_and(|host| {
            [format!("http://{host}"), format!("https://{host}")].contains(&origin.to_owned())
        });
        if own || self.allowed_origins.iter().any(|allowed| allowed == origin) {
            Ok(())
        } else {
            refused(format!(
                "pages of `{origin}` may not use this host; its owner can allow that with allowed_origins"
            ))
        }
    }

    /// The other site that this request comes from, if it is an allowed one.
    pub(super) fn foreign_origin<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let origin = text(headers, header::ORIGIN)?;
        self.allowed_origins
            .iter()
            .any(|allowed| allowed == origin)
            .then_some(origin)
    }

    /// What whoever shows this token may do.
    ///
    /// # Errors
    ///
    /// [`ErrorCode::TokenMissing`] or [`ErrorCode::TokenWrong`].
    pub(super) fn permission(&self, headers: &HeaderMap) -> Result<Permission, Problem> {
        let Some((play, watch)) = &self.tokens else {
            return Ok(Permission::Play);
        };
        let shown = text(headers, header::AUTHORIZATION)
            .and_then(|value| value.strip_prefix("Bearer "))
            .ok_or_else(|| {
                Problem::new(
                    ErrorCode::TokenMissing,
                    "this host wants a token: open the URL that it printed when it started"
                        .to_owned(),
                )
            })?;
        if is_same(shown, play.secret()) {
            Ok(Permission::Play)
        } else if is_same(shown, watch.secret()) {
            Ok(Permission::Watch)
        } else {
            Err(Problem::new(
                ErrorCode::TokenWrong,
                "this token is not this host's; it has a new one each time it starts, unless one is set"
                    .to_owned(),
            ))
        }
    }
}

fn text(headers: &HeaderMap, name: header::HeaderName) -> Option<&str> {
    headers.get(name)?.to_str().ok()
}

/// Whether a `Host` header names this machine to itself.
fn is_loopback_name(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.rsplit_once(':').map_or(host, |(name, _)| name),
    };
    let address = name.parse::<std::net::IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

/// Compares secrets in a time that tells nothing but their length.
fn is_same(left: &str, right: &str) -> bool {
    let pairs = left.bytes().zip(right.bytes());
    left.len() == right.len() && pairs.fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(header::HeaderName, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), value.parse().unwrap()))
            .collect()
    }

    fn open() -> Access {
        Access {
            tokens: None,
            allowed_origins: vec!["https://example.org".to_owned()],
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
            assert!(open().origin(&request).is_ok(), "{good}");
        }
        for bad in [
            "example.org",
            "localhost.example.org:8080",
            "192.0.2.1",
            "",
            "[2001:db8::1]",
        ] {
            let request = headers(&[(header::HOST, bad)]);
            assert!(open().origin(&request).is_err(), "{bad}");
            assert!(guarded().origin(&request).is_ok(), "a token guards it");
        }
        assert!(open().origin(&HeaderMap::new()).is_err());
    }

    #[test]
    fn other_sites_pages_are_refused_unless_allowed() {
        let from = |origin| headers(&[(header::HOST, "localhost:8080"), (header::ORIGIN, origin)]);
        assert!(open().origin(&from("http://localhost:8080")).is_ok());
        assert!(open().origin(&from("https://example.org")).is_ok());
        for bad in ["http://localhost:8081", "http://example.org", "null"] {
            assert!(open().origin(&from(bad)).is_err(), "{bad}");
            assert!(guarded().origin(&from(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn tokens_open_what_they_are_for() {
        let with = |token| headers(&[(header::AUTHORIZATION, token)]);
        let access = guarded();
        let code =
            |headers: &HeaderMap| access.permission(headers).map_err(|problem| problem.error);
        assert_eq!(
            code(&with("Bearer player-player-player")),
            Ok(Permission::Play)
        );
        assert_eq!(
            code(&with("Bearer viewer-viewer-viewer")),
            Ok(Permission::Watch)
        );
        assert_eq!(code(&HeaderMap::new()), Err(ErrorCode::TokenMissing));
        assert_eq!(code(&with("Basic abc")), Err(ErrorCode::TokenMissing));
        assert_eq!(
            code(&with("Bearer player-player-playes")),
            Err(ErrorCode::TokenWrong)
        );
        assert_eq!(code(&with("Bearer ")), Err(ErrorCode::TokenWrong));
        assert_eq!(
            open().permission(&HeaderMap::new()).ok(),
            Some(Permission::Play)
        );
    }
}
