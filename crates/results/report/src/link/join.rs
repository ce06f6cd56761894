//! Finds the packets of a session's frames in the recording of a link.

use std::collections::BTreeMap;

use mimosa_facts::{Fate, FrameRtp, LinkPacket, Passage, RtpPacket, SessionFrame};
use mimosa_record::Link;
use mimosa_units::{Time, TimeDelta};
use serde::Serialize;

/// Largest difference of the wall clocks of two recordings that state when they began.
const APART: TimeDelta = TimeDelta::from_millis(20_000);
/// Longest time from a frame's first departure until one of its packets comes to the link. Sequence
/// numbers repeat after a longer time.
const WITHIN: TimeDelta = TimeDelta::from_millis(5_000);
/// Most packets of a frame; one that claims more is damaged.
const MOST_PACKETS: usize = 16_384;

/// Why a link cannot be joined with a session. Each error says what to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum JoinError {
    /// The session has no RTP numbers of its frames.
    NoNumbers,
    /// No packet is in both recordings.
    NothingShared,
}

impl std::fmt::Display for JoinError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoNumbers => {
                "the session has no RTP sequence numbers to find its packets by; record it with \
                 `mimosa serve --record`, or have what records it fill in `SessionFrame::rtp`"
            }
            Self::NothingShared => {
                "it has none of the session's packets; name the recording of the link that this \
                 session went through, made at the same time"
            }
        })
    }
}

impl std::error::Error for JoinError {}

/// The relation of the clocks of a link's and a session's recordings. A packet cannot come to the
/// link before its departure, and an acknowledgement cannot come before the packet's arrival: the
/// offset of the clocks is between these two limits.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ClockMatch {
    /// The link's time at the session's time zero, in nanoseconds: the largest for which no packet
    /// comes to the link before it was sent. Times from the host to the link are too small by the
    /// time that the fastest packet took.
    pub offset_ns: i64,
    /// How much too large the offset may be, in milliseconds: its distance from the smallest offset
    /// for which no frame is acknowledged before it is due. This includes the shortest way back.
    pub at_most_over_ms: Option<f64>,
    /// The offset less the one by the wall clocks of both recordings, in milliseconds.
    pub beside_wall_clocks_ms: Option<f64>,
}

/// The packets of a session in a link's recording.
#[derive(Clone, Debug)]
pub(crate) struct Join {
    /// Whether the forward direction carries the session.
    pub(crate) is_forward: bool,
    pub(crate) clock: ClockMatch,
    /// For each frame, its packets in the link's recording.
    pub(crate) frames: Vec<Found>,
    /// SSRCs of the session's streams.
    pub(crate) streams: Vec<u32>,
}

/// The packets of a frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Indices of the frame's packets in the link's recording.
    pub(crate) packets: Vec<usize>,
    /// Number of the frame's packets that are not in it.
    pub(crate) missing: usize,
}

impl Join {
    /// Finds the packets of `frames` in `link`. `wall` is the link's time at the session's time
    /// zero by the wall clocks, if both are known.
    pub(crate) fn new(
        frames: &[SessionFrame],
        link: &Link,
        wall: Option<i64>,
    ) -> Result<Self, JoinError> {
        let mut streams: Vec<_> = frames
            .iter()
            .filter_map(|frame| frame.rtp)
            .flat_map(|rtp| [Some(rtp.ssrc), rtp.again.map(|again| again.ssrc)])
            .flatten()
            .collect();
        streams.sort_unstable();
        streams.dedup();
        if streams.is_empty() {
            return Err(JoinError::NoNumbers);
        }
        let sides = [true, false].map(|is_forward| Index::new(link, &streams, is_forward));
        let found = sides.map(|index| {
            let frames = index.find(frames, wall);
            let count: usize = frames.iter().map(|found| found.packets.len()).sum();
            (count, frames)
        });
        let [(forward, there), (reverse, back)] = found;
        let (is_forward, found) = if forward >= reverse {
            (true, there)
        } else {
            (false, back)
        };
        let clock = clock(frames, &found, &link.packets, wall).ok_or(JoinError::NothingShared)?;
        Ok(Self {
            is_forward,
            clock,
            frames: found,
            streams,
        })
    }
}

/// A direction's packets of some streams, by their RTP numbers.
struct Index<'a> {
    packets: &'a [Passage<LinkPacket>],
    places: BTreeMap<RtpPacket, Vec<usize>>,
}

impl<'a> Index<'a> {
    fn new(link: &'a Link, streams: &[u32], is_forward: bool) -> Self {
        let mut places: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (place, packet) in link.packets.iter().enumerate() {
            let rtp = packet
                .packet
                .rtp
                .filter(|_| packet.packet.is_forward == is_forward);
            if let Some(rtp) = rtp.filter(|rtp| streams.binary_search(&rtp.ssrc).is_ok()) {
                places.entry(rtp).or_default().push(place);
            }
        }
        Self {
            packets: &link.packets,
            places,
        }
    }

