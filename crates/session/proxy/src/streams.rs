//! The application's streams: which of them are paced, their frame intervals and their rates.

use mimosa_rtp::packet::Packet;
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::config::NearConfig;
use crate::statistics::{Count, StreamStatistics};

/// The most streams that are remembered; beyond that the one that rests longest is forgotten. Our
/// choice: a session of the study has two.
const MOST: usize = 32;
/// The time over which rates are measured. Our choice.
const WINDOW: TimeDelta = TimeDelta::from_millis(500);
/// Frames closer than this came in one burst, which says nothing about their interval.
const SHORTEST_INTERVAL: TimeDelta = TimeDelta::from_millis(1);
/// Frames at least this far apart are a pause, not an interval.
const LONGEST_INTERVAL: TimeDelta = TimeDelta::from_millis(200);
/// The share of a new frame interval in the smoothed one, as of a round trip (RFC 6298, section 2).
const GAIN: u32 = 8;
/// Numbers before the newest one of which copies are found.
const COPIES: u16 = 64;

/// A stream.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) ssrc: u32,
    pub(crate) is_paced: bool,
    /// Number of the stream's packets that wait.
    pub(crate) waiting: usize,
    /// Until when packets are dropped because a keyframe is awaited.
    pub(crate) awaits_keyframe: Option<Time>,
    /// Time between frames, smoothed.
    pub(crate) interval: Option<TimeDelta>,
    newest_frame: Option<(u32, Time)>,
    /// The newest RTP number, and which of those before it have come, from the lowest bit.
    newest: (u16, u64),
    heard: Time,
    count: Count,
    /// Bytes in the present window, and the rate in the last one.
    window: Bytes,
    rate: Rate,
}

impl Stream {
    /// Whether the packet is a copy of an earlier one.
    fn is_copy(&mut self, sequence: u16) -> bool {
        let (newest, seen) = self.newest;
        let ahead = sequence.wrapping_sub(newest).cast_signed();
        if ahead > 0 {
            let seen = seen.checked_shl(u32::from(ahead.unsigned_abs()));
            self.newest = (sequence, seen.unwrap_or(0) | 1);
            return false;
        }
        let back = ahead.unsigned_abs();
        if back >= COPIES {
            // An old packet, or the application began anew with other numbers.
            if back > 1 << 13 {
                self.newest = (sequence, 1);
            }
            return false;
        }
        let bit = 1 << back;
        self.newest.1 |= bit;
        seen & bit != 0
    }

    /// Whether a frame begins with this packet.
    fn begins(&mut self, now: Time, timestamp: u32) -> bool {
        let before = self.newest_frame;
        if before.is_some_and(|(same, _)| same == timestamp) {
            return false;
        }
        self.newest_frame = Some((timestamp, now));
        if let Some((_, began)) = before {
            let interval = now.since(began);
            if (SHORTEST_INTERVAL..LONGEST_INTERVAL).contains(&interval) {
                let old = self.interval.unwrap_or(interval);
                self.interval = Some(old + (interval - old) / GAIN);
            }
        }
        true
    }
}

/// The stream of a packet, and the packet's place in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The stream's place among all.
    pub(crate) index: usize,
    pub(crate) is_copy: bool,
    pub(crate) begins_frame: bool,
}

/// All streams of the application.
#[derive(Debug, Default)]
pub(crate) struct Streams {
    all: Vec<Stream>,
    /// SSRCs that were forgotten and that the owner has not taken yet.
    forgotten: Vec<u32>,
    window_began: Option<Time>,
    /// Rates of the streams that are paced, and of those that go ahead.
    rates: (Rate, Rate),
    /// Bytes of payload and header among those of paced streams, and their packets.
    paced: Count,
    /// Bytes of RTP packets for each byte that counts as sent.
    share: f64,
}

impl Streams {
    pub(crate) fn new() -> Self {
        Self {
            share: 1.0,
            ..Self::default()
        }
    }

