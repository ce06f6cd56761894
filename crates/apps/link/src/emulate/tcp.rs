//! A TCP flow: the kernel's TCP, with the data of the scenario's application.
//!
//! The flow connects at its start, so that its first data leave a round trip later than in the
//! simulation, which has no handshake. Full segments have 1500 bytes as in the simulation, but 52
//! of them are headers, because the kernel adds timestamps (RFC 7323) of 12 bytes.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use mimosa_scenario::{FlowConfig, TcpConfig};
use mimosa_system::clock::sleep_exactly;
use mimosa_units::{Bytes, Ecn, Time};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, sockopt};

use crate::emulate::error::RealtimeError;
use crate::emulate::plan::LARGEST;
use crate::emulate::run::{PORT, Stage};
use crate::emulate::wait::{self, Readiness};
use crate::emulate::wire;

/// Size of the IPv4 and TCP headers with timestamps.
const HEADERS: Bytes = Bytes::new(52);
/// Most bytes that are written or read at once.
const CHUNK: usize = 1 << 16;

/// A socket that will connect from `from`.
pub(crate) fn sender(
    flow: &FlowConfig,
    tcp: &TcpConfig,
    from: Ipv4Addr,
) -> std::io::Result<OwnedFd> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let (family, kind) = (AddressFamily::INET, SocketType::STREAM);
    let socket = rustix::net::socket_with(family, kind, flags, None)?;
    sockopt::set_tcp_congestion(&socket, tcp.algorithm.name())?;
    sockopt::set_tcp_nodelay(&socket, true)?;
    sockopt::set_ip_tos(&socket, wire::traffic_class(flow.dscp, Ecn::NotEct))?;
    rustix::net::bind(&socket, &SocketAddrV4::new(from, PORT))?;
    Ok(socket)
}

/// Connects and writes until the flow stops or the run is over, and then resets the connection.
pub(crate) fn send(
    stage: &Stage<'_>,
    flow: &FlowConfig,
    tcp: &TcpConfig,
    socket: OwnedFd,
    to: Ipv4Addr,
) -> Result<(), RealtimeError> {
    sleep_exactly();
    let end = stage.end.min(flow.stop);
    let is_over = || stage.clock.now() >= end || stage.is_over();
    while stage.clock.now() < flow.start && !is_over() {
        wait::towards(stage.clock, flow.start.min(end), Readiness::Nothing);
    }
    match rustix::net::connect(&socket, &SocketAddrV4::new(to, PORT)) {
        Ok(()) | Err(Errno::INPROGRESS) => {}
        Err(error) => return Err(stage.failed("connect", error.into())),
    }
    let mut stream = TcpStream::from(socket);
    let segment = LARGEST - HEADERS;
    let chunk = vec![0; CHUNK];
    let mut written = Bytes::ZERO;
    while !is_over() {
        let now = stage.clock.now();
        // How much the application has written by now, and when it writes more.
        let most = tcp.application.written(now, flow.start, segment);
        let more = tcp.application.ready_at(flow.start, most.get(), segment);
        let more = more.unwrap_or(Time::MAX);
        let left = usize::try_from((most - written).get()).unwrap_or(CHUNK);
        if left == 0 {
            wait::towards(stage.clock, more.min(end), Readiness::Nothing);
            continue;
        }
        let part = chunk.get(..left.min(CHUNK)).unwrap_or_default();
        let result = match stream.write(part) {
            // The connection is not established yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotConnected => Ok(None),
            result => stage.io("write", result),
        };
        if let Some(length) = result? {
            written += Bytes::new(length as u64);
        } else {
            let writable = Readiness::Writable(stream.as_fd());
            wait::towards(stage.clock, end, writable);
        }
    }
    // The kernel discards what was not sent. This fails if there never was a connection.
    let _ = sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
    Ok(())
}

/// Accepts the connection, and reads until the run is over.
pub(crate) fn receive(stage: &Stage<'_>, listener: &TcpListener) -> Result<(), RealtimeError> {
    sleep_exactly();
    let accept = || {
        listener.set_nonblocking(true)?;
        let (stream, _) = listener.accept()?;
        stream.set_nonblocking(true)?;
        Ok(stream)
    };
    let mut stream = None;
    let mut buffer = vec![0; CHUNK];
    while stage.clock.now() < stage.end && !stage.is_over() {
        let Some(connection) = &mut stream else {
            stream = stage.io("take the connection", accept())?;
            if stream.is_none() {
                let readable = Readiness::Readable(listener.as_fd());
                wait::towards(stage.clock, stage.end, readable);
            }
            continue;
        };
        match connection.read(&mut buffer) {
            // The flow is over when the sender has reset the connection.
            Ok(0) => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return Ok(()),
            result => {
                if stage.io("read", result)?.is_none() {
                    let readable = Readiness::Readable(connection.as_fd());
                    wait::towards(stage.clock, stage.end, readable);
                }
            }
        }
    }
    Ok(())
}
