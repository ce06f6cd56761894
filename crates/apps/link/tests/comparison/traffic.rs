//! Sends a case's load, and records what arrives.

use std::collections::BTreeMap;
use std::net::UdpSocket;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use mimosa_link::{Clock, within};
use mimosa_net::queue::ClassId;
use mimosa_units::{Time, TimeDelta};

use super::case::{Case, Load, PACKET, port};
use super::world::{RIGHT, World};

/// Bytes of IP and UDP headers.
const HEADERS: u64 = 28;
/// Number of sockets from which packets of a load are sent in turn, so that waiting packets do not
/// fill a socket's buffer.
const SOCKETS: usize = 4;
/// Silence after which nothing more is expected.
const SILENCE: Duration = Duration::from_millis(150);
/// Time before the load in which a first packet makes the hosts find each other.
const LEAD: TimeDelta = TimeDelta::from_millis(100);

/// A packet that arrived: when it was sent, and when it came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival {
    pub(crate) sent: Time,
    pub(crate) came: Time,
}

/// The packets of a class. Times count from the beginning of the load.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub(crate) sent: usize,
    pub(crate) arrivals: Vec<Arrival>,
}

/// The packets of all classes.
#[derive(Debug)]
pub(crate) struct Traffic {
    pub(crate) flows: BTreeMap<ClassId, Flow>,
    /// How late each packet was sent.
    pub(crate) lateness: Vec<TimeDelta>,
}

/// The times at which each load sends a packet, from zero.
fn schedule(loads: &[Load]) -> Vec<(Time, usize)> {
    let mut all = Vec::new();
    for (index, load) in loads.iter().enumerate() {
        let at_once = load.at_once;
        let gap = load.rate.transmit_time(PACKET).scale(f64::from(at_once));
        let mut next = load.during.start;
        while next < load.during.end {
            all.extend((0..at_once).map(|_| (next, index)));
            next += gap;
        }
    }
    all.sort_by_key(|(at, _)| *at);
    all
}

/// Sends all packets, and waits for those that arrive.
pub(crate) fn send(case: &Case, world: &World) -> Traffic {
    let (schedule, clock) = (schedule(&case.loads), world.clock);
    let receive = |load: &Load| {
        let port = port(load.class);
        within(&world.right(), || UdpSocket::bind((RIGHT, port)))
            .unwrap()
            .unwrap()
    };
    let receivers: Vec<_> = case.loads.iter().map(receive).collect();
    let connect = |load: &Load| -> Vec<UdpSocket> {
        let one = || {
            let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
            // The system may allow less.
            let _ = rustix::net::sockopt::set_socket_send_buffer_size(&socket, 1 << 22);
            socket.connect((RIGHT, port(load.class))).unwrap();
            socket
        };
        within(&world.left(), || (0..SOCKETS).map(|_| one()).collect()).unwrap()
    };
    let senders: Vec<_> = case.loads.iter().map(connect).collect();
    within(&world.left(), || {
        let first = UdpSocket::bind("0.0.0.0:0").unwrap();
        first.send_to(&[0], (RIGHT, 9)).unwrap();
    })
    .unwrap();
    let start = clock.now() + LEAD;
    let is_sent = AtomicBool::new(false);
    let (lateness, arrivals) = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for socket in &receivers {
            let is_sent = &is_sent;
            threads.push(scope.spawn(move || take(socket, clock, start, is_sent)));
        }
        let sender = scope.spawn(|| give(&schedule, &senders, clock, start));
        let lateness = sender.join().unwrap();
        is_sent.store(true, Ordering::Relaxed);
        let arrivals = threads.into_iter().map(|thread| thread.join().unwrap());
        (lateness, arrivals.collect::<Vec<_>>())
    });
    let mut flows = BTreeMap::new();
    for (index, (load, arrivals)) in case.loads.iter().zip(arrivals).enumerate() {
        let sent = schedule.iter().filter(|(_, of)| *of == index).count();
        flows.insert(load.class, Flow { sent, arrivals });
    }
    Traffic { flows, lateness }
}

/// Sends each packet when it is due, or as soon after as possible. Returns how late each was.
fn give(
    schedule: &[(Time, usize)],
    senders: &[Vec<UdpSocket>],
    clock: Clock,
    start: Time,
) -> Vec<TimeDelta> {
    // By default the system adds up to 50 us to each sleep.
    let _ = rustix::thread::set_current_timer_slack(NonZeroU64::new(1));
    let mut lateness = Vec::with_capacity(schedule.len());
    let mut payload = vec![0; usize::try_from(PACKET.get() - HEADERS).unwrap()];
    let mut turns: Vec<_> = senders
        .iter()
        .map(|sockets| sockets.iter().cycle())
        .collect();
    for (at, load) in schedule {
        let due = start + at.since(Time::ZERO);
        let rest = due.since(clock.now());
        if rest > TimeDelta::ZERO {
            let nanos = rest.as_nanos().unsigned_abs();
            std::thread::park_timeout(Duration::from_nanos(nanos));
        }
        let now = clock.now();
        lateness.push(now.since(due));
        payload[..8].copy_from_slice(&now.as_nanos().to_be_bytes());
        turns[*load].next().unwrap().send(&payload).unwrap();
    }
    lateness
}

/// Records what comes until everything is sent and nothing comes any more.
fn take(socket: &UdpSocket, clock: Clock, start: Time, is_sent: &AtomicBool) -> Vec<Arrival> {
    socket.set_read_timeout(Some(SILENCE)).unwrap();
    let _ = rustix::net::sockopt::set_socket_recv_buffer_size(socket, 1 << 22);
    let from_start = |time: Time| Time::ZERO + time.since(start);
    let mut arrivals = Vec::new();
    let mut buffer = [0; 2_000];
    loop {
        if socket.recv(&mut buffer).is_ok() {
            let sent = u64::from_be_bytes(buffer[..8].try_into().unwrap());
            arrivals.push(Arrival {
                sent: from_start(Time::from_nanos(sent)),
                came: from_start(clock.now()),
            });
        } else if is_sent.load(Ordering::Relaxed) {
            return arrivals;
        }
    }
}
