//! Signalling: WHEP (draft-ietf-wish-whep), with the page's parameters.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, QueryRejection};
use axum::extract::{ConnectInfo, Extension, Path, Query, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use mimosa_protocol::control::{FeedbackKind, Role};
use mimosa_protocol::problem::{ErrorCode, Problem};
use serde::Deserialize;

use super::access::Permission;
use super::identity::{self, Identity};
use super::listener::Client;
use super::{App, Refusal};
use crate::network::{Offer, SessionId, ToNetwork, Within};

const OFFER_TYPE: &str = "application/sdp";
const CANDIDATES_TYPE: &str = "application/trickle-ice-sdpfrag";
/// Most candidates of one request; a browser has a handful.
const MOST_CANDIDATES: usize = 32;

#[derive(Debug, Deserialize)]
pub(super) struct Parameters {
    role: Option<String>,
    feedback: Option<String>,
    replaces: Option<String>,
}

/// `POST /whep`.
pub(super) async fn offer(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    Extension(identity): Extension<Identity>,
    headers: HeaderMap,
    parameters: Result<Query<Parameters>, QueryRejection>,
    body: Result<Bytes, BytesRejection>,
) -> Result<Response, Refusal> {
    app.count(&app.attempts, client)?;
    let known = identity?;
    let text = text(&headers, OFFER_TYPE, body)?;
    let Query(parameters) =
        parameters.map_err(|error| bad(format!("the query is not understood: {error}")))?;
    let role = role(parameters.role.as_deref(), known.permission)?;
    let feedback = parameters
        .feedback
        .map(|name| {
            FeedbackKind::from_name(&name).ok_or_else(|| {
                bad(format!(
                    "`{name}` is no feedback; write rfc8888, twcc-02, twcc-01 or none"
                ))
            })
        })
        .transpose()?;
    let offer = Offer {
        text,
        role,
        feedback,
        replaces: parameters.replaces.map(SessionId),
        may_play: known.permission != Permission::Watch,
        secret: known.session,
        device: known.device,
        from: client.0.ip(),
    };
    let answer = app
        .ask(|reply| ToNetwork::Offer(Box::new(offer), reply))
        .await??;
    // Relative to `/whep`, so that it also leads back through a proxy that has this host below a
    // path of its own (RFC 9110, section 10.2.2).
    let place = format!("whep/{}", answer.id.0);
    Ok((
        StatusCode::CREATED,
        [
            (header::CONTENT_TYPE, OFFER_TYPE.to_owned()),
            (header::LOCATION, place),
            // The session has a single ICE session, which is never restarted.
            (header::ETAG, "\"1\"".to_owned()),
        ],
        answer.text,
    )
        .into_response())
}

/// `PATCH /whep/ID`: candidates, of which only the form is checked
/// ([`check_candidate`](mimosa_transport::check_candidate)).
pub(super) async fn candidates(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    Path(id): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<StatusCode, Refusal> {
    app.count(&app.attempts, client)?;
    let text = text(&headers, CANDIDATES_TYPE, body)?;
    let lines: Vec<String> = text
        .lines()
        .filter_map(|line| line.trim_end().strip_prefix("a="))
        .filter(|line| line.starts_with("candidate:"))
        .map(str::to_owned)
        .collect();
    if lines.len() > MOST_CANDIDATES {
        return Err(bad(format!("at most {MOST_CANDIDATES} candidates at once")).into());
    }
    let within = within(id, &Method::PATCH, &uri, &headers, text);
    app.ask(|reply| ToNetwork::Candidates(Box::new(within), lines, reply))
        .await??;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /whep/ID`.
pub(super) async fn delete(
    State(app): State<Arc<App>>,
    Path(id): Path<String>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<StatusCode, Refusal> {
    let within = within(id, &Method::DELETE, &uri, &headers, String::new());
    app.ask(|reply| ToNetwork::Delete(Box::new(within), reply))
        .await??;
    Ok(StatusCode::OK)
}

/// A request within a session, with what it shows.
fn within(id: String, method: &Method, uri: &Uri, headers: &HeaderMap, body: String) -> Within {
    let target = uri.path_and_query().map_or("", |target| target.as_str());
    Within {
        id: SessionId(id),
        shown: identity::shown(headers),
        method: method.as_str().to_owned(),
        target: identity::target(target).to_owned(),
        body,
    }
}

/// `OPTIONS`, which browsers send before requests of other sites' pages.
pub(super) async fn preflight() -> Response {
    (
        StatusCode::NO_CONTENT,
        [
            (
                header::ACCESS_CONTROL_ALLOW_METHODS,
                "POST, PATCH, DELETE, OPTIONS",
            ),
            (
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, If-Match",
            ),
            (header::ACCESS_CONTROL_MAX_AGE, "600"),
        ],
    )
        .into_response()
}

fn role(name: Option<&str>, permission: Permission) -> Result<Role, Problem> {
    match (name, permission) {
        (Some("player"), Permission::Own | Permission::Play) => Ok(Role::Player),
        (Some("player"), Permission::Watch) => Err(Problem::new(
            ErrorCode::ViewOnly,
            "this link is for watching; ask the host for the one to play".to_owned(),
        )),
        (Some("viewer") | None, _) => Ok(Role::Viewer),
        (Some(name), _) => Err(bad(format!("`{name}` is no role; write player or viewer"))),
    }
}

/// The body as text, if it has the right type.
fn text(
    headers: &HeaderMap,
    kind: &str,
    body: Result<Bytes, BytesRejection>,
) -> Result<String, Problem> {
    let given = headers
        .get(header::CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .map(str::trim);
    if !given.is_some_and(|given| given.eq_ignore_ascii_case(kind)) {
        return Err(Problem::new(
            ErrorCode::BadType,
            format!("the body's Content-Type must be {kind}"),
        ));
    }
    let body = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            Problem::new(ErrorCode::TooLarge, "at most 64 KiB are read".to_owned())
        }
        _ => bad(format!("the body cannot be read: {error}")),
    })?;
    String::from_utf8(body.into()).map_err(|_| bad("the body is not UTF-8".to_owned()))
}

fn bad(message: String) -> Problem {
    Problem::new(ErrorCode::BadRequest, message)
}
