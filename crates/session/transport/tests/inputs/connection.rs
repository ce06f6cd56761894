//! Both ends of a WebRTC connection, with arbitrary changes to what passes between them: checks of ICE, records of
//! DTLS, packets of SRTP, and messages. Nothing panics or goes on for ever, a stranger gets no answer, and what
//! arrives was sent.
//!
//! Each step is a byte that says what, and a byte or more about it.
//!
//! The fuzz target `connection` and the tests of this crate give it inputs.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_facts::{Codec, FrameId, PacketKind, TransportSequence};
use mimosa_rtp::h264::Packetiser;
use mimosa_stream::Outgoing;
use mimosa_transport::{
    Call, Caller, CallerEvent, Carries, Channel, Datagram, HostTransport, LARGEST_PAYLOAD, Peer,
    PeerEvent, Start, StreamNumbers, ViewerTransport,
};
use mimosa_units::{Bytes, Ecn, Time, TimeDelta};

/// Most steps of an input: the handshake takes about ten.
const MOST_STEPS: usize = 200;
/// Most datagrams or events after one call. A picture here has three packets.
const MOST_AT_ONCE: usize = 200;
/// What the host sends, below the parameter sets that a decoder would want.
const PICTURE: [u8; 3_000] = [0x65; 3_000];
const WORDS: &[u8] = b"{\"type\":\"words\"}";

/// Lets an input happen to a connection.
pub(crate) fn input(data: &[u8]) {
    let mut world = World::new();
    let mut steps = 0;
    let mut data = data.iter().copied();
    while let Some(what) = data.next() {
        world.step(what, &mut data);
        steps += 1;
        if steps == MOST_STEPS {
            break;
        }
    }
    // Whatever has happened, the ends come to rest or go on as they should.
    for _ in 0..20 {
        world.deliver();
        world.wait(TimeDelta::from_millis(500));
    }
}

struct World {
    now: Time,
    host: Peer,
    viewer: Caller,
    to_host: VecDeque<Datagram>,
    to_viewer: VecDeque<Datagram>,
    /// The datagram that was delivered last to each end.
    last: [Option<Datagram>; 2],
    /// Whether the host's end has connected.
    is_connected: bool,
    frames: u64,
    sequence: u16,
}

fn address(last: u8) -> SocketAddr {
    ([10, 0, 0, last], 4_000).into()
}

/// Of no end: whoever is there has no keys.
fn stranger() -> SocketAddr {
    address(66)
}

impl World {
    fn new() -> Self {
        let now = Time::from_secs(1);
        let start = Start::repeatable(now);
        let codecs = [Codec::H264];
        let offered = Call::offer(&[address(2)], &codecs, true, 9, start);
        let (call, offer) = offered.unwrap_or_else(|error| panic!("{error}"));
        let numbers = StreamNumbers::new(7, 9);
        let answered = Peer::answer(&offer, &codecs, None, &[address(1)], numbers, true, start);
        let (host, answer) = answered.unwrap_or_else(|error| panic!("{error}"));
        let accepted = call.accept(&answer);
        let viewer = accepted.unwrap_or_else(|error| panic!("{error}"));
        let mut world = Self {
            now,
            host,
            viewer,
            to_host: VecDeque::new(),
            to_viewer: VecDeque::new(),
            last: [None, None],
            is_connected: false,
            frames: 0,
            sequence: 100,
        };
        world.take();
        world
    }

    fn step(&mut self, what: u8, data: &mut impl Iterator<Item = u8>) {
        let mut byte = || data.next().unwrap_or(0);
        let is_host = what & 0x80 != 0;
        match what & 0x7f {
            // Most of an input lets things happen.
            0..=40 => {
                self.deliver();
                self.wait(TimeDelta::from_millis(i64::from(what & 0x1f)));
            }
            41..=60 => self.change(is_host, |contents| {
                let place = usize::from(u16::from_be_bytes([byte(), byte()]));
                if let Some(found) = place.checked_rem(contents.len()) {
                    contents[found] ^= byte().max(1);
                }
            }),
            61..=66 => self.change(is_host, |contents| contents.truncate(usize::from(byte()))),
            67..=72 => self.change(is_host, |contents| {
                contents.extend([byte(), byte(), byte()]);
            }),
            73..=78 => drop(self.queue(is_host).pop_front()),
            79..=84 => {
                let again = self.last[usize::from(is_host)].clone();
                self.queue(is_host).extend(again);
            }
            85..=90 => self.queue(is_host).make_contiguous().reverse(),
            91..=100 => {
                let length = usize::from(byte());
                let contents = data.by_ref().take(length).collect();
                self.queue(is_host).push_back(Datagram {
                    source: if what & 1 == 0 {
                        stranger()
                    } else {
                        address(if is_host { 2 } else { 1 })
                    },
                    destination: address(if is_host { 1 } else { 2 }),
                    ecn: Ecn::NotEct,
                    contents,
                });
            }
            101..=106 => self.wait(TimeDelta::from_millis(i64::from(byte()) * 40)),
            107..=112 => self.send(),
            113..=118 => {
                let channel = Channel::ALL[usize::from(byte() % 4)];
                if is_host {
                    self.host.write(channel, WORDS);
                } else {
                    self.viewer.write(channel, WORDS);
                }
            }
            119..=122 => self.viewer.want_keyframe(self.now),
            123 => self.host.close(),
            124 => self.viewer.close(),
            _ => self.viewer.report(&[0x80, 201, 0, 1, 0, 0, 0, 9]),
        }
        self.take();
    }

