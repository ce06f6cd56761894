//! Connections with TLS, and those that should have it.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use mimosa_tls::{KeyHash, OwnKey, Slot, Trust, client_config, server_config};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::{TlsAcceptor, TlsConnector, client};

use super::*;

/// The beginning of a handshake, without its end.
const HALF_HELLO: &[u8] = &[HANDSHAKE, 3, 1, 2, 0, 1];

struct Served {
    address: SocketAddr,
    key: KeyHash,
    places: Places,
}

/// A host with HTTPS, which tells whether a request came encrypted, and with which `Host`.
async fn served(is_everywhere: bool) -> Served {
    let then: SystemTime = UNIX_EPOCH;
    let key = OwnKey::generate().unwrap();
    let pair = key.certificate(&BTreeSet::new(), then).unwrap();
    let key = pair.key_hash();
    let config = server_config(Slot::new(pair)).unwrap();
    let door = Door::new(TlsAcceptor::from(config), is_everywhere);
    let told = |headers: HeaderMap, encrypted: Option<axum::Extension<Encrypted>>| async move {
        let host = headers[header::HOST].to_str().unwrap().to_owned();
        format!(
            "{} here",
            if encrypted.is_some() {
                host
            } else {
                "plain".to_owned()
            }
        )
    };
    let routes = Routes {
        all: Router::new().route("/", get(told)),
        plain: Router::new().route("/", get(|| async { "elsewhere, not here" })),
        sessions: nobody(),
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let places = Places::default();
    let stop = std::future::pending();
    tokio::spawn(serve(listener, routes, Some(door), places.clone(), stop));
    Served {
        address,
        key,
        places,
    }
}

async fn encrypted(served: &Served) -> io::Result<client::TlsStream<TcpStream>> {
    let config = client_config(Trust::Key(served.key)).unwrap();
    let name = ServerName::try_from("192.0.2.9").unwrap();
    let stream = dial([127, 0, 0, 1], served.address).await?;
    TlsConnector::from(config).connect(name, stream).await
}

async fn body(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> String {
    stream.write_all(REQUEST).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"here") {
        assert_ne!(stream.read_buf(&mut answer).await.unwrap(), 0, "an answer");
    }
    let answer = String::from_utf8(answer).unwrap();
    answer.split_once("\r\n\r\n").unwrap().1.to_owned()
}

#[tokio::test]
async fn one_port_takes_both_and_tells_them_apart() {
    for (is_everywhere, plain) in [(false, "plain here"), (true, "elsewhere, not here")] {
        let served = served(is_everywhere).await;
        let stream = dial([127, 0, 0, 1], served.address).await.unwrap();
        assert_eq!(body(stream).await, plain);
        let stream = encrypted(&served).await.unwrap();
        assert_eq!(body(stream).await, "localhost here");
    }
}

/// Time only advances by itself while nothing is on its way between the sockets.
#[tokio::test]
async fn a_handshake_has_the_time_of_a_header() {
    let served = served(true).await;
    for way in [&b""[..], HALF_HELLO] {
        let mut held = Vec::new();
        for _ in 0..200 {
            let mut client = dial([127, 0, 0, 2], served.address).await.unwrap();
            // The host may have closed the connection.
            let _ = client.write_all(way).await;
            held.push(client);
        }
        let other = encrypted(&served).await.unwrap();
        assert_eq!(body(other).await, "localhost here");
        assert!(served.places.taken() > 0, "some are held");
        pause();
        sleep(LONGEST_HEADER + REST).await;
        assert_eq!(served.places.taken(), 0, "all have been closed");
        resume();
        assert!(encrypted(&served).await.is_ok(), "its places are free");
    }
}

/// After its handshake, a connection that asks for nothing is closed as any other.
#[tokio::test]
async fn an_idle_connection_is_closed() {
    let served = served(true).await;
    let held = encrypted(&served).await.unwrap();
    assert_eq!(served.places.taken(), 1);
    pause();
    sleep(LONGEST_HEADER + REST).await;
    assert_eq!(served.places.taken(), 0);
    drop(held);
}