    /// Notes a packet of the application of `length` bytes.
    pub(crate) fn came(
        &mut self,
        config: &NearConfig,
        now: Time,
        packet: &Packet<'_>,
        length: usize,
    ) -> Place {
        self.window_began.get_or_insert(now);
        let known = self.all.iter().position(|one| one.ssrc == packet.ssrc);
        let index = known.unwrap_or_else(|| self.add(config, now, packet, length));
        let place = Place {
            index,
            is_copy: false,
            begins_frame: false,
        };
        let Some(stream) = self.all.get_mut(index) else {
            return place;
        };
        stream.heard = now;
        if stream.is_copy(packet.sequence) && known.is_some() {
            return Place {
                is_copy: true,
                ..place
            };
        }
        stream.count.add(length);
        stream.window += Bytes::new(length as u64);
        if stream.is_paced {
            self.paced.add(length);
        }
        Place {
            begins_frame: stream.begins(now, packet.timestamp),
            ..place
        }
    }

    fn add(&mut self, config: &NearConfig, now: Time, packet: &Packet<'_>, length: usize) -> usize {
        if self.all.len() >= MOST {
            let rests = |(_, one): &(usize, &Stream)| (one.waiting > 0, one.heard);
            let oldest = self.all.iter().enumerate().min_by_key(rests);
            if let Some(index) = oldest.map(|(index, _)| index) {
                self.forgotten.push(self.all.remove(index).ssrc);
            }
        }
        let is_paced = if config.paced_types.is_empty() {
            Bytes::new(length as u64) >= config.small_packet
        } else {
            config.paced_types.contains(&packet.payload_type)
        };
        self.all.push(Stream {
            ssrc: packet.ssrc,
            is_paced,
            waiting: 0,
            awaits_keyframe: None,
            interval: None,
            newest_frame: None,
            newest: (packet.sequence, 1),
            heard: now,
            count: Count::default(),
            window: Bytes::ZERO,
            rate: Rate::ZERO,
        });
        self.all.len() - 1
    }

    pub(crate) fn get(&mut self, index: usize) -> Option<&mut Stream> {
        self.all.get_mut(index)
    }

    pub(crate) fn of(&mut self, ssrc: u32) -> Option<&mut Stream> {
        self.all.iter_mut().find(|one| one.ssrc == ssrc)
    }

    /// SSRC and rate of the largest of the paced streams.
    pub(crate) fn largest(&self) -> Option<(u32, Rate)> {
        let paced = self.all.iter().filter(|one| one.is_paced);
        let largest = paced.max_by_key(|one| one.rate)?;
        Some((largest.ssrc, largest.rate))
    }

    /// Takes an SSRC that was forgotten.
    pub(crate) fn take_forgotten(&mut self) -> Option<u32> {
        self.forgotten.pop()
    }

    /// When the present window ends; [`Time::MAX`] without streams.
    pub(crate) fn deadline(&self) -> Time {
        self.window_began.map_or(Time::MAX, |began| began + WINDOW)
    }

    /// Ends the present window if it is over: measures rates, and tells anew which streams are
    /// paced. Returns when the window began.
    pub(crate) fn measure(&mut self, config: &NearConfig, now: Time) -> Option<Time> {
        let began = self.window_began.filter(|began| *began + WINDOW <= now)?;
        let time = now.since(began);
        for stream in &mut self.all {
            stream.rate = Rate::of(std::mem::take(&mut stream.window), time);
        }
        self.rates = (Rate::ZERO, Rate::ZERO);
        for stream in &self.all {
            let of = if stream.is_paced {
                &mut self.rates.0
            } else {
                &mut self.rates.1
            };
            *of = *of + stream.rate;
        }
        let paced = std::mem::take(&mut self.paced);
        if paced.packets > 0 {
            let headers = config.headers.get() * paced.packets;
            self.share = paced.bytes as f64 / (paced.bytes + headers) as f64;
        }
        if config.paced_types.is_empty() {
            self.tell_apart(config);
        }
        // Nothing wakes for the rates of an application that is silent.
        let is_silent = self.all.iter().all(|stream| stream.rate == Rate::ZERO);
        self.window_began = (!is_silent).then_some(now);
        Some(began)
    }

    fn tell_apart(&mut self, config: &NearConfig) {
        let largest = self.all.iter().map(|one| one.rate).max();
        for stream in &mut self.all {
            // Packets of a stream must not overtake each other.
            if stream.waiting == 0 && stream.rate > Rate::ZERO {
                stream.is_paced = stream.rate >= config.small_rate || Some(stream.rate) == largest;
            }
        }
    }

    /// The rate of the streams that are paced, in bytes of RTP packets.
    pub(crate) const fn paced_rate(&self) -> Rate {
        self.rates.0
    }

