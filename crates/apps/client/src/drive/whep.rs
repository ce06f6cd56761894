//! Signalling by WHEP, as the page does it (docs/embed/protocol.md).

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::time::Duration;

use mimosa_protocol::control::Role;
use mimosa_protocol::problem::Problem;
use mimosa_protocol::proof::{self, Challenge, Secret, Shown, is_same, session_in, unhex};
use mimosa_tls::KeyHash;
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Response, StatusCode};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, TcpConnector};

use super::error::PlayError;
use super::hosts::{self, Known};
use super::secure::{TlsConnector, TlsFailure};

/// Time after which the host counts as unreachable, as for the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest answer that is read, in bytes.
const LONGEST: u64 = 64 * 1024;

/// The address of a host and the token for it, as `mimosa serve` prints them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Address {
    /// Base URL of the host: `https://HOST:PORT/PATH/`, or with `http`.
    base: String,
    /// The part `HOST:PORT` of the URL.
    host: String,
    is_encrypted: bool,
    token: Option<String>,
    /// The host's identifier of this client, if it has paired: the token is its own.
    id: Option<String>,
    /// The key by which the host is known.
    key: Option<KeyHash>,
}

impl Address {
    /// Parses what a host prints: `https://HOST:PORT/#token=TOKEN&key=KEY`, or with `http` and
    /// without the key. Without either in front, it is `http` for a name of this machine alone,
    /// and `https` for all others.
    ///
    /// # Errors
    ///
    /// [`PlayError::Address`] if the text is not such an address.
    pub fn parse(text: &str) -> Result<Self, PlayError> {
        let bad = |reason: &str| PlayError::Address {
            text: text.to_owned(),
            reason: reason.to_owned(),
        };
        let (address, fragment) = text.trim().split_once('#').unwrap_or((text.trim(), ""));
        let given = |name: &str| {
            let mut parts = fragment.split('&');
            parts.find_map(|part| part.strip_prefix(name).filter(|value| !value.is_empty()))
        };
        let key = given("key=").map(|key| {
            KeyHash::parse(key).ok_or_else(|| bad("its key is no 64 hexadecimal digits"))
        });
        let (scheme, rest) = match address.split_once("://") {
            Some((scheme @ ("http" | "https"), rest)) => (Some(scheme), rest),
            Some((scheme, _)) => {
                let reason = format!("{scheme} is not spoken here");
                return Err(bad(&reason));
            }
            None => (None, address),
        };
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        if host.is_empty() {
            return Err(bad("it names no host"));
        }
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok());
        let has_port = has_port && !host.ends_with(']');
        let is_encrypted = match scheme {
            Some(scheme) => scheme == "https",
            None => key.is_some() || !is_this_machine(host, has_port),
        };
        let (scheme, port) = if is_encrypted {
            ("https", 443)
        } else {
            ("http", 80)
        };
        let host = if has_port {
            host.to_owned()
        } else if host
            .rsplit(']')
            .next()
            .is_some_and(|rest| rest.contains(':'))
        {
            return Err(bad("its port is none"));
        } else {
            format!("{host}:{port}")
        };
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let folder = if folder.is_empty() {
            String::new()
        } else {
            format!("{folder}/")
        };
        let address = Self {
            base: format!("{scheme}://{host}/{folder}"),
            host,
            is_encrypted,
            token: given("token=").map(str::to_owned),
            id: None,
            key: None,
        };
        address.with_key(key.transpose()?)
    }

    /// The address of the host with this key, if there is one.
    ///
    /// # Errors
    ///
    /// [`PlayError::Address`] with a key for an address of `http`, where nobody shows one.
    pub fn with_key(self, key: Option<KeyHash>) -> Result<Self, PlayError> {
        if key.is_some() && !self.is_encrypted {
            return Err(PlayError::Address {
                text: self.base,
                reason: "a key belongs to https".to_owned(),
            });
        }
        let key = key.or(self.key);
        Ok(Self { key, ..self })
    }

    /// The address with this token, if there is one.
    #[must_use]
    pub fn with_token(self, token: Option<String>) -> Self {
        Self {
            token: token.or(self.token),
            ..self
        }
    }

    /// The address with the token and the key of an earlier pairing, in place of those that it lacks.
    #[must_use]
    pub fn or_paired(self) -> Self {
        match hosts::find(&self.host) {
            Some(known) => self.or(known),
            None => self,
        }
    }

    fn or(mut self, known: Known) -> Self {
        if self.is_encrypted {
            self.key = self.key.or(known.key());
        }
        if self.token.is_none() {
            (self.token, self.id) = (Some(known.token), Some(known.id));
        }
        self
    }

    /// The address with the key that the host shows now, and that key, if nobody vouches for it:
    /// neither a key in the address nor an authority. The key is not trusted by this, and all further
    /// conversation is with whoever has it.
    ///
    /// # Errors
    ///
    /// [`PlayError`] if the host is not there.
    pub(super) fn shown(&self) -> Result<(Self, Option<KeyHash>), PlayError> {
        if !self.is_encrypted || self.key.is_some() {
            return Ok((self.clone(), None));
        }
        match Whep::new(self.clone())?.looked() {
            Ok(()) => Ok((self.clone(), None)),
            Err(PlayError::Untrusted { key, .. }) => {
                Ok((self.clone().with_key(Some(key))?, Some(key)))
            }
            Err(error) => Err(error),
        }
    }

    /// The part `HOST:PORT` of the URL.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The key by which the host is known.
    pub(super) const fn key(&self) -> Option<KeyHash> {
        self.key
    }

    /// The first address of the host's name.
    ///
    /// # Errors
    ///
    /// [`PlayError::Unreachable`] if the name has no address.
    pub fn resolve(&self) -> Result<SocketAddr, PlayError> {
        let unreachable = |reason: String| PlayError::Unreachable {
            address: self.host.clone(),
            reason,
        };
        let mut all = self
            .host
            .to_socket_addrs()
            .map_err(|error| unreachable(error.to_string()))?;
        all.next()
            .ok_or_else(|| unreachable("its name has no address".to_owned()))
    }
}

