//! Recordings of sessions: written, read, and read when they are broken.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::panic::catch_unwind;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mimosa_facts::{
    Cause, Complexity, Decision, Evidence, FrameEnd, FrameId, FrameLife, FramePlan,
    FrameProtection, FrameRtp, InputTimes, Loss, MediaSequence, Observer, Pacing, Relief,
    RtxSequence, SessionFrame, Stages, Strain,
};
use mimosa_record::{
    FrameRow, ReadError, Recording, Row, Run, Session, SessionRecorder, Table, read_session,
};
use mimosa_units::{Bytes, PeerTime, Rate, Time, TimeDelta};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

const ABOUT: &str = "{\"role\":\"player\",\"source\":\"demo ü\"}";

/// Frame number `number`; now and then one of which little is known.
fn frame(number: u64) -> SessionFrame {
    let at = |micros: i64| Time::from_nanos(number * 16_666_667) + TimeDelta::from_micros(micros);
    let (known, size) = (number % 7 != 3, 9_000 + number % 13 * 500);
    let pacing = match number % 3 {
        0 => Pacing::Burst,
        1 => Pacing::Spread {
            over: TimeDelta::from_millis(12),
            lead: 1,
        },
        _ => Pacing::Bucket {
            rate: Rate::from_kbps(24_000),
            burst: Bytes::ZERO,
        },
    };
    SessionFrame {
        captured: at(0),
        encode_begun: at(300),
        encode_ended: at(6_300),
        encode_processor: known.then(|| TimeDelta::from_micros(4_000)),
        relief: relief(number),
        life: FrameLife {
            frame: FrameId(number),
            due: at(200),
            interval: TimeDelta::from_micros(16_667),
            decision: Decision {
                frame_limit: known.then_some(Bytes::new(size)),
                pacing,
                cause: if known {
                    Cause::Drain
                } else {
                    Cause::AtMaximum
                },
                evidence: Evidence {
                    utilization: known.then_some(0.875),
                    smoothed_utilization: known.then_some(0.75),
                    service_rate: known.then_some(Rate::from_kbps(30_000)),
                    backlog: known.then_some(Bytes::new(1_200)),
                    queue_delay: known.then_some(TimeDelta::from_micros(-40)),
                },
                ..Decision::starting_at(if known {
                    Rate::from_kbps(20_000)
                } else {
                    Rate::MAX
                })
            },
            allowed: Bytes::new(size + 400),
            handed_over: at(6_400),
            pacing,
            bucket: None,
            size: Bytes::new(size + 300),
            packets: 10,
            first_sent: known.then(|| at(6_500)),
            last_sent: known.then(|| at(18_500)),
            first_arrival: known.then(|| PeerTime::from_nanos(-77)),
            last_arrival: known.then(|| PeerTime::from_nanos(99)),
            arrived: 10,
            lost: 1,
            retransmitted: 1,
            protection: known.then_some(FrameProtection {
                repairs: 3,
                rounds: 1,
                // Half of a half: nothing is lost by the way through rate and burst.
                loss: Loss {
                    begins: 0.25,
                    ends: 0.25,
                },
                late: 0.001,
                repaired: 1,
            }),
            end: match number % 7 {
                3 => Some(FrameEnd::GivenUp),
                5 => None,
                _ => Some(FrameEnd::Acknowledged(at(24_000))),
            },
        },
        coded: Bytes::new(size),
        budget: Bytes::new(size + 100),
        plan: FramePlan {
            complexity: Complexity::ALL[(number % 4) as usize],
            size: Bytes::new(size + 50),
            relative: known.then_some(1.25),
        },
        is_keyframe: number == 0,
        quantiser: known.then_some(21.3),
        attempts: 1 + u32::from(number % 50 == 9),
        received: known.then(|| at(19_000)),
        decoded: known.then(|| at(21_000)),
        shown: known.then(|| at(30_000)),
        inputs: u32::from(number.is_multiple_of(4)),
        newest_input: number.is_multiple_of(4).then(|| InputTimes {
            made: known.then(|| at(100)),
            received: at(200),
        }),
        sound_skew: known.then(|| TimeDelta::from_micros(-1_500)),
        sound_concealed: known.then_some(number),
        rtp: known.then(|| rtp(number)),
    }
}

/// Every fifth frame is spared something.
fn relief(number: u64) -> Relief {
    let strain = Strain::ALL[(number % 4) as usize];
    if !number.is_multiple_of(5) {
        return Relief::NONE;
    }
    Relief {
        strain: Some(strain),
        every: 2,
        quarters: 3,
        most: number.is_multiple_of(10).then_some(Bytes::new(9_000)),
        less_analysis: number.is_multiple_of(15),
    }
}

