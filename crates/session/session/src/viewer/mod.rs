//! The player's or viewer's end of a session.
//!
//! The session is a state machine, as the host's is: times and datagrams go in; frames to decode,
//! sound to play, datagrams and news come out. Times are on the client's own clock, which begins
//! with the client.

mod assembler;
mod pen;
pub mod presentation;
mod reporter;
mod skew;
pub mod sound;
mod tally;

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_facts::{Action, MediaSequence};
use mimosa_protocol::PageTime;
use mimosa_protocol::control::{
    BitsPerSecond, Candidates, Client, ClientSound, Clipboard, FromPage, Hello, Limit, LineReport,
    MOST_CANDIDATES, Millis, Notice, NoticeCode, Statistics, ToPage,
};
use mimosa_protocol::frames::{FrameMessage, Shown};
use mimosa_protocol::input::Rumble;
use mimosa_rtp::dependency::Reference;
use mimosa_rtp::repair::Repair;
use mimosa_rtp::rtx;
use mimosa_rtp::video::is_filler;
use mimosa_transport::{CallerEvent, Carries, Channel, Datagram, Incoming, ViewerTransport};
use mimosa_units::{Ecn, PeerTime, Rate, Time, TimeDelta};

pub use self::assembler::{Assembler, Counts, Piece, RepairPiece, Slices, Whole};
pub use self::pen::Pen;
pub use self::reporter::{Came, Reporter, ReporterConfig};
use self::skew::Skew;
pub use self::sound::{Play, SoundBuffer, SoundConfig, SoundCounts};
pub use self::tally::{Packets, Tally};

/// Time without a decodable frame, although packets come, after which the client asks for a
/// keyframe: the host repairs the stream by itself within a round trip or two.
const STUCK_AFTER: TimeDelta = TimeDelta::from_millis(400);
/// Time between messages with the client's counts (docs/embed/protocol.md).
const COUNTS_EVERY: TimeDelta = TimeDelta::from_millis(1_000);
/// Silence after which the host is taken to have gone: as long as a host waits for a browser.
const GONE_AFTER: TimeDelta = TimeDelta::from_millis(10_000);
/// Most messages about keys and buttons that wait for their channel to open. Our choice: more than anybody
/// presses within [`CONNECTED_WITHIN`].
const MOST_EARLY: usize = 256;
/// Time after which a session is given up if the host never answers.
const CONNECTED_WITHIN: TimeDelta = TimeDelta::from_millis(15_000);

/// Something that a session wants its driver to do or to know.
#[derive(Debug)]
pub enum Effect {
    /// Media can flow.
    Connected,
    /// Begin to decode a frame: these are slices of it, and [`Effect::Decode`] follows with all of it,
    /// unless a newer frame does.
    Begin(Slices),
    /// Decode this frame.
    Decode(Whole),
    /// The host has described the session.
    Hello(Box<Hello>),
    /// The host's statistics have come, which it sends four times a second.
    Statistics(Box<Statistics>),
    /// The test of the line is over.
    Line(Box<LineReport>),
    /// Show this notice to the person.
    Notice(Notice),
    /// Let a gamepad vibrate.
    Rumble(Rumble),
    /// Put this text, which the game has copied, into the clipboard.
    Copied(String),
    /// The session is over.
    Ended {
        /// Why the session ended.
        reason: String,
        /// Whether the host ended the session on purpose, so that the client should not connect
        /// again.
        is_final: bool,
    },
}

/// A frame that was displayed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Seen {
    /// RTP timestamp.
    pub timestamp: u32,
    /// When the frame's last packet came.
    pub received: Time,
    /// How long decoding took.
    pub decoding: TimeDelta,
    /// When the frame was on the screen, or would have been without a window.
    pub shown: Time,
}

/// Fixed properties of a session.
#[derive(Clone, Debug, Default)]
pub struct SessionConfig {
    /// When to report arrivals.
    pub reporter: ReporterConfig,
    /// How much sound is buffered.
    pub sound: SoundConfig,
    /// Name of the decoder, which the host's statistics show.
    pub decoder: String,
}

