//! The HTTP side of the host: page, signalling, metrics (`docs/embed/protocol.md`).

mod access;
mod challenge;
mod identity;
mod limit;
mod listener;
mod own;
mod page;
mod pair;
pub(crate) mod places;
mod redirect;
mod refusal;
mod relay;
mod timed;
mod whep;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Extension, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use mimosa_protocol::pairing::Allowed;
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_protocol::proof::{Challenge, Secret};
use mimosa_settings::{RelaySettings, Token};
use mimosa_system::random::bits_128;
use mimosa_units::TimeDelta;
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use self::access::{Access, Permission};
use self::challenge::Challenges;
use self::identity::{Identity, identify, is_private};
use self::limit::RateLimit;
use self::listener::{Client, Encrypted, Routes, in_time};
use self::places::Places;
use self::refusal::Refusal;
use crate::devices::Devices;
use crate::metrics::Metrics;
use crate::network::ToNetwork;
use crate::owning::{Invitation, Owning};
use crate::pairing::{Asking, Pairing};
use crate::serve::Told;
use crate::tls::{Answers, Door};
use crate::updates::Known;
use mimosa_system::Mailbox;
use mimosa_system::clock::Clock;

/// Largest body in bytes; an offer has about 8 KiB.
const LARGEST_BODY: usize = 64 * 1024;

/// What the handlers share.
pub(crate) struct App {
    access: Access,
    network: Mailbox<ToNetwork>,
    metrics: Arc<Metrics>,
    clock: Clock,
    /// Limit of all requests: enough for a page with its files, reloaded a few times.
    requests: Mutex<RateLimit>,
    /// Limit of offers, candidates and wrong tokens: enough for a page that reconnects.
    attempts: Mutex<RateLimit>,
    challenges: Mutex<Challenges>,
    /// Pairing, if devices can pair.
    pairing: Option<Mutex<Pairing>>,
    devices: Option<Mutex<Devices>>,
    /// Tells the host's owner something.
    pub(crate) tell: Tell,
    /// What the owner sees and changes.
    owning: Option<(Box<dyn Owning>, Option<Invitation>)>,
    /// The relay that players may use.
    relay: Option<RelaySettings>,
    places: Places,
    /// Whether there is a newer version of Mimosa, as far as this host has asked.
    pub(crate) updates: Known,
}

/// How often the list of devices is looked at. Our choice: who is revoked is gone at once, for a
/// person, and a look is one system call.
const DEVICES_LOOK: Duration = Duration::from_secs(1);

/// The owner's token, what they see and change, and the URL for other machines.
pub(crate) type Owner = (Token, Box<dyn Owning>, Option<Invitation>);
/// How the host's owner is told something.
type Tell = Box<dyn Fn(&Told) + Send + Sync>;

impl App {
    /// The state that handlers share. `names` are those by which requests may call the host, `relay` is for players; `tokens`
    /// are those for playing and for watching, and the owner's with what the owner sees; then come the devices that have paired, how others pair,
    /// and how the owner is told.
    pub(crate) fn new(
        (allowed_origins, names, relay): (&[String], Vec<String>, Option<RelaySettings>),
        (tokens, owner): (Option<(Token, Token)>, Option<Owner>),
        (devices, pairing, tell): (Option<Devices>, Option<Pairing>, Tell),
        network: Mailbox<ToNetwork>,
        metrics: Arc<Metrics>,
        clock: Clock,
    ) -> Self {
        let owner = owner.map(|(token, owning, invitation)| (token, (owning, invitation)));
        let (owner, owning) = owner.unzip();
        Self {
            access: Access {
                tokens,
                owner,
                allowed_origins: allowed_origins.to_vec(),
                names,
            },
            network,
            metrics,
            clock,
            requests: Mutex::new(RateLimit::new(200, TimeDelta::from_millis(20))),
            attempts: Mutex::new(RateLimit::new(20, TimeDelta::from_millis(500))),
            challenges: Mutex::new(Challenges::new(bits_128())),
            pairing: pairing.map(Mutex::new),
            devices: devices.map(Mutex::new),
            tell,
            owning,
            relay,
            places: Places::default(),
            updates: Known::default(),
        }
    }

