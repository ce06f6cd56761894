//! What a host with HTTPS answers to requests that come unencrypted from other machines.
//!
//! Source: RFC 9110, section 15.4.9 (308 keeps the method).
//!
//! *Deviations*: requests other than those for the page are refused rather than sent on, so that a
//! program that has the wrong address is mended, and does not show its token at each start. There is
//! no `Strict-Transport-Security` in any answer: browsers ignore it where the certificate is not
//! trusted (RFC 6797, section 8.1), and it would hold for all ports of the name (section 8.2), whose
//! other programs are not the host's to decide on.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use mimosa_protocol::problem::{ErrorCode, Problem};

use super::Refusal;
use crate::tls::Answers;

/// Sends whoever reads the page to the same place over HTTPS, and refuses all else.
pub(super) async fn redirect(request: Request) -> Response {
    let host = request.headers().get(header::HOST);
    let host = host.and_then(|host| host.to_str().ok());
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    if let Some(host) = host.filter(|_| reads && is_of_page(request.uri())) {
        let path = request.uri().path_and_query();
        let path = path.map_or("/", |path| path.as_str());
        let place = [(header::LOCATION, format!("https://{host}{path}"))];
        return (StatusCode::PERMANENT_REDIRECT, place).into_response();
    }
    let message = "this host takes requests from other machines by HTTPS only: write https in place of http; a token in this request could be read on the way, so have the host take another";
    Refusal::from(Problem::new(ErrorCode::HttpsRequired, message.to_owned())).into_response()
}

/// Answers an authority that looks whether this host is the one that asks for a certificate (RFC 8555, section 8.3).
pub(super) async fn answer(
    State(answers): State<Arc<Answers>>,
    Path(token): Path<String>,
) -> Response {
    let Some(answer) = answers.to(&token) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    ([(header::CONTENT_TYPE, "application/octet-stream")], answer).into_response()
}

/// Whether a file of the page may be there, rather than what programs ask for.
fn is_of_page(uri: &Uri) -> bool {
    let mut parts = uri.path().split('/').skip(1);
    !matches!(parts.next(), Some("api" | "metrics" | "whep"))
}
