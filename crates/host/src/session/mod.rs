//! One browser's session: its stream, its input, its statistics.
//!
//! A state machine: times, pictures and datagrams go in; jobs for the encoder,
//! datagrams, actions and notes of what happened come out.

mod decided;
mod decoding;
mod input;
mod lives;
mod page;
mod peer;
mod phase;
mod pictures;
mod recovery;
mod rtp;
mod sound;
mod statistics;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use mimosa_control::PacketKind;
use mimosa_record::SessionFrame;
use mimosa_session::{Outgoing, Sender};
use mimosa_units::{Time, TimeDelta};
use mimosa_video::detail::{Config as DetailConfig, Detail};
use mimosa_webrtc::{Channel, Datagram, Peer};
use mimosa_wire::Action;
use mimosa_wire::control::{Clipboard, FeedbackChange, FeedbackKind, Hello, Role, ToPage};
use mimosa_wire::frames::{ClockMap, FrameMessage};
use mimosa_wire::input::Rumble;

use self::decoding::Decoding;
use self::input::Input;
use self::lives::Lives;
use self::phase::PhaseLock;
use self::pictures::Encoding;
use self::recovery::Repair;
use self::rtp::RtpHeader;
use self::sound::SoundClock;
use self::statistics::Statistics;
use crate::clock::Clock;
use crate::encode::Job;
use crate::inputs::{Inputs, Played};
use crate::source::Captured;

pub(crate) use self::statistics::STALL;

/// Time between messages with statistics (`docs/protocol.md`).
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
pub(crate) enum Outcome {
    /// Encode this.
    Encode(Job),
    /// The player did this.
    Act(Played),
    /// The player has copied this text.
    Copied(String),
    /// Drawing this much later from now on would meet the player's display.
    Shift(TimeDelta),
    /// Media flows: pictures are wanted.
    Connected,
    /// All is known about a frame.
    Frame(Box<SessionFrame>),
    /// The page has been told that its browser decodes nothing.
    Undecoded,
    /// It is over.
    Ended {
        /// Why.
        reason: String,
    },
}

/// Fixed properties of a session.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) role: Role,
    /// Time between frames.
    pub(crate) interval: TimeDelta,
    /// Whether there may be fewer pixels or frames when there are too few bits.
    pub(crate) adapts_detail: bool,
    /// What the page is told first.
    pub(crate) hello: Hello,
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
pub(crate) struct Session {
    profile: Profile,
    clock: Clock,
    peer: Peer,
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
    /// On their way to the socket.
    datagrams: VecDeque<Datagram>,
    outcomes: Vec<Outcome>,
}

impl Session {
    /// A session whose offer has been answered.
    pub(crate) fn new(
        profile: Profile,
        clock: Clock,
        now: Time,
        peer: Peer,
        sender: Sender,
        [rtp_offset, sound_offset]: [u32; 2],
    ) -> Self {
        let phase_lock = PhaseLock::new(profile.interval);
        Self {
            repair: Repair::new(peer.bears_gaps()),
            profile,
            clock,
            peer,
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
            datagrams: VecDeque::new(),
            outcomes: Vec::new(),
        }
    }

    /// Its role.
    pub(crate) const fn role(&self) -> Role {
        self.profile.role
    }

    /// Whether media flows.
    pub(crate) const fn is_connected(&self) -> bool {
        matches!(self.phase, Phase::Connected)
    }

    /// Whether a datagram is this session's.
    pub(crate) fn accepts(&self, now: Time, from: SocketAddr, to: SocketAddr, data: &[u8]) -> bool {
        self.peer.accepts(self.clock.instant(now), from, to, data)
    }

    /// A datagram has come.
    pub(crate) fn receive(&mut self, now: Time, from: SocketAddr, to: SocketAddr, data: &[u8]) {
        self.heard = now;
        self.peer.receive(self.clock.instant(now), from, to, data);
        self.events(now);
        self.send(now);
    }

    /// A candidate has come by way of signalling.
    pub(crate) fn add_candidate(&mut self, line: &str) -> Result<(), mimosa_webrtc::OfferError> {
        self.peer.add_candidate(line)
    }

    /// Lets time pass: sends what may leave, asks, tells.
    pub(crate) fn advance(&mut self, now: Time) {
        let instant = self.clock.instant(now);
        if self.peer.deadline() <= instant {
            self.peer.timeout(instant);
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
            self.peer.write(Channel::Frames, &question.to_bytes());
        }
        self.watch(now);
    }

