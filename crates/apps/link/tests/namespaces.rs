//! Sends real packets between two network namespaces that the test makes.
//!
//! The tests need root. Without it, they say so and do nothing, unless `CI` is set.

#![allow(clippy::unwrap_used, reason = "a test may")]

use std::net::UdpSocket;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use mimosa_facts::{Fate, LinkPacket, Passage};
use mimosa_link::{Clock, Engine, Tally, Tun, Waiting, within};
use mimosa_net::queue::{DropTail, DualPi2, DualPi2Config, Limit, Queue};
use mimosa_net::{Direction, LossModel, PathConfig, Schedule};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

const LEFT: &str = "10.9.0.1";
const RIGHT: &str = "10.9.0.2";
const PATH: PathConfig = PathConfig {
    delay: TimeDelta::from_millis(10),
    jitter: None,
    loss: LossModel::Random(0.0),
    reordering: None,
    remark: None,
};

/// Two namespaces, which are removed when this is dropped.
struct Pair {
    left: String,
    right: String,
}

fn ip(arguments: &str) -> bool {
    let words = arguments.split(' ');
    Command::new("ip")
        .args(words)
        .output()
        .is_ok_and(|output| output.status.success())
}

impl Pair {
    /// Makes the namespaces; `None` without the rights, which is a failure under CI.
    fn new() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "mimosa-link-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let pair = Self {
            left: format!("{name}-l"),
            right: format!("{name}-r"),
        };
        let is_made = [&pair.left, &pair.right]
            .iter()
            .all(|name| ip(&format!("netns add {name}")));
        if !is_made {
            assert!(std::env::var_os("CI").is_none(), "no network namespaces");
            eprintln!("skipped: network namespaces need root and iproute2");
            return None;
        }
        Some(pair)
    }

    fn file(name: &str) -> PathBuf {
        PathBuf::from(format!("/run/netns/{name}"))
    }

    /// Makes a device in each namespace, with addresses.
    fn devices(&self) -> (Tun, Tun) {
        let device = |name: &str, own: &str, other: &str| {
            let tun = within(&Self::file(name), || Tun::create("tun0"))
                .unwrap()
                .unwrap();
            assert!(ip(&format!(
                "-n {name} address add {own} peer {other} dev tun0"
            )));
            assert!(ip(&format!(
                "-n {name} link set tun0 mtu 1500 txqueuelen 20000 up"
            )));
            tun
        };
        (
            device(&self.left, LEFT, RIGHT),
            device(&self.right, RIGHT, LEFT),
        )
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        for name in [&self.left, &self.right] {
            ip(&format!("netns delete {name}"));
        }
    }
}

fn direction(kbps: u64, queue: Box<dyn Queue<mimosa_net::Stamped>>, name: &str) -> Direction {
    Direction::new(
        queue,
        Schedule::constant(Rate::from_kbps(kbps)),
        PATH,
        1,
        name,
    )
}

/// What arrived: the number of each packet, and the time that it took.
struct Arrived {
    numbers: Vec<u32>,
    delays: Vec<TimeDelta>,
    tallies: Vec<Tally>,
    passages: Vec<Passage<LinkPacket>>,
}

/// Sends `count` packets with 1172 bytes of payload, 1200 with their headers, at intervals of
/// `gap`, with this ECN field, across `there`.
fn send(there: Direction, count: u32, gap: Duration, ecn: u8) -> Option<Arrived> {
    let pair = Pair::new()?;
    let clock = Clock::start();
    let devices = pair.devices();
    let (told, passages) = mpsc::channel();
    let back = direction(1_000_000, Box::new(DropTail::new(Limit::Unlimited)), "back");
    let engine = Engine::start(
        clock,
        devices,
        (there, back),
        Waiting::default(),
        Some(&told),
    )
    .unwrap();
    drop(told);
    let bind = |name: &str, address: &str| {
        within(&Pair::file(name), || UdpSocket::bind(address).unwrap()).unwrap()
    };
    let from = bind(&pair.left, &format!("{LEFT}:5000"));
    let to = bind(&pair.right, &format!("{RIGHT}:6000"));
    to.set_read_timeout(Some(Duration::from_millis(700)))
        .unwrap();
    rustix::net::sockopt::set_ip_tos(&from, ecn).unwrap();
    let receiver = std::thread::spawn(move || {
        let (mut numbers, mut delays) = (Vec::new(), Vec::new());
        let mut buffer = [0; 2_000];
        while let Ok(length) = to.recv(&mut buffer) {
            assert_eq!(length, 1_172);
            let now = clock.now();
            numbers.push(u32::from_be_bytes(buffer[..4].try_into().unwrap()));
            let sent = u64::from_be_bytes(buffer[4..12].try_into().unwrap());
            delays.push(now.since(Time::from_nanos(sent)));
        }
        (numbers, delays)
    });
    for number in 0..count {
        let mut payload = [0; 1_172];
        payload[..4].copy_from_slice(&number.to_be_bytes());
        payload[4..12].copy_from_slice(&clock.now().as_nanos().to_be_bytes());
        from.send_to(&payload, format!("{RIGHT}:6000")).unwrap();
        std::thread::park_timeout(gap);
    }
    let (numbers, delays) = receiver.join().unwrap();
    let tallies = engine.stop();
    let passages = passages
        .into_iter()
        .filter(|passage| passage.packet.is_forward);
    Some(Arrived {
        numbers,
        delays,
        passages: passages.collect(),
        tallies,
    })
}

