//! Errors of setting up a link.

use std::path::PathBuf;

/// Why a link cannot be set up, or does not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// A namespace does not exist, or may not be entered.
    #[error(
        "cannot enter the network namespace {}: {error}; run as root, and see `ip netns list`",
        .path.display()
    )]
    Namespace {
        /// Path of the namespace's file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// Network namespaces may not be made.
    #[error(
        "cannot make a network namespace: {0}; it needs the right CAP_SYS_ADMIN: run as root, in a container with `--cap-add SYS_ADMIN --cap-add NET_ADMIN --device /dev/net/tun`, or let users make namespaces of their own (`sysctl user.max_user_namespaces=10000`, and where there is such a key, `kernel.unprivileged_userns_clone=1` and `kernel.apparmor_restrict_unprivileged_userns=0`)"
    )]
    Rights(std::io::Error),
    /// The link has no rate that could be changed, because a medium serves it.
    #[error("a medium serves this link, which has no rate; set `--delay` or `--loss`")]
    NoRate,
    /// TUN devices may not be made.
    #[error(
        "cannot open /dev/net/tun: {0}; let this user open it (`chmod 666 /dev/net/tun`), pass it into the container (`--device /dev/net/tun`), load its module (`modprobe tun`), or run as root"
    )]
    Tun(std::io::Error),
    /// A device cannot be made or set up.
    #[error(
        "cannot make the device `{name}`: {error}; it needs the right CAP_NET_ADMIN in its namespace (run as root)"
    )]
    Device {
        /// Name of the device.
        name: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// Every range of addresses for links contains addresses of the machine's own network.
    #[error(
        "this machine has addresses in 100.64.0.0/10 and in 198.18.0.0/15, where links have theirs, and would not reach its own any more; let the link have two hosts of its own (`--isolated`, or `mimosa link up`)"
    )]
    NoRange,
    /// There is no such user.
    #[error("there is no user `{0}` in /etc/passwd; write the name or the number of one")]
    NoUser(String),
    /// A program cannot be started.
    #[error("cannot start `{name}`: {error}")]
    Command {
        /// Name of the program.
        name: String,
        /// The system's error.
        error: std::io::Error,
    },
    /// Address translation cannot be set up.
    #[error(
        "cannot translate addresses by nftables: {0}; install `nft`, or do without what lies beyond this machine (`--isolated`)"
    )]
    Translation(String),
    /// The link's threads have ended.
    #[error("the link has stopped; start it again")]
    Stopped,
    /// The system refuses a thread.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
}
