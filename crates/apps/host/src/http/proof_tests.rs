//! Requests and answers with proofs, through the routes, and what becomes of them on their way.

use axum::body::{Body, to_bytes};
use hyper::service::Service;
use hyper_util::service::TowerToHyperService;
use mimosa_protocol::pairing::{Begin, Begun, CHANNEL, Exchange, Finish, Finished, Paired};
use mimosa_protocol::proof::{self, Secret, Shown, hex, is_same, unhex};
use mimosa_system::Inbox;
use mimosa_system::process::Folder;

use super::tests::{HERE, PLAY, THERE, WATCH, routes_and_inbox, routes_that_pair};
use super::*;
use crate::network::{Answer, SessionId, ToNetwork};

/// Offer and answer with the fingerprints that they are about.
const OFFER: &str = "v=0\r\na=fingerprint:sha-256 AA:AA\r\n";
const ANSWER: &str = "v=0\r\na=fingerprint:sha-256 BB:BB\r\n";
const ID: &str = "00112233445566778899aabbccddeeff";
const TARGET: &str = "whep?role=player";

pub(super) struct Host {
    routes: TowerToHyperService<Router>,
    inbox: Inbox<ToNetwork>,
}

/// What a request is answered with.
pub(super) struct Answered {
    pub(super) status: u16,
    headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Answered {
    pub(super) fn code(&self) -> Option<ErrorCode> {
        let problem = serde_json::from_slice::<Problem>(&self.body);
        problem.ok().map(|problem| problem.error)
    }

    /// Whether the answer comes from somebody who knows the secret.
    pub(super) fn is_proven(&self, secret: &Secret, nonce: &str, asked: &str) -> bool {
        let header = |name: &str| self.headers.get(name).map(|value| value.to_str().unwrap());
        let answer = proof::Answer {
            status: self.status,
            session: proof::session_in(header("location")),
            body: &self.body,
        };
        let proof = header("mimosa-proof").and_then(unhex::<32>);
        let expected = secret.answer(nonce, asked.as_bytes(), &answer);
        proof.is_some_and(|proof| is_same(&proof, &expected))
    }
}

impl Host {
    pub(super) fn start() -> Self {
        let (routes, inbox) = routes_and_inbox();
        Self { routes, inbox }
    }

    pub(super) fn that_pairs(devices: Devices, pairing: Pairing, tell: Tell) -> Self {
        let (routes, inbox) = routes_that_pair((Some(devices), Some(pairing), tell));
        Self { routes, inbox }
    }

    /// Sends a request, and answers offers in the place of the network's thread.
    pub(super) async fn ask(
        &self,
        from: [u8; 4],
        (method, target): (&str, &str),
        authorization: Option<&str>,
        body: &str,
    ) -> Answered {
        let request = Request::builder()
            .method(method)
            .uri(format!("/{target}"))
            .header("host", "192.0.2.7:8080")
            .header("content-type", "application/sdp");
        let request = match authorization {
            Some(value) => request.header("authorization", value),
            None => request,
        };
        let mut request = request.body(Body::from(body.to_owned())).unwrap();
        let client = Client((std::net::IpAddr::from(from), 1).into());
        request.extensions_mut().insert(ConnectInfo(client));
        let Ok(response) = tokio::select! {
            response = self.routes.call(request) => response,
            () = self.network() => unreachable!(),
        };
        let (parts, body) = response.into_parts();
        Answered {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: to_bytes(body, 1 << 20).await.unwrap().into(),
        }
    }

    async fn network(&self) {
        loop {
            match self.inbox.take() {
                Some(ToNetwork::Offer(_, reply)) => {
                    let answer = Answer {
                        text: ANSWER.to_owned(),
                        id: SessionId(ID.to_owned()),
                    };
                    let _ = reply.send(Ok(answer));
                }
                Some(ToNetwork::List(reply)) => {
                    let _ = reply.send(Vec::new());
                }
                Some(ToNetwork::End(number, reply)) => {
                    let _ = reply.send(number.0 == 3);
                }
                _ => {}
            }
            tokio::task::yield_now().await;
        }
    }

    pub(super) async fn nonce(&self) -> String {
        let answered = self.ask(THERE, ("POST", "api/challenge"), None, "").await;
        let challenge: serde_json::Value = serde_json::from_slice(&answered.body).unwrap();
        challenge["nonce"].as_str().unwrap().to_owned()
    }

