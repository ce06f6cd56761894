//! Packets become frames again, and frames are decoded as soon as what they refer to has
//! been.
//!
//! Each packet says which frame it is of, what that frame refers to, and whether it is the
//! first or the last of it (the [dependency descriptor](mimosa_wire::dependency)); RTP
//! sequence numbers say what is missing in between. A frame that is whole is given out at
//! once if it is a keyframe or refers to one that was given out, and is newer than all that
//! were: no timer waits for anything. So the frame after one that will never be whole goes
//! on from the one before it, as the host has coded it.

use std::collections::{BTreeMap, BTreeSet};

use mimosa_units::PeerTime;
use mimosa_wire::dependency::{Dependency, Reference};
use mimosa_wire::h264::depacketise;

/// Frames that may be incomplete at once: two seconds at 120 frames a second, longer than
/// any is waited for.
const MOST_OPEN: u64 = 240;
/// Frames given out that may be referred to: a descriptor reaches further back, an encoder
/// keeps 16 at most.
const MOST_KEPT: usize = 64;
/// Packets of one frame: a keyframe of 4 MB.
const MOST_PACKETS: u64 = 4096;

/// A packet of a frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Piece {
    /// RTP sequence number that it had at first.
    pub sequence: u16,
    /// RTP timestamp.
    pub timestamp: u32,
    /// Its place, and its frame's.
    pub dependency: Dependency,
    /// When it came.
    pub at: PeerTime,
    /// What it has in it (RFC 6184).
    pub payload: Vec<u8>,
}

/// A frame to decode.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Whole {
    /// Its number, counted on from the first one's 16 bits.
    pub number: u64,
    /// RTP timestamp.
    pub timestamp: u32,
    /// It refers to no other.
    pub is_keyframe: bool,
    /// When its first packet came.
    pub first: PeerTime,
    /// When its last one did.
    pub last: PeerTime,
    /// How many packets it had.
    pub packets: usize,
    /// It in annex B form.
    pub access_unit: Vec<u8>,
}

/// What has become of frames.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Given out.
    pub whole: u64,
    /// Passed over: a newer one was given out, and part of them had come.
    pub passed: u64,
    /// Whose payloads make no access unit.
    pub malformed: u64,
    /// Packets that came twice, or for a frame passed over.
    pub useless: u64,
}

#[derive(Debug)]
struct Open {
    timestamp: u32,
    reference: Reference,
    /// Sequence numbers, unwrapped.
    first: Option<u64>,
    last: Option<u64>,
    packets: BTreeMap<u64, Piece>,
}

impl Open {
    fn is_whole(&self) -> bool {
        let ends = self.first.zip(self.last);
        ends.is_some_and(|(first, last)| {
            last >= first && last - first + 1 == self.packets.len() as u64
        })
    }
}

/// Puts frames together.
#[derive(Debug, Default)]
pub struct Assembler {
    frames: Counter,
    sequences: Counter,
    open: BTreeMap<u64, Open>,
    /// Those given out, the newest ones.
    given: BTreeSet<u64>,
    counts: Counts,
}

