//! Puts packets together into frames, and hands a frame out as soon as a decoder can decode it.
//!
//! Each packet says to which frame it belongs, to what that frame refers, and whether the packet is
//! the frame's first or last (the [dependency descriptor](mimosa_rtp::dependency)). RTP sequence
//! numbers show what is missing in between. A whole frame is handed out at once if it is newer than
//! all frames handed out before, and is a keyframe or refers to one of them: no timer delays
//! anything. When a frame will never be whole, the host codes the next one with a reference to a
//! frame before it, and the stream continues there.
//!
//! A repair packet replaces any packet of its frame: a frame is whole once as many packets of both
//! kinds have come as the frame has media packets.

use std::collections::{BTreeMap, BTreeSet};

use mimosa_facts::{Codec, MediaSequence};
use mimosa_fec::{CodeError, decode};
use mimosa_rtp::dependency::{Dependency, Reference};
use mimosa_rtp::h264::ends_unit;
use mimosa_rtp::video::depacketise;
use mimosa_units::PeerTime;

/// Largest distance, in frame numbers, of an incomplete frame from the newest: two seconds at 120
/// frames a second, longer than any frame is waited for.
const MOST_OPEN: u64 = 240;
/// Number of frames handed out that are remembered as possible references. An encoder keeps 16 at
/// most, although a descriptor can reach further back.
const MOST_KEPT: usize = 64;
/// Most packets of one frame: those of a keyframe of 4 MB.
const MOST_PACKETS: u64 = 4096;

/// A media packet of a frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Piece {
    /// RTP number of the packet's first transmission.
    pub sequence: MediaSequence,
    /// RTP timestamp.
    pub timestamp: u32,
    /// The packet's place in its frame, and the frame's place in the stream.
    pub dependency: Dependency,
    /// When the packet came.
    pub at: PeerTime,
    /// The packet's payload, in the RTP format of its codec.
    pub payload: Vec<u8>,
}

/// A repair packet, which replaces any packet of its frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RepairPiece {
    /// RTP number just before that of the frame's first packet.
    pub before: MediaSequence,
    /// RTP timestamp.
    pub timestamp: u32,
    /// Low 16 bits of the frame's number.
    pub frame_number: u16,
    /// What the frame refers to.
    pub reference: Reference,
    /// Number of the frame's media packets.
    pub media: u8,
    /// The repair packet's place in the frame's code; the first follows the media packets.
    pub place: u8,
    /// When the packet came.
    pub at: PeerTime,
    /// The coded bytes (`mimosa-fec`).
    pub coded: Vec<u8>,
}

/// A whole frame, ready to be decoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Whole {
    /// The frame's number, continued beyond the 16 bits on the wire.
    pub number: u64,
    /// RTP timestamp.
    pub timestamp: u32,
    /// Whether the frame refers to no other.
    pub is_keyframe: bool,
    /// When the frame's first packet came.
    pub first: PeerTime,
    /// When the frame's last packet came.
    pub last: PeerTime,
    /// Number of the frame's media packets.
    pub packets: usize,
    /// The codec of the frame.
    pub codec: Codec,
    /// The frame as an access unit of its codec.
    pub access_unit: Vec<u8>,
}

/// The first units of a frame of H.264 that is not whole yet, ready to be decoded: slices, each of which
/// decodes without those that follow.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Slices {
    /// The frame's number, continued beyond the 16 bits on the wire.
    pub number: u64,
    /// Number of the frame's bytes before these.
    pub from: usize,
    /// The next bytes of the frame's access unit.
    pub units: Vec<u8>,
}

/// Counts of frames and packets by their fate.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Frames handed out.
    pub whole: u64,
    /// Frames of which part had come and that were skipped for a newer one.
    pub passed: u64,
    /// Frames, or sets of repair packets, that could not be put together.
    pub malformed: u64,
    /// Packets that came twice, or for a frame that had been handed out or skipped.
    pub useless: u64,
    /// Packets that were lost and recovered with repair packets.
    pub repaired: u64,
}