/// The player's or viewer's end of one session.
pub struct Session {
    config: SessionConfig,
    transport: Box<dyn ViewerTransport>,
    begun: Time,
    heard: Time,
    is_connected: bool,
    is_over: bool,
    assembler: Assembler,
    reporter: Reporter,
    sound: SoundBuffer,
    pen: Pen,
    /// Messages about keys and buttons until their channel is open; `None` from then on.
    early: Option<Vec<Vec<u8>>>,
    skew: Skew,
    tally: Tally,
    /// When a frame last became decodable, or a keyframe was last asked for.
    moved: Time,
    next_counts: Time,
    effects: VecDeque<Effect>,
}

impl Session {
    /// A session over a connection to which the host has agreed. The offer was made at `begun`.
    #[must_use]
    pub fn new(config: SessionConfig, transport: Box<dyn ViewerTransport>, begun: Time) -> Self {
        let (name, tells_marks) = (transport.name(), transport.reads_congestion());
        Self {
            assembler: Assembler::new(transport.codec()),
            reporter: Reporter::new(config.reporter, name, tells_marks),
            sound: SoundBuffer::new(config.sound),
            config,
            transport,
            begun,
            heard: begun,
            is_connected: false,
            is_over: false,
            pen: Pen::new(),
            early: Some(Vec::new()),
            skew: Skew::new(),
            tally: Tally::default(),
            moved: begun,
            next_counts: begun,
            effects: VecDeque::new(),
        }
    }