/// Ten packets, and in some frames three of them again.
fn rtp(number: u64) -> FrameRtp {
    let sequence = MediaSequence::of(number * 10);
    let mut rtp = FrameRtp {
        last: sequence.plus(9),
        ..FrameRtp::new(0xFEDC_BA98, sequence)
    };
    if number % 9 == 1 {
        for after in [0, 1, 64] {
            rtp.add_again(17, RtxSequence(sequence.0).minus(1).plus(after));
        }
    }
    rtp
}

fn frames(count: u64) -> Vec<SessionFrame> {
    (0..count).map(frame).collect()
}

fn written(frames: &[SessionFrame]) -> Vec<u8> {
    let mut recorder = SessionRecorder::new(Vec::new(), ABOUT).unwrap();
    for frame in frames {
        recorder.push(*frame).unwrap();
    }
    recorder.finish().unwrap()
}

/// A file with this name and content.
fn file(name: &str, bytes: &[u8]) -> File {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    File::open(path).unwrap()
}

fn refusal(name: &str, bytes: &[u8]) -> ReadError {
    read_session(file(name, bytes)).unwrap_err()
}

#[test]
fn a_session_comes_back_as_it_was() {
    for count in [0, 1, 3_600, 8_000] {
        let frames = frames(count);
        let session = read_session(file(&format!("whole-{count}"), &written(&frames))).unwrap();
        let about = ABOUT.to_owned();
        assert!(session == Session { about, frames }, "{count} frames");
    }
}

/// After each checkpoint the file is one of the frames so far, and in the end it is as if
/// there had been none.
#[test]
fn an_unfinished_recording_is_read_up_to_its_last_checkpoint() {
    let frames = frames(8_000);
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("checkpoints");
    let mut sink = BufWriter::with_capacity(1 << 20, File::create(&path).unwrap());
    sink.flush().unwrap();
    let mut recorder = SessionRecorder::new(sink, ABOUT).unwrap();
    // The second of two without anything between, before and behind a whole group's end.
    let checkpoints = [0, 1, 600, 600, 3_599, 3_600, 3_601, 5_000, 7_200, 7_900];
    let mut pushed = 0;
    for checkpoint in checkpoints {
        for frame in &frames[pushed..checkpoint] {
            recorder.push(*frame).unwrap();
        }
        pushed = checkpoint;
        recorder.checkpoint().unwrap();
        let session = read_session(File::open(&path).unwrap()).unwrap();
        assert!(session.frames == frames[..pushed], "{checkpoint}");
        assert_eq!(session.about, ABOUT);
    }
    for frame in &frames[pushed..] {
        recorder.push(*frame).unwrap();
    }
    // Nothing has been written since.
    let killed = read_session(File::open(&path).unwrap()).unwrap();
    assert_eq!(killed.frames.len(), pushed);
    let mut file = recorder.finish().unwrap().into_inner().unwrap();
    let end = file.stream_position().unwrap();
    file.set_len(end).unwrap();
    assert!(std::fs::read(&path).unwrap() == written(&frames));
}

#[test]
fn the_parts_of_the_delay_add_up() {
    let us = TimeDelta::from_micros;
    let stages = Stages {
        capture: us(300),
        encode: us(6_000),
        pace: us(12_200),
        network: us(500),
        decode: us(2_000),
        present: us(9_000),
        total: us(30_000),
    };
    assert_eq!(frame(4).stages(), Some(stages));
    let early = SessionFrame {
        received: Some(frame(4).encode_ended),
        ..frame(4)
    };
    let Stages { network, total, .. } = early.stages().unwrap();
    assert_eq!((network, total), (us(-12_200), us(30_000)));
    assert_eq!(frame(3).stages(), None, "it was never sent");
}

/// What went through, seen from outside of the recorder.
struct Counted(Arc<AtomicUsize>);

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.fetch_add(bytes.len(), Ordering::Relaxed);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn frames_leave_the_memory_while_the_session_lasts() {
    let sum = Arc::new(AtomicUsize::new(0));
    let mut recorder = SessionRecorder::new(Counted(Arc::clone(&sum)), ABOUT).unwrap();
    let mut flushes = 0;
    for number in 0..20_000 {
        let before = sum.load(Ordering::Relaxed);
        recorder.push(frame(number)).unwrap();
        flushes += usize::from(sum.load(Ordering::Relaxed) > before);
    }
    assert!((5..=6).contains(&flushes), "{flushes} flushes");
    drop(recorder.finish().unwrap());

    let reader = SerializedFileReader::new(file("groups", &written(&frames(8_000)))).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let rows: Vec<_> = groups.map(RowGroupMetaData::num_rows).collect();
    assert_eq!(rows, [3_600, 3_600, 800]);
}