#[derive(Debug)]
struct Open {
    timestamp: u32,
    reference: Reference,
    /// RTP numbers of the frame's first and last packet, unwrapped, once known.
    first: Option<u64>,
    last: Option<u64>,
    packets: BTreeMap<u64, Piece>,
    /// The frame's code, once a repair packet has come.
    block: Option<Block>,
    /// RTP number of the packet after those handed out as [`Slices`], and the bytes handed out.
    out: Option<(u64, usize)>,
}

/// What repair packets say about their frame, and their contents.
#[derive(Debug)]
struct Block {
    /// RTP number of the frame's first packet, unwrapped.
    first: u64,
    frame_number: u16,
    media: usize,
    /// Coded bytes of the repair packets, by their place.
    repairs: BTreeMap<u8, Vec<u8>>,
}

impl Open {
    fn new(timestamp: u32, reference: Reference) -> Self {
        Self {
            timestamp,
            reference,
            first: None,
            last: None,
            packets: BTreeMap::new(),
            block: None,
            out: None,
        }
    }

    /// The units that have come since the last call without a gap from the frame's beginning.
    fn slices(&mut self, number: u64) -> Option<Slices> {
        let (begin, from) = self.out.or_else(|| Some((self.first?, 0)))?;
        let mut end = begin;
        for (next, (sequence, piece)) in (begin..).zip(self.packets.range(begin..)) {
            if next != *sequence {
                break;
            }
            if ends_unit(&piece.payload) {
                end = next + 1;
            }
        }
        let payloads = self.packets.range(begin..end);
        let payloads = payloads.map(|(_, piece)| piece.payload.as_slice());
        // What is malformed is found out when the frame is put together.
        let units = depacketise(Codec::H264, payloads).ok()?;
        if units.is_empty() {
            return None;
        }
        self.out = Some((end, from + units.len()));
        Some(Slices {
            number,
            from,
            units,
        })
    }

    /// Recovers missing packets if there are enough repair packets. Returns how many it recovered.
    fn repair(&mut self, at: PeerTime) -> Result<u64, CodeError> {
        let Some(block) = &self.block else {
            return Ok(0);
        };
        let (first, media) = (block.first, block.media);
        if media == 0 {
            return Ok(0);
        }
        let last = first + media as u64 - 1;
        let there: Vec<_> = self.packets.range(first..=last).collect();
        let lacking = media - there.len();
        if lacking == 0 || lacking > block.repairs.len() {
            return Ok(0);
        }
        let place = |sequence: u64| usize::try_from(sequence - first).unwrap_or(usize::MAX);
        let pieces = there
            .iter()
            .map(|(sequence, piece)| (place(**sequence), &piece.payload[..]));
        let repairs = block.repairs.iter();
        let repairs = repairs.map(|(place, coded)| (usize::from(*place), &coded[..]));
        let available: Vec<_> = pieces.chain(repairs).collect();
        let found = decode(media, &available)?;
        for (sequence, payload) in (first..).zip(found) {
            self.packets.entry(sequence).or_insert_with(|| Piece {
                sequence: MediaSequence::of(sequence),
                timestamp: self.timestamp,
                dependency: Dependency {
                    is_first: sequence == first,
                    is_last: sequence == last,
                    frame_number: block.frame_number,
                    reference: self.reference,
                },
                at,
                payload,
            });
        }
        (self.first, self.last) = (Some(first), Some(last));
        Ok(lacking as u64)
    }
    fn is_whole(&self) -> bool {
        let ends = self.first.zip(self.last);
        ends.is_some_and(|(first, last)| {
            last >= first && last - first + 1 == self.packets.len() as u64
        })
    }
}