/// Checks that every packet of both directions was delivered, dropped or is inside.
fn check(arrived: &Arrived) {
    for tally in &arrived.tallies {
        let counts = tally.counts;
        assert_eq!(
            counts.offered,
            counts.released + counts.dropped + counts.lost + tally.inside
        );
        assert_eq!((tally.unwritten, tally.not_ip), (0, 0));
    }
}

#[test]
fn below_the_rate_every_packet_arrives_in_order_after_its_time() {
    // The load is at most 9.6 Mbit/s, on a link of 20.
    let there = direction(
        20_000,
        Box::new(DropTail::new(Limit::Packets(100))),
        "there",
    );
    let Some(arrived) = send(there, 1_000, Duration::from_millis(1), 0) else {
        return;
    };
    check(&arrived);
    assert_eq!(arrived.numbers, (0..1_000).collect::<Vec<_>>());
    // The least delay is 10 ms of propagation and 0.48 ms of serialisation.
    let least = arrived.delays.iter().min().unwrap();
    assert!(*least >= TimeDelta::from_micros(10_480), "{least}");
    let late = &arrived.tallies[0].lateness;
    println!(
        "left late by {:?} (median), {:?} at most",
        late.at(0.5),
        late.most()
    );
}

#[test]
fn above_the_rate_the_queue_drops_and_the_link_is_exact() {
    let there = direction(5_000, Box::new(DropTail::new(Limit::Packets(50))), "there");
    let Some(arrived) = send(there, 3_000, Duration::from_micros(300), 0) else {
        return;
    };
    check(&arrived);
    let dropped = arrived.tallies[0].counts.dropped;
    assert!(dropped > 100, "{dropped}");
    // The kernel sends a few packets of its own, which may be among the dropped ones.
    assert!(arrived.numbers.len() as u64 >= 3_000 - dropped);
    // While there is a queue, a packet follows the other after exactly 1.92 ms.
    let finished = arrived.passages.iter().filter_map(|passage| {
        let started = passage.started?;
        Some((started, passage.offered, passage.finished?))
    });
    let finished: Vec<_> = finished.collect();
    for pair in finished.windows(2) {
        let [(_, _, before), (started, offered, finished)] = [pair[0], pair[1]];
        assert_eq!(started, before.max(offered));
        assert_eq!(finished.since(started), TimeDelta::from_micros(1_920));
    }
}

#[test]
fn marks_and_the_ecn_field_cross_as_they_are() {
    // ECT(1) and a quarter more than passes: DualPI2 marks.
    let queue = Box::new(DualPi2::new(DualPi2Config::default(), 1));
    let there = direction(8_000, queue, "there");
    let Some(arrived) = send(there, 1_500, Duration::from_millis(1), 1) else {
        return;
    };
    check(&arrived);
    // The kernel says a few words of its own.
    let passages = arrived.passages.iter();
    let ours: Vec<_> = passages
        .filter(|passage| passage.packet.header.destination_port == 6_000)
        .collect();
    assert!(ours.iter().all(|passage| passage.sent_ecn == Ecn::Ect1));
    let passed = ours.iter().filter(|passage| passage.started.is_some());
    let marked = passed.filter(|passage| passage.ecn == Ecn::Ce).count();
    assert_eq!(marked as u64, arrived.tallies[0].counts.marked);
    assert!(marked > 50, "{marked}");
    // The receiver's kernel drops a packet whose header has a wrong checksum.
    let due = ours
        .iter()
        .filter(|passage| matches!(passage.fate, Fate::Arrived(_)));
    assert_eq!(arrived.numbers.len(), due.count());
    let header = ours[0].packet.header;
    assert_eq!((header.source_port, header.protocol), (5_000, 17));
    assert_eq!(ours[0].size, Bytes::new(1_200));
    assert_eq!(arrived.tallies[0].counts.lost, 0);
}