    /// Tells the network which devices there are, again and again: a session that began with a
    /// device's secret just before the device was revoked is found at the next look. Completes only
    /// where devices cannot pair.
    pub(crate) async fn watch_devices(self: Arc<Self>) {
        while let Some(devices) = &self.devices {
            let ids = {
                let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
                // What is wrong with the file is said where a device comes in.
                let _ = devices.look();
                let ids = devices.list().iter().map(|device| device.id.clone());
                ids.collect::<Vec<_>>()
            };
            self.network.send(ToNetwork::Devices(ids));
            tokio::time::sleep(DEVICES_LOOK).await;
        }
    }

    /// Tells the host's owner a PIN, if devices can pair and there is a terminal to tell it at.
    pub(crate) fn show_pin(&self) {
        let Some(pairing) = &self.pairing else { return };
        let mut pairing = pairing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(Some(pin)) = pairing.ask(self.clock.now(), Asking::Anybody, bits_128()) {
            (self.tell)(&Told::Pin(pin));
        }
    }

    /// The secret of a device that has paired, and what it is good for.
    fn device(&self, id: &str) -> Option<(Secret, Permission)> {
        let devices = self.devices.as_ref()?;
        let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = devices.look() {
            tracing::warn!("the devices are those of before: {error}");
        }
        let device = devices.find(id)?;
        let permission = match device.role {
            Allowed::Play => Permission::Play,
            Allowed::View => Permission::Watch,
        };
        Some((Secret::of_token(&device.token), permission))
    }

    /// Counts a request from this client, or refuses it.
    fn count(&self, limit: &Mutex<RateLimit>, client: Client) -> Result<(), Refusal> {
        let mut limit = limit.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = limit.request(self.clock.now(), client.0.ip());
        counted.map_err(Refusal::too_many)
    }

    /// Refuses to look at tokens from this client after too many wrong ones.
    fn check_attempts(&self, client: Client) -> Result<(), Refusal> {
        let attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let checked = attempts.check(self.clock.now(), client.0.ip());
        checked.map_err(Refusal::too_many)
    }

    /// Counts a wrong token as an attempt.
    fn count_wrong(&self, identity: &Identity, client: Client) -> Result<(), Refusal> {
        let is_wrong = |problem: &Problem| {
            matches!(
                problem.error,
                ErrorCode::TokenWrong | ErrorCode::TokenInClear | ErrorCode::ChallengeOld
            )
        };
        match identity {
            Err(problem) if is_wrong(problem) => self.count(&self.attempts, client),
            _ => Ok(()),
        }
    }

    /// Asks the network's thread a question, and waits for the answer.
    async fn ask<T>(
        &self,
        question: impl FnOnce(oneshot::Sender<T>) -> ToNetwork,
    ) -> Result<T, Refusal> {
        let (reply, answer) = oneshot::channel();
        self.network.send(question(reply));
        answer.await.map_err(|_| {
            let problem = Problem::new(ErrorCode::HostFull, "the host is stopping".to_owned());
            problem.into()
        })
    }
}

/// Serves until `stop` completes, with HTTPS if there is a door for it.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    (door, answers): (Option<Door>, Arc<Answers>),
    stop: impl Future<Output = ()> + Send,
) {
    let places = app.places.clone();
    let routes = Routes {
        all: router(Arc::clone(&app)),
        sessions: app.network.clone(),
        plain: plain(app, answers),
    };
    listener::serve(listener, routes, door, places, stop).await;
}

/// Answers requests that should have come encrypted.
fn plain(app: Arc<App>, answers: Arc<Answers>) -> Router {
    Router::new()
        .route("/.well-known/acme-challenge/{token}", get(redirect::answer))
        .with_state(answers)
        .fallback(redirect::redirect)
        .layer(from_fn_with_state(app, guard))
}

