//! The host's end of one person's session: its stream, its input and its statistics.
//!
//! The session is a state machine: times, pictures and datagrams go in; jobs for the encoder,
//! datagrams, actions and session events come out.

mod clock;
mod decided;
mod decoding;
mod entropy;
mod input;
mod inputs;
mod job;
mod limit;
mod line;
mod lives;
mod load;
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

use mimosa_facts::{Action, EntropyCoding, FrameEnd, PacketKind, SessionEvent, StreamSequence};
use mimosa_protocol::control::{
    Candidates, Clipboard, FeedbackChange, FeedbackKind, Hello, MOST_CANDIDATES, NoticeCode, Role,
    ToPage,
};
use mimosa_protocol::frames::{ClockMap, FrameMessage};
use mimosa_protocol::input::Rumble;
use mimosa_stream::{Outgoing, Sender};
use mimosa_transport::{Addresses, Channel, Datagram, HostTransport, Left, OfferError};
use mimosa_units::{Rate, Time, TimeDelta};
use mimosa_video::Size;
use mimosa_video::detail::{Config as DetailConfig, Detail};
use mimosa_video::load::Load;

use self::decoding::Decoding;
use self::entropy::Entropy;
use self::input::Input;
use self::lives::Lives;
use self::phase::PhaseLock;
use self::pictures::Encoding;
use self::recovery::Repair;
use self::sound::SoundClock;
use self::statistics::Statistics;

pub use self::inputs::{Inputs, Played};
pub use self::job::{
    Captured, Coded, CodedPart, Encoded, EncoderFailure, Job, REDUNDANCY, SoundFrame,
};
pub use self::line::LineGate;
pub use self::sending::{SendingConfig, controller};
pub use self::statistics::STALL;

/// Time between messages with statistics (`docs/embed/protocol.md`).
const STATISTICS_EVERY: TimeDelta = TimeDelta::from_millis(250);
/// Time between questions about the browser's clock. The questions are more frequent for the first
/// [`CLOCK_AT_FIRST`], so that one of the answers has a short round trip.
const CLOCK_EVERY: TimeDelta = TimeDelta::from_millis(1_000);
const CLOCK_EVERY_AT_FIRST: TimeDelta = TimeDelta::from_millis(100);
const CLOCK_AT_FIRST: TimeDelta = TimeDelta::from_millis(2_000);
/// Silence after which the browser is taken to have gone: four times the longest interval between a
/// browser's connectivity checks (2.5 s).
const GONE_AFTER: TimeDelta = TimeDelta::from_millis(10_000);
/// Time after which a session is given up if nobody connects.
const CONNECTED_WITHIN: TimeDelta = TimeDelta::from_millis(15_000);
/// Time from the first request for feedback after which its absence means that none will come. A
/// browser answers within 0.2 ms, and no round trip on which games are playable is as long.
const FEEDBACK_WITHIN: TimeDelta = TimeDelta::from_millis(1_000);
/// Longest time for which a session stays open so that its browser learns why it ends: the shortest
/// time after which SCTP sends a lost message again, 1 s (RFC 9260, section 16, `RTO.Min`), and two
/// round trips of 250 ms.
const FAREWELL_WITHIN: TimeDelta = TimeDelta::from_millis(1_500);

/// Something that a session wants its driver to do or to know.
#[derive(Debug)]
pub enum Effect {
    /// Encode this picture.
    Encode(Job),
    /// Apply this action of the player.
    Act(Played),
    /// Put this text, which the player has copied, into the source's clipboard.
    Copied(String),
    /// The page asks for a test of its line: answer with [`Session::test_line`] or
    /// [`Session::line_not_tested`], as [`LineGate`] says.
    LineTestWanted,
    /// Draw this much later from now on (earlier, if negative), so that frames meet the display's
    /// refresh.
    Shift(TimeDelta),
    /// Report this event to observers.
    Happened(SessionEvent),
}

/// Fixed properties of a session.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Whether this person plays or watches.
    pub role: Role,
    /// Time between frames at full detail.
    pub interval: TimeDelta,
    /// Whether the session may reduce pixels or frames when the bitrate, a processor or the viewer is
    /// too slow for them.
    pub adapts_detail: bool,
    /// Whether there is less to do for each frame when the host's processor or the viewer cannot keep up.
    pub relieves: bool,
    /// The most parts in which frames may come from the encoder, for receivers that want them; 1 for
    /// whole frames.
    pub parts: u8,
    /// How H.264's decisions become bits; `None` for what suits the bitrate and the processors.
    pub entropy: Option<EntropyCoding>,
    /// The first message to the page.
    pub hello: Hello,
}

/// How far a session has come.
#[derive(Clone, Debug)]
enum Phase {
    /// The offer is answered, and the browser has not connected yet.
    Answered,
    /// Media flows.
    Connected,
    /// The browser is being told why the session ends.
    Leaving {
        reason: String,
        /// Whether the notice is written; it cannot be before the channel is open.
        is_written: bool,
        /// When the session ends whether the browser knows why or not.
        until: Time,
    },
    Ended,
}

