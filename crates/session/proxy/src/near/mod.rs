//! The end beside the application that sends: paces and marks its packets, and tells it what it may
//! send.

mod reports;

use std::collections::VecDeque;
use std::fmt;

use mimosa_facts::{Controller, FrameEnd, FrameId, Limits, PacketKind, TransportSequence};
use mimosa_rtp::codec_control;
use mimosa_rtp::keyframe;
use mimosa_rtp::packet::{Datagram, Packet};
use mimosa_stream::pace::Bounds;
use mimosa_stream::{Outgoing, RetransmissionDeadline, Sender, SenderConfig, StreamReader};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

use crate::Pass;
use crate::config::{KeyframeRequest, NearConfig, RateRequest};
use crate::envelope;
use crate::key::{Greeter, Key};
use crate::queue::{Queue, Waiting};
use crate::release::Release;
use crate::statistics::Statistics;
use crate::streams::Streams;
use crate::voice::{AppLimits, Budget, Told, Voice};

/// The far end counts as there for this time after a report. Our choice: many reports.
const THERE_FOR: TimeDelta = TimeDelta::from_millis(1_000);

/// Makes the controller that begins with these limits, whenever a far end takes over.
pub type Maker = Box<dyn Fn(Limits) -> Box<dyn Controller> + Send>;

/// A datagram that leaves for the far end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Departure {
    /// The ECN field to send the datagram with.
    pub ecn: Ecn,
    /// The datagram.
    pub contents: Vec<u8>,
}

/// Packets that were released at once: what is a frame to the controller.
#[derive(Debug)]
struct Chunk {
    frame: FrameId,
    /// The packets in order; `None` for one that has left.
    packets: Vec<Option<Waiting>>,
    /// Number of packets that have not left.
    left: usize,
}

/// The end beside the application that sends.
pub struct Near {
    config: NearConfig,
    make: Maker,
    /// Names this end in RTCP and in probes.
    ssrc: u32,
    sender: Sender,
    reader: StreamReader,
    streams: Streams,
    queue: Queue,
    release: Release,
    chunks: VecDeque<Chunk>,
    voice: Voice,
    /// The far end whose reports count, when one came last, and the one before it.
    far: Option<(u32, Time)>,
    former: Option<u32>,
    /// Whether a report has come lately.
    is_there: bool,
    /// Whether the receiving application asks for packets or keyframes itself.
    receiver_asks: bool,
    /// RTP number of the next probe, and the number of the next FIR.
    next_probe: u16,
    next_request: u8,
    /// When the bitrate was asked for by RTCP last.
    requested: Option<Time>,
    /// What the far end is greeted with, where the two ends have a key.
    greeter: Option<Greeter>,
    /// The newest packet that a report named.
    counted: TransportSequence,
    departures: VecDeque<Departure>,
    requests: VecDeque<Vec<u8>>,
    told: VecDeque<Told>,
    statistics: Statistics,
}

impl fmt::Debug for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Near")
            .field("ssrc", &self.ssrc)
            .field("sender", &self.sender)
            .field("queue", &self.queue)
            .field("voice", &self.voice)
            .finish_non_exhaustive()
    }
}

impl Near {
    /// An end that no application has reached. `ssrc` is random: it names this end in RTCP.
    #[must_use]
    pub fn new(config: NearConfig, ssrc: u32, make: Maker) -> Self {
        let sender = sender(&config, make(config.limits));
        let mut near = Self {
            voice: Voice::new(config.voice),
            make,
            ssrc,
            sender,
            reader: StreamReader::new(),
            streams: Streams::new(),
            queue: Queue::default(),
            release: Release::default(),
            chunks: VecDeque::new(),
            far: None,
            former: None,
            is_there: false,
            receiver_asks: false,
            next_probe: 0,
            next_request: 0,
            requested: None,
            greeter: None,
            counted: TransportSequence(0),
            departures: VecDeque::new(),
            requests: VecDeque::new(),
            told: VecDeque::new(),
            statistics: Statistics::default(),
            config,
        };
        near.reader.add(ssrc);
        near
    }

