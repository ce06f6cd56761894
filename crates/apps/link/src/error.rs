//! What can go wrong on the way to a running link.

use std::path::PathBuf;

/// Why there is no link.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A namespace that is not there, or may not be entered.
    #[error(
        "cannot enter the network namespace {}: {error}; run as root, and see `ip netns list`",
        .path.display()
    )]
    Namespace {
        /// Its file.
        path: PathBuf,
        /// The system's word.
        error: std::io::Error,
    },
    /// Nothing may be made.
    #[error(
        "cannot make a network namespace: {0}; it needs the right CAP_SYS_ADMIN: run as root, in a container with `--cap-add SYS_ADMIN --cap-add NET_ADMIN --device /dev/net/tun`, or let users make namespaces of their own (`sysctl user.max_user_namespaces=10000`, and where there is such a key, `kernel.unprivileged_userns_clone=1` and `kernel.apparmor_restrict_unprivileged_userns=0`)"
    )]
    Rights(std::io::Error),
    /// No way to make devices.
    #[error(
        "cannot open /dev/net/tun: {0}; let this user open it (`chmod 666 /dev/net/tun`), pass it into the container (`--device /dev/net/tun`), load its module (`modprobe tun`), or run as root"
    )]
    Tun(std::io::Error),
    /// No device.
    #[error(
        "cannot make the device `{name}`: {error}; it needs the right CAP_NET_ADMIN in its namespace (run as root)"
    )]
    Device {
        /// Its name.
        name: String,
        /// The system's word.
        error: std::io::Error,
    },
    /// No addresses that would not hide some of the machine's own network.
    #[error(
        "this machine has addresses in 100.64.0.0/10 and in 198.18.0.0/15, where links have theirs, and would not reach its own any more; let the link have two hosts of its own (`--isolated`, or `mimosa link up`)"
    )]
    NoRange,
    /// Nobody to run a program as.
    #[error("there is no user `{0}` in /etc/passwd; write the name or the number of one")]
    NoUser(String),
    /// A program that cannot be started.
    #[error("cannot start `{name}`: {error}")]
    Command {
        /// Its name.
        name: String,
        /// The system's word.
        error: std::io::Error,
    },
    /// No address translation.
    #[error(
        "cannot translate addresses by nftables: {0}; install `nft`, or do without what lies beyond this machine (`--isolated`)"
    )]
    Translation(String),
    /// Nobody answers.
    #[error("the link has stopped; start it again")]
    Stopped,
    /// The system has no thread left.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}
