//! Scenarios: data that describes a run completely, except for its seed.

mod clock;
mod controller;
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

use std::sync::Arc;

use mimosa_facts::Limits;
use mimosa_foreign::Maker;
use mimosa_net::medium::MediumConfig;
pub use mimosa_net::queue::QueueConfig;
use mimosa_net::{EncoderModel, PathConfig, Schedule};
use mimosa_stream::{FeedbackFormat, FeedbackMode, SenderConfig};
use mimosa_units::{Bytes, Ecn, Rate, Time, TimeDelta};

pub use clock::PeerClock;
pub use error::ScenarioError;
pub use frames::{FrameScale, SceneCuts};
pub use network::{LoadedNetwork, Network, Way, load_network};
pub use parse::{Files, Loaded, load};

/// A scenario: the description of a run. Everything in it has been checked.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// How long the run lasts.
    pub duration: TimeDelta,
    /// The bottleneck, or the first link where there are several: `[link]`.
    pub link: LinkConfig,
    /// The links after the first, in order: `[[link.next]]`.
    pub next: Vec<LinkConfig>,
    /// The link of the return path: `[link.reverse]`, and that of a medium without such a table.
    /// With `None` no packet waits on the return path.
    pub reverse: Option<LinkConfig>,
    /// The flows, in the order of the file.
    pub flows: Vec<FlowConfig>,
}

impl Scenario {
    /// All links in the order of their numbers, from zero: [`Self::link`], those of
    /// [`Self::next`], and [`Self::reverse`].
    pub fn links(&self) -> impl Iterator<Item = &LinkConfig> {
        std::iter::once(&self.link)
            .chain(&self.next)
            .chain(&self.reverse)
    }

    /// Whether the data of all video flows pass the same links, so that equal shares are fair.
    #[must_use]
    pub fn videos_share_a_route(&self) -> bool {
        let is_video = |flow: &&FlowConfig| matches!(flow.kind, FlowKind::Video(_));
        let mut videos = self.flows.iter().filter(is_video);
        videos
            .next()
            .is_none_or(|first| videos.all(|flow| flow.route.data == first.route.data))
    }
}

/// A link: a queue, and a serialiser or a medium.
#[derive(Clone, Debug)]
pub struct LinkConfig {
    /// The rate over time, with propagation delay and loss where they change too. Where a medium
    /// serves the link, the rate is what counts as the medium's capacity.
    pub schedule: Schedule,
    /// The queue in front of the serialiser or the medium.
    pub queue: QueueConfig,
    /// The time between the moments at which the link serves, each time as much as its rate carries
    /// until the next; `None` for a link that serves one packet after the other.
    pub tick: Option<TimeDelta>,
    /// The medium that serves the link in place of a serialiser, and that serves the link of the
    /// return path as well.
    pub medium: Option<MediumConfig>,
}

/// The links that a flow passes, by their numbers in [`Scenario::links`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Route {
    /// The links that the flow's data pass: one or more.
    pub data: Vec<usize>,
    /// The links that the reports of its receiver pass; empty where they pass none.
    pub reports: Vec<usize>,
}

/// A flow of a scenario.
#[derive(Clone, Debug)]
pub struct FlowConfig {
    /// Name of the flow, unique in the scenario.
    pub name: String,
    /// When the flow begins.
    pub start: Time,
    /// When the flow ends; [`Time::MAX`] if it lasts until the end of the run.
    pub stop: Time,
    /// Beginning and end of each pause in which the flow sends nothing, in order.
    pub pauses: Vec<(Time, Time)>,
    /// The links that the flow passes.
    pub route: Route,
    /// The path from the last of its links to its receiver.
    pub forward: PathConfig,
    /// The kind of traffic that the flow sends.
    pub kind: FlowKind,
    /// The ECN field of the flow's packets; for a video flow whose sender decides on it,
    /// that of the first packets.
    pub ecn: Ecn,
    /// The differentiated services code point of the flow's packets, 0 to 63.
    pub dscp: u8,
}

/// The kind of traffic that a flow sends.
#[derive(Clone, Debug)]
pub enum FlowKind {
    /// Video at the bitrate of a controller.
    Video(Box<VideoConfig>),
    /// Cross traffic: packets of one size at one rate.
    Cbr(CbrConfig),
    /// A TCP connection.
    Tcp(TcpConfig),
}

