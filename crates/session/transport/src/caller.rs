//! The native client's end of a WebRTC connection: it makes the offer, receives and reports.
//!
//! A [`Call`] has the offer, and becomes a [`Caller`] with the host's answer.
//!
//! [`Caller`] does no I/O, like [`Peer`](crate::Peer). It hands on every packet that comes,
//! including retransmissions and probes, and leaves their use to the session. Its reports are RTCP
//! compound packets of RFC 8888 and transport-wide-cc.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_facts::Codec;
use mimosa_rtp::dependency::{DEPENDENCY_DESCRIPTOR, Dependency};
use mimosa_rtp::enclosed;
use mimosa_rtp::transport_cc::TransportExtension;
use mimosa_units::{Ecn, Time, TimeDelta};
use str0m::change::{SdpAnswer, SdpPendingOffer};
use str0m::channel::{ChannelConfig, ChannelData, Reliability};
use str0m::format::FormatParams;
use str0m::media::{Direction, Frequency, KeyframeRequestKind, MediaKind, Mid, Pt};
use str0m::net::Protocol;
use str0m::rtp::{Extension, RawPacket, RtpHeader, Ssrc};
use str0m::{Candidate, Event, IceConnectionState, Input, Output, Rtc, RtcConfig};

use crate::codecs::known;
use crate::ends::{CallerEvent, Carries, Channel, Datagram, Incoming, ViewerTransport};
use crate::error::{CallError, UNPARSED, in_short};
use crate::extension::{DependencyDescriptor, TransportCc02};
use crate::paths::is_stun;
use crate::reports::{TRANSPORT_CC_02, add_congestion_feedback, has_congestion_feedback};
use crate::rtc::{Channels, cause, received};
use crate::sdp::{add_parts, add_repairs};
use crate::start::Start;
use crate::time::{instant, time};

/// Payload types of the offer: the codec's, and that of its retransmissions.
const fn payload_types(codec: Codec) -> [u8; 2] {
    match codec {
        Codec::H264 => [96, 97],
        Codec::H265 => [98, 99],
        Codec::Av1 => [100, 101],
    }
}

/// Why a connection ends that the host closed.
const CLOSED: &str = "the host closed the connection";
/// Payload types with which str0m offers sound.
const OPUS: u8 = 111;
const RED: u8 = 63;
/// Offered profile and level of H.264: High profile, level 5.2, which is 3840x2160 at 60 frames a
/// second. Clients' decoders have no such limits; the stream itself says its profile and level.
const PROFILE: u32 = 0x64_0034;
/// Offered profile, tier and level of H.265: Main, Main, and 30 times the number of level 5.2.
const H265_LEVEL: [u8; 3] = [1, 0, 156];
/// Offered level of AV1: `seq_level_idx` of level 5.1.
const AV1_LEVEL: u8 = 13;

/// Time after which the host is reached at another of its addresses, if nothing comes from the one in use and
/// answers come from another: as in `libwebrtc` (`WEAK_CONNECTION_RECEIVE_TIMEOUT`).
const SILENT_FOR: TimeDelta = TimeDelta::from_millis(2_500);
/// Most addresses of the host. Our choice: twice as many as can be advertised.
const MOST_REMOTES: usize = 32;

/// An address of the host's.
#[derive(Debug)]
struct Remote {
    candidate: Candidate,
    /// When something came from there.
    heard: Option<Time>,
}

/// An offer that waits for the host's answer.
pub struct Call {
    rtc: Rtc,
    pending: SdpPendingOffer,
    video: Mid,
    name: u32,
    now: Time,
}

