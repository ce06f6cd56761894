//! Makes a run in real time, from start to end.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread::Builder;

use mimosa_facts::{LinkPacket, Passage};
use mimosa_figures::{RunFigures, Window};
use mimosa_net::queue::{DropTail, Limit};
use mimosa_net::{Channel, Direction, PathConfig, Schedule};
use mimosa_scenario::{FlowConfig, FlowKind, Scenario};
use mimosa_sim::Stream;
use mimosa_system::priority::go_first;
use mimosa_units::{Rate, Time, TimeDelta};
use rustix::net::sockopt;

use crate::emulate::ends::Ends;
use crate::emulate::error::{RealtimeError, Unsupported};
use crate::emulate::figures::{self, Punctuality, Records};
use crate::emulate::plan::{self, Paths, addresses};
use crate::emulate::video::{Sending, not_yet};
use crate::emulate::wait::{self, Readiness};
use crate::emulate::{cbr, tcp, video, wire};
use crate::{Clock, Engine, LinkError, Namespace, Waiting};

/// Port of both ends of every flow, as in the simulation.
pub(crate) const PORT: u16 = 5_000;
/// Rate of the return path, which has no bottleneck: a full packet takes 0.12 us.
const BACK: Rate = Rate::from_kbps(100_000_000);
/// Time for which the link continues after the end, so that the fate of waiting packets is known.
const DRAIN: TimeDelta = TimeDelta::from_millis(300);
/// Time between calls of `progress`.
const PROGRESS: TimeDelta = TimeDelta::from_millis(500);
/// Size of a receiver's buffer: half a second at 100 Mbit/s, so that a thread that is late loses
/// nothing.
const BUFFER: usize = 6 << 20;
/// The file with the kernel's congestion control algorithms.
const KERNEL: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// The result of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Emulated {
    /// The figures of the window, as a simulation has them but for deadlines.
    pub figures: RunFigures,
    /// How well the run kept its times.
    pub punctuality: Punctuality,
}

/// What every thread of a flow knows.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    pub(crate) clock: Clock,
    pub(crate) end: Time,
    pub(crate) flow: &'a str,
    is_over: &'a AtomicBool,
}

impl Stage<'_> {
    /// Whether the run ends early because something failed elsewhere.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    pub(crate) fn failed(&self, act: &'static str, error: std::io::Error) -> RealtimeError {
        RealtimeError::Socket {
            flow: self.flow.to_owned(),
            act,
            error,
        }
    }

    /// Ends the run for all threads if `result` is an error.
    fn over_if_failed<T>(&self, result: Result<T, RealtimeError>) -> Result<T, RealtimeError> {
        if result.is_err() {
            self.is_over.store(true, Ordering::Relaxed);
        }
        result
    }

    /// The result of an operation; `None` if it would have to wait.
    pub(crate) fn io<T>(
        &self,
        act: &'static str,
        result: std::io::Result<T>,
    ) -> Result<Option<T>, RealtimeError> {
        not_yet(result).map_err(|error| self.failed(act, error))
    }
}

/// The sockets of a flow's two ends, before the run.
enum Sockets {
    Udp {
        sender: UdpSocket,
        receiver: UdpSocket,
    },
    Tcp {
        sender: OwnedFd,
        listener: TcpListener,
    },
}

