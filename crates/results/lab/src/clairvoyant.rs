//! The clairvoyant: a stream that knows beforehand what its links will carry, with which others are compared on links
//! whose service nobody can know in advance.
//!
//! There is no source. A first run, in which the stream stays at its lowest bitrate, tells the least time that a packet and
//! its report take. A second one, with cross traffic in place of the stream that is more than the links carry, tells when
//! how much arrives. The clairvoyant's frame gets what arrives from the moment at which it could be there until
//! that of the next frame, up to what the highest bitrate has in a frame's interval, and what the frame before left of
//! that; where nothing arrives in that time, it gets the next packet, however late. Nothing of the stream ever waits
//! behind something else of it.
//!
//! The clairvoyant's *rate* is a bound for other streams, as no stream gets more than one that always has packets
//! waiting. Its share of *late* frames is a bound for streams that use much of the link: one of its frames is late only
//! where not a single packet of it could arrive in time. In a cell, which repeats blocks and delivers in order, a stream with
//! few blocks waits less often for one that is repeated, so that a stream which uses a few percent of the link may have a
//! smaller share of late frames. The clairvoyant's percentiles of the frame delay are no bound: a stream that uses less of the
//! link may have shorter delays.
//!
//! *What it leaves out.* Its reports take the least time that there is, and the links do not carry them; on a medium
//! that both directions share, they would take some of its time. A station that always has packets waiting contends for
//! Wi-Fi more often than one that has few.

use mimosa_cc::fixed::{self, Fixed};
use mimosa_facts::{
    Controller, Decision, Fate, FlowPacket, FrameEnd, FrameId, FrameLife, Limits, Observer, Pacing,
    Passage, RunEnd, StreamPacket, TransportSequence,
};
use mimosa_scenario::{CbrConfig, FlowConfig, FlowKind, LinkConfig, Scenario, VideoConfig};
use mimosa_sim::Run;
use mimosa_units::{Bytes, Ecn, PeerTime, Time, TimeDelta};

/// The name under which suites and results have it.
pub(crate) const NAME: &str = "clairvoyant";

/// How much more than the highest rate of the slowest link is offered in the first run, so that packets always wait.
const SURPLUS: f64 = 1.1;

/// The number of the flow that the clairvoyant would be, with what the scenario says of it. `None` where there is no
/// bound of this kind: with several video flows, or a connection of TCP on the same links, one's part depends on
/// what the other leaves.
pub(crate) fn stream(scenario: &Scenario) -> Option<(usize, &FlowConfig, &VideoConfig)> {
    let flows = || scenario.flows.iter().enumerate();
    let mut videos = flows().filter_map(|(number, flow)| match &flow.kind {
        FlowKind::Video(video) => Some((number, flow, video.as_ref())),
        FlowKind::Cbr(_) | FlowKind::Tcp(_) => None,
    });
    let found = videos.next()?;
    let (_, stream, _) = found;
    let shares = |flow: &FlowConfig| {
        let links = &flow.route.data;
        matches!(flow.kind, FlowKind::Tcp(_))
            && links.iter().any(|link| stream.route.data.contains(link))
    };
    (videos.next().is_none() && !flows().any(|(_, flow)| shares(flow))).then_some(found)
}

/// Makes `scenario` one of the clairvoyant's, as far as its results name a controller.
pub(crate) fn take(scenario: &mut Scenario) {
    let number = stream(scenario).map(|(number, _, _)| number);
    let flow = number.and_then(|number| scenario.flows.get_mut(number));
    if let Some(FlowKind::Video(video)) = flow.map(|flow| &mut flow.kind) {
        NAME.clone_into(&mut video.controller);
    }
}

