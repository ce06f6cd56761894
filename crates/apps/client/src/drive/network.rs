//! The network's thread: one session with its socket and its timer, and the sound, which waits for
//! nothing else.

use std::thread::{Builder, JoinHandle};

use mimosa_audio::OpusDecoder;
use mimosa_facts::{Action, Codec};
use mimosa_protocol::control::{Hello, LineReport, Notice, Role, Statistics};
use mimosa_protocol::input::Rumble;
use mimosa_session::viewer::sound::periods::Periods;
use mimosa_session::viewer::sound::stretch::Stretch;
use mimosa_session::viewer::{Effect, Play, Seen, Session, SessionConfig, Slices, Tally, Whole};
use mimosa_system::clock::Clock;
use mimosa_system::random::bits_32;
use mimosa_system::udp::{LARGEST, Stamped, StampedSocket};
use mimosa_system::{Inbox, Mailbox, mailbox, priority};
use mimosa_transport::Call;
use mimosa_units::{Rate, Time, TimeDelta};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::address::Address;
use super::data::DataPlan;
use super::error::PlayError;
use super::socket;
use super::whep::{Answer, Whep};

/// Most calls that take datagrams before timers are handled again.
const MOST_AT_ONCE: usize = 64;
/// Longest sleep.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(1_000);
/// Longest and shortest time between looks at the loudspeaker.
const LOOK_EVERY: TimeDelta = TimeDelta::from_millis(5);
const LOOK_AFTER: TimeDelta = TimeDelta::from_millis(1);

/// A loudspeaker for blocks of sound.
pub trait Loudspeaker: Send {
    /// Duration of sound that the loudspeaker should have in advance.
    fn ahead(&self) -> TimeDelta;
    /// Duration of sound that was handed over and is not heard yet, including the way to the ear.
    fn queued(&mut self, now: Time) -> TimeDelta;
    /// Plays further samples, with all channels of a sample frame next to each other. Returns for
    /// how long the loudspeaker had nothing to play; zero if that is unknown.
    fn play(&mut self, now: Time, samples: &[i16]) -> TimeDelta;
    /// Notes that the loudspeaker had nothing to play, or that sound was left out that it did not
    /// take in time.
    fn troubled(&mut self, now: Time);
}

/// Fixed properties of a connection.
#[derive(Clone, Debug)]
pub struct ConnectionConfig {
    /// Address of the host.
    pub address: Address,
    /// Whether to play or to watch.
    pub role: Role,
    /// Properties of the session.
    pub session: SessionConfig,
    /// How much data the session may use.
    pub data: DataPlan,
}

/// A message to the network's thread.
#[derive(Debug)]
pub enum ToHost {
    /// The player did this at that time.
    Act(Time, Action),
    /// A frame was decoded.
    Decoded,
    /// The frame was displayed.
    Seen(Seen),
    /// What came cannot be decoded, so that a keyframe is needed.
    WantKeyframe,
    /// The player has copied this text.
    Copied(String),
    /// The player wants a test of the line.
    TestLine,
    /// The stream may take at most this from now on; with `None`, what the host allows.
    Limit(Option<Rate>),
    /// The player leaves.
    Leave,
}

/// A message from the network's thread.
#[derive(Debug)]
pub enum FromHost {
    /// Media flows.
    Connected,
    /// Slices of the frame that comes next.
    Slices(Slices),
    /// A frame to decode.
    Frame(Whole),
    /// The properties of the session.
    Hello(Box<Hello>),
    /// The host's statistics, the client's counts, and the skew.
    Statistics(Box<Statistics>, Box<Tally>, Option<TimeDelta>),
    /// The result of the test of the line.
    Line(Box<LineReport>),
    /// A notice for the player.
    Notice(Notice),
    /// A gamepad's vibration.
    Rumble(Rumble),
    /// The game has copied this text.
    Copied(String),
    /// The session is over.
    Ended {
        /// Why the session ended.
        reason: String,
        /// Whether the client should not connect again.
        is_final: bool,
        /// The client's counts of the session.
        tally: Box<Tally>,
    },
}

/// A connection to a host.
#[derive(Debug)]
pub struct Connection {
    mailbox: Mailbox<ToHost>,
    thread: Option<JoinHandle<()>>,
    id: String,
}