/// The host's end of one session.
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
    /// The newest picture, while the encoder works on an older one.
    waiting: Option<Arc<Captured>>,
    newest_started: Option<Time>,
    /// Size of the picture that went to the encoder last, and how it became bits.
    newest_form: Option<(Size, EntropyCoding)>,
    entropy: Entropy,
    /// The actions of all pictures since the last one that went to the encoder.
    unseen: Inputs,
    repair: Repair,
    decoding: Decoding,
    rtp_offset: u32,
    sound: SoundClock,
    lives: Lives,
    statistics: Statistics,
    /// The test of the line, while it runs.
    testing: Option<mimosa_line::Handle>,
    clock_map: ClockMap,
    phase_lock: PhaseLock,
    detail: Detail,
    load: Load,
    /// When a relief was logged last.
    told_load: Option<Time>,
    input: Input,
    /// Why no pictures come at present; `None` while they come.
    waiting_for: Option<String>,
    /// Whether a viewer who sent input has been told that it is ignored.
    is_told_to_watch: bool,
    /// Addresses of the host, as candidates, of which the page does not know.
    untold: Vec<String>,
    next_clock: Time,
    next_statistics: Time,
    /// Packets about to leave together; empty between calls.
    burst: Vec<Outgoing>,
    /// What each packet of `burst` has become on the wire; empty between calls.
    left: Vec<Left>,
    effects: Vec<Effect>,
}

impl Session {
    /// Creates a session whose offer has been answered.
    #[must_use]
    pub fn new(
        profile: Profile,
        now: Time,
        transport: Box<dyn HostTransport>,
        sender: Sender,
        [rtp_offset, sound_offset]: [u32; 2],
    ) -> Self {
        let phase_lock = PhaseLock::new(profile.interval);
        let load = Load::new(profile.interval, profile.adapts_detail);
        Self {
            repair: Repair::new(transport.agreed().bears_gaps),
            entropy: Entropy::new(profile.entropy),
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
            newest_form: None,
            decoding: Decoding::default(),
            unseen: Inputs::default(),
            rtp_offset,
            sound: SoundClock::new(sound_offset),
            lives: Lives::default(),
            statistics: Statistics::new(),
            testing: None,
            clock_map: ClockMap::new(),
            phase_lock,
            detail: Detail::new(DetailConfig::default()),
            load,
            told_load: None,
            input: Input::new(),
            waiting_for: None,
            is_told_to_watch: false,
            untold: Vec::new(),
            next_clock: now,
            next_statistics: now,
            burst: Vec::new(),
            left: Vec::new(),
            effects: Vec::new(),
        }
    }

    /// Whether this session's person plays or watches.
    #[must_use]
    pub const fn role(&self) -> Role {
        self.profile.role
    }

    /// Time since the session began.
    #[must_use]
    pub fn lasts(&self, now: Time) -> TimeDelta {
        now.since(self.begun)
    }

    /// Bitrate of the video over the last second.
    pub fn bitrate(&mut self, now: Time) -> Rate {
        self.statistics.bitrate(now, self.begun)
    }

    /// The newest round-trip time.
    #[must_use]
    pub const fn round_trip(&self) -> Option<TimeDelta> {
        self.statistics.round_trip
    }

    /// Whether media flows.
    #[must_use]
    pub const fn is_connected(&self) -> bool {
        matches!(self.phase, Phase::Connected)
    }

    /// Whether a datagram belongs to this session.
    #[must_use]
    pub fn accepts(&self, now: Time, from: SocketAddr, to: SocketAddr, data: &[u8]) -> bool {
        self.transport.accepts(now, from, to, data)
    }

    /// Takes a datagram that was received.
    pub fn receive(&mut self, now: Time, from: SocketAddr, to: SocketAddr, data: &[u8]) {
        // A datagram with the other end's address and without its keys does not show that it is
        // there.
        if self.transport.receive(now, from, to, data) {
            self.heard = now;
        }
        self.events(now);
        self.send(now);
        self.part(now);
    }

    /// Changes the addresses at which the session's datagrams may come in, and tells the page the new
    /// ones, at the latest once it listens.
    pub fn set_addresses(&mut self, addresses: &Addresses) {
        self.untold.extend(self.transport.set_addresses(addresses));
        // Addresses that come and go all the time are of no use.
        let most = self.untold.len().saturating_sub(MOST_CANDIDATES);
        self.untold.drain(..most);
        self.tell_candidates();
    }

    /// Tells the page the addresses of which it does not know, if it listens.
    fn tell_candidates(&mut self) {
        let candidates = self.untold.clone();
        if !candidates.is_empty() && self.tell(&ToPage::Candidates(Candidates { candidates })) {
            self.untold.clear();
        }
    }

    /// Adds an ICE candidate that came through signalling.
    ///
    /// # Errors
    ///
    /// [`OfferError::Refused`] if the line is not a candidate.
    pub fn add_candidate(&mut self, line: &str) -> Result<(), OfferError> {
        self.transport.add_candidate(line)
    }

