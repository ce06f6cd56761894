//! The host's end of a WebRTC connection: its media streams and its channels.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_facts::{Codec, FrameId, PacketKind};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::video::Payloads;
use mimosa_stream::{Code, Outgoing};
use mimosa_units::{Bytes, Ecn, Time};
use str0m::change::SdpOffer;
use str0m::channel::ChannelData;
use str0m::media::{MediaTime, Mid, Pt};
use str0m::net::{Protocol, TcpType};
use str0m::rtp::{ExtensionValues, RtpWrite, SeqNo};
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc};

use crate::advertised::relayed_candidate;
use crate::config::configure;
use crate::ends::{Addresses, Agreed, Channel, Datagram, HostTransport, Left, PeerEvent};
use crate::error::{OfferError, UNPARSED, in_short};
use crate::feedback::Congestion;
use crate::numbers::StreamNumbers;
use crate::paths::{Destination, Sources, Way, check_candidate, is_stun};
use crate::reports::{accept, transport_extension};
use crate::rtc::{Channels, cause, received};
use crate::sdp::{Beside, Offer, RepairOffer, add_repairs, add_stream, rename};
use crate::sound::Sound;
use crate::sound_section::add_redundancy;
use crate::start::Start;
use crate::store::{Repairs, Stream};
use crate::tap;
use crate::time::{instant, time};
use crate::video::{Numbered, Video};

/// Bytes of a video packet beside its payload: IPv4 20, UDP 8, RTP 12, header extensions 20 (RFC
/// 8285: 4, playout delay 4, transport-wide sequence number with request 5, dependency descriptor
/// 4, padding 3) and the tag of AES-GCM 16 (RFC 7714).
pub const OVERHEAD: Bytes = Bytes::new(76);
/// Largest payload of a video packet: datagrams of at most 1200 bytes, which any path carries (RFC
/// 8831, section 5, has the same limit for that reason), less what RTP adds, two bytes of RTX and
/// the media identification in the first packets.
pub const LARGEST_PAYLOAD: Bytes = Bytes::new(1140);

/// Why a connection ends that the browser closed.
const CLOSED: &str = "the browser closed the connection";
/// Names by which str0m tells the streams apart. A request for a stream without a name would return
/// any of them. The names never leave the host, because the header extension that would carry them
/// is not negotiated.
const MEDIA: &str = "media";
const RETRANSMISSIONS: &str = "rtx";
const REPAIRS: &str = "fec";

/// The host's end of one connection. Each method that changes it takes the time. Afterwards,
/// [`Peer::poll_datagram`] and [`Peer::poll_event`] return the results.
pub struct Peer {
    rtc: Rtc,
    /// Addresses from which the peer's connectivity checks have come.
    sources: Sources,
    destination: Destination,
    /// Where datagrams for the peer may come in.
    addresses: Addresses,
    packets: Video,
    kind: FeedbackKind,
    /// The media section in which video is sent.
    video: Mid,
    codec: Codec,
    payload_type: Pt,
    bears_gaps: bool,
    takes_parts: bool,
    repairs: RepairOffer,
    /// Payload type of retransmissions, if there is one.
    rtx: Option<Pt>,
    /// The media section in which sound is sent, and the sound's packets.
    sound: Option<(Mid, Sound)>,
    channels: Channels,
    datagrams: VecDeque<Datagram>,
    /// The ECN field of the datagrams that str0m makes at present.
    ecn: Ecn,
    events: VecDeque<PeerEvent>,
    deadline: Time,
    is_closed: bool,
}

