//! A connection with its decoder, whose news come in one place.

use std::sync::mpsc;
use std::time::Duration;

use mimosa_facts::Action;
use mimosa_session::viewer::Seen;
use mimosa_units::{Time, TimeDelta};

use super::data::{Count, DataPlan, DataThread};
use super::decode::{DecodeThread, Decoded, FromDecoder};
use super::engine::DecodeIn;
use super::error::PlayError;
use super::network::{Connection, ConnectionConfig, FromHost, Loudspeaker, ToHost};
use mimosa_system::clock::Clock;

/// News for the thread that displays pictures.
#[derive(Debug)]
pub enum News {
    /// A message from the network's thread, other than a frame.
    Host(FromHost),
    /// A result of the decoder's thread.
    Decoded(Decoded),
    /// The decoder's process ended, for this reason, and another has its place.
    Replaced(String),
    /// No frame is decoded any more.
    Undecodable(PlayError),
}

/// Plays one session.
#[derive(Debug)]
pub struct Player {
    // Fields are dropped in this order: the connection, which makes frames and counts, ends before what
    // takes them.
    connection: Connection,
    /// Counts the session's data, if that is limited.
    data: Option<DataThread>,
    news: mpsc::Receiver<News>,
    clock: Clock,
}

impl Player {
    /// Connects to a host, with a decoder in that place of so many threads. `replaced` is an earlier session of the same player, which the host then
    /// ends. Other threads call `wake` when there is news.
    ///
    /// # Errors
    ///
    /// [`PlayError`] if the host is not there or refuses, or without a decoder.
    pub fn start(
        config: ConnectionConfig,
        (place, threads): (DecodeIn, u8),
        clock: Clock,
        replaced: Option<&str>,
        loudspeaker: Option<Box<dyn Loudspeaker>>,
        wake: impl Fn() + Clone + Send + 'static,
    ) -> Result<Self, PlayError> {
        let (sender, news) = mpsc::channel();
        let to_screen = (sender.clone(), wake.clone());
        let decoder = DecodeThread::start(place, threads, clock, move |message| {
            let (sender, wake) = &to_screen;
            // After the player has left, nothing takes frames.
            let _ = sender.send(match message {
                FromDecoder::Decoded(frame) => News::Decoded(frame),
                FromDecoder::Replaced(reason) => News::Replaced(reason),
                FromDecoder::Gone(error) => News::Undecodable(error),
            });
            wake();
        })?;
        let codecs = decoder.codecs().to_vec();
        let (counter, counts) = mpsc::channel();
        let deliver = move |message| match message {
            FromHost::Slices(slices) => decoder.begin(slices),
            FromHost::Frame(frame) => decoder.decode(frame),
            other => {
                if let FromHost::Statistics(_, tally, _) = &other {
                    // Nothing takes counts where no data is limited.
                    let _ = counter.send(Count::new(clock.now(), &tally.packets));
                }
                let _ = sender.send(News::Host(other));
                wake();
            }
        };
        let plan = config.data;
        let connection = Connection::open(config, &codecs, clock, replaced, loudspeaker, deliver)?;
        let data = (plan != DataPlan::default())
            .then(|| DataThread::start(plan, clock, connection.mailbox(), counts))
            .transpose()
            .map_err(PlayError::Thread)?;
        Ok(Self {
            connection,
            data,
            news,
            clock,
        })
    }

    /// The host's identifier of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        self.connection.id()
    }

    /// Takes the next news, if there is any.
    #[must_use]
    pub fn take(&self) -> Option<News> {
        self.news.try_recv().ok()
    }

    /// Waits for news for at most `longest`.
    #[must_use]
    pub fn wait(&self, longest: TimeDelta) -> Option<News> {
        let nanos = u64::try_from(longest.as_nanos()).unwrap_or(0);
        self.news.recv_timeout(Duration::from_nanos(nanos)).ok()
    }

    /// Sends an action of the player, made now.
    pub fn act(&self, action: Action) {
        self.connection.send(ToHost::Act(self.clock.now(), action));
    }

    /// Sends text that the player has copied.
    pub fn copy(&self, text: String) {
        self.connection.send(ToHost::Copied(text));
    }

    /// Notes that a frame was decoded. Asks for a keyframe if decoding cannot continue.
    pub fn decoded(&self, frame: &Decoded) {
        self.connection.send(ToHost::Decoded);
        if frame.is_broken {
            self.connection.send(ToHost::WantKeyframe);
        }
    }

    /// Notes that a frame was displayed.
    pub fn seen(&self, frame: &Decoded, shown: Time) {
        self.connection.send(ToHost::Seen(Seen {
            timestamp: frame.frame.timestamp,
            received: frame.frame.last,
            decoding: frame.at - frame.frame.last,
            shown,
        }));
    }

    /// Ends the session, and returns the news that was not taken.
    #[must_use]
    pub fn leave(self) -> Vec<News> {
        let Self {
            connection,
            data,
            news,
            ..
        } = self;
        drop(connection);
        drop(data);
        news.try_iter().collect()
    }
}
