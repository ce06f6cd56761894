//! Serves TCP connections with deadlines: whatever a peer does or omits, it cannot keep a
//! connection open for long.
//!
//! With HTTPS, the first byte of a connection says what it speaks: a handshake of TLS begins with
//! [`HANDSHAKE`], and no request of HTTP does. One port is therefore enough for both, and for a session's
//! datagrams by TCP, whose first byte is another one ([`Frames::can_begin`]).
//!
//! A connection waits for a request, works on it, and answers. [`TimedIo`] bounds the waiting and
//! the answering; [`in_time`] bounds the work in between.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::service::TowerToHyperService;
use mimosa_rtp::framing::Frames;
use mimosa_system::Mailbox;
use mimosa_tls::HTTP_2;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::server::TlsStream;

use crate::http::places::{Place, Places};
use crate::http::timed::{LONGEST_ANSWER, LONGEST_HEADER, Requests, TimedIo};
use crate::network::{Framed, ToNetwork};
use crate::tls::Door;

/// Longest time until the answer to a request begins: a body has at most 64 KiB, which take 8 s at
/// 64 kbit/s, and an answer takes milliseconds.
const LONGEST_REQUEST: Duration = Duration::from_secs(10);
/// Milliseconds for which a peer may leave data unacknowledged, or have no room for it (RFC 5482;
/// TCP's own limit is a quarter of an hour).
const LONGEST_SILENCE: u32 = 10_000;
/// Largest header of a request in bytes; a browser's is below 2 KiB.
const LARGEST_HEADER: u16 = 32 * 1024;
/// Most requests of HTTP/2 at once: a page has a dozen files.
const MOST_STREAMS: u32 = 32;
/// Bytes of HTTP/2 that may come unread for one request, and for all requests of a connection: those
/// of one body, and of a few.
const STREAM_WINDOW: u32 = 64 * 1024;
const CONNECTION_WINDOW: u32 = 4 * STREAM_WINDOW;
/// Bytes of HTTP/2 that wait to leave for one request: a few frames.
const SEND_BUFFER: usize = 64 * 1024;
/// The type of the first record of a connection with TLS (RFC 8446, section 5.1).
const HANDSHAKE: u8 = 0x16;
/// Pause after a failure to accept, until there may be descriptors again.
const REST: Duration = Duration::from_secs(1);

/// The address from which a request comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client(pub(super) SocketAddr);

/// That a request came encrypted, among its extensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Encrypted;

/// What answers requests.
#[derive(Clone)]
pub(super) struct Routes {
    /// What answers those that came as they should.
    pub(super) all: Router,
    /// What answers those that should have come encrypted.
    pub(super) plain: Router,
    /// What takes the datagrams of sessions.
    pub(super) sessions: Mailbox<ToNetwork>,
}

/// Serves connections until `stop`, with HTTPS if there is a door for it. A connection without a
/// free place is closed at once: in a queue, it would only be served after all that are ahead of it.
pub(super) async fn serve(
    listener: TcpListener,
    routes: Routes,
    door: Option<Door>,
    places: Places,
    stop: impl Future<Output = ()> + Send,
) {
    let mut connections = JoinSet::new();
    let mut stop = pin!(stop);
    loop {
        tokio::select! {
            () = &mut stop => return,
            Some(_) = connections.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok((stream, address)) => {
                    if let Some(place) = places.take(address.ip()) {
                        limit_silence(&stream);
                        let client = Client(address);
                        connections.spawn(admit(stream, client, place, routes.clone(), door.clone()));
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection cannot be accepted");
                    sleep(REST).await;
                }
            }
        }
    }
}

/// Makes the system end the connection when the peer is gone.
fn limit_silence(stream: &TcpStream) {
    // If this fails, the deadlines here still hold.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, LONGEST_SILENCE);
}

