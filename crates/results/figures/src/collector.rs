//! From what happens in a run to its figures.

use hdrhistogram::Histogram;
use mimosa_facts::{
    Balance, Fate, FlowPacket, FrameLife, Observer, PageLoad, Passage, RunEnd, StreamPacket,
};
use mimosa_scenario::Scenario;
use mimosa_units::{Bytes, Time, TimeDelta};

use crate::figures::{LinkFigures, QueueDelays, RunFigures};
use crate::flow::FlowCount;
use crate::numbers::{jain, round, share};
use crate::window::Window;

/// Queueing delays are told apart to three digits up to an hour.
const LONGEST_NANOS: u64 = 3_600_000_000_000;

/// Gathers what happens within the window of a run, in a simulated network or another one.
///
/// The collector counts packets when they are offered and when they arrive, and lost ones by
/// their fate. A flow that the scenario does not have is an error of the caller's, and panics.
#[derive(Debug)]
pub struct Collector<'a> {
    scenario: &'a Scenario,
    window: Window,
    end: Time,
    flows: Vec<FlowCount>,
    balance: Balance,
    steps: u64,
    offered: u64,
    delivered: u64,
    dropped: u64,
    served: Bytes,
    /// `None` only if the histogram's own constants were refused.
    waits: Option<Histogram<u64>>,
    wait_sum: u64,
    wait_max: u64,
    wait_count: u64,
}

impl<'a> Collector<'a> {
    /// A collector of a run of `scenario` in which nothing has happened yet.
    #[must_use]
    pub fn new(scenario: &'a Scenario, window: Window) -> Self {
        let (window, end) = window.within(scenario);
        Self {
            scenario,
            window,
            end,
            flows: scenario.flows.iter().map(FlowCount::new).collect(),
            balance: Balance::default(),
            steps: 0,
            offered: 0,
            delivered: 0,
            dropped: 0,
            served: Bytes::ZERO,
            waits: Histogram::new_with_bounds(1, LONGEST_NANOS, 3).ok(),
            wait_sum: 0,
            wait_max: 0,
            wait_count: 0,
        }
    }

    /// The figures of the run, which is over.
    #[must_use]
    pub fn figures(mut self) -> RunFigures {
        let scenario = self.scenario;
        let flows = std::mem::take(&mut self.flows);
        let flows: Vec<_> = flows
            .into_iter()
            .zip(&scenario.flows)
            .map(|(count, config)| {
                let from = self.window.from.max(config.start);
                let active = self.window.to.min(config.stop).since(from);
                count.figures(config, active)
            })
            .collect();
        let capacity = scenario
            .link
            .schedule
            .capacity(self.window.from, self.window.to);
        let videos = flows.iter().filter(|flow| flow.kind == "video");
        RunFigures {
            jain: jain(videos.map(|flow| flow.throughput_mbps))
                .filter(|_| scenario.videos_share_a_route()),
            flows,
            link: LinkFigures {
                utilization: share(self.served.get(), capacity.get()),
                queue_delay_ms: self.queue_delays(),
                offered: self.offered,
                delivered: self.delivered,
                dropped: self.dropped,
                left: self.offered - self.delivered - self.dropped,
            },
            steps: self.steps,
            balance: self.balance,
        }
    }

    fn queue_delays(&self) -> Option<QueueDelays> {
        let waits = self.waits.as_ref()?;
        if self.wait_count == 0 {
            return None;
        }
        let millis = |nanos: u64| round(nanos as f64 / 1e6, 3);
        Some(QueueDelays {
            mean: round(self.wait_sum as f64 / self.wait_count as f64 / 1e6, 3),
            p95: millis(waits.value_at_quantile(0.95).min(self.wait_max)),
            p99: millis(waits.value_at_quantile(0.99).min(self.wait_max)),
            max: millis(self.wait_max),
        })
    }
}

