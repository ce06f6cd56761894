//! `/dev/uinput` itself: the one file with `unsafe` code.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use rustix::ffi::c_void;
use rustix::fs::OFlags;
use rustix::ioctl::{Ioctl, IoctlOutput, Opcode, ioctl};

use crate::error::UinputError;
use crate::layout::{Argument, EVENT, IS_KNOWN, Request};
use crate::pad::Kernel;

/// The path of the kernel's device.
pub const PATH: &str = "/dev/uinput";

/// One gamepad at the kernel. Nothing is plugged in until the kernel knows what it is.
#[derive(Debug)]
pub struct Device(File);

impl Device {
    /// Opens `/dev/uinput` for another gamepad.
    ///
    /// # Errors
    ///
    /// [`UinputError`] says why this fails, and what to do.
    pub fn open() -> Result<Self, UinputError> {
        if !IS_KNOWN {
            return Err(UinputError::Machine);
        }
        let mut options = File::options();
        #[expect(clippy::cast_possible_wrap, reason = "a flag, as `open` takes it")]
        let flags = OFlags::NONBLOCK.bits() as i32;
        let file = options
            .read(true)
            .write(true)
            .custom_flags(flags)
            .open(PATH);
        file.map(Self).map_err(|error| match error.kind() {
            ErrorKind::NotFound => UinputError::Absent,
            ErrorKind::PermissionDenied => UinputError::Denied,
            _ => UinputError::Open(error),
        })
    }
}

/// Checks whether gamepads can be made on this machine.
///
/// # Errors
///
/// [`UinputError`] says why not, and what to do.
pub fn check() -> Result<(), UinputError> {
    Device::open().map(drop)
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Kernel for Device {
    fn tell(&mut self, request: Request, number: u32) -> io::Result<()> {
        if matches!(request.argument(), Argument::Bytes(_)) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let argument = std::ptr::without_provenance_mut(number as usize);
        // SAFETY: the file is uinput's, and `request` is one of its requests that take no
        // pointer: the kernel reads and writes none of our memory.
        unsafe { ioctl(&self.0, Call { request, argument }) }?;
        Ok(())
    }

    fn exchange(&mut self, request: Request, bytes: &mut [u8]) -> io::Result<()> {
        if request.argument() != Argument::Bytes(bytes.len()) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let argument = bytes.as_mut_ptr().cast();
        // SAFETY: the file is uinput's, and `request` is one of its requests whose number
        // states the size of its structure. `bytes` has this size, which was compared, and
        // is ours alone during the call; the kernel keeps no pointer to it. Any bytes that
        // the kernel writes there are valid.
        unsafe { ioctl(&self.0, Call { request, argument }) }?;
        Ok(())
    }

    fn write(&mut self, events: &[u8]) -> io::Result<()> {
        match self.0.write(events)? {
            written if written == events.len() => Ok(()),
            _ => Err(ErrorKind::WriteZero.into()),
        }
    }

    fn read(&mut self, event: &mut [u8; EVENT]) -> io::Result<bool> {
        match self.0.read(event) {
            Ok(read) if read == event.len() => Ok(true),
            Ok(_) => Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// A request with its argument.
struct Call {
    request: Request,
    argument: *mut c_void,
}

// SAFETY: the number is the request's, and the pointer is the one that was given; nothing
// is made of the kernel's answer. Whoever makes a `Call` makes sure that the two fit.
unsafe impl Ioctl for Call {
    type Output = ();

    const IS_MUTATING: bool = true;

    fn opcode(&self) -> Opcode {
        Opcode::from(self.request.code())
    }

    fn as_ptr(&mut self) -> *mut c_void {
        self.argument
    }

    unsafe fn output_from_ptr(_: IoctlOutput, _: *mut c_void) -> rustix::io::Result<()> {
        Ok(())
    }
}
