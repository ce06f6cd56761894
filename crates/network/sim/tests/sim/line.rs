//! The test of a line, `mimosa-line`, over links whose properties are known.
//!
//! `every_link_is_named` prints the table of docs/use/line.md:
//!
//! ```text
//! cargo test --release -p mimosa-sim --test sim -- --ignored --nocapture every_link_is_named
//! ```

use std::sync::OnceLock;

use mimosa_facts::{FlowPacket, Observer};
use mimosa_line::{Config, Grade, Line, Medium, Outcome, shared};
use mimosa_net::Random;
use mimosa_scenario::{Scenario, load};
use mimosa_sim::Run;
use mimosa_units::{Bytes, Rate, Time, TimeDelta, nearest_rank};

/// Runs of each link in the ordinary test and in that of the table.
const FEW: u64 = 4;
const MANY: u64 = 100;

/// What differs between the runs of one link.
struct Draw {
    /// Factor on the link's rate, from 0.8 to 1.2.
    times: f64,
    /// Propagation in each direction, from 2 to 40 ms.
    delay: f64,
    /// Drift of the receiver's clock in millionths, from -60 to 60.
    drift: f64,
    feedback: &'static str,
}

impl Draw {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, "line");
        let mut between = |least: f64, most: f64| least + random.uniform() * (most - least);
        Self {
            times: between(0.8, 1.2),
            delay: between(2.0, 40.0),
            drift: between(-60.0, 60.0),
            // As the native client, Chromium and a browser with RFC 8888 alone report.
            feedback: ["packet", "transport-cc-02", "rfc8888"][usize::try_from(seed % 3).unwrap()],
        }
    }
}

/// A link and what a test has to say about it.
struct Case {
    name: &'static str,
    /// Rate in Mbit/s, and the keys of its `[link]`, without the rate if the link has a medium.
    rate: f64,
    keys: &'static str,
    /// Tolerance of the rate and of the queue's delay, as shares.
    near: [f64; 2],
    /// Delay of the full queue, at 1 in `times`.
    buffer: Buffer,
    /// Least and greatest loss at rest.
    loss: [f64; 2],
    /// Packets that the link takes at once, if less than the largest train.
    burst: Option<u64>,
    medium: Medium,
}

enum Buffer {
    /// As many packets of 1200 bytes.
    Packets(u64),
    /// As many milliseconds.
    Millis(f64),
    /// As a flow meets that always sends.
    AsFlow,
}

const NO_LOSS: [f64; 2] = [0.0, 0.001];

const CASES: &[Case] = &[
    Case {
        name: "fibre: 100 Mbit/s, room for 60 packets",
        rate: 100.0,
        keys: "queue = { kind = 'droptail', limit = '60packets' }",
        near: [0.1, 0.15],
        buffer: Buffer::Packets(60),
        loss: NO_LOSS,
        burst: Some(60),
        medium: Medium::Steady,
    },
    Case {
        name: "cable: 20 Mbit/s, room for 250 packets",
        rate: 20.0,
        keys: "queue = { kind = 'droptail', limit = '250packets' }",
        near: [0.1, 0.15],
        buffer: Buffer::Packets(250),
        loss: NO_LOSS,
        burst: None,
        medium: Medium::Steady,
    },
    Case {
        name: "bloated: 20 Mbit/s, room for 1 s",
        rate: 20.0,
        keys: "queue = { kind = 'droptail', limit = '1s' }",
        near: [0.1, 0.15],
        buffer: Buffer::Millis(1_000.0),
        loss: NO_LOSS,
        burst: None,
        medium: Medium::Steady,
    },
    Case {
        name: "DSL: 6 Mbit/s, room for 300 ms",
        rate: 6.0,
        keys: "queue = { kind = 'droptail', limit = '300ms' }",
        near: [0.1, 0.15],
        buffer: Buffer::Millis(300.0),
        loss: NO_LOSS,
        burst: None,
        medium: Medium::Steady,
    },
    Case {
        name: "lossy: 30 Mbit/s, room for 150 packets, 1 % lost",
        rate: 30.0,
        keys: "queue = { kind = 'droptail', limit = '150packets' }\nloss = 0.01",
        near: [0.1, 0.15],
        buffer: Buffer::Packets(150),
        loss: [0.001, 0.025],
        burst: None,
        medium: Medium::Steady,
    },
    Case {
        name: "Wi-Fi: 802.11n with four uploads, room for 300 packets",
        rate: 0.0,
        keys: "queue = { kind = 'droptail', limit = '300packets' }",
        near: [0.5, 0.6],
        buffer: Buffer::AsFlow,
        loss: NO_LOSS,
        burst: None,
        medium: Medium::InAggregates,
    },
    Case {
        name: "in turns of 8 ms (TDMA): 40 Mbit/s, room for 300 packets",
        rate: 40.0,
        keys: "tick = '8ms'\nqueue = { kind = 'droptail', limit = '300packets' }",
        near: [0.1, 0.15],
        buffer: Buffer::Packets(300),
        loss: NO_LOSS,
        burst: None,
        medium: Medium::InTurns,
    },
];