impl Peer {
    /// Answers an offer. Returns the peer, and the text of the answer. The picture is sent as the
    /// first of `codecs` that the offer has.
    ///
    /// `addresses` are those of UDP at which datagrams for the peer may come in;
    /// [`HostTransport::set_addresses`] changes them, and adds those of TCP. `wanted` replaces the feedback that the offer
    /// asks for. Without `has_sound`, or if the offer has no Opus to receive, the answer has no
    /// sound.
    ///
    /// # Errors
    ///
    /// [`OfferError`] says what the offer lacks.
    pub fn answer(
        offer: &str,
        codecs: &[Codec],
        wanted: Option<FeedbackKind>,
        addresses: &[SocketAddr],
        numbers: StreamNumbers,
        has_sound: bool,
        start: impl Into<Start>,
    ) -> Result<(Self, String), OfferError> {
        let start = start.into();
        let mut offer = Offer::read(offer, codecs, wanted)?;
        offer.sound.take_if(|_| !has_sound);
        let refused = |error: &dyn std::fmt::Display| OfferError::Refused {
            reason: in_short(error),
        };
        let congestion = Congestion::of(offer.feedback, offer.numbers);
        let mut rtc = configure(&offer, start).build(instant(start.now));
        for &address in addresses {
            let candidate = Candidate::host(address, "udp").map_err(|error| refused(&error))?;
            rtc.add_local_candidate(candidate);
        }
        let parsed = SdpOffer::from_sdp_string(&offer.text).map_err(|_| refused(&UNPARSED))?;
        let answer = rtc
            .sdp_api()
            .accept_offer(parsed)
            .map_err(|error| refused(&error))?;
        let mut peer = Self {
            rtc,
            sources: Sources::default(),
            destination: Destination::default(),
            addresses: Addresses {
                datagrams: addresses.to_vec(),
                ..Addresses::default()
            },
            packets: Video::new(
                offer.codec.codec,
                numbers.first_sequence(),
                offer.rtx.is_some(),
                congestion,
            ),
            kind: offer.feedback,
            video: offer.media.as_str().into(),
            codec: offer.codec.codec,
            payload_type: offer.codec.payload_type.into(),
            bears_gaps: offer.bears_gaps,
            takes_parts: offer.takes_parts,
            repairs: offer.repairs,
            rtx: None,
            sound: None,
            channels: Channels::default(),
            datagrams: VecDeque::new(),
            ecn: Ecn::NotEct,
            events: VecDeque::new(),
            deadline: start.now,
            is_closed: false,
        };
        peer.drain();
        let mid = peer.video;
        let mut text = accept(answer.to_sdp_string(), congestion);
        // str0m has drawn a name for the stream, and written it into the answer.
        let mut api = peer.rtc.direct_api();
        let drawn = *api
            .stream_tx_by_mid(mid, None)
            .ok_or(OfferError::NoVideo)?
            .ssrc();
        api.remove_stream_tx(drawn.into());
        let name = offer.rtx.map(|_| MEDIA.into());
        let media = numbers.ssrc(Stream::Media);
        api.declare_stream_tx(media.into(), None, mid, name);
        text = rename(&text, drawn, media);
        peer.packets.name(Stream::Media, media);
        if let Some(rtx) = offer.rtx {
            let second = numbers.ssrc(Stream::Retransmission);
            let name = Some(RETRANSMISSIONS.into());
            api.declare_stream_tx(second.into(), None, mid, name);
            peer.packets.name(Stream::Retransmission, second);
            peer.rtx = Some(rtx.into());
            let beside = Beside::retransmissions(rtx, offer.codec.payload_type, second);
            text = add_stream(&text, media, &beside);
            match offer.repairs {
                RepairOffer::None => {}
                RepairOffer::Own => {
                    text = add_repairs(&text);
                    peer.packets.store.set_repairs(Repairs::Own);
                }
                RepairOffer::Flexfec(number) => {
                    let third = numbers.ssrc(Stream::Repair);
                    peer.packets.name(Stream::Repair, third);
                    let mut api = peer.rtc.direct_api();
                    api.declare_stream_tx(third.into(), None, mid, Some(REPAIRS.into()));
                    let repairs = Repairs::Flexfec {
                        ssrc: media,
                        extension: transport_extension(&text),
                    };
                    text = add_stream(&text, media, &Beside::flexfec(number, third));
                    peer.packets.store.set_repairs(repairs);
                }
            }
        }
        peer.drain();
        if let Some(sound) = offer.sound {
            let mid = sound.media.as_str().into();
            // A section that str0m did not agree to has no stream.
            if peer.rtc.direct_api().stream_tx_by_mid(mid, None).is_some() {
                peer.sound = Some((mid, Sound::new(sound.agreed, numbers.first_sequence())));
                if let Some(red) = sound.agreed.red {
                    text = add_redundancy(&text, sound.agreed.opus, red);
                }
            }
        }
        Ok((peer, text))
    }

    /// Makes str0m send what it has queued.
    fn flush(&mut self, now: Time) {
        let before = self.datagrams.len();
        self.timeout(now);
        for datagram in self.datagrams.range(before..) {
            self.packets.store.left(&datagram.contents);
        }
    }

    /// Makes str0m queue a packet.
    fn write_packet(&mut self, now: Time, numbered: Numbered) {
        let Numbered { packet, number } = numbered;
        let mut values = ExtensionValues {
            play_delay_min: Some(MediaTime::from_hundredths(0)),
            play_delay_max: Some(MediaTime::from_hundredths(0)),
            ..ExtensionValues::default()
        };
        values.user_values.set(number);
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
        let sequence = SeqNo::from(packet.sequence);
        let write = RtpWrite::new(
            payload_type,
            sequence,
            packet.timestamp,
            instant(now),
            packet.payload,
        )
        .marker(packet.marker)
        .ext_vals(values);
        if let Some(stream) = self.rtc.direct_api().stream_tx_by_mid(self.video, rid) {
            stream.write_rtp(write);
        }
    }

