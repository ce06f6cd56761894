//! The cases of the comparison: trees, queues and loads.

use std::ops::Range;

use mimosa_net::queue::{ClassConfig, ClassId, Filter, HtbConfig};
use mimosa_units::{Bytes, Rate, Time, TimeDelta};

/// Size of every packet, IP header included.
pub(crate) const PACKET: Bytes = Bytes::new(1_200);
/// Burst of all classes at the rate and at the ceiling: ten packets, more than come in while a
/// timer is late.
const BURST: Bytes = Bytes::new(12_000);
/// Quantum of a leaf, unless said otherwise.
const QUANTUM: Bytes = Bytes::new(3_000);
/// Packets that wait in a leaf, unless said otherwise.
const LIMIT: usize = 50;

/// The queue of a leaf, which holds at most `limit` packets.
#[derive(Clone, Debug)]
pub(crate) struct Leaf {
    pub(crate) class: ClassId,
    pub(crate) limit: usize,
}

/// A load: groups of packets to a class at a constant rate.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) class: ClassId,
    pub(crate) rate: Rate,
    pub(crate) at_once: u32,
    /// When the load begins and ends.
    pub(crate) during: Range<Time>,
}

/// A tree with queues and loads.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) config: HtbConfig,
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) loads: Vec<Load>,
}

/// The port to which packets of a class go.
pub(crate) fn port(class: ClassId) -> u16 {
    u16::try_from(6_000 + class.0).unwrap_or(u16::MAX)
}

impl Case {
    /// The time spans with the same loads.
    pub(crate) fn phases(&self) -> Vec<Range<Time>> {
        let ends = self.loads.iter().map(|load| load.during.clone());
        let mut ends: Vec<_> = ends.flat_map(|span| [span.start, span.end]).collect();
        ends.sort_unstable();
        ends.dedup();
        ends.windows(2).map(|pair| pair[0]..pair[1]).collect()
    }

    /// The ceiling of all classes together.
    pub(crate) fn ceil(&self) -> Rate {
        self.config.classes[0].ceil
    }

    fn new(name: &'static str, mut classes: Vec<ClassConfig>, loads: Vec<Load>) -> Self {
        for class in &mut classes {
            (class.burst, class.cburst) = (BURST, BURST);
            class.quantum = class.quantum.or(Some(QUANTUM));
        }
        let is_leaf = |class: &&ClassConfig| classes.iter().all(|c| c.parent != Some(class.id));
        let ids: Vec<_> = classes.iter().filter(is_leaf).map(|c| c.id).collect();
        let filter = |class: &ClassId| {
            let ports = port(*class)..=port(*class);
            let filter = Filter {
                destination_ports: Some(ports),
                ..Filter::default()
            };
            (filter, *class)
        };
        let leaf = |class: &ClassId| Leaf {
            class: *class,
            limit: LIMIT,
        };
        Self {
            name,
            leaves: ids.iter().map(leaf).collect(),
            loads,
            config: HtbConfig {
                filters: ids.iter().map(filter).collect(),
                classes,
                ..HtbConfig::default()
            },
        }
    }
}

/// A class with a rate and a ceiling in Mbit/s.
fn class(id: u32, parent: u32, rate: u64, ceil: u64) -> ClassConfig {
    let mbps = |mbps| Rate::from_kbps(1_000 * mbps);
    let parent = (parent > 0).then_some(ClassId(parent));
    ClassConfig {
        ceil: mbps(ceil),
        ..ClassConfig::new(ClassId(id), parent, mbps(rate))
    }
}

fn quantum(bytes: u64, mut class: ClassConfig) -> ClassConfig {
    class.quantum = Some(Bytes::new(bytes));
    class
}

/// Moves a class to the second priority.
fn second(mut class: ClassConfig) -> ClassConfig {
    class.priority = 1;
    class
}

/// All cases. Their loads' times are multiples of `unit`.
pub(crate) fn all(unit: TimeDelta) -> Vec<Case> {
    let load = |class, mbps: u64, during: Range<f64>| Load {
        class: ClassId(class),
        rate: Rate::from_kbps(1_000 * mbps),
        at_once: 1,
        during: Time::ZERO + unit.scale(during.start)..Time::ZERO + unit.scale(during.end),
    };
    let root = |mbps| class(1, 0, mbps, mbps);
    let mut paper = Case::new(
        "the paper's",
        vec![root(50), class(2, 1, 10, 50), second(class(3, 1, 10, 50))],
        vec![
            // A frame of 52 packets, 60 times a second: 29.95 Mbit/s.
            Load {
                rate: Rate::from_bps(52 * 60 * PACKET.bits()),
                at_once: 52,
                ..load(2, 0, 0.0..2.0)
            },
            load(3, 60, 0.8..2.0),
        ],
    );
    (paper.leaves[0].limit, paper.leaves[1].limit) = (63, 250);
    vec![
        Case::new(
            "within the rates",
            vec![root(20), class(2, 1, 8, 20), class(3, 1, 12, 20)],
            vec![load(2, 6, 0.0..1.5), load(3, 10, 0.0..1.5)],
        ),
        Case::new(
            "borrowed, given back",
            vec![root(20), class(2, 1, 8, 20), class(3, 1, 12, 20)],
            vec![load(3, 30, 0.0..3.0), load(2, 30, 1.0..2.0)],
        ),
        Case::new(
            "quanta 3 to 1",
            vec![
                root(40),
                quantum(9_000, class(2, 1, 9, 40)),
                quantum(3_000, class(3, 1, 3, 40)),
            ],
            vec![load(3, 60, 0.0..2.0), load(2, 60, 0.8..2.0)],
        ),
        Case::new(
            "priorities",
            vec![
                root(40),
                class(2, 1, 2, 40),
                class(3, 1, 5, 40),
                second(class(4, 1, 5, 40)),
                second(class(5, 1, 5, 40)),
            ],
            vec![
                load(2, 1, 0.0..2.0),
                load(3, 24, 0.8..2.0),
                load(4, 30, 0.0..2.0),
                load(5, 30, 0.0..2.0),
            ],
        ),
        Case::new(
            "three levels",
            vec![
                root(50),
                class(10, 1, 15, 17),
                class(11, 10, 2, 17),
                class(12, 10, 2, 17),
                class(20, 1, 25, 40),
                class(21, 20, 2, 40),
                class(22, 20, 2, 8),
                class(23, 20, 2, 40),
            ],
            vec![
                load(11, 20, 0.0..2.0),
                load(12, 20, 0.0..2.0),
                load(21, 30, 0.0..2.0),
                load(22, 15, 0.0..2.0),
                load(23, 25, 0.8..2.0),
            ],
        ),
        Case::new(
            "two families",
            vec![
                root(30),
                class(10, 1, 10, 10),
                class(11, 10, 1, 10),
                class(12, 10, 1, 10),
                class(20, 1, 20, 20),
                class(21, 20, 1, 20),
                class(22, 20, 1, 20),
            ],
            vec![
                load(11, 25, 0.0..1.4),
                load(12, 25, 0.0..1.4),
                load(21, 25, 0.0..1.4),
                load(22, 25, 0.0..1.4),
            ],
        ),
        paper,
    ]
}
