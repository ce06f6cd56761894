//! Stores the packets of the latest frames in the form in which a browser gets them.
//!
//! The sender names packets by frame and place. The store has their bytes, their RTP numbers and
//! their streams. First transmissions are on the media stream and are numbered as they leave, so
//! that a frame given up before it left makes no gap. Retransmissions (RFC 4588) and probes are on
//! a second stream. The smallest probe has no payload there: a receiver finds no original sequence number in
//! it and drops it, but reports its arrival like any other. A larger one is filler that repeats a packet
//! which nobody lacks. Repair packets of our own format
//! ([`mimosa_rtp::repair`]) are on the second stream as well; those that browsers know
//! ([`mimosa_rtp::flexfec`]) are on a third.

use std::collections::VecDeque;

use mimosa_facts::{
    Codec, FecSequence, FrameId, MediaSequence, PacketKind, RtxSequence, StreamSequence,
};
use mimosa_fec::xor;
use mimosa_rtp::dependency::{Dependency, Reference};
use mimosa_rtp::flexfec::{header_length, protect, zero_extension};
use mimosa_rtp::repair::Repair;
use mimosa_rtp::rtx;
use mimosa_rtp::video::{Payloads, filler_of};
use mimosa_stream::Outgoing;

use crate::peer::OVERHEAD;

/// Time for which frames are kept for retransmission unless they arrive before, in ticks of RTP's clock of 90 kHz: two
/// seconds, in which 20 Mbit/s are 5 MB. Our choice: longer than anybody waits for a picture of a game.
const LONGEST_KEPT: u32 = 180_000;
/// Most frames that are kept: two seconds at 240 frames a second.
const MOST_FRAMES: usize = 480;
/// Number of packets whose numbers are remembered: half a second at 200 Mbit/s.
const MOST_PACKETS: usize = 8192;

/// Number of packets after which one is forgotten everywhere: libwebrtc's buffer has room for 2048
/// (`kPacketBufferMaxSize` in `video/rtp_video_stream_receiver2.cc`), and 16 bits can count four times
/// as many as these.
const OLD: u64 = 16_000;

/// The RTP stream of a packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stream {
    /// The stream of first transmissions.
    Media,
    /// The stream of retransmissions, probes and repair packets of our own format.
    Retransmission,
    /// The stream of `FlexFEC` packets.
    Repair,
}

/// The format of repair packets.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Repairs {
    /// No format: repair packets are as empty as probes.
    None,
    /// Our own format, [`mimosa_rtp::repair`].
    Own,
    /// [`mimosa_rtp::flexfec`], which protects whole packets of the stream with this SSRC, except
    /// this header extension.
    Flexfec { ssrc: u32, extension: u8 },
}

/// An RTP packet, without what the peer adds.
#[derive(Debug, PartialEq)]
pub(crate) struct Packet {
    pub(crate) stream: Stream,
    /// RTP number, unwrapped.
    pub(crate) sequence: u64,
    /// RTP timestamp.
    pub(crate) timestamp: u32,
    /// Whether the packet is the last of its frame.
    pub(crate) marker: bool,
    pub(crate) payload: Vec<u8>,
    /// What the packet's frame refers to; a probe has none.
    pub(crate) dependency: Option<Dependency>,
    /// Whether the packet carries part of its frame, or replaces one.
    pub(crate) has_frame: bool,
}

impl Packet {
    /// Stream and number of the packet on the wire.
    pub(crate) const fn number(&self) -> StreamSequence {
        match self.stream {
            Stream::Media => StreamSequence::Media(MediaSequence::of(self.sequence)),
            Stream::Retransmission => StreamSequence::Rtx(RtxSequence::of(self.sequence)),
            Stream::Repair => StreamSequence::Fec(FecSequence::of(self.sequence)),
        }
    }
}

#[derive(Debug)]
struct Frame {
    id: FrameId,
    timestamp: u32,
    reference: Reference,
    payloads: Payloads,
    /// Whether `payloads` are all.
    is_whole: bool,
    /// RTP number of each packet that has left, unwrapped.
    sequences: Vec<Option<u64>>,
    /// For `FlexFEC`, for each packet: a bit set of the repair packets that protect it, and its RTP
    /// header once it has left.
    columns: Vec<u32>,
    headers: Vec<Vec<u8>>,
}

impl Frame {
    /// Makes room for the headers of packets that leave before it is known how many repair packets
    /// protect them.
    fn keep(&mut self, keeps_headers: bool) {
        if keeps_headers {
            self.headers.resize(self.payloads.len(), Vec::new());
        }
    }