    /// Everything counted so far.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally {
            frames: self.assembler.counts(),
            sound: self.sound.counts(),
            reports: self.reporter.count(),
            ..self.tally
        }
    }

    /// How much later sound is heard than the picture of the same moment is seen; `None` without
    /// either.
    #[must_use]
    pub fn skew(&self) -> Option<TimeDelta> {
        self.skew.now()
    }

    /// Takes a datagram with the ECN field `ecn`, which arrived at `arrived`, at or before `now`.
    pub fn receive(
        &mut self,
        now: Time,
        arrived: Time,
        ecn: Ecn,
        [source, destination]: [SocketAddr; 2],
        contents: &[u8],
    ) {
        self.heard = now;
        self.transport.receive(now, source, destination, contents);
        self.tally.packets.datagrams += 1;
        self.tally.packets.bytes += contents.len() as u64;
        self.events(now, arrived.min(now), ecn);
    }

    /// Lets time pass until `now`: sends reports and counts that are due, asks for a keyframe if
    /// the stream is stuck, and checks that the host is still there.
    pub fn advance(&mut self, now: Time) {
        if self.transport.deadline() <= now {
            self.transport.timeout(now);
            self.events(now, now, Ecn::NotEct);
        }
        self.report(now);
        if self.is_connected && self.next_counts <= now {
            self.next_counts = now + COUNTS_EVERY;
            self.tell_counts();
        }
        let is_stuck = self.is_connected && now.since(self.moved) >= STUCK_AFTER;
        if is_stuck && self.has_pieces() {
            self.want_keyframe(now);
        }
        let patience = self.patience();
        if now.since(self.heard) >= patience {
            let reason = if self.is_connected {
                "the host does not answer any more"
            } else {
                "the host's answer came, but no connection: is its UDP port open?"
            };
            self.end(reason.to_owned(), false);
        }
    }

    /// Whether packets have come of frames that cannot be decoded yet.
    fn has_pieces(&self) -> bool {
        self.assembler.waiting() > 0
    }

    fn patience(&self) -> TimeDelta {
        if self.is_connected {
            GONE_AFTER
        } else {
            CONNECTED_WITHIN
        }
    }

    /// Asks the host for a keyframe, because what has come cannot be decoded.
    pub fn want_keyframe(&mut self, now: Time) {
        self.moved = now;
        self.tally.keyframes_wanted += 1;
        self.transport.want_keyframe(now);
    }

    /// When to call [`Session::advance`] at the latest.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let report = self.reporter.due();
        let mut next = self.transport.deadline().min(self.heard + self.patience());
        if let Some(due) = report {
            next = next.min(time(due));
        }
        if self.is_connected {
            next = next.min(self.next_counts);
            if self.has_pieces() {
                next = next.min(self.moved + STUCK_AFTER);
            }
        }
        next
    }

    /// Sends an action of the player. Returns whether all of it is on its way or will be: keys and buttons wait
    /// for their channel to open, at most 256 of them; movements before that are lost.
    pub fn act(&mut self, now: Time, action: Action) -> bool {
        let Some(time) = page_time(now) else {
            return false;
        };
        let mut is_sent = true;
        for (channel, message) in self.pen.write(action, time) {
            let waits = self.early.as_mut().filter(|_| channel == Channel::Keys);
            is_sent &= match waits {
                Some(early) if early.len() < MOST_EARLY => {
                    early.push(message);
                    true
                }
                Some(_) => false,
                None => self.transport.write(channel, &message),
            };
        }
        is_sent
    }

    /// Sends text that the player has copied, unless it is longer than a message can be.
    pub fn copy(&mut self, text: String) {
        if let Some(clipboard) = Clipboard::new(text) {
            let text = FromPage::Clipboard(clipboard).to_json();
            self.transport.write(Channel::Control, text.as_bytes());
        }
    }

    /// Asks the host for a test of the line. Returns whether the request is on its way. The answer is
    /// [`Effect::Line`], or a notice with [`NoticeCode::LineNotTested`].
    pub fn test_line(&mut self) -> bool {
        let text = FromPage::TestLine.to_json();
        self.transport.write(Channel::Control, text.as_bytes())
    }

    /// Asks the host that picture and sound take at most `bitrate`, or, with `None`, what the host allows.
    /// Returns whether the request is on its way.
    pub fn limit(&mut self, bitrate: Option<Rate>) -> bool {
        let bitrate = bitrate.map(BitsPerSecond);
        let text = FromPage::Limit(Limit { bitrate }).to_json();
        self.transport.write(Channel::Control, text.as_bytes())
    }

    /// Tells the host that a frame was displayed.
    pub fn seen(&mut self, seen: &Seen) {
        self.tally.shown += 1;
        self.skew.seen(seen.timestamp, seen.shown);
        let message = FrameMessage::Shown(Shown {
            timestamp: seen.timestamp,
            received: page_time(seen.received),
            decoding: Some(seen.decoding),
            presented: page_time(seen.shown),
            expected: page_time(seen.shown),
            count: u32::try_from(self.tally.shown).unwrap_or(u32::MAX),
        });
        self.transport.write(Channel::Frames, &message.to_bytes());
    }

    /// Notes that the driver has checked whether the loudspeaker wants sound, after it read all
    /// packets that had come.
    pub fn look(&mut self, now: Time) {
        self.sound.look(now);
    }

    /// Takes the next 10 ms of sound, which the player hears at `heard`. The loudspeaker wants
    /// `wanted` of sound at once.
    pub fn play(&mut self, now: Time, heard: Time, wanted: TimeDelta) -> Play {
        let play = self.sound.play(now, wanted);
        if let Play::Frame { timestamp, .. } = play {
            self.skew.heard(timestamp, heard);
        }
        play
    }

    /// Notes that the loudspeaker had nothing to play for `silent`, although there was sound.
    pub fn ran_out(&mut self, silent: TimeDelta) {
        self.sound.ran_out(silent);
    }

    /// Ends the session, and tells the host so.
    pub fn close(&mut self) {
        self.transport.close();
        self.end("left".to_owned(), true);
    }

    /// Number of items that the session holds: packets of frames that are not whole, frames of
    /// sound, and effects not yet taken. Soak tests check that it stays bounded.
    #[must_use]
    pub fn held(&self) -> usize {
        self.assembler.held() + self.sound.held() + self.effects.len()
    }

    /// Takes a datagram to send.
    pub fn poll_datagram(&mut self) -> Option<Datagram> {
        self.transport.poll_datagram()
    }

    /// Takes the next effect.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    fn events(&mut self, now: Time, arrived: Time, ecn: Ecn) {
        while let Some(event) = self.transport.poll_event() {
            match event {
                CallerEvent::Connected => {
                    self.is_connected = true;
                    self.tally.connected = Some(now.since(self.begun));
                    self.moved = now;
                    self.effects.push_back(Effect::Connected);
                }
                CallerEvent::Packet(packet) => self.packet(now, arrived, ecn, packet),
                CallerEvent::Opened(channel) => {
                    if let Some(time) = page_time(now).filter(|_| channel == Channel::Keys) {
                        let (channel, message) = self.pen.first(time);
                        self.transport.write(channel, &message);
                        for message in self.early.take().unwrap_or_default() {
                            self.transport.write(channel, &message);
                        }
                    }
                }
                CallerEvent::Message { channel, data } => self.message(now, channel, &data),
                CallerEvent::Closed { reason } => self.end(reason, false),
            }
        }
        self.report(now);
    }

    fn packet(&mut self, now: Time, arrived: Time, ecn: Ecn, packet: Incoming) {
        let at = peer_time(arrived);
        if let Some(number) = packet.transport {
            self.tally.packets.came(number.sequence, ecn);
            self.reporter.came(&Came {
                ssrc: packet.ssrc,
                sequence: packet.sequence,
                number: number.sequence,
                asks: number.request.is_some(),
                is_last: packet.dependency.is_some_and(|place| place.is_last),
                at,
                ecn,
            });
        }
        let refused = |error: &dyn std::fmt::Display| {
            tracing::debug!(%error, "a packet is not understood");
        };
        match packet.carries {
            Carries::Video => self.piece(now, at, MediaSequence(packet.sequence), packet),
            Carries::Repeat if packet.payload.is_empty() => {}
            Carries::Repeat if packet.dependency.is_none() && self.is_padded(&packet.payload) => {}
            Carries::Repeat if packet.dependency.is_none() => {
                match Repair::parse(&packet.payload) {
                    Ok(repair) => self.repair(now, at, packet.timestamp, &repair),
                    Err(error) => refused(&error),
                }
            }
            Carries::Repeat => {
                self.tally.packets.repeated += 1;
                match rtx::parse(&packet.payload) {
                    Ok(original) => {
                        let sequence = MediaSequence(original.sequence);
                        let payload = original.payload.to_vec();
                        self.piece(now, at, sequence, Incoming { payload, ..packet });
                    }
                    Err(error) => refused(&error),
                }
            }
            Carries::Sound => self.sound.frame(now, packet.timestamp, &packet.payload),
            Carries::RedundantSound => {
                let result = self.sound.redundant(now, packet.timestamp, &packet.payload);
                let _ = result.inspect_err(|error| refused(error));
            }
        }
    }

    /// Whether the payload of a packet without a dependency is that of a probe.
    fn is_padded(&self, payload: &[u8]) -> bool {
        rtx::parse(payload).is_ok_and(|probe| is_filler(self.transport.codec(), probe.payload))
    }

    fn piece(&mut self, now: Time, at: PeerTime, sequence: MediaSequence, packet: Incoming) {
        let Some(dependency) = packet.dependency else {
            return;
        };
        let whole = self.assembler.packet(Piece {
            sequence,
            timestamp: packet.timestamp,
            dependency,
            at,
            payload: packet.payload,
        });
        self.decode(now, whole);
        self.effects
            .extend(self.assembler.slices().map(Effect::Begin));
    }

    fn repair(&mut self, now: Time, at: PeerTime, timestamp: u32, repair: &Repair<'_>) {
        self.tally.packets.repair += 1;
        let whole = self.assembler.repair(RepairPiece {
            before: MediaSequence(repair.before),
            timestamp,
            frame_number: repair.frame,
            reference: match repair.distance {
                0 => Reference::None,
                distance => Reference::Back(distance),
            },
            media: repair.media,
            place: repair.place,
            at,
            coded: repair.coded.to_vec(),
        });
        self.decode(now, whole);
    }

    fn decode(&mut self, now: Time, whole: Vec<Whole>) {
        for frame in whole {
            self.moved = now;
            self.tally.keyframes += u64::from(frame.is_keyframe);
            self.effects.push_back(Effect::Decode(frame));
        }
    }

    fn message(&mut self, now: Time, channel: Channel, data: &[u8]) {
        match channel {
            Channel::Frames => {
                if let Ok(FrameMessage::ClockQuestion { host }) = FrameMessage::parse(data)
                    && let Some(page) = page_time(now)
                {
                    let answer = FrameMessage::ClockAnswer { host, page };
                    self.transport.write(Channel::Frames, &answer.to_bytes());
                }
            }
            Channel::Control => match ToPage::parse(data) {
                Ok(message) => self.told(message),
                Err(error) => tracing::warn!(%error, "a message of the host's is not understood"),
            },
            Channel::Input => {
                let rumble = Rumble::parse(data).map(Effect::Rumble);
                self.effects.extend(rumble);
            }
            Channel::Keys => {}
        }
    }

    fn told(&mut self, message: ToPage) {
        match message {
            ToPage::Hello(hello) => {
                self.skew.clocks(hello.picture_clock, hello.sound_clock);
                self.effects.push_back(Effect::Hello(Box::new(hello)));
            }
            ToPage::Statistics(statistics) => {
                let sound = statistics.sound.map(|sound| sound.clock);
                self.skew.clocks(None, sound);
                self.effects.push_back(Effect::Statistics(statistics));
            }
            ToPage::Notice(notice) if notice.code == NoticeCode::Ended => {
                self.end(notice.message, true);
            }
            ToPage::Clipboard(clipboard) => {
                self.effects.push_back(Effect::Copied(clipboard.text));
            }
            ToPage::Notice(notice) => self.effects.push_back(Effect::Notice(notice)),
            ToPage::Line(report) => self.effects.push_back(Effect::Line(report)),
            // Our own transport always reports, so that the host does not send this; it continues
            // without.
            ToPage::Candidates(Candidates { candidates }) => {
                for line in candidates.iter().take(MOST_CANDIDATES) {
                    self.transport.add_candidate(line);
                }
            }
            ToPage::Feedback(_) | ToPage::Unknown => {}
        }
    }

    fn report(&mut self, now: Time) {
        for compound in self.reporter.write(peer_time(now)) {
            self.transport.report(&compound);
        }
    }

    fn tell_counts(&mut self) {
        let tally = self.tally();
        let SoundCounts {
            played,
            made_up,
            gaps,
            ran_out,
            stretched,
            ..
        } = tally.sound;
        let samples = |frames: u64| Some(frames * u64::from(self::sound::FRAME));
        let sound = (tally.sound.packets > 0).then(|| ClientSound {
            samples: samples(played),
            concealed: samples(made_up),
            stretched: samples(stretched),
            gaps: Some(gaps + ran_out),
            jitter_buffer: Some(Millis(self.sound.delay())),
            skew: self.skew.now().map(Millis),
            ..ClientSound::default()
        });
        let counts = FromPage::Client(Box::new(Client {
            received: Some(tally.frames.whole),
            decoded: Some(tally.decoded),
            dropped: Some(tally.frames.passed),
            packets_lost: i64::try_from(tally.packets.lost()).ok(),
            decoder: Some(self.config.decoder.clone()),
            sound,
            ..Client::default()
        }));
        let text = counts.to_json();
        self.transport.write(Channel::Control, text.as_bytes());
    }

    /// Notes that a frame was decoded.
    pub fn decoded(&mut self) {
        self.tally.decoded += 1;
    }

    fn end(&mut self, reason: String, is_final: bool) {
        if !std::mem::replace(&mut self.is_over, true) {
            self.effects.push_back(Effect::Ended { reason, is_final });
        }
    }
}

fn time(at: PeerTime) -> Time {
    Time::from_nanos(u64::try_from(at.as_nanos()).unwrap_or(0))
}

/// The client's time in the form that reports carry.
fn peer_time(time: Time) -> PeerTime {
    PeerTime::from_nanos(i64::try_from(time.as_nanos()).unwrap_or(i64::MAX))
}

/// The client's time in the form that messages carry; `None` if it cannot be expressed.
fn page_time(time: Time) -> Option<PageTime> {
    PageTime::from_millis(time.since(Time::ZERO).as_millis())
}
