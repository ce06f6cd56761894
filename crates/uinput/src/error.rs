//! Why there is no gamepad.

use std::io;

use crate::layout::Request;

/// Why the kernel has no gamepad of ours.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UinputError {
    /// The module is not loaded, or this is a container without it.
    #[error(
        "there is no /dev/uinput; load it (`sudo modprobe uinput`), or pass it into the container"
    )]
    Absent,
    /// It is not for this user.
    #[error(
        "this user may not write /dev/uinput; e.g. `sudo setfacl -m u:$USER:rw /dev/uinput`, or for good a udev rule: KERNEL==\"uinput\", TAG+=\"uaccess\""
    )]
    Denied,
    /// The device is there and does not open.
    #[error("/dev/uinput does not open: {0}")]
    Open(io::Error),
    /// Its structures are laid out differently here.
    #[error("gamepads through /dev/uinput need a 64-bit x86 or ARM processor")]
    Machine,
    /// The kernel refused a request.
    #[error("/dev/uinput refuses {request:?}: {error}")]
    Request {
        /// Which.
        request: Request,
        /// Why, in its words.
        error: io::Error,
    },
    /// Events cannot be written or read.
    #[error("a gamepad of /dev/uinput does not take events: {0}")]
    Events(io::Error),
}