impl Connection {
    /// Connects to a host, which may send video in these codecs. `replaced` is an earlier session, which the
    /// host then ends. The network's thread calls `deliver` with each message, and must not be blocked
    /// there.
    ///
    /// # Errors
    ///
    /// [`PlayError`] if the host is not there, is not a host, or refuses.
    pub fn open(
        config: ConnectionConfig,
        codecs: &[Codec],
        clock: Clock,
        replaced: Option<&str>,
        loudspeaker: Option<Box<dyn Loudspeaker>>,
        deliver: impl FnMut(FromHost) + Send + 'static,
    ) -> Result<Self, PlayError> {
        let socket = socket::towards(config.address.resolve()?).map_err(PlayError::Socket)?;
        let whep = Whep::new(config.address)?;
        let begun = clock.now();
        let addresses = [socket.address()];
        let hears = loudspeaker.is_some();
        let (call, offer) = Call::offer(&addresses, codecs, hears, bits_32(), begun)?;
        let Answer { id, text, secret } = whep.begin(&offer, config.role, replaced)?;
        let caller = call.accept(&text)?;
        let session = Session::new(config.session, Box::new(caller), begun);
        let (mailbox, inbox) = mailbox().map_err(PlayError::Socket)?;
        let speaker = loudspeaker
            .map(|loudspeaker| {
                Ok::<_, PlayError>(Speaker {
                    loudspeaker,
                    player: OpusDecoder::new()?,
                    stretch: Stretch::default(),
                    periods: Periods::default(),
                    is_busy: false,
                })
            })
            .transpose()?;
        let network = Network {
            clock,
            socket,
            session,
            inbox,
            speaker,
            next_look: clock.now(),
            is_leaving: false,
            is_over: false,
            deliver: Box::new(deliver),
        };
        let name = id.clone();
        let run = move || {
            priority::raise();
            network.run();
            whep.end(&name, secret.as_ref());
        };
        let thread = Builder::new()
            .name("network".to_owned())
            .spawn(run)
            .map_err(PlayError::Thread)?;
        Ok(Self {
            mailbox,
            thread: Some(thread),
            id,
        })
    }

    /// The host's identifier of the session.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A sender of messages to the thread.
    #[must_use]
    pub fn mailbox(&self) -> Mailbox<ToHost> {
        self.mailbox.clone()
    }

    /// Sends a message to the thread, unless the session is over.
    pub fn send(&self, message: ToHost) {
        self.mailbox.send(message);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.mailbox.send(ToHost::Leave);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed there.
            let _ = thread.join();
        }
    }
}

/// The loudspeaker, and what prepares sound for it.
struct Speaker {
    loudspeaker: Box<dyn Loudspeaker>,
    player: OpusDecoder,
    stretch: Stretch,
    periods: Periods,
    /// Whether the loudspeaker has sound, and needs more in time.
    is_busy: bool,
}

struct Network {
    clock: Clock,
    socket: StampedSocket,
    session: Session,
    inbox: Inbox<ToHost>,
    speaker: Option<Speaker>,
    next_look: Time,
    is_leaving: bool,
    is_over: bool,
    deliver: Box<dyn FnMut(FromHost) + Send>,
}

impl Network {
    fn run(mut self) {
        let mut buffer = vec![0; LARGEST];
        while !self.is_over {
            self.inbox.clear();
            while let Some(message) = self.inbox.take() {
                self.message(message);
            }
            self.receive(&mut buffer);
            self.session.advance(self.clock.now());
            self.play();
            self.settle();
            if self.is_leaving {
                self.session.close();
                self.settle();
                break;
            }
            self.wait();
        }
    }

