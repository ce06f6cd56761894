//! The packets of a video flow and the reports of its receiver, as bytes.
//!
//! All numbers are big-endian. A packet is padded until it has, with the headers of UDP and IP, its
//! size in the simulation. Bytes come from the network: what is not a packet or a report is read as
//! `None`.

use mimosa_facts::{Arrival, ArrivalReport, PacketKind, TransportSequence};
use mimosa_stream::Outgoing;
use mimosa_units::{Ecn, PeerTime, Time};

/// First byte of a packet, which no RTP packet has.
const PACKET: u8 = b'M';
/// First byte of a report's last datagram, and of each one before it.
const REPORT: u8 = b'R';
const REPORT_PART: u8 = b'P';
/// Least bytes of a packet.
pub(crate) const HEADER: usize = 16;
/// Bytes of an arrival in a report.
const ARRIVAL: usize = 11;
/// Most arrivals in one datagram, which fit into a packet.
const MOST_ARRIVALS: usize = 127;

/// What a packet tells the receiver.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Told {
    pub(crate) sequence: TransportSequence,
    pub(crate) kind: PacketKind,
    pub(crate) frame: u32,
    pub(crate) asks: bool,
    pub(crate) sent: Time,
}

/// Writes a packet of `length` bytes, at least [`HEADER`], that leaves at `now`.
pub(crate) fn write_packet(out: &mut Vec<u8>, packet: &Outgoing, now: Time, length: usize) {
    let kind = match packet.kind {
        PacketKind::Media => 0,
        PacketKind::Retransmission => 1,
        PacketKind::Probe => 2,
        PacketKind::Repair => 3,
    };
    let [_, _, _, _, frame @ ..] = packet.frame.0.to_be_bytes();
    out.clear();
    out.push(PACKET);
    out.push(kind | u8::from(packet.asks_feedback) << 7);
    out.extend(packet.sequence.0.to_be_bytes());
    out.extend(frame);
    out.extend(now.as_nanos().to_be_bytes());
    out.resize(length, 0);
}

/// Reads a packet that [`write_packet`] wrote.
pub(crate) fn read_packet(bytes: &[u8]) -> Option<Told> {
    let (header, _) = bytes.split_first_chunk::<HEADER>()?;
    let [first, flags, s0, s1, f0, f1, f2, f3, sent @ ..] = *header;
    if first != PACKET {
        return None;
    }
    Some(Told {
        sequence: TransportSequence(u16::from_be_bytes([s0, s1])),
        kind: match flags & 0x7f {
            0 => PacketKind::Media,
            1 => PacketKind::Retransmission,
            2 => PacketKind::Probe,
            3 => PacketKind::Repair,
            _ => return None,
        },
        frame: u32::from_be_bytes([f0, f1, f2, f3]),
        asks: flags & 0x80 != 0,
        sent: Time::from_nanos(u64::from_be_bytes(sent)),
    })
}

/// The datagrams of a report: several if it does not fit into one.
pub(crate) fn write_report(report: &ArrivalReport) -> Vec<Vec<u8>> {
    let count = report.arrivals.chunks(MOST_ARRIVALS).len();
    let part = |(index, arrivals): (usize, &[Arrival])| {
        let mut out = Vec::with_capacity(1 + arrivals.len() * ARRIVAL);
        let is_last = index + 1 == count;
        out.push(if is_last { REPORT } else { REPORT_PART });
        for arrival in arrivals {
            out.extend(arrival.sequence.0.to_be_bytes());
            out.push(match arrival.ecn {
                Ecn::NotEct => 0,
                Ecn::Ect1 => 1,
                Ecn::Ect0 => 2,
                Ecn::Ce => 3,
            });
            out.extend(arrival.at.as_nanos().to_be_bytes());
        }
        out
    };
    let parts = report.arrivals.chunks(MOST_ARRIVALS);
    parts.enumerate().map(part).collect()
}

/// Adds a datagram to `report`. Returns whether the report is now complete.
pub(crate) fn read_report(bytes: &[u8], report: &mut ArrivalReport) -> Option<bool> {
    let (first, arrivals) = bytes.split_first()?;
    let is_last = match *first {
        REPORT => true,
        REPORT_PART => false,
        _ => return None,
    };
    let (arrivals, rest) = arrivals.as_chunks::<ARRIVAL>();
    if !rest.is_empty() {
        return None;
    }
    for [s0, s1, ecn, at @ ..] in arrivals {
        report.arrivals.push(Arrival {
            sequence: TransportSequence(u16::from_be_bytes([*s0, *s1])),
            at: PeerTime::from_nanos(i64::from_be_bytes(*at)),
            ecn: ecn_of(*ecn),
        });
    }
    Some(is_last)
}

/// The ECN field of these two bits.
pub(crate) const fn ecn_of(bits: u8) -> Ecn {
    match bits & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// The traffic class byte of an IP header.
pub(crate) const fn traffic_class(dscp: u8, ecn: Ecn) -> u8 {
    let bits = match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    };
    dscp << 2 | bits
}

#[cfg(test)]
mod tests {
    use mimosa_facts::FrameId;
    use mimosa_units::Bytes;

    use super::*;

    #[test]
    fn packets_are_read_as_written_and_have_their_size() {
        let mut out = Vec::new();
        for (kind, asks) in [
            (PacketKind::Media, true),
            (PacketKind::Retransmission, false),
            (PacketKind::Probe, true),
            (PacketKind::Repair, false),
        ] {
            let packet = Outgoing {
                sequence: TransportSequence(65_530),
                kind,
                frame: FrameId(70_000),
                index: 3,
                size: Bytes::new(1_200),
                asks_feedback: asks,
                ecn: Ecn::NotEct,
            };
            let sent = Time::from_millis(1_234);
            write_packet(&mut out, &packet, sent, 1_172);
            assert_eq!(out.len(), 1_172);
            let told = Told {
                sequence: TransportSequence(65_530),
                kind,
                frame: 70_000,
                asks,
                sent,
            };
            assert_eq!(read_packet(&out), Some(told));
            assert_eq!(read_packet(&out[..HEADER]), Some(told));
            assert_eq!(read_packet(&out[..HEADER - 1]), None);
            out[1] = 4;
            assert_eq!(read_packet(&out), None);
        }
    }

    #[test]
    fn long_reports_go_in_parts_and_come_back_whole() {
        let arrival = |n: u16| Arrival {
            sequence: TransportSequence(n),
            at: PeerTime::from_nanos(-i64::from(n)),
            ecn: ecn_of(n.to_be_bytes()[1]),
        };
        for (count, parts) in [(1, 1), (127, 1), (128, 2), (400, 4)] {
            let arrivals: Vec<_> = (0..count).map(arrival).collect();
            let report = ArrivalReport {
                arrivals,
                absences: None,
            };
            let written = write_report(&report);
            assert_eq!(written.len(), parts);
            assert!(written.iter().all(|part| part.len() <= 1_472));
            let mut read = ArrivalReport::default();
            let whole: Vec<_> = written
                .iter()
                .map(|part| read_report(part, &mut read))
                .collect();
            assert_eq!(whole.last(), Some(&Some(true)));
            assert!(whole[..parts - 1].iter().all(|part| *part == Some(false)));
            assert_eq!(read, report);
        }
    }

    #[test]
    fn other_bytes_are_no_report() {
        let mut report = ArrivalReport::default();
        for bytes in [&b""[..], b"x", b"R123", b"Rabcdefghijkl"] {
            assert_eq!(read_report(bytes, &mut report), None, "{bytes:?}");
        }
        assert!(report.arrivals.is_empty());
    }
}
