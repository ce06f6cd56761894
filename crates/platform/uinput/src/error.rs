//! The errors of this crate.

use std::io;

use crate::layout::Request;

/// The reason why the kernel makes no gamepad.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UinputError {
    /// The kernel module is not loaded, or this is a container without it.
    #[error(
        "there is no /dev/uinput; load it (`sudo modprobe uinput`), or pass it into the container"
    )]
    Absent,
    /// This user may not write the device.
    #[error(
        "this user may not write /dev/uinput; e.g. `sudo setfacl -m u:$USER:rw /dev/uinput`, or for good a udev rule: KERNEL==\"uinput\", TAG+=\"uaccess\""
    )]
    Denied,
    /// The device exists and does not open.
    #[error("/dev/uinput does not open: {0}")]
    Open(io::Error),
    /// The kernel's structures have another layout on this processor.
    #[error("gamepads through /dev/uinput need a 64-bit x86 or ARM processor")]
    Machine,
    /// The kernel refused a request.
    #[error("/dev/uinput refuses {request:?}: {error}")]
    Request {
        /// The request.
        request: Request,
        /// The kernel's error.
        error: io::Error,
    },
    /// Events cannot be written or read.
    #[error("a gamepad of /dev/uinput does not take events: {0}")]
    Events(io::Error),
}
