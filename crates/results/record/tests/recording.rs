//! Recordings, as a reader of Parquet sees them.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::fs::File;
use std::path::PathBuf;

use mimosa_facts::{
    BucketCause, BucketChange, Cause, Decision, Evidence, Fate, FrameEnd, FrameId, FrameLife,
    FrameProtection, Loss, Observer, Pacing, PacketKind, Passage, StreamPacket, TransportSequence,
};
use mimosa_record::{FrameRow, Recording, Row, Run, Table};
use mimosa_units::{Bytes, Ecn, PeerTime, Rate, Time, TimeDelta};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

const SCENARIO: &str = "duration = \"1s\" # ü\n";

fn run(seed: u64, variant: Option<&str>) -> Run {
    Run {
        seed,
        variant: variant.map(str::to_owned),
        flows: vec!["game".into(), "download".into()],
    }
}

/// A frame that arrived, and everything about it known.
fn whole() -> FrameLife {
    let ms = Time::from_millis;
    FrameLife {
        frame: FrameId(7),
        due: ms(100),
        interval: TimeDelta::from_millis(16),
        decision: Decision {
            frame_limit: Some(Bytes::new(9_000)),
            cause: Cause::FrameFallback,
            evidence: Evidence {
                utilization: Some(0.5),
                smoothed_utilization: Some(0.25),
                service_rate: Some(Rate::from_kbps(20_000)),
                backlog: Some(Bytes::new(300)),
                queue_delay: Some(TimeDelta::from_micros(-3)),
            },
            ..Decision::starting_at(Rate::from_kbps(5_000))
        },
        allowed: Bytes::new(9_000),
        handed_over: ms(101),
        pacing: Pacing::Spread {
            over: TimeDelta::from_millis(8),
            lead: 4,
        },
        bucket: None,
        size: Bytes::new(9_000),
        packets: 8,
        first_sent: Some(ms(102)),
        last_sent: Some(ms(109)),
        first_arrival: Some(PeerTime::from_nanos(-5)),
        last_arrival: Some(PeerTime::from_nanos(6)),
        arrived: 8,
        lost: 2,
        retransmitted: 1,
        end: Some(FrameEnd::Acknowledged(ms(131))),
        protection: Some(FrameProtection {
            repairs: 3,
            rounds: 1,
            loss: Loss {
                begins: 0.5,
                ends: 0.5,
            },
            late: 0.125,
            repaired: 2,
        }),
    }
}

/// A frame of which nothing is known but that it was there.
fn bare(end: Option<FrameEnd>) -> FrameLife {
    FrameLife {
        decision: Decision::starting_at(Rate::MAX),
        pacing: Pacing::Bucket {
            rate: Rate::from_kbps(7_000),
            burst: Bytes::new(6_000),
        },
        bucket: Some(BucketChange {
            at: Time::from_millis(95),
            depth: Bytes::new(6_000),
            cause: BucketCause::QueueThreshold,
            queue_delay: Some(TimeDelta::from_millis(4)),
            capacity: Rate::from_kbps(30_000),
            queue: Some(Bytes::new(15_000)),
        }),
        first_sent: None,
        last_sent: None,
        first_arrival: None,
        last_arrival: None,
        arrived: 0,
        lost: 0,
        retransmitted: 0,
        end,
        protection: None,
        ..whole()
    }
}

fn packet(flow: usize, kind: Option<PacketKind>, fate: Fate) -> Passage<StreamPacket> {
    let passed = fate != Fate::Dropped;
    Passage {
        packet: StreamPacket {
            flow,
            sequence: TransportSequence(65_535),
            kind,
            frame: 7,
            index: 3,
        },
        size: Bytes::new(1_200),
        sent_ecn: Ecn::Ect0,
        ecn: Ecn::Ect1,
        offered: Time::from_millis(10),
        started: passed.then(|| Time::from_millis(12)),
        finished: passed.then(|| Time::from_millis(13)),
        fate,
    }
}

/// Two runs that saw both kinds of things.
fn observed<R>() -> [Table<R>; 2]
where
    Table<R>: Observer,
{
    let mut first = Table::new(run(u64::MAX, None));
    first.frame(0, &whole());
    first.frame(0, &bare(Some(FrameEnd::GivenUp)));
    let arrived = Fate::Arrived(Time::from_millis(20));
    first.packet(&packet(0, Some(PacketKind::Probe), arrived));
    first.packet(&packet(1, None, Fate::Dropped));
    let mut second = Table::new(run(2, Some("slow \"Wi-Fi\"")));
    second.frame(0, &bare(None));
    second.packet(&packet(0, Some(PacketKind::Media), Fate::Lost));
    [first, second]
}

fn bytes<R: Row>(tables: &[Table<R>]) -> Vec<u8> {
    let mut recording = Recording::new(Vec::new(), SCENARIO).unwrap();
    for table in tables {
        recording.append(table).unwrap();
    }
    recording.finish().unwrap()
}

/// A reader of `bytes`, by way of a file of this name.
fn reader(name: &str, bytes: &[u8]) -> SerializedFileReader<File> {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    SerializedFileReader::new(File::open(path).unwrap()).unwrap()
}

