//! An observer that gathers a run over time.

use mimosa_facts::{FlowPacket, FrameLife, Observer};
use mimosa_scenario::Scenario;
use mimosa_units::{Bytes, Rate, Time, TimeDelta, nearest_rank};
use serde_json::{Value, json};

use crate::bins::{Amounts, Bins, Values, thousandths};

/// Age up to which nothing is said of a frame that is on its way at the end, as in the figures
/// (`mimosa-figures`).
const YOUNG: TimeDelta = TimeDelta::from_millis(200);
/// Number of steps of the distribution of frame delays.
const STEPS: u32 = 200;

/// What was seen of a flow.
struct Flow {
    sent: Amounts,
    arrived: Amounts,
    target: Values,
    delay: Values,
    /// The delay of each frame that is known, or known to be long: [`TimeDelta::MAX`] without an
    /// acknowledgement.
    delays: Vec<TimeDelta>,
}

/// Gathers what a page draws of a run.
pub(crate) struct Watch<'a> {
    scenario: &'a Scenario,
    bins: Bins,
    end: Time,
    flows: Vec<Flow>,
    /// Waits in the queue of each link that data pass in the order of the file.
    waits: Vec<Values>,
}

impl<'a> Watch<'a> {
    /// Nothing has happened yet in a run of `scenario`.
    pub(crate) fn new(scenario: &'a Scenario) -> Self {
        let bins = Bins::of(scenario.duration);
        let flow = || Flow {
            sent: Amounts::new(bins),
            arrived: Amounts::new(bins),
            target: Values::new(bins),
            delay: Values::new(bins),
            delays: Vec::new(),
        };
        Self {
            scenario,
            bins,
            end: Time::ZERO + scenario.duration,
            flows: scenario.flows.iter().map(|_| flow()).collect(),
            waits: vec![Values::new(bins); 1 + scenario.next.len()],
        }
    }

    /// The course of the run, which is over:
    ///
    /// ```text
    /// {"bin_ms", "duration_ms",
    ///  "links": [{"rate_mbps": […], "wait_ms": {"mean": […], "worst": […]}}, …],
    ///  "flows": [{"name", "kind", "controller", "sent_mbps": […], "arrived_mbps": […],
    ///             "target_mbps": […], "delay_ms": {"mean": […], "worst": […]},
    ///             "delays_ms": […]}, …]}
    /// ```
    ///
    /// A list has a value for each interval, `null` where there was nothing to measure. `delays_ms`
    /// has the frame delay of each 200th of the frames instead, from the shortest on; `null` for
    /// frames that never completed.
    pub(crate) fn series(mut self) -> Value {
        let flows = self.flows.iter_mut().zip(&self.scenario.flows);
        let flows: Vec<_> = flows
            .map(|(seen, config)| {
                json!({
                    "name": config.name,
                    "kind": config.kind_name(),
                    "controller": config.controller_name(),
                    "sent_mbps": seen.sent.mbps(),
                    "arrived_mbps": seen.arrived.mbps(),
                    "target_mbps": seen.target.means(),
                    "delay_ms": { "mean": seen.delay.means(), "worst": seen.delay.worst() },
                    "delays_ms": distribution(&mut seen.delays),
                })
            })
            .collect();
        let configs = std::iter::once(&self.scenario.link).chain(&self.scenario.next);
        let links: Vec<_> = configs
            .zip(&self.waits)
            .map(|(config, waits)| {
                let rate = |(from, to): (Time, Time)| {
                    let capacity = config.schedule.capacity(from, to);
                    thousandths(Rate::of(capacity, to.since(from)).as_mbps())
                };
                json!({
                    "rate_mbps": self.bins.spans().map(rate).collect::<Vec<_>>(),
                    "wait_ms": { "mean": waits.means(), "worst": waits.worst() },
                })
            })
            .collect();
        json!({
            "bin_ms": self.bins.width().as_millis(),
            "duration_ms": self.scenario.duration.as_millis(),
            "links": links,
            "flows": flows,
        })
    }
}

/// The delay of each 200th of the frames, from the shortest on; empty without frames.
fn distribution(delays: &mut [TimeDelta]) -> Value {
    delays.sort_unstable();
    let shares = (0..=STEPS).map(|step| f64::from(step) / f64::from(STEPS));
    let at = |share| {
        let delay = nearest_rank(delays, share)?;
        Some((delay < TimeDelta::MAX).then(|| thousandths(delay.as_millis())))
    };
    json!(shares.filter_map(at).collect::<Vec<_>>())
}

