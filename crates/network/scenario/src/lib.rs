//! Scenarios: data that names a run completely, but for its seed.

mod clock;
mod ecn;
mod error;
mod feedback;
mod flow;
mod frames;
mod link;
mod network;
mod pacer;
mod parse;
mod protection;
mod queue;
mod raw;
mod route;

use mimosa_facts::Limits;
pub use mimosa_net::queue::QueueConfig;
use mimosa_net::{EncoderModel, PathConfig, Schedule};
use mimosa_stream::{FeedbackFormat, FeedbackMode, SenderConfig};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

pub use clock::PeerClock;
pub use error::ScenarioError;
pub use frames::{FrameScale, SceneCuts};
pub use network::{LoadedNetwork, Network, Way, load_network};
pub use parse::{Files, Loaded, load};

/// A run, ready to start. Everything in it is valid.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// How long it lasts.
    pub duration: TimeDelta,
    /// The bottleneck.
    pub link: LinkConfig,
    /// Those passed after it, in order.
    pub next: Vec<LinkConfig>,
    /// That of the way back; without one nothing waits there.
    pub reverse: Option<LinkConfig>,
    /// Who uses them, in the order of the file.
    pub flows: Vec<FlowConfig>,
}

impl Scenario {
    /// All links by their number, from zero: [`Self::link`], those of [`Self::next`], and
    /// [`Self::reverse`].
    pub fn links(&self) -> impl Iterator<Item = &LinkConfig> {
        std::iter::once(&self.link)
            .chain(&self.next)
            .chain(&self.reverse)
    }

    /// Whether the data of all video flows pass the same links, so that equal parts are
    /// fair.
    #[must_use]
    pub fn videos_share_a_route(&self) -> bool {
        let is_video = |flow: &&FlowConfig| matches!(flow.kind, FlowKind::Video(_));
        let mut videos = self.flows.iter().filter(is_video);
        videos
            .next()
            .is_none_or(|first| videos.all(|flow| flow.route.data == first.route.data))
    }
}

/// A bottleneck: one queue, one serialiser.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// Rate, and perhaps delay and loss, over time.
    pub schedule: Schedule,
    /// The queue before it.
    pub queue: QueueConfig,
}

/// The links that a flow passes, by their numbers in [`Scenario::links`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Route {
    /// What it sends: one link or more.
    pub data: Vec<usize>,
    /// What its receiver sends; empty where that passes no link.
    pub reports: Vec<usize>,
}

/// One flow.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Its name, unique in the scenario.
    pub name: String,
    /// When it begins.
    pub start: Time,
    /// When it ends; [`Time::MAX`] for with the run.
    pub stop: Time,
    /// When it is silent in between, in order.
    pub pauses: Vec<(Time, Time)>,
    /// The links it passes.
    pub route: Route,
    /// The way from the last of its links to its receiver.
    pub forward: PathConfig,
    /// What it sends.
    pub kind: FlowKind,
    /// The ECN field of its packets; of a video whose sender decides, that of the first.
    pub ecn: Ecn,
    /// Their differentiated services code point.
    pub dscp: u8,
}

/// What a flow sends.
#[derive(Clone, Debug)]
pub enum FlowKind {
    /// Video under a controller.
    Video(Box<VideoConfig>),
    /// Packets of one size at one rate.
    Cbr(CbrConfig),
    /// A TCP connection.
    Tcp(TcpConfig),
}

/// A TCP flow.
#[derive(Clone, Copy, Debug)]
pub struct TcpConfig {
    /// Its congestion control.
    pub algorithm: mimosa_cc::window::Algorithm,
    /// How it uses ECN.
    pub ecn: mimosa_cc::window::EcnUse,
    /// What there is to send.
    pub application: mimosa_tcp::Application,
    /// Payload of a full segment.
    pub packet_size: Bytes,
    /// Headers on each segment.
    pub overhead: Bytes,
    /// The way back, of acknowledgements.
    pub reverse: PathConfig,
}

/// A video flow.
#[derive(Clone, Debug)]
pub struct VideoConfig {
    /// The controller's name.
    pub controller: String,
    /// Its parameters, as far as they differ from its defaults.
    pub params: toml::Table,
    /// Bitrates it moves between.
    pub limits: Limits,
    /// Frames a second.
    pub fps: u32,
    /// When in its first frame interval the first frame comes; `None` for a
    /// random moment.
    pub phase: Option<TimeDelta>,
    /// What the encoder makes of its grants.
    pub encoder: EncoderModel,
    /// How many times that its frames are.
    pub scale: FrameScale,
    /// The most that the picture needs, whatever the grant.
    pub content: Rate,
    /// Time between asking for a frame and its hand-over to the pacer.
    pub encode_time: TimeDelta,
    /// Largest packet payload.
    pub packet_size: Bytes,
    /// Headers on top of it.
    pub overhead: Bytes,
    /// Pacing, retransmission and repair packets.
    pub sender: SenderConfig,
    /// When frames are late, from their hand-over on; `None` where nobody asks.
    pub deadline: Option<TimeDelta>,
    /// When the receiver reports.
    pub feedback: FeedbackMode,
    /// What its reports are written as.
    pub feedback_format: FeedbackFormat,
    /// Arrivals that each report repeats.
    pub feedback_repeat: usize,
    /// The way back.
    pub reverse: PathConfig,
    /// Reports that come back within one such slot arrive together at its end.
    pub aggregation: TimeDelta,
    /// The receiver's clock.
    pub clock: PeerClock,
}

/// Cross traffic of constant rate.
#[derive(Clone, Copy, Debug)]
pub struct CbrConfig {
    /// Its rate on the wire.
    pub rate: Rate,
    /// Its packets, on the wire.
    pub packet_size: Bytes,
}

impl FlowConfig {
    /// The kind's name in files and results.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            FlowKind::Video(_) => "video",
            FlowKind::Cbr(_) => "cbr",
            FlowKind::Tcp(_) => "tcp",
        }
    }

    /// The controller's name, if there is one.
    #[must_use]
    pub fn controller_name(&self) -> Option<&str> {
        match &self.kind {
            FlowKind::Video(video) => Some(&video.controller),
            FlowKind::Tcp(tcp) => Some(tcp.algorithm.name()),
            FlowKind::Cbr(_) => None,
        }
    }

    /// When, at or after `at`, the flow next may send; `None` for never again.
    #[must_use]
    pub fn active_from(&self, at: Time) -> Option<Time> {
        let mut at = at.max(self.start);
        for (from, to) in &self.pauses {
            if at >= *from && at < *to {
                at = *to;
            }
        }
        (at < self.stop).then_some(at)
    }
}
