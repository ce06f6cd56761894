//! A stream with deadlines for what comes and what leaves.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// Longest time until a request's header is complete, from the beginning of the connection or the
/// end of the answer before: a round trip or two, and a packet that is sent again after TCP's first
/// timeouts (1 s and 2 s, RFC 6298).
pub(super) const LONGEST_HEADER: Duration = Duration::from_secs(5);
/// Longest time for an answer to leave once the system's buffers are full: the page's largest file
/// is below 1 MB, which 300 kbit/s carry in that time.
pub(super) const LONGEST_ANSWER: Duration = Duration::from_secs(30);

/// Counts the requests of one connection.
#[derive(Debug, Default)]
pub(super) struct Requests {
    begun: AtomicU64,
    answered: AtomicU64,
}

impl Requests {
    /// Counts a request whose header has come. The request counts as answered when what this
    /// returns is dropped: also when the peer takes it back, so that it does not stay for ever.
    pub(super) fn begin(self: &Arc<Self>) -> Request {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Request(Arc::clone(self))
    }

    /// How many requests have been answered; `None` while one is being worked on.
    fn rest(&self) -> Option<u64> {
        let answered = self.answered.load(Ordering::Relaxed);
        (self.begun.load(Ordering::Relaxed) == answered).then_some(answered)
    }
}

/// A request that is being worked on.
#[derive(Debug)]
pub(super) struct Request(Arc<Requests>);

impl Drop for Request {
    fn drop(&mut self) {
        self.0.answered.fetch_add(1, Ordering::Relaxed);
    }
}

/// A stream with deadlines for request headers and for answers. Nothing is read while an answer
/// waits to leave: a peer that does not take answers gets no further requests served.
pub(super) struct TimedIo<S> {
    stream: S,
    requests: Arc<Requests>,
    /// Longest time from an answer to the next request.
    pause: Duration,
    /// Number of answers at which the deadline of the next header was last put off.
    put_off: u64,
    /// Deadline of the header of the next request, with the number of requests before it.
    header: Option<(u64, Pin<Box<Sleep>>)>,
    /// Deadline of the data that waits to leave, if any.
    answer: Option<Pin<Box<Sleep>>>,
    /// Wakes the reader once no data waits to leave.
    reader: Option<Waker>,
}

impl<S> TimedIo<S> {
    pub(super) const fn new(stream: S, requests: Arc<Requests>, pause: Duration) -> Self {
        Self {
            stream,
            requests,
            pause,
            put_off: 0,
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
            let longest = if rest == 0 {
                LONGEST_HEADER
            } else {
                self.pause
            };
            self.header = Some((rest, Box::pin(sleep(longest))));
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
            // The time that an answer takes is not that of the next header. What else is written,
            // such as answers to pings, gives no more time.
            let answered = self.requests.answered.load(Ordering::Relaxed);
            if self.put_off < answered {
                self.put_off = answered;
                self.header = None;
            }
            if let Some(reader) = self.reader.take() {
                reader.wake();
            }
        }
        // Hyper reads again when data comes, or when this wakes it.
        let _ = self.poll_header(context);
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(context);
        if result.is_pending() {
            // TLS says goodbye, and the peer may have no room for that.
            return self.poll_room(context);
        }
        result
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
