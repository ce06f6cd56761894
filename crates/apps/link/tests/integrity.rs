//! Checks that packets cross a link unchanged: both ways at once, several flows, packets of all
//! sizes, fragments, TCP, IPv4 and IPv6.
//!
//! The test needs root. Without it, it says so and does nothing, unless `CI` is set.

#![allow(clippy::unwrap_used, reason = "a test may")]

mod rights;

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::mpsc;
use std::time::Duration;

use mimosa_facts::{LinkPacket, Passage};
use mimosa_link::{Clock, Engine, Side, Waiting};
use mimosa_net::queue::{DropTail, Limit};
use mimosa_net::{Direction, LossModel, PathConfig, Random, Schedule};
use mimosa_units::{Bytes, Rate, TimeDelta};

const MTU: u16 = 1_500;
/// Largest IPv4 payload of a datagram that one packet holds, and the datagrams of each flow.
const WHOLE_4: usize = 1_472;
const DATAGRAMS: u64 = 300;
/// Bytes of each TCP transfer: more than the link's queue ever holds.
const TRANSFER: usize = 1 << 20;
/// Expedited forwarding, and ECT(0).
const TRAFFIC_CLASS: u8 = 46 << 2 | 2;

fn direction(name: &str) -> Direction {
    let path = PathConfig {
        delay: TimeDelta::from_millis(3),
        jitter: None,
        loss: LossModel::Random(0.0),
        reordering: None,
        remark: None,
    };
    let queue = Box::new(DropTail::new(Limit::Unlimited));
    Direction::new(
        queue,
        Schedule::constant(Rate::from_kbps(50_000)),
        path,
        1,
        name,
    )
}

/// Content that is unique to this flow, datagram and length.
fn content(flow: u64, number: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(flow * 1_000_003 + number, "content");
    let byte = |_| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below 256"
        )]
        let byte = (random.uniform() * 256.0) as u8;
        byte
    };
    let mut bytes: Vec<u8> = (0..length).map(byte).collect();
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes
}

/// A length between 8 bytes and a little less than three packets.
fn length(number: u64) -> usize {
    match number {
        0 => WHOLE_4,
        1 => WHOLE_4 + 1,
        2 => 4_000,
        _ => 8 + usize::try_from(number * 7_919 % 1_465).unwrap(),
    }
}

fn here<T: Send>(side: &Side, act: impl FnOnce() -> T + Send) -> T {
    side.namespace.within(act).unwrap()
}

/// Sends datagrams from one side to the other. Returns the thread that checks them.
fn datagrams(from: &Side, to: &Side, flow: u64, is_v6: bool) -> std::thread::JoinHandle<u64> {
    let address = |side: &Side| -> IpAddr {
        if is_v6 {
            side.addresses.own_v6.into()
        } else {
            side.addresses.own.into()
        }
    };
    let port = 7_000 + u16::try_from(flow).unwrap();
    let (own, peer) = (address(from), address(to));
    let receiver = here(to, || UdpSocket::bind((peer, port)).unwrap());
    let sender = here(from, || UdpSocket::bind((own, port)).unwrap());
    if !is_v6 {
        rustix::net::sockopt::set_ip_tos(&sender, TRAFFIC_CLASS).unwrap();
    }
    receiver
        .set_read_timeout(Some(Duration::from_secs(3)))
        .unwrap();
    let check = std::thread::spawn(move || {
        let mut buffer = [0; 9_000];
        let mut next = 0;
        while next < DATAGRAMS {
            let Ok(size) = receiver.recv(&mut buffer) else {
                break;
            };
            // The datagram came in order, whole and unchanged.
            assert!(
                buffer[..size] == content(flow, next, length(next)),
                "{flow}: {next}"
            );
            next += 1;
        }
        next
    });
    std::thread::spawn(move || {
        for number in 0..DATAGRAMS {
            let bytes = content(flow, number, length(number));
            sender.send_to(&bytes, (peer, port)).unwrap();
            std::thread::park_timeout(Duration::from_millis(2));
        }
    });
    check
}

/// Makes a TCP transfer from one side to the other. Returns the thread that checks it.
fn transfer(from: &Side, to: &Side, flow: u64) -> std::thread::JoinHandle<u64> {
    let port = 8_000 + u16::try_from(flow).unwrap();
    let peer = to.addresses.own;
    let listener = here(to, || TcpListener::bind((peer, port)).unwrap());
    let mut stream = here(from, || TcpStream::connect((peer, port)).unwrap());
    std::thread::spawn(move || {
        stream.write_all(&content(flow, 0, TRANSFER)).unwrap();
    });
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        assert!(bytes == content(flow, 0, TRANSFER), "{flow}");
        bytes.len() as u64
    })
}

/// A counter of the kernel in a namespace, e.g. `Udp: InCsumErrors`.
fn counter(side: &Side, protocol: &str, name: &str) -> u64 {
    let text = here(side, || {
        std::fs::read_to_string("/proc/thread-self/net/snmp").unwrap()
    });
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with(protocol))
        .collect();
    let names = lines[0].split_whitespace();
    let at = names.clone().position(|own| own == name).unwrap();
    lines[1]
        .split_whitespace()
        .nth(at)
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn everything_crosses_as_it_was_both_ways_at_once() {
    let Some((sides, devices)) = rights::connect(MTU) else {
        return;
    };
    let (told, passages) = mpsc::channel::<Passage<LinkPacket>>();
    let both = (direction("there"), direction("back"));
    let clock = Clock::start();
    let engine = Engine::start(clock, devices, both, Waiting::default(), Some(&told)).unwrap();
    drop(told);
    let (left, right) = (&sides.sender, &sides.receiver);
    let checks = [
        datagrams(left, right, 1, false),
        datagrams(right, left, 2, false),
        datagrams(left, right, 3, true),
        datagrams(right, left, 4, true),
    ];
    let transfers = [transfer(left, right, 5), transfer(right, left, 6)];
    for check in checks {
        assert_eq!(check.join().unwrap(), DATAGRAMS);
    }
    for transfer in transfers {
        assert_eq!(transfer.join().unwrap(), TRANSFER as u64);
    }
    for tally in engine.stop() {
        let counts = tally.counts;
        assert_eq!((counts.dropped, counts.lost), (0, 0));
        assert_eq!(counts.offered, counts.released + tally.inside);
        assert_eq!((tally.unwritten, tally.not_ip), (0, 0));
    }
    for side in [left, right] {
        for (protocol, name) in [
            ("Udp:", "InCsumErrors"),
            ("Tcp:", "InCsumErrors"),
            ("Ip:", "InHdrErrors"),
            ("Ip:", "ReasmFails"),
        ] {
            assert_eq!(counter(side, protocol, name), 0, "{protocol} {name}");
        }
    }
    let passages: Vec<_> = passages.into_iter().collect();
    // Datagrams larger than the link's packets came in fragments.
    let largest = passages.iter().map(|passage| passage.size).max();
    assert_eq!(largest, Some(Bytes::new(u64::from(MTU))));
    let ours = passages
        .iter()
        .filter(|passage| passage.packet.header.destination_port == 7_001);
    let classes: Vec<_> = ours
        .map(|passage| (passage.packet.header.dscp, passage.sent_ecn, passage.ecn))
        .collect();
    assert!(classes.len() >= 300);
    let ect0 = mimosa_units::Ecn::Ect0;
    assert!(classes.iter().all(|class| *class == (46, ect0, ect0)));
}
