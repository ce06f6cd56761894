//! The one setting of a device that ioctls leave to the machine's own root: how many
//! packets it holds (`rtnetlink(7)`).

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socket_with,
};

/// `linux/rtnetlink.h` and `linux/netlink.h`.
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLMSG_ERROR: u16 = 2;
/// `linux/if_link.h`.
const IFLA_TXQLEN: u16 = 13;
/// A header of 16 bytes, `struct ifinfomsg` of 16, an attribute of 8.
const LENGTH: u32 = 40;

/// Lets the device with this index hold so many packets on their way to us.
pub(crate) fn set_queue(index: i32, packets: u32) -> std::io::Result<()> {
    let mut message = Vec::new();
    message.extend(LENGTH.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend((NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    // Sequence number and port.
    message.extend([0; 8]);
    // Family and kind: any.
    message.extend([0; 4]);
    message.extend(index.to_ne_bytes());
    // Flags and their mask: none.
    message.extend([0; 8]);
    message.extend(8_u16.to_ne_bytes());
    message.extend(IFLA_TXQLEN.to_ne_bytes());
    message.extend(packets.to_ne_bytes());
    let socket = socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        // NETLINK_ROUTE.
        None,
    )?;
    send(&socket, &message, SendFlags::empty())?;
    let mut answer = [0_u8; 256];
    let (length, _) = recv(&socket, &mut answer[..], RecvFlags::empty())?;
    let answer = answer.get(..length).unwrap_or_default();
    // A header, of which the kind is the third half-word, then the error's number.
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
