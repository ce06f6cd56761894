//! The event loop.
//!
//! The links, and each flow's sender and receiver, are *parts*. Each part says when it next has
//! something to do, and the earliest goes first. There is no queue of events: a packet is an entry
//! in the one part that holds it.
//!
//! Links come before senders and receivers, and later links of a route before earlier ones: a
//! packet that leaves a link makes room before another one comes at the same moment.

use mimosa_facts::{
    Balance, Controller, Fate, FlowPacket, Observer, Passage, RunEnd, StreamPacket,
};
use mimosa_net::medium::Port;
use mimosa_net::{Channel, Served};
use mimosa_scenario::Scenario;
use mimosa_units::Time;

use crate::deadlines::Deadlines;
use crate::flow::{Flow, SimPacket, Source};

/// Runs `scenario` with `seed` to its end, and tells `observer` each event once. The same
/// arguments give the same events, on every machine.
pub fn run(scenario: &Scenario, seed: u64, observer: &mut impl Observer) {
    let mut run = Run::new(scenario, seed);
    run.until(Time::MAX, observer);
    run.finish(observer);
}

/// A run that its owner takes forward in steps.
///
/// ```
/// use mimosa_figures::{Window, measure};
/// use mimosa_units::Time;
///
/// let text = "duration = '2s'\n[link]\nrate = '20Mbit/s'\n[[flow]]\n";
/// let scenario = mimosa_scenario::load(text, "inline", &mut ())?.variants.remove(0).1;
/// let figures = |in_steps: bool| {
///     measure(&scenario, Window::WHOLE, &mut (), |observer| {
///         let mut run = mimosa_sim::Run::new(&scenario, 1);
///         while in_steps && let Some(due) = run.next_frame(0) {
///             run.until(due, observer);
///             run.through(due, observer);
///         }
///         run.until(Time::MAX, observer);
///         run.finish(observer);
///     })
/// };
/// assert_eq!(figures(true), figures(false));
/// # Ok::<(), mimosa_scenario::ScenarioError>(())
/// ```
pub struct Run {
    end: Time,
    /// How far the run has come.
    now: Time,
    /// The channels: each carries one link, or the two links that share a medium.
    channels: Vec<Channel<SimPacket>>,
    /// The channel and the place on it of each link, in the order of [`Scenario::links`].
    links: Vec<(usize, Port)>,
    /// The numbers of a channel's links there and back.
    carried: Vec<(usize, usize)>,
    flows: Vec<Flow>,
    deadlines: Deadlines,
    dropped: Vec<SimPacket>,
    /// Packets that will arrive after the end.
    propagating: usize,
    steps: u64,
}