/// Puts the frames of one stream together.
#[derive(Debug)]
pub struct Assembler {
    codec: Codec,
    frames: Counter,
    sequences: Counter,
    open: BTreeMap<u64, Open>,
    /// Numbers of the newest frames handed out, which later frames may refer to.
    given: BTreeSet<u64>,
    counts: Counts,
}

impl Assembler {
    /// An assembler for frames of this codec.
    #[must_use]
    pub fn new(codec: Codec) -> Self {
        Self {
            codec,
            frames: Counter::default(),
            sequences: Counter::default(),
            open: BTreeMap::new(),
            given: BTreeSet::new(),
            counts: Counts::default(),
        }
    }

    /// Counts of frames and packets so far.
    #[must_use]
    pub const fn counts(&self) -> Counts {
        self.counts
    }

    /// Number of frames that are incomplete or wait for their reference.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.open.len()
    }

    /// Number of packets kept for frames that are incomplete or wait for their reference.
    #[must_use]
    pub fn held(&self) -> usize {
        self.open.values().map(|open| open.packets.len()).sum()
    }

    /// Takes a packet. Returns the frames that can be decoded now, in order.
    pub fn packet(&mut self, piece: Piece) -> Vec<Whole> {
        let number = self.frames.unwrap(piece.dependency.frame_number);
        let sequence = self.sequences.unwrap(piece.sequence.0);
        let newest = self.given.last().copied();
        if newest.is_some_and(|newest| number <= newest) {
            self.counts.useless += 1;
            return Vec::new();
        }
        let (timestamp, reference) = (piece.timestamp, piece.dependency.reference);
        let open = self.open.entry(number);
        let open = open.or_insert_with(|| Open::new(timestamp, reference));
        if piece.dependency.is_first {
            open.first = Some(sequence);
        }
        if piece.dependency.is_last {
            open.last = Some(sequence);
        }
        let is_full = open.packets.len() as u64 >= MOST_PACKETS;
        let at = piece.at;
        if is_full || open.packets.insert(sequence, piece).is_some() {
            self.counts.useless += 1;
        }
        self.settle(number, at)
    }

    /// Takes a repair packet. Returns the frames that can be decoded now, in order.
    pub fn repair(&mut self, piece: RepairPiece) -> Vec<Whole> {
        let number = self.frames.unwrap(piece.frame_number);
        let first = self.sequences.unwrap(piece.before.0) + 1;
        let newest = self.given.last().copied();
        if newest.is_some_and(|newest| number <= newest) {
            // Not counted as useless: most repair packets come for frames that are already whole.
            return Vec::new();
        }
        let open = self.open.entry(number);
        let open = open.or_insert_with(|| Open::new(piece.timestamp, piece.reference));
        let block = open.block.get_or_insert_with(|| Block {
            first,
            frame_number: piece.frame_number,
            media: usize::from(piece.media),
            repairs: BTreeMap::new(),
        });
        let is_its = (first, usize::from(piece.media)) == (block.first, block.media);
        if is_its && block.media > 0 && usize::from(piece.place) >= block.media {
            block.repairs.insert(piece.place, piece.coded);
        } else {
            self.counts.useless += 1;
        }
        self.settle(number, piece.at)
    }

    /// The slices that have come since the last call of the frame that is decoded next, if it is not whole
    /// yet: it refers to a frame handed out, and no older one can become whole before it. The bytes of all
    /// slices of a frame are the beginning of its access unit. A frame may never become whole.
    pub fn slices(&mut self) -> Option<Slices> {
        if self.codec != Codec::H264 {
            return None;
        }
        let (&number, open) = self.open.iter_mut().next()?;
        let is_decodable = is_decodable(&self.given, number, open);
        is_decodable.then(|| open.slices(number))?
    }

    /// Repairs frame `number` if possible. Returns the frames that can be decoded now, in order.
    fn settle(&mut self, number: u64, at: PeerTime) -> Vec<Whole> {
        if let Some(open) = self.open.get_mut(&number) {
            match open.repair(at) {
                Ok(repaired) => self.counts.repaired += repaired,
                Err(error) => {
                    tracing::warn!(%error, number, "repair packets do not fit their frame");
                    self.counts.malformed += 1;
                    open.block = None;
                }
            }
        }
        let whole = self.decodable();
        self.forget(number);
        whole
    }

    /// Removes and returns the frames that can be decoded now, in order.
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

    /// The oldest frame that is whole and is a keyframe or refers to a frame handed out.
    fn next(&self) -> Option<u64> {
        let is_ready = |(number, open): &(&u64, &Open)| {
            open.is_whole() && is_decodable(&self.given, **number, open)
        };
        self.open.iter().find(is_ready).map(|(number, _)| *number)
    }

    fn put_together(&mut self, number: u64, open: &Open) -> Option<Whole> {
        let payloads = open.packets.values().map(|piece| piece.payload.as_slice());
        match depacketise(self.codec, payloads) {
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
                    codec: self.codec,
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

    /// Drops frames that are too far behind `number` to become whole.
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

/// Whether a frame is a keyframe or refers to a frame that was handed out.
fn is_decodable(given: &BTreeSet<u64>, number: u64, open: &Open) -> bool {
    match open.reference {
        Reference::None => true,
        Reference::Back(distance) => number
            .checked_sub(u64::from(distance))
            .is_some_and(|other| given.contains(&other)),
    }
}

/// Continues a 16-bit number beyond its range: each number is taken as the one nearest to the
/// newest.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    newest: Option<u64>,
}

impl Counter {
    pub(crate) fn unwrap(&mut self, wire: u16) -> u64 {
        // The first number begins far enough above zero that an older one can be counted, too.
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

    /// The packets of a frame whose RTP numbers begin with `sequence`.
    fn frame(number: u16, back: u16, sequence: u16, packets: u16) -> Vec<Piece> {
        let piece = |place| Piece {
            sequence: MediaSequence(sequence).plus(place),
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
        let mut assembler = Assembler::new(Codec::H264);
        let mut sequence = 65_530_u16;
        let mut back = 0;
        for number in [65_534, 65_535, 0, 1] {
            let mut pieces = frame(number, back, sequence, 5);
            // The packets come in any order, and one of them twice.
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

    /// A frame of three slices in packets of 100 bytes at most.
    fn sliced(number: u16, back: u16, sequence: u16) -> (Vec<Piece>, Vec<u8>) {
        let unit = |size| [&[0, 0, 0, 1, 0x41][..], &vec![7; size]].concat();
        let access_unit = [unit(250), unit(60), unit(130)].concat();
        let packetiser = mimosa_rtp::h264::Packetiser::new(mimosa_units::Bytes::new(100));
        let payloads = packetiser.packetise(&access_unit);
        let count = u16::try_from(payloads.len()).unwrap();
        let mut pieces = frame(number, back, sequence, count);
        for (piece, payload) in pieces.iter_mut().zip(payloads.iter()) {
            piece.payload = payload.to_vec();
        }
        (pieces, access_unit)
    }

    #[test]
    fn slices_come_out_in_order_as_soon_as_they_are_there() {
        let mut assembler = Assembler::new(Codec::H264);
        let (pieces, access_unit) = sliced(10, 0, 0);
        assert_eq!(pieces.len(), 6, "three, one and two packets");
        let mut handed = Vec::new();
        let mut after = Vec::new();
        // The last packet of the first slice comes after the second slice.
        for place in [0, 1, 3, 2, 4] {
            assert!(assembler.packet(pieces[place].clone()).is_empty());
            let slices = assembler.slices();
            if let Some(slices) = &slices {
                assert_eq!((slices.number % 65_536, slices.from), (10, handed.len()));
                handed.extend(&slices.units);
            }
            after.push(handed.len());
        }
        assert_eq!(after, [0, 0, 0, 255 + 65, 255 + 65]);
        let whole = assembler.packet(pieces[5].clone());
        assert_eq!(whole[0].access_unit, access_unit);
        assert!(access_unit.starts_with(&handed));
        assert_eq!(assembler.slices(), None);
    }

    #[test]
    fn slices_come_only_of_the_frame_that_is_decoded_next() {
        let mut assembler = Assembler::new(Codec::H264);
        let first = |assembler: &mut Assembler, number, back, sequence| {
            let (pieces, _) = sliced(number, back, sequence);
            for piece in pieces.into_iter().take(3) {
                assembler.packet(piece);
            }
            assembler.slices().map(|slices| slices.number % 65_536)
        };
        assert_eq!(numbers(&mut assembler, sliced(10, 0, 0).0), [10]);
        // The frame refers to one that is not there.
        assert_eq!(first(&mut assembler, 12, 1, 12), None);
        // Its reference is there, but an older frame may still become whole.
        assert_eq!(first(&mut assembler, 13, 3, 18), None);
        assert_eq!(first(&mut assembler, 11, 1, 6), Some(11));
        // A newer one passes it.
        let rest = sliced(13, 3, 18).0.split_off(3);
        assert_eq!(numbers(&mut assembler, rest), [13]);
        assert_eq!(assembler.slices(), None);
    }

    #[test]
    fn a_frame_waits_for_what_it_refers_to() {
        let mut assembler = Assembler::new(Codec::H264);
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
        let mut assembler = Assembler::new(Codec::H264);
        assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
        let mut lost = frame(11, 1, 2, 3);
        let missing = lost.remove(1);
        assert!(numbers(&mut assembler, lost).is_empty());
        assert!(numbers(&mut assembler, frame(12, 1, 5, 1)).is_empty());
        assert_eq!(numbers(&mut assembler, frame(13, 3, 6, 1)), [13]);
        // The packet comes too late: a newer frame was decoded without its frame.
        assert!(numbers(&mut assembler, [missing]).is_empty());
        assert_eq!(numbers(&mut assembler, frame(14, 1, 7, 1)), [14]);
        let counts = assembler.counts();
        assert_eq!((counts.whole, counts.passed, counts.useless), (3, 2, 1));
    }

    #[test]
    fn a_keyframe_begins_anew() {
        let mut assembler = Assembler::new(Codec::H264);
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
        let mut assembler = Assembler::new(Codec::H264);
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

    /// Repair packets of a frame, coded as the host's store codes them.
    fn repairs(media: &[Piece], count: usize) -> Vec<RepairPiece> {
        let payloads: Vec<_> = media.iter().map(|piece| &piece.payload[..]).collect();
        let coded = mimosa_fec::encode(&payloads, count).unwrap();
        let piece = |(number, coded)| RepairPiece {
            before: media[0].sequence.minus(1),
            timestamp: media[0].timestamp,
            frame_number: media[0].dependency.frame_number,
            reference: media[0].dependency.reference,
            media: u8::try_from(media.len()).unwrap(),
            place: u8::try_from(media.len() + number).unwrap(),
            at: PeerTime::from_nanos(77),
            coded,
        };
        coded.into_iter().enumerate().map(piece).collect()
    }

    #[test]
    fn any_packets_enough_make_a_frame_whole() {
        let whole = |keep: &[usize]| {
            let mut assembler = Assembler::new(Codec::H264);
            assert_eq!(numbers(&mut assembler, frame(10, 0, 65_530, 2)), [10]);
            let media = frame(11, 1, 65_532, 5);
            let repair = repairs(&media, 3);
            let mut given = Vec::new();
            for &place in keep {
                given.extend(match media.get(place) {
                    Some(piece) => assembler.packet(piece.clone()),
                    None => assembler.repair(repair[place - 5].clone()),
                });
            }
            assert_eq!(assembler.counts().malformed, 0);
            (given, assembler.counts().repaired)
        };
        let (plain, repaired) = whole(&[0, 1, 2, 3, 4]);
        assert_eq!(repaired, 0);
        for keep in [
            [0, 1, 3, 4, 7],
            [5, 0, 2, 6, 7],
            [7, 1, 2, 3, 4],
            [5, 6, 7, 1, 3],
        ] {
            let (given, repaired) = whole(&keep);
            assert_eq!(given.len(), 1, "{keep:?}");
            assert_eq!(given[0].access_unit, plain[0].access_unit);
            assert_eq!(
                repaired,
                keep.iter().filter(|place| **place > 4).count() as u64
            );
        }
        // One packet less is not enough.
        assert!(whole(&[0, 1, 3, 7]).0.is_empty());
    }

    #[test]
    fn a_frame_of_which_nothing_else_comes_is_whole_by_its_repair_packets() {
        let mut assembler = Assembler::new(Codec::H264);
        assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
        let lost = frame(11, 1, 2, 1);
        let whole = assembler.repair(repairs(&lost, 1).remove(0));
        assert_eq!((whole.len(), whole[0].number % 65_536), (1, 11));
        assert_eq!(
            whole[0].last,
            PeerTime::from_nanos(77),
            "when it was repaired"
        );
        assert_eq!(numbers(&mut assembler, frame(12, 1, 3, 1)), [12]);
    }

    #[test]
    fn repair_packets_that_contradict_each_other_spoil_nothing() {
        let mut assembler = Assembler::new(Codec::H264);
        assert_eq!(numbers(&mut assembler, frame(10, 0, 0, 2)), [10]);
        let media = frame(11, 1, 2, 4);
        let good = repairs(&media, 2);
        let mut other = good[1].clone();
        other.media = 3;
        assert!(assembler.repair(good[0].clone()).is_empty());
        assert!(assembler.repair(other).is_empty());
        assert_eq!(assembler.counts().useless, 1);
        // The coded bytes do not fit the other packets: the sum is not a packet.
        let mut broken = good[1].clone();
        broken.coded.truncate(3);
        assert!(assembler.repair(broken).is_empty());
        assert!(numbers(&mut assembler, media[..2].to_vec()).is_empty());
        assert_eq!(assembler.counts().malformed, 1);
        // The lost packets are sent again, and the frame becomes whole.
        assert_eq!(numbers(&mut assembler, media[2..].to_vec()), [11]);
    }

    /// Whatever packets and repair packets come, nothing panics, and memory is bounded.
    #[test]
    fn whatever_comes_is_borne() {
        let mut assembler = Assembler::new(Codec::H264);
        let mut state = 1_u64;
        let mut below = |limit: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % limit
        };
        let mut whole = 0;
        for step in 0..40_000_u64 {
            let frame_number = u16::try_from((step / 40 + below(6)) % 65_536).unwrap();
            let reference = match below(3) {
                0 => Reference::None,
                back => Reference::Back(u16::try_from(back).unwrap()),
            };
            let sequence = MediaSequence::of(step / 10 + below(8));
            let payload: Vec<u8> = (0..below(12))
                .map(|_| u8::try_from(below(256)).unwrap())
                .collect();
            let at = PeerTime::from_nanos(step.cast_signed());
            let given = if below(3) == 0 {
                assembler.repair(RepairPiece {
                    before: sequence,
                    timestamp: 0,
                    frame_number,
                    reference,
                    media: u8::try_from(below(5)).unwrap(),
                    place: u8::try_from(below(8)).unwrap(),
                    at,
                    coded: payload,
                })
            } else {
                let (is_first, is_last) = (below(2) == 0, below(2) == 0);
                assembler.packet(Piece {
                    sequence,
                    timestamp: 0,
                    dependency: Dependency {
                        is_first,
                        is_last,
                        frame_number,
                        reference,
                    },
                    at,
                    payload,
                })
            };
            whole += given.len();
        }
        assert!(whole > 100, "{whole}");
        assert!(assembler.open.len() as u64 <= MOST_OPEN + 1);
    }
}
