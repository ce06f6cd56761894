//! The memory for a picture, as the process that reads it has it.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use mimosa_video::Size;
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, ftruncate, memfd_create};
use rustix::io::Errno;

use crate::raw::Window;

/// The bytes of the largest picture that a [`Size`] allows. The kernel gives memory only to those pages that
/// are written.
pub(crate) const LARGEST_PICTURE: usize = {
    let side = Size::LARGEST_SIDE as usize;
    side * side / 2 * 3
};

/// An unnamed file in memory whose length is sealed: nobody, not even a process that holds it, can cut it
/// short.
///
/// Nobody here has a reference to its bytes. They are copied with volatile reads, so that a process that
/// writes there meanwhile changes what is copied and nothing else.
#[derive(Debug)]
pub(crate) struct Memory {
    file: OwnedFd,
    window: Window,
}

impl Memory {
    /// A file of `length` bytes, all zero.
    ///
    /// # Errors
    ///
    /// The system's.
    pub(crate) fn new(length: usize) -> Result<Self, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create("mimosa-decoded", flags)?;
        ftruncate(&file, length as u64)?;
        fcntl_add_seals(&file, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        let window = Window::map(&file, length)?;
        Ok(Self { file, window })
    }

    /// The file.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Copies the first bytes of the file, as they are now. Returns whether there are as many.
    pub(crate) fn read(&self, copy: &mut [u8]) -> bool {
        self.window.read(copy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::io::pwrite;

    #[test]
    fn what_another_writes_is_read_and_a_copy_stays_what_it_is() {
        let memory = Memory::new(9_003).unwrap();
        let mut copy = vec![1; 9_003];
        assert!(memory.read(&mut copy));
        assert_eq!(copy, [0; 9_003]);
        pwrite(memory.file(), &[5; 9_003], 0).unwrap();
        assert_eq!(copy, [0; 9_003]);
        assert!(memory.read(&mut copy));
        assert_eq!(copy, [5; 9_003]);
    }

    #[test]
    fn its_length_is_sealed_and_known() {
        let memory = Memory::new(4_096).unwrap();
        assert_eq!(ftruncate(memory.file(), 0), Err(Errno::PERM));
        assert_eq!(ftruncate(memory.file(), 8_192), Err(Errno::PERM));
        assert!(!memory.read(&mut [0; 4_097]));
    }
}
