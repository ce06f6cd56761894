//! An answer that refuses: a problem in JSON, with the time to wait where waiting helps.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_units::TimeDelta;

use super::json;

/// A refusal, with the time to wait if there is one.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) problem: Problem,
    pub(super) wait: Option<TimeDelta>,
}

impl Refusal {
    pub(super) fn too_many(wait: TimeDelta) -> Self {
        let message = "too many requests; wait a moment".to_owned();
        Self {
            problem: Problem::new(ErrorCode::TooManyRequests, message),
            wait: Some(wait),
        }
    }
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
