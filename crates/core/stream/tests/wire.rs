//! Reports through the bytes of both formats: what the sender learns, and at what price.
#![allow(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeMap;

use mimosa_facts::{Arrival, ArrivalReport, TransportSequence};
use mimosa_rtp::rtcp::RtcpError;
use mimosa_rtp::transport_cc::FeedbackError;
use mimosa_stream::{FeedbackFormat, ReadError, ReportReader, ReportWriter};
use mimosa_units::{Ecn, PeerTime};
use proptest::prelude::*;

const FORMATS: [FeedbackFormat; 2] = [
    FeedbackFormat::TransportWide,
    FeedbackFormat::CongestionControl,
];

fn micros(micros: i64) -> PeerTime {
    PeerTime::from_nanos(micros * 1_000)
}

fn arrival(sequence: u16, at: i64, ecn: Ecn) -> Arrival {
    let at = micros(at);
    Arrival {
        sequence: TransportSequence(sequence),
        at,
        ecn,
    }
}

fn report(arrivals: &[Arrival]) -> ArrivalReport {
    ArrivalReport {
        arrivals: arrivals.to_vec(),
        absences: None,
    }
}

fn read(reader: &mut ReportReader, packets: &[Vec<u8>]) -> Vec<Arrival> {
    let mut report = ArrivalReport::default();
    for packet in packets {
        reader.read(packet, &mut report).unwrap();
    }
    report.arrivals
}

#[test]
fn each_format_says_what_it_has_room_for() {
    let given = report(&[
        arrival(65_535, 1_000_100, Ecn::Ect1),
        arrival(1, 1_000_700, Ecn::Ce),
        arrival(0, 1_003_200, Ecn::Ect0),
    ]);
    let told = FORMATS.map(|format| {
        let packets = ReportWriter::new(format).write(micros(1_003_200), &given);
        assert_eq!(packets.len(), 1);
        read(&mut ReportReader::new(), &packets)
    });
    // In the order of their numbers, to 250 us below.
    assert_eq!(
        told[0],
        [
            arrival(65_535, 1_000_000, Ecn::NotEct),
            arrival(0, 1_003_000, Ecn::NotEct),
            arrival(1, 1_000_500, Ecn::NotEct),
        ]
    );
    // The report is of 1.00320434 s, 65746 / 65536 s; offsets are whole 976.5625 us.
    let at = |units: i64| PeerTime::from_nanos(65_746_000_000_000 / 65_536 - units * 976_562);
    let times = [3, 0, 2].map(|units| (at(units).as_nanos() / 10, units));
    for (arrival, (at, units)) in told[1].iter().zip(times) {
        assert_eq!(arrival.at.as_nanos() / 10, at, "{units} units");
    }
    let fields: Vec<_> = told[1]
        .iter()
        .map(|one| (one.sequence.0, one.ecn))
        .collect();
    assert_eq!(fields, [(65_535, Ecn::Ect1), (0, Ecn::Ect0), (1, Ecn::Ce)]);
    let nothing = ReportWriter::new(FeedbackFormat::Exact).write(micros(0), &given);
    assert!(nothing.is_empty());
}

/// "If an RTP packet was reported as received in one report, that packet MUST also be
/// reported as received in any overlapping reports sent later" (RFC 8888, section 3.1).
#[test]
fn what_was_received_stays_received() {
    for format in FORMATS {
        let (mut writer, mut reader) = (ReportWriter::new(format), ReportReader::new());
        let mut numbers = |now, sequences: &[u16]| {
            let arrivals: Vec<_> = sequences
                .iter()
                .map(|sequence| arrival(*sequence, now, Ecn::NotEct))
                .collect();
            let packets = writer.write(micros(now), &report(&arrivals));
            let read = read(&mut reader, &packets);
            read.iter().map(|one| one.sequence.0).collect::<Vec<_>>()
        };
        assert_eq!(numbers(1_000, &[10, 12, 13]), [10, 12, 13]);
        // 11 comes late; 9 was sent before the first one known.
        assert_eq!(numbers(2_000, &[14, 11]), [11, 12, 13, 14]);
        assert_eq!(numbers(3_000, &[9]), [9, 10, 11, 12, 13, 14]);
        assert_eq!(numbers(4_000, &[16]), [16]);
        assert!(numbers(5_000, &[]).is_empty());
        // 33000 further on cannot be told from 32536 back, which is forgotten.
        assert!(numbers(6_000, &[33_016]).is_empty());
        assert_eq!(numbers(7_000, &[30_016]), [30_016]);
    }
}

#[test]
fn of_two_copies_the_first_counts_and_any_mark() {
    let copies = report(&[
        arrival(5, 1_000_000, Ecn::Ect1),
        arrival(5, 1_009_000, Ecn::Ce),
        arrival(6, 1_009_000, Ecn::Ect1),
        arrival(6, 1_010_000, Ecn::Ect1),
    ]);
    let mut writer = ReportWriter::new(FeedbackFormat::CongestionControl);
    let packets = writer.write(micros(1_015_625), &copies);
    let told = read(&mut ReportReader::new(), &packets);
    let ecn: Vec<_> = told.iter().map(|one| (one.sequence.0, one.ecn)).collect();
    assert_eq!(ecn, [(5, Ecn::Ce), (6, Ecn::Ect1)]);
    // 16 units before 1.015625 s, which is 1040 / 1024 s.
    assert_eq!(told[0].at, micros(1_000_000));
}

