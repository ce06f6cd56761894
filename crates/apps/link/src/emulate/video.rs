//! Both ends of a video flow over UDP, with a thread for each.

use std::io::{ErrorKind, IoSliceMut};
use std::net::UdpSocket;
use std::os::fd::AsFd;

use mimosa_facts::{Arrival, ArrivalReport, FrameLife};
use mimosa_scenario::{FlowConfig, VideoConfig};
use mimosa_sim::Stream;
use mimosa_stream::{FeedbackFormat, Receiver, ReportReader, ReportWriter};
use mimosa_system::clock::sleep_exactly;
use mimosa_units::{Bytes, Ecn, PeerTime, Time, TimeDelta};
use quinn_udp::{RecvMeta, UdpSocketState};
use rustix::net::sockopt;

use crate::emulate::error::RealtimeError;
use crate::emulate::plan::{UDP_HEADERS, smallest};
use crate::emulate::run::Stage;
use crate::emulate::wait::{self, Readiness};
use crate::emulate::wire;

/// Largest datagram, and most bytes that the system returns at once.
const LARGEST_READ: usize = 1 << 16;

/// The records of a UDP flow's sender.
#[derive(Debug, Default)]
pub(crate) struct Sending {
    /// When each packet was handed to the kernel, in order, and its size on the link.
    pub(crate) sent: Vec<(Time, Bytes)>,
    /// How late the thread was, each time that something was due.
    pub(crate) late: Vec<TimeDelta>,
    /// The lives of frames, including those that have not ended.
    pub(crate) frames: Vec<FrameLife>,
}

/// Sends until the run is over.
pub(crate) fn send(
    stage: &Stage<'_>,
    flow: &FlowConfig,
    video: &VideoConfig,
    mut stream: Stream,
    socket: &UdpSocket,
) -> Result<Sending, RealtimeError> {
    sleep_exactly();
    let mut sending = Sending::default();
    let mut report = ArrivalReport::default();
    let mut rtcp = ReportReader::new();
    let (mut out, mut buffer) = (Vec::new(), vec![0; LARGEST_READ]);
    let mut due = stream.deadline();
    // The ECN field of the socket, which is changed when a packet needs another one.
    let mut ecn = flow.ecn;
    loop {
        let now = stage.clock.now();
        if now >= stage.end || stage.is_over() {
            break;
        }
        if due <= now {
            sending.late.push(now.since(due));
        }
        while let Some(length) = stage.io("receive a report", socket.recv(&mut buffer))? {
            let bytes = buffer.get(..length).unwrap_or_default();
            let is_whole = match video.feedback_format {
                FeedbackFormat::Exact => wire::read_report(bytes, &mut report) == Some(true),
                _ => rtcp.read(bytes, &mut report).is_ok(),
            };
            if is_whole {
                stream.feedback(now, &report);
                report.arrivals.clear();
            }
        }
        stream.wake(now);
        while let Some(packet) = stream.poll(now) {
            if packet.size < smallest() {
                return Err(RealtimeError::Small {
                    flow: stage.flow.to_owned(),
                    size: packet.size,
                    least: smallest(),
                });
            }
            let payload = (packet.size - UDP_HEADERS).get();
            let payload = usize::try_from(payload).unwrap_or(usize::MAX);
            wire::write_packet(&mut out, &packet, now, payload);
            if packet.ecn != ecn {
                ecn = packet.ecn;
                let class = wire::traffic_class(flow.dscp, ecn);
                sockopt::set_ip_tos(socket, class)
                    .map_err(|error| stage.failed("set the ECN field", error.into()))?;
            }
            sending.sent.push((stage.clock.now(), packet.size));
            stage.io("send a packet", socket.send(&out))?;
        }
        while let Some(life) = stream.sender.poll_frame() {
            sending.frames.push(life);
        }
        due = stream.deadline();
        let readable = Readiness::Readable(socket.as_fd());
        wait::towards(stage.clock, due.min(stage.end), readable);
    }
    sending.frames.extend(stream.sender.open_frames());
    Ok(sending)
}

/// Receives packets and sends reports until the run is over.
pub(crate) fn receive(
    stage: &Stage<'_>,
    video: &VideoConfig,
    socket: &UdpSocket,
) -> Result<(), RealtimeError> {
    sleep_exactly();
    let with_ecn = UdpSocketState::new(socket.into())
        .map_err(|error| stage.failed("ask for the ECN field", error))?;
    let mut receiver = Receiver::new(video.feedback, video.feedback_repeat);
    let mut writer = ReportWriter::new(video.feedback_format);
    let mut buffer = vec![0; LARGEST_READ];
    let mut send_back = |receiver: &mut Receiver, now: PeerTime, report: ArrivalReport| {
        let datagrams = match video.feedback_format {
            FeedbackFormat::Exact => wire::write_report(&report),
            _ => writer.write(now, &report),
        };
        for datagram in datagrams {
            stage.io("send a report", socket.send(&datagram))?;
        }
        receiver.recycle(report);
        Ok::<_, RealtimeError>(())
    };
    loop {
        let now = stage.clock.now();
        if now >= stage.end || stage.is_over() {
            return Ok(());
        }
        let mut metas = [RecvMeta::default()];
        let mut slices = [IoSliceMut::new(&mut buffer)];
        let result = with_ecn.recv(socket.into(), &mut slices, &mut metas);
        if stage.io("receive a packet", result)?.is_some() {
            let now = video.clock.at(stage.clock.now());
            let [meta] = metas;
            let ecn = meta.ecn.map_or(Ecn::NotEct, |ecn| wire::ecn_of(ecn as u8));
            let bytes = buffer.get(..meta.len).unwrap_or_default();
            for packet in bytes.chunks(meta.stride.max(1)) {
                let Some(told) = wire::read_packet(packet) else {
                    continue;
                };
                let arrival = Arrival {
                    sequence: told.sequence,
                    at: now,
                    ecn,
                };
                if let Some(report) = receiver.packet(arrival, told.asks) {
                    send_back(&mut receiver, now, report)?;
                }
            }
            continue;
        }
        let peer_now = video.clock.at(now);
        if let Some(report) = receiver.timer(peer_now) {
            send_back(&mut receiver, peer_now, report)?;
        }
        let due = receiver.deadline().map_or(Time::MAX, |due| {
            now + (due - video.clock.at(now)).max(TimeDelta::ZERO)
        });
        let readable = Readiness::Readable(socket.as_fd());
        wait::towards(stage.clock, due.min(stage.end), readable);
    }
}

/// The value; `None` if the operation would have to wait.
pub(crate) fn not_yet<T>(result: std::io::Result<T>) -> std::io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
