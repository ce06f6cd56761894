//! A connection and its decoder, and their news in one place.

use std::sync::mpsc;
use std::time::Duration;

use mimosa_facts::Action;
use mimosa_session::viewer::Seen;
use mimosa_units::{Time, TimeDelta};

use super::decode::{DecodeThread, Decoded};
use super::error::PlayError;
use super::network::{Connection, ConnectionConfig, FromHost, Loudspeaker, ToHost};
use mimosa_system::clock::Clock;

/// News for the thread that shows pictures.
#[derive(Debug)]
pub enum News {
    /// From the host; no frames.
    Host(FromHost),
    /// From the decoder.
    Decoded(Decoded),
}

/// Plays one session.
#[derive(Debug)]
pub struct Player {
    // Dropped in this order: what gives frames ends before what takes them.
    connection: Connection,
    news: mpsc::Receiver<News>,
    clock: Clock,
}

impl Player {
    /// Calls a host; `replaced` is an earlier session of the same player, which ends. `wake`
    /// is called when there is news, in another thread.
    ///
    /// # Errors
    ///
    /// [`PlayError`] when the host is not there or refuses, and without a decoder.
    pub fn start(
        config: ConnectionConfig,
        threads: u8,
        clock: Clock,
        replaced: Option<&str>,
        loudspeaker: Option<Box<dyn Loudspeaker>>,
        wake: impl Fn() + Clone + Send + 'static,
    ) -> Result<Self, PlayError> {
        let (sender, news) = mpsc::channel();
        let to_screen = (sender.clone(), wake.clone());
        let decoder = DecodeThread::start(threads, clock, move |frame| {
            let (sender, wake) = &to_screen;
            // Who leaves does not wait for it.
            let _ = sender.send(News::Decoded(frame));
            wake();
        })?;
        let deliver = move |message| match message {
            FromHost::Frame(frame) => decoder.decode(frame),
            other => {
                let _ = sender.send(News::Host(other));
                wake();
            }
        };
        let connection = Connection::open(config, clock, replaced, loudspeaker, deliver)?;
        Ok(Self {
            connection,
            news,
            clock,
        })
    }

    /// What the host calls the session.
    #[must_use]
    pub fn id(&self) -> &str {
        self.connection.id()
    }

    /// Takes news, if there are any.
    #[must_use]
    pub fn take(&self) -> Option<News> {
        self.news.try_recv().ok()
    }

    /// Waits for news.
    #[must_use]
    pub fn wait(&self, longest: TimeDelta) -> Option<News> {
        let nanos = u64::try_from(longest.as_nanos()).unwrap_or(0);
        self.news.recv_timeout(Duration::from_nanos(nanos)).ok()
    }

    /// The player did something, now.
    pub fn act(&self, action: Action) {
        self.connection.send(ToHost::Act(self.clock.now(), action));
    }

    /// The player has copied this text.
    pub fn copy(&self, text: String) {
        self.connection.send(ToHost::Copied(text));
    }

    /// A frame was decoded: asks for a keyframe when it could not be.
    pub fn decoded(&self, frame: &Decoded) {
        self.connection.send(ToHost::Decoded);
        if frame.is_broken {
            self.connection.send(ToHost::WantKeyframe);
        }
    }

    /// The player has seen a frame.
    pub fn seen(&self, frame: &Decoded, shown: Time) {
        self.connection.send(ToHost::Seen(Seen {
            timestamp: frame.frame.timestamp,
            received: frame.frame.last,
            decoding: frame.at - frame.frame.last,
            shown,
        }));
    }

    /// Ends the session; gives the news that nobody has taken.
    #[must_use]
    pub fn leave(self) -> Vec<News> {
        let Self {
            connection, news, ..
        } = self;
        drop(connection);
        news.try_iter().collect()
    }
}
