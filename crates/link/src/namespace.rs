//! Doing something in another network namespace.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::LinkError;

/// Does `act` in the network namespace of the file `path` (`/run/netns/NAME`, or
/// `/proc/PID/ns/net`), in a thread of its own, which nobody else sees the inside of.
/// Devices and sockets made there stay there.
///
/// # Errors
///
/// [`LinkError::Namespace`] or [`LinkError::Thread`].
pub fn within<T: Send>(path: &Path, act: impl FnOnce() -> T + Send) -> Result<T, LinkError> {
    let refused = |error| LinkError::Namespace {
        path: path.to_owned(),
        error,
    };
    let namespace = File::open(path).map_err(refused)?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new()
            .name("namespace".to_owned())
            .spawn_scoped(scope, || {
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(namespace.as_fd(), kind)
                    .map_err(|error| refused(error.into()))?;
                Ok(act())
            })
            .map_err(LinkError::Thread)?;
        thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