/// Tells `observer` of a run of the clairvoyant; of nothing but the end, where [`stream`] is `None`.
pub(crate) fn run(scenario: &Scenario, seed: u64, observer: &mut impl Observer) {
    let Some((number, flow, video)) = stream(scenario) else {
        observer.ended(&RunEnd::default());
        return;
    };
    let light = Light::of(scenario, seed, number, video.limits);
    let mut carried = Carried {
        flow: number,
        inside: 0,
        arrivals: Vec::new(),
        end: RunEnd::default(),
        others: observer,
    };
    mimosa_sim::run(
        &saturated(scenario, number, flow, video),
        seed,
        &mut carried,
    );
    let Carried { arrivals, end, .. } = carried;
    let interval = TimeDelta::from_nanos(1_000_000_000 / i64::from(video.fps.max(1)));
    let mut frames = Frames {
        way: light.way.unwrap_or(flow.forward.delay),
        back: light.back().unwrap_or(video.reverse.delay),
        interval,
        most: video.limits.max().min(video.content).amount_in(interval),
        left: Bytes::ZERO,
        decision: Decision::starting_at(video.limits.max()),
        flow: number,
        arrivals: &arrivals,
    };
    let mut due = light.first;
    let over = flow.stop.min(Time::ZERO + scenario.duration);
    let mut frame = 0;
    while let Some(at) = due.filter(|due| *due < over) {
        frames.send(FrameId(frame), at, observer);
        frame += 1;
        due = flow.active_from(at + interval);
    }
    observer.ended(&end);
}

/// What a run tells in which the stream stays at its lowest bitrate, and hardly ever waits.
#[derive(Default)]
struct Light {
    flow: usize,
    /// When the first frame is due.
    first: Option<Time>,
    /// The least time from a packet's departure to its arrival.
    way: Option<TimeDelta>,
    /// The least frame delay.
    round: Option<TimeDelta>,
}

impl Light {
    fn of(scenario: &Scenario, seed: u64, flow: usize, limits: Limits) -> Self {
        let config = fixed::Config {
            rate: Some(limits.min()),
            ..fixed::Config::default()
        };
        let mut run = Run::with(scenario, seed, &mut |number| {
            let lowest = Fixed::new(config, limits);
            (number == flow).then(|| Box::new(lowest) as Box<dyn Controller>)
        });
        let mut light = Self {
            flow,
            first: run.next_frame(flow),
            ..Self::default()
        };
        run.until(Time::MAX, &mut light);
        run.finish(&mut light);
        light
    }

    /// The least time from the arrival of a frame to its acknowledgement.
    fn back(&self) -> Option<TimeDelta> {
        Some((self.round? - self.way?).max(TimeDelta::ZERO))
    }
}

impl Observer for Light {
    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        if passage.packet.flow == self.flow
            && let Fate::Arrived(at) = passage.fate
        {
            let way = at.since(passage.offered);
            self.way = Some(self.way.map_or(way, |least| least.min(way)));
        }
    }

    fn frame(&mut self, flow: usize, life: &FrameLife) {
        let delay = life.delay().filter(|_| flow == self.flow);
        self.round = self.round.into_iter().chain(delay).min();
    }
}

/// The scenario with more cross traffic than the links of `flow` carry in its place.
fn saturated(
    scenario: &Scenario,
    number: usize,
    flow: &FlowConfig,
    video: &VideoConfig,
) -> Scenario {
    let mut saturated = scenario.clone();
    let until = Time::ZERO + scenario.duration;
    let passed = |(place, _): &(usize, &LinkConfig)| flow.route.data.contains(place);
    let highest = |(_, link): (usize, &LinkConfig)| {
        let steps = link.schedule.steps(Time::ZERO, until);
        steps.map(|(_, rate)| rate).max().unwrap_or_default()
    };
    let links = scenario.links().enumerate().filter(passed);
    // The slowest link bounds the others.
    let rate = links.map(highest).min().unwrap_or_default().scale(SURPLUS);
    if let Some(flow) = saturated.flows.get_mut(number) {
        flow.kind = FlowKind::Cbr(CbrConfig {
            rate,
            packet_size: video.packet_size + video.overhead,
        });
        // What a queue would mark, it drops.
        flow.ecn = Ecn::NotEct;
    }
    saturated
}

/// Keeps what arrives of a flow, and passes on what is told of others.
struct Carried<'a, O> {
    flow: usize,
    /// Packets of the flow that are on their way.
    inside: u64,
    arrivals: Vec<(Time, Bytes)>,
    end: RunEnd,
    others: &'a mut O,
}