/// Whether the part `HOST:PORT` of a URL leads to this machine itself.
fn is_this_machine(host: &str, has_port: bool) -> bool {
    let name = host.rsplit_once(':').filter(|_| has_port);
    let name = name.map_or(host, |(name, _)| name);
    let address = name.trim_start_matches('[').trim_end_matches(']').parse();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|ip: IpAddr| ip.is_loopback())
}

/// The host's answer to an offer, and its identifier of the session.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) id: String,
    pub(super) text: String,
    /// The secret of the session; `None` if the host asks for no token.
    pub(super) secret: Option<Secret>,
}

/// The client of a host's HTTP side.
#[derive(Clone, Debug)]
pub(super) struct Whep {
    address: Address,
    agent: Agent,
}

impl Whep {
    /// A client of this host. What begins encrypted stays so: nothing is sent on to another
    /// address.
    ///
    /// # Errors
    ///
    /// [`PlayError::Unreachable`] if TLS cannot be set up.
    pub(super) fn new(address: Address) -> Result<Self, PlayError> {
        let config = Agent::config_builder()
            .timeout_global(Some(PATIENCE))
            .http_status_as_error(false)
            .https_only(address.is_encrypted)
            .max_redirects(0)
            .proxy(None)
            .build();
        let tls = if address.is_encrypted {
            TlsConnector::new(address.key).map_err(|error| PlayError::Unreachable {
                address: address.host.clone(),
                reason: error.to_string(),
            })?
        } else {
            TlsConnector::plain()
        };
        let connector = ().chain(TcpConnector::default()).chain(tls);
        Ok(Self {
            agent: Agent::with_parts(config, connector, DefaultResolver::default()),
            address,
        })
    }