    fn queue(&mut self, is_host: bool) -> &mut VecDeque<Datagram> {
        if is_host {
            &mut self.to_host
        } else {
            &mut self.to_viewer
        }
    }

    fn change(&mut self, is_host: bool, change: impl FnOnce(&mut Vec<u8>)) {
        if let Some(datagram) = self.queue(is_host).front_mut() {
            change(&mut datagram.contents);
        }
    }

    /// Delivers what is on its way, and nothing that is sent meanwhile.
    fn deliver(&mut self) {
        for sent in std::mem::take(&mut self.to_host) {
            let (from, to) = (sent.source, sent.destination);
            self.host.receive(self.now, from, to, &sent.contents);
            self.last[1] = Some(sent).filter(|sent| sent.source != stranger());
            self.take();
        }
        for sent in std::mem::take(&mut self.to_viewer) {
            let (from, to) = (sent.source, sent.destination);
            self.viewer.receive(self.now, from, to, &sent.contents);
            self.last[0] = Some(sent).filter(|sent| sent.source != stranger());
            self.take();
        }
    }

    /// Lets time pass, with the deadlines on the way.
    fn wait(&mut self, time: TimeDelta) {
        let until = self.now + time;
        let mut at_once = 0;
        loop {
            let next = self.host.deadline().min(self.viewer.deadline());
            if next > until {
                break;
            }
            at_once = if next > self.now { 0 } else { at_once + 1 };
            assert!(at_once < MOST_AT_ONCE, "stuck at {next}");
            self.now = self.now.max(next);
            if self.host.deadline() <= self.now {
                self.host.timeout(self.now);
            }
            if self.viewer.deadline() <= self.now {
                self.viewer.timeout(self.now);
            }
            self.take();
        }
        self.now = until;
    }

    /// Sends a picture. A session sends none before it is connected; those would all leave at once then.
    fn send(&mut self) {
        if !self.is_connected {
            return;
        }
        let frame = FrameId(self.frames);
        self.frames += 1;
        let unit = [&[0, 0, 0, 1][..], &PICTURE].concat();
        let payloads = Packetiser::new(LARGEST_PAYLOAD).packetise(&unit);
        let count = u16::try_from(payloads.len()).unwrap_or(u16::MAX);
        let timestamp = 90_000 + u32::try_from(frame.0).unwrap_or(0) * 1_500;
        self.host.insert(frame, timestamp, None, payloads, 0);
        let packets: Vec<_> = (0..count)
            .map(|index| Outgoing {
                sequence: TransportSequence(self.sequence.wrapping_add(index)),
                kind: PacketKind::Media,
                frame,
                index: u32::from(index),
                size: Bytes::new(1_200),
                asks_feedback: index + 1 == count,
                ecn: Ecn::NotEct,
            })
            .collect();
        self.sequence = self.sequence.wrapping_add(count);
        self.host.send(self.now, &packets, &mut Vec::new());
    }

    /// Takes what the ends send and say.
    fn take(&mut self) {
        let now = self.now;
        let host: Vec<_> = std::iter::from_fn(|| self.host.poll_datagram()).collect();
        let viewer: Vec<_> = std::iter::from_fn(|| self.viewer.poll_datagram()).collect();
        assert!(host.len().max(viewer.len()) < MOST_AT_ONCE, "{now}");
        for sent in host.iter().chain(&viewer) {
            assert_ne!(sent.destination, stranger(), "{:?}", sent.contents);
        }
        self.to_viewer.extend(host);
        self.to_host.extend(viewer);
        let mut events = 0;
        while let Some(event) = self.host.poll_event() {
            match event {
                PeerEvent::Message { data, .. } => assert_eq!(data, WORDS),
                PeerEvent::Closed { reason } => assert!(!reason.is_empty()),
                PeerEvent::Connected => self.is_connected = true,
                _ => {}
            }
            events += 1;
        }
        while let Some(event) = self.viewer.poll_event() {
            match event {
                CallerEvent::Message { data, .. } => assert_eq!(data, WORDS),
                CallerEvent::Packet(packet) if packet.carries == Carries::Video => {
                    // A fragment (RFC 6184, section 5.8): two bytes, and then the picture's.
                    assert!(packet.payload[2..].iter().all(|byte| *byte == PICTURE[0]));
                }
                CallerEvent::Closed { reason } => assert!(!reason.is_empty()),
                _ => {}
            }
            events += 1;
        }
        assert!(events < MOST_AT_ONCE, "{now}");
    }
}
