//! One forwarded port, for as long as it is wanted.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU16;
use std::time::Duration;

use crab_nat::{
    InternetProtocol, PortMapping, PortMappingOptions, PortMappingType, TimeoutConfig, natpmp,
};

use crate::route::router;
use crate::upnp::Upnp;
use crate::{Forwarded, GatewayError, Means, Protocol};

/// How long a router is asked to forward, in seconds. RFC 6886, section 3.3, recommends two hours, for programs that ask
/// seldom. Ten minutes are our choice: the host asks each minute, and what a killed host leaves behind, which by PCP no
/// other request may change (RFC 6887, section 11.3: the nonce), is soon over.
const LIFETIME: u32 = 600;
/// The longest time between two requests for one port. Our choice: after it the host knows that the router has
/// another address, or that it was switched off and has forgotten everything.
const LONGEST: Duration = Duration::from_mins(1);
/// Times of a request by UDP: 250 ms and twice that for each of two repeats. RFC 6886, section 3.1, begins with
/// 250 ms as well; it repeats nine times, which lasts 64 s where nobody answers.
const TIMES: TimeoutConfig = TimeoutConfig {
    initial_timeout: Duration::from_millis(250),
    max_retries: 2,
    max_retry_timeout: None,
};

/// A port that a router forwards to this machine.
#[derive(Debug)]
pub struct Forwarding {
    router: Ipv4Addr,
    forwarded: Forwarded,
    lease: Lease,
    lifetime: Duration,
}

#[derive(Debug)]
enum Lease {
    Control(Box<PortMapping>),
    Upnp(Box<Upnp>),
}

/// Asks the router for a port of this machine, with the same number outside if it can be had. At most six seconds
/// pass.
///
/// # Errors
///
/// [`GatewayError`] says why there is none.
pub async fn forward(protocol: Protocol, port: u16) -> Result<Forwarding, GatewayError> {
    let (router, own) = router()?;
    let inside = SocketAddr::from((own, port));
    let control = match Forwarding::by_control(router, protocol, inside).await {
        Ok(forwarding) => return Ok(forwarding),
        Err(error) => error,
    };
    let upnp = match Upnp::find(router).await {
        Ok(upnp) => Forwarding::by_upnp(router, Box::new(upnp), protocol, inside, port).await,
        Err(error) => Err(error),
    };
    upnp.map_err(|upnp| GatewayError::Refused {
        router,
        control,
        upnp,
    })
}

impl Forwarding {
    /// By PCP or NAT-PMP.
    async fn by_control(
        router: Ipv4Addr,
        protocol: Protocol,
        inside: SocketAddr,
    ) -> Result<Self, String> {
        let port = NonZeroU16::new(inside.port()).ok_or("the port is zero")?;
        let options = PortMappingOptions {
            external_port: Some(port),
            lifetime_seconds: Some(LIFETIME),
            timeout_config: Some(TIMES),
        };
        let kind = match protocol {
            Protocol::Udp => InternetProtocol::Udp,
            Protocol::Tcp => InternetProtocol::Tcp,
        };
        let mapping = PortMapping::new(router.into(), inside.ip(), kind, port, options).await;
        let mapping = mapping.map_err(|error| error.to_string())?;
        let (outside, means) = outside(router, &mapping).await?;
        Ok(Self {
            router,
            forwarded: Forwarded {
                protocol,
                inside,
                outside,
                means,
            },
            lifetime: seconds(mapping.lifetime()),
            lease: Lease::Control(Box::new(mapping)),
        })
    }

    async fn by_upnp(
        router: Ipv4Addr,
        upnp: Box<Upnp>,
        protocol: Protocol,
        inside: SocketAddr,
        wanted: u16,
    ) -> Result<Self, String> {
        let (outside, lifetime) = upnp.forward(protocol, inside, wanted, LIFETIME).await?;
        Ok(Self {
            router,
            forwarded: Forwarded {
                protocol,
                inside,
                outside,
                means: Means::Upnp,
            },
            lifetime: match lifetime {
                0 => Duration::MAX,
                lifetime => seconds(lifetime),
            },
            lease: Lease::Upnp(upnp),
        })
    }

    /// Where the port is forwarded.
    #[must_use]
    pub const fn forwarded(&self) -> Forwarded {
        self.forwarded
    }

    /// Whether a router may still forward that has not granted the last `refused` requests.
    #[must_use]
    pub fn may_last(&self, refused: u32) -> bool {
        self.rest().saturating_mul(refused) < self.lifetime.min(seconds(LIFETIME))
    }

    /// How long to wait before the next [`Forwarding::renew`].
    #[must_use]
    pub fn rest(&self) -> Duration {
        LONGEST.min(self.lifetime / 2)
    }

    /// Asks the router again, so that it goes on, and learns what has changed.
    ///
    /// # Errors
    ///
    /// [`GatewayError`] if the router does not answer, or refuses. It may forward until the time is over for which it
    /// was asked ([`Forwarding::may_last`]).
    pub async fn renew(&mut self) -> Result<(), GatewayError> {
        let (router, own) = router()?;
        let Forwarded {
            protocol, inside, ..
        } = self.forwarded;
        if (router, IpAddr::V4(own)) != (self.router, inside.ip()) {
            *self = forward(protocol, inside.port()).await?;
            return Ok(());
        }
        let refused = |control: String, upnp: String| GatewayError::Refused {
            router,
            control,
            upnp,
        };
        let unused = || "not asked".to_owned();
        match &mut self.lease {
            Lease::Control(mapping) => {
                let renewed = mapping.renew().await;
                renewed.map_err(|error| refused(error.to_string(), unused()))?;
                self.lifetime = seconds(mapping.lifetime());
                let outside = outside(router, mapping).await;
                (self.forwarded.outside, self.forwarded.means) =
                    outside.map_err(|error| refused(error, unused()))?;
            }
            Lease::Upnp(upnp) => {
                let wanted = self.forwarded.outside.port();
                let (upnp, refused) = (upnp.clone(), |error| refused(unused(), error));
                let renewed = Self::by_upnp(router, upnp, protocol, inside, wanted).await;
                *self = renewed.map_err(refused)?;
            }
        }
        Ok(())
    }

    /// Asks the router to forward the port no longer. A router that does not answer forgets the port by itself.
    pub async fn end(self) {
        let Forwarded {
            protocol, outside, ..
        } = self.forwarded;
        let ended = match self.lease {
            Lease::Control(mapping) => {
                let ended = mapping.try_drop().await;
                ended.map_err(|(error, _)| error.to_string())
            }
            Lease::Upnp(upnp) => upnp.end(protocol, outside.port()).await,
        };
        if let Err(error) = ended {
            tracing::warn!(%outside, error, "the router may forward this port for a while");
        }
    }
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

/// Where the router takes in what is for this port.
async fn outside(router: Ipv4Addr, mapping: &PortMapping) -> Result<(SocketAddr, Means), String> {
    let port = mapping.external_port().get();
    let (address, means) = match mapping.mapping_type() {
        PortMappingType::Pcp { external_ip, .. } => (external_ip, Means::Pcp),
        PortMappingType::NatPmp => {
            let address = natpmp::external_address(router.into(), Some(TIMES)).await;
            let address = address.map_err(|error| error.to_string())?;
            (IpAddr::V4(address), Means::NatPmp)
        }
    };
    Ok((SocketAddr::new(address.to_canonical(), port), means))
}