/// Finds out what a connection speaks, and serves it. What carries a session's datagrams keeps its
/// place, and goes to the sessions.
async fn admit(
    stream: TcpStream,
    client: Client,
    place: Place,
    routes: Routes,
    door: Option<Door>,
) {
    let mut first = [0];
    match timeout(LONGEST_HEADER, stream.peek(&mut first)).await {
        Ok(Ok(1..)) if Frames::can_begin(first[0]) => {
            // A stream that has ended already is of no use.
            if let Ok(framed) = Framed::new(stream, place) {
                routes.sessions.send(ToNetwork::Framed(framed));
            }
            return;
        }
        Ok(Ok(1..)) => {}
        Ok(Ok(0) | Err(_)) | Err(_) => {
            tracing::debug!(peer = %client.0, "a connection says nothing");
            return;
        }
    }
    let _place = place;
    let Some(door) = door else {
        return connection(stream, client, Link::Plain, routes.all).await;
    };
    // A handshake has the time of a header, as its first byte had.
    match timeout(LONGEST_HEADER, open(stream, &door)).await {
        Ok(Ok(Opened::Plain(stream))) => {
            let answers = if door.takes_plain(client.0.ip()) {
                routes.all
            } else {
                routes.plain
            };
            connection(stream, client, Link::Plain, answers).await;
        }
        Ok(Ok(Opened::Encrypted(stream))) => {
            let is_2 = stream.get_ref().1.alpn_protocol() == Some(HTTP_2);
            let link = if is_2 { Link::Http2 } else { Link::Http1 };
            connection(*stream, client, link, routes.all).await;
        }
        Ok(Err(error)) => tracing::debug!(%error, peer = %client.0, "a handshake has failed"),
        Err(_) => tracing::debug!(peer = %client.0, "a handshake has not come in time"),
    }
}

/// A connection of which it is known what it speaks.
enum Opened {
    Plain(TcpStream),
    Encrypted(Box<TlsStream<TcpStream>>),
}

/// Looks at the first byte, and makes the handshake if one begins.
async fn open(stream: TcpStream, door: &Door) -> io::Result<Opened> {
    let mut first = [0];
    stream.peek(&mut first).await?;
    if first != [HANDSHAKE] {
        return Ok(Opened::Plain(stream));
    }
    let stream = door.acceptor.accept(stream).await?;
    Ok(Opened::Encrypted(Box::new(stream)))
}

/// How requests come.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Link {
    /// HTTP/1.1 over TCP.
    Plain,
    /// HTTP/1.1 over TLS.
    Http1,
    /// HTTP/2 over TLS.
    Http2,
}

/// Serves one connection.
async fn connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    client: Client,
    link: Link,
    router: Router,
) {
    let requests = Arc::new(Requests::default());
    // Of an answer by HTTP/2, this end cannot see when it has left: until then it may be on its way.
    let pause = match link {
        Link::Plain | Link::Http1 => LONGEST_HEADER,
        Link::Http2 => LONGEST_ANSWER,
    };
    let io = TokioIo::new(TimedIo::new(stream, Arc::clone(&requests), pause));
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(client));
        if link != Link::Plain {
            request.extensions_mut().insert(Encrypted);
        }
        if link == Link::Http2 {
            name_host(&mut request);
        }
        let working = requests.begin();
        let answer = router.call(request);
        async move {
            let answer = answer.await;
            drop(working);
            answer
        }
    });
    let served = match link {
        Link::Plain | Link::Http1 => {
            http1::Builder::new()
                .max_buf_size(LARGEST_HEADER.into())
                .serve_connection(io, service)
                .await
        }
        Link::Http2 => {
            http2::Builder::new(TokioExecutor::new())
                .max_concurrent_streams(MOST_STREAMS)
                .max_header_list_size(LARGEST_HEADER.into())
                .initial_stream_window_size(STREAM_WINDOW)
                .initial_connection_window_size(CONNECTION_WINDOW)
                .max_send_buf_size(SEND_BUFFER)
                .serve_connection(io, service)
                .await
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, peer = %client.0, "a connection has failed");
    }
}

/// Gives a request of HTTP/2 the header `Host`, from its pseudo-header `:authority` (RFC 9113,
/// section 8.3.1). A request that has another `Host` as well then has two, and is refused for that.
fn name_host<B>(request: &mut Request<B>) {
    let Some(authority) = request.uri().authority() else {
        return;
    };
    let Ok(named) = HeaderValue::from_str(authority.as_str()) else {
        return;
    };
    let headers = request.headers_mut();
    if headers
        .get_all(header::HOST)
        .iter()
        .any(|host| *host != named)
        || !headers.contains_key(header::HOST)
    {
        headers.append(header::HOST, named);
    }
}

/// The answer, or an error if it takes too long.
pub(super) async fn in_time(answer: impl Future<Output = Response>) -> Response {
    let late = |_| {
        let close = [(header::CONNECTION, HeaderValue::from_static("close"))];
        let reason = "The request has not come in time; send it again.\n";
        (StatusCode::REQUEST_TIMEOUT, close, reason).into_response()
    };
    let in_time = timeout(LONGEST_REQUEST, answer).await;
    in_time.unwrap_or_else(late)
}

#[cfg(test)]
mod tests;
