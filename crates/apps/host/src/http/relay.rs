//! `GET /api/relay`: what a page needs to use the relay (`docs/embed/protocol.md`, "The relay").
//!
//! Whoever has the answer can use the relay for a day. So it goes to those alone who know a token, and, as the owner's
//! page, only where nobody on the way can read it.

use std::sync::Arc;

use axum::extract::{ConnectInfo, Extension, State};
use axum::response::Response;
use mimosa_protocol::problem::{ErrorCode, Problem};
use mimosa_protocol::relay::{IceServer, IceServers};

use super::identity::{Identity, is_private};
use super::listener::{Client, Encrypted};
use super::{App, Refusal, json};
use crate::network::relay_credentials;

/// The relay's URLs with credentials; none without a relay.
pub(super) async fn servers(
    State(app): State<Arc<App>>,
    ConnectInfo(client): ConnectInfo<Client>,
    encrypted: Option<Extension<Encrypted>>,
    Extension(identity): Extension<Identity>,
) -> Result<Response, Refusal> {
    identity?;
    let Some(relay) = &app.relay else {
        return Ok(json(&IceServers::default()));
    };
    if !is_private(client, encrypted.as_deref()) {
        let message = "credentials for the relay come by HTTPS, or to the host's own machine, since others could read them on the way";
        return Err(Problem::new(ErrorCode::HttpsRequired, message.to_owned()).into());
    }
    let credentials = relay_credentials(&relay.secret);
    Ok(json(&IceServers {
        ice_servers: vec![IceServer {
            urls: relay.urls.iter().map(ToString::to_string).collect(),
            username: credentials.username().to_owned(),
            credential: credentials.password().to_owned(),
        }],
    }))
}