impl<O: Observer> Observer for Carried<'_, O> {
    fn offered(&mut self, packet: &FlowPacket) {
        if packet.flow == self.flow {
            self.inside += 1;
        } else {
            self.others.offered(packet);
        }
    }

    fn packet(&mut self, passage: &Passage<StreamPacket>) {
        if passage.packet.flow == self.flow {
            self.inside -= u64::from(!matches!(passage.fate, Fate::Arrived(_)));
        } else {
            self.others.packet(passage);
        }
    }

    fn arrived(&mut self, at: Time, packet: &FlowPacket) {
        if packet.flow == self.flow {
            self.inside -= 1;
            self.arrivals.push((at, packet.size));
        } else {
            self.others.arrived(at, packet);
        }
    }

    fn ended(&mut self, end: &RunEnd) {
        self.arrivals.sort_unstable();
        self.end = RunEnd {
            inside: end.inside - self.inside,
            ..*end
        };
    }
}

/// Hands out what arrives to the frames, in their order.
struct Frames<'a> {
    /// The least time from a departure to an arrival, and from there to the acknowledgement.
    way: TimeDelta,
    back: TimeDelta,
    interval: TimeDelta,
    /// What the highest bitrate has in an interval, and what the frame before left of it.
    most: Bytes,
    left: Bytes,
    decision: Decision,
    flow: usize,
    /// What no frame has had, and could have had.
    arrivals: &'a [(Time, Bytes)],
}

impl Frames<'_> {
    /// The frame that is due at `due`.
    fn send(&mut self, frame: FrameId, due: Time, observer: &mut impl Observer) {
        let (from, until) = (due + self.way, due + self.interval + self.way);
        let missed = self.arrivals.partition_point(|(at, _)| *at < from);
        self.arrivals = &self.arrivals[missed..];
        let most = self.most + self.left.min(self.most);
        let mut size = Bytes::ZERO;
        let fits = |(at, more): &&(Time, Bytes)| {
            size += *more;
            *at < until && size <= most
        };
        let count = self.arrivals.iter().take_while(fits).count().max(1);
        let (own, rest) = self.arrivals.split_at(count.min(self.arrivals.len()));
        self.arrivals = rest;
        for (index, (at, size)) in own.iter().enumerate() {
            self.packet(frame, index, due, (*at, *size), observer);
        }
        let last = own.last().map(|(at, _)| *at);
        let peer =
            |at: Time| PeerTime::from_nanos(i64::try_from(at.as_nanos()).unwrap_or(i64::MAX));
        let packets = u32::try_from(own.len()).unwrap_or(u32::MAX);
        let size = own.iter().map(|(_, size)| *size).sum();
        self.left = most - size;
        let life = FrameLife {
            frame,
            due,
            interval: self.interval,
            decision: self.decision,
            allowed: size,
            handed_over: due,
            pacing: Pacing::Burst,
            bucket: None,
            size,
            packets: packets.max(1),
            first_sent: Some(due),
            last_sent: last.map(|at| due.max(at - self.way)),
            first_arrival: own.first().map(|(at, _)| peer(*at)),
            last_arrival: last.map(peer),
            arrived: packets,
            lost: 0,
            retransmitted: 0,
            end: last.map(|at| FrameEnd::Acknowledged(at + self.back)),
            protection: None,
        };
        observer.frame(self.flow, &life);
    }

    /// A packet of a frame, which leaves in time to arrive at `at`.
    fn packet(
        &self,
        frame: FrameId,
        index: usize,
        due: Time,
        (at, size): (Time, Bytes),
        observer: &mut impl Observer,
    ) {
        let packet = FlowPacket {
            flow: self.flow,
            size,
            offered: due,
        };
        observer.offered(&packet);
        let finished = at - self.way;
        observer.served(0, finished, size, TimeDelta::ZERO);
        observer.packet(&Passage {
            packet: StreamPacket {
                flow: self.flow,
                sequence: TransportSequence(0),
                kind: None,
                frame: frame.0,
                index: u32::try_from(index).unwrap_or(u32::MAX),
            },
            size,
            sent_ecn: Ecn::NotEct,
            ecn: Ecn::NotEct,
            offered: due,
            started: Some(finished),
            finished: Some(finished),
            fate: Fate::Arrived(at),
        });
        observer.arrived(at, &packet);
    }
}

