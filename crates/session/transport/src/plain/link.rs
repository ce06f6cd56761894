//! What both ends of a plain connection have in common: greetings, messages and the end.

use std::collections::VecDeque;
use std::net::SocketAddr;

use mimosa_units::{Ecn, Time, TimeDelta};

use super::channel::{Inbox, Outbox};
use super::wire::{Kind, begin, parse};
use crate::ends::{Channel, Datagram};

/// Time between greetings until the other end answers. Our choice: a few round trips.
const GREET_EVERY: TimeDelta = TimeDelta::from_millis(100);
/// Time between greetings after the other end has answered: as often as WebRTC checks a path (RFC
/// 7675, section 5.1, asks for less than 15 s; str0m and browsers send a check every 2.5 s).
const ALIVE_EVERY: TimeDelta = TimeDelta::from_millis(2_500);

/// Something that happened to a plain connection.
#[derive(Debug)]
pub(super) enum Heard<'a> {
    /// The other end is there.
    Connected,
    /// A message came.
    Message { channel: Channel, data: Vec<u8> },
    /// The other end has left.
    Left,
    /// A datagram came for the host's or the viewer's own part: its kind, and the rest of it.
    Other { kind: Kind, rest: &'a [u8] },
}

/// The part of an end that both ends have in common.
#[derive(Debug)]
pub(super) struct Link {
    id: u64,
    own: SocketAddr,
    other: SocketAddr,
    is_connected: bool,
    is_closed: bool,
    next_greeting: Time,
    outboxes: [Outbox; Channel::ALL.len()],
    inboxes: [Inbox; Channel::ALL.len()],
    datagrams: VecDeque<Datagram>,
    /// The time of the last call that had a time.
    now: Time,
}

impl Link {
    /// An end that greets from `now` on if it `begins`; otherwise it waits for a greeting.
    pub(super) fn new(
        id: u64,
        own: SocketAddr,
        other: SocketAddr,
        begins: bool,
        now: Time,
    ) -> Self {
        Self {
            id,
            own,
            other,
            is_connected: false,
            is_closed: false,
            next_greeting: if begins { now } else { Time::MAX },
            outboxes: Default::default(),
            inboxes: Default::default(),
            datagrams: VecDeque::new(),
            now,
        }
    }

    pub(super) const fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn accepts(&self, contents: &[u8]) -> bool {
        parse(self.id, contents).is_some()
    }

    /// Takes a datagram. Later datagrams are sent to the address from which this one came.
    pub(super) fn receive<'a>(
        &mut self,
        now: Time,
        source: SocketAddr,
        contents: &'a [u8],
    ) -> Vec<Heard<'a>> {
        self.now = now;
        let Some((kind, rest)) = parse(self.id, contents).filter(|_| !self.is_closed) else {
            return Vec::new();
        };
        self.other = source;
        let mut heard = Vec::new();
        if !self.is_connected {
            self.is_connected = true;
            self.greet(now);
            heard.push(Heard::Connected);
        }
        match kind {
            Kind::Hello => {}
            Kind::Message => heard.extend(self.message(rest).unwrap_or_default()),
            Kind::Acknowledgement => {
                if let &[channel, a, b, c, d] = rest
                    && let Some(outbox) = self.outboxes.get_mut(usize::from(channel))
                {
                    outbox.acknowledged(now, u32::from_be_bytes([a, b, c, d]));
                }
            }
            Kind::Bye => {
                self.is_closed = true;
                heard.push(Heard::Left);
            }
            Kind::Rtp | Kind::Rtcp | Kind::Keyframe => heard.push(Heard::Other { kind, rest }),
        }
        heard
    }

    /// Takes a message; `None` if it is cut off.
    fn message(&mut self, rest: &[u8]) -> Option<Vec<Heard<'static>>> {
        let (&[index, a, b, c, d], data) = rest.split_first_chunk()?;
        let channel = *Channel::ALL.get(usize::from(index))?;
        let came = if channel.is_lossy() {
            vec![data.to_vec()]
        } else {
            let inbox = &mut self.inboxes[channel as usize];
            let came = inbox.take(u32::from_be_bytes([a, b, c, d]), data);
            let mut out = begin(Kind::Acknowledgement, self.id, 5);
            out.push(index);
            out.extend(inbox.next().to_be_bytes());
            self.send(Ecn::NotEct, out);
            came
        };
        let heard = |data| Heard::Message { channel, data };
        Some(came.into_iter().map(heard).collect())
    }

    pub(super) fn timeout(&mut self, now: Time) {
        self.now = now;
        if self.is_closed {
            return;
        }
        if self.next_greeting <= now {
            self.greet(now);
        }
        for index in 0..self.outboxes.len() {
            let due: Vec<_> = self.outboxes[index].due(now).cloned().collect();
            for (number, message) in due {
                self.send_message(index, number, &message);
            }
        }
    }

    pub(super) fn deadline(&self) -> Time {
        if self.is_closed {
            return Time::MAX;
        }
        let outboxes = self.outboxes.iter().map(Outbox::deadline);
        outboxes.fold(self.next_greeting, Time::min)
    }

    /// Writes a message. Returns whether the other end is there and the channel takes it.
    pub(super) fn write(&mut self, channel: Channel, data: &[u8]) -> bool {
        if !self.is_connected || self.is_closed {
            return false;
        }
        let index = channel as usize;
        let number = if channel.is_lossy() {
            Some(0)
        } else {
            let outbox = &mut self.outboxes[index];
            let number = outbox.push(data);
            outbox.sent(self.now);
            number
        };
        let Some(number) = number else {
            return false;
        };
        self.send_message(index, number, data);
        true
    }

    /// Whether messages of a channel have no acknowledgement yet.
    pub(super) fn is_undelivered(&self, channel: Channel) -> bool {
        !self.is_closed && self.outboxes[channel as usize].is_waiting()
    }

    fn send_message(&mut self, index: usize, number: u32, data: &[u8]) {
        let mut out = begin(Kind::Message, self.id, 5 + data.len());
        out.push(u8::try_from(index).unwrap_or(u8::MAX));
        out.extend(number.to_be_bytes());
        out.extend(data);
        self.send(Ecn::NotEct, out);
    }

    pub(super) fn close(&mut self) {
        if !std::mem::replace(&mut self.is_closed, true) {
            let out = begin(Kind::Bye, self.id, 0);
            self.send(Ecn::NotEct, out);
        }
    }

    fn greet(&mut self, now: Time) {
        let out = begin(Kind::Hello, self.id, 0);
        self.send(Ecn::NotEct, out);
        let every = if self.is_connected {
            ALIVE_EVERY
        } else {
            GREET_EVERY
        };
        self.next_greeting = now + every;
    }

    /// Queues a datagram to be sent.
    pub(super) fn send(&mut self, ecn: Ecn, contents: Vec<u8>) {
        self.datagrams.push_back(Datagram {
            source: self.own,
            destination: self.other,
            ecn,
            contents,
        });
    }

    /// Sets the time for calls without one.
    pub(super) fn pass(&mut self, now: Time) {
        self.now = now;
    }

    pub(super) fn poll_datagram(&mut self) -> Option<Datagram> {
        self.datagrams.pop_front()
    }
}
