//! Keeps the host's ports forwarded by the router of its network, where its owner wants that.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use mimosa_gateway::{Forwarding, GatewayError, Protocol, is_reachable, own_address};
use tokio::sync::{oneshot, watch};

/// How long to wait before a router is asked again that has refused. Our choice: a router that was switched on with
/// the host takes about as long.
const AGAIN: Duration = Duration::from_mins(1);

/// Where a router takes in what is for the host.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Outside {
    /// The router's address at which it takes in what is for the HTTP port.
    pub(crate) http: Option<SocketAddr>,
    /// The router's address at which it takes in what is for the UDP port.
    pub(crate) udp: Option<SocketAddr>,
}

/// The host's ports, and who forwards them.
#[derive(Debug)]
pub(crate) struct Forwards {
    bind: Vec<IpAddr>,
    http: Port,
    udp: Port,
}

#[derive(Debug)]
struct Port {
    protocol: Protocol,
    number: u16,
    held: Option<Forwarding>,
    /// How many requests in a row were not granted.
    refused: u32,
    /// What the log was told last of this port.
    told: Told,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Told {
    Nothing,
    Refused,
    Forwarded(SocketAddr),
}

impl Forwards {
    /// Asks the router for the ports of HTTP and of UDP; the host is bound to these addresses.
    pub(crate) async fn begin(bind: &[IpAddr], [http, udp]: [u16; 2]) -> Self {
        let mut forwards = Self {
            bind: bind.to_vec(),
            http: Port::new(Protocol::Tcp, http),
            udp: Port::new(Protocol::Udp, udp),
        };
        forwards.ask().await;
        forwards
    }

    /// Where the router takes in what is for the host.
    pub(crate) fn outside(&self) -> Outside {
        Outside {
            http: self.http.outside(),
            udp: self.udp.outside(),
        }
    }

    /// Asks again and again, and says what has changed, until `stopped`; then forwards nothing any more.
    pub(crate) async fn keep(
        mut self,
        said: watch::Sender<Outside>,
        stopped: oneshot::Receiver<()>,
    ) {
        let kept = async {
            loop {
                let rest = self.http.rest().min(self.udp.rest());
                tokio::time::sleep(rest).await;
                self.ask().await;
                said.send_if_modified(|outside| {
                    let now = self.outside();
                    std::mem::replace(outside, now) != now
                });
            }
        };
        tokio::select! {
            () = kept => {}
            _ = stopped => {}
        }
        tokio::join!(self.http.end(), self.udp.end());
    }

    async fn ask(&mut self) {
        if !self.is_bound() {
            return;
        }
        tokio::join!(self.http.ask(), self.udp.ask());
    }

    /// Whether what a router forwards would arrive.
    fn is_bound(&self) -> bool {
        match own_address() {
            Ok(own) => {
                let own = IpAddr::V4(own);
                let takes = |ip: &IpAddr| ip.is_unspecified() || *ip == own;
                let is_bound = self.bind.iter().any(takes);
                if !is_bound && self.udp.told == Told::Nothing {
                    tracing::warn!(
                        "no port is forwarded: the host is not bound to {own}; use --bind 0.0.0.0"
                    );
                }
                is_bound
            }
            // Said when the router is asked.
            Err(_) => true,
        }
    }
}

impl Port {
    const fn new(protocol: Protocol, number: u16) -> Self {
        Self {
            protocol,
            number,
            held: None,
            refused: 0,
            told: Told::Nothing,
        }
    }

    async fn ask(&mut self) {
        let result = match &mut self.held {
            None => {
                let forwarding = mimosa_gateway::forward(self.protocol, self.number).await;
                forwarding.map(|forwarding| self.held = Some(forwarding))
            }
            Some(forwarding) => forwarding.renew().await,
        };
        self.refused = if result.is_ok() { 0 } else { self.refused + 1 };
        // A request may be lost, and a router that was asked before goes on.
        self.held.take_if(|held| !held.may_last(self.refused));
        self.tell(&result);
    }

    /// Logs what came of it, if it is not what came of it before.
    fn tell(&mut self, result: &Result<(), GatewayError>) {
        let told = match &self.held {
            Some(forwarding) => Told::Forwarded(forwarding.forwarded().outside),
            None => Told::Refused,
        };
        if std::mem::replace(&mut self.told, told) == told {
            return;
        }
        match &self.held {
            None => {
                if let Err(error) = result {
                    tracing::warn!("{error}");
                }
            }
            Some(forwarding) => {
                let forwarded = forwarding.forwarded();
                let (inside, outside) = (forwarded.inside, forwarded.outside);
                let (protocol, means) = (self.protocol.name(), forwarded.means.name());
                tracing::info!(protocol, %inside, %outside, means, "the router forwards");
                if !is_reachable(outside.ip()) {
                    tracing::warn!(
                        "the router's own address, {}, is not one of the Internet's: another router or the provider \
                         stands between, and forwards nothing",
                        outside.ip()
                    );
                }
            }
        }
    }

    /// Where the router takes in what is for this port, if the Internet can reach it there.
    fn outside(&self) -> Option<SocketAddr> {
        let outside = self.held.as_ref()?.forwarded().outside;
        is_reachable(outside.ip()).then_some(outside)
    }

    fn rest(&self) -> Duration {
        self.held.as_ref().map_or(AGAIN, Forwarding::rest)
    }

    async fn end(self) {
        if let Some(forwarding) = self.held {
            forwarding.end().await;
        }
    }
}
