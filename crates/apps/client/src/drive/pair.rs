//! Pairing with a host by the PIN that it shows (`docs/embed/protocol.md`, "Pairing").

use mimosa_protocol::pairing::{
    Allowed, Begin, Begun, CHANNEL, Exchange, Finish, Finished, Paired, is_name,
};
use mimosa_protocol::proof::{hex, is_same, unhex};
use mimosa_system::random::bytes;
use mimosa_tls::KeyHash;

use super::address::Address;
use super::error::PlayError;
use super::hosts::{self, Known};
use super::whep::Whep;

/// Has the host show a PIN, unless it shows one.
///
/// # Errors
///
/// [`PlayError`] if the host is not there, or pairs no devices.
pub fn ask_for_pin(address: &Address) -> Result<(), PlayError> {
    Whep::new(address.shown()?.0)?
        .post("api/pair/ask", "{}")
        .map(drop)
}

/// Pairs with the host by its PIN, under this name, and keeps the token and the key of the host's own
/// certificate, by which the client knows the host from then on. Returns what the token is good for.
///
/// Without a key in the address or an authority that vouches for the host, the host vouches for the key
/// that was shown, in the exchange that the PIN protects.
///
/// # Errors
///
/// [`PlayError`] if the host is not there or refuses, or if the token cannot be kept.
pub fn pair(address: &Address, pin: &str, name: &str) -> Result<Allowed, PlayError> {
    if !is_name(name) {
        return Err(PlayError::Name(name.to_owned()));
    }
    let (address, shown) = address.shown()?;
    let whep = Whep::new(address.clone())?;
    let no_host = || whep.no_host("its messages of pairing are not understood".to_owned());
    let session: [u8; 16] = bytes();
    let exchange = Exchange::begin(pin.as_bytes(), CHANNEL, session, bytes());
    let begin = Begin {
        name: name.to_owned(),
        session: hex(&session),
        share: hex(&exchange.share()),
    };
    let answer: Begun = whep.ask("api/pair/begin", &begin)?;
    let share = unhex(&answer.share).ok_or_else(no_host)?;
    let key = exchange.initiated(name.as_bytes(), &share, b"");
    let paired = Paired::new(&key.map_err(|_| no_host())?);
    let finish = Finish {
        session: hex(&session),
        proof: hex(&paired.by_device()),
    };
    let finished: Finished = whep.ask("api/pair/finish", &finish)?;
    let Finished {
        id,
        role,
        key,
        proof,
    } = finished;
    let expected = paired.by_host(&id, role, key.as_deref());
    let key = key.as_deref().and_then(KeyHash::parse);
    // Whoever is in between shows a key of their own, and cannot have the host vouch for it.
    let is_shown = shown.is_none() || shown == key;
    if !is_shown || !unhex::<32>(&proof).is_some_and(|proof| is_same(&proof, &expected)) {
        let address = address.host().to_owned();
        return Err(PlayError::NotProven { address });
    }
    let known = Known {
        id,
        token: paired.token(),
        key: address.key().map(|key| key.to_string()),
    };
    hosts::keep(address.host(), known).map_err(PlayError::Keep)?;
    Ok(role)
}