fn router(app: Arc<App>) -> Router {
    let identified = Router::new()
        .route("/api/info", get(info))
        .route("/api/relay", get(relay::servers))
        .route("/api/own", get(own::look).post(own::change))
        .route("/metrics", get(metrics))
        .route("/whep", post(whep::offer).options(whep::preflight))
        .layer(from_fn_with_state(Arc::clone(&app), identify));
    Router::new()
        .merge(identified)
        .route("/api/challenge", post(challenge))
        .route("/api/pair/ask", post(pair::ask))
        .route("/api/pair/begin", post(pair::begin))
        .route("/api/pair/finish", post(pair::finish))
        .route(
            "/whep/{id}",
            patch(whep::candidates)
                .delete(whep::delete)
                .options(whep::preflight),
        )
        .fallback(page::page)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app)
}

/// Checks every request, and adds headers to every answer.
async fn guard(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    request: Request,
    next: Next,
) -> Response {
    let is_encrypted = request.extensions().get::<Encrypted>().is_some();
    let admitted = app.count(&app.requests, client).and_then(|()| {
        let origin = app.access.origin(request.headers(), is_encrypted);
        origin.map_err(Refusal::from)
    });
    let foreign = app.access.foreign_origin(request.headers());
    let foreign = foreign.and_then(|origin| HeaderValue::from_str(origin).ok());
    let is_asset = *request.method() == Method::GET && request.uri().path().starts_with("/assets/");
    let mut response = match admitted {
        Ok(()) => in_time(next.run(request)).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    if let Some(origin) = foreign {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Location, ETag, Retry-After, Mimosa-Proof"),
        );
    }
    if !is_asset && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

async fn challenge(State(app): State<Arc<App>>) -> Response {
    let challenges = app.challenges.lock();
    let mut challenges = challenges.unwrap_or_else(PoisonError::into_inner);
    let nonce = challenges.nonce(app.clock.now());
    json(&Challenge { nonce })
}

async fn info(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    encrypted: Option<Extension<Encrypted>>,
    Extension(identity): Extension<Identity>,
) -> Result<Response, Refusal> {
    let is_known = identity.is_ok();
    let is_owner = own::is_owner(&identity) && is_private(client, encrypted.as_deref());
    let is_guarded = app.access.tokens.is_some();
    let mut info = app.ask(ToNetwork::Info).await?;
    info.token_required = is_guarded;
    info.pairing = app.pairing.is_some();
    info.owner = is_owner && app.owning.is_some();
    info.relay = is_known && app.relay.is_some();
    info.stream = info.stream.filter(|_| is_known);
    Ok(json(&info))
}

async fn metrics(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    Extension(identity): Extension<Identity>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    // Programs on this machine may read the metrics, unless they are pages of a site whose name
    // leads here. All others have to show a token.
    let is_here = client.0.ip().to_canonical().is_loopback();
    if !(is_here && Access::is_local(&headers)) {
        identity?;
    }
    let kind: [(HeaderName, &str); 1] = [(
        header::CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    )];
    Ok((kind, app.metrics.text()).into_response())
}

fn json(body: &impl Serialize) -> Response {
    // The values here have string keys and finite numbers, so that serialising cannot fail.
    let body = serde_json::to_string(body).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}

#[cfg(test)]
mod own_tests;
#[cfg(test)]
mod proof_tests;
#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use axum::body::Body;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use mimosa_settings::RelaySecret;
    use mimosa_system::{Inbox, mailbox};

    use super::*;
    use crate::updates::Newer;

    pub(super) const HERE: [u8; 4] = [127, 0, 0, 1];
    pub(super) const THERE: [u8; 4] = [192, 0, 2, 1];
    pub(super) const PLAY: &str = "player-player-player";
    pub(super) const WATCH: &str = "viewer-viewer-viewer";

    /// The routes of a host with tokens, and what its network's thread is asked.
    pub(super) fn routes_and_inbox() -> (TowerToHyperService<Router>, Inbox<ToNetwork>) {
        routes_that_pair((None, None, Box::new(|_| {})))
    }

    /// The routes of a host that pairs devices, and what its network's thread is asked.
    pub(super) fn routes_that_pair(
        pairing: (Option<Devices>, Option<Pairing>, Tell),
    ) -> (TowerToHyperService<Router>, Inbox<ToNetwork>) {
        let (app, inbox) = app(pairing);
        (TowerToHyperService::new(router(app)), inbox)
    }

    /// A relay, of whose secret nothing may be told.
    pub(super) fn relay() -> RelaySettings {
        RelaySettings {
            urls: vec!["turn:relay.example.org?transport=tcp".parse().unwrap()],
            secret: RelaySecret::new("between-relay-and-host").unwrap(),
        }
    }

    fn app(pairing: (Option<Devices>, Option<Pairing>, Tell)) -> (Arc<App>, Inbox<ToNetwork>) {
        let [play, watch] = [PLAY, WATCH].map(|token| Token::new(token).unwrap());
        let (network, inbox) = mailbox().unwrap();
        let app = App::new(
            (&[], Vec::new(), Some(relay())),
            (Some((play, watch)), own::tests::owner()),
            pairing,
            network,
            Arc::new(Metrics::new()),
            Clock::start(),
        );
        app.updates.learn(Newer {
            version: "99.0.0".to_owned(),
            page: None,
        });
        (Arc::new(app), inbox)
    }

    /// The routes of a host with tokens, without the network's thread.
    fn routes() -> TowerToHyperService<Router> {
        routes_and_inbox().0
    }

    #[tokio::test]
    async fn without_encryption_only_the_page_is_sent_on() {
        let plain =
            TowerToHyperService::new(plain(app((None, None, Box::new(|_| {}))).0, Arc::default()));
        let ask = async |what, host| {
            let headers = [("host", host)];
            let response = answer(&plain, THERE, what, &headers).await;
            let location = response.headers().get(header::LOCATION).cloned();
            assert!(!response.headers().contains_key("strict-transport-security"));
            let status = response.status().as_u16();
            (
                status,
                location.map(|place| place.to_str().unwrap().to_owned()),
            )
        };
        let to = |place: &str| (308, Some(place.to_owned()));
        assert_eq!(
            ask(("GET", "/?role=view"), "192.0.2.7:8080").await,
            to("https://192.0.2.7:8080/?role=view")
        );
        let asset = ask(("HEAD", "//evil.example/x"), "[2001:db8::1]:80").await;
        assert_eq!(asset, to("https://[2001:db8::1]:80//evil.example/x"));
        for what in [
            ("POST", "/whep"),
            ("DELETE", "/whep/0"),
            ("GET", "/metrics"),
            ("GET", "/api/info"),
            ("POST", "/"),
        ] {
            assert_eq!(ask(what, "192.0.2.7").await, (403, None), "{what:?}");
        }
        let elsewhere = ask(("GET", "/"), "evil.example").await;
        assert_eq!(elsewhere, (403, None), "no name of this host");
    }

    async fn status(
        routes: &TowerToHyperService<Router>,
        from: [u8; 4],
        what: (&str, &str),
        headers: &[(&str, &str)],
    ) -> u16 {
        answer(routes, from, what, headers).await.status().as_u16()
    }

    async fn answer(
        routes: &TowerToHyperService<Router>,
        from: [u8; 4],
        what: (&str, &str),
        headers: &[(&str, &str)],
    ) -> Response {
        let mut request = Request::builder().method(what.0).uri(what.1);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(Body::empty()).unwrap();
        let client = Client((IpAddr::from(from), 1).into());
        request.extensions_mut().insert(ConnectInfo(client));
        let Ok(response) = routes.call(request).await;
        response
    }

    const LOCAL: (&str, &str) = ("host", "localhost");
    const RIGHT: (&str, &str) = ("authorization", "Bearer viewer-viewer-viewer");
    const WRONG: (&str, &str) = ("authorization", "Bearer viewer-viewer-vjewer");

    /// Guessing tokens is as slow on other paths as on that of offers, in clear or not.
    #[tokio::test]
    async fn wrong_tokens_are_attempts_wherever_they_are_shown() {
        let proof = format!("Mimosa nonce=\"00\", proof=\"{}\"", "00".repeat(32));
        let proven = ("authorization", proof.as_str());
        let cases = [(HERE, WRONG), (THERE, WRONG), (THERE, proven)];
        for path in ["/metrics", "/api/info"] {
            for (from, wrong) in cases {
                let routes = routes();
                let ask = |from, token| {
                    let routes = &routes;
                    async move { status(routes, from, ("GET", path), &[LOCAL, token]).await }
                };
                let mut limited = 0;
                for number in 0..100 {
                    let is_limited = ask(from, wrong).await == 429;
                    assert!(number >= 20 || !is_limited, "{path}");
                    limited += usize::from(is_limited);
                }
                assert!(limited > 50, "{limited} of {path}");
                assert_eq!(ask(from, RIGHT).await, 429, "a guess that is right as well");
                assert_ne!(ask([127, 0, 0, 2], RIGHT).await, 429, "{path}");
            }
        }
    }

    #[tokio::test]
    async fn the_scheme_of_a_token_has_no_case() {
        let routes = routes();
        for scheme in ["Bearer", "bearer", "BEARER"] {
            let text = format!("{scheme} viewer-viewer-viewer");
            let shown = [LOCAL, ("authorization", text.as_str())];
            let answer = status(&routes, HERE, ("GET", "/api/relay"), &shown).await;
            assert_eq!(answer, 200, "{scheme}");
        }
    }

    #[tokio::test]
    async fn candidates_are_attempts() {
        let routes = routes();
        let kind = ("content-type", "text/plain");
        let mut limited = 0;
        for _ in 0..100 {
            let patch = ("PATCH", "/whep/0");
            limited += usize::from(status(&routes, THERE, patch, &[LOCAL, kind]).await == 429);
        }
        assert!((50..=80).contains(&limited), "{limited}");
    }

    #[tokio::test]
    async fn metrics_are_for_this_machine_under_its_own_name() {
        let routes = routes();
        let metrics = ("GET", "/metrics");
        for (from, host, token, expected) in [
            (HERE, "localhost:8080", None, 200),
            (HERE, "127.0.0.1", None, 200),
            (HERE, "192.0.2.7", None, 401),
            (HERE, "evil.example", None, 403),
            (HERE, "evil.example", Some(RIGHT), 403),
            (THERE, "localhost", None, 401),
            (THERE, "192.0.2.7", Some(RIGHT), 403),
        ] {
            let headers: Vec<_> = [("host", host)].into_iter().chain(token).collect();
            let got = status(&routes, from, metrics, &headers).await;
            assert_eq!(got, expected, "{from:?} {host} {token:?}");
        }
    }

    #[tokio::test]
    async fn a_relay_is_for_whoever_knows_a_token_and_is_not_overheard() {
        let routes = routes();
        let relay = ("GET", "/api/relay");
        for (from, token, expected) in [
            (HERE, None, 401),
            (HERE, Some(WRONG), 403),
            (THERE, None, 401),
            (THERE, Some(RIGHT), 403),
            (HERE, Some(RIGHT), 200),
        ] {
            let headers: Vec<_> = [LOCAL].into_iter().chain(token).collect();
            let response = answer(&routes, from, relay, &headers).await;
            let status = response.status().as_u16();
            let body = axum::body::to_bytes(response.into_body(), 10_000).await;
            let body = String::from_utf8(body.unwrap().into()).unwrap();
            assert_eq!(status, expected, "{from:?} {token:?} {body}");
            assert!(!body.contains("between-relay"), "{body}");
            let is_told = body.contains("turn:relay.example.org:3478?transport=tcp");
            assert_eq!(is_told, expected == 200, "{body}");
            assert_eq!(body.contains("credential\":"), expected == 200, "{body}");
        }
    }

    #[tokio::test]
    async fn the_page_is_read_and_nothing_else() {
        let routes = routes();
        for method in ["POST", "PUT", "TRACE", "FOO", "OPTIONS", "DELETE"] {
            assert_eq!(status(&routes, HERE, (method, "/"), &[LOCAL]).await, 405);
        }
        for method in ["GET", "HEAD"] {
            assert_ne!(status(&routes, HERE, (method, "/"), &[LOCAL]).await, 405);
        }
        assert_eq!(
            status(&routes, HERE, ("GET", "/"), &[LOCAL, LOCAL]).await,
            400
        );
    }
}