/// The parameters of a TCP flow.
#[derive(Clone, Debug)]
pub struct TcpConfig {
    /// The congestion control of the connection.
    pub algorithm: mimosa_cc::window::Algorithm,
    /// How the connection uses ECN.
    pub ecn: mimosa_cc::window::EcnUse,
    /// The application, which decides what there is to send.
    pub application: mimosa_tcp::Application,
    /// Web pages that are loaded over connections of their own, in place of the application.
    pub pages: Option<PagesConfig>,
    /// Payload of a full segment.
    pub packet_size: Bytes,
    /// Size of the headers on each segment.
    pub overhead: Bytes,
    /// The return path, on which acknowledgements go.
    pub reverse: PathConfig,
}

/// Web pages that are loaded one after another.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PagesConfig {
    /// Mean time from a loaded page to the next one; it is exponentially distributed.
    pub every: TimeDelta,
    /// Median size of a page; sizes have a log-normal distribution.
    pub size: Bytes,
    /// Number of new connections that share each page.
    pub connections: u32,
}

/// The parameters of a video flow.
#[derive(Clone, Debug)]
pub struct VideoConfig {
    /// Name of the controller.
    pub controller: String,
    /// What makes the controller; `None` if the controller is part of the program.
    pub outside: Option<Arc<dyn Maker>>,
    /// The controller's parameters that the scenario states; the others have their defaults.
    pub params: toml::Table,
    /// The bounds of the controller's target bitrate, and its first value.
    pub limits: Limits,
    /// Frame rate in frames a second.
    pub fps: u32,
    /// How much faster the frames' clock goes than `fps` says, in billionths of it; negative where
    /// it goes slower.
    pub frame_drift: i64,
    /// Time from the flow's beginning to its first frame; `None` for a random time within
    /// the first frame interval.
    pub phase: Option<TimeDelta>,
    /// The model of the encoder, which decides how large frames are for their grants.
    pub encoder: EncoderModel,
    /// Whether the encoder is granted the target less the packets' headers, as in `WebRTC`, and not
    /// the whole target.
    pub less_headers: bool,
    /// Factors by which the sizes of frames differ from what the encoder would make.
    pub scale: FrameScale,
    /// The highest bitrate that the picture needs: frames are never larger than this,
    /// whatever their grant.
    pub content: Rate,
    /// Time from when a frame is due to the hand-over of its last part to the pacer.
    pub encode_time: TimeDelta,
    /// Number of equal parts in which the encoder hands out a frame while it works on the rest; 1 for
    /// whole frames.
    pub parts: u32,
    /// Largest payload of a packet.
    pub packet_size: Bytes,
    /// Size of the headers on top of each packet's payload.
    pub overhead: Bytes,
    /// Parameters of the sender: pacing, retransmission and repair packets.
    pub sender: SenderConfig,
    /// Whether the sender uses ECN under every controller that answers marks: `ecn = "auto"`, with
    /// reports that carry the field.
    pub asks_for_ecn: bool,
    /// The age, from its hand-over to the pacer, at which a frame is late; `None` where
    /// late frames are not counted.
    pub deadline: Option<TimeDelta>,
    /// When the receiver reports.
    pub feedback: FeedbackMode,
    /// The format of the receiver's reports.
    pub feedback_format: FeedbackFormat,
    /// Number of earlier arrivals that each report repeats.
    pub feedback_repeat: usize,
    /// The return path, on which reports go.
    pub reverse: PathConfig,
    /// Length of a slot: reports that arrive within one slot are held until its end. Zero
    /// for no slots.
    pub aggregation: TimeDelta,
    /// The receiver's clock.
    pub clock: PeerClock,
}

/// The parameters of cross traffic at a constant rate.
#[derive(Clone, Copy, Debug)]
pub struct CbrConfig {
    /// The rate on the wire.
    pub rate: Rate,
    /// Size of each packet on the wire.
    pub packet_size: Bytes,
}

impl FlowConfig {
    /// Name of the flow's kind in files and results.
    #[must_use]
    pub const fn kind_name(&self) -> &'static str {
        match self.kind {
            FlowKind::Video(_) => "video",
            FlowKind::Cbr(_) => "cbr",
            FlowKind::Tcp(_) => "tcp",
        }
    }

    /// Name of the controller, or of a TCP flow's congestion control; `None` for cross traffic.
    #[must_use]
    pub fn controller_name(&self) -> Option<&str> {
        match &self.kind {
            FlowKind::Video(video) => Some(&video.controller),
            FlowKind::Tcp(tcp) => Some(tcp.algorithm.name()),
            FlowKind::Cbr(_) => None,
        }
    }

    /// The first time at or after `at` at which the flow may send; `None` if it never sends again.
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