/// Runs `scenario` with `seed` to its end, between `ends`, in real time. Calls `progress` with the
/// time repeatedly.
///
/// # Errors
///
/// [`RealtimeError`] before the run begins; during it, only [`RealtimeError::Small`] and errors of
/// sockets.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    window: Window,
    ends: &Ends,
    progress: &mut (dyn FnMut(Time) + Send),
) -> Result<Emulated, RealtimeError> {
    let kernel = std::fs::read_to_string(KERNEL).unwrap_or_default();
    let kernel: Vec<_> = kernel.split_whitespace().map(str::to_owned).collect();
    let paths = plan::check(scenario, &kernel)?;
    // In a separate thread, because the threads that it starts inherit its priority.
    std::thread::scope(|scope| {
        let thread = Builder::new()
            .name("realtime".to_owned())
            .spawn_scoped(scope, || {
                // Without the right, the reported lateness shows the effect.
                let _ = go_first();
                act(scenario, seed, window, ends, paths, progress)
            })
            .map_err(LinkError::Thread)?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn act(
    scenario: &Scenario,
    seed: u64,
    window: Window,
    ends: &Ends,
    paths: Paths,
    progress: &mut (dyn FnMut(Time) + Send),
) -> Result<Emulated, RealtimeError> {
    let devices = ends.devices(scenario)?;
    let mut flows = Vec::new();
    for (index, flow) in scenario.flows.iter().enumerate() {
        flows.push((flow, sockets(ends, index, flow)?));
    }
    let directions = directions(scenario, seed, paths);
    let end = Time::ZERO + scenario.duration;
    let is_over = AtomicBool::new(false);
    let (told, passages) = mpsc::channel();
    let clock = Clock::start();
    let engine = Engine::start(clock, devices, directions, Waiting::default(), Some(&told))?;
    drop(told);
    let sendings: Result<Vec<Sending>, RealtimeError> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (index, (flow, sockets)) in flows.into_iter().enumerate() {
            let stage = Stage {
                clock,
                end,
                flow: &flow.name,
                is_over: &is_over,
            };
            let thread = Builder::new()
                .name("sender".to_owned())
                .spawn_scoped(scope, move || {
                    stage.over_if_failed(both_ends(&stage, scenario, seed, index, sockets))
                });
            let thread = thread.map_err(LinkError::Thread);
            threads.push(stage.over_if_failed(thread.map_err(RealtimeError::from))?);
        }
        let mut next = Time::ZERO;
        while clock.now() < end && !is_over.load(Ordering::Relaxed) {
            wait::towards(clock, next.min(end), Readiness::Nothing);
            if clock.now() >= next {
                progress(next);
                next += PROGRESS;
            }
        }
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let sendings = sendings?;
    drain(clock, end);
    let tallies = engine.stop();
    let is_forward = |passage: &Passage<LinkPacket>| passage.packet.is_forward;
    let (passages, returns) = passages.into_iter().partition(is_forward);
    let records = Records {
        passages,
        returns,
        tallies,
        sendings,
    };
    Ok(figures::of(scenario, window, records))
}

/// Lets the link continue until the fate of what was sent before `end` is known.
fn drain(clock: Clock, end: Time) {
    let until = end + DRAIN;
    while clock.now() < until {
        wait::towards(clock, until, Readiness::Nothing);
    }
}

/// The direction to the receivers, with the scenario's bottleneck, and the one back, without one.
fn directions(scenario: &Scenario, seed: u64, paths: Paths) -> (Direction, Direction) {
    let name = |flow: Option<&FlowConfig>| flow.map_or("", |flow| flow.name.as_str()).to_owned();
    let first = name(scenario.flows.first());
    let is_cbr = |flow: &FlowConfig| matches!(flow.kind, FlowKind::Cbr(_));
    let first_with_way_back = name(scenario.flows.iter().find(|flow| !is_cbr(flow)));
    let link = &scenario.link;
    let channel = Channel::link(link.queue.build(seed), link.schedule.clone(), link.tick);
    let name = format!("{first} forward");
    let there = Direction::over_link(channel, paths.there, seed, &name);
    let back: PathConfig = paths.back.unwrap_or(paths.there);
    let back = Direction::new(
        Box::new(DropTail::new(Limit::Unlimited)),
        Schedule::constant(BACK),
        back,
        seed,
        &format!("{first_with_way_back} reverse"),
    );
    (there, back)
}

/// The sockets of a flow, each in its namespace.
fn sockets(ends: &Ends, index: usize, flow: &FlowConfig) -> Result<Sockets, RealtimeError> {
    let (left, right) = addresses(index);
    let failed = |error| RealtimeError::Socket {
        flow: flow.name.clone(),
        act: "open its sockets",
        error,
    };
    if let FlowKind::Tcp(config) = &flow.kind {
        return Ok(Sockets::Tcp {
            sender: ends
                .left
                .within(|| tcp::sender(flow, config, left))?
                .map_err(failed)?,
            listener: ends
                .right
                .within(|| TcpListener::bind((right, PORT)))?
                .map_err(failed)?,
        });
    }
    let udp = |namespace: &Namespace, from, to, class| {
        namespace.within(|| {
            let socket = UdpSocket::bind((from, PORT))?;
            socket.connect((to, PORT))?;
            socket.set_nonblocking(true)?;
            sockopt::set_ip_tos(&socket, class)?;
            // The second call may set a smaller buffer, and is always allowed.
            sockopt::set_socket_recv_buffer_size_force(&socket, BUFFER)
                .or_else(|_| sockopt::set_socket_recv_buffer_size(&socket, BUFFER))?;
            Ok(socket)
        })
    };
    let class = wire::traffic_class(flow.dscp, flow.ecn);
    Ok(Sockets::Udp {
        receiver: udp(&ends.right, right, left, 0)?.map_err(failed)?,
        sender: udp(&ends.left, left, right, class)?.map_err(failed)?,
    })
}

/// Runs both ends of a flow until the run is over.
fn both_ends(
    stage: &Stage<'_>,
    scenario: &Scenario,
    seed: u64,
    index: usize,
    sockets: Sockets,
) -> Result<Sending, RealtimeError> {
    let Some(flow) = scenario.flows.get(index) else {
        return Ok(Sending::default());
    };
    match (&flow.kind, sockets) {
        (FlowKind::Video(config), Sockets::Udp { sender, receiver }) => {
            let stream = Stream::new(scenario, index, seed).ok_or(RealtimeError::Unsupported {
                flow: flow.name.clone(),
                problem: Unsupported::Controller,
            })?;
            together(
                stage,
                || video::send(stage, flow, config, stream, &sender),
                || video::receive(stage, config, &receiver),
            )
        }
        // The receiver's socket exists, so that the sender gets no errors.
        (FlowKind::Cbr(config), Sockets::Udp { sender, receiver }) => {
            let sending = cbr::send(stage, flow, *config, &sender);
            drop(receiver);
            sending
        }
        (FlowKind::Tcp(config), Sockets::Tcp { sender, listener }) => {
            let (_, to) = addresses(index);
            together(
                stage,
                || tcp::send(stage, flow, config, sender, to),
                || tcp::receive(stage, &listener),
            )?;
            Ok(Sending::default())
        }
        // A flow's sockets were made for its kind.
        _ => Ok(Sending::default()),
    }
}

/// Runs both functions, each in a thread. If one fails, the run is over.
fn together<T>(
    stage: &Stage<'_>,
    send: impl FnOnce() -> Result<T, RealtimeError>,
    receive: impl FnOnce() -> Result<(), RealtimeError> + Send,
) -> Result<T, RealtimeError> {
    std::thread::scope(|scope| {
        let receiving = Builder::new()
            .name("receiver".to_owned())
            .spawn_scoped(scope, || stage.over_if_failed(receive()))
            .map_err(LinkError::Thread)?;
        let sending = stage.over_if_failed(send());
        let receiving = receiving
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        receiving.and(sending)
    })
}
