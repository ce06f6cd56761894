//! Who sends a request: finds out from its `Authorization`, and proves the answer to whoever has
//! proven the request (`docs/embed/protocol.md`, "Proofs").

use std::sync::{Arc, PoisonError};

use axum::body::{Body, to_bytes};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_protocol::proof::{self, Secret, Shown, hex, is_same, session_in};

use super::access::{Permission, only};
use super::listener::{Client, Encrypted};
use super::{App, LARGEST_BODY, Refusal};

/// The header with the proof of an answer.
pub(super) const PROOF: HeaderName = HeaderName::from_static("mimosa-proof");
/// Longest answer that is proven, in bytes; the metrics of a full host have below 100 kB.
const LARGEST_ANSWER: usize = 4 << 20;

/// Who sends a request, as far as the host knows: an extension of the request.
pub(super) type Identity = Result<Known, Problem>;

/// Somebody who may do something.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// What they may do.
    pub(super) permission: Permission,
    /// The secret of the session that the request may begin; `None` if it was not proven.
    pub(super) session: Option<Secret>,
    /// The identifier of the device whose token it is, if one has paired for it.
    pub(super) device: Option<String>,
}

impl Known {
    /// Somebody who has proven nothing.
    pub(super) const fn unproven(permission: Permission) -> Self {
        Self {
            permission,
            session: None,
            device: None,
        }
    }
}

/// Whether nobody on the way can read a request and its answer: it came encrypted, or from this machine.
pub(super) fn is_private(client: Client, encrypted: Option<&Encrypted>) -> bool {
    encrypted.is_some() || client.0.ip().to_canonical().is_loopback()
}

/// Finds out who sends a request, and proves the answer.
pub(super) async fn identify(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    request: Request,
    next: Next,
) -> Response {
    match proven(&app, client, request, next).await {
        Ok(response) => response,
        Err(refusal) => refusal.into_response(),
    }
}

async fn proven(
    app: &App,
    client: Client,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let given = only(request.headers(), header::AUTHORIZATION)
        .ok()
        .flatten();
    let (Some(given), true) = (given, app.access.tokens.is_some()) else {
        let identity: Identity = app.access.stranger().map(Known::unproven);
        request.extensions_mut().insert(identity);
        return Ok(next.run(request).await);
    };
    app.check_attempts(client)?;
    let Some(shown) = Shown::parse(given) else {
        let is_private = is_private(client, request.extensions().get());
        let identity = bearer(app, (client, is_private), given).map(Known::unproven);
        app.count_wrong(&identity, client)?;
        request.extensions_mut().insert(identity);
        return Ok(next.run(request).await);
    };
    let shown = shown.map_err(|error| Problem::new(ErrorCode::BadRequest, error.to_string()))?;
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, LARGEST_BODY).await.map_err(|_| {
        let message = "at most 64 KiB are read, and all of them have to come".to_owned();
        Problem::new(ErrorCode::TooLarge, message)
    })?;
    let asked = proof::Request {
        method: parts.method.as_str(),
        target: target(
            parts
                .uri
                .path_and_query()
                .map_or("", |target| target.as_str()),
        ),
        body: &body,
    };
    let owner = owner(app, &shown, &asked);
    let identity = owner.as_ref().map(|(secret, permission)| Known {
        permission: *permission,
        session: Some(secret.session(&shown.nonce)),
        device: shown.id.clone(),
    });
    let identity: Identity = identity.map_err(Clone::clone);
    app.count_wrong(&identity, client)?;
    let mut request = Request::from_parts(parts, Body::from(body.clone()));
    request.extensions_mut().insert(identity);
    let response = next.run(request).await;
    match owner {
        Ok((secret, _)) => Ok(with_proof(response, &secret, &shown.nonce, &body).await),
        Err(_) => Ok(response),
    }
}

/// The part of a request's path and query that is in its proof.
pub(super) fn target(path: &str) -> &str {
    path.strip_prefix('/').unwrap_or(path)
}

/// The header of ours that a request shows, if it does and the header is right.
pub(super) fn shown(headers: &HeaderMap) -> Option<Shown> {
    let given = only(headers, header::AUTHORIZATION).ok().flatten()?;
    Shown::parse(given)?.ok()
}

/// The permission of a token that was sent itself, from this client and unread by others or not.
fn bearer(
    app: &App,
    (client, is_private): (Client, bool),
    given: &str,
) -> Result<Permission, Problem> {
    let (scheme, token) = given.split_once(' ').unwrap_or((given, ""));
    if !scheme.eq_ignore_ascii_case("bearer") {
        return app.access.stranger();
    }
    if !is_private {
        tracing::warn!(
            address = %client.0.ip(),
            "a token has been sent in clear and is refused; others may know it now: start the host with another"
        );
        let message = "a token that is sent itself can be read on its way, and is refused from other machines; prove it with `Authorization: Mimosa` (docs/embed/protocol.md), or send it by HTTPS";
        return Err(Problem::new(ErrorCode::TokenInClear, message.to_owned()));
    }
    app.access.permission(token)
}

/// The secret with which this request was proven, and what it is good for. Its nonce is spent.
fn owner(
    app: &App,
    shown: &Shown,
    asked: &proof::Request<'_>,
) -> Result<(Secret, Permission), Problem> {
    let known = match &shown.id {
        None => app.access.secrets(),
        Some(id) => app.device(id).into_iter().collect(),
    };
    let found = known
        .into_iter()
        .find(|(secret, _)| is_same(&secret.request(&shown.nonce, asked), &shown.proof))
        .ok_or_else(|| app.access.wrong())?;
    let mut challenges = app
        .challenges
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    challenges.spend(app.clock.now(), &shown.nonce).map_err(|_| {
        let message = "this proof is not good any more: its nonce is not this host's, older than 60 s, or was used before; ask for another with POST /api/challenge".to_owned();
        Problem::new(ErrorCode::ChallengeOld, message)
    })?;
    Ok(found)
}

/// An answer with its proof.
async fn with_proof(response: Response, secret: &Secret, nonce: &str, asked: &[u8]) -> Response {
    let (mut parts, body) = response.into_parts();
    let Ok(body) = to_bytes(body, LARGEST_ANSWER).await else {
        // Only the page's files are longer, and those ask for no token.
        return Response::from_parts(parts, Body::empty());
    };
    let location = parts.headers.get(header::LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    let answer = proof::Answer {
        status: parts.status.as_u16(),
        session: session_in(location),
        body: &body,
    };
    let proof = hex(&secret.answer(nonce, asked, &answer));
    if let Ok(value) = HeaderValue::from_str(&proof) {
        parts.headers.insert(PROOF, value);
    }
    Response::from_parts(parts, Body::from(body))
}
