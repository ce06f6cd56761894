//! Memory that this process and the X server share. All unsafe code of the crate is in this
//! file.

use std::os::fd::OwnedFd;
use std::ptr::NonNull;

use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Bytes that are read at once: those of a register.
const WORD: usize = size_of::<u64>();

/// A mapping of an unnamed file whose length is sealed: nobody, not even a process that
/// holds the file, can cut it short.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone and to no thread.
unsafe impl Send for SharedMemory {}

impl SharedMemory {
    /// Maps `length` bytes, all zero, and returns the file to send to the server.
    pub(crate) fn new(length: usize) -> Result<(Self, OwnedFd), Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("mimosa-picture", flags)?;
        ftruncate(&file, length as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        // SAFETY: the kernel chooses the address, so that no other mapping is
        // replaced; `length` bytes are there, and the seal keeps them there.
        let start = unsafe {
            mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ,
                MapFlags::SHARED,
                &file,
                0,
            )?
        };
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok((Self { start, length }, file))
    }

    /// The bytes as they are now, into `copy`. A server that keeps to the protocol writes from
    /// a request for an image until its reply, and at no other time; one that does not may
    /// change them while they are read, and what is copied then is some of both.
    pub(crate) fn read(&self, copy: &mut Vec<u8>) {
        copy.resize(self.length, 0);
        let mut words = copy.chunks_exact_mut(WORD);
        let mut at = 0;
        for word in words.by_ref() {
            // SAFETY: `at` is a multiple of `WORD`, so that the address is aligned as the
            // mapping's pages are, and `at + WORD` is at most `length`, which is mapped and
            // initialised by the kernel for as long as `self` lives. Nobody has a reference
            // to it, and a volatile read may see what another process writes meanwhile.
            let read = unsafe { self.start.add(at).cast::<u64>().read_volatile() };
            word.copy_from_slice(&read.to_ne_bytes());
            at += WORD;
        }
        for byte in words.into_remainder() {
            // SAFETY: as above; `at` is below `length`, and a byte is always aligned.
            *byte = unsafe { self.start.add(at).read_volatile() };
            at += 1;
        }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: `new` mapped exactly this, and nobody has a reference to it.
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
    fn what_another_writes_into_the_file_is_read() {
        // With some bytes that make no whole word.
        let (memory, file) = SharedMemory::new(8189).unwrap();
        let mut copy = Vec::new();
        memory.read(&mut copy);
        assert_eq!(copy, [0; 8189]);
        let written: Vec<u8> = (0..8189_u16).map(|index| index.to_le_bytes()[0]).collect();
        rustix::io::pwrite(&file, &written, 0).unwrap();
        assert_eq!(copy, [0; 8189], "a copy stays what it is");
        memory.read(&mut copy);
        assert_eq!(copy, written);
    }

    #[test]
    fn its_length_is_sealed() {
        let (_memory, file) = SharedMemory::new(4096).unwrap();
        assert_eq!(ftruncate(&file, 0), Err(Errno::PERM));
    }
}
