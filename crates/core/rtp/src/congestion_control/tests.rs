//! Bytes worked out by hand from section 3.1, and reports that come back.

use mimosa_units::{Ecn, PeerTime};
use proptest::prelude::*;

use super::super::{Arrived, ReportClock, Status};
use super::*;

/// A unit of the offset is this long, and a half of a nanosecond.
const UNIT: i64 = 976_562;
/// A unit of the report's time, rounded up.
const TICK: i64 = 15_259;

fn seconds(seconds: i64) -> PeerTime {
    PeerTime::from_nanos(seconds * 1_000_000_000)
}

fn parsed(bytes: &[u8]) -> Result<CongestionFeedback, CongestionError> {
    let packets: Vec<_> = rtcp::packets(bytes).map(Result::unwrap).collect();
    assert_eq!(packets.len(), 1);
    CongestionFeedback::parse(&packets[0])
}

/// One second after the clock's beginning: three packets of stream 2, the one in the middle
/// missing, and none of stream 3.
#[rustfmt::skip]
const TWO_STREAMS: [u8; 36] = [
    0x8b, 205, 0, 8,
    0, 0, 0, 1,
    0, 0, 0, 2,
    0xff, 0xff, 0, 3,
    // Half a second before, CE; nothing; in the same 1/1024 s, ECT(1).
    0xe2, 0x00, 0x00, 0x00,
    0xa0, 0x00, 0, 0,
    0, 0, 0, 3,
    0, 9, 0, 0,
    0, 1, 0, 0,
];

fn two_streams() -> Vec<StreamReport> {
    let time = ReportTime::not_before(seconds(1));
    let half = PeerTime::from_nanos(500_000_000);
    let metrics = vec![
        Some(Metric::of(half, Ecn::Ce, time)),
        None,
        Some(Metric::of(seconds(1), Ecn::Ect1, time)),
    ];
    vec![
        StreamReport::new(2, 65_535, metrics).unwrap(),
        StreamReport::new(3, 9, Vec::new()).unwrap(),
    ]
}

#[test]
fn streams_stand_one_after_the_other() {
    let time = ReportTime::not_before(seconds(1));
    let packets = CongestionFeedback::packets(1, time, two_streams(), 36);
    assert_eq!(packets.len(), 1);
    assert_eq!(packets[0].to_bytes(), TWO_STREAMS);
    assert_eq!(parsed(&TWO_STREAMS).as_ref(), Ok(&packets[0]));
    let status = |ssrc, sequence, arrival: Option<(i64, Ecn)>| Status {
        ssrc,
        sequence,
        arrival: arrival.map(|(millis, ecn)| Arrived {
            at: Some(PeerTime::from_nanos(millis * 1_000_000)),
            ecn,
        }),
    };
    let statuses: Vec<_> = ReportClock::new().statuses(&packets[0]).collect();
    assert_eq!(
        statuses,
        [
            status(2, 65_535, Some((500, Ecn::Ce))),
            status(2, 0, None),
            status(2, 1, Some((1_000, Ecn::Ect1))),
        ]
    );
}

#[test]
fn too_large_a_report_is_split() {
    let time = ReportTime::not_before(seconds(1));
    let split = |streams, largest| CongestionFeedback::packets(1, time, streams, largest);
    // One byte less: the second stream goes alone.
    let packets = split(two_streams(), 35);
    let lengths: Vec<_> = packets.iter().map(|one| one.to_bytes().len()).collect();
    assert_eq!(lengths, [28, 20]);
    assert!(packets.iter().all(|packet| packet.timestamp() == 1 << 16));
    // And less than the first one takes.
    let packets = split(two_streams(), 27);
    let begins: Vec<_> = packets
        .iter()
        .flat_map(|packet| &packet.streams)
        .map(|stream| (stream.ssrc, stream.begin_sequence, stream.metrics.len()))
        .collect();
    assert_eq!(begins, [(2, 65_535, 2), (2, 1, 1), (3, 9, 0)]);
    assert_eq!(packets.len(), 3);
    // However little there is room for.
    assert_eq!(split(two_streams(), 0), packets);
    assert_eq!(split(Vec::new(), 0).len(), 1);

    let many = StreamReport::new(2, 0, vec![None; 16_384]).unwrap();
    let packets = split(vec![many; 20], usize::MAX);
    assert!(packets.len() > 1, "an RTCP packet has at most 65536 words");
    for packet in &packets {
        assert_eq!(parsed(&packet.to_bytes()).as_ref(), Ok(packet));
    }
}

