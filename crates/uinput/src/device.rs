//! `/dev/uinput` itself: the one place with `unsafe` code.

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

/// Where the kernel has it.
pub const PATH: &str = "/dev/uinput";

/// One gamepad at the kernel, not plugged in before it is told what it is.
#[derive(Debug)]
pub struct Device(File);

impl Device {
    /// Opens one more.
    ///
    /// # Errors
    ///
    /// [`UinputError`] says why there is none, and what to do.
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

/// Whether gamepads can be made here.
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
        // SAFETY: the file is uinput's, and `request` one of its own that takes no
        // pointer: the kernel reads and writes none of our memory.
        unsafe { ioctl(&self.0, Call { request, argument }) }?;
        Ok(())
    }

    fn exchange(&mut self, request: Request, bytes: &mut [u8]) -> io::Result<()> {
        if request.argument() != Argument::Bytes(bytes.len()) {
            return Err(ErrorKind::InvalidInput.into());
        }
        let argument = bytes.as_mut_ptr().cast();
        // SAFETY: the file is uinput's, and `request` one of its own whose number says
        // of how many bytes its structure is. `bytes` has as many, which was compared,
        // and is ours alone during the call; the kernel keeps no pointer to it. Any
        // bytes that it writes there are bytes.
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

/// One request on its way.
struct Call {
    request: Request,
    argument: *mut c_void,
}

// SAFETY: the number is the request's, the pointer as it was given; nothing is made of
// the kernel's answer. Whether the two fit is for whoever makes a `Call`.
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
