//! Why a scenario cannot be run in real time.

use std::io;

use crate::LinkError;
use mimosa_units::Bytes;

/// Each says what is wrong, where, and what to do instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RealtimeError {
    /// Something in the scenario has no counterpart among real packets.
    #[error("flow `{flow}`: {problem}")]
    Unsupported {
        /// The flow.
        flow: String,
        /// What it is, and what to write instead.
        problem: Unsupported,
    },
    /// A frame became packets that are too small to exist.
    #[error(
        "flow `{flow}` sent a packet of {size}, and the smallest has {least}; raise `min_bitrate` or `overhead`"
    )]
    Small {
        /// The flow.
        flow: String,
        /// What it wanted to send.
        size: Bytes,
        /// The least that can be sent.
        least: Bytes,
    },
    /// The hosts have no addresses.
    #[error("cannot give the flows their addresses: `ip -batch -`: {0}; it needs iproute2")]
    Addresses(String),
    /// The link.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// A socket of a flow.
    #[error("flow `{flow}`: cannot {act}: {error}")]
    Socket {
        /// The flow.
        flow: String,
        /// What was tried.
        act: &'static str,
        /// The system's word.
        error: io::Error,
    },
}

/// What a real link and a real kernel do not do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Unsupported {
    /// One link has one path.
    #[error(
        "its {0} differs from the first flow's, and the emulated link has one path each way; give the path under [link] alone"
    )]
    Path(&'static str),
    /// One link is emulated.
    #[error(
        "the scenario has `{0}`, and one link is emulated, without a queue on the way back; leave it out, or run `mimosa sim`"
    )]
    Links(&'static str),
    /// Reports are packets here.
    #[error("`return_aggregation` is not emulated; leave it out")]
    Aggregation,
    /// Its packets do not fit into the device's.
    #[error(
        "its packets of {size} are larger than the device's {most}; lower `packet_size` or `overhead`"
    )]
    Large {
        /// The largest of its packets.
        size: Bytes,
        /// The largest that pass.
        most: Bytes,
    },
    /// Headers alone are larger.
    #[error(
        "its packets of {size} are smaller than their headers, {least}; raise `probe_size` or `packet_size`"
    )]
    Small {
        /// The smallest of its packets.
        size: Bytes,
        /// The smallest there can be.
        least: Bytes,
    },
    /// The kernel makes TCP's packets, of one size.
    #[error(
        "the kernel's full segments have 1500B with their headers, and this flow's have {0}; let `packet_size` and `overhead` make 1500B, as they do when left out"
    )]
    Segments(Bytes),
    /// Not an algorithm of the kernel.
    #[error("this kernel has no `{name}`; it has {known}")]
    Algorithm {
        /// What was asked for.
        name: &'static str,
        /// What there is.
        known: String,
    },
    /// Its addresses are numbered.
    #[error("there are more than {0} flows")]
    Many(usize),
    /// A loaded scenario has a controller that exists.
    #[error("its controller cannot be made")]
    Controller,
}
