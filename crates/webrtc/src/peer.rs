//! One browser: its connection, its streams, its channels.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;

use mimosa_control::{FrameId, PacketKind};
use mimosa_session::{Code, Outgoing, Report};
use mimosa_units::{Bytes, Ecn};
use mimosa_video::Codec;
use mimosa_wire::control::FeedbackKind;
use mimosa_wire::transport_cc::TransportSequence;
use mimosa_wire::video::Payloads;
use str0m::change::SdpOffer;
use str0m::channel::{ChannelData, ChannelId};
use str0m::media::{MediaTime, Mid, Pt};
use str0m::net::{Protocol, Receive};
use str0m::rtp::{ExtensionValues, RtpWrite, SeqNo};
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc};

use crate::config::configure;
use crate::error::OfferError;
use crate::feedback::Feedback;
use crate::sdp::{
    Beside, Offer, RepairOffer, add_congestion_feedback, add_repairs, add_stream,
    transport_extension,
};
use crate::sound::Sound;
use crate::sound_section::add_redundancy;
use crate::store::{Packet, Repairs, Store, Stream};
use crate::tap;

/// What a packet has beside its payload: IPv4 20, UDP 8, RTP 12, header extensions
/// 20 (RFC 8285: 4, playout delay 4, transport-wide sequence number with request
/// 5, dependency descriptor 4, padding 3) and the tag of AES-GCM 16 (RFC 7714).
pub const OVERHEAD: Bytes = Bytes::new(76);
/// Largest payload: datagrams of at most 1200 bytes, which any path carries (RFC
/// 8831, section 5, has it for the same reason), less what RTP adds, two bytes of
/// RTX and the identification of the media that the first packets carry.
pub const LARGEST_PAYLOAD: Bytes = Bytes::new(1140);

/// Each report repeats what was sent up to this many frames ago, so that two lost
/// reports in a row cost nothing.
const FRAMES_IN_REPORT: usize = 3;
/// Names of the streams towards str0m, which tells them apart by these: asked for one
/// without a name, it gives any. They never leave: the header extension that would
/// carry them is not negotiated.
const MEDIA: &str = "media";
const RETRANSMISSIONS: &str = "rtx";
const REPAIRS: &str = "fec";

/// A channel of `docs/protocol.md`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Channel {
    /// Pointer, gamepads.
    Input,
    /// Keys, buttons.
    Keys,
    /// The fate of frames.
    Frames,
    /// JSON.
    Control,
}

impl Channel {
    pub(crate) const ALL: [Self; 4] = [Self::Input, Self::Keys, Self::Frames, Self::Control];

    /// The channel with this label.
    pub(crate) fn from_label(label: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.label() == label)
    }

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Keys => "keys",
            Self::Frames => "frames",
            Self::Control => "control",
        }
    }
}

/// Something that happened to a peer.
#[derive(Debug)]
pub enum PeerEvent {
    /// Media can flow.
    Connected,
    /// Arrivals, by transport-wide feedback.
    Feedback(Report),
    /// The browser lacks this packet.
    Missing {
        /// Of this frame.
        frame: FrameId,
        /// Its place in it.
        index: u32,
    },
    /// The browser cannot go on without a keyframe.
    KeyframeWanted,
    /// A channel can be written to.
    Opened(Channel),
    /// A message came.
    Message {
        /// On this channel.
        channel: Channel,
        /// What it says.
        data: Vec<u8>,
    },
    /// The connection is over.
    Closed {
        /// Why.
        reason: String,
    },
}

/// A datagram to be sent.
#[derive(Clone, Debug)]
pub struct Datagram {
    /// From this address of ours.
    pub source: SocketAddr,
    /// To there.
    pub destination: SocketAddr,
    /// With this ECN field.
    pub ecn: Ecn,
    /// What it has in it.
    pub contents: Vec<u8>,
}