#[test]
fn the_same_session_twice_is_the_same_bytes() {
    assert_eq!(written(&frames(100)), written(&frames(100)));
}

#[test]
fn a_frame_takes_little_room() {
    let per_frame = written(&frames(3_600)).len() / 3_600;
    assert!(per_frame < 60, "{per_frame} bytes");
}

#[test]
fn a_full_disk_is_an_error_and_stays_one() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut recorder = SessionRecorder::new(Full(10_000), ABOUT).unwrap();
    let results = frames(8_000).into_iter().map(|frame| recorder.push(frame));
    let errors: Vec<_> = results.filter_map(Result::err).collect();
    assert!(
        errors[0].to_string().contains("no storage space"),
        "{}",
        errors[0]
    );
    assert!(recorder.finish().is_err());
}

#[test]
fn what_is_no_session_is_said_to_be_none() {
    let text = |error: ReadError| error.to_string();
    for (name, bytes) in [
        ("empty", &b""[..]),
        ("short", b"PA"),
        ("text", b"duration = \"9s\""),
    ] {
        assert!(
            matches!(refusal(name, bytes), ReadError::NotParquet),
            "{name}"
        );
    }
    let whole = written(&frames(5_000));
    let part = &whole[..whole.len() - 1];
    assert!(matches!(refusal("part", part), ReadError::Unfinished));
    assert!(text(refusal("begun", b"PAR1")).contains("its program was killed"));

    let mut table = Table::new(Run {
        flows: vec!["game".into()],
        ..Run::default()
    });
    table.frame(0, &frame(1).life);
    let mut recording = Recording::<FrameRow, _>::new(Vec::new(), "").unwrap();
    recording.append(&table).unwrap();
    let error = refusal("simulation", &recording.finish().unwrap());
    assert!(matches!(error, ReadError::Simulation));
    assert!(text(error).contains("mimosa sim SCENARIO --plot"));
}

/// `whole` with each `from`, of the same length, turned into `to`.
fn renamed(whole: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for at in 0..bytes.len() - from.len() {
        if bytes[at..].starts_with(from.as_bytes()) {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    bytes
}

#[test]
fn what_is_wrong_with_the_columns_is_said() {
    let whole = written(&frames(9));
    let error = refusal("missing", &renamed(&whole, "shown_ns", "blown_ns"));
    assert_eq!(
        error.to_string(),
        "it lacks the columns shown_ns; name a recording by this version of mimosa"
    );
    let error = refusal("cause", &renamed(&whole, "drain", "grain"));
    assert!(
        matches!(
            error,
            ReadError::BadValue {
                column: "cause",
                row: 0
            }
        ),
        "{error}"
    );
    let early = SessionFrame {
        captured: Time::from_nanos(1),
        ..frame(1)
    };
    let mut bytes = written(&[early]);
    assert!(read_session(file("early", &bytes)).is_ok());
    // The names of two columns change places.
    bytes = renamed(&bytes, "keyframe", "??frames");
    bytes = renamed(&bytes, "attempts", "keyframe");
    bytes = renamed(&bytes, "??frames", "attempts");
    let error = refusal("types", &bytes);
    assert!(
        matches!(
            error,
            ReadError::WrongType {
                column: "keyframe",
                ..
            }
        ),
        "{error}"
    );
}

/// Whether `bytes` are taken. The library panics over a few of them.
fn is_taken(name: &str, bytes: &[u8]) -> bool {
    let file = file(name, bytes);
    catch_unwind(|| read_session(file).is_ok()).unwrap_or(false)
}

#[test]
fn a_part_of_a_session_is_none() {
    let whole = written(&frames(200));
    for length in (0..whole.len()).step_by(41) {
        assert!(!is_taken("truncated", &whole[..length]), "cut to {length}");
    }
}

/// No flipped bit makes the reader abort, or take memory or time without end.
#[test]
fn damage_can_be_caught() {
    let whole = written(&frames(200));
    // A linear congruential generator does: the same flips every time.
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let taken = (0..1_500).filter(|round| {
        let mut bytes = whole.clone();
        for _ in 0..=round % 3 {
            let at = next(bytes.len());
            bytes[at] ^= 1 << next(8);
        }
        is_taken("flipped", &bytes)
    });
    let taken = taken.count();
    assert!((1..1_400).contains(&taken), "{taken} were taken");
}

#[test]
fn the_documentation_has_the_columns_of_sessions() {
    let documentation = include_str!("../src/columns.md");
    let table = SessionFrame::describe();
    assert!(documentation.contains(&table), "columns.md lacks:\n{table}");
}
