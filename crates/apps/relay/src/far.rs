//! The thread of the far end.

use std::net::{IpAddr, SocketAddr};

use mimosa_proxy::{Far, FarStatistics, Pass};
use mimosa_system::clock::{self, Clock};
use mimosa_system::priority;
use mimosa_system::udp::{BatchSocket, LARGEST, StampedSocket};
use mimosa_units::{Ecn, TimeDelta};

use crate::error::RelayError;
use crate::near::pair;
use crate::peer::Peer;
use crate::refused::Refused;
use crate::wait::{Stopped, sleep};

/// Most datagrams that are taken before reports that are due leave.
const MOST_AT_ONCE: usize = 64;
/// Longest sleep.
const LONGEST_SLEEP: TimeDelta = TimeDelta::from_millis(1_000);

/// Where the far end listens and sends.
#[derive(Clone, Debug)]
pub struct FarPlaces {
    /// Where the near end sends to.
    pub listen: SocketAddr,
    /// Where the application receives RTP.
    pub to: SocketAddr,
    /// The only machine that the near end may be on; `None` for the first that is heard.
    pub from: Option<IpAddr>,
    /// Whether the application has RTP and RTCP on one port (RFC 5761); otherwise RTCP is on the
    /// next port.
    pub is_muxed: bool,
}

/// The far end.
#[derive(Debug)]
pub struct FarEnd {
    far: Far,
    clock: Clock,
    path: StampedSocket,
    near: Peer,
    /// To and from the application: RTP, and RTCP if that has a port of its own.
    media: BatchSocket,
    control: Option<BatchSocket>,
    application: SocketAddr,
    application_rtcp: SocketAddr,
    refused: Refused,
}

impl FarEnd {
    /// Binds the sockets.
    ///
    /// # Errors
    ///
    /// [`RelayError`] for the first that cannot be bound.
    pub fn bind(places: &FarPlaces, far: Far) -> Result<Self, RelayError> {
        let address = places.listen;
        let path =
            StampedSocket::bind(address).map_err(|error| RelayError::Bind { address, error })?;
        let any: IpAddr = match places.to {
            SocketAddr::V4(to) if to.ip().is_loopback() => [127, 0, 0, 1].into(),
            SocketAddr::V4(_) => [0, 0, 0, 0].into(),
            SocketAddr::V6(_) => [0_u16; 8].into(),
        };
        let (media, control) = pair((any, 0).into(), places.is_muxed)?;
        let next = match places.to.port().checked_add(1) {
            _ if places.is_muxed => places.to.port(),
            Some(next) => next,
            None => return Err(RelayError::NoNextPort { address: places.to }),
        };
        Ok(Self {
            far,
            clock: Clock::start(),
            path,
            near: Peer::new(places.from),
            media,
            control,
            application: places.to,
            application_rtcp: SocketAddr::new(places.to.ip(), next),
            refused: Refused::default(),
        })
    }

    /// Where the near end sends to.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.path.address()
    }

    /// Runs until it is stopped. Returns what it has counted.
    pub fn run(mut self, stopped: &Stopped) -> FarStatistics {
        clock::sleep_exactly();
        priority::raise();
        let mut buffer = vec![0; LARGEST];
        while !stopped.has_come() {
            self.report();
            let control = self
                .control
                .as_ref()
                .map_or(self.media.fd(), BatchSocket::fd);
            let fds = [stopped.fd(), self.path.fd(), self.media.fd(), control];
            let until = self.clock.now() + LONGEST_SLEEP;
            let ready = sleep(self.clock, self.far.deadline().min(until), &fds);
            if ready.get(1) == Some(&true) {
                self.take_from_path(&mut buffer);
            }
            if ready[2..].contains(&true) {
                self.take_from_application(&mut buffer);
            }
        }
        *self.far.statistics()
    }

    /// Sends the reports that are due.
    fn report(&mut self) {
        let now = self.clock.now();
        let near = self.near.address();
        for report in self.far.reports(now) {
            if let Some(near) = near {
                self.path.send(near, &report);
            }
        }
    }

    fn take_from_path(&mut self, buffer: &mut [u8]) {
        for _ in 0..MOST_AT_ONCE {
            let Some(came) = self.path.receive(self.clock, buffer) else {
                break;
            };
            let data = &buffer[..came.length];
            if self.far.has_key() {
                if self.far.greeted(data) && self.near.greeted(came.at, came.from) {
                    continue;
                }
                if !self.near.has_greeted(came.from) {
                    let why = "not from where a near end with the same key has greeted";
                    self.refused.add(came.at, came.from, why);
                    continue;
                }
            } else if !self.near.accepts(came.at, came.from) {
                self.refused
                    .add(came.at, came.from, "not from the near end");
                continue;
            }
            match self.far.network_brought(came.at, came.ecn, data) {
                Pass::Rtp => {
                    self.media.send(self.application, Ecn::NotEct, data);
                }
                Pass::Rtcp => {
                    let socket = self.control.as_mut().unwrap_or(&mut self.media);
                    socket.send(self.application_rtcp, Ecn::NotEct, data);
                    socket.flush();
                }
                Pass::Refused | Pass::Unsigned => {
                    self.refused
                        .add(came.at, came.from, "neither RTP nor RTCP, or a copy");
                }
                Pass::Taken => {}
            }
        }
        self.media.flush();
    }

    fn take_from_application(&mut self, buffer: &mut [u8]) {
        for socket in std::iter::once(&self.media).chain(&self.control) {
            for _ in 0..MOST_AT_ONCE {
                let Some(received) = socket.receive(buffer) else {
                    break;
                };
                if received.from.ip() != self.application.ip() {
                    let now = self.clock.now();
                    self.refused
                        .add(now, received.from, "not from the application");
                    continue;
                }
                for data in buffer[..received.length].chunks(received.stride) {
                    let pass = self.far.application_sent(data);
                    let near = self.near.address();
                    if let Some(near) = near.filter(|_| pass != Pass::Refused) {
                        self.path.send(near, data);
                    }
                }
            }
        }
    }
}