/// One browser. Everything that changes it is a method with the time; what comes
/// of it is taken with [`Peer::poll_datagram`] and [`Peer::poll_event`].
pub struct Peer {
    rtc: Rtc,
    store: Store,
    feedback: Feedback,
    kind: FeedbackKind,
    /// The media section that video goes out on.
    video: Mid,
    codec: Codec,
    payload_type: Pt,
    bears_gaps: bool,
    repairs: RepairOffer,
    /// Payload type of the second stream, if there is one.
    rtx: Option<Pt>,
    /// The sound, and the media section that it goes out on.
    sound: Option<(Mid, Sound)>,
    channels: [Option<ChannelId>; Channel::ALL.len()],
    /// Transport-wide number of the first packet of each of the last frames.
    opened: VecDeque<(FrameId, u16)>,
    datagrams: VecDeque<Datagram>,
    /// The ECN field of what str0m gives now.
    ecn: Ecn,
    events: VecDeque<PeerEvent>,
    deadline: Instant,
    is_closed: bool,
}

impl Peer {
    /// Answers an offer: the peer, and the text of the answer. The picture is sent as the
    /// first of `codecs` that the offer has.
    ///
    /// `addresses` are those that its datagrams may come in on. `first_sequence`
    /// should be random (RFC 3550, section 5.1) and below 32768 (RFC 3711, section
    /// 3.3.1: nobody could tell that it has wrapped). `wanted` overrides what the offer
    /// says of feedback. Without `has_sound`, or where the offer has no Opus to receive,
    /// the answer has no sound.
    ///
    /// # Errors
    ///
    /// [`OfferError`] says what the offer lacks.
    pub fn answer(
        offer: &str,
        codecs: &[Codec],
        wanted: Option<FeedbackKind>,
        addresses: &[SocketAddr],
        first_sequence: u16,
        has_sound: bool,
        now: Instant,
    ) -> Result<(Self, String), OfferError> {
        let mut offer = Offer::read(offer, codecs, wanted)?;
        offer.sound.take_if(|_| !has_sound);
        let refused = |error: &dyn std::fmt::Display| OfferError::Refused {
            reason: error.to_string(),
        };
        let mut rtc = configure(&offer).build(now);
        for &address in addresses {
            let candidate = Candidate::host(address, "udp").map_err(|error| refused(&error))?;
            rtc.add_local_candidate(candidate);
        }
        let parsed = SdpOffer::from_sdp_string(&offer.text).map_err(|error| refused(&error))?;
        let answer = rtc
            .sdp_api()
            .accept_offer(parsed)
            .map_err(|error| refused(&error))?;
        let mut peer = Self {
            rtc,
            store: Store::new(offer.codec.codec, first_sequence, offer.rtx.is_some()),
            feedback: Feedback::new(),
            kind: offer.feedback,
            video: offer.media.as_str().into(),
            codec: offer.codec.codec,
            payload_type: offer.codec.payload_type.into(),
            bears_gaps: offer.bears_gaps,
            repairs: offer.repairs,
            rtx: None,
            sound: None,
            channels: [None; Channel::ALL.len()],
            opened: VecDeque::new(),
            datagrams: VecDeque::new(),
            ecn: Ecn::NotEct,
            events: VecDeque::new(),
            deadline: now,
            is_closed: false,
        };
        peer.drain();
        let mid = peer.video;
        let mut text = answer.to_sdp_string();
        if offer.feedback == FeedbackKind::CongestionControl {
            text = add_congestion_feedback(&text, offer.codec.payload_type);
        }
        if let Some(rtx) = offer.rtx {
            let mut api = peer.rtc.direct_api();
            let media = api.stream_tx_by_mid(mid, None).ok_or(OfferError::NoVideo)?;
            let media = media.ssrc();
            let second = api.new_ssrc();
            api.remove_stream_tx(media);
            api.declare_stream_tx(media, None, mid, Some(MEDIA.into()));
            api.declare_stream_tx(second, None, mid, Some(RETRANSMISSIONS.into()));
            if offer.feedback == FeedbackKind::CongestionControl {
                peer.feedback.name(*media, Stream::Media);
                peer.feedback.name(*second, Stream::Retransmission);
            }
            peer.rtx = Some(rtx.into());
            let beside = Beside::retransmissions(rtx, offer.codec.payload_type, *second);
            text = add_stream(&text, *media, &beside);
            match offer.repairs {
                RepairOffer::None => {}
                RepairOffer::Own => {
                    text = add_repairs(&text);
                    peer.store.set_repairs(Repairs::Own);
                }
                RepairOffer::Flexfec(number) => {
                    let mut api = peer.rtc.direct_api();
                    let third = api.new_ssrc();
                    api.declare_stream_tx(third, None, mid, Some(REPAIRS.into()));
                    let repairs = Repairs::Flexfec {
                        ssrc: *media,
                        extension: transport_extension(&text),
                    };
                    text = add_stream(&text, *media, &Beside::flexfec(number, *third));
                    peer.store.set_repairs(repairs);
                }
            }
            peer.drain();
        }
        if let Some(sound) = offer.sound {
            let mid = sound.media.as_str().into();
            // What str0m has not agreed to has no stream.
            if peer.rtc.direct_api().stream_tx_by_mid(mid, None).is_some() {
                peer.sound = Some((mid, Sound::new(sound.agreed, first_sequence)));
                if let Some(red) = sound.agreed.red {
                    text = add_redundancy(&text, sound.agreed.opus, red);
                }
            }
        }
        Ok((peer, text))
    }