impl Observer for Watch<'_> {
    fn offered(&mut self, packet: &FlowPacket) {
        if let Some(flow) = self.flows.get_mut(packet.flow) {
            flow.sent.add(packet.offered, packet.size);
        }
    }

    fn served(&mut self, link: usize, finished: Time, _size: Bytes, wait: TimeDelta) {
        if let Some(waits) = self.waits.get_mut(link) {
            waits.add(finished, wait.as_millis());
        }
    }

    fn arrived(&mut self, at: Time, packet: &FlowPacket) {
        if let Some(flow) = self.flows.get_mut(packet.flow) {
            flow.arrived.add(at, packet.size);
        }
    }

    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let Some(flow) = self.flows.get_mut(flow) else {
            return;
        };
        let at = life.handed_over;
        flow.target.add(at, life.decision.target.as_mbps());
        if let Some(delay) = life.delay() {
            flow.delay.add(at, delay.as_millis());
            flow.delays.push(delay);
        } else if life.end.is_some() || self.end.since(at) > YOUNG {
            flow.delays.push(TimeDelta::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(text: &str) -> Value {
        crate::answer(text)["runs"][0]["series"].clone()
    }

    fn numbers(list: &Value) -> Vec<Option<f64>> {
        let list = list.as_array().expect("a list");
        list.iter().map(Value::as_f64).collect()
    }

    const CBR: &str = "duration = '2s'\n[link]\none_way_delay = '50ms'\n\
        steps = [{ at = '0s', rate = '8Mbit/s' }, { at = '1050ms', rate = '2Mbit/s' }]\n\
        [[flow]]\nkind = 'cbr'\nrate = '4Mbit/s'\npacket_size = '1000B'\nstart = '500ms'\n";

    #[test]
    fn rates_and_waits_are_those_of_arithmetic() {
        let series = series(CBR);
        assert_eq!(series["bin_ms"], 100.0);
        let rates = numbers(&series["links"][0]["rate_mbps"]);
        let expected = (rates[9], rates[10], rates[11], rates.len());
        assert_eq!(expected, (Some(8.0), Some(5.0), Some(2.0), 20));
        let flow = &series["flows"][0];
        let sent = numbers(&flow["sent_mbps"]);
        let near = |got: Option<f64>, mbps: f64| (got.unwrap_or(-1.0) - mbps).abs() < 0.2;
        assert!(near(sent[4], 0.0) && near(sent[7], 4.0), "{sent:?}");
        let arrived = numbers(&flow["arrived_mbps"]);
        // Half as fast as it is sent, and 50 ms later.
        assert!(
            near(arrived[8], 4.0) && near(arrived[18], 2.0),
            "{arrived:?}"
        );
        let waits = numbers(&series["links"][0]["wait_ms"]["worst"]);
        // Twice the rate from 1050 ms on: a packet that leaves 500 ms later came 250 ms later.
        assert!(waits[4].is_none() && near(waits[8], 0.0), "{waits:?}");
        assert!(
            (waits[15].unwrap_or_default() - 275.0).abs() < 10.0,
            "{waits:?}"
        );
        assert_eq!(numbers(&flow["delay_ms"]["mean"]), vec![None; 20]);
        assert_eq!(flow["delays_ms"], json!([]));
    }

    #[test]
    fn the_distribution_has_the_percentiles_of_the_figures() {
        let text = "duration = '5s'\n[link]\nrate = '10Mbit/s'\n[[flow]]\n";
        let answer = crate::answer(text);
        let run = &answer["runs"][0];
        let delays = &run["figures"]["flows"][0]["frame_delay_ms"];
        let steps = &run["series"]["flows"][0]["delays_ms"];
        for (step, name) in [(100, "p50"), (190, "p95"), (198, "p99"), (200, "max")] {
            assert_eq!(steps[step], delays[name], "{name}");
        }
        let worst = &run["series"]["flows"][0]["delay_ms"]["worst"];
        let worst = numbers(worst).into_iter().flatten().fold(0.0, f64::max);
        assert_eq!(Some(worst), delays["max"].as_f64());
        let targets = numbers(&run["series"]["flows"][0]["target_mbps"]);
        assert!(
            targets
                .iter()
                .flatten()
                .all(|mbps| *mbps > 0.1 && *mbps < 60.0)
        );
    }

    #[test]
    fn frames_that_never_complete_are_at_the_end() {
        let mut delays = [1, 2, 3].map(TimeDelta::from_millis).to_vec();
        delays.push(TimeDelta::MAX);
        let steps = numbers(&distribution(&mut delays));
        assert_eq!(
            (steps[0], steps[150], steps[151]),
            (Some(1.0), Some(3.0), None)
        );
        assert_eq!(steps.len(), 201);
    }
}
