//! Closing descriptors, and memory that two processes share. All unsafe code of the crate is in this
//! file.

#![expect(
    unsafe_code,
    reason = "system calls that the borrow checker knows nothing of"
)]

use std::os::fd::AsFd;
use std::ptr::{NonNull, null_mut};

use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// Closes all descriptors from `first` on. Only a process that was started for what it does next, and has
/// opened nothing itself, may call this.
///
/// # Errors
///
/// The system's, for instance on Linux before 5.9, which cannot.
pub(crate) fn close_from(first: u32) -> std::io::Result<()> {
    // SAFETY: closes descriptors, of which the caller has none; no memory is touched.
    let status = unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) };
    if status == 0 {
        Ok(())
    } else {
        Err(std::io::Error::last_os_error())
    }
}

/// Bytes that are read at once: those of a register.
const WORD: usize = size_of::<u64>();

/// The beginning of a file that another process has mapped as well.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: the mapping belongs to this value alone and to no thread.
unsafe impl Send for Mapping {}

impl Mapping {
    fn new(file: impl AsFd, length: usize, access: ProtFlags) -> Result<Self, Errno> {
        let file = file.as_fd();
        let there = fstat(file)?.st_size;
        if usize::try_from(there).is_ok_and(|there| there < length) {
            return Err(Errno::INVAL);
        }
        // SAFETY: the kernel chooses the address, so that no other mapping is replaced; `length` bytes are
        // there, and the seal keeps them there.
        let start = unsafe { mmap(null_mut(), length, access, MapFlags::SHARED, file, 0)? };
        let start = NonNull::new(start.cast()).ok_or(Errno::NOMEM)?;
        Ok(Self { start, length })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` mapped exactly this, and nobody has a reference to it.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// A place for one picture in memory that another process reads.
#[derive(Debug)]
pub(crate) struct Slot(Mapping);

impl Slot {
    /// Maps the first `length` bytes of `file`, whose length has to be sealed.
    ///
    /// # Errors
    ///
    /// The system's, or `EINVAL` if the file is shorter.
    pub(crate) fn map(file: impl AsFd, length: usize) -> Result<Self, Errno> {
        Mapping::new(file, length, ProtFlags::READ | ProtFlags::WRITE).map(Self)
    }

    /// Writes `bytes` from the byte `at` on. Returns whether there is room for them.
    pub(crate) fn put(&mut self, at: usize, bytes: &[u8]) -> bool {
        let end = at.checked_add(bytes.len());
        if end.is_none_or(|end| end > self.0.length) {
            return false;
        }
        // SAFETY: the bytes from `at` on are mapped, as was just seen. This value alone has a pointer to
        // them in this process, and no reference; the process that reads them does so without one.
        unsafe {
            let place = self.0.start.add(at);
            place.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
        }
        true
    }
}

/// Memory that another process writes, whenever it likes.
#[derive(Debug)]
pub(crate) struct Window(Mapping);

impl Window {
    /// Maps the first `length` bytes of `file`, whose length has to be sealed.
    ///
    /// # Errors
    ///
    /// The system's, or `EINVAL` if the file is shorter.
    pub(crate) fn map(file: impl AsFd, length: usize) -> Result<Self, Errno> {
        Mapping::new(file, length, ProtFlags::READ).map(Self)
    }

    /// Copies the first bytes, as they are now, and returns whether there are as many. What the other process
    /// writes meanwhile may be in the copy or not.
    pub(crate) fn read(&self, copy: &mut [u8]) -> bool {
        if copy.len() > self.0.length {
            return false;
        }
        let mut words = copy.chunks_exact_mut(WORD);
        let mut at = 0;
        for word in words.by_ref() {
            // SAFETY: `at` is a multiple of `WORD`, so that the address is aligned as the mapping's pages are,
            // and `at + WORD` is at most the copy's length and therefore mapped. Nobody has a reference to
            // it, and a volatile read may see what another process writes meanwhile.
            let read = unsafe { self.0.start.add(at).cast::<u64>().read_volatile() };
            word.copy_from_slice(&read.to_ne_bytes());
            at += WORD;
        }
        for byte in words.into_remainder() {
            // SAFETY: as above, and a byte is always aligned.
            *byte = unsafe { self.0.start.add(at).read_volatile() };
            at += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::Memory;

    #[test]
    fn what_does_not_fit_is_not_written() {
        let memory = Memory::new(5_000).unwrap();
        let mut slot = Slot::map(memory.file(), 5_000).unwrap();
        assert!(slot.put(4_998, &[7, 8]));
        assert!(!slot.put(4_999, &[1, 1]));
        assert!(!slot.put(usize::MAX, &[1]));
        assert!(slot.put(5_000, &[]));
        let mut read = vec![1; 5_000];
        assert!(memory.read(&mut read));
        assert_eq!(read[4_997..], [0, 7, 8]);
    }

    #[test]
    fn a_file_that_is_too_short_is_not_mapped() {
        let memory = Memory::new(4_096).unwrap();
        assert_eq!(Slot::map(memory.file(), 4_097).unwrap_err(), Errno::INVAL);
    }
}
