//! Network namespaces, and the rights to make them. This is one of the four files with `unsafe`,
//! besides `tun`, `device` and `program`.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space, unshare_unsafe};

use crate::error::LinkError;

/// The calling thread's network namespace.
const OWN: &str = "/proc/thread-self/ns/net";

/// A network namespace. It exists as long as this value, or a process in it.
#[derive(Debug)]
pub struct Namespace {
    file: File,
    path: PathBuf,
}

impl Namespace {
    /// The namespace of the calling thread.
    ///
    /// # Errors
    ///
    /// [`LinkError::Namespace`] if it cannot be opened.
    pub fn current() -> Result<Self, LinkError> {
        Self::open(Path::new(OWN))
    }

    /// The namespace of a file: `/run/netns/NAME`, or `/proc/PID/ns/net`.
    ///
    /// # Errors
    ///
    /// [`LinkError::Namespace`] if it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, LinkError> {
        let file = File::open(path).map_err(|error| LinkError::Namespace {
            path: path.to_owned(),
            error,
        })?;
        let path = path.to_owned();
        Ok(Self { file, path })
    }

    /// Makes a new namespace with nothing but a loopback device, which is up. It has no name, and
    /// is gone when no process is in it and this is dropped.
    ///
    /// # Errors
    ///
    /// [`LinkError::Rights`] without the rights, [`LinkError::Thread`] without a thread.
    pub fn private() -> Result<Self, LinkError> {
        in_thread(|| {
            // SAFETY: file descriptors stay shared; only the thread's network changes, and the
            // thread ends with this closure.
            unsafe { unshare_unsafe(UnshareFlags::NEWNET) }
                .map_err(|error| LinkError::Rights(error.into()))?;
            crate::device::up("lo")?;
            Self::current()
        })?
    }

    /// Calls `act` in the namespace, in a separate thread. Devices, sockets and processes that it
    /// makes stay in the namespace.
    ///
    /// # Errors
    ///
    /// [`LinkError::Namespace`] or [`LinkError::Thread`].
    pub fn within<T: Send>(&self, act: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
        in_thread(|| {
            self.enter()?;
            Ok(act())
        })?
    }

    /// Moves the calling thread into the namespace; a process has to have no other thread.
    ///
    /// # Errors
    ///
    /// [`LinkError::Namespace`] if it may not be entered.
    pub fn enter(&self) -> Result<(), LinkError> {
        let kind = Some(LinkNameSpaceType::Network);
        move_into_link_name_space(self.file.as_fd(), kind).map_err(|error| LinkError::Namespace {
            path: self.path.clone(),
            error: error.into(),
        })
    }

    /// A path with which another process may [`Namespace::open`] the namespace while this process
    /// lives.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd;
        let (process, number) = (std::process::id(), self.file.as_raw_fd());
        PathBuf::from(format!("/proc/{process}/fd/{number}"))
    }
}

/// Calls `act` in the network namespace of the file `path`, as [`Namespace::within`] does.
///
/// # Errors
///
/// [`LinkError::Namespace`] or [`LinkError::Thread`].
pub fn within<T: Send>(path: &Path, act: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
    Namespace::open(path)?.within(act)
}

/// Whether the process may make devices in its network namespace.
#[must_use]
pub fn may_make_devices() -> bool {
    rustix::thread::capabilities(None).is_ok_and(|sets| {
        sets.effective
            .contains(rustix::thread::CapabilitySet::NET_ADMIN)
    })
}

/// Gives the process the rights of root in a new user namespace, where it may make network
/// namespaces, but not change anything that exists. It keeps its user and group. There must be no
/// second thread yet.
///
/// # Errors
///
/// [`LinkError::Rights`] if the kernel does not allow it.
pub fn become_own_root() -> Result<(), LinkError> {
    let user = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    // SAFETY: file descriptors stay shared, and there is no other thread to see the
    // process's user namespace change.
    unsafe { unshare_unsafe(UnshareFlags::NEWUSER) }
        .map_err(|error| LinkError::Rights(error.into()))?;
    let write = |file: &str, text: String| {
        std::fs::write(format!("/proc/self/{file}"), text).map_err(LinkError::Rights)
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{user} {user} 1"))?;
    write("gid_map", format!("{group} {group} 1"))
}

/// Moves the process into the user namespace of the process `id`, if that is another one. There
/// must be no second thread yet.
///
/// # Errors
///
/// [`LinkError::Namespace`] if it may not be entered.
pub fn join_user_namespace(id: u32) -> Result<(), LinkError> {
    let path = PathBuf::from(format!("/proc/{id}/ns/user"));
    let refused = |error| LinkError::Namespace {
        path: path.clone(),
        error,
    };
    let own = std::fs::read_link("/proc/self/ns/user").map_err(refused)?;
    if std::fs::read_link(&path).map_err(refused)? == own {
        return Ok(());
    }
    let file = File::open(&path).map_err(refused)?;
    move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::User))
        .map_err(|error| refused(error.into()))
}

/// Calls `act` in a separate thread.
fn in_thread<T: Send>(act: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("namespace".to_owned())
            .spawn_scoped(scope, act)
            .map_err(LinkError::Thread)?;
        Ok(thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
