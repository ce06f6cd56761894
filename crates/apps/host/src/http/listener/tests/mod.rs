//! Tests of the deadlines, over HTTP/1.1 and without TLS; the others are below.

mod http2;
mod secure;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::LazyLock;

use axum::body::Bytes;
use axum::middleware::{Next, from_fn};
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
use tokio::net::TcpSocket;
use tokio::time::{Instant, pause, resume};

use super::*;

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
const LARGE: &[u8] = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";
const HALF: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n";
const BODY: &[u8] = b"POST /read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n";
/// More bytes than the system's buffers hold.
const MUCH: usize = 16 << 20;
static FILE: LazyLock<Bytes> = LazyLock::new(|| vec![b'x'; MUCH].into());

fn router() -> Router {
    Router::new()
        .route("/", get(|| async { "here" }))
        .route("/large", get(|| async { FILE.clone() }))
        .route(
            "/read",
            post(|body: Bytes| async move { body.len().to_string() }),
        )
        .layer(from_fn(|request, next: Next| in_time(next.run(request))))
}

/// Where datagrams of sessions go in tests that have none.
fn nobody() -> Mailbox<ToNetwork> {
    mimosa_system::mailbox().unwrap().0
}

/// The client of an in-memory connection with a buffer of `room` bytes.
fn connected(room: usize) -> DuplexStream {
    let (ours, theirs) = duplex(room);
    let client = Client((Ipv4Addr::LOCALHOST, 1).into());
    tokio::spawn(connection(theirs, client, Link::Plain, router()));
    ours
}

/// The bytes that come until the connection is closed, and the time of its end.
async fn end(stream: &mut (impl AsyncRead + Unpin), begun: Instant) -> (Vec<u8>, Duration) {
    let mut read = Vec::new();
    let reading = stream.read_to_end(&mut read);
    // Whether the connection is closed cleanly makes no difference.
    let _ = timeout(Duration::from_mins(10), reading)
        .await
        .expect("an end");
    (read, begun.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_request_is_closed() {
    for sent in [&b""[..], HALF] {
        let (mut client, begun) = (connected(4_096), Instant::now());
        client.write_all(sent).await.unwrap();
        let (read, after) = end(&mut client, begun).await;
        assert_eq!((read.len(), after), (0, LONGEST_HEADER), "{sent:?}");
    }
}

/// A header that comes at one byte a second is incomplete at the deadline.
#[tokio::test(start_paused = true)]
async fn a_slow_header_gets_no_more_time() {
    let (mut client, begun) = (connected(4_096), Instant::now());
    while client.write_all(b"X").await.is_ok() {
        sleep(Duration::from_secs(1)).await;
        assert!(begun.elapsed() < Duration::from_mins(1));
    }
    let after = begun.elapsed();
    assert!(
        after > LONGEST_HEADER && after <= LONGEST_HEADER + 2 * REST,
        "{after:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_connection_serves_while_requests_come() {
    const NEARLY: Duration = Duration::from_secs(4);
    let (mut client, begun) = (connected(4_096), Instant::now());
    for _ in 0..10 {
        client.write_all(REQUEST).await.unwrap();
        let mut answer = [0; 1_000];
        let length = client.read(&mut answer).await.unwrap();
        assert!(answer[..length].starts_with(b"HTTP/1.1 200 OK\r\n"));
        sleep(NEARLY).await;
    }
    let (_, after) = end(&mut client, begun).await;
    assert_eq!(after, 9 * NEARLY + LONGEST_HEADER);
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_ends_the_request() {
    let (mut client, begun) = (connected(4_096), Instant::now());
    client.write_all(BODY).await.unwrap();
    let (answer, after) = end(&mut client, begun).await;
    assert!(
        answer.starts_with(b"HTTP/1.1 408 "),
        "{:?}",
        answer.escape_ascii().to_string()
    );
    assert_eq!(after, LONGEST_REQUEST);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_nobody_takes_is_given_up() {
    let (mut client, begun) = (connected(4_096), Instant::now());
    client.write_all(LARGE).await.unwrap();
    sleep(LONGEST_ANSWER + REST).await;
    let (answer, after) = end(&mut client, begun).await;
    assert_eq!((answer.len(), after), (4_096, LONGEST_ANSWER + REST));
}

/// A network that takes 20 s for 16 MB.
#[tokio::test(start_paused = true)]
async fn a_slow_network_gets_its_answer() {
    let mut client = connected(MUCH / 20);
    client.write_all(LARGE).await.unwrap();
    let (mut buffer, mut length) = (vec![0; MUCH / 20], 0);
    while length < MUCH {
        sleep(REST).await;
        length += client.read(&mut buffer).await.unwrap();
    }
    client.write_all(REQUEST).await.unwrap();
    let mut rest = Vec::new();
    while !rest.ends_with(b"here") {
        let read = timeout(REST, client.read_buf(&mut rest)).await.unwrap();
        assert_ne!(read.unwrap(), 0, "it goes on");
    }
}

/// The second of two requests is not read while the answer to the first waits.
#[tokio::test(start_paused = true)]
async fn a_pipeline_is_not_read_ahead() {
    let mut client = connected(64);
    client.write_all(LARGE).await.unwrap();
    let mut written = 0;
    while let Ok(more) = timeout(REST, client.write(REQUEST)).await {
        written += more.unwrap();
        assert!(written < 1_000, "somebody reads");
    }
    assert!(written >= 64, "what the connection has room for");
}

async fn dial(from: [u8; 4], to: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(4_096)?;
    socket.bind((IpAddr::from(from), 0).into())?;
    socket.connect(to).await
}

/// The answer to a request from this address.
async fn answer(from: [u8; 4], to: SocketAddr) -> Vec<u8> {
    let mut client = dial(from, to).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"here") {
        assert_ne!(client.read_buf(&mut answer).await.unwrap(), 0, "an answer");
    }
    answer
}

/// One address holds as many connections as it can, in every possible way. Time only advances
/// by itself while nothing is on its way between the sockets.
#[tokio::test]
async fn one_address_cannot_keep_another_out() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let places = Places::default();
    let routes = Routes {
        all: router(),
        plain: Router::new(),
        sessions: nobody(),
    };
    let stop = std::future::pending();
    tokio::spawn(serve(listener, routes, None, places.clone(), stop));
    for way in [&b""[..], HALF, LARGE, BODY] {
        let mut held = Vec::new();
        for _ in 0..200 {
            let mut client = dial([127, 0, 0, 2], address).await.unwrap();
            // The host may have closed the connection.
            let _ = client.write_all(way).await;
            held.push(client);
        }
        let other = answer([127, 0, 0, 1], address).await;
        assert!(other.starts_with(b"HTTP/1.1 200 OK\r\n"));
        pause();
        sleep(LONGEST_HEADER + LONGEST_REQUEST + LONGEST_ANSWER + REST).await;
        assert_eq!(places.taken(), 0, "all have been closed");
        resume();
        let again = answer([127, 0, 0, 2], address).await;
        assert!(
            again.starts_with(b"HTTP/1.1 200 OK\r\n"),
            "its places are free"
        );
    }
}

#[tokio::test]
async fn the_system_ends_connections_whose_peer_is_gone() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await;
    let stream = stream.unwrap();
    limit_silence(&stream);
    let limit = rustix::net::sockopt::tcp_user_timeout(&stream).unwrap();
    assert_eq!(limit, LONGEST_SILENCE);
}
