//! The options of `mimosa proxy`.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::{Args as Arguments, Subcommand, ValueEnum};
use mimosa_facts::Codec;
use mimosa_proxy::{KeyframeRequest, RateRequest};
use mimosa_relay::Place;
use mimosa_units::Rate;
use tracing_subscriber::filter::Targets;

use crate::log;

/// Which end, and how.
#[derive(Arguments)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Run beside the application that sends.
    Near(NearArgs),
    /// Run beside the application that receives.
    Far(FarArgs),
}

#[derive(Arguments)]
pub(crate) struct NearArgs {
    /// Where the application sends its RTP to; RTCP is on the next port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Where the far end listens
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) to: SocketAddr,
    /// A file with a key of at least 16 characters, which both ends have: only reports signed with it count
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// The application has RTP and RTCP on one port
    #[arg(long)]
    pub(crate) rtcp_mux: bool,
    /// The congestion controller
    #[arg(long, value_name = "NAME", default_value = "mimosa",
          help = format!("The congestion controller: {}", mimosa_cc::NAMES.join(", ")))]
    pub(crate) controller: String,
    /// The controller's parameters, e.g. 'alpha = 0.9, beta = 2'
    #[arg(long, value_name = "LIST")]
    pub(crate) params: Option<String>,
    /// How packets leave: `controller` for as it wishes, or a policy in its place
    #[arg(long, value_name = "NAME", default_value = "controller")]
    pub(crate) pacer: String,
    /// The lowest bitrate that the controller may aim at
    #[arg(long, value_name = "RATE", default_value = "500kbit/s")]
    pub(crate) min_bitrate: Rate,
    /// The bitrate that the controller begins with
    #[arg(long, value_name = "RATE", default_value = "5Mbit/s")]
    pub(crate) start_bitrate: Rate,
    /// The highest bitrate that the controller may aim at
    #[arg(long, value_name = "RATE", default_value = "50Mbit/s")]
    pub(crate) max_bitrate: Rate,
    /// Send all packets as not ECN-capable
    #[arg(long)]
    pub(crate) no_ecn: bool,
    /// The video's codec, by which keyframes are found among the packets
    #[arg(long, value_name = "CODEC")]
    pub(crate) codec: Option<CodecName>,
    /// RTP payload types of the video; without them, size and rate tell it from sound
    #[arg(long, value_name = "NUMBER", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(0..128))]
    pub(crate) video_types: Vec<u8>,
    /// Where the application connects for its bitrate: a path with a slash, or 127.0.0.1:PORT
    #[arg(long, value_name = "PLACE")]
    pub(crate) interface: Option<Place>,
    /// Ask the application for a bitrate by RTCP
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) request_bitrate: Option<RateMessage>,
    /// Ask the application for a keyframe by RTCP
    #[arg(long, value_name = "MESSAGE")]
    pub(crate) request_keyframe: Option<KeyframeMessage>,
    /// Ask for no keyframe when a packet was lost
    #[arg(long)]
    pub(crate) no_keyframe_on_loss: bool,
    /// A shell command to run for each bitrate; `{bits_per_second}` in it is the bitrate
    #[arg(long, value_name = "COMMAND")]
    pub(crate) on_bitrate: Option<String>,
    /// A shell command to run for each keyframe that is needed
    #[arg(long, value_name = "COMMAND")]
    pub(crate) on_keyframe: Option<String>,
    /// The shortest time between two commands for bitrates
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 1_000)]
    pub(crate) command_gap: u64,
    /// Which messages go to standard error: a level, or more of it, e.g. `warn,mimosa_relay=debug`
    #[arg(long, value_name = "FILTER", default_value = "warn", value_parser = log::filter)]
    pub(crate) log: Targets,
}

#[derive(Arguments)]
pub(crate) struct FarArgs {
    /// Where the near end sends to
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Where the application receives RTP; RTCP is on the next port
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) to: SocketAddr,
    /// The only machine that the near end may be on; without it, the first that is heard
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) from: Option<IpAddr>,
    /// A file with a key of at least 16 characters, which both ends have: only reports signed with it count
    #[arg(long, value_name = "FILE")]
    pub(crate) key_file: Option<PathBuf>,
    /// The application has RTP and RTCP on one port
    #[arg(long)]
    pub(crate) rtcp_mux: bool,
    /// Which messages go to standard error: a level, or more of it, e.g. `warn,mimosa_relay=debug`
    #[arg(long, value_name = "FILTER", default_value = "warn", value_parser = log::filter)]
    pub(crate) log: Targets,
}

/// The codecs whose keyframes are found.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CodecName {
    H264,
    H265,
    Av1,
}

impl CodecName {
    pub(crate) const fn codec(self) -> Codec {
        match self {
            Self::H264 => Codec::H264,
            Self::H265 => Codec::H265,
            Self::Av1 => Codec::Av1,
        }
    }
}

/// The messages of RTCP that ask for a bitrate.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RateMessage {
    Tmmbr,
    Remb,
}

impl RateMessage {
    pub(crate) const fn request(self) -> RateRequest {
        match self {
            Self::Tmmbr => RateRequest::Tmmbr,
            Self::Remb => RateRequest::Remb,
        }
    }
}

/// The messages of RTCP that ask for a keyframe.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KeyframeMessage {
    Pli,
    Fir,
}

impl KeyframeMessage {
    pub(crate) const fn request(self) -> KeyframeRequest {
        match self {
            Self::Pli => KeyframeRequest::Pli,
            Self::Fir => KeyframeRequest::Fir,
        }
    }
}