    /// The codec agreed on.
    #[must_use]
    pub const fn codec(&self) -> Codec {
        self.codec
    }

    /// The feedback agreed on.
    #[must_use]
    pub const fn feedback(&self) -> FeedbackKind {
        self.kind
    }

    /// Whether the browser is told what each frame refers to, and so can go on after
    /// one that it never gets.
    #[must_use]
    pub const fn bears_gaps(&self) -> bool {
        self.bears_gaps
    }

    /// Whether lost packets can be sent again.
    #[must_use]
    pub const fn has_retransmissions(&self) -> bool {
        self.rtx.is_some()
    }

    /// What repair packets that the other end knows are made of, if it knows any.
    #[must_use]
    pub const fn repairs(&self) -> Option<Code> {
        match self.repairs {
            RepairOffer::None => None,
            RepairOffer::Own => Some(Code::ReedSolomon),
            RepairOffer::Flexfec(_) => Some(Code::Xor),
        }
    }

    /// Whether the browser hears sound.
    #[must_use]
    pub const fn has_sound(&self) -> bool {
        self.sound.is_some()
    }

    /// Whether packets of sound can have earlier frames in them.
    #[must_use]
    pub fn takes_redundancy(&self) -> bool {
        let sound = self.sound.as_ref();
        sound.is_some_and(|(_, sound)| sound.takes_redundancy())
    }

    /// Whether this datagram is this peer's.
    #[must_use]
    pub fn accepts(
        &self,
        now: Instant,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) -> bool {
        received(source, destination, contents)
            .is_some_and(|receive| self.rtc.accepts(&Input::Receive(now, receive)))
    }

    /// Takes a datagram in.
    pub fn receive(
        &mut self,
        now: Instant,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) {
        let Some(receive) = received(source, destination, contents) else {
            return;
        };
        let rtc = &mut self.rtc;
        let (result, plain) = tap::listen(|| rtc.handle_input(Input::Receive(now, receive)));
        self.check(result);
        self.drain();
        if !plain.is_empty() {
            self.control(contents, &plain);
        }
    }

    /// Lets time pass.
    pub fn timeout(&mut self, now: Instant) {
        let result = self.rtc.handle_input(Input::Timeout(now));
        self.check(result);
        self.drain();
    }

    /// When to call [`Peer::timeout`] at the latest.
    #[must_use]
    pub const fn deadline(&self) -> Instant {
        self.deadline
    }

    /// Adds a candidate of the browser's, as in its `a=candidate:` line.
    ///
    /// # Errors
    ///
    /// The line, when it is none.
    pub fn add_candidate(&mut self, line: &str) -> Result<(), OfferError> {
        let candidate = Candidate::from_sdp_string(line).map_err(|error| OfferError::Refused {
            reason: format!("`{line}` is no candidate: {error}"),
        })?;
        self.rtc.add_remote_candidate(candidate);
        self.drain();
        Ok(())
    }

    /// Takes the packets of a frame in, for [`Peer::send`]. `timestamp` is its RTP
    /// timestamp, in 1/90000 s; `reference` the frame it refers to, `None` for a
    /// keyframe.
    pub fn insert(
        &mut self,
        frame: FrameId,
        timestamp: u32,
        reference: Option<FrameId>,
        payloads: Payloads,
    ) {
        self.store.insert(frame, timestamp, reference, payloads);
    }

