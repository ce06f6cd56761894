//! The viewer's end of a plain connection.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_facts::Codec;
use mimosa_protocol::control::FeedbackKind;
use mimosa_units::{Ecn, Time};

use super::Terms;
use super::link::{Heard, Link};
use super::wire::{Kind, begin, read_rtp};
use crate::ends::{Agreed, CallerEvent, Channel, Datagram, ViewerTransport};

/// SSRC from which reports come.
const NAME: u32 = 0x56_4945;

/// The viewer's end of a plain connection.
#[derive(Debug)]
pub struct Viewer {
    agreed: Agreed,
    link: Link,
    events: VecDeque<CallerEvent>,
}

impl Viewer {
    /// A viewer's end that greets its host from `now` on.
    #[must_use]
    pub fn new(terms: &Terms, now: Time) -> Self {
        Self {
            agreed: terms.agreed,
            link: Link::new(terms.id, terms.viewer, terms.host, true, now),
            events: VecDeque::new(),
        }
    }

    fn heard(&mut self, heard: Heard<'_>) {
        match heard {
            Heard::Connected => {
                self.events.push_back(CallerEvent::Connected);
                let opened = Channel::ALL.map(CallerEvent::Opened);
                self.events.extend(opened);
            }
            Heard::Message { channel, data } => {
                self.events
                    .push_back(CallerEvent::Message { channel, data });
            }
            Heard::Left => self.events.push_back(CallerEvent::Closed {
                reason: "the host closed the connection".to_owned(),
            }),
            Heard::Other { kind, rest } => {
                let packet = (kind == Kind::Rtp).then(|| read_rtp(rest)).flatten();
                self.events.extend(packet.map(CallerEvent::Packet));
            }
        }
    }
}

impl ViewerTransport for Viewer {
    fn codec(&self) -> Codec {
        self.agreed.codec
    }

    fn reads_congestion(&self) -> bool {
        self.agreed.feedback == FeedbackKind::CongestionControl
    }

    fn name(&self) -> u32 {
        NAME
    }

    fn receive(&mut self, now: Time, source: SocketAddr, _: SocketAddr, contents: &[u8]) {
        for heard in self.link.receive(now, source, contents) {
            self.heard(heard);
        }
    }

    fn timeout(&mut self, now: Time) {
        self.link.timeout(now);
    }

    fn deadline(&self) -> Time {
        self.link.deadline()
    }

    fn report(&mut self, compound: &[u8]) {
        let mut out = begin(Kind::Rtcp, self.link.id(), compound.len());
        out.extend(compound);
        self.link.send(Ecn::NotEct, out);
    }

    fn want_keyframe(&mut self, now: Time) {
        self.link.pass(now);
        let out = begin(Kind::Keyframe, self.link.id(), 0);
        self.link.send(Ecn::NotEct, out);
    }

    fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        !data.is_empty() && self.link.write(channel, data)
    }

    fn close(&mut self) {
        self.link.close();
    }

    fn poll_datagram(&mut self) -> Option<Datagram> {
        self.link.poll_datagram()
    }

    fn poll_event(&mut self) -> Option<CallerEvent> {
        self.events.pop_front()
    }
}