    /// Takes all output from str0m, as it requires after each change.
    fn drain(&mut self) {
        loop {
            match self.rtc.poll_output() {
                Ok(Output::Timeout(deadline)) => {
                    self.deadline = time(deadline);
                    break;
                }
                Ok(Output::Transmit(transmit)) => {
                    let chosen = Way {
                        own: transmit.source,
                        other: transmit.destination,
                    };
                    let way = self.destination.of(chosen, &transmit.contents);
                    self.datagrams.push_back(Datagram {
                        source: way.own,
                        destination: way.other,
                        ecn: self.ecn,
                        contents: transmit.contents.into(),
                    });
                }
                Ok(Output::Event(event)) => self.event(event),
                Err(error) => {
                    self.end(cause(&error, CLOSED));
                    break;
                }
            }
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Connected => self.events.push_back(PeerEvent::Connected),
            Event::ChannelOpen(id, label) => {
                let opened = self.channels.opened(id, &label);
                self.events.extend(opened.map(PeerEvent::Opened));
            }
            Event::ChannelData(ChannelData { id, data, .. }) => {
                if let Some(channel) = self.channels.of(id) {
                    self.events.push_back(PeerEvent::Message { channel, data });
                }
            }
            Event::ChannelClose(id) => self.channels.closed(id),
            Event::KeyframeRequest(_) => self.events.push_back(PeerEvent::KeyframeWanted),
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) => {
                self.end("the browser does not answer any more".to_owned());
            }
            Event::Closed => self.end(CLOSED.to_owned()),
            _ => {}
        }
    }

    /// The protocol by which datagrams come to one of the host's addresses.
    fn protocol(&self, own: SocketAddr) -> Protocol {
        if self.addresses.streams.contains(&own) {
            Protocol::Tcp
        } else {
            Protocol::Udp
        }
    }

    /// Reads decrypted RTCP, whose first eight bytes are in the datagram in the clear.
    fn control(&mut self, datagram: &[u8], plain: &[u8]) {
        let is_rtcp = datagram.len() >= 8 && (192..=223).contains(&datagram[1]);
        if !is_rtcp {
            return;
        }
        let compound = [&datagram[..8], plain].concat();
        self.packets.control(&compound, &mut self.events);
    }

    fn check(&mut self, result: Result<(), str0m::RtcError>) {
        if let Err(error) = result {
            self.end(format!("the connection broke: {error}"));
        }
    }

    fn end(&mut self, reason: String) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.events.push_back(PeerEvent::Closed { reason });
        }
    }
}

/// The host's addresses, each with its candidate; without addresses that can be none. To str0m an address at a relay is
/// one of the host's own: it takes no others from an ICE Lite agent.
fn candidates(addresses: &Addresses) -> impl Iterator<Item = (SocketAddr, Candidate)> {
    let datagrams = addresses.datagrams.iter().chain(&addresses.relayed);
    let datagrams = datagrams.filter_map(|&own| {
        let candidate = Candidate::host(own, Protocol::Udp).ok()?;
        Some((own, candidate))
    });
    let streams = addresses.streams.iter().filter_map(|&own| {
        let made = Candidate::builder().tcp().host(own);
        Some((own, made.tcptype(TcpType::Passive).build().ok()?))
    });
    datagrams.chain(streams)
}

impl HostTransport for Peer {
    fn agreed(&self) -> Agreed {
        let sound = self.sound.as_ref();
        Agreed {
            codec: self.codec,
            feedback: self.kind,
            bears_gaps: self.bears_gaps,
            takes_parts: self.takes_parts,
            has_retransmissions: self.rtx.is_some(),
            repairs: match self.repairs {
                RepairOffer::None => None,
                RepairOffer::Own => Some(Code::ReedSolomon),
                RepairOffer::Flexfec(_) => Some(Code::Xor),
            },
            has_sound: sound.is_some(),
            takes_redundancy: sound.is_some_and(|(_, sound)| sound.takes_redundancy()),
        }
    }

    fn accepts(
        &self,
        now: Time,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) -> bool {
        // A check from a new address is only looked at while there is room for the address.
        if is_stun(contents) && !self.sources.has_room_for(source) {
            return false;
        }
        received(self.protocol(destination), source, destination, contents)
            .is_some_and(|receive| self.rtc.accepts(&Input::Receive(instant(now), receive)))
    }

