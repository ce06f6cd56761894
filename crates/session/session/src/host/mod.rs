//! One browser's session: its stream, its input, its statistics.
//!
//! A state machine: times, pictures and datagrams go in; jobs for the encoder,
//! datagrams, actions and notes of what happened come out.

mod clock;
mod decided;
mod decoding;
mod input;
mod inputs;
mod job;
mod lives;
mod page;
mod peer;
mod phase;
mod pictures;
mod recovery;
mod sending;
mod sound;
mod statistics;

use std::net::SocketAddr;
use std::sync::Arc;

use mimosa_facts::{Action, PacketKind, SessionEvent, StreamSequence};
use mimosa_protocol::control::{Clipboard, FeedbackChange, FeedbackKind, Hello, Role, ToPage};
use mimosa_protocol::frames::{ClockMap, FrameMessage};
use mimosa_protocol::input::Rumble;
use mimosa_stream::{Outgoing, Sender};
use mimosa_transport::{Channel, Datagram, HostTransport, Left, OfferError};
use mimosa_units::{Time, TimeDelta};
use mimosa_video::detail::{Config as DetailConfig, Detail};

use self::decoding::Decoding;
use self::input::Input;
use self::lives::Lives;
use self::phase::PhaseLock;
use self::pictures::Encoding;
use self::recovery::Repair;
use self::sound::SoundClock;
use self::statistics::Statistics;

pub use self::inputs::{Inputs, Played};
pub use self::job::{Captured, Coded, Encoded, EncoderFailure, Job, REDUNDANCY, SoundFrame};
pub use self::sending::{SendingConfig, controller};
pub use self::statistics::STALL;

/// Time between messages with statistics (`docs/embed/protocol.md`).
const STATISTICS_EVERY: TimeDelta = TimeDelta::from_millis(250);
/// Time between questions for the browser's clock: often at first, until a quick
/// answer has come.
const CLOCK_EVERY: TimeDelta = TimeDelta::from_millis(1_000);
const CLOCK_EVERY_AT_FIRST: TimeDelta = TimeDelta::from_millis(100);
const CLOCK_AT_FIRST: TimeDelta = TimeDelta::from_millis(2_000);
/// A browser that says nothing for this long has gone: four times the longest
/// interval between the connectivity checks that one sends (2.5 s).
const GONE_AFTER: TimeDelta = TimeDelta::from_millis(10_000);
/// Offers nobody connects for are given up after this.
const CONNECTED_WITHIN: TimeDelta = TimeDelta::from_millis(15_000);
/// Feedback on request is there within this of the first request, or never: a
/// browser answers after 0.2 ms, and no round trip that games bear is as long.
const FEEDBACK_WITHIN: TimeDelta = TimeDelta::from_millis(1_000);
/// Something a session wants done, or known.
#[derive(Debug)]
pub enum Effect {
    /// Encode this.
    Encode(Job),
    /// The player did this.
    Act(Played),
    /// The player has copied this text.
    Copied(String),
    /// Drawing this much later from now on would meet the player's display.
    Shift(TimeDelta),
    /// Something that observers should know happened.
    Happened(SessionEvent),
}

/// Fixed properties of a session.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Whether this person plays or watches.
    pub role: Role,
    /// Time between frames.
    pub interval: TimeDelta,
    /// Whether there may be fewer pixels or frames when there are too few bits.
    pub adapts_detail: bool,
    /// What the page is told first.
    pub hello: Hello,
}

/// How far a session is.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Its offer has been answered.
    Answered,
    /// Media flows.
    Connected,
    Ended,
}

/// One browser's session.
pub struct Session {
    profile: Profile,
    transport: Box<dyn HostTransport>,
    sender: Sender,
    begun: Time,
    phase: Phase,
    heard: Time,
    first_request: Option<Time>,
    has_feedback: bool,
    encoding: Option<Encoding>,
    /// The newest picture, while the encoder has an older one.
    waiting: Option<Arc<Captured>>,
    newest_started: Option<Time>,
    /// Actions that pictures were the first to have which were not encoded, and those of
    /// the newest.
    unseen: Inputs,
    repair: Repair,
    decoding: Decoding,
    rtp_offset: u32,
    sound: SoundClock,
    lives: Lives,
    statistics: Statistics,
    clock_map: ClockMap,
    phase_lock: PhaseLock,
    detail: Detail,
    input: Input,
    /// Why no pictures come, while none do.
    waiting_for: Option<String>,
    /// A viewer who plays has been told that nothing comes of it.
    is_told_to_watch: bool,
    next_clock: Time,
    next_statistics: Time,
    /// Packets that leave together; empty in between.
    burst: Vec<Outgoing>,
    /// What they have become; empty in between.
    left: Vec<Left>,
    effects: Vec<Effect>,
}