impl Run {
    /// The run of `scenario` with `seed`, at its beginning.
    #[must_use]
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        Self::with(scenario, seed, &mut |_| None)
    }

    /// The run of `scenario` with `seed`, at its beginning, in which a video flow has the controller
    /// that `controllers` gives for its number in place of the scenario's, if it gives one.
    pub fn with(
        scenario: &Scenario,
        seed: u64,
        controllers: &mut dyn FnMut(usize) -> Option<Box<dyn Controller>>,
    ) -> Self {
        let Built {
            channels,
            links,
            carried,
        } = Built::new(scenario, seed);
        let flows: Vec<_> = (0..scenario.flows.len())
            .filter_map(|number| Flow::new(scenario, number, seed, controllers(number)))
            .collect();
        let mut deadlines = Deadlines::new(channels.len() + 2 * flows.len());
        for (index, flow) in flows.iter().enumerate() {
            deadlines.set(channels.len() + 2 * index, flow.sender_deadline());
        }
        Self {
            end: Time::ZERO + scenario.duration,
            now: Time::ZERO,
            channels,
            links,
            carried,
            flows,
            deadlines,
            dropped: Vec::new(),
            propagating: 0,
            steps: 0,
        }
    }

    /// When the next frame of the video flow with this number is due; `None` if none is due before
    /// the end of the run, and for other flows.
    #[must_use]
    pub fn next_frame(&self, flow: usize) -> Option<Time> {
        match &self.flows.get(flow)?.source {
            Source::Video(video) => video.stream.next_frame().filter(|due| *due < self.end),
            Source::Cbr(_) | Source::Tcp(_) => None,
        }
    }

    /// The first flow whose controller decides no more, by its number, with the reason; `None` while
    /// all decide.
    #[must_use]
    pub fn failure(&self) -> Option<(usize, &str)> {
        let flows = self.flows.iter().enumerate();
        let mut failures = flows.filter_map(|(number, flow)| match &flow.source {
            Source::Video(video) => Some((number, video.stream.sender.failure()?)),
            Source::Cbr(_) | Source::Tcp(_) => None,
        });
        failures.next()
    }

    /// When the run ends.
    pub(crate) const fn end(&self) -> Time {
        self.end
    }

    /// Works out all that happens before `time`, or before the end of the run if that comes sooner,
    /// and tells `observer` of it.
    pub fn until(&mut self, time: Time, observer: &mut impl Observer) {
        let time = time.min(self.end);
        self.forward(|now| now < time, observer);
    }

    /// Works out all that happens until `time` and at `time`, before the end of the run.
    pub fn through(&mut self, time: Time, observer: &mut impl Observer) {
        let end = self.end;
        self.forward(|now| now <= time && now < end, observer);
    }

    fn forward(&mut self, is_due: impl Fn(Time) -> bool, observer: &mut impl Observer) {
        loop {
            let (due, part) = self.deadlines.next();
            // What was due in the past is done now.
            let now = due.max(self.now);
            if !is_due(now) {
                break;
            }
            self.now = now;
            self.steps += 1;
            match part.checked_sub(self.channels.len()) {
                None => self.serve(self.part_of_channel(part), now, observer),
                Some(end) if end % 2 == 0 => self.send(end / 2, now, observer),
                Some(end) => self.receive(end / 2, now, observer),
            }
        }
    }

    /// The number of a channel among the parts, and the number of a part's channel.
    const fn part_of_channel(&self, channel: usize) -> usize {
        self.channels.len() - 1 - channel
    }

    const fn sender_of(&self, flow: usize) -> usize {
        self.channels.len() + 2 * flow
    }

    const fn receiver_of(&self, flow: usize) -> usize {
        self.channels.len() + 2 * flow + 1
    }

    /// Sets the deadline of a channel: the time at which it has served its next packet, or at
    /// which something else happens on it.
    fn set_channel(&mut self, channel: usize) {
        let at = self.channels[channel].deadline();
        self.deadlines.set(self.part_of_channel(channel), at);
    }

    /// Offers a packet to a link.
    fn offer(&mut self, link: usize, now: Time, packet: SimPacket) {
        let (channel, port) = self.links[link];
        self.channels[channel].offer(now, port, packet, &mut self.dropped);
    }

    /// Handles a packet that a channel has served.
    fn serve(&mut self, channel: usize, now: Time, observer: &mut impl Observer) {
        if let Some((port, served)) = self.channels[channel].poll(now, &mut self.dropped) {
            let (there, back) = self.carried[channel];
            let link = match port {
                Port::There => there,
                Port::Back => back,
            };
            let wait = served.started.since(served.offered);
            observer.served(link, served.finished, served.packet.size, wait);
            let mut packet = served.packet;
            packet.hop += 1;
            let route = &self.flows[packet.flow as usize].config.route;
            let route = if packet.is_report {
                &route.reports
            } else {
                &route.data
            };
            if let Some(&next) = route.get(usize::from(packet.hop)) {
                self.offer(next, now, packet);
                self.set_channel(self.links[next].0);
            } else {
                self.leave(channel, now, &served, observer);
            }
        }
        if !self.dropped.is_empty() {
            self.drop_packets(observer);
        }
        self.set_channel(channel);
    }

    /// Handles a packet that has passed the last link of its route.
    fn leave(
        &mut self,
        channel: usize,
        now: Time,
        served: &Served<SimPacket>,
        observer: &mut impl Observer,
    ) {
        let conditions = self.channels[channel].conditions();
        let number = served.packet.flow as usize;
        let flow = &mut self.flows[number];
        if served.packet.is_report {
            flow.report_through(served.packet.frame, now, conditions);
            self.set_deadlines(number, now);
            return;
        }
        let mut packet = served.packet;
        packet.ecn = flow.forward.remark(packet.ecn);
        let fate = if let Some(at) = flow.forward.send(now, conditions) {
            if flow.ahead {
                // Nothing can overtake it, and what an arrival causes
                // happens no earlier than the arrival: it may be
                // worked out now.
                self.arrive(number, at, &packet, observer);
            } else {
                flow.to_receiver.push(at, packet);
            }
            self.set_deadlines(number, now);
            Fate::Arrived(at)
        } else {
            Fate::Lost
        };
        observer.packet(&passage(&served.packet, Some(served), fate));
    }

    /// Does what a flow's sender has to do.
    fn send(&mut self, number: usize, now: Time, observer: &mut impl Observer) {
        let flow = &mut self.flows[number];
        #[expect(clippy::cast_possible_truncation, reason = "flows are few")]
        let id = number as u32;
        let (first, port) = self.links[flow.config.route.data[0]];
        let channel = &mut self.channels[first];
        match &mut flow.source {
            Source::Video(video) => {
                video.wake(now);
                while let Some(packet) = video.poll(now, &flow.config, id) {
                    observer.offered(&counted(&packet));
                    channel.offer(now, port, packet, &mut self.dropped);
                }
                while let Some(life) = video.stream.sender.poll_frame() {
                    observer.frame(number, &life);
                }
            }
            Source::Tcp(tcp) => {
                tcp.wake(now);
                while let Some(packet) = tcp.poll(now, &flow.config, id) {
                    observer.offered(&counted(&packet));
                    channel.offer(now, port, packet, &mut self.dropped);
                }
                while let Some(load) = tcp.next_loaded() {
                    observer.page(number, &load);
                }
            }
            Source::Cbr(cbr) => {
                while let Some(packet) = cbr.poll(now, &flow.config, id) {
                    observer.offered(&counted(&packet));
                    channel.offer(now, port, packet, &mut self.dropped);
                }
            }
        }
        let deadline = flow.sender_deadline();
        self.deadlines.set(self.sender_of(number), deadline);
        self.set_channel(first);
        if !self.dropped.is_empty() {
            self.drop_packets(observer);
        }
    }

    /// Does what a flow's receiver has to do.
    fn receive(&mut self, number: usize, now: Time, observer: &mut impl Observer) {
        while let Some(packet) = self.flows[number].to_receiver.pop(now) {
            self.arrive(number, now, &packet, observer);
        }
        match &mut self.flows[number].source {
            Source::Video(video) => {
                video.report_timer(now);
                video.tell_reports(number, observer);
            }
            Source::Tcp(tcp) => tcp.ack_timer(now),
            Source::Cbr(_) => {}
        }
        self.set_deadlines(number, now);
        if let Some(&first) = self.flows[number].config.route.reports.first() {
            self.send_back(number, first, now, observer);
        }
    }

    /// Offers a flow receiver's packets to the first link of the return path.
    fn send_back(&mut self, number: usize, link: usize, now: Time, observer: &mut impl Observer) {
        #[expect(clippy::cast_possible_truncation, reason = "flows are few")]
        let id = number as u32;
        while let Some(packet) = self.flows[number].report(now, id) {
            self.offer(link, now, packet);
        }
        self.set_channel(self.links[link].0);
        if !self.dropped.is_empty() {
            self.drop_packets(observer);
        }
    }

    /// A packet arrives at `at`, in the order of arrivals.
    fn arrive(
        &mut self,
        number: usize,
        at: Time,
        packet: &SimPacket,
        observer: &mut impl Observer,
    ) {
        if at >= self.end {
            self.propagating += 1;
            return;
        }
        observer.arrived(at, &counted(packet));
        match &mut self.flows[number].source {
            Source::Video(video) => {
                video.arrive(at, packet);
                video.tell_reports(number, observer);
            }
            Source::Tcp(tcp) => tcp.arrive(at, packet),
            Source::Cbr(_) => {}
        }
    }

    /// Sets the deadlines of a flow's sender and receiver.
    fn set_deadlines(&mut self, number: usize, now: Time) {
        let flow = &self.flows[number];
        let (sender, receiver) = (flow.sender_deadline(), flow.receiver_deadline(now));
        self.deadlines.set(self.sender_of(number), sender);
        self.deadlines.set(self.receiver_of(number), receiver);
    }

    fn drop_packets(&mut self, observer: &mut impl Observer) {
        for packet in self.dropped.drain(..) {
            if packet.is_report {
                self.flows[packet.flow as usize].report_dropped(packet.frame);
                continue;
            }
            observer.packet(&passage(&packet, None, Fate::Dropped));
        }
    }

    /// Tells what is still on its way, and that the run is over.
    pub fn finish(self, observer: &mut impl Observer) {
        let mut reports = Balance::default();
        for (number, flow) in self.flows.iter().enumerate() {
            if let Source::Video(video) = &flow.source {
                for life in video.stream.sender.open_frames() {
                    observer.frame(number, life);
                }
            }
            reports += flow.report_balance();
        }
        let waiting: usize = self.flows.iter().map(|flow| flow.to_receiver.len()).sum();
        let in_links: usize = self.channels.iter().map(Channel::packets).sum();
        let inside = in_links + waiting + self.propagating;
        observer.ended(&RunEnd {
            steps: self.steps,
            inside: inside as u64,
            reports,
        });
    }
}