#[cfg(test)]
mod tests {
    use mimosa_figures::{RunFigures, Window, measure};

    use super::*;

    fn scenario(link: &str, flows: &str) -> Scenario {
        let text =
            format!("duration = '21s'\n[link]\none_way_delay = '10ms'\n{link}\n[[flow]]\n{flows}");
        let mut loaded = mimosa_scenario::load(&text, "inline", &mut ()).unwrap();
        loaded.variants.remove(0).1
    }

    fn figures(scenario: &Scenario, seed: u64) -> RunFigures {
        let window = Window {
            from: Time::from_millis(1_000),
            to: Time::MAX,
        };
        measure(scenario, window, &mut (), |observer| {
            run(scenario, seed, observer);
        })
    }

    #[test]
    fn it_uses_all_of_a_link_and_no_frame_waits() {
        let alone = scenario("rate = '20Mbit/s'", "");
        let figures = figures(&alone, 1);
        let flow = &figures.flows[0];
        assert!(flow.bitrate_mbps.unwrap() > 19.9, "{flow:?}");
        let delays = flow.frame_delay_ms.unwrap();
        // A frame takes an interval to pass, and the round trip.
        assert!(delays.max < 37.0 && delays.p50 > 36.0, "{delays:?}");
        // The highest bitrate is 50 Mbit/s: frames are no larger, and pass sooner.
        let fast = self::figures(&scenario("rate = '100Mbit/s'", ""), 1);
        let flow = &fast.flows[0];
        assert!(
            (48.0..=50.0).contains(&flow.bitrate_mbps.unwrap()),
            "{flow:?}"
        );
        assert!(flow.frame_delay_ms.unwrap().max < 29.0, "{flow:?}");
    }

    #[test]
    fn frames_are_late_that_nothing_could_have_brought_in_time() {
        // Nothing passes for 200 ms of each second: what is due in all but the last 30 ms of these is late.
        let steps: Vec<_> = (0..20)
            .flat_map(|second| {
                let step = |ms: u32, rate: u32| {
                    format!(
                        "{{ at = '{}ms', rate = '{rate}Mbit/s' }}",
                        second * 1_000 + ms
                    )
                };
                [step(0, 20), step(800, 0)]
            })
            .chain(["{ at = '20s', rate = '20Mbit/s' }".to_owned()])
            .collect();
        let steps = format!("steps = [{}]", steps.join(", "));
        let holds = scenario(
            &format!("{steps}\nqueue = {{ kind = 'droptail', limit = '500kB' }}"),
            "",
        );
        for seed in 1..=4 {
            let late = figures(&holds, seed).flows[0].stall_50ms.unwrap();
            // The frames' phase decides whether an outage holds 10 or 11 of them.
            let frames = late * 20.0 * 60.0 / 19.0;
            assert!((9.9..11.1).contains(&frames), "seed {seed}: {late}");
        }
    }

    #[test]
    fn there_is_none_beside_other_streams_or_tcp() {
        let pair = scenario("rate = '20Mbit/s'", "[[flow]]\n");
        let tcp = scenario("rate = '20Mbit/s'", "[[flow]]\nkind = 'tcp'\n");
        let cross = scenario(
            "rate = '20Mbit/s'",
            "[[flow]]\nkind = 'cbr'\nrate = '5Mbit/s'\n",
        );
        assert!(stream(&pair).is_none() && stream(&tcp).is_none());
        let figures = figures(&cross, 1);
        let [stream, cross] = &figures.flows[..] else {
            unreachable!("two flows");
        };
        // The first run offers more than passes, so that the cross traffic may lose packets.
        let part = stream.bitrate_mbps.unwrap();
        assert!((14.9..18.0).contains(&part), "{part}");
        assert!(cross.throughput_mbps > 3.0, "{cross:?}");
    }
}
