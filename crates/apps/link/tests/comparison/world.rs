//! Two network namespaces with the kernel's HTB or ours between them.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use mimosa_link::{Clock, Engine, Tun, Waiting, within};
use mimosa_net::queue::{DropTail, Htb, Limit, Queue};
use mimosa_net::{Direction, LossModel, PathConfig, Schedule, Stamped};
use mimosa_units::{Rate, TimeDelta};

use super::case::{Case, port};

const LEFT: &str = "10.8.0.1";
/// Address to which packets are sent.
pub(crate) const RIGHT: &str = "10.8.0.2";
/// Name of the device in both namespaces.
const DEVICE: &str = "link0";
/// Bytes of an Ethernet header, which `tc` would count.
const ETHERNET: u32 = 14;

/// An implementation of HTB.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// The kernel's, set up with `tc`.
    Kernel,
    /// Our [`Htb`].
    Ours,
}

/// The namespaces and what is between them, all of which are removed when this is dropped.
#[derive(Debug)]
pub(crate) struct World {
    left: String,
    right: String,
    engine: Option<Engine>,
    /// The clock of sender and receiver.
    pub(crate) clock: Clock,
}

/// Runs a command whose words contain no spaces.
fn command(line: &str) -> Result<(), String> {
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let output = Command::new(program)
        .args(words)
        .output()
        .map_err(|error| format!("`{line}`: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let is_done = output.status.success();
    is_done.then_some(()).ok_or(format!("`{line}`: {said}"))
}

impl World {
    /// A world for `case`; `None` without the rights, which is a failure under CI.
    pub(crate) fn new(case: &Case, kind: Kind) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "mimosa-htb-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let mut world = Self {
            left: format!("{name}-l"),
            right: format!("{name}-r"),
            engine: None,
            clock: Clock::start(),
        };
        for name in [&world.left, &world.right] {
            if let Err(why) = command(&format!("ip netns add {name}")) {
                assert!(std::env::var_os("CI").is_none(), "{why}");
                eprintln!("skipped: network namespaces need root and iproute2; {why}");
                return None;
            }
        }
        match kind {
            Kind::Kernel => world.join_by_kernel(case).unwrap(),
            Kind::Ours => world.join_by_engine(case),
        }
        Some(world)
    }

    /// The namespace from which packets are sent.
    pub(crate) fn left(&self) -> PathBuf {
        file(&self.left)
    }

    /// The namespace to which packets are sent.
    pub(crate) fn right(&self) -> PathBuf {
        file(&self.right)
    }

    fn set_up(&self) -> Result<(), String> {
        for (name, own, other) in [(&self.left, LEFT, RIGHT), (&self.right, RIGHT, LEFT)] {
            command(&format!(
                "ip -n {name} address add {own} peer {other} dev {DEVICE}"
            ))?;
            command(&format!(
                "ip -n {name} link set {DEVICE} mtu 1500 txqueuelen 20000 up"
            ))?;
        }
        Ok(())
    }

    fn join_by_kernel(&self, case: &Case) -> Result<(), String> {
        let (left, right) = (&self.left, &self.right);
        command(&format!(
            "ip link add {DEVICE} netns {left} type veth peer name {DEVICE} netns {right}"
        ))?;
        let tc = |words: &str| command(&format!("tc -n {left} {words}"));
        tc(&format!(
            "qdisc add dev {DEVICE} root handle 1: stab overhead -{ETHERNET} htb default 0"
        ))?;
        for class in &case.config.classes {
            let parent = class.parent.map_or(String::new(), |p| format!("{:x}", p.0));
            let quantum = class.quantum.map_or(0, mimosa_units::Bytes::get);
            tc(&format!(
                "class add dev {DEVICE} parent 1:{parent} classid 1:{:x} htb rate {}bit ceil {}bit burst {} cburst {} quantum {quantum} prio {}",
                class.id.0,
                class.rate.as_bps(),
                class.ceil.as_bps(),
                class.burst.get(),
                class.cburst.get(),
                class.priority,
            ))?;
        }
        for leaf in &case.leaves {
            let (id, port) = (leaf.class.0, port(leaf.class));
            tc(&format!(
                "qdisc add dev {DEVICE} parent 1:{id:x} pfifo limit {}",
                leaf.limit
            ))?;
            tc(&format!(
                "filter add dev {DEVICE} parent 1: protocol ip prio 1 u32 match ip dport {port} 0xffff flowid 1:{id:x}"
            ))?;
        }
        self.set_up()
    }

    fn join_by_engine(&mut self, case: &Case) {
        let device = |name: &str| {
            within(&file(name), || Tun::create(DEVICE))
                .unwrap()
                .unwrap()
        };
        let devices = (device(&self.left), device(&self.right));
        self.set_up().unwrap();
        let queue = |limit| Box::new(DropTail::new(Limit::Packets(limit))) as Box<dyn Queue<_>>;
        let leaves = case.leaves.iter();
        let leaves: BTreeMap<_, _> = leaves.map(|l| (l.class, queue(l.limit))).collect();
        let htb = Htb::new(&case.config, leaves).unwrap();
        let there = direction(Box::new(htb), "there");
        let back = direction(queue(1_000), "back");
        let engine = Engine::start(self.clock, devices, (there, back), Waiting::default(), None);
        self.engine = Some(engine.unwrap());
    }
}

fn file(name: &str) -> PathBuf {
    PathBuf::from(format!("/run/netns/{name}"))
}

/// A direction without a limit, like a pair of virtual devices.
fn direction(queue: Box<dyn Queue<Stamped>>, name: &str) -> Direction {
    let schedule = Schedule::constant(Rate::from_kbps(10_000_000));
    let path = PathConfig {
        delay: TimeDelta::ZERO,
        jitter: None,
        loss: LossModel::Random(0.0),
        reordering: None,
        remark: None,
    };
    Direction::new(queue, schedule, path, 1, name)
}

impl Drop for World {
    fn drop(&mut self) {
        // The devices have to be removed first.
        self.engine = None;
        for name in [&self.left, &self.right] {
            let _ = command(&format!("ip netns delete {name}"));
        }
    }
}