/// RFC 8888: 20 bytes and 2 for each packet; transport-wide: 20 bytes, one for each packet
/// that comes soon after the last one, and two for a run of such.
#[test]
fn sizes_are_those_of_the_formats() {
    let sizes = |format, count: u16| {
        let arrivals: Vec<_> = (0..count)
            .map(|n| arrival(n, i64::from(n) * 500, Ecn::Ect1))
            .collect();
        let mut writer = ReportWriter::new(format);
        let packets = writer.write(micros(i64::from(count) * 500), &report(&arrivals));
        let told = read(&mut ReportReader::new(), &packets);
        assert_eq!(told.len(), usize::from(count));
        packets.iter().map(Vec::len).collect::<Vec<_>>()
    };
    let [transport_wide, congestion_control] = FORMATS;
    assert_eq!(sizes(transport_wide, 1), [24]);
    assert_eq!(sizes(transport_wide, 34), [56]);
    assert_eq!(sizes(congestion_control, 1), [24]);
    assert_eq!(sizes(congestion_control, 34), [88]);
    // 500 packets and the rest; 580 packets and the rest.
    assert_eq!(sizes(transport_wide, 700), [524, 224]);
    assert_eq!(sizes(congestion_control, 700), [1_180, 260]);
}

#[test]
fn a_pause_of_over_eight_seconds_begins_another_transport_wide_report() {
    let mut writer = ReportWriter::new(FeedbackFormat::TransportWide);
    let given = report(&[
        arrival(1, 0, Ecn::NotEct),
        arrival(2, 1_000, Ecn::NotEct),
        arrival(3, 9_000_000, Ecn::NotEct),
    ]);
    let packets = writer.write(micros(9_000_000), &given);
    assert_eq!(packets.len(), 2);
    assert_eq!(read(&mut ReportReader::new(), &packets), given.arrivals);
}

#[test]
fn what_is_no_report_is_refused_and_what_came_before_counts() {
    let mut writer = ReportWriter::new(FeedbackFormat::TransportWide);
    let given = report(&[arrival(7, 64_000, Ecn::NotEct)]);
    let [good] = &writer.write(micros(64_000), &given)[..] else {
        panic!("one report");
    };
    let mut empty = good.clone();
    empty[14..16].copy_from_slice(&[0, 0]);
    let (at, left) = (good.len(), 1);
    for (tail, error) in [
        (&empty[..], ReadError::from(FeedbackError::NoStatus)),
        (&[0x80], ReadError::from(RtcpError::NoHeader { at, left })),
    ] {
        let mut told = ArrivalReport::default();
        let mut reader = ReportReader::new();
        let result = reader.read(&[good, tail].concat(), &mut told);
        assert_eq!(result, Err(error));
        assert_eq!(told, given);
    }
}

fn any_ecn() -> impl Strategy<Value = Ecn> {
    let all = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];
    (0..4_usize).prop_map(move |index| all[index])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Packets are lost and overtake each other, reports do as well; the sender hears of
    /// every packet that arrived, and of no other.
    #[test]
    fn every_arrival_is_told(
        start: u16,
        clock in -1_i64 << 40..1 << 40,
        packets in prop::collection::vec(
            (0_i64..4_000, 0_i64..30_000, any_ecn(), prop::bool::weighted(0.9)), 1..400,
        ),
        every in 1_usize..60,
        is_exact_order: bool,
        lost in 0_usize..7,
    ) {
        let mut sent = 0;
        let mut arrivals: Vec<_> = (0_u16..)
            .zip(&packets)
            .filter_map(|(index, (gap, late, ecn, arrives))| {
                sent += gap;
                let late = if is_exact_order { 0 } else { *late };
                let at = clock + sent + late;
                arrives.then(|| arrival(start.wrapping_add(index), at, *ecn))
            })
            .collect();
        arrivals.sort_by_key(|arrival| arrival.at);
        for (format, resolution) in FORMATS.into_iter().zip([250_000, 976_563]) {
            let (mut writer, mut reader) = (ReportWriter::new(format), ReportReader::new());
            let mut told = BTreeMap::new();
            let mut expected = BTreeMap::new();
            for (index, part) in arrivals.chunks(every).enumerate() {
                let now = part.last().unwrap().at;
                let written = writer.write(now, &report(part));
                prop_assert!(written.iter().all(|packet| packet.len() <= 1_180));
                if lost > 0 && index % 7 == lost {
                    continue;
                }
                expected.extend(part.iter().map(|one| (one.sequence, *one)));
                for one in read(&mut reader, &written) {
                    told.insert(one.sequence, one);
                }
            }
            for one in &arrivals {
                let Some(read) = told.get(&one.sequence) else {
                    prop_assert!(!expected.contains_key(&one.sequence), "{one:?} is not told");
                    continue;
                };
                // A clock may be known up to its wrap alone: compared to the first.
                let first = told.get(&arrivals[0].sequence).map(|read| read.at - arrivals[0].at);
                if let Some(offset) = first {
                    let off = (read.at - one.at - offset).as_nanos().abs();
                    prop_assert!(off <= resolution, "{off} ns");
                }
                let has_ecn = format == FeedbackFormat::CongestionControl;
                prop_assert_eq!(read.ecn, if has_ecn { one.ecn } else { Ecn::NotEct });
            }
            let known: Vec<_> = arrivals.iter().map(|one| one.sequence).collect();
            prop_assert!(told.keys().all(|sequence| known.contains(sequence)));
        }
    }
}
