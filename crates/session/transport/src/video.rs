//! The packets of a connection's video, for any kind of connection: their bytes, their numbers, the
//! reports for which they ask, and what the other end's RTCP says about them.

use std::collections::VecDeque;

use mimosa_facts::{Codec, FrameId, PacketKind, TransportSequence};
use mimosa_rtp::transport_cc::TransportExtension;
use mimosa_stream::Outgoing;

use crate::ends::{Left, PeerEvent};
use crate::feedback::{Congestion, Feedback};
use crate::store::{Packet, Store, Stream};

/// Number of frames that each report covers, so that the loss of two reports in a row costs
/// nothing. Our choice.
const FRAMES_IN_REPORT: usize = 3;

/// Most packets that a report covers for which a probe asks. Many groups of probes may follow one frame. Our
/// choice: two trains of the largest size that a test of the line sends.
const MOST_FOR_PROBE: u16 = 256;

/// A packet about to leave, with its transport-wide number.
#[derive(Debug)]
pub(crate) struct Numbered {
    /// The packet's fields and payload.
    pub(crate) packet: Packet,
    /// The packet's transport-wide number, and the report for which the packet asks.
    pub(crate) number: TransportExtension,
}

/// Numbers packets, and reads feedback about them.
#[derive(Debug)]
pub(crate) struct Video {
    pub(crate) store: Store,
    pub(crate) feedback: Feedback,
    /// Transport-wide number of the first packet of each of the latest frames.
    opened: VecDeque<(FrameId, TransportSequence)>,
    /// SSRC of each stream; zero for a stream that does not exist.
    ssrcs: [u32; 3],
}

impl Video {
    /// The state before the first packet. RTP numbers begin at `first_sequence`.
    pub(crate) fn new(
        codec: Codec,
        first_sequence: u16,
        has_retransmissions: bool,
        congestion: Congestion,
    ) -> Self {
        Self {
            store: Store::new(codec, first_sequence, has_retransmissions),
            feedback: Feedback::new(congestion),
            opened: VecDeque::new(),
            ssrcs: [0; 3],
        }
    }

    /// Sets the SSRC of a stream.
    pub(crate) fn name(&mut self, stream: Stream, ssrc: u32) {
        self.ssrcs[stream as usize] = ssrc;
        self.feedback.name(ssrc);
    }

    /// SSRC of a stream.
    pub(crate) const fn ssrc(&self, stream: Stream) -> u32 {
        self.ssrcs[stream as usize]
    }

    /// The packet that the sender names. Adds the packet's number on the wire to `left`, if it
    /// carries part of a frame.
    pub(crate) fn packet(&mut self, outgoing: &Outgoing, left: &mut Vec<Left>) -> Numbered {
        let packet = self.store.packet(outgoing);
        if packet.has_frame {
            left.push(Left {
                frame: outgoing.frame,
                kind: outgoing.kind,
                ssrc: self.ssrc(packet.stream),
                sequence: packet.number(),
            });
        }
        let opens = |last: &(FrameId, TransportSequence)| last.0 < outgoing.frame;
        if outgoing.index == 0 && self.opened.back().is_none_or(opens) {
            if self.opened.len() == FRAMES_IN_REPORT {
                self.opened.pop_front();
            }
            self.opened.push_back((outgoing.frame, outgoing.sequence));
        }
        let sequence = packet.number().get();
        let ssrc = self.ssrc(packet.stream);
        self.feedback.sent(ssrc, sequence, outgoing.sequence);
        let number = TransportExtension {
            sequence: outgoing.sequence,
            request: outgoing.asks_feedback.then(|| self.report_length(outgoing)),
        };
        Numbered { packet, number }
    }

    /// Number of packets, this one included, that a report should cover.
    fn report_length(&self, outgoing: &Outgoing) -> u16 {
        let first = self.opened.front();
        let oldest = first.map_or(outgoing.sequence, |first| first.1);
        let length = outgoing.sequence.since(oldest).saturating_add(1);
        match outgoing.kind {
            PacketKind::Probe => length.min(MOST_FOR_PROBE),
            PacketKind::Media | PacketKind::Retransmission | PacketKind::Repair => length,
        }
    }

    /// Takes an RTCP compound packet from the other end, and adds its content to `events`.
    pub(crate) fn control(&mut self, compound: &[u8], events: &mut VecDeque<PeerEvent>) {
        let heard = self.feedback.read(compound);
        events.extend(heard.report.map(PeerEvent::Feedback));
        for sequence in heard.missing {
            if let Some((frame, index)) = self.store.named(sequence) {
                events.push_back(PeerEvent::Missing { frame, index });
            }
        }
    }
}