/// The native client's end of a connection. Each method that changes it takes the time. Afterwards,
/// [`Caller::poll_datagram`] and [`Caller::poll_event`] return the results.
pub struct Caller {
    rtc: Rtc,
    video: Mid,
    /// The codec of the host's answer.
    codec: Codec,
    /// SSRC from which reports come.
    name: Ssrc,
    /// Whether the host reads reports of RFC 8888.
    reads_congestion: bool,
    channels: Channels,
    datagrams: VecDeque<Datagram>,
    events: VecDeque<CallerEvent>,
    remotes: Vec<Remote>,
    /// Where the newest datagram with data went.
    current: Option<SocketAddr>,
    deadline: Time,
    is_closed: bool,
}

impl Call {
    /// Makes a call whose host reaches the client at these addresses, and the text of its offer. The
    /// offer has video in each of `codecs`, and sound if `wants_sound`. Reports carry the SSRC
    /// `name`, which should be random (RFC 3550, section 8).
    ///
    /// # Errors
    ///
    /// [`CallError`] if `codecs` is empty, or for an address that cannot be a candidate.
    pub fn offer(
        addresses: &[SocketAddr],
        codecs: &[Codec],
        wants_sound: bool,
        name: u32,
        start: impl Into<Start>,
    ) -> Result<(Self, String), CallError> {
        let start = start.into();
        let now = start.now;
        if codecs.is_empty() {
            return Err(CallError::NothingOffered);
        }
        let mut rtc = configure(codecs, wants_sound, start).build(instant(now));
        for &address in addresses {
            let candidate = Candidate::host(address, "udp").map_err(|error| refused(&error))?;
            rtc.add_local_candidate(candidate);
        }
        let mut api = rtc.sdp_api();
        let video = api.add_media(MediaKind::Video, Direction::RecvOnly, None, None, None);
        if wants_sound {
            api.add_media(MediaKind::Audio, Direction::RecvOnly, None, None, None);
        }
        for channel in Channel::ALL {
            api.add_channel_with_config(ChannelConfig {
                label: channel.label().to_owned(),
                ordered: !channel.is_lossy(),
                reliability: if channel.is_lossy() {
                    Reliability::MaxRetransmits { retransmits: 0 }
                } else {
                    Reliability::Reliable
                },
                ..ChannelConfig::default()
            });
        }
        let (offer, pending) = api.apply().ok_or(CallError::NothingOffered)?;
        let text = add_congestion_feedback(&offer.to_sdp_string());
        let call = Self {
            rtc,
            pending,
            video,
            name,
            now,
        };
        Ok((call, add_parts(&add_repairs(&text))))
    }

    /// Takes the host's answer, from which the connection follows.
    ///
    /// # Errors
    ///
    /// [`CallError`] if the text is not an answer, or not an answer to this offer.
    pub fn accept(mut self, answer: &str) -> Result<Caller, CallError> {
        let parsed = SdpAnswer::from_sdp_string(answer).map_err(|_| refused(&UNPARSED))?;
        self.rtc
            .sdp_api()
            .accept_answer(self.pending, parsed)
            .map_err(|error| refused(&error))?;
        let codec = agreed(answer).ok_or_else(|| refused(&"it names no codec of the offer"))?;
        let [payload_type, _] = payload_types(codec);
        let mut caller = Caller {
            rtc: self.rtc,
            video: self.video,
            codec,
            name: self.name.into(),
            reads_congestion: has_congestion_feedback(
                answer.lines().map(str::trim_end),
                payload_type,
            ),
            channels: Channels::default(),
            datagrams: VecDeque::new(),
            events: VecDeque::new(),
            remotes: Vec::new(),
            current: None,
            deadline: self.now,
            is_closed: false,
        };
        let lines = answer.lines().filter_map(|line| line.strip_prefix("a="));
        for candidate in lines.filter_map(|line| Candidate::from_sdp_string(line).ok()) {
            caller.know(candidate);
        }
        caller.drain();
        Ok(caller)
    }
}