impl Session {
    /// A session whose offer has been answered.
    #[must_use]
    pub fn new(
        profile: Profile,
        now: Time,
        transport: Box<dyn HostTransport>,
        sender: Sender,
        [rtp_offset, sound_offset]: [u32; 2],
    ) -> Self {
        let phase_lock = PhaseLock::new(profile.interval);
        Self {
            repair: Repair::new(transport.agreed().bears_gaps),
            profile,
            transport,
            sender,
            begun: now,
            phase: Phase::Answered,
            heard: now,
            first_request: None,
            has_feedback: false,
            encoding: None,
            waiting: None,
            newest_started: None,
            decoding: Decoding::default(),
            unseen: Inputs::default(),
            rtp_offset,
            sound: SoundClock::new(sound_offset),
            lives: Lives::default(),
            statistics: Statistics::new(),
            clock_map: ClockMap::new(),
            phase_lock,
            detail: Detail::new(DetailConfig::default()),
            input: Input::new(),
            waiting_for: None,
            is_told_to_watch: false,
            next_clock: now,
            next_statistics: now,
            burst: Vec::new(),
            left: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Its role.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.profile.role
    }

    /// Whether media flows.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        matches!(self.phase, Phase::Connected)
    }

    /// Whether a datagram is this session's.
    #[must_use]
    pub fn accepts(&self, now: Time, from: SocketAddr, to: SocketAddr, data: &[u8]) -> bool {
        self.transport.accepts(now, from, to, data)
    }

    /// A datagram has come.
    pub fn receive(&mut self, now: Time, from: SocketAddr, to: SocketAddr, data: &[u8]) {
        // Whoever writes from the other end's address without its keys is no sign of it.
        if self.transport.receive(now, from, to, data) {
            self.heard = now;
        }
        self.events(now);
        self.send(now);
    }

    /// A candidate has come by way of signalling.
    ///
    /// # Errors
    ///
    /// [`OfferError::Refused`] for a line that is no candidate.
    pub fn add_candidate(&mut self, line: &str) -> Result<(), OfferError> {
        self.transport.add_candidate(line)
    }

    /// Lets time pass: sends what may leave, asks, tells.
    pub fn advance(&mut self, now: Time) {
        if self.transport.deadline() <= now {
            self.transport.timeout(now);
            self.events(now);
        }
        self.sender.timer(now);
        self.send(now);
        if self.is_connected() && self.next_clock <= now {
            let young = now.since(self.begun) < CLOCK_AT_FIRST;
            self.next_clock = now
                + if young {
                    CLOCK_EVERY_AT_FIRST
                } else {
                    CLOCK_EVERY
                };
            let question = FrameMessage::ClockQuestion { host: now };
            self.transport.write(Channel::Frames, &question.to_bytes());
        }
        self.watch(now);
    }

    /// Ends what has gone, and changes the feedback when it does not come.
    fn watch(&mut self, now: Time) {
        if now >= self.gone_at() {
            self.end("the browser has gone".to_owned());
        }
        let expects = self.transport.agreed().feedback != FeedbackKind::None;
        let waits = expects
            && self
                .first_request
                .is_some_and(|asked| now.since(asked) > FEEDBACK_WITHIN);
        if waits && !std::mem::replace(&mut self.has_feedback, true) {
            let kind = match self.transport.agreed().feedback {
                FeedbackKind::CongestionControl => FeedbackKind::OnRequest,
                FeedbackKind::OnRequest => FeedbackKind::Periodic,
                FeedbackKind::Periodic | FeedbackKind::None => FeedbackKind::None,
            };
            tracing::warn!(
                fallback = kind.name(),
                "the browser does not report arrivals as asked"
            );
            self.tell(&ToPage::Feedback(FeedbackChange { kind }));
        }
    }

