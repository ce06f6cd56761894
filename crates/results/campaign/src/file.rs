//! What a campaign file says.

use mimosa_units::{Rate, TimeDelta};
use serde::Deserialize;
use toml::Spanned;

use crate::reach::Machine;

/// A campaign, checked.
#[derive(Clone, Debug)]
pub struct Campaign {
    /// What the campaign is about.
    pub title: String,
    /// Seed of the order and of the bootstrap.
    pub seed: u64,
    /// Order of the arms in a block.
    pub order: Order,
    /// Number of blocks.
    pub blocks: u32,
    /// Length of a session, from the start of its first stream: whole seconds.
    pub session: TimeDelta,
    /// Time at the beginning of each stream that the figures leave out.
    pub warm_up: TimeDelta,
    /// Time between two sessions over one path.
    pub pause: TimeDelta,
    /// Whether sessions over different paths run at the same time.
    pub paths_at_once: bool,
    /// Whether the recordings of the hosts are collected.
    pub record: bool,
    /// Place of the arm with which the others are compared, among the arms.
    pub baseline: usize,
    /// The machines.
    pub machines: Vec<Machine>,
    /// The paths, each from a host to a client.
    pub paths: Vec<Path>,
    /// The arms.
    pub arms: Vec<Arm>,
    /// The tests.
    pub tests: Vec<Test>,
}

/// A path from a host to a client.
#[derive(Clone, Debug)]
pub struct Path {
    /// Name of the path.
    pub name: String,
    /// Place of the host's machine among the campaign's machines.
    pub host: usize,
    /// Place of the client's machine among the campaign's machines.
    pub client: usize,
    /// Address by which the client reaches the host.
    pub address: String,
    /// Address that the host binds its ports to.
    pub bind: String,
    /// First port of the hosts, of which each takes two; `None` for free ones.
    pub port: Option<u16>,
    /// Port of the TCP flow.
    pub tcp_port: u16,
    /// What the path carries, as somebody measured it.
    pub capacity: Option<Rate>,
    /// Further options of `mimosa serve` on this path.
    pub serve: Vec<String>,
}

/// An arm: what is compared.
#[derive(Clone, Debug)]
pub struct Arm {
    /// Name of the arm.
    pub name: String,
    /// Name of the controller.
    pub controller: String,
    /// Further options of `mimosa serve`.
    pub serve: Vec<String>,
}

/// A test.
#[derive(Clone, Debug)]
pub struct Test {
    /// Name of the test.
    pub name: String,
    /// What runs in a session.
    pub kind: Kind,
}

/// What runs in a session of a test.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Kind {
    /// One stream alone.
    Efficiency,
    /// Several streams over one path at once.
    Fairness {
        /// Number of streams.
        streams: u32,
        /// Place of the arm of all streams but the first; `None` for the first's own.
        beside: Option<usize>,
        /// Time between the starts of two streams.
        stagger: TimeDelta,
        /// Whether a TCP flow of iperf3 runs beside the streams, from the first's start on.
        tcp: bool,
    },
}

/// Order of the arms in a block.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The order of the file, in every block.
    Abab,
    /// An order drawn with the seed, in each block anew.
    #[default]
    Random,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawFile {
    pub(crate) title: String,
    #[serde(default = "one")]
    pub(crate) seed: u64,
    pub(crate) plan: RawPlan,
    #[serde(default)]
    pub(crate) machine: Vec<RawMachine>,
    #[serde(default)]
    pub(crate) path: Vec<RawPath>,
    #[serde(default)]
    pub(crate) arm: Vec<RawArm>,
    #[serde(default)]
    pub(crate) test: Vec<RawTest>,
}

const fn one() -> u64 {
    1
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPlan {
    #[serde(default)]
    pub(crate) order: Order,
    pub(crate) blocks: Spanned<u32>,
    pub(crate) session: Spanned<TimeDelta>,
    pub(crate) warm_up: Option<Spanned<TimeDelta>>,
    pub(crate) pause: Option<Spanned<TimeDelta>>,
    #[serde(default)]
    pub(crate) paths_at_once: bool,
    #[serde(default)]
    pub(crate) record: bool,
    pub(crate) baseline: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawMachine {
    pub(crate) name: Spanned<String>,
    pub(crate) ssh: Option<Spanned<String>>,
    pub(crate) options: Option<Spanned<Vec<String>>>,
    pub(crate) netns: Option<Spanned<String>>,
    pub(crate) command: Option<Spanned<Vec<String>>>,
    pub(crate) mimosa: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawPath {
    pub(crate) name: Spanned<String>,
    pub(crate) host: Spanned<String>,
    pub(crate) client: Spanned<String>,
    pub(crate) address: Spanned<String>,
    pub(crate) bind: Option<String>,
    pub(crate) port: Option<Spanned<u16>>,
    pub(crate) tcp_port: Option<u16>,
    pub(crate) capacity: Option<Spanned<Rate>>,
    #[serde(default)]
    pub(crate) serve: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawArm {
    pub(crate) name: Spanned<String>,
    pub(crate) controller: Spanned<String>,
    #[serde(default)]
    pub(crate) serve: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTest {
    pub(crate) name: Spanned<String>,
    pub(crate) kind: RawKind,
    pub(crate) streams: Option<Spanned<u32>>,
    pub(crate) beside: Option<Spanned<String>>,
    pub(crate) stagger: Option<Spanned<TimeDelta>>,
    pub(crate) tcp: Option<Spanned<bool>>,
}

#[derive(Clone, Copy, Deserialize, Eq, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RawKind {
    Efficiency,
    Fairness,
}