    /// An end that takes reports which are signed with this key only. `nonce` is random: it names this run of it.
    #[must_use]
    pub fn with_key(self, key: Key, nonce: [u8; 16]) -> Self {
        Self {
            greeter: Some(Greeter::new(key, nonce)),
            ..self
        }
    }

    /// A datagram came from the application at `now`. Call [`Self::advance`] after it, or after
    /// several of them. What passes goes to the far end, as not ECN-capable.
    pub fn application_sent(&mut self, now: Time, datagram: &[u8]) -> Pass {
        match Datagram::parse(datagram) {
            Ok(Datagram::Rtp(packet)) => self.rtp(now, &packet, datagram),
            Ok(Datagram::Rtcp) => {
                self.statistics.rtcp += 1;
                Pass::Rtcp
            }
            Err(_) => {
                self.statistics.refused += 1;
                Pass::Refused
            }
        }
    }

    fn rtp(&mut self, now: Time, packet: &Packet<'_>, datagram: &[u8]) -> Pass {
        let place = self.streams.came(&self.config, now, packet, datagram.len());
        while let Some(ssrc) = self.streams.take_forgotten() {
            self.reader.remove(ssrc);
        }
        if place.is_copy {
            self.statistics.copies += 1;
            return Pass::Refused;
        }
        let Some(stream) = self.streams.get(place.index) else {
            return Pass::Refused;
        };
        if !stream.is_paced {
            self.statistics.ahead.add(datagram.len());
            return Pass::Rtp;
        }
        let codec = self.config.codec;
        let begins_keyframe = codec.is_some_and(|codec| keyframe::begins(codec, packet.payload));
        if begins_keyframe {
            self.voice.keyframe_came();
        }
        if let Some(until) = stream.awaits_keyframe {
            if !begins_keyframe && now < until {
                self.statistics.dropped.add(datagram.len());
                return Pass::Taken;
            }
            stream.awaits_keyframe = None;
        }
        stream.waiting += 1;
        self.statistics.paced.add(datagram.len());
        let waiting = Waiting {
            ssrc: packet.ssrc,
            sequence: packet.sequence,
            size: Bytes::new(datagram.len() as u64) + self.config.headers,
            at: now,
            begins_keyframe,
            contents: datagram.to_vec(),
        };
        self.queue.push(waiting, place.begins_frame, packet.marker);
        Pass::Taken
    }

    /// The application sets bounds to the bitrates that it is told.
    pub fn set_limits(&mut self, limits: AppLimits) {
        self.voice.set_limits(limits);
    }

    /// Does what is due at `now`.
    pub fn advance(&mut self, now: Time) {
        self.greet(now);
        self.queue.expire(now, self.config.gather);
        self.shorten(now);
        self.sender.timer(now);
        self.release(now);
        while let Some(outgoing) = self.sender.poll_packet(now) {
            self.send(&outgoing);
        }
        self.settle(now);
        self.speak(now);
    }

    /// When to call [`Self::advance`] next, unless a datagram comes before; [`Time::MAX`] for never.
    #[must_use]
    pub fn deadline(&self) -> Time {
        let config = &self.config;
        let release = if self.queue.is_ready() {
            self.release.next()
        } else {
            Time::MAX
        };
        let oldest = self.queue.oldest();
        let too_old = oldest.map_or(Time::MAX, |at| at + config.longest_wait);
        [
            self.sender.deadline().unwrap_or(Time::MAX),
            self.queue.deadline(config.gather),
            release,
            too_old,
            self.streams.deadline(),
            self.greeter.as_ref().map_or(Time::MAX, Greeter::deadline),
            if self.is_there {
                self.voice.deadline()
            } else {
                Time::MAX
            },
        ]
        .into_iter()
        .fold(Time::MAX, Time::min)
    }

    /// Takes a datagram that leaves for the far end.
    pub fn poll_departure(&mut self) -> Option<Departure> {
        self.departures.pop_front()
    }

    /// Takes an RTCP datagram for the application.
    pub fn poll_request(&mut self) -> Option<Vec<u8>> {
        self.requests.pop_front()
    }

    /// Takes something that the application is to be told.
    pub fn poll_told(&mut self) -> Option<Told> {
        self.told.pop_front()
    }