    /// Lets time pass until `now`: sends packets that are due, asks for the browser's clock, and
    /// checks that the browser is still there.
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
        self.part(now);
    }

    /// Ends a session whose browser has gone, and falls back to another feedback format if no
    /// feedback comes.
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

    /// When the session ends unless a datagram comes before, or unless it connects before.
    fn gone_at(&self) -> Time {
        match self.phase {
            // Connectivity checks may come for as long as the handshake does not succeed.
            Phase::Answered => self.begun + CONNECTED_WITHIN,
            Phase::Connected | Phase::Leaving { .. } | Phase::Ended => self.heard + GONE_AFTER,
        }
    }

    /// When to call [`Session::advance`].
    #[must_use]
    pub fn deadline(&self) -> Time {
        let transport = self.transport.deadline();
        let sender = self.sender.deadline().unwrap_or(Time::MAX);
        let next = transport.min(sender).min(self.gone_at());
        match self.phase {
            Phase::Connected => next.min(self.next_clock).min(self.next_statistics),
            Phase::Leaving { until, .. } => next.min(until),
            Phase::Answered | Phase::Ended => next,
        }
    }

    /// When the next packet of a frame leaves, of those that wait for their turn: a [part](CodedPart) that comes before
    /// then changes nothing before. `None` when none waits.
    #[must_use]
    pub fn next_of_frames(&self) -> Option<Time> {
        self.sender.next_of_frames()
    }

    /// Sends the packets that are due, and collects the frames whose lives are complete.
    fn send(&mut self, now: Time) {
        self.judge_line(now);
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
            if let Some(at) = life.last_arrival {
                self.load.arrived(at);
            }
            if matches!(life.end, Some(FrameEnd::Acknowledged(_))) {
                self.transport.arrived(life.frame);
            }
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

    /// Sends the statistics if they are due. `viewers` is how many people watch.
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

    /// Passes a vibration that the game asks of a gamepad on to the player's page.
    pub fn rumble(&mut self, rumble: &Rumble) {
        if self.is_connected() && self.profile.role == Role::Player {
            self.transport.write(Channel::Input, &rumble.to_bytes());
        }
    }

    /// Passes text that a program has copied on to the page's clipboard.
    pub fn copied(&mut self, text: &str) {
        if self.is_connected()
            && self.profile.hello.clipboard
            && let Some(clipboard) = Clipboard::new(text.to_owned())
        {
            self.tell(&ToPage::Clipboard(clipboard));
        }
    }

    /// Ends the session at once. The browser may not learn why: see [`Session::leave`].
    pub fn close(&mut self, reason: &str) {
        self.transport.close();
        self.end(reason.to_owned());
    }

    /// Tells the browser why the session ends, and ends it once the browser has acknowledged that,
    /// at the latest after 1.5 s. Nothing else happens until then: pictures, sound and input are
    /// ignored. A session that is not connected ends at once.
    pub fn leave(&mut self, now: Time, reason: &str) {
        match self.phase {
            Phase::Answered => self.close(reason),
            Phase::Connected => {
                self.phase = Phase::Leaving {
                    reason: reason.to_owned(),
                    is_written: self.notice(NoticeCode::Ended, reason.to_owned()),
                    until: now + FAREWELL_WITHIN,
                };
                self.waiting = None;
                self.release();
                self.part(now);
            }
            Phase::Leaving { .. } | Phase::Ended => {}
        }
    }

    /// Ends a session that is leaving, once the browser knows why or has had its time.
    fn part(&mut self, now: Time) {
        let Phase::Leaving {
            reason,
            is_written,
            until,
        } = &self.phase
        else {
            return;
        };
        let (reason, is_written, until) = (reason.clone(), *is_written, *until);
        let is_told = is_written && !self.transport.is_undelivered(Channel::Control);
        if is_told || now >= until {
            self.close(&reason);
        }
    }

    fn end(&mut self, reason: String) {
        let reason = match std::mem::replace(&mut self.phase, Phase::Ended) {
            Phase::Ended => return,
            // A browser that has been told leaves by itself, which is not why the session ends.
            Phase::Leaving { reason, .. } => reason,
            Phase::Answered | Phase::Connected => {
                self.release();
                reason
            }
        };
        self.lives.end(self.sender.open_frames().copied());
        while let Some(frame) = self.lives.poll() {
            self.happened(SessionEvent::Frame(Box::new(frame)));
        }
        self.happened(SessionEvent::Ended { reason });
    }

    /// Releases the keys and buttons that the player holds.
    fn release(&mut self) {
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
    }

    /// Takes a datagram to send.
    pub fn poll_datagram(&mut self) -> Option<Datagram> {
        self.transport.poll_datagram()
    }

    /// Number of items that the session holds: frames with open lives, values in statistics, and
    /// effects not yet taken. Soak tests check that it stays bounded.
    #[must_use]
    pub fn held(&self) -> usize {
        let frames = self.sender.open_frames().count() + self.sender.remembered();
        frames + self.lives.open() + self.effects.len() + self.statistics.held()
    }

    /// Takes the effects since the last call, in order.
    pub fn take_effects(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.effects)
    }
}
