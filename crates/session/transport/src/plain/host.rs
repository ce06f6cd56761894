//! The host's end of a plain connection.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_facts::{FrameId, PacketKind};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::video::Payloads;
use mimosa_stream::{Code, Outgoing};
use mimosa_units::{Ecn, Time};

use super::Terms;
use super::link::{Heard, Link};
use super::wire::{Kind, write_rtp};
use crate::ends::{Agreed, Carries, Channel, Datagram, HostTransport, Incoming, Left, PeerEvent};
use crate::error::OfferError;
use crate::feedback::Congestion;
use crate::reports::Numbers;
use crate::sound::{Agreed as AgreedSound, Sound};
use crate::store::{Repairs, Stream};
use crate::video::Video;

/// SSRC of the streams: first transmissions, retransmissions, sound.
const MEDIA: u32 = 0x4d_4544;
const REPEATS: u32 = 0x52_5458;
const SOUND: u32 = 0x53_4e44;

/// The host's end of a plain connection.
#[derive(Debug)]
pub struct Host {
    agreed: Agreed,
    link: Link,
    packets: Video,
    sound: Sound,
    events: VecDeque<PeerEvent>,
}

impl Host {
    /// A host's end that waits for its viewer's greeting.
    #[must_use]
    pub fn new(terms: &Terms, now: Time) -> Self {
        let agreed = terms.agreed;
        let mut packets = Video::new(
            agreed.codec,
            terms.first_sequence,
            agreed.has_retransmissions,
            // The viewer reports in both formats.
            Congestion::of(agreed.feedback, Numbers::Second),
        );
        packets.name(Stream::Media, MEDIA);
        packets.name(Stream::Retransmission, REPEATS);
        if agreed.repairs == Some(Code::ReedSolomon) {
            packets.store.set_repairs(Repairs::Own);
        }
        let sound = AgreedSound {
            opus: 0,
            red: agreed.takes_redundancy.then_some(1),
        };
        Self {
            agreed,
            link: Link::new(terms.id, terms.host, terms.viewer, false, now),
            packets,
            sound: Sound::new(sound, terms.first_sequence),
            events: VecDeque::new(),
        }
    }

    fn heard(&mut self, heard: Heard<'_>) {
        match heard {
            Heard::Connected => {
                self.events.push_back(PeerEvent::Connected);
                let opened = Channel::ALL.map(PeerEvent::Opened);
                self.events.extend(opened);
            }
            Heard::Message { channel, data } => {
                self.events.push_back(PeerEvent::Message { channel, data });
            }
            Heard::Left => self.events.push_back(PeerEvent::Closed {
                reason: "the player closed the connection".to_owned(),
            }),
            Heard::Other { kind, rest } => match kind {
                Kind::Rtcp => self.packets.control(rest, &mut self.events),
                Kind::Keyframe => self.events.push_back(PeerEvent::KeyframeWanted),
                _ => {}
            },
        }
    }
}

impl HostTransport for Host {
    fn agreed(&self) -> Agreed {
        self.agreed
    }

    fn accepts(&self, _: Time, _: SocketAddr, _: SocketAddr, contents: &[u8]) -> bool {
        self.link.accepts(contents)
    }

    fn receive(&mut self, now: Time, source: SocketAddr, _: SocketAddr, contents: &[u8]) -> bool {
        let is_its = self.link.accepts(contents);
        for heard in self.link.receive(now, source, contents) {
            self.heard(heard);
        }
        is_its
    }

    fn timeout(&mut self, now: Time) {
        self.link.timeout(now);
    }

    fn deadline(&self) -> Time {
        self.link.deadline()
    }

    fn add_candidate(&mut self, _: &str) -> Result<(), OfferError> {
        Ok(())
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
        self.link.pass(now);
        for outgoing in packets {
            let numbered = self.packets.packet(outgoing, left);
            let packet = numbered.packet;
            let carries = match (packet.stream, outgoing.kind) {
                (Stream::Media, PacketKind::Media) => Carries::Video,
                (Stream::Media, _) if !self.agreed.has_retransmissions => Carries::Video,
                _ => Carries::Repeat,
            };
            let datagram = write_rtp(
                self.link.id(),
                &Incoming {
                    carries,
                    ssrc: self.packets.ssrc(packet.stream),
                    sequence: packet.number().get(),
                    timestamp: packet.timestamp,
                    dependency: packet.dependency,
                    transport: (self.agreed.feedback != FeedbackKind::None)
                        .then_some(numbered.number),
                    payload: packet.payload,
                },
            );
            self.link.send(outgoing.ecn, datagram);
        }
    }

    fn send_sound(&mut self, now: Time, timestamp: u32, frame: &[u8], redundancy: usize) -> usize {
        if !self.agreed.has_sound {
            return 0;
        }
        self.link.pass(now);
        let packet = self.sound.packet(timestamp, frame, redundancy);
        let length = packet.payload.len();
        #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
        let sequence = packet.sequence as u16;
        let datagram = write_rtp(
            self.link.id(),
            &Incoming {
                carries: if self.agreed.takes_redundancy {
                    Carries::RedundantSound
                } else {
                    Carries::Sound
                },
                ssrc: SOUND,
                sequence,
                timestamp,
                dependency: None,
                transport: None,
                payload: packet.payload,
            },
        );
        self.link.send(Ecn::NotEct, datagram);
        length
    }

    fn frame_at(&self, timestamp: u32) -> Option<FrameId> {
        self.packets.store.at(timestamp)
    }

    fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        !data.is_empty() && self.link.write(channel, data)
    }

    fn is_undelivered(&mut self, channel: Channel) -> bool {
        self.link.is_undelivered(channel)
    }

    fn close(&mut self) {
        self.link.close();
    }

    fn poll_datagram(&mut self) -> Option<Datagram> {
        self.link.poll_datagram()
    }

    fn poll_event(&mut self) -> Option<PeerEvent> {
        self.events.pop_front()
    }
}
