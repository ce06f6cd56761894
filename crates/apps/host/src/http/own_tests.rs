//! Who gets to see and change what the host does, and who does not.

use serde_json::Value;

use super::own::tests::OWN;
use super::proof_tests::{Answered, Host, pair, shown};
use super::tests::{HERE, PLAY, THERE, WATCH};
use super::*;
use mimosa_system::process::Folder;

const LOOK: (&str, &str) = ("GET", "api/own");
const CHANGE: (&str, &str) = ("POST", "api/own");

/// Asks with a proof of this token, from the host's machine.
async fn ask(host: &Host, token: &str, what: (&str, &str), body: &str) -> Answered {
    let nonce = host.nonce().await;
    let value = shown(token, &nonce, what, body);
    let answered = host.ask(HERE, what, Some(&value), body).await;
    if answered.status < 400 {
        assert!(answered.is_proven(&Secret::of_token(token), &nonce, body));
    }
    answered
}

#[tokio::test]
async fn the_owner_sees_what_the_host_does() {
    let host = Host::start();
    let answered = ask(&host, OWN, LOOK, "").await;
    assert_eq!(answered.status, 200);
    let told: Value = serde_json::from_slice(&answered.body).unwrap();
    let update = serde_json::json!({ "version": "99.0.0", "page": null });
    assert_eq!(told["update"], update);
    assert_eq!(told["invitation"]["url"], "https://192.0.2.7/");
    assert_eq!(told["pairs"], false);
    assert!(told["sessions"].is_array() && told["settings"].is_array());
    // No token but that of the invitation, which is for others.
    let text = String::from_utf8(answered.body).unwrap();
    for secret in [OWN, PLAY, WATCH] {
        assert!(!text.contains(secret), "{text}");
    }
}

#[tokio::test]
async fn the_owner_changes_what_may_be_changed() {
    let host = Host::start();
    for (wish, status) in [
        (r#"{"setting":{"name":"viewers","value":"2"}}"#, 204),
        (r#"{"setting":{"name":"viewers","value":"bad"}}"#, 400),
        (r#"{"setting":{"name":"launch","value":"sh"}}"#, 400),
        (r#"{"end":{"number":3}}"#, 204),
        (r#"{"end":{"number":4}}"#, 404),
        (r#"{"pin":{}}"#, 404),
        (r#"{"revoke":{"name":"x"}}"#, 404),
        (r#"{"dance":{}}"#, 400),
        (
            r#"{"setting":{"name":"viewers","value":"2","more":1}}"#,
            400,
        ),
        ("", 400),
        ("[]", 400),
    ] {
        let answered = ask(&host, OWN, CHANGE, wish).await;
        assert_eq!(answered.status, status, "{wish}");
        // What a value has to be is said.
        let problem = String::from_utf8(answered.body).unwrap();
        assert!(
            !wish.contains("bad") || problem.contains("a number"),
            "{problem}"
        );
    }
}

/// A service has no terminal, and its log is no place for a PIN.
#[tokio::test]
async fn without_a_terminal_the_owners_page_shows_the_pin() {
    let folder = Folder::create("mimosa-pin").unwrap();
    let devices = Devices::at(&folder.path().join("devices.toml")).unwrap();
    let pairing = Pairing::new(Allowed::View, Asking::Owner, None);
    let told = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&told);
    let tell = move |what: &Told| {
        if let Told::Pin(_) = what {
            *counted.lock().unwrap() += 1;
        }
    };
    let host = Host::that_pairs(devices, pairing, Box::new(tell));
    let stranger = ("POST", "api/pair/ask");
    let refused = host.ask(THERE, stranger, None, "{}").await;
    assert_eq!(refused.code(), Some(ErrorCode::OwnerOnly));
    let shown = async || {
        let told = ask(&host, OWN, LOOK, "").await;
        let told: Value = serde_json::from_slice(&told.body).unwrap();
        assert_eq!(told["pairs"], true);
        told["pin"]["pin"].as_str().map(str::to_owned)
    };
    assert_eq!(shown().await, None);
    assert_eq!(ask(&host, OWN, CHANGE, r#"{"pin":{}}"#).await.status, 204);
    let pin = shown().await.unwrap();
    assert_eq!(host.ask(THERE, stranger, None, "{}").await.status, 204);
    assert!(pair(&host, &pin).await.is_ok());
    assert_eq!(*told.lock().unwrap(), 0, "a PIN went to a log");
}

#[tokio::test]
async fn nobody_else_sees_or_changes_anything() {
    let wish = r#"{"setting":{"name":"viewers","value":"2"}}"#;
    for (token, code) in [
        (PLAY, ErrorCode::OwnerOnly),
        (WATCH, ErrorCode::OwnerOnly),
        ("somebody-elses-token", ErrorCode::TokenWrong),
    ] {
        let host = Host::start();
        for (what, body) in [(LOOK, ""), (CHANGE, wish)] {
            let answered = ask(&host, token, what, body).await;
            assert_eq!(answered.code(), Some(code), "{token} {what:?}");
        }
    }
    let host = Host::start();
    for (what, body) in [(LOOK, ""), (CHANGE, wish)] {
        let nothing = host.ask(THERE, what, None, body).await;
        assert_eq!(nothing.code(), Some(ErrorCode::TokenMissing));
        // The token itself opens nothing, not even from the host's machine.
        let bearer = format!("Bearer {OWN}");
        let sent = host.ask(HERE, what, Some(&bearer), body).await;
        assert_eq!(sent.code(), Some(ErrorCode::TokenWrong));
        let proven = host.nonce().await;
        let value = shown(OWN, &proven, what, body);
        assert!(host.ask(HERE, what, Some(&value), body).await.status < 300);
        let again = host.ask(HERE, what, Some(&value), body).await;
        assert_eq!(
            again.code(),
            Some(ErrorCode::ChallengeOld),
            "a proof is good once"
        );
        let other = shown(OWN, &host.nonce().await, what, "{}");
        let changed = host.ask(THERE, what, Some(&other), wish).await;
        assert_eq!(
            changed.code(),
            Some(ErrorCode::TokenWrong),
            "for another body"
        );
    }
}

#[tokio::test]
async fn whoever_may_not_is_held_up_like_a_guesser() {
    let host = Host::start();
    let mut refused = 0;
    for _ in 0..40 {
        refused += u32::from(ask(&host, PLAY, LOOK, "").await.status == 429);
    }
    assert!(refused > 10, "{refused}");
}