    /// Sends the offer, and returns the answer, which comes from whoever knows the token if there is
    /// one. The host ends the session `replaced`.
    pub(super) fn begin(
        &self,
        offer: &str,
        role: Role,
        replaced: Option<&str>,
    ) -> Result<Answer, PlayError> {
        let mut target = format!("whep?role={}", role.name());
        if let Some(replaced) = replaced {
            target = format!("{target}&replaces={replaced}");
        }
        let proven = self.proven(("POST", &target), offer)?;
        let mut request = self
            .agent
            .post(format!("{}{target}", self.address.base))
            .header("Content-Type", "application/sdp");
        if let Some((shown, _)) = &proven {
            request = request.header("Authorization", shown.value());
        }
        let response = request.send(offer);
        let mut response = response.map_err(|error| self.unreached(&error))?;
        let text = self.text(&mut response)?;
        if response.status() != 201 {
            return Err(self.refused(response.status(), &text));
        }
        let header = |name| response.headers().get(name)?.to_str().ok();
        let id = session_in(header("location"));
        if let Some((shown, secret)) = &proven {
            let answer = proof::Answer {
                status: response.status().as_u16(),
                session: id,
                body: text.as_bytes(),
            };
            let expected = secret.answer(&shown.nonce, offer.as_bytes(), &answer);
            let proof = header("mimosa-proof").and_then(unhex::<32>);
            if !proof.is_some_and(|proof| is_same(&proof, &expected)) {
                let address = self.address.host.clone();
                return Err(PlayError::NotProven { address });
            }
        }
        if id.is_empty() {
            return Err(self.no_host("its answer names no session".to_owned()));
        }
        Ok(Answer {
            id: id.to_owned(),
            text,
            secret: proven.map(|(shown, secret)| secret.session(&shown.nonce)),
        })
    }

    /// What a request shows, and the secret with which it is proven; `None` without a token.
    fn proven(&self, what: (&str, &str), body: &str) -> Result<Option<(Shown, Secret)>, PlayError> {
        let Some(token) = &self.address.token else {
            return Ok(None);
        };
        let secret = Secret::of_token(token);
        let text = self.post("api/challenge", "")?;
        let challenge: Challenge = serde_json::from_str(&text)
            .map_err(|_| self.no_host("it gives no challenge".to_owned()))?;
        let shown = Shown {
            id: self.address.id.clone(),
            ..shown(&secret, challenge.nonce, what, body)
        };
        Ok(Some((shown, secret)))
    }

    /// Asks what the host says about itself, to see whether it is there and trusted.
    fn looked(&self) -> Result<(), PlayError> {
        let url = format!("{}api/info", self.address.base);
        let response = self.agent.get(url).call();
        response.map(drop).map_err(|error| self.unreached(&error))
    }

    /// Sends JSON, and returns the answer's text.
    pub(super) fn post(&self, target: &str, body: &str) -> Result<String, PlayError> {
        let url = format!("{}{target}", self.address.base);
        let response = self.agent.post(url).send(body);
        let mut response = response.map_err(|error| self.unreached(&error))?;
        let text = self.text(&mut response)?;
        if !response.status().is_success() {
            return Err(self.refused(response.status(), &text));
        }
        Ok(text)
    }

    /// Sends a message as JSON, and returns the answer.
    pub(super) fn ask<T: DeserializeOwned>(
        &self,
        target: &str,
        message: &impl Serialize,
    ) -> Result<T, PlayError> {
        let no_host = |error: serde_json::Error| self.no_host(error.to_string());
        let body = serde_json::to_string(message).map_err(no_host)?;
        serde_json::from_str(&self.post(target, &body)?).map_err(no_host)
    }

    /// Ends a session. The host ends silent sessions by itself.
    pub(super) fn end(&self, id: &str, secret: Option<&Secret>) {
        let target = format!("whep/{id}");
        let mut request = self.agent.delete(format!("{}{target}", self.address.base));
        if let Some(secret) = secret {
            let shown = shown(secret, "1".to_owned(), ("DELETE", &target), "");
            request = request.header("Authorization", shown.value());
        }
        let _ = request.call();
    }

    fn text(&self, response: &mut Response<ureq::Body>) -> Result<String, PlayError> {
        let body = response.body_mut().with_config().limit(LONGEST);
        body.read_to_string()
            .map_err(|error| self.no_host(error.to_string()))
    }

