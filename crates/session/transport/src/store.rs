//! Stores the packets of the latest frames in the form in which a browser gets them.
//!
//! The sender names packets by frame and place. The store has their bytes, their RTP numbers and
//! their streams. First transmissions are on the media stream and are numbered as they leave, so
//! that a frame given up before it left makes no gap. Retransmissions (RFC 4588) and probes are on
//! a second stream. A probe has no payload there: a receiver finds no original sequence number in
//! it and drops it, but reports its arrival like any other. Repair packets of our own format
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
use mimosa_rtp::video::{Payloads, filler};
use mimosa_stream::Outgoing;

/// Number of frames kept for retransmission: two seconds at 120 frames a second, longer than any
/// retransmission deadline.
const MOST_FRAMES: usize = 240;
/// Number of packets whose numbers are remembered: half a second at 200 Mbit/s.
const MOST_PACKETS: usize = 8192;

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
        if self.frames.len() == MOST_FRAMES {
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
        known.unwrap_or_else(|| self.probe(outgoing.frame))
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

    fn probe(&mut self, after: FrameId) -> Packet {
        let timestamp = self
            .frames
            .iter()
            .rev()
            .find(|frame| frame.id <= after)
            .map_or(0, |frame| frame.timestamp);
        let (stream, sequence, payload) = if self.has_retransmissions {
            self.next_retransmission += 1;
            let sequence = self.next_retransmission - 1;
            (Stream::Retransmission, sequence, Vec::new())
        } else {
            let sequence = self.next_media;
            self.count_media(None);
            (Stream::Media, sequence, filler(self.codec).to_vec())
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
mod tests {
    use mimosa_rtp::h264::Packetiser;
    use mimosa_units::Bytes;

    use mimosa_facts::TransportSequence;

    use super::*;

    /// A frame of one NAL unit of `size` bytes.
    fn frame(size: usize) -> Payloads {
        let mut unit = vec![0, 0, 0, 1, 0x65];
        unit.extend((0..size).map(|i| u8::try_from(i % 200 + 1).unwrap()));
        Packetiser::new(Bytes::new(1_000)).packetise(&unit)
    }

    fn outgoing(kind: PacketKind, frame: u64, index: u32) -> Outgoing {
        Outgoing {
            sequence: TransportSequence(0),
            kind,
            frame: FrameId(frame),
            index,
            size: Bytes::new(1_000),
            asks_feedback: false,
            ecn: mimosa_units::Ecn::NotEct,
        }
    }

    #[test]
    fn packets_are_numbered_as_they_leave() {
        let mut store = Store::new(Codec::H264, 100, true);
        store.insert(FrameId(1), 3_000, None, frame(2_500));
        store.insert(FrameId(2), 6_000, None, frame(2_500));
        store.insert(FrameId(3), 9_000, None, frame(2_500));
        // Frame 2 never leaves, and makes no gap.
        let sent: Vec<_> = [(1, 0), (1, 1), (1, 2), (3, 0), (3, 1), (3, 2)]
            .map(|(frame, index)| store.packet(&outgoing(PacketKind::Media, frame, index)))
            .into();
        let numbers: Vec<_> = sent.iter().map(|packet| packet.sequence).collect();
        assert_eq!(numbers, [100, 101, 102, 103, 104, 105]);
        let markers: Vec<_> = sent.iter().map(|packet| packet.marker).collect();
        assert_eq!(markers, [false, false, true, false, false, true]);
        assert_eq!((sent[2].timestamp, sent[3].timestamp), (3_000, 9_000));
        assert_eq!(store.named(MediaSequence(104)), Some((FrameId(3), 1)));
        assert_eq!(
            (
                store.named(MediaSequence(99)),
                store.named(MediaSequence(106))
            ),
            (None, None)
        );
        assert_eq!(store.at(9_000), Some(FrameId(3)));
    }

    #[test]
    fn what_is_sent_again_names_its_original() {
        let mut store = Store::new(Codec::H264, 65_535, true);
        store.insert(FrameId(0), 0, None, frame(2_500));
        for index in 0..3 {
            store.packet(&outgoing(PacketKind::Media, 0, index));
        }
        let again = store.packet(&outgoing(PacketKind::Retransmission, 0, 1));
        assert_eq!(again.stream, Stream::Retransmission);
        assert_eq!(again.payload[..2], [0, 0], "the number after 65535");
        let probe = store.packet(&outgoing(PacketKind::Probe, 0, 0));
        assert_eq!(
            (probe.stream, probe.payload.len()),
            (Stream::Retransmission, 0)
        );
        assert_eq!(probe.sequence, again.sequence + 1);
    }

    #[test]
    fn a_repair_packet_is_of_all_packets_of_its_frame() {
        let mut store = Store::new(Codec::H264, 65_535, true);
        store.set_repairs(Repairs::Own);
        store.insert(FrameId(7), 3_000, None, frame(2_500));
        store.insert(FrameId(9), 6_000, Some(FrameId(7)), frame(2_500));
        let early = store.packet(&outgoing(PacketKind::Repair, 7, 3));
        assert_eq!(early.payload.len(), 0, "nothing has left: a probe");
        let sent: Vec<_> = [(7, 0), (7, 1), (7, 2), (9, 0), (9, 1), (9, 2)]
            .map(|(frame, index)| store.packet(&outgoing(PacketKind::Media, frame, index)))
            .into();
        let packet = store.packet(&outgoing(PacketKind::Repair, 9, 4));
        assert_eq!(
            (packet.stream, packet.timestamp, packet.dependency),
            (Stream::Retransmission, 6_000, None)
        );
        let repair = Repair::parse(&packet.payload).unwrap();
        assert_eq!((repair.place, repair.media), (4, 3));
        assert_eq!((repair.before, repair.frame, repair.distance), (1, 9, 2));
        let there = [(0, &sent[3]), (2, &sent[5])];
        let mut there = there
            .map(|(place, packet)| (place, &packet.payload[..]))
            .to_vec();
        there.push((4, repair.coded));
        let all = mimosa_fec::decode(3, &there).unwrap();
        assert_eq!(all[1], sent[4].payload);
        // A repair packet that is sent again is the same; one with another number differs.
        let again = store.packet(&outgoing(PacketKind::Retransmission, 9, 4));
        assert_eq!(again.payload, packet.payload);
        let first = store.packet(&outgoing(PacketKind::Retransmission, 9, 3));
        assert_eq!(Repair::parse(&first.payload).unwrap().place, 3);
        let further = store.packet(&outgoing(PacketKind::Retransmission, 9, 5));
        assert_eq!(Repair::parse(&further.payload).unwrap().place, 5);
    }

    /// As libwebrtc recovers a packet: the exclusive or of a repair packet with all but one of the
    /// packets that it protects.
    /// those that it protects.
    #[test]
    fn flexfec_is_of_whole_packets_but_for_what_changes() {
        const MEDIA: [u8; 4] = [9, 8, 7, 6];
        let datagram = |number: u64, transport: u8, ssrc: [u8; 4]| {
            #[expect(clippy::cast_possible_truncation, reason = "the low bits are meant")]
            let [high, low] = (number as u16).to_be_bytes();
            let mut all = vec![0x90, 96, high, low, 0, 0, 0, 1];
            all.extend(ssrc);
            all.extend([0xBE, 0xDE, 0, 1, 0x31, 1, transport, 0, 0xEE, 0xEE]);
            all
        };
        let mut store = Store::new(Codec::H264, 500, true);
        let (ssrc, extension) = (u32::from_be_bytes(MEDIA), 3);
        store.set_repairs(Repairs::Flexfec { ssrc, extension });
        store.insert(FrameId(7), 3_000, None, frame(4_500));
        store.protect(FrameId(7), 2);
        let media = store.frames[0].payloads.len();
        let mut whole = Vec::new();
        for index in 0..media {
            let place = u32::try_from(index).unwrap();
            let packet = store.packet(&outgoing(PacketKind::Media, 7, place));
            // The header of another stream's packet is ignored.
            store.left(&datagram(packet.sequence, 5, [1, 1, 1, 1]));
            store.left(&datagram(packet.sequence, 9, MEDIA));
            let header = &mut datagram(packet.sequence, 0, MEDIA)[..20];
            header[17] = 0;
            whole.push([header, &packet.payload[..]].concat());
        }
        for number in 0..2 {
            let place = u32::try_from(media + number).unwrap();
            let repair = store.packet(&outgoing(PacketKind::Repair, 7, place));
            assert_eq!(
                (repair.stream, repair.sequence),
                (Stream::Repair, 500 + number as u64)
            );
            let columns = xor::columns(media, 2);
            let its: Vec<_> = (0..media)
                .filter(|&i| columns[i] >> number & 1 == 1)
                .collect();
            assert!(its.len() > 1 && its.len() < media);
            assert_eq!(repair.payload[12..16], MEDIA);
            assert_eq!(repair.payload[16..18], 500_u16.to_be_bytes());
            let mut rest = repair.payload[20..].to_vec();
            for &place in &its[1..] {
                for (byte, other) in rest.iter_mut().zip(&whole[place][12..]) {
                    *byte ^= other;
                }
            }
            let first = &whole[its[0]][12..];
            assert_eq!(rest[..first.len()], *first);
        }
    }

    #[test]
    fn every_number_of_the_senders_is_on_the_wire() {
        let mut store = Store::new(Codec::H264, 0, false);
        store.insert(FrameId(0), 0, None, frame(500));
        store.packet(&outgoing(PacketKind::Media, 0, 0));
        for (kind, frame) in [
            (PacketKind::Retransmission, 0),
            (PacketKind::Probe, 0),
            (PacketKind::Media, 77),
        ] {
            let packet = store.packet(&outgoing(kind, frame, 0));
            assert_eq!(
                (packet.stream, packet.payload),
                (Stream::Media, filler(Codec::H264).to_vec())
            );
        }
        assert_eq!(store.named(MediaSequence(3)), None, "no frame's");
    }

    #[test]
    fn memory_is_bounded() {
        let mut store = Store::new(Codec::H264, 0, true);
        for id in 0..2_000 {
            store.insert(FrameId(id), 0, None, frame(9_500));
            for index in 0..10 {
                store.packet(&outgoing(PacketKind::Media, id, index));
            }
        }
        assert_eq!(
            (store.frames.len(), store.sent.len()),
            (MOST_FRAMES, MOST_PACKETS)
        );
        assert_eq!(store.named(MediaSequence(0)), None, "forgotten");
    }
}