/// A flow that sends more than any Wi-Fi here carries, with as many reports as the test asks for, since a
/// station's reports contend with its data.
const ALWAYS: &str = "controller = 'fixed'\nstart_bitrate = '120Mbit/s'\nmax_bitrate = '120Mbit/s'\n\
    pacer = 'burst'\nfps = 500\nfeedback = 'transport-cc-02'\nprotection = 'none'";

impl Case {
    fn is_wifi(&self) -> bool {
        self.rate == 0.0
    }

    fn scenario(&self, draw: &Draw, flow: &str) -> Scenario {
        let rate = if self.is_wifi() {
            String::new()
        } else {
            format!("rate = '{}kbit/s'", (self.rate * draw.times * 1e3).round())
        };
        let medium = if self.is_wifi() {
            "[link.medium]\nkind = 'wifi'\nstandard = 'n'\n[[link.medium.neighbour]]\ncount = 4"
        } else {
            ""
        };
        let Draw { delay, .. } = draw;
        let text = format!(
            "duration = '12s'\n[link]\n{rate}\none_way_delay = '{delay:.2}ms'\n{}\n{medium}\n[[flow]]\n{flow}",
            self.keys
        );
        load(&text, self.name, &mut ())
            .unwrap()
            .variants
            .remove(0)
            .1
    }

    /// The rate and the delay in the queues that a flow gets that always sends, over 12 s.
    fn saturated(&self) -> (Rate, TimeDelta) {
        static SATURATED: OnceLock<(Rate, TimeDelta)> = OnceLock::new();
        *SATURATED.get_or_init(|| {
            let scenario = self.scenario(&Draw::new(1), ALWAYS);
            let mut arrived = Arrived::default();
            mimosa_sim::run(&scenario, 1, &mut arrived);
            arrived.delays.sort_unstable();
            let delay = nearest_rank(&arrived.delays, 0.9).unwrap() - arrived.delays[0];
            (Rate::of(arrived.size, scenario.duration), delay)
        })
    }

    /// What is wrong with the result of a run; nothing if the link is named right.
    ///
    /// The rate of a Wi-Fi network varies from second to second, so that it is compared with the highest of
    /// the run as well.
    fn mistakes(&self, draw: &Draw, line: &Line, highest: Rate) -> Vec<String> {
        let mut mistakes = Vec::new();
        let mut check = |is_right: bool, what: String| {
            if !is_right {
                mistakes.push(what);
            }
        };
        let rate = match self.buffer {
            Buffer::AsFlow => self.saturated().0,
            _ => Rate::from_mbps(self.rate * draw.times),
        };
        let ratio = line.rate.ratio(rate);
        check(
            (ratio - 1.0).abs() <= self.near[0] && !line.is_rate_least,
            format!("rate {} for {rate}", line.rate),
        );
        if self.is_wifi() {
            let ratio = line.rate.ratio(highest);
            check(
                (0.8..=1.2).contains(&ratio),
                format!("rate {}, {highest} arrived", line.rate),
            );
        }
        let delay = match self.buffer {
            Buffer::Packets(packets) => rate.transmit_time(Bytes::new(packets * 1_200)),
            Buffer::Millis(millis) => TimeDelta::from_secs(millis / 1e3),
            Buffer::AsFlow => self.saturated().1,
        };
        let buffer = line.buffer.map(|buffer| (buffer.delay, buffer.is_least));
        let worst = delay >= Grade::WORST;
        let is_right = buffer.is_some_and(|(found, is_least)| {
            let ratio = found.ratio(delay);
            if worst {
                is_least && found >= Grade::WORST
            } else {
                (ratio - 1.0).abs() <= self.near[1]
            }
        });
        check(is_right, format!("buffer {:?} for {delay}", line.buffer));
        // A queue near the limit between two grades may have either.
        let near = self.near[1];
        let grades = [1.0 - near, 1.0, 1.0 + near].map(|times| Some(Grade::of(delay.scale(times))));
        let is_right = grades.contains(&line.grade);
        check(is_right, format!("grade {:?} for {delay}", line.grade));
        let [least, most] = self.loss;
        check(
            (least..=most).contains(&line.loss_at_rest),
            format!("loss {}", line.loss_at_rest),
        );
        let burst = line.burst.get() / 1_200;
        let is_right = match self.burst {
            // What leaves during the train makes room for a few more.
            Some(packets) => {
                !line.is_burst_least && (packets..=packets + packets / 6).contains(&burst)
            }
            None => line.is_burst_least && burst >= 28,
        };
        check(
            is_right,
            format!("burst {burst}, least: {}", line.is_burst_least),
        );
        check(
            line.medium == self.medium,
            format!("medium {:?}", line.medium),
        );
        check(
            line.took <= TimeDelta::from_millis(5_000) && line.spent <= Bytes::new(16_200_000),
            format!("{} in {}", line.spent, line.took),
        );
        mistakes
    }
}