    /// Repair packet `number` in our own format. The RTP number of the frame's first packet is
    /// `first`.
    fn own_repair(&self, first: u64, number: usize) -> Option<Vec<u8>> {
        let media = self.payloads.len();
        let payloads: Vec<&[u8]> = self.payloads.iter().collect();
        let coded = mimosa_fec::repair(&payloads, number).ok()?;
        #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
        let (before, frame) = (first.wrapping_sub(1) as u16, self.id.0 as u16);
        let repair = Repair {
            before,
            place: u8::try_from(media + number).ok()?,
            media: u8::try_from(media).ok()?,
            frame,
            distance: match self.reference {
                Reference::None => 0,
                Reference::Back(distance) => distance,
            },
            coded: &coded,
        };
        Some(repair.to_bytes())
    }

    /// Repair packet `number` as an exclusive or of whole packets of the stream `ssrc`.
    fn flexfec(&self, ssrc: u32, first: u64, number: usize) -> Option<Vec<u8>> {
        let is_in = |place: &usize| self.columns[*place] >> number & 1 == 1;
        let packets = (0..self.columns.len()).filter(is_in).map(|place| {
            // The header of a packet that has not left is unknown.
            let header = self
                .headers
                .get(place)
                .filter(|header| !header.is_empty())?;
            let payload = self.payloads.get(place)?;
            Some((place, [header, payload].concat()))
        });
        let packets: Vec<(usize, Vec<u8>)> = packets.collect::<Option<_>>()?;
        let packets: Vec<(usize, &[u8])> = packets
            .iter()
            .map(|(place, packet)| (*place, packet.as_slice()))
            .collect();
        #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
        let base = first as u16;
        protect(ssrc, base, &packets)
    }
}

/// The packets of the latest frames.
#[derive(Debug)]
pub(crate) struct Store {
    codec: Codec,
    frames: VecDeque<Frame>,
    first_media: u64,
    next_media: u64,
    /// Frame and place of the latest packets on the media stream, up to `next_media`.
    sent: VecDeque<Option<(FrameId, u32)>>,
    next_retransmission: u64,
    next_repair: u64,
    has_retransmissions: bool,
    repairs: Repairs,
}

impl Store {
    /// An empty store. RTP numbers begin at `first`.
    pub(crate) fn new(codec: Codec, first: u16, has_retransmissions: bool) -> Self {
        Self {
            codec,
            frames: VecDeque::new(),
            first_media: u64::from(first),
            next_media: u64::from(first),
            sent: VecDeque::new(),
            next_retransmission: u64::from(first),
            next_repair: u64::from(first),
            has_retransmissions,
            repairs: Repairs::None,
        }
    }

    /// Sets the format of repair packets from now on.
    pub(crate) fn set_repairs(&mut self, repairs: Repairs) {
        self.repairs = repairs;
    }

    /// Says how many repair packets the frame inserted last has.
    pub(crate) fn protect(&mut self, id: FrameId, repairs: u32) {
        let is_flexfec = matches!(self.repairs, Repairs::Flexfec { .. });
        let newest = self.frames.back_mut();
        if let Some(frame) = newest.filter(|frame| is_flexfec && repairs > 0 && frame.id == id) {
            let media = frame.payloads.len();
            frame.columns = xor::columns(media, repairs as usize);
            frame.headers.resize(media, Vec::new());
        }
    }

    /// Inserts the first part of a frame, as [`Self::insert`] a whole one.
    pub(crate) fn begin(
        &mut self,
        id: FrameId,
        timestamp: u32,
        reference: Option<FrameId>,
        payloads: Payloads,
    ) {
        self.insert(id, timestamp, reference, payloads);
        let keeps_headers = matches!(self.repairs, Repairs::Flexfec { .. });
        if let Some(frame) = self.frames.back_mut() {
            frame.is_whole = false;
            frame.keep(keeps_headers);
        }
    }

    /// Adds the next part of the frame begun last; with `repairs`, their number, it is the last part.
    pub(crate) fn extend(&mut self, id: FrameId, payloads: &Payloads, repairs: Option<u32>) {
        let keeps_headers = matches!(self.repairs, Repairs::Flexfec { .. });
        let newest = self.frames.back_mut();
        let Some(frame) = newest.filter(|frame| frame.id == id && !frame.is_whole) else {
            return;
        };
        frame.payloads.append(payloads);
        frame.sequences.resize(frame.payloads.len(), None);
        frame.keep(keeps_headers);
        if let Some(repairs) = repairs {
            frame.is_whole = true;
            if repairs == 0 {
                frame.headers.clear();
            }
            self.protect(id, repairs);
        }
    }

