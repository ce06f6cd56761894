//! A router that is asked by UPnP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use igd_next::aio::Gateway;
use igd_next::aio::tokio::{Tokio, search_gateway};
use igd_next::{AddPortError, PortMappingProtocol, SearchOptions};

use crate::Protocol;

/// The port at which routers are searched for (UPnP Device Architecture, section 1.3.2).
const SEARCH_PORT: u16 = 1900;
/// How long the router may take to answer a search that goes to it alone. Our choice: UPnP lets devices answer at
/// once where the search names no time (section 1.3.3), and describing itself takes two more requests.
const PATIENCE: Duration = Duration::from_secs(2);
/// What the router's own page calls the forwarded ports.
const DESCRIPTION: &str = "Mimosa";
/// Ports outside that are tried, from the wanted one on. Our choice.
const TRIES: u16 = 8;

/// A router that has described itself.
#[derive(Clone, Debug)]
pub(crate) struct Upnp(Gateway<Tokio>);

impl Upnp {
    /// Searches at the router's address, and then in the whole network, as routers that answer only that expect.
    /// In either case only the router may answer.
    pub(crate) async fn find(router: Ipv4Addr) -> Result<Self, String> {
        let mut options = SearchOptions::default();
        let everybody = options.broadcast_address;
        options.broadcast_address = SocketAddr::from((router, SEARCH_PORT));
        options.timeout = Some(PATIENCE);
        let mut found = search_gateway(options).await;
        if found.is_err() {
            let mut options = SearchOptions::default();
            options.broadcast_address = everybody;
            options.timeout = Some(PATIENCE);
            found = search_gateway(options).await;
        }
        match found {
            Ok(found) if found.addr.ip() == IpAddr::V4(router) => Ok(Self(found)),
            Ok(found) => Err(format!("{} answered in its place", found.addr.ip())),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Asks for a port for `seconds`, the same outside as inside if that is free; returns where the router takes it
    /// in, and for how long, zero for good.
    pub(crate) async fn forward(
        &self,
        protocol: Protocol,
        inside: SocketAddr,
        wanted: u16,
        seconds: u32,
    ) -> Result<(SocketAddr, u32), String> {
        let address = self.0.get_external_ip().await;
        let address = address.map_err(|error| error.to_string())?;
        let kind = kind(protocol);
        for port in (wanted..=u16::MAX).take(usize::from(TRIES)) {
            let asked = self
                .0
                .add_port(kind, port, inside, seconds, DESCRIPTION)
                .await;
            let given = match asked {
                // Some routers forward for good or not at all.
                Err(AddPortError::OnlyPermanentLeasesSupported) => {
                    let asked = self.0.add_port(kind, port, inside, 0, DESCRIPTION).await;
                    asked.map(|()| 0)
                }
                other => other.map(|()| seconds),
            };
            match given {
                Ok(seconds) => return Ok((SocketAddr::new(address, port), seconds)),
                Err(AddPortError::PortInUse) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Err(format!("{TRIES} ports from {wanted} on are taken"))
    }

    /// Asks the router to forward a port no longer.
    pub(crate) async fn end(&self, protocol: Protocol, port: u16) -> Result<(), String> {
        let ended = self.0.remove_port(kind(protocol), port).await;
        ended.map_err(|error| error.to_string())
    }
}

const fn kind(protocol: Protocol) -> PortMappingProtocol {
    match protocol {
        Protocol::Udp => PortMappingProtocol::UDP,
        Protocol::Tcp => PortMappingProtocol::TCP,
    }
}
