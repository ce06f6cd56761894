//! Memory that a program has freed goes back to the system.
//!
//! glibc keeps what is freed for whoever asks next, which suits a program that does the same all the time. A host that
//! plays for an hour and rests for a day is none: what its sessions had would stay with it. Both functions are about
//! the whole process. With another C library than glibc's they do nothing.

#![expect(unsafe_code, reason = "the C library's allocator is set up in C")]

/// Has blocks of 1 MiB and more go back to the system once they are freed. glibc does so until the first of them is
/// freed, and then keeps blocks of that size (mallopt(3), `M_MMAP_THRESHOLD`): an encoder's pictures, 5 MB each at
/// 1280x720, would stay with a host at rest. Whoever sets `MALLOC_MMAP_THRESHOLD_` decides otherwise.
pub fn return_large_blocks() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if std::env::var_os("MALLOC_MMAP_THRESHOLD_").is_none() {
        // SAFETY: glibc declares it as this, and locks what it changes.
        unsafe { glibc::mallopt(glibc::M_MMAP_THRESHOLD, 1 << 20) };
    }
}

/// Gives the system every page in which nothing is allocated. glibc has a part of the memory for each of the first
/// threads, up to eight times as many as processors (`M_ARENA_MAX`), and keeps what is free inside each of them: a
/// host's encoder threads come and go, and each part would stay as large as its largest session was. Takes about two
/// milliseconds for 10 MB, during which a thread that allocates in the same part waits.
pub fn return_freed() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: glibc declares it as this (malloc_trim(3)), and locks what it changes.
    unsafe {
        glibc::malloc_trim(0);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod glibc {
    use std::ffi::c_int;

    /// From malloc.h.
    pub(super) const M_MMAP_THRESHOLD: c_int = -3;

    unsafe extern "C" {
        pub(super) fn mallopt(parameter: c_int, value: c_int) -> c_int;
        pub(super) fn malloc_trim(pad: usize) -> c_int;
    }
}
