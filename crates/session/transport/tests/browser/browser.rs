//! The browser: a str0m of its own that offers, receives and reports.

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use mimosa_rtp::enclosed;
use mimosa_transport::Datagram;
use mimosa_units::{Ecn, Time};
use str0m::change::{SdpAnswer, SdpPendingOffer};
use str0m::channel::{ChannelConfig, ChannelId, Reliability};
use str0m::media::{Direction, KeyframeRequestKind, MediaKind, Mid};
use str0m::net::{Protocol, Receive};
use str0m::rtp::{Extension, RawPacket};
use str0m::{Candidate, Event, Input, Output, Rtc, RtcConfig};

static BEGINNING: LazyLock<Instant> = LazyLock::new(|| {
    #[expect(
        clippy::disallowed_methods,
        reason = "an `Instant` cannot be made otherwise"
    )]
    Instant::now()
});

/// The instant that stands for `time`.
fn instant(time: Time) -> Instant {
    *BEGINNING + Duration::from_nanos(time.as_nanos())
}

/// The time that `instant` stands for.
fn time(instant: Instant) -> Time {
    let since = instant.saturating_duration_since(*BEGINNING).as_nanos();
    Time::from_nanos(u64::try_from(since).unwrap_or(u64::MAX))
}

/// SSRC from which it reports.
const NAME: u32 = 9;
/// Payload types of its H.264 and of the retransmissions.
pub(crate) const H264: u8 = 116;
pub(crate) const RTX: u8 = 117;
/// The channels of `docs/embed/protocol.md`, and one that is in no book.
pub(crate) const LABELS: [&str; 5] = ["input", "keys", "frames", "control", "chat"];

/// A media packet as the browser's application gets it, repaired or not.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Received {
    pub(crate) at: Time,
    pub(crate) sequence: u16,
    pub(crate) payload_type: u8,
    pub(crate) timestamp: u32,
    pub(crate) marker: bool,
    pub(crate) payload: Vec<u8>,
}

pub(crate) struct Browser {
    rtc: Rtc,
    mid: Mid,
    pending: Option<SdpPendingOffer>,
    channels: Vec<(ChannelId, String)>,
    pub(crate) deadline: Time,
    pub(crate) out: Vec<Datagram>,
    /// Labels of channels that have opened.
    pub(crate) opened: Vec<String>,
    /// Label, whether binary, contents.
    pub(crate) messages: Vec<(String, bool, Vec<u8>)>,
    /// Decrypted payloads of all packets, with their SSRCs and sequence numbers.
    pub(crate) payloads: Vec<(u32, u16, Vec<u8>)>,
    pub(crate) received: Vec<Received>,
    pub(crate) is_connected: bool,
}

impl Browser {
    /// A browser at this address, and its offer, with sound or without.
    pub(crate) fn new(now: Time, address: SocketAddr, has_sound: bool) -> (Self, String) {
        let mut config = RtcConfig::new()
            .clear_codecs()
            .clear_extension_map()
            .set_extension(4, Extension::TransportSequenceNumber)
            .set_extension(5, Extension::PlayoutDelay)
            .set_extension(9, Extension::RtpMid)
            .set_rtp_mode(true)
            .enable_raw_packets(true);
        let codecs = config.codec_config();
        codecs.enable_opus(has_sound, has_sound);
        codecs.add_h264(H264.into(), Some(RTX.into()), true, 0x4d_001f);
        let mut rtc = config.build(instant(now));
        rtc.add_local_candidate(Candidate::host(address, "udp").unwrap());
        let mut api = rtc.sdp_api();
        let mid = api.add_media(MediaKind::Video, Direction::RecvOnly, None, None, None);
        if has_sound {
            api.add_media(MediaKind::Audio, Direction::RecvOnly, None, None, None);
        }
        for label in LABELS {
            let is_lossy = matches!(label, "input" | "frames");
            api.add_channel_with_config(ChannelConfig {
                label: label.to_owned(),
                ordered: !is_lossy,
                reliability: if is_lossy {
                    Reliability::MaxRetransmits { retransmits: 0 }
                } else {
                    Reliability::Reliable
                },
                ..ChannelConfig::default()
            });
        }
        let (offer, pending) = api.apply().unwrap();
        let browser = Self {
            rtc,
            mid,
            pending: Some(pending),
            channels: Vec::new(),
            deadline: now,
            out: Vec::new(),
            opened: Vec::new(),
            messages: Vec::new(),
            payloads: Vec::new(),
            received: Vec::new(),
            is_connected: false,
        };
        (browser, offer.to_sdp_string())
    }

