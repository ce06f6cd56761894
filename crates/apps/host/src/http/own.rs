//! What the host's owner sees and changes (`docs/embed/protocol.md`, "The owner's page").
//!
//! Only a request that is proven with the owner's token gets here: no token that plays or watches, no paired
//! device, no token that was sent itself, and nobody on a host that asks for none. The answer has a PIN and a
//! token for playing, and so is given only where nobody on the way can read it.

use std::sync::{Arc, PoisonError};

use axum::body::Bytes;
use axum::extract::{ConnectInfo, Extension, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_system::random::bits_128;

use super::access::Permission;
use super::identity::{Identity, is_private};
use super::listener::{Client, Encrypted};
use super::{App, Refusal, json};
use crate::devices::{Devices, DevicesError};
use crate::network::{SessionNumber, ToNetwork};
use crate::owning::{Invitation, KnownDevice, Owning, Shown, Told, Wish};
use crate::pairing::Asking;
use crate::serve::Told as ToOwner;
use crate::sessions;

/// Whether a request was proven with the owner's token.
pub(super) fn is_owner(identity: &Identity) -> bool {
    identity.as_ref().is_ok_and(|known| {
        known.permission == Permission::Own && known.session.is_some() && known.device.is_none()
    })
}

/// What the owner may use, if the request is the owner's. Whoever tries with nothing counts as somebody
/// who tries a wrong token.
fn owning(
    app: &App,
    (client, encrypted): (Client, Option<Extension<Encrypted>>),
    identity: Identity,
) -> Result<&(Box<dyn Owning>, Option<Invitation>), Refusal> {
    let is_owner = is_owner(&identity);
    let is_private = is_private(client, encrypted.as_deref());
    if is_owner && !is_private {
        let message = "the owner's page comes by HTTPS, or from the host's own machine, since others could read its PINs and tokens on the way";
        return Err(Problem::new(ErrorCode::HttpsRequired, message.to_owned()).into());
    }
    match &app.owning {
        Some(owning) if is_owner => Ok(owning),
        _ => {
            app.count(&app.attempts, client)?;
            identity?;
            let message = "this is for the host's owner, with the URL that it prints as `own`";
            Err(Problem::new(ErrorCode::OwnerOnly, message.to_owned()).into())
        }
    }
}

/// `GET /api/own`.
pub(super) async fn look(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    encrypted: Option<Extension<Encrypted>>,
    Extension(identity): Extension<Identity>,
) -> Result<Response, Refusal> {
    let (owning, invitation) = owning(&app, (client, encrypted), identity)?;
    let mut sessions = app.ask(ToNetwork::List).await?;
    sessions::name(&mut sessions);
    let now = app.clock.now();
    let pin = app.pairing.as_ref().and_then(|pairing| {
        let pairing = pairing.lock().unwrap_or_else(PoisonError::into_inner);
        let (pin, left) = pairing.shown(now)?;
        Some(Shown {
            pin: pin.to_owned(),
            seconds: left.as_secs(),
        })
    });
    let devices = app.devices.as_ref().map(|devices| {
        let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
        // What is wrong with the file is said where a device comes in.
        let _ = devices.look();
        devices.list().iter().map(KnownDevice::from).collect()
    });
    let (settings, trouble) = match owning.settings() {
        Ok(settings) => (settings, None),
        Err(error) => (Vec::new(), Some(error)),
    };
    Ok(json(&Told {
        settings,
        trouble,
        sessions,
        devices,
        pairs: app.pairing.is_some(),
        pin,
        invitation: invitation.clone(),
        update: app.updates.newer(),
    }))
}

/// `POST /api/own`.
pub(super) async fn change(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    encrypted: Option<Extension<Encrypted>>,
    Extension(identity): Extension<Identity>,
    body: Bytes,
) -> Result<Response, Refusal> {
    let (owning, _) = owning(&app, (client, encrypted), identity)?;
    let wish = serde_json::from_slice(&body).map_err(|error| bad(error.to_string()))?;
    match wish {
        Wish::Setting { name, value } => {
            owning.change(&name, &value).map_err(bad)?;
            tracing::info!(name, "the owner has changed a setting, for the next start");
        }
        Wish::Revoke { name } => with_devices(&app, |devices| devices.revoke(&name))?,
        Wish::Rename { name, to } => with_devices(&app, |devices| devices.rename(&name, &to))?,
        Wish::End { number } => {
            let ended = app.ask(|reply| ToNetwork::End(SessionNumber(number), reply));
            if !ended.await? {
                let message = format!("there is no session {number}; it has ended");
                return Err(Problem::new(ErrorCode::NoSession, message).into());
            }
        }
        Wish::Pin {} => {
            let Some(pairing) = &app.pairing else {
                let message = "this host pairs no devices: `pair` is `off`, or it has no folder to keep them in";
                return Err(Problem::new(ErrorCode::NoPairing, message.to_owned()).into());
            };
            let (asked, is_told) = {
                let mut pairing = pairing.lock().unwrap_or_else(PoisonError::into_inner);
                let asked = pairing.ask(app.clock.now(), Asking::Owner, bits_128());
                (asked, pairing.has_terminal())
            };
            // What is told without a terminal gets into a log, where a PIN has no place.
            if let Some(pin) = asked?.filter(|_| is_told) {
                (app.tell)(&ToOwner::Pin(pin));
            }
        }
    }
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn with_devices(
    app: &App,
    change: impl FnOnce(&mut Devices) -> Result<(), DevicesError>,
) -> Result<(), Refusal> {
    let Some(devices) = &app.devices else {
        let message = "this host keeps no devices".to_owned();
        return Err(Problem::new(ErrorCode::NoPairing, message).into());
    };
    let mut devices = devices.lock().unwrap_or_else(PoisonError::into_inner);
    change(&mut devices).map_err(|error| bad(error.to_string()))
}

fn bad(message: String) -> Refusal {
    Problem::new(ErrorCode::BadRequest, message).into()
}

#[cfg(test)]
pub(super) mod tests {
    use mimosa_settings::Token;

    use super::*;
    use crate::owning::Setting;

    pub(crate) const OWN: &str = "owner-owner-owner-owner";

    /// Settings that are one, `viewers`, which is never changed to `bad`.
    struct One;

    impl Owning for One {
        fn settings(&self) -> Result<Vec<Setting>, String> {
            Ok(Vec::new())
        }

        fn change(&self, name: &str, value: &str) -> Result<(), String> {
            match (name, value) {
                ("viewers", "bad") => Err("`viewers` has to be a number".to_owned()),
                ("viewers", _) => Ok(()),
                _ => Err(format!("`{name}` cannot be changed from the page")),
            }
        }

        fn invite(&self, _: &[String]) -> Option<Invitation> {
            None
        }
    }

    /// An owner who can change one setting.
    pub(crate) fn owner() -> Option<(Token, Box<dyn Owning>, Option<Invitation>)> {
        let invitation = Invitation {
            url: "https://192.0.2.7/".to_owned(),
            code: vec!["10".to_owned(), "01".to_owned()],
        };
        Some((Token::new(OWN)?, Box::new(One), Some(invitation)))
    }
}
