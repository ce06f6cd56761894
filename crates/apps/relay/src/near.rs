//! The thread of the near end.

use std::net::{IpAddr, SocketAddr};

use mimosa_proxy::{Near, Pass, Statistics, Told};
use mimosa_system::clock::{self, Clock};
use mimosa_system::priority;
use mimosa_system::udp::{BatchSocket, LARGEST};
use mimosa_units::{Ecn, Time, TimeDelta};
use serde_json::{Value, json};

use crate::commands::{Commands, Runner};
use crate::error::RelayError;
use crate::interface::{Interface, Place};
use crate::peer::Peer;
use crate::refused::Refused;
use crate::wait::{Stopped, sleep};

/// Most calls that take datagrams from one socket before what is due is done again.
const MOST_AT_ONCE: usize = 16;
/// Time between statistics.
const STATISTICS_EVERY: TimeDelta = TimeDelta::from_millis(1_000);

/// Where the near end listens and sends.
#[derive(Clone, Debug)]
pub struct NearPlaces {
    /// Where the application sends its RTP to.
    pub listen: SocketAddr,
    /// Where the far end listens.
    pub to: SocketAddr,
    /// Whether the application has RTP and RTCP on one port (RFC 5761); otherwise RTCP is on the
    /// next port.
    pub is_muxed: bool,
    /// Where the application connects to be told what it may send.
    pub interface: Option<Place>,
    /// Commands that tell it.
    pub commands: Commands,
}

/// The near end.
#[derive(Debug)]
pub struct NearEnd {
    near: Near,
    clock: Clock,
    /// The application's RTP, and its RTCP if that has a port of its own.
    media: BatchSocket,
    control: Option<BatchSocket>,
    path: BatchSocket,
    far: SocketAddr,
    application: Peer,
    application_rtcp: Peer,
    interface: Interface,
    commands: Runner,
    refused: Refused,
    next_statistics: Time,
}

impl NearEnd {
    /// Binds the sockets.
    ///
    /// # Errors
    ///
    /// [`RelayError`] for the first that cannot be bound.
    pub fn bind(places: &NearPlaces, near: Near) -> Result<Self, RelayError> {
        let (media, control) = pair(places.listen, places.is_muxed)?;
        let any: IpAddr = match places.to {
            SocketAddr::V4(_) => [0, 0, 0, 0].into(),
            SocketAddr::V6(_) => [0_u16; 8].into(),
        };
        Ok(Self {
            near,
            clock: Clock::start(),
            media,
            control,
            path: bound((any, 0).into())?,
            far: places.to,
            application: Peer::new(None),
            application_rtcp: Peer::new(None),
            interface: Interface::at(places.interface.as_ref())?,
            commands: Runner::start(places.commands.clone())?,
            refused: Refused::default(),
            next_statistics: Time::ZERO,
        })
    }

    /// Where the application sends its RTP to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.media.address()
    }

    /// Runs until it is stopped. Returns what it has counted.
    pub fn run(mut self, stopped: &Stopped) -> Statistics {
        clock::sleep_exactly();
        priority::raise();
        let mut buffer = vec![0; LARGEST];
        while !stopped.has_come() {
            let now = self.clock.now();
            self.near.advance(now);
            self.carry_out();
            self.tell_statistics(now);
            let ready = self.wait(stopped);
            if let [_, media, path, control, ..] = ready[..] {
                if media {
                    self.take_from_application(&mut buffer);
                }
                if control {
                    self.take_rtcp(&mut buffer);
                }
                if path {
                    self.take_from_path(&mut buffer);
                }
                if ready[4..].contains(&true) {
                    self.hear();
                }
            }
        }
        self.near.statistics()
    }

    /// Sleeps until something is due or comes. Returns what has come: a stop, RTP, something from the
    /// path, RTCP, connections.
    fn wait(&self, stopped: &Stopped) -> Vec<bool> {
        let control = self
            .control
            .as_ref()
            .map_or(self.media.fd(), BatchSocket::fd);
        let mut fds = vec![stopped.fd(), self.media.fd(), self.path.fd(), control];
        fds.extend(self.interface.fds());
        let until = self.near.deadline().min(self.next_statistics);
        sleep(self.clock, until, &fds)
    }

    /// Sends what leaves, and tells what is to be told.
    fn carry_out(&mut self) {
        while let Some(departure) = self.near.poll_departure() {
            self.path.send(self.far, departure.ecn, &departure.contents);
        }
        self.path.flush();
        while let Some(request) = self.near.poll_request() {
            self.send_rtcp(&request);
        }
        while let Some(told) = self.near.poll_told() {
            self.interface.tell(&message(told));
            self.commands.tell(told);
        }
    }

    /// Sends RTCP to the application.
    fn send_rtcp(&mut self, contents: &[u8]) {
        let Some(address) = self.application.address() else {
            return;
        };
        let Some(control) = &mut self.control else {
            self.media.send(address, Ecn::NotEct, contents);
            self.media.flush();
            return;
        };
        let next = address.port().checked_add(1);
        let next = next.map(|port| SocketAddr::new(address.ip(), port));
        if let Some(address) = self.application_rtcp.address().or(next) {
            control.send(address, Ecn::NotEct, contents);
            control.flush();
        }
    }

    fn take_from_application(&mut self, buffer: &mut [u8]) {
        for _ in 0..MOST_AT_ONCE {
            let Some(received) = self.media.receive(buffer) else {
                break;
            };
            let now = self.clock.now();
            if !self.application.accepts(now, received.from) {
                self.refused
                    .add(now, received.from, "another application sends");
                continue;
            }
            for data in buffer[..received.length].chunks(received.stride) {
                match self.near.application_sent(now, data) {
                    Pass::Rtp | Pass::Rtcp => {
                        self.path.send(self.far, Ecn::NotEct, data);
                    }
                    Pass::Refused | Pass::Unsigned => {
                        self.refused
                            .add(now, received.from, "neither RTP nor RTCP, or a copy");
                    }
                    Pass::Taken => {}
                }
            }
            // What is due leaves between two calls.
            self.path.flush();
            self.near.advance(now);
            self.carry_out();
        }
    }

    fn take_rtcp(&mut self, buffer: &mut [u8]) {
        let Some(control) = &self.control else {
            return;
        };
        for _ in 0..MOST_AT_ONCE {
            let Some(received) = control.receive(buffer) else {
                break;
            };
            let now = self.clock.now();
            if !self.application_rtcp.accepts(now, received.from) {
                self.refused
                    .add(now, received.from, "another application sends");
                continue;
            }
            for data in buffer[..received.length].chunks(received.stride) {
                if self.near.application_sent(now, data) == Pass::Rtcp {
                    self.path.send(self.far, Ecn::NotEct, data);
                }
            }
        }
        self.path.flush();
    }

    fn take_from_path(&mut self, buffer: &mut [u8]) {
        for _ in 0..MOST_AT_ONCE {
            let Some(received) = self.path.receive(buffer) else {
                break;
            };
            let now = self.clock.now();
            if received.from != self.far {
                self.refused.add(now, received.from, "not from the far end");
                continue;
            }
            for data in buffer[..received.length].chunks(received.stride) {
                match self.near.network_brought(now, data) {
                    Pass::Rtp => {
                        if let Some(address) = self.application.address() {
                            self.media.send(address, Ecn::NotEct, data);
                        }
                    }
                    Pass::Rtcp => self.send_rtcp(data),
                    Pass::Refused => {
                        self.refused
                            .add(now, received.from, "neither RTP nor RTCP, or a copy");
                    }
                    Pass::Unsigned => {
                        let why = "reports that are not of this end's key: give both ends the same --key-file";
                        self.refused.add(now, received.from, why);
                    }
                    Pass::Taken => {}
                }
            }
            self.media.flush();
        }
    }

    fn hear(&mut self) {
        let bitrate = self.near.bitrate();
        let greeting = bitrate.map(|rate| message(Told::Bitrate(rate)));
        if let Some(limits) = self.interface.hear(greeting.as_ref()) {
            self.near.set_limits(limits);
        }
    }

    fn tell_statistics(&mut self, now: Time) {
        if now < self.next_statistics {
            return;
        }
        self.next_statistics = now + STATISTICS_EVERY;
        if self.interface.is_heard() {
            self.interface.tell(&counted(&self.near.statistics()));
        }
    }
}

