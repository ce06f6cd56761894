//! Both ends with real sockets on loopback, between two applications that the test plays.
#![allow(clippy::unwrap_used, reason = "a test may")]

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use mimosa_facts::Limits;
use mimosa_proxy::{Far, FarConfig, FarStatistics, Key, Near, NearConfig, Statistics};
use mimosa_relay::{Commands, FarEnd, FarPlaces, NearEnd, NearPlaces, Place, Stop, stop};
use mimosa_units::Rate;

/// A wait that no test comes near to unless it fails.
const LONG: Duration = Duration::from_secs(20);

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(LONG)).unwrap();
    socket
}

fn near() -> Near {
    let mbps = |mbps: u64| Rate::from_kbps(mbps * 1_000);
    let limits = Limits::new(mbps(1), mbps(20), mbps(50));
    let make = |limits| {
        let none = std::iter::empty::<(&str, f64)>();
        let none = serde::de::value::MapDeserializer::<_, serde::de::value::Error>::new(none);
        mimosa_cc::build("mimosa", none, limits).unwrap()
    };
    Near::new(NearConfig::new(limits), 1, Box::new(make))
}

/// Both ends and the two applications.
struct Both {
    sender: UdpSocket,
    receiver: UdpSocket,
    near: SocketAddr,
    far: SocketAddr,
    place: PathBuf,
    stops: Vec<Stop>,
    near_end: JoinHandle<Statistics>,
    far_end: JoinHandle<FarStatistics>,
}

fn start(name: &str, commands: Commands) -> Both {
    start_with(name, commands, None)
}

/// Both ends, with a key or without.
fn start_with(name: &str, commands: Commands, key: Option<&str>) -> Both {
    let place = std::env::temp_dir().join(format!("mimosa-{name}-{}", std::process::id()));
    let receiver = socket();
    let far_places = FarPlaces {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: receiver.local_addr().unwrap(),
        from: None,
        is_muxed: true,
    };
    let key = key.map(|key| Key::new(key).unwrap());
    let (mut near_state, mut far_state) = (near(), Far::new(FarConfig::default(), 2));
    if let Some(key) = key {
        near_state = near_state.with_key(key.clone(), [1; 16]);
        far_state = far_state.with_key(key);
    }
    let far = FarEnd::bind(&far_places, far_state).unwrap();
    let near_places = NearPlaces {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: far.address(),
        is_muxed: true,
        interface: Some(Place::Unix(place.clone())),
        commands,
    };
    let end = NearEnd::bind(&near_places, near_state).unwrap();
    let (near, far_address) = (end.address(), far.address());
    let [(stop_near, near_stopped), (stop_far, far_stopped)] = [stop().unwrap(), stop().unwrap()];
    Both {
        sender: socket(),
        receiver,
        near,
        far: far_address,
        place,
        stops: vec![stop_near, stop_far],
        near_end: spawn(move || end.run(&near_stopped)),
        far_end: spawn(move || far.run(&far_stopped)),
    }
}

impl Both {
    /// Sends 40 frames of four packets, each of which arrives as it was sent. `before` is called with the number of each
    /// packet before it leaves.
    fn passes_frames(&self, before: impl Fn(u16)) {
        let mut buffer = [0; 2_000];
        for frame in 0..40_u8 {
            for index in 0..4 {
                let sequence = u16::from(frame) * 4 + index;
                before(sequence);
                let packet = rtp(sequence, frame, index == 3);
                self.sender.send_to(&packet, self.near).unwrap();
            }
            for index in 0..4 {
                let (length, _) = self.receiver.recv_from(&mut buffer).unwrap();
                let sequence = u16::from(frame) * 4 + index;
                assert_eq!(buffer[..length], rtp(sequence, frame, index == 3));
            }
        }
    }

    fn end(self) -> (Statistics, FarStatistics) {
        for stop in &self.stops {
            stop.now();
        }
        let _ = std::fs::remove_file(&self.place);
        (self.near_end.join().unwrap(), self.far_end.join().unwrap())
    }
}