impl Observer for Collector<'_> {
    fn offered(&mut self, packet: &FlowPacket) {
        self.balance.offered += 1;
        if self.window.contains(packet.offered) {
            self.offered += 1;
            self.flows[packet.flow].sent += 1;
        }
    }

    fn served(&mut self, link: usize, finished: Time, size: Bytes, wait: TimeDelta) {
        if link == 0 && self.window.contains(finished) {
            self.served += size;
            let wait = wait.as_nanos().unsigned_abs();
            self.wait_sum += wait;
            self.wait_max = self.wait_max.max(wait);
            self.wait_count += 1;
            if let Some(waits) = &mut self.waits {
                waits.saturating_record(wait);
            }
        }
    }

    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        // Arrivals are counted when they come, which may be after the end.
        if matches!(passage.fate, Fate::Arrived(_)) {
            return;
        }
        self.balance.lost += 1;
        if self.window.contains(passage.offered) {
            self.dropped += 1;
            self.flows[passage.packet.flow].lost += 1;
        }
    }

    fn arrived(&mut self, at: Time, packet: &FlowPacket) {
        self.balance.arrived += 1;
        if self.window.contains(packet.offered) {
            self.delivered += 1;
        }
        if self.window.contains(at) {
            self.flows[packet.flow].arrived += packet.size;
        }
    }

    fn reported(&mut self, flow: usize, at: Time, size: Bytes) {
        if self.window.contains(at) {
            self.flows[flow].reported(size);
        }
    }

    fn frame(&mut self, flow: usize, life: &FrameLife) {
        if self.window.contains(life.handed_over) {
            self.flows[flow].frame(life, self.end);
        }
    }

    fn page(&mut self, flow: usize, load: &PageLoad) {
        if self.window.contains(load.began) {
            self.flows[flow].pages.push(load.loaded.since(load.began));
        }
    }

    fn ended(&mut self, end: &RunEnd) {
        self.steps = end.steps;
        self.balance.inside += end.inside;
        self.balance += end.reports;
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::TransportSequence;
    use mimosa_units::Ecn;

    use super::*;

    const SIZE: Bytes = Bytes::new(1_250);
    const SCENARIO: &str =
        "duration = '1s'\n[link]\nrate = '1Mbit/s'\n[[flow]]\nkind = 'cbr'\nrate = '1Mbit/s'\n";

    fn packet(millis: u64) -> FlowPacket {
        FlowPacket {
            flow: 0,
            size: SIZE,
            offered: Time::from_millis(millis),
        }
    }

    fn passage(millis: u64, fate: Fate) -> Passage<StreamPacket> {
        Passage {
            packet: StreamPacket {
                flow: 0,
                sequence: TransportSequence(0),
                kind: None,
                frame: 0,
                index: 0,
            },
            size: SIZE,
            sent_ecn: Ecn::NotEct,
            ecn: Ecn::NotEct,
            offered: Time::from_millis(millis),
            started: None,
            finished: None,
            fate,
        }
    }

    #[test]
    fn the_window_counts_and_the_balance_is_of_the_whole_run() {
        let mut loaded = mimosa_scenario::load(SCENARIO, "test", &mut ()).unwrap();
        let scenario = loaded.variants.remove(0).1;
        let window = Window {
            from: Time::from_millis(500),
            to: Time::MAX,
        };
        let mut collector = Collector::new(&scenario, window);
        let (at, ms) = (Time::from_millis, TimeDelta::from_millis);
        // Two before the window, one of which is dropped; four within it.
        for millis in [100, 200, 500, 600, 700, 999] {
            collector.offered(&packet(millis));
        }
        collector.packet(&passage(100, Fate::Dropped));
        collector.packet(&passage(500, Fate::Lost));
        // What is certain to arrive has not arrived.
        collector.packet(&passage(999, Fate::Arrived(at(1_004))));
        collector.served(0, at(210), SIZE, ms(9));
        collector.served(0, at(610), SIZE, ms(2));
        collector.served(1, at(620), SIZE, ms(7));
        collector.arrived(at(550), &packet(200));
        collector.arrived(at(625), &packet(600));
        collector.ended(&RunEnd {
            steps: 9,
            inside: 2,
            reports: Balance {
                offered: 5,
                arrived: 3,
                lost: 1,
                inside: 1,
            },
        });
        let figures = collector.figures();
        let LinkFigures {
            utilization,
            queue_delay_ms,
            offered,
            delivered,
            dropped,
            left,
        } = figures.link;
        assert_eq!((offered, delivered, dropped, left), (4, 1, 1, 2));
        // One packet of 10 ms in half a second; the other link's is not counted.
        assert_eq!(utilization, Some(0.02));
        assert_eq!(queue_delay_ms.map(|delays| delays.max), Some(2.0));
        let flow = &figures.flows[0];
        // Both arrived within the window, whenever they were sent.
        assert_eq!((flow.loss_rate, flow.throughput_mbps), (Some(0.25), 0.04));
        let expected = Balance {
            offered: 11,
            arrived: 5,
            lost: 3,
            inside: 3,
        };
        assert_eq!((figures.steps, figures.balance), (9, expected));
        assert!(expected.is_even());
    }
}
