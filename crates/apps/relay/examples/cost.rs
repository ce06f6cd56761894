//! What the proxy costs, beside a plain forwarder of datagrams in the same run: the time of a core at
//! 500 Mbit/s, and the delay of a packet.
//!
//! `cargo run --profile play -p mimosa-relay --example cost`

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a measurement")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{JoinHandle, spawn};
use std::time::Duration;

use mimosa_facts::{Controller, Limits};
use mimosa_proxy::{Far, FarConfig, Near, NearConfig};
use mimosa_relay::{Commands, FarEnd, FarPlaces, NearEnd, NearPlaces, Stop, stop};
use mimosa_system::clock::{self, Clock};
use mimosa_system::udp::{BatchSocket, LARGEST};
use mimosa_units::{Ecn, Rate, Time, TimeDelta};
use rustix::time::{ClockId, clock_gettime};

/// Bytes of an RTP packet.
const PACKET: usize = 1_200;
/// Packets sent at once, and the time between: 499 Mbit/s.
const TOGETHER: u16 = 52;
const APART: TimeDelta = TimeDelta::from_millis(1);
/// How long each rate is kept.
const LASTS: TimeDelta = TimeDelta::from_millis(3_000);
/// Packets whose delay is measured.
const DELAYS: u16 = 400;

fn local() -> SocketAddr {
    ([127, 0, 0, 1], 0).into()
}

/// The time of a core that this thread has taken, in seconds.
fn core_time() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let nanos = i32::try_from(time.tv_nsec).unwrap_or(0);
    i32::try_from(time.tv_sec).map_or(0.0, f64::from) + f64::from(nanos) / 1e9
}

/// Something that passes packets on: where it takes them, and its threads, which return the time of
/// a core that they took.
struct Forwarder {
    address: SocketAddr,
    stops: Vec<Stop>,
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<f64>>,
}

impl Forwarder {
    /// Passes datagrams from one socket to the next, twice, as the proxy does.
    fn plain(to: SocketAddr) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut threads = Vec::new();
        let mut next = to;
        for _ in 0..2 {
            let mut socket = BatchSocket::bind(local()).unwrap();
            let (to, is_over) = (next, Arc::clone(&is_over));
            next = socket.address();
            threads.push(spawn(move || {
                let begun = core_time();
                let mut buffer = vec![0; LARGEST];
                while !is_over.load(Ordering::Relaxed) {
                    wait(&socket);
                    while let Some(received) = socket.receive(&mut buffer) {
                        for data in buffer[..received.length].chunks(received.stride) {
                            socket.send(to, Ecn::NotEct, data);
                        }
                        socket.flush();
                    }
                }
                core_time() - begun
            }));
        }
        Self {
            address: next,
            stops: Vec::new(),
            is_over,
            // The end beside the sender comes first.
            threads: threads.into_iter().rev().collect(),
        }
    }

    fn proxy(to: SocketAddr) -> Self {
        let far_places = FarPlaces {
            listen: local(),
            to,
            from: None,
            is_muxed: true,
        };
        let far = FarEnd::bind(&far_places, Far::new(FarConfig::default(), 2)).unwrap();
        let near_places = NearPlaces {
            listen: local(),
            to: far.address(),
            is_muxed: true,
            interface: None,
            commands: Commands::default(),
        };
        let rate = Rate::from_kbps(2_000_000);
        let limits = Limits::new(rate, rate, rate);
        let make = |limits| -> Box<dyn Controller> {
            // Packets leave at once: nothing but the passing on costs time.
            let config = mimosa_cc::fixed::Config {
                pace: 0.0,
                ..mimosa_cc::fixed::Config::default()
            };
            Box::new(mimosa_cc::fixed::Fixed::new(config, limits))
        };
        let near = Near::new(NearConfig::new(limits), 1, Box::new(make));
        let near = NearEnd::bind(&near_places, near).unwrap();
        let address = near.address();
        let (stop_near, near_stopped) = stop().unwrap();
        let (stop_far, far_stopped) = stop().unwrap();
        Self {
            address,
            stops: vec![stop_near, stop_far],
            is_over: Arc::default(),
            threads: vec![
                spawn(move || {
                    let begun = core_time();
                    let counted = near.run(&near_stopped);
                    println!("  {} dropped by the near end", counted.dropped.packets);
                    core_time() - begun
                }),
                spawn(move || {
                    let begun = core_time();
                    far.run(&far_stopped);
                    core_time() - begun
                }),
            ],
        }
    }

    /// Ends the threads. Returns the time of a core that each took, the sender's side first.
    fn end(self) -> Vec<f64> {
        self.is_over.store(true, Ordering::Relaxed);
        for stop in &self.stops {
            stop.now();
        }
        let threads = self.threads.into_iter();
        threads.map(|thread| thread.join().unwrap()).collect()
    }
}

fn wait(socket: &BatchSocket) {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let timeout = Timespec {
        tv_sec: 0,
        tv_nsec: 100_000_000,
    };
    let fd = socket.fd();
    let _ = poll(&mut [PollFd::new(&fd, PollFlags::IN)], Some(&timeout));
}