/// The near end has heard of the 160 packets of [`Both::passes_frames`], from one far end.
fn assert_reported(near: &Statistics, far: &FarStatistics) {
    assert!(near.reports > 20 && near.bad_reports == 0, "{near:?}");
    assert!(near.arrived >= 150 && near.far_ends == 1, "{near:?}");
    assert!(
        (160..=near.paced.packets).contains(&far.rtp.packets),
        "{far:?}"
    );
}

fn rtp(sequence: u16, frame: u8, marker: bool) -> Vec<u8> {
    let [s0, s1] = sequence.to_be_bytes();
    let second = if marker { 0xe0 } else { 0x60 };
    let header = [0x80, second, s0, s1, 0, 0, frame, 0, 0, 0, 0, 7];
    [&header[..], &[frame; 1_100]].concat()
}

/// Frames of four packets arrive as they were sent, reports come back, and the application is told.
#[test]
fn packets_pass_as_they_are_and_the_application_is_told() {
    let both = start("passes", Commands::default());
    let mut connection = BufReader::new(UnixStream::connect(&both.place).unwrap());
    connection.get_ref().set_read_timeout(Some(LONG)).unwrap();
    let mut buffer = [0; 2_000];
    both.passes_frames(|_| ());
    // RTCP passes both ways, on the same port.
    let report = [0x80, 201, 0, 1, 0, 0, 0, 9];
    both.sender.send_to(&report, both.near).unwrap();
    let (length, far) = both.receiver.recv_from(&mut buffer).unwrap();
    assert_eq!(buffer[..length], report);
    let lost = [0x81, 206, 0, 2, 0, 0, 0, 9, 0, 0, 0, 7];
    both.receiver.send_to(&lost, far).unwrap();
    let (length, from) = both.sender.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..length], from), (&lost[..], both.near));
    // What is not RTP goes nowhere.
    both.sender.send_to(&[0; 30], both.near).unwrap();
    let mut said = String::new();
    while !said.contains("keyframe") {
        let before = said.len();
        connection.read_line(&mut said).unwrap();
        assert!(said.len() > before, "it ended: {said}");
    }
    assert!(said.contains(r#"{"bitsPerSecond":"#), "{said}");
    let limits = b"{\"type\":\"limits\",\"maxBitsPerSecond\":1500000}\n{}\n";
    connection.get_ref().write_all(limits).unwrap();
    while !said.contains("1500000") || !said.contains("error") {
        let before = said.len();
        connection.read_line(&mut said).unwrap();
        assert!(said.len() > before, "it ended: {said}");
    }
    let (near, far) = both.end();
    assert!(near.copies == 0 && near.refused == 1, "{near:?}");
    assert_reported(&near, &far);
}

#[test]
fn a_command_is_told_the_bitrate() {
    let file = std::env::temp_dir().join(format!("mimosa-told-{}", std::process::id()));
    let commands = Commands {
        on_bitrate: Some(format!("echo {{bits_per_second}} >> {}", file.display())),
        on_keyframe: None,
        apart: Duration::from_secs(1),
    };
    let both = start("command", commands);
    let begun = mimosa_system::clock::now();
    let told = loop {
        let told = std::fs::read_to_string(&file).unwrap_or_default();
        if told.ends_with('\n') {
            break told;
        }
        assert!(begun.elapsed() < LONG, "nothing is told");
        mimosa_system::clock::wait(Duration::from_millis(2));
    };
    both.end();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(told, "19000000\n", "95 % of 20 Mbit/s");
}

/// Without a key, whoever sends first to the far end is taken for the near end, until silent for two seconds.
#[test]
fn with_a_key_a_stranger_who_comes_first_gets_nothing_through() {
    let key = Some("a key that both ends have");
    let both = start_with("key", Commands::default(), key);
    let stranger = socket();
    both.passes_frames(|sequence| {
        let packet = rtp(sequence, 99, false);
        stranger.send_to(&packet, both.far).unwrap();
    });
    let (near, far) = both.end();
    assert_reported(&near, &far);
}
