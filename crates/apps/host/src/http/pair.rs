//! Pairing over HTTP (`docs/embed/protocol.md`, "Pairing").

use std::sync::{Arc, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::body::Bytes;
use axum::extract::{ConnectInfo, State};
use axum::http::StatusCode;
use axum::response::Response;
use mimosa_protocol::pairing::{Begin, Finish};
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_system::random::{bits_128, bytes};
use serde::de::DeserializeOwned;

use super::listener::Client;
use super::{App, Refusal, json};
use crate::devices::Device;
use crate::pairing::{Asking, NewDevice, Pairing};
use crate::serve::Told;

/// `POST /api/pair/ask`: the host shows a PIN at its terminal, unless it shows one.
pub(super) async fn ask(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
) -> Result<StatusCode, Refusal> {
    app.count(&app.attempts, client)?;
    let now = app.clock.now();
    let pin = with(&app, |pairing| {
        pairing.ask(now, Asking::Anybody, bits_128())
    })?;
    if let Some(pin) = pin {
        (app.tell)(&Told::Pin(pin));
    }
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /api/pair/begin`.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    body: Bytes,
) -> Result<Response, Refusal> {
    app.count(&app.attempts, client)?;
    let begin: Begin = parsed(&body)?;
    let now = app.clock.now();
    let answer = with(&app, |pairing| pairing.begin(now, &begin, bytes()))?;
    Ok(json(&answer))
}

/// `POST /api/pair/finish`.
pub(super) async fn finish(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    body: Bytes,
) -> Result<Response, Refusal> {
    app.count(&app.attempts, client)?;
    let message: Finish = parsed(&body)?;
    let now = app.clock.now();
    let id = u64::from_be_bytes(bytes());
    let finished = with(&app, |pairing| pairing.finish(now, &message, id));
    if finished
        .as_ref()
        .is_err_and(|problem| problem.error == ErrorCode::PinWrong)
    {
        tracing::warn!(address = %client.0.ip(), "a wrong PIN has been tried");
    }
    let (finished, device) = finished?;
    let role = device.role;
    let name = keep(&app, device).map_err(|error| {
        tracing::error!(%error, "a device cannot be kept");
        Problem::new(ErrorCode::HostFull, error)
    })?;
    (app.tell)(&Told::Paired { name, role });
    Ok(json(&finished))
}

/// Does something with the state of pairing, if devices can pair.
fn with<T>(app: &App, what: impl FnOnce(&mut Pairing) -> Result<T, Problem>) -> Result<T, Problem> {
    let pairing = app.pairing.as_ref().ok_or_else(|| {
        let message = "this host pairs no devices: open the URL that it printed when it started";
        Problem::new(ErrorCode::NoPairing, message.to_owned())
    })?;
    what(&mut pairing.lock().unwrap_or_else(PoisonError::into_inner))
}

fn parsed<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        let message = format!("the body is no message of pairing: {error}");
        Problem::new(ErrorCode::BadRequest, message)
    })
}

/// Keeps a device, and gives the name that it has got.
fn keep(app: &App, device: NewDevice) -> Result<String, String> {
    let devices = app.devices.as_ref().ok_or("devices cannot be kept here")?;
    let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
    let added = devices.add(Device {
        id: device.id,
        name: device.name,
        role: device.role,
        token: device.token,
        paired: seconds(),
    });
    added.map_err(|error| error.to_string())
}

/// Seconds since 1970, for people.
fn seconds() -> u64 {
    #[expect(clippy::disallowed_methods, reason = "a date for people")]
    let now = SystemTime::now();
    now.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