    /// Takes a datagram that leaves, and remembers its RTP header, which SRTP leaves in the clear
    /// (RFC 3711, section 3.1).
    pub(crate) fn left(&mut self, datagram: &[u8]) {
        let Repairs::Flexfec { ssrc, extension } = self.repairs else {
            return;
        };
        let &[_, _, high, low, _, _, _, _, ref own @ ..] = datagram else {
            return;
        };
        let Some((frame, index)) = self.named(MediaSequence(u16::from_be_bytes([high, low])))
        else {
            return;
        };
        let header = header_length(datagram).filter(|_| own.starts_with(&ssrc.to_be_bytes()));
        let position = self.frames.binary_search_by_key(&frame, |frame| frame.id);
        if let (Some(length), Ok(position)) = (header, position)
            && let Some(place) = self.frames[position].headers.get_mut(index as usize)
        {
            *place = datagram[..length].to_vec();
            zero_extension(place, extension);
        }
    }

    /// Inserts a frame. `timestamp` is its RTP timestamp in 1/90000 s; `reference` is the frame to
    /// which it refers, `None` for a keyframe.
    pub(crate) fn insert(
        &mut self,
        id: FrameId,
        timestamp: u32,
        reference: Option<FrameId>,
        payloads: Payloads,
    ) {
        let is_old = |kept: &Frame| {
            let age = timestamp.wrapping_sub(kept.timestamp);
            // Beyond half of what 32 bits count it is the other frame that is older.
            (LONGEST_KEPT..1 << 31).contains(&age)
        };
        while self.frames.len() == MOST_FRAMES || self.frames.front().is_some_and(is_old) {
            self.frames.pop_front();
        }
        let sequences = vec![None; payloads.len()];
        self.frames.push_back(Frame {
            id,
            timestamp,
            reference: reference.map_or(Reference::None, |reference| {
                let distance = id.0.saturating_sub(reference.0);
                Reference::Back(u16::try_from(distance).unwrap_or(u16::MAX))
            }),
            payloads,
            is_whole: true,
            sequences,
            columns: Vec::new(),
            headers: Vec::new(),
        });
    }

    /// Forgets what a frame contains, all of which has arrived. Its number and its time are known as before.
    pub(crate) fn arrived(&mut self, id: FrameId) {
        let position = self.frames.binary_search_by_key(&id, |frame| frame.id);
        let known = position.ok().and_then(|at| self.frames.get_mut(at));
        if let Some(frame) = known.filter(|frame| frame.is_whole) {
            frame.payloads = Payloads::default();
            frame.sequences = Vec::new();
            frame.columns = Vec::new();
            frame.headers = Vec::new();
        }
    }

    /// The packet that the sender names. If its frame is forgotten, or there is no stream on which
    /// to send it again, the packet is as empty as a probe, so that what the sender has counted is
    /// on the wire.
    pub(crate) fn packet(&mut self, outgoing: &Outgoing) -> Packet {
        let known = match outgoing.kind {
            PacketKind::Probe => None,
            // A repair packet can be sent again, or in place of a retransmission.
            PacketKind::Repair => self.repair(outgoing),
            PacketKind::Retransmission if self.is_beyond(outgoing) => self.repair(outgoing),
            PacketKind::Media | PacketKind::Retransmission => self.known(outgoing),
        };
        known.unwrap_or_else(|| self.probe(outgoing))
    }

    fn known(&mut self, outgoing: &Outgoing) -> Option<Packet> {
        let index = usize::try_from(outgoing.index).ok()?;
        let has_retransmissions = self.has_retransmissions;
        let position = self
            .frames
            .binary_search_by_key(&outgoing.frame, |frame| frame.id)
            .ok()?;
        let frame = self.frames.get_mut(position)?;
        let payload = frame.payloads.get(index)?;
        let sent = frame.sequences.get_mut(index)?;
        let mut packet = Packet {
            stream: Stream::Media,
            sequence: 0,
            timestamp: frame.timestamp,
            marker: frame.is_whole && index + 1 == frame.payloads.len(),
            payload: Vec::new(),
            dependency: Some(Dependency {
                is_first: index == 0,
                is_last: frame.is_whole && index + 1 == frame.payloads.len(),
                #[expect(clippy::cast_possible_truncation, reason = "the low 16 bits are meant")]
                frame_number: frame.id.0 as u16,
                reference: frame.reference,
            }),
            has_frame: true,
        };
        match (outgoing.kind, *sent) {
            (PacketKind::Retransmission, Some(original)) if has_retransmissions => {
                packet.stream = Stream::Retransmission;
                packet.sequence = self.next_retransmission;
                self.next_retransmission += 1;
                #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
                let original = original as u16;
                packet.payload = rtx::write(original, payload);
            }
            (PacketKind::Retransmission, _) => return None,
            _ => {
                packet.sequence = self.next_media;
                *sent = Some(packet.sequence);
                packet.payload = payload.to_vec();
                let place = (frame.id, outgoing.index);
                self.count_media(Some(place));
            }
        }
        Some(packet)
    }