    /// The packets of each frame.
    fn find(&self, frames: &[SessionFrame], wall: Option<i64>) -> Vec<Found> {
        // At first the offset comes from the wall clocks, or from the first number that is in both;
        // then it is the median over the packets found with that.
        let by_wall = wall.and_then(|wall| self.median_offset(frames, wall, APART));
        let by_first = || {
            let first = self.first_offset(frames)?;
            self.median_offset(frames, first, APART)
        };
        let Some(offset) = by_wall.or_else(by_first) else {
            return vec![Found::default(); frames.len()];
        };
        frames
            .iter()
            .map(|frame| self.packets_of(frame, offset))
            .collect()
    }

    /// All packets of a frame, with first transmissions before retransmissions.
    fn packets_of(&self, frame: &SessionFrame, offset: i64) -> Found {
        let mut found = Found::default();
        let (Some(rtp), Some(sent)) = (frame.rtp, frame.life.first_sent) else {
            return found;
        };
        for number in numbers(rtp) {
            match self.nearest(number, sent, offset, WITHIN) {
                Some(place) => found.packets.push(place),
                None => found.missing += 1,
            }
        }
        found
    }

    /// The packet with this number that came to the link nearest to its expected time, after it was
    /// sent at `sent`.
    fn nearest(
        &self,
        number: RtpPacket,
        sent: Time,
        offset: i64,
        within: TimeDelta,
    ) -> Option<usize> {
        let distance = |place: &usize| {
            let offered = self.packets[*place].offered;
            nanos(offered).abs_diff(nanos(sent).saturating_add(offset))
        };
        let places = self.places.get(&number)?.iter();
        let nearest = places.copied().min_by_key(distance)?;
        (distance(&nearest) <= within.as_nanos().unsigned_abs()).then_some(nearest)
    }

    /// The offset from the first frame that is found by its number alone.
    fn first_offset(&self, frames: &[SessionFrame]) -> Option<i64> {
        frames.iter().find_map(|frame| {
            let (number, sent) = first_number(frame)?;
            let place = *self.places.get(&number)?.first()?;
            Some(nanos(self.packets[place].offered).saturating_sub(nanos(sent)))
        })
    }

    /// The median of the offsets of frames' first packets, which are looked for near `offset`.
    fn median_offset(
        &self,
        frames: &[SessionFrame],
        offset: i64,
        within: TimeDelta,
    ) -> Option<i64> {
        let mut offsets: Vec<_> = frames
            .iter()
            .filter_map(|frame| {
                let (number, sent) = first_number(frame)?;
                let place = self.nearest(number, sent, offset, within)?;
                Some(nanos(self.packets[place].offered).saturating_sub(nanos(sent)))
            })
            .collect();
        offsets.sort_unstable();
        offsets.get(offsets.len() / 2).copied()
    }
}

/// A frame's first RTP number, and when that packet left.
fn first_number(frame: &SessionFrame) -> Option<(RtpPacket, Time)> {
    let (rtp, sent) = (frame.rtp?, frame.life.first_sent?);
    let number = RtpPacket {
        ssrc: rtp.ssrc,
        sequence: rtp.first.0,
    };
    Some((number, sent))
}

/// All RTP numbers of a frame.
fn numbers(rtp: FrameRtp) -> impl Iterator<Item = RtpPacket> {
    let first = rtp.sequences().map(move |sequence| RtpPacket {
        ssrc: rtp.ssrc,
        sequence: sequence.0,
    });
    let again = rtp.again.into_iter().flat_map(|again| {
        again.sequences().map(move |sequence| RtpPacket {
            ssrc: again.ssrc,
            sequence: sequence.0,
        })
    });
    first.take(MOST_PACKETS).chain(again)
}

/// The relation of the clocks; `None` if no packet was found.
fn clock(
    frames: &[SessionFrame],
    found: &[Found],
    packets: &[Passage<LinkPacket>],
    wall: Option<i64>,
) -> Option<ClockMatch> {
    let each = || frames.iter().zip(found);
    let offset = each().filter_map(|(frame, found)| {
        let sent = nanos(frame.life.first_sent?);
        let offered = found.packets.iter().map(|place| packets[*place].offered);
        Some(nanos(offered.min()?).saturating_sub(sent))
    });
    let offset = offset.min()?;
    // A frame with retransmissions may be acknowledged while a second copy is on its way.
    let once = each().filter(|(frame, found)| {
        found.missing == 0 && frame.rtp.is_some_and(|rtp| rtp.again.is_none())
    });
    let least = once.filter_map(|(frame, found)| {
        let acknowledged = frame.life.handed_over + frame.life.delay()?;
        let due = found
            .packets
            .iter()
            .filter_map(|place| match packets[*place].fate {
                Fate::Arrived(at) => Some(at),
                Fate::Dropped | Fate::Lost => None,
            });
        Some(nanos(due.max()?).saturating_sub(nanos(acknowledged)))
    });
    let millis = |nanos: i64| TimeDelta::from_nanos(nanos).as_millis();
    Some(ClockMatch {
        offset_ns: offset,
        at_most_over_ms: least
            .max()
            .map(|least| millis(offset.saturating_sub(least))),
        beside_wall_clocks_ms: wall.map(|wall| millis(offset.saturating_sub(wall))),
    })
}

/// A time as a signed number, of which differences can be taken.
pub(crate) fn nanos(time: Time) -> i64 {
    i64::try_from(time.as_nanos()).unwrap_or(i64::MAX)
}
