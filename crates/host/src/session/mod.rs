//! One browser's session: its stream, its input, its statistics.
//!
//! A state machine: times, pictures and datagrams go in; jobs for the encoder,
//! datagrams, actions and notes of what happened come out.

mod decided;
mod decoding;
mod input;
mod lives;
mod page;
mod phase;
mod recovery;
mod rtp;
mod sound;
mod statistics;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::Arc;

use mimosa_control::PacketKind;
use mimosa_record::{InputTimes, SessionFrame};
use mimosa_session::{FrameGrant, Outgoing, Sender};
use mimosa_units::{Bytes, Time, TimeDelta};
use mimosa_video::detail::{Config as DetailConfig, Detail};
use mimosa_video::{Complexity, FrameRequest};
use mimosa_webrtc::{Channel, Datagram, LARGEST_PAYLOAD, OVERHEAD, Peer, PeerEvent};
use mimosa_wire::Action;
use mimosa_wire::control::{
    Clipboard, FeedbackChange, FeedbackKind, FromPage, Hello, NoticeCode, Role, ToPage,
};
use mimosa_wire::frames::{ClockMap, FrameMessage};
use mimosa_wire::input::Rumble;

use self::decoding::Decoding;
use self::input::Input;
use self::lives::{Lives, Made};
use self::phase::PhaseLock;
use self::recovery::Repair;
use self::rtp::{RtpHeader, picture_time};
use self::sound::{Heard, SoundClock, clock};
use self::statistics::Statistics;
use crate::clock::Clock;
use crate::encode::{Encoded, Job};
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
/// A frame smaller than this shows nothing; it is skipped instead.
const SMALLEST_FRAME: Bytes = Bytes::new(200);

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

/// The frame in the encoder.
#[derive(Debug)]
struct Encoding {
    grant: FrameGrant,
    budget: Bytes,
    captured: Time,
    inputs: Inputs,
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

    /// The source has a new picture.
    pub(crate) fn picture(&mut self, now: Time, picture: &Arc<Captured>) {
        if !self.is_connected() {
            return;
        }
        self.unseen.join(picture.inputs);
        // A picture a little early is taken: sources and frame intervals jitter.
        let interval = self.interval();
        let slack = interval / 4;
        let is_early = self
            .newest_started
            .is_some_and(|started| picture.at.since(started) + slack < interval);
        if is_early {
            return;
        }
        self.statistics.captured += 1;
        if self.encoding.is_some() {
            let missed = self.waiting.replace(Arc::clone(picture));
            self.statistics.skipped += u64::from(missed.is_some());
        } else {
            self.encode(now, Arc::clone(picture));
        }
    }

    /// Asks for a frame's size and has the picture encoded.
    fn encode(&mut self, now: Time, picture: Arc<Captured>) {
        self.newest_started = Some(picture.at);
        let interval = self.interval();
        let size = self.detail.step().size(picture.picture.size());
        let grant = self.sender.frame_due(now, interval);
        if let Some(broken) = self.sender.poll_broken() {
            self.repair.broken(now, broken.frame, broken.has_left);
        }
        let budget = coded_size(grant.size);
        if budget < SMALLEST_FRAME {
            self.sender.frame_encoded(now, std::iter::empty());
            self.statistics.skipped += 1;
            return;
        }
        self.encoding = Some(Encoding {
            grant,
            budget,
            captured: picture.at,
            inputs: std::mem::take(&mut self.unseen),
        });
        let request = FrameRequest {
            frame: grant.frame,
            budget,
            interval,
            complexity: Complexity::C0,
            recovery: self.repair.take(),
        };
        let timestamp = picture_time(self.rtp_offset, picture.at);
        self.outcomes.push(Outcome::Encode(Job {
            picture,
            request,
            size,
            bandwidth: grant.target,
            is_limit: grant.is_limit,
            timestamp,
        }));
    }

    /// The encoder is done with a frame.
    pub(crate) fn encoded(&mut self, now: Time, encoded: Encoded) {
        let is_its = |encoding: &mut Encoding| encoding.grant.frame == encoded.frame;
        let Some(encoding) = self.encoding.take_if(is_its) else {
            return;
        };
        match encoded.result {
            Ok(coded) => {
                let sizes = coded.payloads.sizes().map(|size| size + OVERHEAD);
                let size: Bytes = sizes.clone().sum();
                self.sender.frame_encoded(now, sizes);
                let made = Made {
                    captured: encoding.captured,
                    begun: encoded.begun,
                    ended: encoded.ended,
                    coded: Bytes::new(coded.length as u64),
                    budget: encoding.budget,
                    plan: coded.plan,
                    is_keyframe: coded.is_keyframe,
                    quantiser: coded.quantiser,
                    attempts: coded.attempts,
                    inputs: encoding.inputs,
                };
                self.lives.made(encoding.grant.frame, made);
                self.statistics.encoded(now, size, coded.is_keyframe);
                self.statistics.quantiser = coded.quantiser;
                self.adapt(now, coded.quantiser);
                let frame = encoding.grant.frame;
                let reference = self.repair.encoded(now, frame, coded.is_keyframe);
                let timestamp = picture_time(self.rtp_offset, encoding.captured);
                self.peer
                    .insert(frame, timestamp, reference, coded.payloads);
                self.peer.protect(frame, self.sender.repairs(frame));
            }
            Err(error) => {
                self.sender.frame_encoded(now, std::iter::empty());
                let reason = error.to_string();
                tracing::error!(reason, "no frame comes out of the encoder");
                self.notice(NoticeCode::Ended, reason.clone());
                self.end(reason);
            }
        }
        self.send(now);
        if let Some(picture) = self.waiting.take() {
            self.encode(now, picture);
        }
    }