impl Assembler {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What has become of frames so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Frames of which part has come, or which wait for others.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.open.len()
    }

    /// Takes a packet, and gives the frames that can be decoded now, in order.
    pub fn packet(&mut self, piece: Piece) -> Vec<Whole> {
        let number = self.frames.unwrap(piece.dependency.frame_number);
        let sequence = self.sequences.unwrap(piece.sequence);
        let newest = self.given.last().copied();
        if newest.is_some_and(|newest| number <= newest) {
            self.counts.useless += 1;
            return Vec::new();
        }
        let open = self.open.entry(number).or_insert_with(|| Open {
            timestamp: piece.timestamp,
            reference: piece.dependency.reference,
            first: None,
            last: None,
            packets: BTreeMap::new(),
        });
        if piece.dependency.is_first {
            open.first = Some(sequence);
        }
        if piece.dependency.is_last {
            open.last = Some(sequence);
        }
        let is_full = open.packets.len() as u64 >= MOST_PACKETS;
        if is_full || open.packets.insert(sequence, piece).is_some() {
            self.counts.useless += 1;
        }
        let whole = self.decodable();
        self.forget(number);
        whole
    }

    /// Takes out what can be decoded now.
    fn decodable(&mut self) -> Vec<Whole> {
        let mut all = Vec::new();
        while let Some(number) = self.next() {
            let Some(open) = self.open.remove(&number) else {
                break;
            };
            if let Some(whole) = self.put_together(number, &open) {
                all.push(whole);
                self.given.insert(number);
                if self.given.len() > MOST_KEPT {
                    self.given.pop_first();
                }
                let older = self.open.range(..number).count() as u64;
                self.counts.passed += older;
                self.open = self.open.split_off(&number);
            }
        }
        all
    }

    /// The oldest frame that is whole and refers to nothing, or to one given out.
    fn next(&self) -> Option<u64> {
        let is_ready = |(number, open): &(&u64, &Open)| {
            open.is_whole()
                && match open.reference {
                    Reference::None => true,
                    Reference::Back(distance) => number
                        .checked_sub(u64::from(distance))
                        .is_some_and(|other| self.given.contains(&other)),
                }
        };
        self.open.iter().find(is_ready).map(|(number, _)| *number)
    }

    fn put_together(&mut self, number: u64, open: &Open) -> Option<Whole> {
        let payloads = open.packets.values().map(|piece| piece.payload.as_slice());
        match depacketise(payloads) {
            Ok(access_unit) => {
                let times = open.packets.values().map(|piece| piece.at);
                self.counts.whole += 1;
                Some(Whole {
                    number,
                    timestamp: open.timestamp,
                    is_keyframe: open.reference == Reference::None,
                    first: times.clone().min()?,
                    last: times.max()?,
                    packets: open.packets.len(),
                    access_unit,
                })
            }
            Err(error) => {
                tracing::warn!(%error, number, "a frame's packets make no access unit");
                self.counts.malformed += 1;
                None
            }
        }
    }

    /// Lets go of what is too far from `number` to come.
    fn forget(&mut self, number: u64) {
        let oldest = number.saturating_sub(MOST_OPEN);
        while let Some(entry) = self.open.first_entry() {
            if *entry.key() >= oldest {
                break;
            }
            entry.remove();
            self.counts.passed += 1;
        }
    }
}

/// Counts on beyond 16 bits: a number is taken as the one nearest to the newest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    newest: Option<u64>,
}

