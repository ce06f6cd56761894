//! Checks the network: ports, addresses and buffers.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

use mimosa_settings::Settings;
use mimosa_units::{Bytes, TimeDelta};
use rustix::net::sockopt;

use super::report::{Finding, Report};

/// Checks the network.
pub(super) fn look(settings: &Settings, report: &mut Report) {
    let is_ipv6_there = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).is_ok();
    report.add(ipv6(settings, is_ipv6_there));
    let listen = |address: SocketAddr| TcpListener::bind(address).map(drop);
    report.add(port(
        settings,
        "HTTP port",
        settings.http_port,
        "--http-port",
        listen,
    ));
    let bind = |address: SocketAddr| UdpSocket::bind(address).map(drop);
    report.add(port(
        settings,
        "UDP port",
        settings.udp_port,
        "--udp-port",
        bind,
    ));
    report.add(buffer(settings));
}

fn ipv6(settings: &Settings, is_there: bool) -> Finding {
    if is_there {
        return Finding::ok("IPv6 loopback", "::1 is there");
    }
    let is_needed = settings.bind.contains(&IpAddr::V6(Ipv6Addr::LOCALHOST));
    Finding::absent(
        is_needed,
        "IPv6 loopback",
        "::1 is not there",
        "--bind 127.0.0.1, or sysctl -w net.ipv6.conf.lo.disable_ipv6=0",
    )
}

/// Whether `port` is free on all addresses.
fn port(
    settings: &Settings,
    check: &'static str,
    port: u16,
    flag: &str,
    bind: impl Fn(SocketAddr) -> io::Result<()>,
) -> Finding {
    for ip in &settings.bind {
        let address = SocketAddr::new(*ip, port);
        if let Err(error) = bind(address) {
            let remedy = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    format!(
                        "end who has it (ss -lntup | grep :{port}), or choose another with {flag}"
                    )
                }
                io::ErrorKind::AddrNotAvailable => {
                    "name addresses of this machine (ip address) with --bind".to_owned()
                }
                io::ErrorKind::PermissionDenied => format!("choose one from 1024 with {flag}"),
                _ => format!("choose another with --bind or {flag}"),
            };
            return Finding::missing(check, format!("{address}: {error}"), remedy);
        }
    }
    let addresses: Vec<_> = settings.bind.iter().map(IpAddr::to_string).collect();
    let addresses = addresses.join(" and ");
    match port {
        0 => Finding::ok(check, format!("a free one on {addresses}")),
        _ => Finding::ok(check, format!("{port} is free on {addresses}")),
    }
}

/// Whether a frame at the highest bitrate fits into a socket's buffer.
fn buffer(settings: &Settings) -> Finding {
    const CHECK: &str = "send buffer";
    let most = settings.controller.limits.max();
    let interval = TimeDelta::from_secs(1.0) / settings.frames_per_second;
    let frame = most.amount_in(interval);
    let allowed = match allowed(frame) {
        Ok(allowed) => allowed,
        Err(error) => return Finding::warning(CHECK, format!("unknown: {error}"), ""),
    };
    if allowed >= frame {
        return Finding::ok(CHECK, format!("holds a frame at {most}, {frame}"));
    }
    Finding::warning(
        CHECK,
        format!("holds {allowed}, but a frame at {most} has {frame}"),
        format!("sysctl -w net.core.wmem_max={}", frame.get()),
    )
}

/// The send buffer that the system allows when `wanted` is asked for.
fn allowed(wanted: Bytes) -> io::Result<Bytes> {
    let socket = UdpSocket::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let wanted = usize::try_from(wanted.get()).unwrap_or(usize::MAX);
    sockopt::set_socket_send_buffer_size(&socket, wanted)?;
    // Linux doubles the size that was asked for, for its own use (socket(7)).
    let allowed = sockopt::socket_send_buffer_size(&socket)? / 2;
    Ok(Bytes::new(allowed as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_somebody_has_is_missing() {
        let taken = TcpListener::bind((Ipv6Addr::LOCALHOST, 0));
        let taken = taken.or_else(|_| TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = taken.local_addr().unwrap();
        let mut report = Report::default();
        let flags = {
            let mut flags = mimosa_settings::Flags::default();
            flags.set(&mimosa_settings::keys::BIND, address.ip().to_string());
            flags
        };
        let settings =
            mimosa_settings::resolve(None, Vec::new(), &flags, crate::serve::checks()).unwrap();
        let listen = |address: SocketAddr| TcpListener::bind(address).map(drop);
        report.add(port(
            &settings,
            "HTTP port",
            address.port(),
            "--http-port",
            listen,
        ));
        assert!(!report.is_good());
        let text = report.text(false);
        assert!(
            text.contains(&address.to_string()) && text.contains("--http-port"),
            "{text}"
        );
        drop(taken);
    }
}