    /// Counts so far, and the present state.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let decision = self.sender.decision();
        Statistics {
            target: decision.target,
            told: self.voice.bitrate().unwrap_or(Rate::ZERO),
            rate: self.streams.paced_rate(),
            waiting: self.queue.bytes(),
            in_flight: self.sender.in_flight(),
            queue_delay: decision.evidence.queue_delay,
            ecn: self.sender.ecn_state(),
            streams: self.streams.statistics(),
            ..self.statistics.clone()
        }
    }

    /// The bitrate that the application was told last.
    #[must_use]
    pub fn bitrate(&self) -> Option<Rate> {
        self.voice.bitrate()
    }

    /// Drops frames if the queue has become too long.
    fn shorten(&mut self, now: Time) {
        let too_old = |at: Time| now.since(at) >= self.config.longest_wait;
        let is_too_long = self.queue.oldest().is_some_and(too_old);
        if !is_too_long && self.queue.bytes() <= self.config.most_bytes {
            return;
        }
        let dropped = self.queue.drop_frames();
        self.statistics.overflows += 1;
        let is_empty = self.queue.oldest().is_none();
        for packet in &dropped {
            self.statistics.dropped.add(packet.contents.len());
            if let Some(stream) = self.streams.of(packet.ssrc) {
                stream.waiting = stream.waiting.saturating_sub(1);
                if is_empty && self.config.codec.is_some() {
                    stream.awaits_keyframe = Some(now + self.config.keyframe_patience);
                }
            }
        }
        if is_empty {
            self.voice.want_keyframe();
        }
    }

    /// Hands to the sender what may leave.
    fn release(&mut self, now: Time) {
        while self.queue.is_ready() && self.release.next() <= now {
            let stream = self.queue.stream();
            let stream = stream.and_then(|ssrc| self.streams.of(ssrc));
            let interval = stream.and_then(|stream| stream.interval);
            let interval = interval.unwrap_or(self.config.interval);
            let grant = self.sender.frame_due(now, interval);
            let tolerance = self.config.tolerance;
            let Some(room) = self.release.room(now, &grant, interval, tolerance) else {
                return;
            };
            let packets = self.queue.take(room);
            let sizes = packets.iter().map(|packet| packet.size);
            self.sender.frame_encoded(now, sizes.clone());
            let slack = interval.scale(self.config.slack);
            self.release.left(now, sizes.sum(), grant.target, slack);
            self.chunks.push_back(Chunk {
                frame: grant.frame,
                left: packets.len(),
                packets: packets.into_iter().map(Some).collect(),
            });
        }
    }

    /// Sends a packet that the sender lets go.
    fn send(&mut self, outgoing: &Outgoing) {
        if outgoing.kind == PacketKind::Probe {
            self.probe(outgoing);
            return;
        }
        let Some(place) = self
            .chunks
            .iter()
            .position(|chunk| chunk.frame == outgoing.frame)
        else {
            return;
        };
        let Some(chunk) = self.chunks.get_mut(place) else {
            return;
        };
        let index = usize::try_from(outgoing.index).ok();
        let packet = index.and_then(|index| chunk.packets.get_mut(index)?.take());
        let Some(packet) = packet else {
            return;
        };
        chunk.left -= 1;
        if chunk.left == 0 {
            self.chunks.remove(place);
        }
        if let Some(stream) = self.streams.of(packet.ssrc) {
            stream.waiting = stream.waiting.saturating_sub(1);
        }
        self.reader.add(packet.ssrc);
        self.reader
            .sent(packet.ssrc, packet.sequence, outgoing.sequence);
        self.departures.push_back(Departure {
            ecn: outgoing.ecn,
            contents: packet.contents,
        });
    }

    fn probe(&mut self, outgoing: &Outgoing) {
        let size = outgoing.size - self.config.headers;
        let size = usize::try_from(size.get()).unwrap_or(0);
        let sequence = self.next_probe;
        self.next_probe = sequence.wrapping_add(1);
        self.reader.sent(self.ssrc, sequence, outgoing.sequence);
        self.statistics.probes += 1;
        self.departures.push_back(Departure {
            ecn: outgoing.ecn,
            contents: envelope::probe(self.ssrc, sequence, size),
        });
    }

    /// Forgets frames that have ended, and answers losses.
    fn settle(&mut self, now: Time) {
        while let Some(life) = self.sender.poll_frame() {
            if life.end == Some(FrameEnd::GivenUp) {
                self.forget(life.frame);
            }
        }
        let heard = self.far.map(|(_, heard)| heard);
        self.is_there = heard.is_some_and(|heard| now.since(heard) < THERE_FOR);
        let answers = self.config.voice.keyframe_on_loss && !self.receiver_asks;
        if self.sender.poll_broken().is_some() && answers {
            self.voice.want_keyframe();
        }
    }

    /// Drops the packets of a frame that was given up.
    fn forget(&mut self, frame: FrameId) {
        let Some(place) = self.chunks.iter().position(|chunk| chunk.frame == frame) else {
            return;
        };
        let chunk = self.chunks.remove(place);
        for packet in chunk.into_iter().flat_map(|chunk| chunk.packets).flatten() {
            self.statistics.dropped.add(packet.contents.len());
            if let Some(stream) = self.streams.of(packet.ssrc) {
                stream.waiting = stream.waiting.saturating_sub(1);
            }
        }
    }

    /// Tells the application what it is to know.
    fn speak(&mut self, now: Time) {
        if let Some(began) = self.streams.measure(&self.config, now) {
            self.voice.sent(began, now, self.streams.paced_rate());
        }
        let share = self.streams.share();
        let budget = Budget {
            target: self.sender.decision().target,
            ahead: self.streams.ahead_rate(),
            waiting: self.queue.bytes(),
            share,
        };
        if let Some(bitrate) = self.voice.consider(now, &budget) {
            self.statistics.bitrates += 1;
            self.told.push_back(Told::Bitrate(bitrate));
            self.requested = None;
        }
        // A keyframe that nobody receives is asked for when the far end is back.
        if self.is_there && self.voice.asks(now) {
            self.statistics.keyframes += 1;
            self.told.push_back(Told::Keyframe);
            self.request_keyframe();
        }
        self.request_bitrate(now);
    }

    fn request_keyframe(&mut self) {
        let Some((request, (media, _))) = self
            .config
            .voice
            .keyframe_request
            .zip(self.streams.largest())
        else {
            return;
        };
        let number = self.next_request;
        self.next_request = number.wrapping_add(1);
        self.requests.push_back(match request {
            KeyframeRequest::Pli => codec_control::picture_lost(self.ssrc, media),
            KeyframeRequest::Fir => codec_control::keyframe_needed(self.ssrc, media, number),
        });
    }

    /// Asks for the last bitrate by RTCP, if it is new or was asked for long ago.
    fn request_bitrate(&mut self, now: Time) {
        let is_due = self
            .requested
            .is_none_or(|at| now.since(at) >= self.voice.repeat());
        let request = self.config.voice.rate_request.filter(|_| is_due);
        let Some(((request, told), (media, rate))) = request
            .zip(self.voice.bitrate())
            .zip(self.streams.largest())
        else {
            return;
        };
        self.requested = Some(now);
        // Other paced streams keep what they have.
        let told = told - (self.streams.paced_rate() - rate);
        self.requests.push_back(match request {
            RateRequest::Tmmbr => {
                codec_control::at_most(self.ssrc, media, told, self.config.headers)
            }
            RateRequest::Remb => codec_control::estimated(self.ssrc, media, told),
        });
    }
}

/// A sender of packets that are not sent again: the application does that, where it can.
fn sender(config: &NearConfig, controller: Box<dyn Controller>) -> Sender {
    let bounds = Bounds {
        longest_wait: config.longest_wait,
        shortest_gap: config.shortest_gap,
        catch_up: Some(Bounds::CATCH_UP),
        ..Bounds::default()
    };
    let config = SenderConfig {
        policy: config.policy,
        bounds,
        retransmission_deadline: RetransmissionDeadline::Age(TimeDelta::ZERO),
        ecn: config.ecn,
        ..SenderConfig::default()
    };
    Sender::new(config, controller)
}