fn rtp(packet: &mut [u8], number: u16, frame: u32, ends: bool) {
    packet[0] = 0x80;
    packet[1] = if ends { 0xe0 } else { 0x60 };
    packet[2..4].copy_from_slice(&number.to_be_bytes());
    packet[4..8].copy_from_slice(&frame.to_be_bytes());
}

/// Sends 500 Mbit/s for a while. Returns the packets that were sent.
fn load(clock: Clock, to: SocketAddr) -> u64 {
    let mut socket = BatchSocket::bind(local()).unwrap();
    let mut packet = [7; PACKET];
    let (begun, mut next) = (clock.now(), clock.now());
    let mut sent = 0_u64;
    let mut frame = 0;
    while next.since(begun) < LASTS {
        frame += 1;
        for index in 0..TOGETHER {
            #[expect(clippy::cast_possible_truncation, reason = "the number wraps")]
            rtp(&mut packet, sent as u16, frame, index + 1 == TOGETHER);
            sent += 1;
            socket.send(to, Ecn::NotEct, &packet);
        }
        socket.flush();
        next += APART;
        pause(clock, next);
    }
    sent
}

fn pause(clock: Clock, until: Time) {
    let rest = until.since(clock.now()).as_nanos();
    clock::wait(Duration::from_nanos(u64::try_from(rest).unwrap_or(0)));
}

/// Counts packets until it is over.
fn count(socket: BatchSocket) -> (Arc<AtomicU64>, Arc<AtomicBool>, JoinHandle<()>) {
    let (came, is_over) = (
        Arc::new(AtomicU64::new(0)),
        Arc::new(AtomicBool::new(false)),
    );
    let (counted, ends) = (Arc::clone(&came), Arc::clone(&is_over));
    let thread = spawn(move || {
        let mut buffer = vec![0; LARGEST];
        while !ends.load(Ordering::Relaxed) {
            wait(&socket);
            while let Some(received) = socket.receive(&mut buffer) {
                let packets = received.length.div_ceil(received.stride);
                counted.fetch_add(packets as u64, Ordering::Relaxed);
            }
        }
    });
    (came, is_over, thread)
}

/// The share of a core that each thread took at 500 Mbit/s, in percent.
fn throughput(clock: Clock, name: &str, make: fn(SocketAddr) -> Forwarder) -> Vec<f64> {
    let sink = BatchSocket::bind(local()).unwrap();
    let forwarder = make(sink.address());
    let (came, is_over, thread) = count(sink);
    let sent = load(clock, forwarder.address);
    clock::wait(Duration::from_millis(200));
    let shares = forwarder.end().into_iter();
    let shares: Vec<_> = shares.map(|time| 100.0 * time / LASTS.as_secs()).collect();
    is_over.store(true, Ordering::Relaxed);
    thread.join().unwrap();
    let came = came.load(Ordering::Relaxed);
    let lost = 100.0 * (1.0 - came as f64 / sent as f64);
    println!("{name}: {shares:.1?} % of a core, {lost:.2} % lost");
    shares
}

/// The delay of packets that are frames of their own, in milliseconds: median and 95th percentile.
fn delay(clock: Clock, name: &str, make: Option<fn(SocketAddr) -> Forwarder>) -> f64 {
    let sink = BatchSocket::bind(local()).unwrap();
    let forwarder = make.map(|make| make(sink.address()));
    let to = forwarder
        .as_ref()
        .map_or(sink.address(), |forwarder| forwarder.address);
    let mut socket = BatchSocket::bind(local()).unwrap();
    let mut packet = [7; PACKET];
    let mut buffer = vec![0; LARGEST];
    let mut delays = Vec::new();
    for number in 0..DELAYS {
        rtp(&mut packet, number, u32::from(number), true);
        let sent = clock.now();
        socket.send(to, Ecn::NotEct, &packet);
        socket.flush();
        wait(&sink);
        if sink.receive(&mut buffer).is_some() {
            delays.push(clock.now().since(sent));
        }
        pause(clock, sent + TimeDelta::from_millis(5));
    }
    if let Some(forwarder) = forwarder {
        forwarder.end();
    }
    delays.sort_unstable();
    let at = |percent: usize| delays[(delays.len() - 1) * percent / 100].as_millis();
    println!("{name}: {:.3} ms, 95 % within {:.3}", at(50), at(95));
    at(50)
}

fn main() {
    let clock = Clock::start();
    clock::sleep_exactly();
    println!("at 500 Mbit/s, the end beside the sender first:");
    let plain = throughput(clock, "plain", Forwarder::plain);
    let proxy = throughput(clock, "proxy", Forwarder::proxy);
    for (plain, proxy) in plain.iter().zip(&proxy) {
        println!("  ratio {:.2}", proxy / plain);
    }
    println!("delay of a packet:");
    let direct = delay(clock, "direct", None);
    let plain = delay(clock, "plain", Some(Forwarder::plain));
    let proxy = delay(clock, "proxy", Some(Forwarder::proxy));
    println!(
        "  added: plain {:.3} ms, proxy {:.3} ms",
        plain - direct,
        proxy - direct
    );
}
