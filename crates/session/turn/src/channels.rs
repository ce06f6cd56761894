//! Numbers for peers, with which data need a header of four bytes (RFC 8656, section 12).

use std::collections::BTreeMap;
use std::net::SocketAddr;

use mimosa_units::{Time, TimeDelta};

/// The numbers that a client may give (RFC 8656, section 12).
const FIRST: u16 = 0x4000;
const LAST: u16 = 0x4fff;
/// How long a channel lasts (RFC 8656, section 12).
const LASTS: TimeDelta = TimeDelta::from_millis(600_000);
/// How long a number and a peer whose channel is over are not joined to others (RFC 8656, section 12.1).
const RESTS: TimeDelta = TimeDelta::from_millis(300_000);
/// When a channel is bound again: as a permission, which binding renews as well.
const RENEWED: TimeDelta = TimeDelta::from_millis(240_000);
/// When a channel is asked for again after the relay has refused it. Our choice: data go without a channel meanwhile.
const AGAIN: TimeDelta = TimeDelta::from_millis(60_000);
/// Most peers with a channel. Our choice: four for each of a player and some who watch; the others' data have a longer
/// header.
const MOST: usize = 64;
/// Bytes of the header of channel data (RFC 8656, section 12.4).
const HEADER: usize = 4;

#[derive(Debug)]
struct Channel {
    peer: SocketAddr,
    /// Until when the relay knows the channel; `None` before it has said so.
    until: Option<Time>,
    /// When the channel is asked for; [`Time::MAX`] while a request waits.
    due: Time,
    /// When the channel is forgotten.
    forgotten: Time,
}

/// The channels of an allocation.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    all: BTreeMap<u16, Channel>,
    /// How many numbers were given.
    given: u16,
}

impl Channels {
    /// Asks for a channel for this peer, unless it has one or there are too many.
    pub(crate) fn want(&mut self, now: Time, peer: SocketAddr) {
        if self.all.len() >= MOST || self.all.values().any(|channel| channel.peer == peer) {
            return;
        }
        let count = LAST - FIRST + 1;
        // There are more numbers than channels.
        while self.all.contains_key(&(FIRST + self.given % count)) {
            self.given = self.given.wrapping_add(1);
        }
        let channel = Channel {
            peer,
            until: None,
            due: now,
            forgotten: now + LASTS + RESTS,
        };
        self.all.insert(FIRST + self.given % count, channel);
        self.given = self.given.wrapping_add(1);
    }

    /// Data for a peer with the header of its channel; `None` if it has none now.
    pub(crate) fn wrap(&self, now: Time, peer: SocketAddr, data: &[u8]) -> Option<Vec<u8>> {
        let is_its = |channel: &Channel| {
            channel.peer == peer && channel.until.is_some_and(|until| now < until)
        };
        let (number, _) = self.all.iter().find(|(_, channel)| is_its(channel))?;
        let length = u16::try_from(data.len()).ok()?;
        Some([&number.to_be_bytes(), &length.to_be_bytes(), data].concat())
    }

    /// The peer whose channel data a datagram is, and where they are; `None` if it is none.
    pub(crate) fn unwrap(&self, datagram: &[u8]) -> Option<(SocketAddr, std::ops::Range<usize>)> {
        let (header, rest) = datagram.split_first_chunk::<HEADER>()?;
        let channel = self
            .all
            .get(&u16::from_be_bytes([header[0], header[1]]))
            .filter(|channel| channel.until.is_some())?;
        // Over UDP there may be padding.
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        (length <= rest.len()).then_some((channel.peer, HEADER..HEADER + length))
    }

    /// The channels to ask for now. Those of peers that are not `wanted` run out.
    pub(crate) fn due(
        &mut self,
        now: Time,
        wanted: impl Fn(SocketAddr) -> bool,
    ) -> Vec<(u16, SocketAddr)> {
        self.all.retain(|_, channel| now < channel.forgotten);
        let mut due = Vec::new();
        for (&number, channel) in &mut self.all {
            if channel.due <= now && wanted(channel.peer) {
                channel.due = Time::MAX;
                due.push((number, channel.peer));
            } else if channel.due <= now {
                channel.due = now + AGAIN;
            }
        }
        due
    }

    /// When to call [`Self::due`].
    pub(crate) fn deadline(&self) -> Time {
        let all = self.all.values();
        all.map(|channel| channel.due.min(channel.forgotten))
            .min()
            .unwrap_or(Time::MAX)
    }

    /// The relay knows a channel.
    pub(crate) fn bound(&mut self, now: Time, number: u16) {
        if let Some(channel) = self.all.get_mut(&number) {
            channel.until = Some(now + LASTS);
            channel.due = now + RENEWED;
            channel.forgotten = now + LASTS + RESTS;
        }
    }

    /// The relay has refused a channel, or not answered.
    pub(crate) fn refused(&mut self, now: Time, number: u16) {
        if let Some(channel) = self.all.get_mut(&number) {
            channel.due = now + AGAIN;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    #[test]
    fn a_channel_is_used_once_the_relay_knows_it() {
        let mut channels = Channels::default();
        channels.want(Time::ZERO, peer(1));
        channels.want(Time::ZERO, peer(1));
        assert_eq!(
            channels.due(Time::ZERO, |_| true),
            [(FIRST, peer(1))],
            "once"
        );
        assert_eq!(channels.deadline(), Time::from_secs(900));
        assert!(channels.wrap(Time::ZERO, peer(1), b"data").is_none());
        channels.bound(Time::ZERO, FIRST);
        let wrapped = channels.wrap(Time::ZERO, peer(1), b"data").unwrap();
        assert_eq!(wrapped, b"\x40\x00\x00\x04data");
        assert!(channels.wrap(Time::ZERO, peer(2), b"data").is_none());
        // Padding is left out.
        let padded = [&wrapped[..], &[0, 0]].concat();
        assert_eq!(channels.unwrap(&padded), Some((peer(1), 4..8)));
        assert!(channels.unwrap(&wrapped[..7]).is_none(), "cut off");
        assert!(channels.unwrap(b"\x40\x01\x00\x00").is_none(), "unknown");
        // It is bound again in time, as long as it is wanted.
        assert_eq!(channels.deadline(), Time::from_secs(240));
        assert!(channels.due(Time::from_secs(240), |_| false).is_empty());
        assert!(
            channels
                .wrap(Time::from_secs(600), peer(1), b"data")
                .is_none()
        );
        assert_eq!(channels.all.len(), 1, "the number rests");
        assert!(channels.due(Time::from_secs(900), |_| false).is_empty());
        assert!(channels.all.is_empty());
    }

    #[test]
    fn numbers_come_round_and_are_few() {
        let mut channels = Channels::default();
        for turn in 0..200 {
            let now = Time::from_secs(1_000 * turn);
            channels.due(now, |_| false);
            for port in 0..1_000 {
                channels.want(now, peer(port));
            }
            assert_eq!(channels.all.len(), MOST);
            assert!(
                channels
                    .all
                    .keys()
                    .all(|number| (FIRST..=LAST).contains(number))
            );
        }
    }
}