    /// Sends an offer with the proof of another one.
    async fn offer(&self, token: &str, nonce: &str, proven: &str, sent: &str) -> Answered {
        let value = shown(token, nonce, ("POST", TARGET), proven);
        self.ask(THERE, ("POST", TARGET), Some(&value), sent).await
    }
}

pub(super) fn shown(
    token: &str,
    nonce: &str,
    (method, target): (&str, &str),
    body: &str,
) -> String {
    let request = proof::Request {
        method,
        target,
        body: body.as_bytes(),
    };
    let shown = Shown {
        id: None,
        nonce: nonce.to_owned(),
        proof: Secret::of_token(token).request(nonce, &request),
    };
    shown.value()
}

#[tokio::test]
async fn a_sign_in_is_proven_by_both_sides_and_shows_no_token() {
    let host = Host::start();
    let nonce = host.nonce().await;
    let value = shown(PLAY, &nonce, ("POST", TARGET), OFFER);
    assert!(!value.contains(PLAY) && !value.contains(&hex(PLAY.as_bytes())));
    let answered = host.ask(THERE, ("POST", TARGET), Some(&value), OFFER).await;
    assert_eq!((answered.status, &*answered.body), (201, ANSWER.as_bytes()));
    assert!(answered.is_proven(&Secret::of_token(PLAY), &nonce, OFFER));
    assert!(!answered.is_proven(&Secret::of_token(WATCH), &nonce, OFFER));
}

/// Somebody on the way who puts their own fingerprint into the offer is refused by the host.
#[tokio::test]
async fn an_offer_that_was_changed_is_refused() {
    let host = Host::start();
    let nonce = host.nonce().await;
    let changed = OFFER.replace("AA", "EE");
    let answered = host.offer(PLAY, &nonce, OFFER, &changed).await;
    assert_eq!(
        (answered.status, answered.code()),
        (403, Some(ErrorCode::TokenWrong))
    );
    assert!(
        !answered.headers.contains_key("mimosa-proof"),
        "to no stranger"
    );
    let other = ("POST", "whep?role=viewer");
    let value = shown(PLAY, &nonce, ("POST", TARGET), OFFER);
    assert_eq!(
        host.ask(THERE, other, Some(&value), OFFER).await.status,
        403
    );
    // A wrong proof spends no nonce: the one that is right still comes through.
    assert_eq!(host.offer(PLAY, &nonce, OFFER, OFFER).await.status, 201);
}

/// Somebody on the way who puts their own fingerprint into the answer is noticed.
#[tokio::test]
async fn an_answer_that_was_changed_is_noticed() {
    let host = Host::start();
    let nonce = host.nonce().await;
    let mut answered = host.offer(PLAY, &nonce, OFFER, OFFER).await;
    let secret = Secret::of_token(PLAY);
    assert!(answered.is_proven(&secret, &nonce, OFFER));
    let changed = ANSWER.replace("BB", "EE");
    let body = std::mem::replace(&mut answered.body, changed.into_bytes());
    assert!(!answered.is_proven(&secret, &nonce, OFFER));
    answered.body = body;
    answered
        .headers
        .insert("location", HeaderValue::from_static("/whep/1"));
    assert!(!answered.is_proven(&secret, &nonce, OFFER));
}

#[tokio::test]
async fn a_request_is_good_once() {
    let host = Host::start();
    let nonce = host.nonce().await;
    assert_eq!(host.offer(PLAY, &nonce, OFFER, OFFER).await.status, 201);
    let again = host.offer(PLAY, &nonce, OFFER, OFFER).await;
    assert_eq!(
        (again.status, again.code()),
        (401, Some(ErrorCode::ChallengeOld))
    );
    let made_up = "00".repeat(32);
    let answered = host.offer(PLAY, &made_up, OFFER, OFFER).await;
    assert_eq!(answered.code(), Some(ErrorCode::ChallengeOld));
}

#[tokio::test]
async fn roles_hold_and_refusals_are_proven() {
    let host = Host::start();
    let nonce = host.nonce().await;
    let refused = host.offer(WATCH, &nonce, OFFER, OFFER).await;
    assert_eq!(
        (refused.status, refused.code()),
        (403, Some(ErrorCode::ViewOnly))
    );
    assert!(refused.is_proven(&Secret::of_token(WATCH), &nonce, OFFER));
}

#[tokio::test]
async fn a_token_in_clear_is_refused_from_other_machines() {
    let host = Host::start();
    let bearer = format!("Bearer {PLAY}");
    let whep = ("POST", TARGET);
    assert_eq!(host.ask(HERE, whep, Some(&bearer), OFFER).await.status, 201);
    let refused = host.ask(THERE, whep, Some(&bearer), OFFER).await;
    assert_eq!(
        (refused.status, refused.code()),
        (403, Some(ErrorCode::TokenInClear))
    );
    let malformed = host.ask(THERE, whep, Some("Mimosa nonce=1"), OFFER).await;
    assert_eq!(malformed.code(), Some(ErrorCode::BadRequest));
    let nothing = host.ask(THERE, whep, None, OFFER).await;
    assert_eq!(nothing.code(), Some(ErrorCode::TokenMissing));
    let large = "a".repeat(LARGEST_BODY + 1);
    let value = shown(PLAY, "00", whep, &large);
    let refused = host.ask(THERE, whep, Some(&value), &large).await;
    assert_eq!(refused.code(), Some(ErrorCode::TooLarge));
}

/// A device with this PIN tries to pair.
pub(super) async fn pair(host: &Host, pin: &str) -> Result<(Finished, String), Option<ErrorCode>> {
    let session = [7; 16];
    let exchange = Exchange::begin(pin.as_bytes(), CHANNEL, session, [8; 32]);
    let begin = Begin {
        name: "Phone".to_owned(),
        session: hex(&session),
        share: hex(&exchange.share()),
    };
    let send = async |step: &str, body: String| {
        let target = format!("api/pair/{step}");
        let answered = host.ask(THERE, ("POST", &target), None, &body).await;
        match answered.status {
            200 => Ok(answered.body),
            _ => Err(answered.code()),
        }
    };
    let answer = send("begin", serde_json::to_string(&begin).unwrap()).await?;
    let answer: Begun = serde_json::from_slice(&answer).unwrap();
    let share = unhex(&answer.share).unwrap();
    let paired = Paired::new(&exchange.initiated(b"Phone", &share, b"").unwrap());
    let finish = Finish {
        session: hex(&session),
        proof: hex(&paired.by_device()),
    };
    let finished = send("finish", serde_json::to_string(&finish).unwrap()).await?;
    let finished: Finished = serde_json::from_slice(&finished).unwrap();
    let proof = hex(&paired.by_host(&finished.id, finished.role, finished.key.as_deref()));
    assert_eq!(finished.proof, proof);
    Ok((finished, paired.token()))
}

/// What the host answers to a proven offer of a device.
async fn offered(host: &Host, id: &str, token: &str, target: &str) -> Answered {
    let nonce = host.nonce().await;
    let shown = Shown {
        id: Some(id.to_owned()),
        ..Shown::parse(&shown(token, &nonce, ("POST", target), OFFER))
            .unwrap()
            .unwrap()
    };
    host.ask(THERE, ("POST", target), Some(&shown.value()), OFFER)
        .await
}

#[tokio::test]
async fn a_device_pairs_by_its_pin_and_comes_in_until_it_is_revoked() {
    let folder = Folder::create("mimosa-pairs").unwrap();
    let path = folder.path().join("devices.toml");
    let pins = Arc::new(Mutex::new(Vec::new()));
    let shown_pins = Arc::clone(&pins);
    let tell = move |told: &Told| {
        if let Told::Pin(pin) = told {
            shown_pins.lock().unwrap().push(pin.clone());
        }
    };
    let devices = Devices::at(&path).unwrap();
    let pairing = Pairing::new(Allowed::View, Asking::Anybody, None);
    let host = Host::that_pairs(devices, pairing, Box::new(tell));

    assert_eq!(
        pair(&host, "123456").await.err(),
        Some(Some(ErrorCode::PinOld))
    );
    let asked = host.ask(THERE, ("POST", "api/pair/ask"), None, "{}").await;
    assert_eq!(asked.status, 204);
    let pin = pins.lock().unwrap().pop().unwrap();
    let wrong = if pin == "123456" { "654321" } else { "123456" };
    assert_eq!(
        pair(&host, wrong).await.err(),
        Some(Some(ErrorCode::PinWrong))
    );
    let (finished, token) = pair(&host, &pin).await.unwrap();
    assert_eq!(pair(&host, &pin).await.err(), Some(Some(ErrorCode::PinOld)));

    let watch = "whep?role=viewer";
    assert_eq!(
        offered(&host, &finished.id, &token, watch).await.status,
        201
    );
    let player = offered(&host, &finished.id, &token, TARGET).await;
    assert_eq!(player.code(), Some(ErrorCode::ViewOnly));
    let other = offered(&host, "0000000000000000", &token, watch).await;
    assert_eq!(other.code(), Some(ErrorCode::TokenWrong));
    Devices::at(&path).unwrap().revoke("Phone").unwrap();
    let revoked = offered(&host, &finished.id, &token, watch).await;
    assert_eq!(revoked.code(), Some(ErrorCode::TokenWrong));

    let host = Host::start();
    let none = host.ask(THERE, ("POST", "api/pair/ask"), None, "{}").await;
    assert_eq!(
        (none.status, none.code()),
        (404, Some(ErrorCode::NoPairing))
    );
}