/// Row after row, what the columns hold, nulls as `-`.
fn rows(reader: &SerializedFileReader<File>) -> Vec<String> {
    let text = |field: &Field| match field {
        Field::Null => "-".to_owned(),
        Field::Str(text) => text.clone(),
        other => other.to_string(),
    };
    reader
        .get_row_iter(None)
        .unwrap()
        .map(|row| {
            let row = row.unwrap();
            let cells: Vec<_> = row
                .get_column_iter()
                .map(|(_, field)| text(field))
                .collect();
            cells.join(" ")
        })
        .collect()
}

#[test]
fn frames_come_back_as_they_were() {
    let reader = reader("frames.parquet", &bytes(&observed::<FrameRow>()));
    let open = "game 7 100000000 101000000 - - - - - - 9000 8 0 0 0 9223372036854775807 - 9000 \
                bucket - - 7000000 start - - - - -";
    let bucket = "6000 queue-threshold 15000 4000000 30000000 - - - - - -";
    assert_eq!(
        rows(&reader),
        [
            "18446744073709551615 - game 7 100000000 101000000 102000000 109000000 -5 6 \
             131000000 30000000 9000 8 8 2 1 5000000 9000 9000 spread 8000000 4 - frame-fallback \
             0.5 0.25 20000000 300 -3000 acknowledged -  - - - 3 2 1 0.5 2.0 0.125"
                .to_owned(),
            format!("18446744073709551615 - {open} given-up {bucket}"),
            format!("2 slow \"Wi-Fi\" {open} open {bucket}"),
        ]
    );
}

#[test]
fn frames_are_in_the_order_of_their_capture_whenever_they_end() {
    let mut table = Table::<FrameRow>::new(run(1, None));
    for (flow, frame, due) in [(0, 1, 20), (1, 0, 20), (0, 0, 0), (0, 3, 60), (0, 2, 40)] {
        let life = FrameLife {
            frame: FrameId(frame),
            due: Time::from_millis(due),
            ..whole()
        };
        table.frame(flow, &life);
    }
    let order = table.rows().iter().map(|row| (row.flow, row.life.frame.0));
    assert!(order.eq([(0, 0), (0, 1), (1, 0), (0, 2), (0, 3)]));
}

#[test]
fn packets_come_back_as_they_were() {
    let reader = reader(
        "packets.parquet",
        &bytes(&observed::<Passage<StreamPacket>>()),
    );
    assert_eq!(
        rows(&reader),
        [
            "18446744073709551615 - game 65535 probe 7 - 1200 ect0 ect1 10000000 12000000 13000000 \
             20000000 2000000 arrived",
            "18446744073709551615 - download - cross - - 1200 ect0 ect1 10000000 - - - - \
             dropped-by-queue",
            "2 slow \"Wi-Fi\" game 65535 media 7 3 1200 ect0 ect1 10000000 12000000 13000000 - \
             2000000 lost-on-path",
        ]
    );
}

#[test]
fn a_run_is_a_row_group_and_an_empty_one_is_none() {
    let [first, second] = observed::<FrameRow>();
    let empty = Table::new(run(3, None));
    let reader = reader("groups.parquet", &bytes(&[first, empty.clone(), second]));
    let groups = reader.metadata().row_groups().iter();
    assert_eq!(
        groups.map(RowGroupMetaData::num_rows).collect::<Vec<_>>(),
        [2, 1]
    );
    let none = self::reader("empty.parquet", &bytes(&[empty]));
    assert_eq!(none.metadata().file_metadata().num_rows(), 0);
}

#[test]
fn a_recording_explains_itself() {
    let reader = reader("metadata.parquet", &bytes(&observed::<FrameRow>()));
    let file = reader.metadata().file_metadata();
    let about = |key: &str| {
        let mut pairs = file.key_value_metadata().unwrap().iter();
        pairs
            .find(|pair| pair.key == key)
            .unwrap()
            .value
            .clone()
            .unwrap()
    };
    assert_eq!(about("scenario"), SCENARIO);
    assert_eq!(about("mimosa.columns"), FrameRow::describe());
    assert!(about("mimosa.columns").contains("| `delay_ns` | integer or null | "));
    let names = FrameRow::columns().map(|column| column.name);
    let schema = file.schema_descr().columns();
    assert!(names.eq(schema.iter().map(|column| column.name())));
}

#[test]
fn the_same_tables_twice_are_the_same_bytes() {
    assert_eq!(
        bytes(&observed::<FrameRow>()),
        bytes(&observed::<FrameRow>())
    );
    let packets = || bytes(&observed::<Passage<StreamPacket>>());
    assert_eq!(packets(), packets());
}

#[test]
fn a_full_disk_is_an_error() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let result = Recording::<FrameRow, _>::new(Full, SCENARIO)
        .and_then(|mut recording| {
            recording.append(&observed()[0])?;
            recording.finish()
        })
        .map(drop);
    let error = result.unwrap_err().to_string();
    assert!(error.contains("no storage space"), "{error}");
}

#[test]
fn the_documentation_has_the_columns_of_the_files() {
    let documentation = include_str!("../src/columns.md");
    for table in [FrameRow::describe(), <Passage<StreamPacket>>::describe()] {
        assert!(documentation.contains(&table), "columns.md lacks:\n{table}");
    }
}
