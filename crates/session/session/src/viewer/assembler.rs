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

use std::collections::btree_map::Entry;
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
/// Most bytes that are kept for incomplete frames: three of the largest keyframes. A viewer's memory must not
/// depend on what a host sends.
const MOST_HELD: usize = 16 << 20;
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
    /// Bytes that the packets and the repair packets take.
    bytes: usize,
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
            bytes: 0,
            block: None,
            out: None,
        }
    }

    /// Keeps a packet, unless it is there already. Returns whether it was not.
    fn insert(&mut self, sequence: u64, piece: Piece) -> bool {
        let Entry::Vacant(place) = self.packets.entry(sequence) else {
            return false;
        };
        self.bytes += size_of::<Piece>() + piece.payload.len();
        place.insert(piece);
        true
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
        let frame_number = block.frame_number;
        for (sequence, payload) in (first..).zip(found) {
            let dependency = Dependency {
                is_first: sequence == first,
                is_last: sequence == last,
                frame_number,
                reference: self.reference,
            };
            let piece = Piece {
                sequence: MediaSequence::of(sequence),
                timestamp: self.timestamp,
                dependency,
                at,
                payload,
            };
            self.insert(sequence, piece);
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
        if is_full || !open.insert(sequence, piece) {
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
        let is_repair = is_its && block.media > 0 && usize::from(piece.place) >= block.media;
        if is_repair && let Entry::Vacant(place) = block.repairs.entry(piece.place) {
            open.bytes += piece.coded.len();
            place.insert(piece.coded);
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

    /// Drops frames that are too far behind `number` to become whole, and the oldest while more is kept than
    /// may be.
    fn forget(&mut self, number: u64) {
        let oldest = number.saturating_sub(MOST_OPEN);
        let mut bytes: usize = self.open.values().map(|open| open.bytes).sum();
        // A hostile host's numbers may fall: then no frame is too far behind, however many there are.
        let mut frames = self.open.len() as u64;
        while let Some(entry) = self.open.first_entry() {
            if *entry.key() >= oldest && bytes <= MOST_HELD && frames <= MOST_OPEN {
                break;
            }
            bytes -= entry.remove().bytes;
            frames -= 1;
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
mod tests;
