//! Memory that this process and the X server both see. All unsafe code of the
//! crate is here.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A mapping of an unnamed file whose length is sealed: no one, not even who
/// holds the file, can cut it short under us.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone and to no thread.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// Maps `length` bytes, all zero, and gives the file to send to the server.
    pub(crate) fn new(length: usize) -> Result<(Self, OwnedFd), Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("mimosa-picture", flags)?;
        ftruncate(&file, length as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address, so that no other mapping is
        // replaced; `length` bytes are there, and the seal keeps them there.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                access,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok((Self { start, length }, file))
    }

    /// The bytes. To be called while the server has no image to write: it
    /// writes from a request for one until its reply, and at no other time.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `length` bytes are mapped from `start` for as long as `self`
        // lives, initialised by the kernel, and borrowed through `self` alone;
        // every pattern of bits is a `u8`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: `new` mapped exactly this, and nothing borrows it any more.
        let result = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
        if let Err(error) = result {
            tracing::debug!("unmapping a picture: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_in_the_file() {
        let (mut memory, file) = SharedMemory::new(8192).unwrap();
        assert!(memory.bytes_mut().iter().all(|&byte| byte == 0));
        memory.bytes_mut()[8191] = 7;
        let mut last = [0];
        rustix::io::pread(&file, &mut last, 8191).unwrap();
        assert_eq!(last, [7]);
    }

    #[test]
    fn its_length_is_sealed() {
        let (_memory, file) = SharedMemory::new(4096).unwrap();
        assert_eq!(ftruncate(&file, 0), Err(Errno::PERM));
    }
}