    fn receive(
        &mut self,
        now: Time,
        source: SocketAddr,
        destination: SocketAddr,
        contents: &[u8],
    ) -> bool {
        let is_check = is_stun(contents);
        if is_check && !self.sources.has_room_for(source) {
            return false;
        }
        let protocol = self.protocol(destination);
        let Some(receive) = received(protocol, source, destination, contents) else {
            return false;
        };
        let way = Way {
            own: destination,
            other: source,
        };
        let before = (self.datagrams.len(), self.events.len());
        let rtc = &mut self.rtc;
        let (result, plain) =
            tap::listen(|| rtc.handle_input(Input::Receive(instant(now), receive)));
        self.check(result);
        self.drain();
        if !plain.is_empty() {
            self.control(contents, &plain);
        }
        if is_check {
            // str0m answers only authentic checks.
            let mut sent = self.datagrams.range(before.0..);
            let is_answered = sent.any(|datagram| is_stun(&datagram.contents));
            if is_answered {
                self.sources.learn(source);
                self.destination.checked(way, contents);
            }
            return is_answered;
        }
        let mut events = self.events.range(before.1..).peekable();
        let is_authentic = !plain.is_empty() || events.peek().is_some();
        // The end of the handshake at this end may not have reached the other one.
        if !plain.is_empty() || events.any(|event| !matches!(event, PeerEvent::Connected)) {
            self.destination.heard_from(way);
        }
        is_authentic
    }

    fn timeout(&mut self, now: Time) {
        let result = self.rtc.handle_input(Input::Timeout(instant(now)));
        self.check(result);
        self.drain();
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn add_candidate(&mut self, line: &str) -> Result<(), OfferError> {
        check_candidate(line)
    }

    fn set_addresses(&mut self, addresses: &Addresses) -> Vec<String> {
        let before = std::mem::replace(&mut self.addresses, addresses.clone());
        let gone = candidates(&before).filter(|(own, _)| !addresses.has(*own));
        for (own, candidate) in gone {
            self.rtc.direct_api().invalidate_candidate(&candidate);
            self.destination.forget(own);
        }
        let mut lines = Vec::new();
        for (own, candidate) in candidates(addresses) {
            if before.has(own) {
                continue;
            }
            let added = self.rtc.add_local_candidate(candidate);
            let relayed = addresses.relayed.iter().position(|known| *known == own);
            lines.extend(match relayed {
                Some(index) => added.map(|_| relayed_candidate(index, own)),
                None => added.map(Candidate::to_sdp_string),
            });
        }
        self.drain();
        lines
    }

    fn begin(
        &mut self,
        frame: FrameId,
        timestamp: u32,
        reference: Option<FrameId>,
        payloads: Payloads,
    ) {
        let store = &mut self.packets.store;
        store.begin(frame, timestamp, reference, payloads);
    }

    fn extend(&mut self, frame: FrameId, payloads: &Payloads, repairs: Option<u32>) {
        self.packets.store.extend(frame, payloads, repairs);
    }

    fn arrived(&mut self, frame: FrameId) {
        self.packets.store.arrived(frame);
    }

    fn send(&mut self, now: Time, packets: &[Outgoing], left: &mut Vec<Left>) {
        let mut last = None;
        for outgoing in packets {
            // A repair packet may be computed from packets that were queued just before it.
            if outgoing.kind == PacketKind::Repair && last.take().is_some() {
                self.flush(now);
            }
            let numbered = self.packets.packet(outgoing, left);
            // str0m keeps the order of packets within a stream, but not between streams.
            let alike = (numbered.packet.stream, outgoing.ecn);
            if last.is_some_and(|last| last != alike) {
                self.flush(now);
            }
            last = Some(alike);
            self.ecn = outgoing.ecn;
            self.write_packet(now, numbered);
        }
        if last.is_some() {
            self.flush(now);
        }
        self.ecn = Ecn::NotEct;
    }

    fn send_sound(&mut self, now: Time, timestamp: u32, frame: &[u8], redundancy: usize) -> usize {
        let Some((mid, sound)) = &mut self.sound else {
            return 0;
        };
        let packet = sound.packet(timestamp, frame, redundancy);
        let length = packet.payload.len();
        let write = RtpWrite::new(
            packet.payload_type.into(),
            SeqNo::from(packet.sequence),
            timestamp,
            instant(now),
            packet.payload,
        );
        if let Some(stream) = self.rtc.direct_api().stream_tx_by_mid(*mid, None) {
            stream.write_rtp(write);
        }
        self.timeout(now);
        length
    }

    fn frame_at(&self, timestamp: u32) -> Option<FrameId> {
        self.packets.store.at(timestamp)
    }

    fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        let written = self.channels.write(&mut self.rtc, channel, data);
        self.drain();
        written
    }

    fn is_undelivered(&mut self, channel: Channel) -> bool {
        self.channels.is_undelivered(&mut self.rtc, channel)
    }

    fn close(&mut self) {
        // Before its association of SCTP is established, str0m refuses to tell the other end.
        if self.rtc.close().is_err() {
            self.rtc.disconnect();
        }
        self.drain();
    }

    fn poll_datagram(&mut self) -> Option<Datagram> {
        self.datagrams.pop_front()
    }

    fn poll_event(&mut self) -> Option<PeerEvent> {
        self.events.pop_front()
    }
}
