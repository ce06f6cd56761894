//! Says when a newer version is there, where the settings name somebody to ask. Nothing is fetched but that number, and
//! nothing is changed.
//!
//! The document is JSON, `{"version": "0.2.0", "page": "https://example.org/mimosa"}`, of which `page` may be left out;
//! `make dist` writes one as `latest.json`. It is asked for by HTTPS from whom an authority of the system vouches for,
//! without anything about this host in the request, and redirections are not followed.

use std::io;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::body::{Body, to_bytes};
use hyper::client::conn::http1;
use hyper::header::{CONNECTION, HOST};
use hyper::{Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use mimosa_tls::{Trust, client_config, untrusted};
use serde::{Deserialize, Serialize};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

/// How often the document is asked for. Our choice: a release is no emergency, and a day old when it is read about.
const EVERY: Duration = Duration::from_hours(24);
/// How long the answer may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Most bytes of the document. Our choice: a hundred times what it has.
const LONGEST: usize = 16_384;
/// This program's version.
const OWN: &str = env!("CARGO_PKG_VERSION");

/// A version that is newer than this program's.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
pub(crate) struct Newer {
    /// Three numbers with dots between them, e.g. `0.2.0`.
    pub(crate) version: String,
    /// The page about this version, where there is one: a URL that begins with `https://`.
    pub(crate) page: Option<String>,
}

/// The newer version that the last question has found, if it has found one. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(Arc<RwLock<Option<Newer>>>);

impl Known {
    /// The version that is newer than this program's, if one is known.
    pub(crate) fn newer(&self) -> Option<Newer> {
        let known = self.0.read().unwrap_or_else(PoisonError::into_inner);
        known.clone()
    }

    /// Asks for the document at `url` now and then, and says in the log once for each version when it is newer.
    /// Never completes.
    pub(crate) async fn watch(self, url: String) {
        loop {
            let roots = || rustls_native_certs::load_native_certs().certs;
            match fetched(&url, Trust::Roots(roots())).await {
                Ok(latest) => self.learn(latest),
                Err(error) => {
                    tracing::warn!(url, %error, "no news of updates; asked again in a day");
                }
            }
            sleep(EVERY).await;
        }
    }

    /// Takes what a document says is the latest version.
    pub(crate) fn learn(&self, latest: Newer) {
        let newer = is_newer(&latest.version, OWN).then_some(latest);
        let mut known = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if *known == newer {
            return;
        }
        if let Some(newer) = &newer {
            let page = newer.page.as_deref().unwrap_or("");
            tracing::info!(
                version = newer.version,
                own = OWN,
                page,
                "there is an update"
            );
        }
        *known = newer;
    }
}

/// Why nothing is known.
#[derive(Debug, thiserror::Error)]
enum UpdatesError {
    #[error("the URL has no host that can be asked")]
    Url,
    #[error("no connection: {0}")]
    Connection(#[from] io::Error),
    #[error("whoever answers is not trusted: {0}")]
    Untrusted(String),
    #[error("no TLS: {0}")]
    Tls(#[from] tokio_rustls::rustls::Error),
    #[error("no answer: {0}")]
    Http(#[from] hyper::Error),
    #[error("the answer has status {0}")]
    Status(StatusCode),
    #[error("the answer is not `{{\"version\": \"1.2.3\"}}`: {0}")]
    Content(String),
    #[error("no answer within {} s", PATIENCE.as_secs())]
    Late,
}

/// The document at this URL.
async fn fetched(url: &str, trust: Trust) -> Result<Newer, UpdatesError> {
    let answer = timeout(PATIENCE, asked(url, trust)).await;
    read(&answer.map_err(|_| UpdatesError::Late)??)
}

async fn asked(url: &str, trust: Trust) -> Result<Vec<u8>, UpdatesError> {
    let uri: Uri = url.parse().map_err(|_| UpdatesError::Url)?;
    let (host, port) = (uri.host().ok_or(UpdatesError::Url)?, uri.port_u16());
    // IPv6 addresses are in brackets.
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = ServerName::try_from(bare.to_owned()).map_err(|_| UpdatesError::Url)?;
    let stream = TcpStream::connect((bare, port.unwrap_or(443))).await?;
    let connector = TlsConnector::from(client_config(trust)?);
    let stream = connector.connect(name, stream).await;
    let stream =
        stream.map_err(
            |error| match error.get_ref().and_then(|it| it.downcast_ref()) {
                Some(library) => match untrusted(library) {
                    Some(untrusted) => UpdatesError::Untrusted(untrusted.why.clone()),
                    None => UpdatesError::Tls(library.clone()),
                },
                None => UpdatesError::Connection(error),
            },
        )?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map_or(host, |authority| authority.as_str());
    let request = Request::get(path).header(HOST, authority);
    let request = request.header(CONNECTION, "close").body(Body::empty());
    let request = request.map_err(|_| UpdatesError::Url)?;
    let answering = async {
        let answer = sender.send_request(request).await?;
        if answer.status() != StatusCode::OK {
            return Err(UpdatesError::Status(answer.status()));
        }
        let body = to_bytes(Body::new(answer.into_body()), LONGEST).await;
        body.map(Vec::from)
            .map_err(|error| UpdatesError::Content(error.to_string()))
    };
    tokio::select! {
        answer = answering => answer,
        // It ends after the answer, unless it fails before.
        Err(error) = connection => Err(error.into()),
    }
}

/// What a document says.
fn read(document: &[u8]) -> Result<Newer, UpdatesError> {
    #[derive(Deserialize)]
    struct Document {
        version: String,
        page: Option<String>,
    }

    let content = |reason: String| UpdatesError::Content(reason);
    let document: Document =
        serde_json::from_slice(document).map_err(|error| content(error.to_string()))?;
    if parsed(&document.version).is_none() {
        return Err(content("its version has not three numbers".to_owned()));
    }
    // What the owner clicks on leads to a page, and to nothing else.
    let page = document.page.filter(|page| {
        page.len() <= 200
            && page.starts_with("https://")
            && page.chars().all(|c| c.is_ascii_graphic())
    });
    Ok(Newer {
        version: document.version,
        page,
    })
}

/// The three numbers of a version; `None` if there are not three.
fn parsed(version: &str) -> Option<[u32; 3]> {
    let mut parts = version.split('.').map(|part| {
        let is_number = part.chars().all(|c| c.is_ascii_digit());
        part.parse().ok().filter(|_| is_number)
    });
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

fn is_newer(version: &str, own: &str) -> bool {
    parsed(version) > parsed(own)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::UNIX_EPOCH;

    use mimosa_tls::{OwnKey, Slot, server_config};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;
    use tokio_rustls::TlsAcceptor;

    use super::*;

    #[test]
    fn versions_are_compared_by_their_numbers() {
        for (version, own, newer) in [
            ("0.2.0", "0.1.9", true),
            ("0.10.0", "0.9.0", true),
            ("1.0.0", "1.0.0", false),
            ("0.9.9", "1.0.0", false),
        ] {
            assert_eq!(is_newer(version, own), newer, "{version} {own}");
        }
        for wrong in ["", "1.2", "1.2.3.4", "1.2.x", "1.2.+3", "99999999999.0.0"] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_document_is_read_and_what_is_wrong_in_it_is_named() {
        let newer = read(br#"{"version": "0.2.0", "page": "https://example.org/m", "more": 1}"#);
        let page = Some("https://example.org/m".to_owned());
        let version = "0.2.0".to_owned();
        assert_eq!(newer.unwrap(), Newer { version, page });
        let plain = read(br#"{"version": "0.2.0", "page": "javascript:alert(1)"}"#);
        assert_eq!(plain.unwrap().page, None);
        for (wrong, why) in [
            ("", "EOF"),
            ("[]", "invalid length"),
            (
                r#"{"page": "https://example.org"}"#,
                "missing field `version`",
            ),
            (r#"{"version": "new"}"#, "its version has not three numbers"),
        ] {
            let said = read(wrong.as_bytes()).unwrap_err().to_string();
            assert!(said.contains(why), "{said}");
        }
    }

    #[test]
    fn a_newer_version_is_known_until_it_is_taken_back() {
        let known = Known::default();
        let latest = |version: &str| Newer {
            version: version.to_owned(),
            page: None,
        };
        known.learn(latest(OWN));
        assert_eq!(known.newer(), None);
        known.learn(latest("99.0.0"));
        assert_eq!(known.newer(), Some(latest("99.0.0")));
        known.learn(latest(OWN));
        assert_eq!(known.newer(), None);
    }

    /// Answers one request by HTTPS with this, and gives the URL at which it does and the key that it shows.
    async fn site(answer: impl Into<String>) -> (String, Trust) {
        let answer = answer.into();
        let own = OwnKey::generate().unwrap();
        let pair = own.certificate(&BTreeSet::new(), UNIX_EPOCH).unwrap();
        let trust = Trust::Key(pair.key_hash());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("https://{}/latest.json", listener.local_addr().unwrap());
        let acceptor = TlsAcceptor::from(server_config(Slot::new(pair)).unwrap());
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let Ok(mut stream) = acceptor.accept(stream).await else {
                return;
            };
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let request = String::from_utf8_lossy(&request[..length]);
            assert!(
                request.starts_with("GET /latest.json HTTP/1.1\r\n"),
                "{request}"
            );
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await.unwrap();
        });
        (url, trust)
    }

    #[tokio::test]
    async fn a_site_is_asked_and_only_whom_somebody_vouches_for_is_believed() {
        let good = "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\n{\"version\": \"9.0.0\"}";
        let (url, trust) = site(good).await;
        assert_eq!(fetched(&url, trust).await.unwrap().version, "9.0.0");
        let (url, _) = site(good).await;
        let said = fetched(&url, Trust::Roots(Vec::new())).await.unwrap_err();
        assert!(matches!(said, UpdatesError::Untrusted(_)), "{said}");
        let moved =
            "HTTP/1.1 302 Found\r\nlocation: https://example.org/\r\ncontent-length: 0\r\n\r\n";
        let (url, trust) = site(moved).await;
        let said = fetched(&url, trust).await.unwrap_err();
        assert_eq!(said.to_string(), "the answer has status 302 Found");
        let document = format!("{{\"version\": \"9.0.0\"}}{}", " ".repeat(LONGEST));
        let length = document.len();
        let long = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\n{document}");
        let (url, trust) = site(long).await;
        let said = fetched(&url, trust).await.unwrap_err();
        assert!(said.to_string().contains("limit"), "{said}");
        for url in ["https://", "https:///x", "https://a b/"] {
            let said = fetched(url, Trust::Roots(Vec::new())).await.unwrap_err();
            assert!(matches!(said, UpdatesError::Url), "{url}: {said}");
        }
    }
}
