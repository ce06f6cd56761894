//! Peer, browser and the network between them.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_facts::{Codec, FrameId, PacketKind, TransportSequence};
use mimosa_protocol::control::FeedbackKind;
use mimosa_rtp::dependency::DEPENDENCY_DESCRIPTOR;
use mimosa_rtp::h264::Packetiser;
use mimosa_rtp::video::Payloads;
use mimosa_stream::Outgoing;
use mimosa_transport::{
    Channel, Datagram, HostTransport, LARGEST_PAYLOAD, Peer, PeerEvent, StreamNumbers,
};
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::browser::Browser;
use crate::rtp::{Kind, Rtp, kind};

pub(crate) const MS: TimeDelta = TimeDelta::from_millis(1);
/// Time from one end to the other.
pub(crate) const DELAY: TimeDelta = TimeDelta::from_millis(5);
/// The page's numbers at transport-wide-cc, whichever was agreed on.
const TRANSPORT_CC: [&str; 2] = [
    "http://www.webrtc.org/experiments/rtp-hdrext/transport-wide-cc-02",
    "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
];

/// The numbers with which a host's streams begin: packets are numbered from 7 on.
pub(crate) const NUMBERS: StreamNumbers = StreamNumbers::new(7, 0x1234_5678);

/// When all tests begin.
pub(crate) fn beginning() -> Time {
    Time::from_secs(1)
}

pub(crate) fn host_address() -> SocketAddr {
    ([10, 0, 0, 1], 4_000).into()
}

pub(crate) fn browser_address() -> SocketAddr {
    ([10, 0, 0, 2], 5_000).into()
}

/// A datagram of the peer's.
pub(crate) struct Left {
    pub(crate) at: Time,
    pub(crate) destination: SocketAddr,
    /// Not in [`World::send`].
    pub(crate) by_itself: bool,
    pub(crate) contents: Vec<u8>,
}

type Filter = Box<dyn FnMut(&[u8]) -> bool>;

pub(crate) struct World {
    pub(crate) now: Time,
    pub(crate) peer: Peer,
    pub(crate) browser: Browser,
    pub(crate) answer: String,
    pub(crate) events: Vec<PeerEvent>,
    pub(crate) left: Vec<Left>,
    /// Everything the browser has sent.
    pub(crate) from_browser: Vec<Vec<u8>>,
    /// Whether a datagram of the peer's arrives.
    pub(crate) arrives: Filter,
    /// Whether a datagram of the browser's arrives.
    pub(crate) returns: Filter,
    to_browser: VecDeque<(Time, Datagram)>,
    to_peer: VecDeque<(Time, Datagram)>,
    peer_at: Time,
    browser_at: Time,
    /// Address of the browser that the peer sees.
    pub(crate) outside: SocketAddr,
}

impl World {
    /// An offer and its answer; `edit` changes the offer before the peer has it.
    pub(crate) fn answered(
        feedback: FeedbackKind,
        first_sequence: u16,
        edit: impl FnOnce(String) -> String,
    ) -> Self {
        Self::offered(feedback, first_sequence, [false, true], edit)
    }

    /// A world whose browser wants sound or not, and whose host has sound or not.
    pub(crate) fn offered(
        feedback: FeedbackKind,
        first_sequence: u16,
        [is_wanted, has_sound]: [bool; 2],
        edit: impl FnOnce(String) -> String,
    ) -> Self {
        let now = beginning();
        let (mut browser, offer) = Browser::new(now, browser_address(), is_wanted);
        let addresses = [host_address()];
        // Nor does it know the descriptor; what it does not know it passes over.
        let descriptor = format!("a=extmap:12 {DEPENDENCY_DESCRIPTOR}\r\na=extmap:4 ");
        let offer = edit(offer.replacen("a=extmap:4 ", &descriptor, 1));
        let (peer, answer) = Peer::answer(
            &offer,
            &[Codec::H264],
            Some(feedback),
            &addresses,
            StreamNumbers::new(first_sequence, 0x1234_5678),
            has_sound,
            now,
        )
        .unwrap();
        // str0m as a browser does not know -02; the sequence number is at the same
        // place in both.
        browser.take_answer(now, &answer.replace(TRANSPORT_CC[0], TRANSPORT_CC[1]));
        Self {
            now,
            peer,
            browser,
            answer,
            events: Vec::new(),
            left: Vec::new(),
            from_browser: Vec::new(),
            arrives: Box::new(|_| true),
            returns: Box::new(|_| true),
            to_browser: VecDeque::new(),
            to_peer: VecDeque::new(),
            peer_at: now,
            browser_at: now,
            outside: browser_address(),
        }
    }

    /// Connected, with its channels open, and nothing left to be said.
    pub(crate) fn connected(feedback: FeedbackKind, first_sequence: u16) -> Self {
        Self::connected_by(feedback, first_sequence, |offer| offer)
    }

    /// A world whose offer was edited.
    pub(crate) fn connected_by(
        feedback: FeedbackKind,
        first_sequence: u16,
        edit: impl FnOnce(String) -> String,
    ) -> Self {
        let mut world = Self::answered(feedback, first_sequence, edit);
        world.run(TimeDelta::from_millis(2_000));
        assert!(world.browser.is_connected);
        for channel in [
            Channel::Input,
            Channel::Keys,
            Channel::Frames,
            Channel::Control,
        ] {
            let is_open =
                |event: &PeerEvent| matches!(event, PeerEvent::Opened(open) if *open == channel);
            assert!(world.events.iter().any(is_open), "{channel:?}");
        }
        world.events.clear();
        world.left.clear();
        world
    }