    /// The rate of the streams that go ahead, in bytes of RTP packets.
    pub(crate) const fn ahead_rate(&self) -> Rate {
        self.rates.1
    }

    /// Bytes of RTP packets for each byte that counts as sent, of paced streams.
    pub(crate) const fn share(&self) -> f64 {
        self.share
    }

    pub(crate) fn statistics(&self) -> Vec<StreamStatistics> {
        let all = self.all.iter().map(|stream| StreamStatistics {
            ssrc: stream.ssrc,
            is_paced: stream.is_paced,
            count: stream.count,
            rate: stream.rate,
        });
        all.collect()
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::Limits;

    use super::*;

    fn config() -> NearConfig {
        let mbps = |mbps: u64| Rate::from_kbps(mbps * 1_000);
        NearConfig::new(Limits::new(mbps(1), mbps(5), mbps(50)))
    }

    fn packet(ssrc: u32, sequence: u16, timestamp: u32) -> Packet<'static> {
        Packet {
            marker: false,
            payload_type: 96,
            sequence,
            timestamp,
            ssrc,
            extension: None,
            payload: &[],
        }
    }

    #[test]
    fn sound_goes_ahead_and_video_does_not() {
        let config = config();
        let mut streams = Streams::new();
        let mut now = Time::ZERO;
        for number in 0..200_u16 {
            now += TimeDelta::from_millis(10);
            // Video of large packets, sound, and sound that has no compression at first.
            for (ssrc, length) in [
                (1, 1_200),
                (2, 200),
                (3, if number < 5 { 900 } else { 100 }),
            ] {
                let packet = packet(ssrc, number, u32::from(number));
                let place = streams.came(&config, now, &packet, length);
                assert!(place.begins_frame && !place.is_copy);
                if number == 0 {
                    let stream = streams.get(place.index).unwrap();
                    assert_eq!(stream.is_paced, ssrc != 2, "by the first packet");
                }
            }
            streams.measure(&config, now);
        }
        assert_eq!(streams.largest(), Some((1, streams.paced_rate())));
        let interval = streams.of(1).unwrap().interval;
        assert_eq!(interval, Some(TimeDelta::from_millis(10)));
        // Frames that come at once, or after a pause, say nothing about the interval.
        for (number, at) in [(200, now), (201, now + TimeDelta::from_millis(400))] {
            streams.came(&config, at, &packet(1, number, u32::from(number)), 1_200);
        }
        assert_eq!(streams.of(1).unwrap().interval, interval);
        let [video, sound] = [streams.paced_rate(), streams.ahead_rate()].map(Rate::as_mbps);
        assert!((0.9..1.0).contains(&video), "{video} of 0.96");
        assert!((0.22..0.26).contains(&sound), "{sound} of 0.24");
        let share = streams.share();
        assert!((share - 1_200.0 / 1_228.0).abs() < 1e-9, "{share}");
    }

    #[test]
    fn copies_are_found_and_a_new_beginning_is_none() {
        let config = config();
        let mut streams = Streams::new();
        let mut copy = |sequence| {
            let packet = packet(1, sequence, 0);
            streams.came(&config, Time::ZERO, &packet, 1_200).is_copy
        };
        let came = [65_534, 65_535, 1, 0, 1, 65_534, 2, 2, 40_000, 40_000];
        let copies = came.map(&mut copy);
        let expected = [
            false, false, false, false, true, true, false, true, false, true,
        ];
        assert_eq!(copies, expected);
    }

    #[test]
    fn the_stream_that_rests_longest_is_forgotten() {
        let config = config();
        let mut streams = Streams::new();
        for ssrc in 0..100 {
            let now = Time::from_millis(u64::from(ssrc));
            streams.came(&config, now, &packet(ssrc, 0, 0), 1_200);
        }
        assert_eq!(streams.statistics().len(), MOST);
        let forgotten: Vec<_> = std::iter::from_fn(|| streams.take_forgotten()).collect();
        assert!(forgotten.into_iter().rev().eq(0..68));
    }

    #[test]
    fn payload_types_decide_where_they_are_given() {
        let config = NearConfig {
            paced_types: vec![97],
            ..config()
        };
        let mut streams = Streams::new();
        let place = streams.came(&config, Time::ZERO, &packet(1, 0, 0), 1_200);
        assert!(!streams.get(place.index).unwrap().is_paced);
        streams.measure(&config, Time::from_secs(1));
        assert_eq!(streams.largest(), None);
    }
}
