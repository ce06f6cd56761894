//! Recordings of links: written, read, and read when they are broken.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::fs::File;
use std::panic::catch_unwind;
use std::path::PathBuf;

use mimosa_facts::{Fate, Header, LinkPacket, Passage, RtpPacket};
use mimosa_record::{
    Link, LinkRecorder, Queues, ReadError, Recorded, Row, SessionRecorder, read_link,
    read_recording, read_session,
};
use mimosa_units::{Bytes, Ecn, Time};
use parquet::file::metadata::RowGroupMetaData;
use parquet::file::reader::{FileReader, SerializedFileReader};

const ABOUT: &str = "{\"name\":\"Hügel\",\"begun_unix_ns\":1773500966000000001}";

fn queues() -> Queues {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    Queues {
        forward: names(&["l4s", "classic"]),
        reverse: names(&["back, \"the\" way"]),
    }
}

/// Packet number `number`, with all that a packet can be among each few hundred.
fn packet(number: u64) -> Passage<LinkPacket> {
    let at = |micros: u64| Time::from_nanos((number * 400 + micros) * 1_000);
    let is_forward = !number.is_multiple_of(3);
    let small = u16::try_from(number % 65_536).unwrap();
    let host: &str = ["10.1.0.1", "2001:db8::1:2", "::ffff:10.0.0.9"][usize::from(small % 3)];
    let fate = match number % 11 {
        4 => Fate::Dropped,
        7 => Fate::Lost,
        _ => Fate::Arrived(at(30_900)),
    };
    let started = (fate != Fate::Dropped).then(|| at(500 + number % 7));
    Passage {
        packet: LinkPacket {
            is_forward,
            header: Header {
                source: host.parse().unwrap(),
                destination: "10.1.0.2".parse().unwrap(),
                protocol: if number % 5 == 1 { 6 } else { 17 },
                source_port: small,
                destination_port: 65_535,
                dscp: 45,
            },
            // The number beyond the last stands for a queue without a name.
            queue: usize::from(small / 3 % 2),
            backlog: Bytes::new(number % 9 * 1_500),
            rtp: number.is_multiple_of(2).then_some(RtpPacket {
                ssrc: u32::MAX - 3,
                sequence: small,
            }),
        },
        size: Bytes::new(40 + number % 1_461),
        sent_ecn: [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce][usize::from(small % 4)],
        ecn: [Ecn::Ce, Ecn::NotEct, Ecn::Ect0, Ecn::Ect1][usize::from(small % 4)],
        offered: at(0),
        started,
        finished: started.map(|_| at(800)),
        fate,
    }
}

fn packets(count: u64) -> Vec<Passage<LinkPacket>> {
    (0..count).map(packet).collect()
}

fn written(packets: &[Passage<LinkPacket>]) -> Vec<u8> {
    let Queues { forward, reverse } = queues();
    let mut recorder = LinkRecorder::new(Vec::new(), ABOUT, &forward, &reverse).unwrap();
    for packet in packets {
        recorder.push(*packet).unwrap();
    }
    recorder.finish().unwrap()
}

/// A file with this name and content.
fn file(name: &str, bytes: &[u8]) -> File {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("link-{name}"));
    std::fs::write(&path, bytes).unwrap();
    File::open(path).unwrap()
}

#[test]
fn a_link_comes_back_as_it_was() {
    for count in [0, 1, 16_384, 40_000] {
        let packets = packets(count);
        let read = read_link(file(&format!("whole-{count}"), &written(&packets))).unwrap();
        let whole = Link {
            about: ABOUT.to_owned(),
            queues: queues(),
            packets,
        };
        assert!(read == whole, "{count} packets");
    }
}

#[test]
fn packets_leave_the_memory_in_groups_and_take_little_room() {
    let bytes = written(&packets(40_000));
    let per_packet = bytes.len() / 40_000;
    assert!(per_packet < 40, "{per_packet} bytes");
    let reader = SerializedFileReader::new(file("groups", &bytes)).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let rows: Vec<_> = groups.map(RowGroupMetaData::num_rows).collect();
    assert_eq!(rows, [16_384, 16_384, 7_232]);
}

#[test]
fn links_and_sessions_are_not_taken_for_each_other() {
    let link = written(&packets(9));
    let session = SessionRecorder::new(Vec::new(), "{}").unwrap();
    let session = session.finish().unwrap();
    assert!(matches!(
        read_session(file("as-session", &link)),
        Err(ReadError::IsLink)
    ));
    assert!(matches!(
        read_link(file("as-link", &session)),
        Err(ReadError::IsSession)
    ));
    assert!(matches!(
        read_recording(file("either", &link)),
        Ok(Recorded::Link(_))
    ));
    assert!(matches!(
        read_recording(file("or", &session)),
        Ok(Recorded::Session(_))
    ));
    assert!(matches!(
        read_link(file("text", b"name = \"link\"")),
        Err(ReadError::NotParquet)
    ));
    assert!(matches!(
        read_link(file("part", &link[..link.len() - 3])),
        Err(ReadError::Unfinished)
    ));
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
fn what_is_wrong_with_a_link_is_said() {
    let whole = written(&packets(40));
    for (from, to, message) in [
        ("due_ns", "dew_ns", "it lacks the columns due_ns;"),
        (
            "10.1.0.1",
            "10.1.0.x",
            "its column source has an impossible value in row 0,",
        ),
        (
            "lost",
            "loss",
            "its column fate has an impossible value in row 7,",
        ),
        ("ect1", "ect7", "its column ecn_"),
    ] {
        let error = read_link(file("wrong", &renamed(&whole, from, to))).unwrap_err();
        assert!(error.to_string().starts_with(message), "{from}: {error}");
    }
}

/// No part of a file is taken for a whole one, and no flipped bit makes the reader
/// abort, or take memory or time without end. The library panics over a few.
#[test]
fn damage_can_be_caught() {
    let whole = written(&packets(300));
    let is_taken = |name: &str, bytes: &[u8]| {
        let file = file(name, bytes);
        catch_unwind(|| read_link(file).is_ok()).unwrap_or(false)
    };
    for length in (0..whole.len()).step_by(53) {
        assert!(!is_taken("truncated", &whole[..length]), "cut to {length}");
    }
    // A linear congruential generator does: the same flips every time.
    let mut state = 1_u64;
    let mut next = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(state >> 33).unwrap() % below
    };
    let taken = (0..1_500).filter(|_| {
        let mut bytes = whole.clone();
        let at = next(bytes.len());
        bytes[at] ^= 1 << next(8);
        is_taken("flipped", &bytes)
    });
    let taken = taken.count();
    assert!((1..1_400).contains(&taken), "{taken} were taken");
}

#[test]
fn the_documentation_has_the_columns_of_links() {
    let documentation = include_str!("../src/columns.md");
    let table = <Passage<LinkPacket>>::describe();
    assert!(documentation.contains(&table), "columns.md lacks:\n{table}");
}