    fn unreached(&self, error: &ureq::Error) -> PlayError {
        let address = self.address.host.clone();
        match TlsFailure::found(error) {
            Some(TlsFailure::Untrusted(untrusted)) if self.address.key.is_some() => {
                PlayError::OtherKey {
                    address,
                    shown: untrusted.key,
                }
            }
            Some(TlsFailure::Untrusted(untrusted)) => PlayError::Untrusted {
                address,
                why: untrusted.why.clone(),
                key: untrusted.key,
            },
            Some(failure) => PlayError::Unreachable {
                address,
                reason: failure.to_string(),
            },
            None => PlayError::Unreachable {
                address,
                reason: error.to_string(),
            },
        }
    }

    /// The error that an answer is.
    fn refused(&self, status: StatusCode, text: &str) -> PlayError {
        match serde_json::from_str::<Problem>(text) {
            Ok(problem) => PlayError::Refused(problem),
            Err(_) => self.no_host(format!("HTTP status {status}")),
        }
    }

    pub(super) fn no_host(&self, reason: String) -> PlayError {
        PlayError::NoHost {
            address: self.address.host.clone(),
            reason,
        }
    }
}

/// What a request shows.
fn shown(secret: &Secret, nonce: String, (method, target): (&str, &str), body: &str) -> Shown {
    let request = proof::Request {
        method,
        target,
        body: body.as_bytes(),
    };
    let proof = secret.request(&nonce, &request);
    Shown {
        id: None,
        nonce,
        proof,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread::JoinHandle;

    use super::*;

    fn parsed(text: &str) -> (String, String, Option<String>) {
        let address = Address::parse(text).unwrap();
        (address.base, address.host, address.token)
    }

    fn expected(base: &str, host: &str, token: Option<&str>) -> (String, String, Option<String>) {
        (base.to_owned(), host.to_owned(), token.map(str::to_owned))
    }

    #[test]
    fn an_address_is_what_a_host_prints() {
        for (text, base, host, token) in [
            (
                "http://127.0.0.1:8080/",
                "http://127.0.0.1:8080/",
                "127.0.0.1:8080",
                None,
            ),
            ("box:8080", "https://box:8080/", "box:8080", None),
            ("box", "https://box:443/", "box:443", None),
            ("localhost:81", "http://localhost:81/", "localhost:81", None),
            ("[::1]", "http://[::1]:80/", "[::1]:80", None),
            ("127.9.9.9", "http://127.9.9.9:80/", "127.9.9.9:80", None),
            (
                "192.0.2.1/x/",
                "https://192.0.2.1:443/x/",
                "192.0.2.1:443",
                None,
            ),
            ("https://box/", "https://box:443/", "box:443", None),
            ("http://box", "http://box:80/", "box:80", None),
            (
                " http://[::1]:81/#token=abc ",
                "http://[::1]:81/",
                "[::1]:81",
                Some("abc"),
            ),
            ("http://[::1]", "http://[::1]:80/", "[::1]:80", None),
            (
                "http://b/games/#x=1&token=t",
                "http://b:80/games/",
                "b:80",
                Some("t"),
            ),
            (
                "http://b/games/index.html#token=",
                "http://b:80/games/",
                "b:80",
                None,
            ),
        ] {
            assert_eq!(parsed(text), expected(base, host, token), "{text}");
        }
        let address = Address::parse("b#token=old").unwrap();
        assert_eq!(
            address.clone().with_token(None).token.as_deref(),
            Some("old")
        );
        let other = address.with_token(Some("new".to_owned()));
        assert_eq!(other.token.as_deref(), Some("new"));
    }

    const TOKEN: &str = "player-player-player";
    const OFFER: &str = "a=fingerprint:sha-256 AA:AA\r\n";
    const ANSWER: &str = "a=fingerprint:sha-256 BB:BB\r\n";

    /// Answers a challenge and an offer as a host does that knows this token, with an answer that was
    /// changed on its way. Gives the address and what was sent there.
    fn host(knows: &'static str, sent: &'static str) -> (String, JoinHandle<String>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let serving = std::thread::spawn(move || {
            let mut heard = String::new();
            let nonce = "ab".repeat(32);
            let (mut stream, _) = listener.accept().unwrap();
            for _ in 0..2 {
                let before = heard.len();
                while !is_whole(&heard[before..]) {
                    let mut part = [0; 4_096];
                    let length = stream.read(&mut part).unwrap();
                    if length == 0 {
                        (stream, _) = listener.accept().unwrap();
                    }
                    heard += std::str::from_utf8(&part[..length]).unwrap();
                }
                let (start, body) = if heard[before..].starts_with("POST /api/challenge ") {
                    ("200 OK".to_owned(), format!("{{\"nonce\":\"{nonce}\"}}"))
                } else {
                    let answer = proof::Answer {
                        status: 201,
                        session: "1",
                        body: ANSWER.as_bytes(),
                    };
                    let secret = Secret::of_token(knows);
                    let proof = proof::hex(&secret.answer(&nonce, OFFER.as_bytes(), &answer));
                    let start =
                        format!("201 Created\r\nLocation: /whep/1\r\nMimosa-Proof: {proof}");
                    (start, sent.to_owned())
                };
                let length = body.len();
                let start = format!("HTTP/1.1 {start}\r\nContent-Length: {length}\r\n\r\n");
                stream.write_all((start + &body).as_bytes()).unwrap();
            }
            heard
        });
        (address, serving)
    }

    /// Whether a request is there with its body.
    fn is_whole(request: &str) -> bool {
        let Some((start, body)) = request.split_once("\r\n\r\n") else {
            return false;
        };
        let length = start.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("content-length").then_some(value)
        });
        length.is_none_or(|length| length.parse() == Ok(body.len()))
    }

    #[test]
    fn an_answer_is_used_if_the_host_knows_the_token_and_nobody_changed_it() {
        let changed = "a=fingerprint:sha-256 EE:EE\r\n";
        for (knows, sent, is_used) in [
            (TOKEN, ANSWER, true),
            (TOKEN, changed, false),
            ("another-another-another", ANSWER, false),
        ] {
            let (address, serving) = host(knows, sent);
            let address = Address::parse(&address)
                .unwrap()
                .with_token(Some(TOKEN.to_owned()));
            let begun = Whep::new(address).unwrap().begin(OFFER, Role::Player, None);
            match begun {
                Ok(answer) => assert!(is_used && answer.text == ANSWER, "{knows} {sent}"),
                Err(error) => {
                    assert!(!is_used, "{error}");
                    assert!(
                        error.to_string().contains("was changed on the way"),
                        "{error}"
                    );
                }
            }
            let heard = serving.join().unwrap();
            assert!(heard.contains("POST /whep?role=player "), "{heard}");
            assert!(
                heard
                    .to_lowercase()
                    .contains("authorization: mimosa nonce="),
                "{heard}"
            );
            assert!(!heard.contains(TOKEN), "{heard}");
        }
    }

    #[test]
    fn a_key_belongs_to_https() {
        let key = "0f".repeat(32);
        let known = KeyHash::parse(&key);
        for text in ["https://b/#token=t&key=", "localhost/#key="] {
            let address = Address::parse(&(text.to_owned() + &key)).unwrap();
            assert!(address.is_encrypted && address.base.starts_with("https://"));
            assert_eq!(address.key, known, "{text}");
            assert_eq!(address.with_key(None).unwrap().key, known, "{text}");
        }
        let plain = Address::parse("http://b/").unwrap();
        assert_eq!(plain.clone().with_key(None).unwrap(), plain);
        for refused in [
            plain.with_key(known),
            Address::parse(&format!("http://b/#key={key}")),
        ] {
            let error = refused.unwrap_err().to_string();
            assert!(error.contains("a key belongs to https"), "{error}");
        }
    }

    #[test]
    fn a_wrong_address_is_named_with_its_mend() {
        for (text, what) in [
            ("ftp://box:8080/", "ftp is not spoken here"),
            ("https://box/#key=0f", "no 64 hexadecimal digits"),
            ("http:///", "names no host"),
            ("", "names no host"),
            ("box:eighty", "its port is none"),
            ("box:99999/", "its port is none"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(what), "{text}: {error}");
            assert!(error.contains("write https://HOST:PORT/"), "{error}");
        }
    }
}
