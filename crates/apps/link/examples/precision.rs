//! How exactly the emulator keeps time, and how much it carries: the tables of
//! docs/use/link.md.
//!
//! ```text
//! cargo run --profile play -p mimosa-link --example precision [SECONDS [RUNS]]
//! ```
//!
//! Each figure is the median of its values in the runs, because a virtual machine disturbs single
//! runs, but not all of them.
//!
//! For each rate, packets of 1500 bytes at 90 % of it cross a link of 10 ms in one
//! direction. The *departure error* is how much later than scheduled a packet is written
//! to the far host; the *end-to-end error* is the far kernel's time of arrival less what
//! an ideal link makes of the times at which packets were sent, so that the errors of
//! reading the packet, of the sender's clock and of the far kernel are in it.

#![allow(clippy::unwrap_used, reason = "a measurement ends where it fails")]
#![expect(unsafe_code, reason = "asks the kernel when a packet came")]

use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use mimosa_link::{Clock, Engine, Sides, Tally, Waiting};
use mimosa_net::queue::{DropTail, Limit};
use mimosa_net::{Direction, LossModel, PathConfig, Schedule};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};
use rustix::ioctl::{Getter, Opcode, ioctl};

/// `SIOCGSTAMPNS_OLD` (`asm/sockios.h`): when the packet that was last read came.
const SIOCGSTAMPNS: Opcode = 0x8907;
const PORT: u16 = 7_000;
/// Size of a packet with IP and UDP headers, which are 28 bytes of it.
const PACKET: Bytes = Bytes::new(1_500);
const PAYLOAD: usize = 1_472;
const PATH: PathConfig = PathConfig {
    delay: TimeDelta::from_millis(10),
    jitter: None,
    loss: LossModel::Random(0.0),
    reordering: None,
    remark: None,
};

/// `struct timespec`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Timespec {
    seconds: i64,
    nanos: i64,
}

fn main() {
    let mut words = std::env::args().skip(1);
    let seconds = words.next().map_or(3.0, |text| text.parse().unwrap());
    let runs = words.next().map_or(5, |text| text.parse().unwrap());
    println!(
        "| Mbit/s | waiting | departure us p50 | p99 | p99.9 | max | end to end us p50 | p99 | p99.9 | max | CPU |"
    );
    println!("|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for mbps in [20, 50, 100, 500] {
        for (name, spin) in [
            ("sleep", TimeDelta::ZERO),
            ("hybrid", Waiting::default().spin),
            ("spin", TimeDelta::from_millis(1_000)),
        ] {
            let rate = Rate::from_kbps(mbps * 1_000);
            let all: Vec<_> = (0..runs)
                .map(|_| cross(rate, rate.scale(0.9), Waiting { spin }, seconds))
                .collect();
            let of = |values: fn(&Seen) -> &[f64]| {
                let at = |index: usize| median(all.iter().map(|seen| values(seen)[index]));
                quantiles(&[0, 1, 2, 3].map(at))
            };
            println!(
                "| {mbps} | {name} | {} | {} | {:.0} % |",
                of(|seen| &seen.departure),
                of(|seen| &seen.end_to_end),
                median(all.iter().map(|seen| seen.cpu)) * 100.0
            );
        }
    }
    println!(
        "\n| link Mbit/s | offered | carried | kpackets/s | dropped by the queue | other losses |"
    );
    println!("|--:|--:|--:|--:|--:|--:|");
    for (mbps, offered) in [(1_000, 1_100), (2_000, 2_200)] {
        let rate = Rate::from_kbps(mbps * 1_000);
        let offered = Rate::from_kbps(offered * 1_000);
        let seen = cross(rate, offered, Waiting::default(), seconds);
        let counts = seen.tally.counts;
        let carried = counts.released as f64 / seen.lasted;
        println!(
            "| {mbps} | {:.0} | {:.0} | {:.0} | {} | {} |",
            seen.sent as f64 / seen.lasted * 12e-3,
            carried * 12e-3,
            carried * 1e-3,
            counts.dropped,
            (seen.sent - counts.offered) + seen.tally.unwritten,
        );
    }
}

/// The figures of a run.
struct Seen {
    departure: Vec<f64>,
    end_to_end: Vec<f64>,
    /// Share of a core that the direction's thread used.
    cpu: f64,
    tally: Tally,
    sent: u64,
    lasted: f64,
}

