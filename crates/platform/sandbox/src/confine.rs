//! What a process gives up before it reads the first byte from a host.

use mimosa_units::Bytes;
use rustix::io::Errno;
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, getpid, set_dumpable_behavior, setrlimit,
};
use rustix::thread::set_no_new_privs;
use seccompiler::apply_filter_all_threads;

use crate::filter::filters;

/// The most memory that a decoder's process may write to, besides the picture that it shows: four times what
/// the 16 references of the largest frame of H.264's highest level take (its table A-1: `MaxDpbMbs` 696,320
/// of 384 bytes).
pub(crate) const MEMORY: Bytes = Bytes::new(1 << 30);

/// Why a process cannot be confined.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// The kernel refuses a limit, or the promise never to get more rights.
    #[error("the kernel refuses {what}: {error}")]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// The kernel's error.
        #[source]
        error: Errno,
    },
    /// The filter cannot be compiled for this processor.
    #[error("there is no filter of system calls for this processor: {0}")]
    Processor(#[from] seccompiler::BackendError),
    /// The kernel has no filters, or does not take this one.
    #[error("the kernel takes no filter of system calls (seccomp): {0}")]
    Filter(#[from] seccompiler::Error),
}

/// Takes from this process, with all of its threads, whatever a decoder does not need, for ever: files,
/// sockets, other programs and processes, more descriptors than are open, memory that can be run as code, and
/// memory above a limit. Whatever asks for one of them ends the process, at once and as a whole. Threads that
/// are started later have no more than those that start them.
///
/// Descriptors that are open stay open, and only descriptor 0 can be read and written.
///
/// # Errors
///
/// [`ConfineError`]; part of it may have been taken.
pub fn confine() -> Result<(), ConfineError> {
    let refused = |what| move |error| ConfineError::Refused { what, error };
    set_no_new_privs(true).map_err(refused("no_new_privs"))?;
    // Programs of the same user can neither trace it nor read its memory, and it leaves no copy of it.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(refused("to be traced by none"))?;
    for (what, resource, most) in [
        ("a limit of the core's size", Resource::Core, 0),
        ("a limit of files' sizes", Resource::Fsize, 0),
        ("a limit of open files", Resource::Nofile, 0),
        ("a limit of memory", Resource::Data, MEMORY.get()),
    ] {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        setrlimit(resource, limit).map_err(refused(what))?;
    }
    for filter in filters(getpid().as_raw_nonzero().get())? {
        apply_filter_all_threads(&filter)?;
    }
    Ok(())
}
