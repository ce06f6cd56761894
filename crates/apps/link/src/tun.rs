//! TUN devices: what a host sends through one can be read here, and what is written here the host
//! receives.
//!
//! A device exists exactly as long as its [`Tun`], also if the process is killed.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::ioctl::{Setter, ioctl};

use crate::device::{NAME_SIZE, name_of};
use crate::error::LinkError;

/// `TUNSETIFF`: `_IOW('T', 202, int)` (`linux/if_tun.h`).
const TUNSETIFF: u32 = 0x4004_54ca;
/// Flag: IP packets without a link layer.
const IFF_TUN: i16 = 0x0001;
/// Flag: no extra header before a packet.
const IFF_NO_PI: i16 = 0x1000;
/// Largest IP packet in bytes.
pub(crate) const LARGEST: usize = 65_535;

/// `struct ifreq`, of which only name and flags are used.
#[repr(C)]
struct Request {
    name: [u8; NAME_SIZE],
    flags: i16,
    rest: [u8; 22],
}

/// A TUN device.
#[derive(Debug)]
pub struct Tun {
    file: File,
}

impl Tun {
    /// Creates the device `name` in this thread's network namespace. It has no address yet, and is
    /// down.
    ///
    /// # Errors
    ///
    /// [`LinkError::Tun`] or [`LinkError::Device`].
    pub fn create(name: &str) -> Result<Self, LinkError> {
        let failed = |error: std::io::Error| LinkError::Device {
            name: name.to_owned(),
            error,
        };
        let name = name_of(name).ok_or_else(|| {
            let why = "its name must have 1 to 15 characters, without spaces";
            failed(std::io::Error::other(why))
        })?;
        let request = Request {
            name,
            flags: IFF_TUN | IFF_NO_PI,
            rest: [0; 22],
        };
        let file = File::options()
            .read(true)
            .write(true)
            .open("/dev/net/tun")
            .map_err(LinkError::Tun)?;
        // SAFETY: TUNSETIFF reads a `struct ifreq`, of which `Request` has the layout
        // and the size (40 bytes), and it keeps no pointer to it.
        let created = unsafe { ioctl(&file, Setter::<TUNSETIFF, Request>::new(request)) };
        created.map_err(|error| failed(error.into()))?;
        let flags = fcntl_getfl(&file).map_err(|error| failed(error.into()))?;
        fcntl_setfl(&file, flags | OFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
        Ok(Self { file })
    }

    /// Reads a packet that the host has sent, if there is one. Returns its length.
    ///
    /// # Errors
    ///
    /// The system's error if the device is gone or down.
    pub fn read(&self, buffer: &mut [u8]) -> std::io::Result<Option<usize>> {
        match (&self.file).read(buffer) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Writes a packet for the host. Returns whether the host accepted it.
    #[must_use]
    pub fn write(&self, packet: &[u8]) -> bool {
        (&self.file)
            .write(packet)
            .is_ok_and(|length| length == packet.len())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
