//! Signalling by WHEP, as the page does it (docs/embed/protocol.md).

use std::time::Duration;

use mimosa_protocol::control::Role;
use mimosa_protocol::problem::Problem;
use mimosa_protocol::proof::{self, Challenge, Secret, Shown, is_same, session_in, unhex};
use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::{Response, StatusCode};
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{Connector, TcpConnector};

use super::address::Address;
use super::error::PlayError;
use super::secure::{TlsConnector, TlsFailure};

/// Time after which the host counts as unreachable, as for the page.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest answer that is read, in bytes.
const LONGEST: u64 = 64 * 1024;

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
    pub(super) fn looked(&self) -> Result<(), PlayError> {
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

    /// Answers one request with these bytes, which begin with the status. Gives the URL.
    fn answering(answer: Vec<u8>) -> (String, JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let serving = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut part = [0; 4_096];
            assert!(stream.read(&mut part).unwrap() > 0);
            // The client may leave before all is sent.
            let _ = stream.write_all(&answer);
        });
        (url, serving)
    }

    #[test]
    fn a_host_sends_a_client_nowhere_else() {
        let other = TcpListener::bind("127.0.0.1:0").unwrap();
        other.set_nonblocking(true).unwrap();
        let elsewhere = other.local_addr().unwrap();
        for status in ["301", "302", "307", "308"] {
            let answer = format!(
                "HTTP/1.1 {status} Elsewhere\r\nLocation: http://{elsewhere}/whep\r\nContent-Length: 0\r\n\r\n"
            );
            let (url, serving) = answering(answer.into_bytes());
            let address = Address::parse(&url).unwrap();
            let begun = Whep::new(address).unwrap().begin(OFFER, Role::Player, None);
            assert!(matches!(begun, Err(PlayError::NoHost { .. })), "{status}");
            serving.join().unwrap();
            assert!(other.accept().is_err(), "{status} was followed");
        }
    }

    #[test]
    fn an_answer_without_end_is_given_up() {
        for length in [LONGEST / 2, LONGEST + 1] {
            let start = "HTTP/1.1 201 Created\r\nLocation: /whep/1\r\nConnection: close\r\n\r\n";
            let mut answer = start.as_bytes().to_vec();
            answer.resize(answer.len() + usize::try_from(length).unwrap(), b'a');
            let (url, serving) = answering(answer);
            let address = Address::parse(&url).unwrap();
            let begun = Whep::new(address).unwrap().begin(OFFER, Role::Player, None);
            assert_eq!(begun.is_ok(), length < LONGEST, "{length} bytes");
            serving.join().unwrap();
        }
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
}
