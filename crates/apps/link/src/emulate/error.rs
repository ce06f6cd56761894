//! Errors of running a scenario in real time.

use std::io;

use crate::LinkError;
use mimosa_units::Bytes;

/// Why a scenario cannot be run in real time. Each error says what is wrong, where, and what to do
/// instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RealtimeError {
    /// The scenario has something that cannot be done with real packets.
    #[error("flow `{flow}`: {problem}")]
    Unsupported {
        /// Name of the flow.
        flow: String,
        /// What cannot be done, and what to write instead.
        problem: Unsupported,
    },
    /// A frame was split into packets that are too small to exist.
    #[error(
        "flow `{flow}` sent a packet of {size}, and the smallest has {least}; raise `min_bitrate` or `overhead`"
    )]
    Small {
        /// Name of the flow.
        flow: String,
        /// Size of the packet.
        size: Bytes,
        /// Least size of a packet.
        least: Bytes,
    },
    /// The namespaces could not be given addresses.
    #[error("cannot give the flows their addresses: `ip -batch -`: {0}; it needs iproute2")]
    Addresses(String),
    /// The link failed.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A socket of a flow failed.
    #[error("flow `{flow}`: cannot {act}: {error}")]
    Socket {
        /// Name of the flow.
        flow: String,
        /// The operation that failed.
        act: &'static str,
        /// The system's error.
        error: io::Error,
    },
}

/// What cannot be done with a real link and a real kernel.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// The flow's path differs from the others', and there is one path each way.
    #[error(
        "its {0} differs from the first flow's, and the emulated link has one path each way; give the path under [link] alone"
    )]
    Path(&'static str),
    /// The scenario has several links, or a queue on the return path.
    #[error(
        "the scenario has `{0}`, and one link is emulated, without a queue on the way back; leave it out, or run `mimosa sim`"
    )]
    Links(&'static str),
    /// The scenario aggregates reports, which are real packets here.
    #[error("`return_aggregation` is not emulated; leave it out")]
    Aggregation,
    /// The flow's packets are too large for the device.
    #[error(
        "its packets of {size} are larger than the device's {most}; lower `packet_size` or `overhead`"
    )]
    Large {
        /// Size of the flow's largest packets.
        size: Bytes,
        /// Largest size that the device carries.
        most: Bytes,
    },
    /// The flow's packets are smaller than their headers.
    #[error(
        "its packets of {size} are smaller than their headers, {least}; raise `probe_size` or `packet_size`"
    )]
    Small {
        /// Size of the flow's smallest packets.
        size: Bytes,
        /// Least possible size.
        least: Bytes,
    },
    /// The kernel makes TCP's packets, and in one size only.
    #[error(
        "the kernel's full segments have 1500B with their headers, and this flow's have {0}; let `packet_size` and `overhead` make 1500B, as they do when left out"
    )]
    Segments(Bytes),
    /// The kernel lacks the congestion control algorithm.
    #[error("this kernel has no `{name}`; it has {known}")]
    Algorithm {
        /// Name of the algorithm.
        name: &'static str,
        /// Names of the kernel's algorithms.
        known: String,
    },
    /// The flow loads web pages, of which the emulator has no browser.
    #[error("`pages` are not emulated; leave them out, or run `mimosa sim`")]
    Pages,
    /// There are more flows than addresses.
    #[error("there are more than {0} flows")]
    Many(usize),
    /// The controller cannot be made, which loading the scenario has ruled out.
    #[error("its controller cannot be made")]
    Controller,
}
