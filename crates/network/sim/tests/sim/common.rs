//! Runs scenarios written in the test itself, and says how to replay a failure.

use mimosa_facts::{FrameLife, Observer, PacketKind, Passage, StreamPacket};
use mimosa_figures::{RunFigures, Window, measure};
use mimosa_scenario::{Scenario, load};
use mimosa_units::Time;

/// The scenario in `toml`.
pub(crate) fn scenario(toml: &str) -> Scenario {
    let mut loaded = load(toml, "test.toml", &mut ()).unwrap_or_else(|error| panic!("{error}"));
    loaded.variants.remove(0).1
}

/// The file of this name in the repository's `scenarios/`.
pub(crate) fn file(name: &str) -> Scenario {
    let path = format!(
        "{}/../../../scenarios/{name}.toml",
        env!("CARGO_MANIFEST_DIR")
    );
    scenario(&std::fs::read_to_string(path).unwrap())
}

/// From `from` to `to`, in milliseconds.
pub(crate) fn window(from: u64, to: u64) -> Window {
    Window {
        from: Time::from_millis(from),
        to: Time::from_millis(to),
    }
}

/// Runs all of `scenario` and checks that no packet was lost track of.
pub(crate) fn whole(scenario: &Scenario, seed: u64) -> RunFigures {
    part(scenario, seed, Window::WHOLE)
}

/// Runs all of `scenario`, checks that no packet was lost track of, and gives the figures of
/// a part of it.
pub(crate) fn part(scenario: &Scenario, seed: u64, window: Window) -> RunFigures {
    watched(scenario, seed, window, &mut ())
}

/// Runs all of `scenario` while `observer` watches, checks that no packet was lost track of,
/// and gives the figures of a part of it.
pub(crate) fn watched(
    scenario: &Scenario,
    seed: u64,
    window: Window,
    observer: &mut impl Observer,
) -> RunFigures {
    let figures = measure(scenario, window, observer, |observer| {
        mimosa_sim::run(scenario, seed, observer);
    });
    let balance = figures.balance;
    assert!(balance.is_even(), "seed {seed}: {balance:?}");
    figures
}

/// Everything that happened, to be asked afterwards.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) frames: Vec<(usize, FrameLife)>,
    pub(crate) packets: Vec<Passage<StreamPacket>>,
}

impl Log {
    pub(crate) fn of(scenario: &Scenario, seed: u64) -> Self {
        let mut log = Self::default();
        watched(scenario, seed, Window::WHOLE, &mut log);
        log
    }

    pub(crate) fn probes(&self) -> usize {
        let is_probe =
            |packet: &&Passage<StreamPacket>| packet.packet.kind == Some(PacketKind::Probe);
        self.packets.iter().filter(is_probe).count()
    }
}

impl Observer for Log {
    fn frame(&mut self, flow: usize, life: &FrameLife) {
        self.frames.push((flow, *life));
    }

    fn packet(&mut self, record: &Passage<StreamPacket>) {
        self.packets.push(*record);
    }
}