    /// Ends what has gone, and changes the feedback when it does not come.
    fn watch(&mut self, now: Time) {
        if now >= self.gone_at() {
            self.end("the browser has gone".to_owned());
        }
        let expects = self.peer.feedback() != FeedbackKind::None;
        let waits = expects
            && self
                .first_request
                .is_some_and(|asked| now.since(asked) > FEEDBACK_WITHIN);
        if waits && !std::mem::replace(&mut self.has_feedback, true) {
            let kind = match self.peer.feedback() {
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
    pub(crate) fn deadline(&self) -> Time {
        let peer = self.clock.at(self.peer.deadline());
        let sender = self.sender.deadline().unwrap_or(Time::MAX);
        let mut next = peer.min(sender).min(self.gone_at());
        if self.is_connected() {
            next = next.min(self.next_clock).min(self.next_statistics);
        }
        next
    }

    /// Sends what the sender lets go.
    fn send(&mut self, now: Time) {
        let instant = self.clock.instant(now);
        while let Some(outgoing) = self.sender.poll_packet(now) {
            if outgoing.asks_feedback {
                self.first_request.get_or_insert(now);
            }
            self.burst.push(outgoing);
        }
        self.collect_datagrams();
        let before = self.datagrams.len();
        self.peer.send(instant, &self.burst);
        self.collect_datagrams();
        self.note_numbers(before);
        self.burst.clear();
        while let Some(life) = self.sender.poll_frame() {
            self.statistics.ended(now, &life);
            self.lives.sent(now, &life);
        }
        while let Some(frame) = self.lives.poll() {
            self.statistics.told(now, &frame);
            self.outcomes.push(Outcome::Frame(Box::new(frame)));
        }
    }

    fn collect_datagrams(&mut self) {
        let datagrams = std::iter::from_fn(|| self.peer.poll_datagram());
        self.datagrams.extend(datagrams);
    }

    /// Notes which RTP packets the burst has become: the datagrams from number
    /// `before` on. The peer keeps their order; their number and their timestamps say
    /// whether they are these.
    fn note_numbers(&mut self, before: usize) {
        let datagrams = self.datagrams.iter().skip(before);
        let headers = datagrams.filter_map(|datagram| RtpHeader::read(&datagram.contents));
        if headers.clone().count() != self.burst.len() {
            return;
        }
        for (outgoing, header) in self.burst.iter().zip(headers) {
            if self.peer.frame_at(header.timestamp) != Some(outgoing.frame) {
                continue;
            }
            match outgoing.kind {
                PacketKind::Media => self.lives.left(outgoing.frame, header),
                PacketKind::Retransmission if self.peer.has_retransmissions() => {
                    self.lives.left_again(outgoing.frame, header);
                }
                PacketKind::Retransmission | PacketKind::Probe | PacketKind::Repair => {}
            }
        }
    }

    /// Sends the statistics when they are due; `viewers` watch.
    pub(crate) fn tell_statistics(&mut self, now: Time, viewers: usize) {
        if !self.is_connected() || self.next_statistics > now {
            return;
        }
        self.next_statistics = now + STATISTICS_EVERY;
        let message = self.statistics.message(
            now,
            self.begun,
            self.sender.decision(),
            self.sender.pacing(),
            self.peer.feedback(),
            viewers,
        );
        self.tell(&ToPage::Statistics(Box::new(message)));
    }

    /// The game has a gamepad do this.
    pub(crate) fn rumble(&mut self, rumble: &Rumble) {
        if self.is_connected() && self.profile.role == Role::Player {
            self.peer.write(Channel::Input, &rumble.to_bytes());
        }
    }

    /// A program has copied this text.
    pub(crate) fn copied(&mut self, text: &str) {
        if self.is_connected()
            && self.profile.hello.clipboard
            && let Some(clipboard) = Clipboard::new(text.to_owned())
        {
            self.tell(&ToPage::Clipboard(clipboard));
        }
    }

    /// Ends the session.
    pub(crate) fn close(&mut self, reason: &str) {
        self.peer.close();
        self.end(reason.to_owned());
    }

    fn end(&mut self, reason: String) {
        if matches!(self.phase, Phase::Ended) {
            return;
        }
        self.phase = Phase::Ended;
        self.lives.end(self.sender.open_frames().copied());
        while let Some(frame) = self.lives.poll() {
            self.outcomes.push(Outcome::Frame(Box::new(frame)));
        }
        if self.profile.role == Role::Player {
            let actions = std::iter::once(Action::ReleaseAll).chain(self.input.unplug());
            let acts = actions.map(|action| {
                Outcome::Act(Played {
                    action,
                    times: None,
                })
            });
            self.outcomes.extend(acts);
        }
        self.outcomes.push(Outcome::Ended { reason });
    }

    /// Takes a datagram to send.
    pub(crate) fn poll_datagram(&mut self) -> Option<Datagram> {
        let waiting = self.datagrams.pop_front();
        waiting.or_else(|| self.peer.poll_datagram())
    }

    /// Takes what has happened.
    pub(crate) fn take_outcomes(&mut self) -> Vec<Outcome> {
        std::mem::take(&mut self.outcomes)
    }
}