/// Sends packets at `offered` across a link of `rate`.
fn cross(rate: Rate, offered: Rate, waiting: Waiting, seconds: f64) -> Seen {
    let (sides, devices) = Sides::connect(None, 1_500).unwrap();
    let clock = Clock::start();
    let direction = |rate, name| {
        let queue = Box::new(DropTail::new(Limit::Packets(1_000)));
        Direction::new(queue, Schedule::constant(rate), PATH, 1, name)
    };
    let both = (direction(rate, "there"), direction(Rate::MAX, "back"));
    let engine = Engine::start(clock, devices, both, waiting, None).unwrap();
    let bind = |side: &mimosa_link::Side| {
        let address = (side.addresses.own, PORT);
        side.namespace
            .within(|| UdpSocket::bind(address).unwrap())
            .unwrap()
    };
    let (from, to) = (bind(&sides.sender), bind(&sides.receiver));
    rustix::net::sockopt::set_socket_recv_buffer_size_force(&to, 1 << 24)
        .or_else(|_| rustix::net::sockopt::set_socket_recv_buffer_size(&to, 1 << 24))
        .unwrap();
    to.set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    // Sender and receiver have the same priority as the link, because the link is measured.
    let _ = rustix::process::setpriority_process(None, -11);
    let receiver = std::thread::spawn(move || receive(&to, clock));
    let busy = thread_seconds("link-there");
    let begun = clock.now();
    let sent = send(&from, sides.receiver.addresses.own, clock, offered, seconds);
    let lasted = clock.now().since(begun).as_secs();
    let busy = thread_seconds("link-there") - busy;
    let arrived = receiver.join().unwrap();
    let tally = engine.stop().swap_remove(0);
    let departure = [0.5, 0.99, 0.999, 1.0]
        .map(|share| tally.lateness.at(share).unwrap_or_default().as_millis() * 1e3);
    // An ideal link with the same queue.
    let mut free = Time::ZERO;
    let took = rate.transmit_time(PACKET);
    let ideal: Vec<_> = sent
        .iter()
        .map(|at| {
            free = free.max(*at) + took;
            free + PATH.delay
        })
        .collect();
    let mut errors: Vec<_> = arrived
        .iter()
        .filter_map(|(number, at)| {
            let ideal = ideal.get(usize::try_from(*number).ok()?)?;
            Some(at.since(*ideal).as_millis() * 1e3)
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    let at = |share: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a length"
        )]
        let rank = (share * (errors.len().saturating_sub(1)) as f64).round() as usize;
        errors.get(rank).copied().unwrap_or(f64::NAN)
    };
    Seen {
        departure: departure.to_vec(),
        end_to_end: [0.5, 0.99, 0.999, 1.0].map(at).to_vec(),
        cpu: busy / lasted,
        tally,
        sent: sent.len() as u64,
        lasted,
    }
}

/// Sends numbered packets of one size at one rate. Returns when each was sent.
fn send(socket: &UdpSocket, to: Ipv4Addr, clock: Clock, rate: Rate, seconds: f64) -> Vec<Time> {
    let gap = rate.transmit_time(PACKET);
    let mut payload = [0_u8; PAYLOAD];
    let mut sent = Vec::new();
    let begin = clock.now() + TimeDelta::from_millis(20);
    let end = begin + TimeDelta::from_secs(seconds);
    let mut due = begin;
    while due < end {
        let rest = due.since(clock.now());
        if rest > TimeDelta::from_micros(100) {
            let sleep = u64::try_from(rest.as_nanos() - 60_000).unwrap_or(0);
            std::thread::park_timeout(Duration::from_nanos(sleep));
            continue;
        }
        while clock.now() < due {
            std::hint::spin_loop();
        }
        let number = sent.len() as u64;
        payload[..8].copy_from_slice(&number.to_be_bytes());
        sent.push(clock.now());
        socket.send_to(&payload, (to, PORT)).unwrap();
        due += gap;
    }
    sent
}

/// Receives packets until none comes any more. Returns their numbers and the kernel's times.
fn receive(socket: &UdpSocket, clock: Clock) -> Vec<(u64, Time)> {
    let mut arrived = Vec::new();
    let mut buffer = [0_u8; 2_000];
    // The first call switches the kernel's time stamps on.
    let _ = stamp(socket);
    while let Ok(length) = socket.recv(&mut buffer) {
        assert_eq!(length, PAYLOAD);
        let number = u64::from_be_bytes(buffer[..8].try_into().unwrap());
        if let Some(unix) = stamp(socket) {
            let since = u64::try_from(unix - clock.begun_unix_nanos()).unwrap_or(0);
            arrived.push((number, Time::from_nanos(since)));
        }
    }
    arrived
}

/// The kernel's time of the last packet, in nanoseconds since 1970.
fn stamp(socket: &UdpSocket) -> Option<i64> {
    // SAFETY: the kernel writes a `struct timespec`, of which `Timespec` has the layout.
    let stamp = unsafe { ioctl(socket.as_fd(), Getter::<SIOCGSTAMPNS, Timespec>::new()) };
    let Timespec { seconds, nanos } = stamp.ok()?;
    Some(seconds * 1_000_000_000 + nanos)
}

/// Seconds for which the thread with this name has run.
fn thread_seconds(name: &str) -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap().flatten();
    for task in tasks {
        let stat = std::fs::read_to_string(task.path().join("stat")).unwrap_or_default();
        let Some((head, rest)) = stat.rsplit_once(')') else {
            continue;
        };
        if head.ends_with(&format!("({name}")) {
            let fields: Vec<_> = rest.split_whitespace().collect();
            let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
            // User and system time, in Linux's unit of hundredths of a second.
            return (ticks(11) + ticks(12)) / 100.0;
        }
    }
    0.0
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<_> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

fn quantiles(values: &[f64]) -> String {
    let text: Vec<_> = values
        .iter()
        .map(|value| {
            if *value < 10.0 {
                format!("{value:.1}")
            } else {
                format!("{value:.0}")
            }
        })
        .collect();
    text.join(" | ")
}
