//! The HTTP side: page, signalling, metrics (`docs/protocol.md`).

mod access;
mod limit;
mod listener;
mod page;
mod whep;

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use mimosa_settings::{Settings, Token};
use mimosa_units::TimeDelta;
use mimosa_wire::problem::{ErrorCode, Problem};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use self::access::Access;
use self::limit::RateLimit;
use self::listener::{Client, Limited};
use crate::clock::Clock;
use crate::metrics::Metrics;
use crate::network::ToNetwork;
use mimosa_threads::Mailbox;

/// An offer has about 8 KiB.
const LARGEST_BODY: usize = 64 * 1024;

/// What the handlers share.
pub(crate) struct App {
    access: Access,
    network: Mailbox<ToNetwork>,
    metrics: Arc<Metrics>,
    clock: Clock,
    /// Requests of any kind: a page with its parts, reloaded a few times.
    requests: Mutex<RateLimit>,
    /// Offers and wrong tokens: a page that reconnects, with patience.
    attempts: Mutex<RateLimit>,
}

impl App {
    /// The handlers' state; `tokens` are for playing and for watching.
    pub(crate) fn new(
        settings: &Settings,
        tokens: Option<(Token, Token)>,
        network: Mailbox<ToNetwork>,
        metrics: Arc<Metrics>,
        clock: Clock,
    ) -> Self {
        Self {
            access: Access {
                tokens,
                allowed_origins: settings.allowed_origins.clone(),
            },
            network,
            metrics,
            clock,
            requests: Mutex::new(RateLimit::new(200, TimeDelta::from_millis(20))),
            attempts: Mutex::new(RateLimit::new(20, TimeDelta::from_millis(500))),
        }
    }

    /// Counts a request against a limit.
    fn count(&self, limit: &Mutex<RateLimit>, client: Client) -> Result<(), Refusal> {
        let mut limit = limit.lock().unwrap_or_else(PoisonError::into_inner);
        limit
            .request(self.clock.now(), client.0.ip())
            .map_err(|wait| {
                let problem = Problem::new(
                    ErrorCode::TooManyRequests,
                    "too many requests; wait a moment".to_owned(),
                );
                Refusal {
                    problem,
                    wait: Some(wait),
                }
            })
    }

    /// Asks the network's thread something.
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

/// A request that is not granted.
#[derive(Debug)]
struct Refusal {
    problem: Problem,
    wait: Option<TimeDelta>,
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Self {
        Self {
            problem,
            wait: None,
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.problem.error.status());
        let mut response = json(&self.problem);
        *response.status_mut() = status.unwrap_or(StatusCode::BAD_REQUEST);
        if let Some(wait) = self.wait {
            let seconds = wait.as_secs().ceil().max(1.0);
            if let Ok(value) = HeaderValue::from_str(&format!("{seconds:.0}")) {
                response.headers_mut().insert(header::RETRY_AFTER, value);
            }
        }
        response
    }
}

/// Serves until `stop` is told.
pub(crate) async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> std::io::Result<()> {
    let router = Router::new()
        .route("/api/info", get(info))
        .route("/metrics", get(metrics))
        .route("/whep", post(whep::offer).options(whep::preflight))
        .route(
            "/whep/{id}",
            patch(whep::candidates)
                .delete(whep::delete)
                .options(whep::preflight),
        )
        .fallback(page::page)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(from_fn_with_state(Arc::clone(&app), guard))
        .with_state(app);
    axum::serve(
        Limited::new(listener),
        router.into_make_service_with_connect_info::<Client>(),
    )
    .with_graceful_shutdown(stop)
    .await
}

/// What every request has to pass, and gets on its way back.
async fn guard(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    request: Request,
    next: Next,
) -> Response {
    let admitted = app
        .count(&app.requests, client)
        .and_then(|()| app.access.origin(request.headers()).map_err(Refusal::from));
    let foreign = app.access.foreign_origin(request.headers());
    let foreign = foreign.and_then(|origin| HeaderValue::from_str(origin).ok());
    let is_asset = *request.method() == Method::GET && request.uri().path().starts_with("/assets/");
    let mut response = match admitted {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    if let Some(origin) = foreign {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("Origin"));
        headers.insert(
            header::ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("Location, ETag, Retry-After"),
        );
    }
    if !is_asset && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

async fn info(State(app): State<Arc<App>>, headers: HeaderMap) -> Result<Response, Refusal> {
    let is_known = app.access.permission(&headers).is_ok();
    let is_guarded = app.access.tokens.is_some();
    let mut info = app.ask(ToNetwork::Info).await?;
    info.token_required = is_guarded;
    info.stream = info.stream.filter(|_| is_known);
    Ok(json(&info))
}

async fn metrics(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    // Whoever sits at this machine may look; others show a token.
    if !client.0.ip().is_loopback() {
        app.access.permission(&headers)?;
    }
    let kind: [(HeaderName, &str); 1] = [(
        header::CONTENT_TYPE,
        "application/openmetrics-text; version=1.0.0; charset=utf-8",
    )];
    Ok((kind, app.metrics.text()).into_response())
}

fn json(body: &impl Serialize) -> Response {
    // What is serialised here has text keys and finite numbers: it cannot fail.
    let body = serde_json::to_string(body).unwrap_or_default();
    ([(header::CONTENT_TYPE, "application/json")], body).into_response()
}