    pub(crate) fn take_answer(&mut self, now: Time, answer: &str) {
        let answer = SdpAnswer::from_sdp_string(answer).unwrap();
        let pending = self.pending.take().unwrap();
        self.rtc.sdp_api().accept_answer(pending, answer).unwrap();
        self.drain(now);
    }

    pub(crate) fn receive(&mut self, now: Time, datagram: &Datagram) {
        let receive = Receive {
            proto: Protocol::Udp,
            source: datagram.source,
            destination: datagram.destination,
            contents: datagram.contents.as_slice().try_into().unwrap(),
        };
        self.rtc
            .handle_input(Input::Receive(instant(now), receive))
            .unwrap();
        self.drain(now);
    }

    pub(crate) fn timeout(&mut self, now: Time) {
        self.rtc.handle_input(Input::Timeout(instant(now))).unwrap();
        self.drain(now);
    }

    pub(crate) fn write(&mut self, now: Time, label: &str, binary: bool, data: &[u8]) {
        let id = self
            .channels
            .iter()
            .find(|(_, own)| own == label)
            .unwrap()
            .0;
        assert!(self.rtc.channel(id).unwrap().write(binary, data).unwrap());
        self.drain(now);
    }

    pub(crate) fn want_keyframe(&mut self, now: Time) {
        let mut api = self.rtc.direct_api();
        let stream = api.stream_rx_by_mid(self.mid, None).unwrap();
        stream.request_keyframe(KeyframeRequestKind::Pli);
        self.drain(now);
    }

    /// Sends RTCP that str0m does not know, in an enclosure.
    pub(crate) fn report(&mut self, now: Time, compound: &[u8]) {
        let contents = enclosed::write(compound);
        let mut api = self.rtc.direct_api();
        api.send_app_specific_feedback(NAME.into(), NAME.into(), contents);
        self.drain(now);
    }

    pub(crate) fn close(&mut self, now: Time) {
        self.rtc.close().unwrap();
        self.drain(now);
    }

    fn drain(&mut self, now: Time) {
        loop {
            match self.rtc.poll_output().unwrap() {
                Output::Timeout(deadline) => {
                    self.deadline = time(deadline);
                    break;
                }
                Output::Transmit(transmit) => self.out.push(Datagram {
                    source: transmit.source,
                    destination: transmit.destination,
                    ecn: Ecn::NotEct,
                    contents: transmit.contents.into(),
                }),
                Output::Event(event) => self.event(now, event),
            }
        }
    }

    fn event(&mut self, now: Time, event: Event) {
        match event {
            Event::Connected => self.is_connected = true,
            Event::ChannelOpen(id, label) => {
                self.opened.push(label.clone());
                self.channels.push((id, label));
            }
            Event::ChannelData(data) => {
                let label = &self
                    .channels
                    .iter()
                    .find(|(id, _)| *id == data.id)
                    .unwrap()
                    .1;
                self.messages.push((label.clone(), data.binary, data.data));
            }
            Event::RawPacket(packet) => {
                if let RawPacket::RtpRx(header, payload) = *packet {
                    self.payloads
                        .push((*header.ssrc, header.sequence_number, payload));
                }
            }
            Event::RtpPacket(packet) => self.received.push(Received {
                at: now,
                sequence: packet.header.sequence_number,
                payload_type: *packet.header.payload_type,
                timestamp: packet.header.timestamp,
                marker: packet.header.marker,
                payload: packet.payload.to_vec(),
            }),
            _ => {}
        }
    }
}