    fn message(&mut self, message: ToHost) {
        match message {
            ToHost::Act(at, action) => {
                // What a channel that is not open yet does not keep is a movement, and the next has its sum.
                let _ = self.session.act(at, action);
            }
            ToHost::Decoded => self.session.decoded(),
            ToHost::Seen(seen) => self.session.seen(&seen),
            ToHost::WantKeyframe => self.session.want_keyframe(self.clock.now()),
            ToHost::Copied(text) => self.session.copy(text),
            ToHost::TestLine => {
                // A request before its channel is open is lost; the host greets when it is.
                let _ = self.session.test_line();
            }
            ToHost::Limit(limit) => {
                // The first statistics come through the channel on which the request goes.
                let _ = self.session.limit(limit);
            }
            ToHost::Leave => self.is_leaving = true,
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) {
        for _ in 0..MOST_AT_ONCE {
            let Some(received) = self.socket.receive(self.clock, buffer) else {
                break;
            };
            let Stamped {
                from,
                at,
                ecn,
                length,
            } = received;
            let way = [from, self.socket.address()];
            let data = &buffer[..length];
            self.session.receive(self.clock.now(), at, ecn, way, data);
        }
    }

    /// Hands sound to the loudspeaker, if it wants any.
    fn play(&mut self) {
        let now = self.clock.now();
        let Some(speaker) = &mut self.speaker else {
            return;
        };
        self.session.look(now);
        if now < self.next_look {
            return;
        }
        self.next_look = now + LOOK_EVERY;
        loop {
            let queued = speaker.loudspeaker.queued(now);
            let wanted = speaker.loudspeaker.ahead() - queued;
            if wanted <= TimeDelta::ZERO {
                break;
            }
            let left_out = self.session.tally().sound.left_out;
            let play = self.session.play(now, now + queued, wanted);
            if self.session.tally().sound.left_out > left_out {
                tracing::debug!("sound is left out");
                speaker.loudspeaker.troubled(now);
            }
            let stretch = &mut speaker.stretch;
            let samples = match play {
                Play::Silence => {
                    speaker.is_busy = false;
                    break;
                }
                Play::Frame { coded, speed, .. } => {
                    let block = speaker.player.decode(&coded);
                    block.map(|block| stretch.block(&block, speed))
                }
                Play::Late => {
                    tracing::debug!("sound is late");
                    Ok(speaker.periods.more())
                }
                Play::MadeUp => {
                    tracing::debug!("sound is made up");
                    let block = speaker.player.make_up();
                    block.map(|block| stretch.block(&block, 1.0))
                }
            };
            match samples {
                Ok(samples) => {
                    speaker.periods.heard(&samples);
                    let silent = speaker.loudspeaker.play(now, &samples);
                    if silent > TimeDelta::ZERO && speaker.is_busy {
                        tracing::debug!(?silent, "the loudspeaker had nothing");
                        self.session.ran_out(silent);
                        speaker.loudspeaker.troubled(now);
                    }
                    speaker.is_busy = true;
                }
                Err(error) => {
                    tracing::warn!(%error, "a frame of sound is not understood");
                    break;
                }
            }
        }
        if speaker.is_busy {
            // The time when the next block is wanted, so that frames are taken evenly.
            let rest = speaker.loudspeaker.queued(now) - speaker.loudspeaker.ahead();
            self.next_look = now + rest.clamp(LOOK_AFTER, LOOK_EVERY);
        }
    }

    /// Sends the session's datagrams, and delivers its effects.
    fn settle(&mut self) {
        while let Some(datagram) = self.session.poll_datagram() {
            self.socket.send(datagram.destination, &datagram.contents);
        }
        while let Some(outcome) = self.session.poll() {
            let news = match outcome {
                Effect::Connected => FromHost::Connected,
                Effect::Begin(slices) => FromHost::Slices(slices),
                Effect::Decode(frame) => FromHost::Frame(frame),
                Effect::Hello(hello) => FromHost::Hello(hello),
                Effect::Statistics(statistics) => {
                    let tally = Box::new(self.session.tally());
                    FromHost::Statistics(statistics, tally, self.session.skew())
                }
                Effect::Line(report) => FromHost::Line(report),
                Effect::Notice(notice) => FromHost::Notice(notice),
                Effect::Rumble(rumble) => FromHost::Rumble(rumble),
                Effect::Copied(text) => FromHost::Copied(text),
                Effect::Ended { reason, is_final } => {
                    self.is_over = true;
                    FromHost::Ended {
                        reason,
                        is_final,
                        tally: Box::new(self.session.tally()),
                    }
                }
            };
            (self.deliver)(news);
        }
    }

    fn wait(&self) {
        let now = self.clock.now();
        let mut until = self.session.deadline().min(now + LONGEST_SLEEP);
        if self.speaker.is_some() {
            until = until.min(self.next_look);
        }
        let rest = until.since(now).max(TimeDelta::ZERO);
        let timeout = Timespec {
            tv_sec: 0,
            tv_nsec: rest.as_nanos().min(999_999_999),
        };
        let mut fds = [
            PollFd::from_borrowed_fd(self.inbox.fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.socket.fd(), PollFlags::IN),
        ];
        // An interruption counts as a wake-up.
        let _ = poll(&mut fds, Some(&timeout));
    }
}