/// What arrives, and how long each packet took.
#[derive(Default)]
struct Arrived {
    size: Bytes,
    delays: Vec<TimeDelta>,
    /// Arrivals of the large packets of a test, in order.
    large: Vec<Time>,
    /// When the newest packet left its sender.
    newest: Time,
}

impl Arrived {
    /// The highest rate of large packets over a second.
    fn highest(&self) -> Rate {
        let window = TimeDelta::from_millis(1_000);
        let mut first = 0;
        let counts = self.large.iter().enumerate().map(|(newest, at)| {
            while at.since(self.large[first]) >= window {
                first += 1;
            }
            newest + 1 - first
        });
        let most = counts.max().unwrap_or(0) as u64;
        Rate::of(Bytes::new(most * 1_200), window)
    }
}

impl Observer for Arrived {
    fn offered(&mut self, packet: &FlowPacket) {
        assert!(self.newest <= packet.offered, "time goes backwards");
        self.newest = packet.offered;
    }

    fn arrived(&mut self, at: Time, packet: &FlowPacket) {
        self.size += packet.size;
        self.delays.push(at.since(packet.offered));
        if packet.size == Bytes::new(1_200) {
            self.large.push(at);
        }
    }
}

/// The result of a test, and the highest rate of its packets over a second.
fn test(case: &Case, draw: &Draw, seed: u64) -> (Line, Rate) {
    let flow = format!(
        "feedback = '{}'\nclock_drift_ppm = {}\nclock_offset = '3s'",
        draw.feedback,
        draw.drift.round()
    );
    let scenario = case.scenario(draw, &flow);
    let mut handle = None;
    let mut run = Run::with(&scenario, seed, &mut |_| {
        let (controller, own) = shared(Config::default(), Time::ZERO);
        handle = Some(own);
        Some(controller)
    });
    let mut arrived = Arrived::default();
    run.until(Time::MAX, &mut arrived);
    run.finish(&mut arrived);
    let Some(Outcome::Found(line)) = handle.unwrap().result() else {
        panic!("{}, seed {seed}: no result", case.name);
    };
    (line, arrived.highest())
}

/// Share of the runs in which each link is named right; and prints the mistakes.
fn score(case: &Case, seeds: u64) -> (u64, Vec<Line>) {
    let mut right = 0;
    let mut lines = Vec::new();
    for seed in 1..=seeds {
        let draw = Draw::new(seed);
        let (line, highest) = test(case, &draw, seed);
        let mistakes = case.mistakes(&draw, &line, highest);
        if mistakes.is_empty() {
            right += 1;
        } else {
            eprintln!(
                "{}, seed {seed}, {}: {}",
                case.name,
                draw.feedback,
                mistakes.join("; ")
            );
        }
        lines.push(line);
    }
    (right, lines)
}

#[test]
fn links_are_named_right() {
    for case in CASES {
        let (right, _) = score(case, FEW);
        assert!(right + 1 >= FEW, "{}: {right} of {FEW}", case.name);
    }
}

#[test]
#[ignore = "a table of the documentation; see above"]
fn every_link_is_named() {
    println!(
        "| link | named right | rate, Mbit/s | delay of the full queue, ms | sent, MB | took, s |"
    );
    println!("|---|--:|--:|--:|--:|--:|");
    for case in CASES {
        let (right, lines) = score(case, MANY);
        let middle = |of: &dyn Fn(&Line) -> f64| {
            let mut values: Vec<_> = lines.iter().map(of).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let delay = |line: &Line| line.buffer.map_or(0.0, |buffer| buffer.delay.as_millis());
        println!(
            "| {} | {right} of {MANY} | {:.1} | {:.0} | {:.1} | {:.1} |",
            case.name,
            middle(&|line| line.rate.as_mbps()),
            middle(&delay),
            middle(&|line| line.spent.get() as f64 / 1e6),
            middle(&|line| line.took.as_secs()),
        );
    }
}