    /// Time between frames.
    fn interval(&self) -> TimeDelta {
        self.profile.interval * self.detail.step().every()
    }

    /// Takes fewer or more pixels, and pictures, from now on if the quantiser says so.
    fn adapt(&mut self, now: Time, quantiser: Option<f32>) {
        let Some(quantiser) = quantiser.filter(|_| self.profile.adapts_detail) else {
            return;
        };
        if self.detail.frame(now, f64::from(quantiser)) {
            let step = self.detail.step();
            tracing::info!(
                quantiser,
                of_16_pixels = step.pixels(),
                of_frames = step.every(),
                "the bitrate is worth another picture: so many of 16 pixels, one of so many frames"
            );
        }
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

    /// Takes what the peer has to say.
    fn events(&mut self, now: Time) {
        while let Some(event) = self.peer.poll_event() {
            match event {
                PeerEvent::Connected if matches!(self.phase, Phase::Ended) => {}
                PeerEvent::Connected => {
                    self.phase = Phase::Connected;
                    self.outcomes.push(Outcome::Connected);
                }
                PeerEvent::Feedback(report) => {
                    self.has_feedback = true;
                    self.sender.feedback(now, &report);
                }
                PeerEvent::Missing { frame, index } => self.sender.missing(now, frame, index),
                PeerEvent::KeyframeWanted if self.decoding.bears_keyframe() => {
                    self.repair.keyframe_wanted(now);
                }
                PeerEvent::KeyframeWanted => {}
                PeerEvent::Opened(channel) => self.opened(now, channel),
                PeerEvent::Message { channel, data } => self.message(now, channel, &data),
                PeerEvent::Closed { reason } => self.end(reason),
            }
        }
    }

    fn opened(&mut self, now: Time, channel: Channel) {
        if channel == Channel::Control {
            let hello = Hello {
                picture_clock: Some(clock(picture_time(self.rtp_offset, now), now)),
                sound_clock: self.sound.newest(),
                ..self.profile.hello.clone()
            };
            self.tell(&ToPage::Hello(hello));
            if let Some(reason) = self.waiting_for.clone() {
                self.notice(NoticeCode::Waiting, reason);
            }
        }
    }

    fn message(&mut self, now: Time, channel: Channel, data: &[u8]) {
        match channel {
            Channel::Input | Channel::Keys => {
                if self.profile.role == Role::Player {
                    let (outcomes, clock_map) = (&mut self.outcomes, &self.clock_map);
                    self.input.message(data, |action, time| {
                        let made = time.and_then(|time| clock_map.to_host(time));
                        let times = Some(InputTimes {
                            // The clocks may be mapped a little wrong.
                            made: made.map(|made| made.min(now)),
                            received: now,
                        });
                        outcomes.push(Outcome::Act(Played { action, times }));
                    });
                } else if !std::mem::replace(&mut self.is_told_to_watch, true) {
                    let message = "you are watching: input is ignored".to_owned();
                    self.notice(NoticeCode::ViewOnly, message);
                }
            }
            Channel::Frames => self.frame_message(now, data),
            Channel::Control => match self.input.control(data) {
                FromPage::Client(client) => {
                    let sound = client.sound.unwrap_or_default();
                    self.lives.heard(Heard {
                        skew: sound.skew.map(|skew| skew.0),
                        concealed: sound.concealed,
                    });
                    self.judge_decoding(now, &client);
                }
                FromPage::Clipboard(Clipboard { text }) if self.profile.hello.clipboard => {
                    self.outcomes.push(Outcome::Copied(text));
                }
                FromPage::Clipboard(_) | FromPage::Unknown => {}
            },
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

/// What is left for the coder of a frame of `size` on the wire.
fn coded_size(size: Bytes) -> Bytes {
    let packets = size.pieces(LARGEST_PAYLOAD + OVERHEAD);
    // FU-A headers, two bytes each, and a parameter set's share.
    let headers = packets * (OVERHEAD.get() + 2) + 8;
    Bytes::new(size.get().saturating_sub(headers))
}