/// The channels of a scenario, and which links they carry.
struct Built {
    channels: Vec<Channel<SimPacket>>,
    links: Vec<(usize, Port)>,
    carried: Vec<(usize, usize)>,
}

impl Built {
    fn new(scenario: &Scenario, seed: u64) -> Self {
        let configs: Vec<_> = scenario.links().collect();
        let back = configs.len() - 1;
        let medium = configs.iter().position(|link| link.medium.is_some());
        let mut made = Self {
            channels: Vec::new(),
            links: Vec::new(),
            carried: Vec::new(),
        };
        for ((number, link), queue) in configs.iter().enumerate().zip(0..) {
            let seed = queue_seed(seed, queue);
            if let Some(shared) = medium.filter(|_| number == back && number > 0) {
                // The medium's channel is there already: its link comes before.
                made.links.push((shared, Port::Back));
                made.carried[shared].1 = number;
                continue;
            }
            let channel = match &link.medium {
                Some(medium) => medium.build(&link.queue, &configs[back].queue, seed),
                None => Channel::link(link.queue.build(seed), link.schedule.clone(), link.tick),
            };
            made.links.push((made.channels.len(), Port::There));
            made.channels.push(channel);
            made.carried.push((number, number));
        }
        made
    }
}

/// The seed of a link's queue: the run's seed for the first link, and another for each other one.
const fn queue_seed(seed: u64, link: u64) -> u64 {
    seed.wrapping_add(link.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A packet as far as it is counted.
const fn counted(packet: &SimPacket) -> FlowPacket {
    FlowPacket {
        flow: packet.flow as usize,
        size: packet.size,
        offered: packet.sent,
    }
}

/// The passage of a packet that the last link has `served`, or that a queue gave up.
fn passage(
    packet: &SimPacket,
    served: Option<&Served<SimPacket>>,
    fate: Fate,
) -> Passage<StreamPacket> {
    Passage {
        packet: StreamPacket {
            flow: packet.flow as usize,
            sequence: packet.sequence,
            kind: packet.kind,
            frame: packet.frame,
            index: packet.index,
        },
        size: packet.size,
        sent_ecn: packet.sent_ecn,
        ecn: packet.ecn,
        offered: packet.sent,
        started: served.map(|served| served.started),
        finished: served.map(|served| served.finished),
        fate,
    }
}