impl Counter {
    pub(crate) fn unwrap(&mut self, wire: u16) -> u64 {
        // So far above zero that an older one has a number, too.
        let newest = self.newest.unwrap_or((1 << 16) + u64::from(wire));
        #[expect(clippy::cast_possible_truncation, reason = "the low 16 bits are meant")]
        let step = wire.wrapping_sub(newest as u16).cast_signed();
        let number = newest.saturating_add_signed(i64::from(step));
        self.newest = Some(newest.max(number));
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of so many packets, numbered from `sequence` on.
    fn frame(number: u16, back: u16, sequence: u16, packets: u16) -> Vec<Piece> {
        let piece = |place| Piece {
            sequence: sequence.wrapping_add(place),
            timestamp: u32::from(number) * 1_500,
            dependency: Dependency {
                is_first: place == 0,
                is_last: place + 1 == packets,
                frame_number: number,
                reference: match back {
                    0 => Reference::None,
                    back => Reference::Back(back),
                },
            },
            at: PeerTime::from_nanos(i64::from(number) * 1_000 + i64::from(place)),
            payload: vec![0x41, u8::try_from(number % 256).unwrap(), 9],
        };
        (0..packets).map(piece).collect()
    }

    fn numbers(assembler: &mut Assembler, pieces: impl IntoIterator<Item = Piece>) -> Vec<u16> {
        let whole = pieces
            .into_iter()
            .flat_map(|piece| assembler.packet(piece))
            .collect::<Vec<_>>();
        let low = |number: u64| u16::try_from(number % 65_536).unwrap();
        whole.iter().map(|whole| low(whole.number)).collect()
    }

    #[test]
    fn frames_come_whole_and_once_across_the_wrap() {
        let mut assembler = Assembler::new();
        let mut sequence = 65_530_u16;
        let mut back = 0;
        for number in [65_534, 65_535, 0, 1] {
            let mut pieces = frame(number, back, sequence, 5);
            // In any order, and one of them twice.
            pieces.swap(0, 3);
            pieces.push(pieces[1].clone());
            let before = &pieces[..4];
            assert!(numbers(&mut assembler, before.to_vec()).is_empty());
            let whole = assembler.packet(pieces[4].clone());
            assert_eq!(whole.len(), 1);
            assert_eq!((whole[0].packets, whole[0].is_keyframe), (5, back == 0));
            assert_eq!(
                whole[0].last - whole[0].first,
                mimosa_units::TimeDelta::from_nanos(4)
            );
            assert_eq!(whole[0].access_unit.len(), 5 * 7);
            assert!(numbers(&mut assembler, [pieces[5].clone()]).is_empty());
            sequence = sequence.wrapping_add(5);
            back = 1;
        }
        let counts = assembler.counts();
        assert_eq!((counts.whole, counts.passed, counts.useless), (4, 0, 4));
    }

    #[test]
    fn a_frame_waits_for_what_it_refers_to() {
        let mut assembler = Assembler::new();
        assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
        let mut late = frame(11, 1, 2, 3);
        let missing = late.remove(1);
        assert!(numbers(&mut assembler, late).is_empty());
        assert!(numbers(&mut assembler, frame(12, 1, 5, 1)).is_empty());
        assert!(numbers(&mut assembler, frame(13, 1, 6, 1)).is_empty());
        assert_eq!(numbers(&mut assembler, [missing]), [11, 12, 13]);
    }

    #[test]
    fn what_does_without_a_lost_frame_goes_on_at_once() {
        let mut assembler = Assembler::new();
        assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
        let mut lost = frame(11, 1, 2, 3);
        let missing = lost.remove(1);
        assert!(numbers(&mut assembler, lost).is_empty());
        assert!(numbers(&mut assembler, frame(12, 1, 5, 1)).is_empty());
        assert_eq!(numbers(&mut assembler, frame(13, 3, 6, 1)), [13]);
        // Too late: it was done without.
        assert!(numbers(&mut assembler, [missing]).is_empty());
        assert_eq!(numbers(&mut assembler, frame(14, 1, 7, 1)), [14]);
        let counts = assembler.counts();
        assert_eq!((counts.whole, counts.passed, counts.useless), (3, 2, 1));
    }

    #[test]
    fn a_keyframe_begins_anew() {
        let mut assembler = Assembler::new();
        assert!(
            numbers(&mut assembler, frame(9, 1, 0, 1)).is_empty(),
            "refers to nothing"
        );
        assert_eq!(numbers(&mut assembler, frame(12, 0, 4, 1)), [12]);
        assert_eq!(assembler.counts().passed, 1);
        assert_eq!(numbers(&mut assembler, frame(13, 1, 5, 1)), [13]);
    }

    #[test]
    fn what_never_becomes_whole_is_forgotten() {
        let mut assembler = Assembler::new();
        for number in 0..2_000_u16 {
            let pieces = frame(number, 1, number * 2, 2);
            assert!(numbers(&mut assembler, pieces.into_iter().take(1)).is_empty());
        }
        assert!(assembler.open.len() as u64 <= MOST_OPEN + 1);
        let mut piece = frame(5_000, 0, 9_000, 1);
        piece[0].payload = Vec::new();
        assert!(numbers(&mut assembler, piece).is_empty());
        assert_eq!(assembler.counts().malformed, 1);
    }
}
