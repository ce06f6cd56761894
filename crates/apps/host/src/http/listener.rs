//! Serves TCP connections with deadlines: whatever a peer does or omits, it cannot keep a
//! connection open for long.
//!
//! A connection waits for a request, works on it, and answers. [`TimedIo`] bounds the waiting and
//! the answering; [`in_time`] bounds the work in between.

use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};

use super::places::{Place, Places};

/// Longest time until a request's header is complete, from the beginning of the connection or the
/// end of the answer before: a round trip or two, and a packet that is sent again after TCP's first
/// timeouts (1 s and 2 s, RFC 6298).
const LONGEST_HEADER: Duration = Duration::from_secs(5);
/// Longest time until the answer to a request begins: a body has at most 64 KiB, which take 8 s at
/// 64 kbit/s, and an answer takes milliseconds.
const LONGEST_REQUEST: Duration = Duration::from_secs(10);
/// Longest time for an answer to leave once the system's buffers are full: the page's largest file
/// is below 1 MB, which 300 kbit/s carry in that time.
const LONGEST_ANSWER: Duration = Duration::from_secs(30);
/// Milliseconds for which a peer may leave data unacknowledged, or have no room for it (RFC 5482;
/// TCP's own limit is a quarter of an hour).
const LONGEST_SILENCE: u32 = 10_000;
/// Largest header of a request in bytes; a browser's is below 2 KiB.
const LARGEST_HEADER: usize = 32 * 1024;
/// Pause after a failure to accept, until there may be descriptors again.
const REST: Duration = Duration::from_secs(1);

/// The address from which a request comes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Client(pub(super) SocketAddr);

/// Serves connections until `stop`. A connection without a free place is closed at once: in a
/// queue, it would only be served after all that are ahead of it.
pub(super) async fn serve(
    listener: TcpListener,
    router: Router,
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
                        let serving = connection(stream, Client(address), router.clone());
                        connections.spawn(keep(place, serving));
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

async fn keep(_place: Place, serving: impl Future<Output = ()>) {
    serving.await;
}

/// Makes the system end the connection when the peer is gone.
fn limit_silence(stream: &TcpStream) {
    // If this fails, the deadlines here still hold.
    let _ = rustix::net::sockopt::set_tcp_user_timeout(stream, LONGEST_SILENCE);
}

/// Serves one connection.
async fn connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    client: Client,
    router: Router,
) {
    let requests = Arc::new(Requests::default());
    let io = TokioIo::new(TimedIo::new(stream, Arc::clone(&requests)));
    let router = TowerToHyperService::new(router);
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(client));
        requests.begun.fetch_add(1, Ordering::Relaxed);
        let answer = router.call(request);
        let requests = Arc::clone(&requests);
        async move {
            let answer = answer.await;
            requests.answered.fetch_add(1, Ordering::Relaxed);
            answer
        }
    });
    let served = http1::Builder::new()
        .max_buf_size(LARGEST_HEADER)
        .serve_connection(io, service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, peer = %client.0, "a connection has failed");
    }
}

/// The answer, or an error if it takes too long.
pub(super) async fn in_time(answer: impl Future<Output = Response>) -> Response {
    let late = |_| {
        let close = [(header::CONNECTION, HeaderValue::from_static("close"))];
        let reason = "The request has not come in time; send it again.\n";
        (StatusCode::REQUEST_TIMEOUT, close, reason).into_response()
    };
    let in_time = tokio::time::timeout(LONGEST_REQUEST, answer).await;
    in_time.unwrap_or_else(late)
}

/// Counts the requests of one connection.
#[derive(Debug, Default)]
struct Requests {
    begun: AtomicU64,
    answered: AtomicU64,
}

impl Requests {
    /// How many requests have been answered; `None` while one is being worked on.
    fn rest(&self) -> Option<u64> {
        let answered = self.answered.load(Ordering::Relaxed);
        (self.begun.load(Ordering::Relaxed) == answered).then_some(answered)
    }
}

/// A stream with deadlines for request headers and for answers. Nothing is read while an answer
/// waits to leave: a peer that does not take answers gets no further requests served.
struct TimedIo<S> {
    stream: S,
    requests: Arc<Requests>,
    /// Deadline of the header of the next request, with the number of requests before it.
    header: Option<(u64, Pin<Box<Sleep>>)>,
    /// Deadline of the data that waits to leave, if any.
    answer: Option<Pin<Box<Sleep>>>,
    /// Wakes the reader once no data waits to leave.
    reader: Option<Waker>,
}

impl<S> TimedIo<S> {
    const fn new(stream: S, requests: Arc<Requests>) -> Self {
        Self {
            stream,
            requests,
            header: None,
            answer: None,
            reader: None,
        }
    }

    /// Fails when the deadline of the header has passed.
    fn poll_header(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(rest) = self.requests.rest() else {
            // `in_time` bounds the work on the request.
            return Poll::Pending;
        };
        if self.header.as_ref().is_none_or(|(of, _)| *of != rest) {
            self.header = Some((rest, Box::pin(sleep(LONGEST_HEADER))));
        }
        let Some((_, deadline)) = &mut self.header else {
            return Poll::Pending;
        };
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    /// Fails when the deadline of the answer has passed.
    fn poll_room<T>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<T>> {
        let begin = || Box::pin(sleep(LONGEST_ANSWER));
        let deadline = self.answer.get_or_insert_with(begin);
        ready!(deadline.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.answer.is_some() {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if result.is_pending() {
            return self.poll_header(context);
        }
        result
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedIo<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, data);
        if result.is_pending() {
            return self.poll_room(context);
        }
        result
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_flush(context);
        if result.is_pending() {
            return self.poll_room(context);
        }
        // Hyper flushes after it has written everything.
        if self.answer.take().is_some() {
            self.header = None;
            if let Some(reader) = self.reader.take() {
                reader.wake();
            }
        }
        // Hyper reads again when data comes, or when this wakes it.
        let _ = self.poll_header(context);
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, buffers);
        if result.is_pending() {
            return self.poll_room(context);
        }
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::LazyLock;

    use axum::body::Bytes;
    use axum::middleware::{Next, from_fn};
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::net::TcpSocket;
    use tokio::time::{Instant, pause, resume, timeout};

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

    /// The client of an in-memory connection with a buffer of `room` bytes.
    fn connected(room: usize) -> DuplexStream {
        let (ours, theirs) = duplex(room);
        let client = Client((Ipv4Addr::LOCALHOST, 1).into());
        tokio::spawn(connection(theirs, client, router()));
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
        let serving = serve(listener, router(), places.clone(), std::future::pending());
        tokio::spawn(serving);
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
}