    /// When it ends unless something is heard.
    fn gone_at(&self) -> Time {
        let patience = if self.is_connected() {
            GONE_AFTER
        } else {
            CONNECTED_WITHIN
        };
        self.heard + patience
    }

    /// When to call [`Session::advance`].
    #[must_use]
    pub fn deadline(&self) -> Time {
        let transport = self.transport.deadline();
        let sender = self.sender.deadline().unwrap_or(Time::MAX);
        let mut next = transport.min(sender).min(self.gone_at());
        if self.is_connected() {
            next = next.min(self.next_clock).min(self.next_statistics);
        }
        next
    }

    /// Sends what the sender lets go.
    fn send(&mut self, now: Time) {
        while let Some(outgoing) = self.sender.poll_packet(now) {
            if outgoing.asks_feedback {
                self.first_request.get_or_insert(now);
            }
            self.burst.push(outgoing);
        }
        self.transport.send(now, &self.burst, &mut self.left);
        self.burst.clear();
        for left in self.left.drain(..) {
            match (left.kind, left.sequence) {
                (PacketKind::Media, StreamSequence::Media(sequence)) => {
                    self.lives.left(left.frame, left.ssrc, sequence);
                }
                (PacketKind::Retransmission, StreamSequence::Rtx(sequence)) => {
                    self.lives.left_again(left.frame, left.ssrc, sequence);
                }
                _ => {}
            }
        }
        while let Some(life) = self.sender.poll_frame() {
            self.statistics.ended(now, &life);
            self.lives.sent(now, &life);
        }
        while let Some(frame) = self.lives.poll() {
            self.statistics.told(now, &frame);
            self.happened(SessionEvent::Frame(Box::new(frame)));
        }
    }

    fn happened(&mut self, event: SessionEvent) {
        self.effects.push(Effect::Happened(event));
    }

    /// Sends the statistics when they are due; `viewers` watch.
    pub fn tell_statistics(&mut self, now: Time, viewers: usize) {
        if !self.is_connected() || self.next_statistics > now {
            return;
        }
        self.next_statistics = now + STATISTICS_EVERY;
        let message = self.statistics.message(
            now,
            self.begun,
            self.sender.decision(),
            self.sender.pacing(),
            self.transport.agreed().feedback,
            viewers,
        );
        self.tell(&ToPage::Statistics(Box::new(message)));
    }

    /// The game has a gamepad do this.
    pub fn rumble(&mut self, rumble: &Rumble) {
        if self.is_connected() && self.profile.role == Role::Player {
            self.transport.write(Channel::Input, &rumble.to_bytes());
        }
    }

    /// A program has copied this text.
    pub fn copied(&mut self, text: &str) {
        if self.is_connected()
            && self.profile.hello.clipboard
            && let Some(clipboard) = Clipboard::new(text.to_owned())
        {
            self.tell(&ToPage::Clipboard(clipboard));
        }
    }

    /// Ends the session.
    pub fn close(&mut self, reason: &str) {
        self.transport.close();
        self.end(reason.to_owned());
    }

    fn end(&mut self, reason: String) {
        if matches!(self.phase, Phase::Ended) {
            return;
        }
        self.phase = Phase::Ended;
        self.lives.end(self.sender.open_frames().copied());
        while let Some(frame) = self.lives.poll() {
            self.happened(SessionEvent::Frame(Box::new(frame)));
        }
        if self.profile.role == Role::Player {
            let actions = std::iter::once(Action::ReleaseAll).chain(self.input.unplug());
            let acts = actions.map(|action| {
                Effect::Act(Played {
                    action,
                    times: None,
                })
            });
            self.effects.extend(acts);
        }
        self.happened(SessionEvent::Ended { reason });
    }

    /// Takes a datagram to send.
    pub fn poll_datagram(&mut self) -> Option<Datagram> {
        self.transport.poll_datagram()
    }

    /// How many items the session remembers: frames whose lives are open, effects and events
    /// not taken. A world that runs it watches this.
    #[must_use]
    pub fn held(&self) -> usize {
        let frames = self.sender.open_frames().count() + self.sender.remembered();
        frames + self.lives.open() + self.effects.len() + self.statistics.held()
    }

    /// Takes what the session wants done and what has happened.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}
