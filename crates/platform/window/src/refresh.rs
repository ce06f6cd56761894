//! [`Refreshes`]: when the display refreshes, as an X server tells it.
//!
//! SDL tells nothing of refreshes. That its present returns is no refresh either: drivers keep a queue of
//! pictures, in which a present only waits while it is full, and a full queue is what a stream has to
//! avoid. The Present extension of X tells of each refresh of the display under a window, with the time
//! that the kernel gave it, whether anything is drawn or not. Its server is asked by a connection and a
//! thread of their own.
//!
//! A server without a display, such as Xvfb, counts refreshes by a timer of its own.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use mimosa_system::clock;
use x11rb::connection::Connection as _;
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::Event;
use x11rb::protocol::present::{CompleteKind, ConnectionExt as _, EventMask};
use x11rb::rust_connection::RustConnection;

use crate::error::WindowError;

/// The version of the extension that is asked for: 1.2, of 2013, as far as servers agree.
const VERSION: (u32, u32) = (1, 2);
/// Most refreshes that wait to be taken: a second of a display of 240 Hz.
const MOST: usize = 240;

/// Number of the watches so far, plus one.
static WATCHES: AtomicU32 = AtomicU32::new(1);

/// Tells when the display refreshes, until it is dropped.
#[derive(Debug)]
pub struct Refreshes {
    connection: Arc<RustConnection>,
    question: Question,
    told: Arc<Told>,
    thread: Option<JoinHandle<()>>,
}

/// What the server is asked: of which window it shall tell. The server tells every watch of the window of
/// every answer, those to questions of a watch that is over among them, so that each watch has a serial number
/// of its own.
#[derive(Clone, Copy, Debug)]
struct Question {
    window: u32,
    serial: u32,
}

#[derive(Debug, Default)]
struct Told {
    is_over: AtomicBool,
    times: Mutex<VecDeque<Instant>>,
}

/// The reason why an X server does not tell of refreshes.
#[derive(Debug, thiserror::Error)]
enum Silence {
    #[error("{0}")]
    Connect(#[from] ConnectError),
    #[error("{0}")]
    Connection(#[from] ConnectionError),
    #[error("the X server has no Present extension: {0}")]
    Extension(#[source] ReplyError),
    #[error("{0}")]
    Refused(#[from] ReplyError),
    #[error("{0}")]
    Id(#[from] ReplyOrIdError),
    #[error("a thread cannot be started: {0}")]
    Thread(#[source] std::io::Error),
}

impl Refreshes {
    /// Watches the display of this window, on the server that `DISPLAY` names.
    pub(crate) fn watch(window: u32) -> Result<Self, WindowError> {
        Self::start(window).map_err(|silence| WindowError::NoRefreshes {
            reason: silence.to_string(),
        })
    }

    fn start(window: u32) -> Result<Self, Silence> {
        let (connection, _) = x11rb::connect(None)?;
        let version = connection.present_query_version(VERSION.0, VERSION.1)?;
        version.reply().map_err(Silence::Extension)?;
        let events = connection.generate_id()?;
        connection
            .present_select_input(events, window, EventMask::COMPLETE_NOTIFY)?
            .check()?;
        let connection = Arc::new(connection);
        let told = Arc::new(Told::default());
        let (own, other) = (Arc::clone(&told), Arc::clone(&connection));
        let serial = WATCHES.fetch_add(1, Ordering::Relaxed);
        let question = Question { window, serial };
        ask(&connection, question, 0)?;
        let run = move || {
            if let Err(error) = listen(&other, question, &own) {
                tracing::debug!(%error, "the X server tells no more of refreshes");
            }
        };
        let thread = Builder::new()
            .name("refreshes".to_owned())
            .spawn(run)
            .map_err(Silence::Thread)?;
        Ok(Self {
            connection,
            question,
            told,
            thread: Some(thread),
        })
    }

    /// Takes the times of refreshes that were not taken yet, in order. Of those that nobody takes for long,
    /// the oldest are forgotten.
    #[must_use]
    pub fn take(&self) -> Vec<Instant> {
        let times = self.told.times.lock();
        let mut times = times.unwrap_or_else(PoisonError::into_inner);
        times.drain(..).collect()
    }
}

impl Drop for Refreshes {
    fn drop(&mut self) {
        self.told.is_over.store(true, Ordering::Release);
        // The server answers at once, so that the thread wakes and sees that it is over. Where it cannot
        // be asked any more, the thread has ended.
        let _ = ask(&self.connection, self.question, 0);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed there.
            let _ = thread.join();
        }
    }
}

/// Asks the server to tell of refresh number `number`; of the present one if that is over.
fn ask(connection: &RustConnection, asked: Question, number: u64) -> Result<(), ConnectionError> {
    connection.present_notify_msc(asked.window, asked.serial, number, 0, 0)?;
    connection.flush()
}

/// Keeps the times of refreshes until it is over.
fn listen(
    connection: &RustConnection,
    asked: Question,
    told: &Told,
) -> Result<(), ConnectionError> {
    while !told.is_over.load(Ordering::Acquire) {
        match connection.wait_for_event()? {
            Event::PresentCompleteNotify(event)
                if event.kind == CompleteKind::NOTIFY_MSC && event.serial == asked.serial =>
            {
                let stamp = Duration::from_micros(event.ust);
                let at = clock::monotonic(stamp);
                let times = told.times.lock();
                let mut times = times.unwrap_or_else(PoisonError::into_inner);
                times.push_back(at);
                if times.len() > MOST {
                    times.pop_front();
                }
                drop(times);
                ask(connection, asked, event.msc + 1)?;
            }
            // The window is gone.
            Event::Error(error) => {
                tracing::debug!(?error, "the X server refuses to tell of refreshes");
                return Ok(());
            }
            _ => {}
        }
    }
    Ok(())
}
