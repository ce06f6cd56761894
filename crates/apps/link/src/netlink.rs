//! Sets by `rtnetlink(7)` what ioctls cannot set, or only for the machine's own root: how many
//! packets a device holds, and an IPv6 address that is not verified first.

use std::net::Ipv6Addr;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// `linux/rtnetlink.h` and `linux/netlink.h`.
const RTM_NEWLINK: u16 = 16;
const RTM_NEWADDR: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLM_F_EXCL: u16 = 0x200;
const NLM_F_CREATE: u16 = 0x400;
const NLMSG_ERROR: u16 = 2;
/// `linux/if_link.h`.
const IFLA_TXQLEN: u16 = 13;
/// `linux/if_addr.h`.
const IFA_LOCAL: u16 = 2;
const IFA_F_NODAD: u8 = 2;
/// Bytes of a message's header.
const HEADER: usize = 16;
/// Length of the network part of an address, in bits.
const PREFIX: u8 = 64;

/// Lets the device with this index hold `packets` packets on their way to this process.
pub(crate) fn set_queue(index: i32, packets: u32) -> std::io::Result<()> {
    // `struct ifinfomsg`: family and kind are unspecified; no flags are changed.
    let mut body = vec![0; 4];
    body.extend(index.to_ne_bytes());
    body.extend([0; 8]);
    attribute(&mut body, IFLA_TXQLEN, &packets.to_ne_bytes());
    ask(RTM_NEWLINK, 0, &body)
}

/// Gives the device with this index an address that can be used at once. On a link with two ends it
/// needs no check for duplicates, and while the kernel makes one, no socket can be bound to the
/// address.
pub(crate) fn add_v6(index: i32, address: Ipv6Addr) -> std::io::Result<()> {
    let family = u8::try_from(AddressFamily::INET6.as_raw()).map_err(std::io::Error::other)?;
    // `struct ifaddrmsg`; the scope is that of the address.
    let mut body = vec![family, PREFIX, IFA_F_NODAD, 0];
    body.extend(index.to_ne_bytes());
    attribute(&mut body, IFA_LOCAL, &address.octets());
    ask(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &body)
}

/// Adds an attribute, whose value has a multiple of four bytes.
fn attribute(body: &mut Vec<u8>, kind: u16, value: &[u8]) {
    // Length of the attribute: four bytes of header, and the value.
    let length = u16::try_from(4 + value.len()).unwrap_or(u16::MAX);
    body.extend(length.to_ne_bytes());
    body.extend(kind.to_ne_bytes());
    body.extend(value);
}

/// Sends a request, and waits for the kernel's answer.
fn ask(kind: u16, flags: u16, body: &[u8]) -> std::io::Result<()> {
    let mut message = Vec::new();
    let length = u32::try_from(HEADER + body.len()).map_err(std::io::Error::other)?;
    message.extend(length.to_ne_bytes());
    message.extend(kind.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK | flags).to_ne_bytes());
    // Sequence number and port are zero.
    message.extend([0; 8]);
    message.extend(body);
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // The protocol is NETLINK_ROUTE.
        None,
    )?;
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let answer = answer.get(..length).unwrap_or_default();
    // The answer is a header, whose third 16-bit word is its kind, and then an error number.
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok());
    let number = answer.get(16..20).and_then(|bytes| bytes.try_into().ok());
    match (kind.map(u16::from_ne_bytes), number.map(i32::from_ne_bytes)) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(number)) => Err(std::io::Error::from_raw_os_error(-number)),
        _ => Err(std::io::Error::other(
            "the kernel's answer is not understood",
        )),
    }
}