impl Caller {
    fn drain(&mut self) {
        loop {
            match self.rtc.poll_output() {
                Ok(Output::Timeout(deadline)) => {
                    self.deadline = time(deadline);
                    break;
                }
                Ok(Output::Transmit(transmit)) => {
                    if !is_stun(&transmit.contents) {
                        self.current = Some(transmit.destination);
                    }
                    self.datagrams.push_back(Datagram {
                        source: transmit.source,
                        destination: transmit.destination,
                        ecn: Ecn::NotEct,
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

    /// Remembers an address of the host.
    fn know(&mut self, candidate: Candidate) {
        let is_known = |remote: &Remote| remote.candidate.addr() == candidate.addr();
        if self.remotes.len() < MOST_REMOTES && !self.remotes.iter().any(is_known) {
            let heard = None;
            self.remotes.push(Remote { candidate, heard });
        }
    }

    /// Something has come from one of the host's addresses. If it is not the one in use, and nothing has come from
    /// that for long, it is given up: by itself, str0m waits until its checks have failed, which
    /// takes longer than a session without data lasts.
    fn heard(&mut self, now: Time, source: SocketAddr) {
        let mut all = self.remotes.iter_mut();
        if let Some(remote) = all.find(|remote| remote.candidate.addr() == source) {
            remote.heard = Some(now);
        }
        let is_silent = |remote: &Remote| {
            let silent = remote
                .heard
                .is_some_and(|heard| now.since(heard) >= SILENT_FOR);
            Some(remote.candidate.addr()) == self.current && silent
        };
        if let Some(index) = self.remotes.iter().position(is_silent) {
            let gone = self.remotes.remove(index);
            tracing::debug!(address = %gone.candidate.addr(), "the host is silent there");
            self.rtc.direct_api().invalidate_candidate(&gone.candidate);
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Connected => {
                // The reports tell the host what is missing, so that NACKs are not needed.
                let mut api = self.rtc.direct_api();
                if let Some(stream) = api.stream_rx_by_mid(self.video, None) {
                    stream.suppress_nack(true);
                }
                self.events.push_back(CallerEvent::Connected);
            }
            Event::ChannelOpen(id, label) => {
                let opened = self.channels.opened(id, &label);
                self.events.extend(opened.map(CallerEvent::Opened));
            }
            Event::ChannelData(ChannelData { id, data, .. }) => {
                if let Some(channel) = self.channels.of(id) {
                    self.events
                        .push_back(CallerEvent::Message { channel, data });
                }
            }
            Event::ChannelClose(id) => self.channels.closed(id),
            Event::RawPacket(packet) => {
                if let RawPacket::RtpRx(header, payload) = *packet {
                    self.packet(&header, payload);
                }
            }
            Event::IceConnectionStateChange(IceConnectionState::Disconnected) => {
                self.end("the host does not answer any more".to_owned());
            }
            Event::Closed => self.end(CLOSED.to_owned()),
            _ => {}
        }
    }

    fn packet(&mut self, header: &RtpHeader, payload: Vec<u8>) {
        let number = *header.payload_type;
        let [media, repeats] = payload_types(self.codec);
        let carries = match number {
            OPUS => Carries::Sound,
            RED => Carries::RedundantSound,
            _ if number == media => Carries::Video,
            _ if number == repeats => Carries::Repeat,
            _ => return,
        };
        let values = &header.ext_vals.user_values;
        self.events.push_back(CallerEvent::Packet(Incoming {
            carries,
            ssrc: *header.ssrc,
            sequence: header.sequence_number,
            timestamp: header.timestamp,
            dependency: values.get::<Dependency>().copied(),
            transport: values.get::<TransportExtension>().copied(),
            payload,
        }));
    }

    fn check(&mut self, result: Result<(), str0m::RtcError>) {
        if let Err(error) = result {
            self.end(format!("the connection broke: {error}"));
        }
    }

    fn end(&mut self, reason: String) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.events.push_back(CallerEvent::Closed { reason });
        }
    }
}

impl ViewerTransport for Caller {
    fn codec(&self) -> Codec {
        self.codec
    }

    fn reads_congestion(&self) -> bool {
        self.reads_congestion
    }

    fn name(&self) -> u32 {
        *self.name
    }

    fn receive(&mut self, now: Time, source: SocketAddr, destination: SocketAddr, contents: &[u8]) {
        let Some(receive) = received(Protocol::Udp, source, destination, contents) else {
            return;
        };
        let result = self.rtc.handle_input(Input::Receive(instant(now), receive));
        self.check(result);
        self.heard(now, source);
        self.drain();
    }

    fn timeout(&mut self, now: Time) {
        let result = self.rtc.handle_input(Input::Timeout(instant(now)));
        self.check(result);
        self.drain();
    }

    fn deadline(&self) -> Time {
        self.deadline
    }

    fn add_candidate(&mut self, line: &str) {
        // This end has one address of UDP.
        match Candidate::from_sdp_string(line) {
            Ok(candidate) if candidate.proto() == Protocol::Udp => {
                self.know(candidate.clone());
                self.rtc.add_remote_candidate(candidate);
                self.drain();
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the host has sent what is no candidate"),
        }
    }

    fn report(&mut self, compound: &[u8]) {
        let contents = enclosed::write(compound);
        let mut api = self.rtc.direct_api();
        api.send_app_specific_feedback(self.name, self.name, contents);
        self.drain();
    }

    fn want_keyframe(&mut self, now: Time) {
        let mut api = self.rtc.direct_api();
        if let Some(stream) = api.stream_rx_by_mid(self.video, None) {
            stream.request_keyframe(KeyframeRequestKind::Pli);
        }
        self.timeout(now);
    }

    fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        let written = self.channels.write(&mut self.rtc, channel, data);
        self.drain();
        written
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

    fn poll_event(&mut self) -> Option<CallerEvent> {
        self.events.pop_front()
    }
}

/// str0m in RTP mode: it hands out packets as they come.
fn configure(codecs: &[Codec], wants_sound: bool, start: Start) -> RtcConfig {
    let number = Extension::with_serializer(TRANSPORT_CC_02, TransportCc02);
    let dependency = Extension::with_serializer(DEPENDENCY_DESCRIPTOR, DependencyDescriptor);
    let mut config = RtcConfig::new()
        .set_crypto_provider(start.provider())
        .clear_codecs()
        .clear_extension_map()
        .set_extension(1, Extension::RtpMid)
        .set_extension(3, number)
        .set_extension(4, dependency)
        .set_rtp_mode(true)
        .enable_raw_packets(true);
    let offered = config.codec_config();
    offered.enable_opus(wants_sound, wants_sound);
    for &codec in codecs {
        let [media, repeats] = payload_types(codec).map(Pt::from);
        match codec {
            Codec::H264 => offered.add_h264(media, Some(repeats), true, PROFILE),
            Codec::H265 => {
                let [profile, tier, level] = H265_LEVEL;
                offered.add_h265(media, Some(repeats), profile, tier, level);
            }
            Codec::Av1 => {
                let format = FormatParams {
                    profile: Some(0),
                    level_idx: Some(AV1_LEVEL),
                    tier: Some(0),
                    ..FormatParams::default()
                };
                let rate = Frequency::NINETY_KHZ;
                offered.add_config(media, Some(repeats), known(codec), rate, None, format);
            }
        }
    }
    config
}

/// The codec of an answer: that of the first payload type that was offered for video.
fn agreed(answer: &str) -> Option<Codec> {
    let mut lines = answer.lines();
    let line = lines.find_map(|line| line.strip_prefix("m=video "))?;
    // The payload types follow the port and the protocol.
    line.split_whitespace().skip(2).find_map(|number| {
        let number: u8 = number.parse().ok()?;
        let mut all = Codec::ALL.into_iter();
        all.find(|codec| payload_types(*codec)[0] == number)
    })
}

fn refused(error: &dyn std::fmt::Display) -> CallError {
    CallError::Refused {
        reason: in_short(error),
    }
}
