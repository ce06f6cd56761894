//! The router: the gateway of the default route.

use std::net::{IpAddr, Ipv4Addr, UdpSocket};

use crate::GatewayError;

/// The kernel's table of routes of IPv4 (proc(5)).
const ROUTES: &str = "/proc/net/route";
/// A route that is up and leads through a gateway (`RTF_UP`, `RTF_GATEWAY` of `linux/route.h`).
const THROUGH_GATEWAY: u32 = 3;

/// The router, and this machine's address in the router's network.
pub(crate) fn router() -> Result<(Ipv4Addr, Ipv4Addr), GatewayError> {
    let table = std::fs::read_to_string(ROUTES)?;
    let router = default_gateway(&table).ok_or(GatewayError::NoRouter)?;
    // Connecting a socket of UDP sends nothing, and finds the address from which it would.
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?;
    socket.connect((router, crab_nat::GATEWAY_PORT))?;
    match socket.local_addr()?.ip() {
        IpAddr::V4(own) => Ok((router, own)),
        IpAddr::V6(_) => Err(GatewayError::NoRouter),
    }
}

/// The gateway of the default route with the lowest metric.
fn default_gateway(table: &str) -> Option<Ipv4Addr> {
    let routes = table.lines().skip(1).filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let (destination, gateway, flags) = (fields.next()?, fields.next()?, fields.next()?);
        let (metric, mask) = (fields.nth(2)?, fields.next()?);
        let is_default = address(destination)?.is_unspecified() && address(mask)?.is_unspecified();
        let flags = u32::from_str_radix(flags, 16).ok()?;
        let leads = flags & THROUGH_GATEWAY == THROUGH_GATEWAY;
        let metric: u32 = metric.parse().ok()?;
        (is_default && leads).then_some((metric, address(gateway)?))
    });
    routes
        .min_by_key(|(metric, _)| *metric)
        .map(|(_, gateway)| gateway)
}

/// An address as the table has it: eight hexadecimal digits of a word in the machine's order of bytes.
fn address(text: &str) -> Option<Ipv4Addr> {
    let word = u32::from_str_radix(text, 16).ok()?;
    Some(Ipv4Addr::from(word.to_ne_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_default_route_of_the_lowest_metric_leads_to_the_router() {
        let wired = "eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n";
        let wireless = "wlan0\t00000000\tFE01A8C0\t0003\t0\t0\t600\t00000000\t0\t0\t0\n";
        let near = "eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0\n";
        let tunnel = "tun0\t00000000\t0100080A\t0003\t0\t0\t50\t00000080\t0\t0\t0\n";
        let down = "eth1\t00000000\t0102A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n";
        let table = [HEAD, near, tunnel, down, wireless, wired].concat();
        assert_eq!(default_gateway(&table), Some(Ipv4Addr::new(192, 168, 1, 1)));
        let table = [HEAD, near, wireless].concat();
        assert_eq!(
            default_gateway(&table),
            Some(Ipv4Addr::new(192, 168, 1, 254))
        );
    }

    #[test]
    fn without_one_there_is_no_router() {
        for table in [
            "",
            HEAD,
            "\n\n",
            "a\nb c d e f g h i\n",
            "x\nx 0 0 zz 0 0 0 0",
        ] {
            assert_eq!(default_gateway(table), None, "{table:?}");
        }
    }
}