    /// Lets time pass.
    pub(crate) fn run(&mut self, duration: TimeDelta) {
        let until = self.now + duration;
        self.collect(true);
        loop {
            let first = |queue: &VecDeque<(Time, Datagram)>| queue.front().map(|next| next.0);
            let next = [first(&self.to_browser), first(&self.to_peer)]
                .into_iter()
                .flatten()
                .chain([self.peer_at, self.browser_at])
                .min()
                .unwrap();
            if next > until {
                break;
            }
            self.now = self.now.max(next);
            if first(&self.to_browser) == Some(next) {
                let (_, datagram) = self.to_browser.pop_front().unwrap();
                let is_to_browser = datagram.destination == self.outside;
                if is_to_browser && (self.arrives)(&datagram.contents) {
                    let destination = browser_address();
                    let datagram = Datagram {
                        destination,
                        ..datagram
                    };
                    self.browser.receive(self.now, &datagram);
                }
            } else if first(&self.to_peer) == Some(next) {
                let (_, datagram) = self.to_peer.pop_front().unwrap();
                if (self.returns)(&datagram.contents) {
                    self.deliver(&datagram);
                }
            } else if self.peer_at == next {
                self.peer.timeout(self.now);
            } else {
                self.browser.timeout(self.now);
            }
            self.collect(true);
        }
        self.now = until;
    }

    fn deliver(&mut self, datagram: &Datagram) {
        let (source, destination) = (self.outside, datagram.destination);
        let contents = &datagram.contents;
        if !self.peer.accepts(self.now, source, destination, contents) {
            let is_known = source == browser_address();
            assert!(
                !is_known,
                "only what comes from a new address is a stranger's"
            );
            return;
        }
        self.peer.receive(self.now, source, destination, contents);
    }

    /// Sends a packet now, and gives the one datagram that it made.
    pub(crate) fn send(&mut self, outgoing: &Outgoing) -> Rtp {
        let mut made = self.send_all(std::slice::from_ref(outgoing));
        assert_eq!(made.len(), 1, "one call, one packet");
        made.remove(0)
    }

    /// Sends packets now, and gives the datagrams that they made.
    pub(crate) fn send_all(&mut self, outgoing: &[Outgoing]) -> Vec<Rtp> {
        self.collect(true);
        let before = self.left.len();
        self.peer.send(self.now, outgoing, &mut Vec::new());
        self.collect(false);
        self.left[before..]
            .iter()
            .filter(|left| kind(&left.contents) == Kind::Rtp)
            .map(|left| Rtp::parse(&left.contents))
            .collect()
    }

    /// Takes out what both have to say. A deadline that has passed comes again in a
    /// moment, as a driver's clock goes on.
    fn collect(&mut self, by_itself: bool) {
        while let Some(datagram) = self.peer.poll_datagram() {
            self.left.push(Left {
                at: self.now,
                destination: datagram.destination,
                by_itself,
                contents: datagram.contents.clone(),
            });
            self.to_browser.push_back((self.now + DELAY, datagram));
        }
        while let Some(event) = self.peer.poll_event() {
            self.events.push(event);
        }
        for datagram in self.browser.out.drain(..) {
            self.from_browser.push(datagram.contents.clone());
            self.to_peer.push_back((self.now + DELAY, datagram));
        }
        let moment = self.now + TimeDelta::from_micros(100);
        self.peer_at = self.peer.deadline().max(moment);
        self.browser_at = self.browser.deadline.max(moment);
    }

    /// RTP that has left since the connection stood.
    pub(crate) fn rtp(&self) -> impl Iterator<Item = &Left> {
        let left = self.left.iter();
        left.filter(|left| kind(&left.contents) == Kind::Rtp)
    }

    /// The channel's messages that have come to the peer.
    pub(crate) fn messages(&self, wanted: Channel) -> Vec<&[u8]> {
        let messages = self.events.iter().filter_map(|event| match event {
            PeerEvent::Message { channel, data } if *channel == wanted => Some(data.as_slice()),
            _ => None,
        });
        messages.collect()
    }
}

/// A frame of one NAL unit with as many packets as asked for, no two alike.
pub(crate) fn frame(id: u64, packets: usize) -> Payloads {
    let size = usize::try_from(LARGEST_PAYLOAD.get()).unwrap() * packets - 100;
    let byte =
        |i: usize| u8::try_from((i * 7 + usize::try_from(id).unwrap() * 13) % 251 + 2).unwrap();
    let unit: Vec<u8> = [0, 0, 0, 1, 0x65]
        .into_iter()
        .chain((0..size).map(byte))
        .collect();
    let payloads = Packetiser::new(LARGEST_PAYLOAD).packetise(&unit);
    assert_eq!(payloads.len(), packets);
    payloads
}

pub(crate) fn outgoing(kind: PacketKind, sequence: u16, frame: u64, index: u32) -> Outgoing {
    Outgoing {
        sequence: TransportSequence(sequence),
        kind,
        frame: FrameId(frame),
        index,
        size: Bytes::new(1_200),
        asks_feedback: kind == PacketKind::Retransmission,
        ecn: mimosa_units::Ecn::NotEct,
    }
}