/// A message to the application.
fn message(told: Told) -> Value {
    match told {
        Told::Bitrate(rate) => json!({"type": "bitrate", "bitsPerSecond": rate.as_bps()}),
        Told::Keyframe => json!({"type": "keyframe"}),
    }
}

fn counted(statistics: &Statistics) -> Value {
    let streams = statistics.streams.iter().map(|stream| {
        json!({
            "ssrc": stream.ssrc,
            "paced": stream.is_paced,
            "packets": stream.count.packets,
            "bytes": stream.count.bytes,
            "bitsPerSecond": stream.rate.as_bps(),
        })
    });
    json!({
        "type": "statistics",
        "targetBitsPerSecond": statistics.target.as_bps(),
        "toldBitsPerSecond": statistics.told.as_bps(),
        "sentBitsPerSecond": statistics.rate.as_bps(),
        "waitingBytes": statistics.waiting.get(),
        "inFlightBytes": statistics.in_flight.get(),
        "queueDelayMs": statistics.queue_delay.map(TimeDelta::as_millis),
        "ecn": statistics.ecn.map(mimosa_proxy::EcnState::as_str),
        "pacedPackets": statistics.paced.packets,
        "aheadPackets": statistics.ahead.packets,
        "droppedPackets": statistics.dropped.packets,
        "overflows": statistics.overflows,
        "refused": statistics.refused,
        "copies": statistics.copies,
        "probes": statistics.probes,
        "reports": statistics.reports,
        "badReports": statistics.bad_reports,
        "arrivedPackets": statistics.arrived,
        "markedPackets": statistics.marked,
        "farEnds": statistics.far_ends,
        "bitrates": statistics.bitrates,
        "keyframes": statistics.keyframes,
        "streams": streams.collect::<Vec<_>>(),
    })
}

/// A socket at this address.
pub(crate) fn bound(address: SocketAddr) -> Result<BatchSocket, RelayError> {
    BatchSocket::bind(address).map_err(|error| RelayError::Bind { address, error })
}

/// A socket for RTP at this address, and one at the next port for RTCP unless both are on one port.
/// Port zero is any two that are free.
pub(crate) fn pair(
    address: SocketAddr,
    is_muxed: bool,
) -> Result<(BatchSocket, Option<BatchSocket>), RelayError> {
    /// How often a free pair is tried. Our choice.
    const TRIES: u32 = 20;
    let mut tries = 0;
    loop {
        let media = bound(address)?;
        if is_muxed {
            return Ok((media, None));
        }
        let own = media.address();
        let next = own.port().checked_add(1);
        let next = next.ok_or(RelayError::NoNextPort { address: own })?;
        tries += 1;
        match bound(SocketAddr::new(own.ip(), next)) {
            Ok(control) => return Ok((media, Some(control))),
            Err(_) if address.port() == 0 && tries < TRIES => {}
            Err(error) => return Err(error),
        }
    }
}