    /// A repair packet, computed from the packets of its frame, which have left with consecutive
    /// numbers.
    fn repair(&mut self, outgoing: &Outgoing) -> Option<Packet> {
        let frame = self.frame(outgoing.frame)?;
        let (first, last) = (frame.sequences.first()?, frame.sequences.last()?);
        let media = frame.payloads.len();
        let first = first.filter(|first| *last == Some(first + media as u64 - 1))?;
        let place = usize::try_from(outgoing.index).ok()?;
        let number = place.checked_sub(media)?;
        let payload = match self.repairs {
            Repairs::None => return None,
            Repairs::Own => frame.own_repair(first, number)?,
            Repairs::Flexfec { ssrc, .. } => frame.flexfec(ssrc, first, number)?,
        };
        let (timestamp, is_own) = (frame.timestamp, self.repairs == Repairs::Own);
        let (stream, next) = if is_own {
            (Stream::Retransmission, &mut self.next_retransmission)
        } else {
            (Stream::Repair, &mut self.next_repair)
        };
        let sequence = *next;
        *next += 1;
        Some(Packet {
            stream,
            sequence,
            timestamp,
            marker: false,
            payload,
            dependency: None,
            has_frame: true,
        })
    }

    /// Whether the packet's place is after the packets of its frame, as a repair packet's is.
    fn is_beyond(&self, outgoing: &Outgoing) -> bool {
        let frame = self.frame(outgoing.frame);
        frame.is_some_and(|frame| outgoing.index as usize >= frame.payloads.len())
    }

    fn frame(&self, id: FrameId) -> Option<&Frame> {
        let position = self.frames.binary_search_by_key(&id, |frame| frame.id);
        self.frames.get(position.ok()?)
    }

    /// Remembers what the next packet on the media stream is.
    fn count_media(&mut self, place: Option<(FrameId, u32)>) {
        if self.sent.len() == MOST_PACKETS {
            self.sent.pop_front();
        }
        self.sent.push_back(place);
        self.next_media += 1;
    }

    /// A packet that carries nothing: as large as the sender says if it is a probe, and as small as
    /// possible in place of a packet that is forgotten.
    fn probe(&mut self, outgoing: &Outgoing) -> Packet {
        let timestamp = self
            .frames
            .iter()
            .rev()
            .find(|frame| frame.id <= outgoing.frame)
            .map_or(0, |frame| frame.timestamp);
        let is_probe = outgoing.kind == PacketKind::Probe;
        let length = usize::try_from((outgoing.size - OVERHEAD).get()).unwrap_or(0);
        let length = if is_probe { length } else { 0 };
        let (stream, sequence, payload) = if self.has_retransmissions {
            self.next_retransmission += 1;
            let sequence = self.next_retransmission - 1;
            // The smallest probe has no payload at all.
            let payload = match length.checked_sub(rtx::SEQUENCE) {
                None | Some(0) => Vec::new(),
                Some(length) => rtx::write(self.number_of_none(), &filler_of(self.codec, length)),
            };
            (Stream::Retransmission, sequence, payload)
        } else {
            let sequence = self.next_media;
            self.count_media(None);
            (Stream::Media, sequence, filler_of(self.codec, length))
        };
        Packet {
            stream,
            sequence,
            timestamp,
            marker: false,
            payload,
            dependency: None,
            has_frame: false,
        }
    }

    /// A number on the media stream that no packet has which the receiver may still lack: a padded
    /// probe on the stream of retransmissions repeats it. It is the one before the first packet, or
    /// that of a packet so old that it is forgotten.
    fn number_of_none(&self) -> u16 {
        let back = (self.next_media - self.first_media + 1).min(OLD);
        #[expect(clippy::cast_possible_truncation, reason = "the wire has 16 bits")]
        let number = self.next_media.wrapping_sub(back) as u16;
        number
    }

    /// Frame and place of the packet with this number on the media stream; `None` for a probe, and
    /// for a packet that is forgotten.
    pub(crate) fn named(&self, sequence: MediaSequence) -> Option<(FrameId, u32)> {
        let back = MediaSequence::of(self.next_media).since(sequence);
        let index = self.sent.len().checked_sub(usize::from(back))?;
        self.sent.get(index).copied().flatten()
    }

    /// The newest frame with this RTP timestamp.
    pub(crate) fn at(&self, timestamp: u32) -> Option<FrameId> {
        let found = self.frames.iter().rev();
        found
            .filter(|frame| frame.timestamp == timestamp)
            .map(|frame| frame.id)
            .next()
    }
}

#[cfg(test)]
mod tests;