    /// The frame just inserted has so many repair packets.
    pub fn protect(&mut self, frame: FrameId, repairs: u32) {
        self.store.protect(frame, repairs);
    }

    /// Sends the packets that the sender names, in this order.
    pub fn send<'a>(&mut self, now: Instant, packets: impl IntoIterator<Item = &'a Outgoing>) {
        let mut last = None;
        for outgoing in packets {
            // It may be made of what was queued just before.
            if outgoing.kind == PacketKind::Repair && last.take().is_some() {
                self.flush(now);
            }
            let packet = self.store.packet(outgoing);
            // str0m keeps the order of what is on one stream.
            let alike = (packet.stream, outgoing.ecn);
            if last.is_some_and(|last| last != alike) {
                self.flush(now);
            }
            last = Some(alike);
            self.ecn = outgoing.ecn;
            self.write_packet(now, outgoing, packet);
        }
        if last.is_some() {
            self.flush(now);
        }
        self.ecn = Ecn::NotEct;
    }

    /// Has str0m send what it has queued.
    fn flush(&mut self, now: Instant) {
        let before = self.datagrams.len();
        self.timeout(now);
        for datagram in self.datagrams.range(before..) {
            self.store.left(&datagram.contents);
        }
    }

    /// Has str0m queue a packet.
    fn write_packet(&mut self, now: Instant, outgoing: &Outgoing, packet: Packet) {
        if outgoing.index == 0
            && self
                .opened
                .back()
                .is_none_or(|last| last.0 < outgoing.frame)
        {
            if self.opened.len() == FRAMES_IN_REPORT {
                self.opened.pop_front();
            }
            self.opened.push_back((outgoing.frame, outgoing.sequence));
        }
        let mut values = ExtensionValues {
            play_delay_min: Some(MediaTime::from_hundredths(0)),
            play_delay_max: Some(MediaTime::from_hundredths(0)),
            ..ExtensionValues::default()
        };
        values.user_values.set(TransportSequence {
            sequence: outgoing.sequence,
            request: outgoing.asks_feedback.then(|| self.report_length(outgoing)),
        });
        if let Some(dependency) = packet.dependency.filter(|_| self.bears_gaps) {
            values.user_values.set(dependency);
        }
        let (payload_type, rid) = match (packet.stream, self.rtx) {
            (Stream::Retransmission, Some(payload_type)) => {
                (payload_type, Some(RETRANSMISSIONS.into()))
            }
            (Stream::Repair, _) if let RepairOffer::Flexfec(number) = self.repairs => {
                (number.into(), Some(REPAIRS.into()))
            }
            _ => (self.payload_type, self.rtx.map(|_| MEDIA.into())),
        };
        #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
        let number = packet.sequence as u16;
        self.feedback.sent(packet.stream, number, outgoing.sequence);
        let sequence = SeqNo::from(packet.sequence);
        let write = RtpWrite::new(
            payload_type,
            sequence,
            packet.timestamp,
            now,
            packet.payload,
        )
        .marker(packet.marker)
        .ext_vals(values);
        if let Some(stream) = self.rtc.direct_api().stream_tx_by_mid(self.video, rid) {
            stream.write_rtp(write);
        }
    }

    /// Sends a frame of sound at once, with up to `redundancy` earlier ones, of which
    /// two are remembered. `timestamp` is its RTP timestamp, in 1/48000 s. Gives the
    /// length of the payload; zero when the browser hears nothing.
    pub fn send_sound(
        &mut self,
        now: Instant,
        timestamp: u32,
        frame: &[u8],
        redundancy: usize,
    ) -> usize {
        let Some((mid, sound)) = &mut self.sound else {
            return 0;
        };
        let packet = sound.packet(timestamp, frame, redundancy);
        let length = packet.payload.len();
        let write = RtpWrite::new(
            packet.payload_type.into(),
            SeqNo::from(packet.sequence),
            timestamp,
            now,
            packet.payload,
        );
        if let Some(stream) = self.rtc.direct_api().stream_tx_by_mid(*mid, None) {
            stream.write_rtp(write);
        }
        self.timeout(now);
        length
    }

    /// How many packets, this one included, a report should cover.
    fn report_length(&self, outgoing: &Outgoing) -> u16 {
        let oldest = self
            .opened
            .front()
            .map_or(outgoing.sequence, |first| first.1);
        outgoing.sequence.wrapping_sub(oldest).saturating_add(1)
    }

    /// The frame with this RTP timestamp, if it is one of the last.
    #[must_use]
    pub fn frame_at(&self, timestamp: u32) -> Option<FrameId> {
        self.store.at(timestamp)
    }

    /// Writes a message, if the channel is open and takes it.
    pub fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        let Some(id) = self.channels[channel as usize] else {
            return false;
        };
        let is_binary = channel != Channel::Control;
        let written = self
            .rtc
            .channel(id)
            .is_some_and(|mut open| open.write(is_binary, data).unwrap_or(false));
        self.drain();
        written
    }

    /// Ends the connection, and tells the browser.
    pub fn close(&mut self) {
        let result = self.rtc.close();
        self.check(result);
        self.drain();
    }

    /// Takes a datagram that is to be sent.
    pub fn poll_datagram(&mut self) -> Option<Datagram> {
        self.datagrams.pop_front()
    }

    /// Takes an event.
    pub fn poll_event(&mut self) -> Option<PeerEvent> {
        self.events.pop_front()
    }

    /// Takes everything out of str0m: it wants that after each change.
    fn drain(&mut self) {
        loop {
            match self.rtc.poll_output() {
                Ok(Output::Timeout(deadline)) => {
                    self.deadline = deadline;
                    break;
                }
                Ok(Output::Transmit(transmit)) => self.datagrams.push_back(Datagram {
                    source: transmit.source,
                    destination: transmit.destination,
                    ecn: self.ecn,
                    contents: transmit.contents.into(),
                }),
                Ok(Output::Event(event)) => self.event(event),
                Err(error) => {
                    self.end(error.to_string());
                    break;
                }
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Connected => self.events.push_back(PeerEvent::Connected),
            Event::ChannelOpen(id, label) => {
                if let Some(channel) = Channel::from_label(&label) {
                    self.channels[channel as usize] = Some(id);
                    self.events.push_back(PeerEvent::Opened(channel));
                }
            }
            Event::ChannelData(ChannelData { id, data, .. }) => {
                let known = self.channels.iter().position(|open| *open == Some(id));
                if let Some(index) = known {
                    let channel = Channel::ALL[index];
                    self.events.push_back(PeerEvent::Message { channel, data });
                }
            }
            Event::ChannelClose(id) => {
                for open in &mut self.channels {
                    open.take_if(|open| *open == id);
                }
            }
            Event::KeyframeRequest(_) => self.events.push_back(PeerEvent::KeyframeWanted),
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) => {
                self.end("the browser does not answer any more".to_owned());
            }
            Event::Closed => self.end("the browser closed the connection".to_owned()),
            _ => {}
        }
    }

    /// Looks into decrypted RTCP; its first eight bytes are in the datagram.
    fn control(&mut self, datagram: &[u8], plain: &[u8]) {
        let is_rtcp = datagram.len() >= 8 && (192..=223).contains(&datagram[1]);
        if !is_rtcp {
            return;
        }
        let compound = [&datagram[..8], plain].concat();
        let heard = self.feedback.read(&compound);
        if let Some(report) = heard.report {
            self.events.push_back(PeerEvent::Feedback(report));
        }
        for sequence in heard.missing {
            if let Some((frame, index)) = self.store.named(sequence) {
                self.events.push_back(PeerEvent::Missing { frame, index });
            }
        }
    }

    fn check(&mut self, result: Result<(), str0m::RtcError>) {
        if let Err(error) = result {
            self.end(error.to_string());
        }
    }

    fn end(&mut self, reason: String) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.events.push_back(PeerEvent::Closed { reason });
        }
    }
}

fn received(source: SocketAddr, destination: SocketAddr, contents: &[u8]) -> Option<Receive<'_>> {
    Some(Receive {
        proto: Protocol::Udp,
        source,
        destination,
        contents: contents.try_into().ok()?,
    })
}