#[test]
fn a_report_that_ends_early_is_refused() {
    let cut = |length: usize| {
        let packet = Packet {
            payload_type: 205,
            format: 11,
            contents: &TWO_STREAMS[4..][..length],
        };
        CongestionFeedback::parse(&packet).map(|feedback| feedback.to_bytes())
    };
    for length in 0..8 {
        assert_eq!(cut(length), Err(CongestionError::TooShort { length }));
    }
    assert!(cut(8).is_ok());
    // The last four bytes are always the report's time.
    for (length, left) in [(9, 1), (15, 7)] {
        let at = 4;
        assert_eq!(cut(length), Err(CongestionError::HeadMissing { at, left }));
    }
    for (length, left) in [(16, 0), (18, 2), (22, 6), (23, 7)] {
        let (ssrc, count) = (2, 3);
        let missing = CongestionError::MetricsMissing { ssrc, count, left };
        assert_eq!(cut(length), Err(missing));
    }
    assert!(cut(24).is_ok());
    let (at, left) = (20, 3);
    assert_eq!(cut(27), Err(CongestionError::HeadMissing { at, left }));
    assert_eq!(cut(32), Ok(TWO_STREAMS.to_vec()));
}

#[test]
fn other_reports_and_longer_ones_are_refused() {
    let (payload_type, format) = (205, 15);
    assert_eq!(
        parsed(&rtcp::write(payload_type, format, &[0; 8])),
        Err(CongestionError::OtherPacket {
            payload_type,
            format
        })
    );
    let (ssrc, count) = (7, 16_385);
    let too_many = CongestionError::TooMany { ssrc, count };
    assert_eq!(StreamReport::new(ssrc, 0, vec![None; count]), Err(too_many));
    let mut contents = vec![0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0x40, 0x01];
    contents.resize(contents.len() + 2 * 16_386 + 4, 0);
    assert_eq!(parsed(&rtcp::write(205, 11, &contents)), Err(too_many));
    assert_eq!(
        too_many.to_string(),
        "congestion control feedback on 16385 packets of stream 00000007; \
         at most 16384 go in a report, so write two"
    );
}

fn arrival() -> impl Strategy<Value = Option<(i64, Ecn)>> {
    let ecn = prop_oneof![
        Just(Ecn::NotEct),
        Just(Ecn::Ect1),
        Just(Ecn::Ect0),
        Just(Ecn::Ce)
    ];
    let before = prop_oneof![4 => 0..300_000_000_i64, 1 => -2_000_000..9_000_000_000_i64];
    prop_oneof![1 => Just(None), 4 => (before, ecn).prop_map(Some)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_report_comes_back_within_its_resolution(
        now in -1_i64 << 58..1 << 58,
        streams in prop::collection::vec(
            (any::<u32>(), any::<u16>(), prop::collection::vec(arrival(), 0..80)),
            0..4,
        ),
        largest in 0_usize..400,
    ) {
        let time = ReportTime::not_before(PeerTime::from_nanos(now));
        let metric = |(before, ecn)| {
            Metric::of(PeerTime::from_nanos(now - before), ecn, time)
        };
        let reports = streams.iter().map(|(ssrc, begin, arrivals)| {
            let metrics = arrivals.iter().map(|arrival| arrival.map(metric)).collect();
            StreamReport::new(*ssrc, *begin, metrics).unwrap()
        });
        let packets = CongestionFeedback::packets(5, time, reports, largest);
        let mut clock = ReportClock::new();
        let mut read = Vec::new();
        for packet in &packets {
            let bytes = packet.to_bytes();
            prop_assert!(bytes.len() <= largest.max(24), "{} bytes", bytes.len());
            let back = parsed(&bytes).unwrap();
            prop_assert_eq!(&back, packet);
            read.extend(clock.statuses(&back));
        }
        let given: Vec<_> = streams
            .iter()
            .flat_map(|(ssrc, begin, arrivals)| {
                (0..).zip(arrivals).map(|(index, arrival)| {
                    (*ssrc, begin.wrapping_add(index), *arrival)
                })
            })
            .collect();
        prop_assert_eq!(read.len(), given.len());
        // The clock is known up to its wrap.
        let wrap = 65_536_000_000_000_i64;
        for (status, (ssrc, sequence, arrival)) in read.iter().zip(&given) {
            prop_assert_eq!((status.ssrc, status.sequence), (*ssrc, *sequence));
            prop_assert_eq!(status.arrival.map(|read| read.ecn), arrival.map(|(_, ecn)| ecn));
            let (Some(read), Some((before, _))) = (status.arrival, arrival) else {
                continue;
            };
            let Some(at) = read.at else {
                prop_assert!(*before > 8_189 * UNIT - TICK || *before < 0, "{before} ns before");
                continue;
            };
            let late = (at.as_nanos() - (now - before)).rem_euclid(wrap);
            prop_assert!(late <= UNIT + 1 || late == wrap - 1, "{late} ns late");
        }
    }
}
