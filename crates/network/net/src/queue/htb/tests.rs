//! Tests of the whole scheduler, mostly in front of a link.

use mimosa_facts::Header;
use mimosa_units::TimeDelta;

use super::*;
use crate::Random;
use crate::link::Link;
use crate::packet::TestPacket;
use crate::queue::{Sfq, SfqConfig, TokenBucket, TokenBucketConfig};
use crate::schedule::Schedule;

type Queues = BTreeMap<ClassId, Box<dyn Queue<TestPacket>>>;

const ROOT: ClassId = ClassId(1);

fn mbps(mbps: u64) -> Rate {
    Rate::from_kbps(1_000 * mbps)
}

/// A class with this rate and ceiling in Mbit/s.
fn class(id: u32, parent: Option<ClassId>, rate: u64, ceil: u64) -> ClassConfig {
    ClassConfig {
        ceil: mbps(ceil),
        ..ClassConfig::new(ClassId(id), parent, mbps(rate))
    }
}

/// A tree in which flow `n` belongs to class `n`, if that is a leaf.
fn tree(classes: Vec<ClassConfig>) -> HtbConfig {
    let mut config = HtbConfig {
        classes,
        ..HtbConfig::default()
    };
    let inner = config.parents();
    for class in &config.classes {
        if !inner.contains(&class.id) {
            let source = Header::of_flow(class.id.0, Header::UDP, 0).source;
            let filter = Filter {
                source: Some(Prefix::host(source)),
                ..Filter::default()
            };
            config.filters.push((filter, class.id));
        }
    }
    config
}

/// A scheduler whose promises in `ready` are checked.
#[derive(Debug)]
struct Watched {
    htb: Htb<TestPacket>,
    /// When the next packet leaves, unless another packet comes before.
    promised: Option<Time>,
    /// Whether the queue of a leaf shapes. Such a queue is asked for a packet only when
    /// its class may send, so that the next packet may leave later than promised, but
    /// not earlier.
    shaped: bool,
}

impl Queue<TestPacket> for Watched {
    fn enqueue(&mut self, now: Time, packet: TestPacket, dropped: &mut Vec<TestPacket>) {
        self.promised = None;
        self.htb.enqueue(now, packet, dropped);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<TestPacket>) -> Option<Waiting<TestPacket>> {
        let next = self.htb.dequeue(now, dropped);
        if let Some(promised) = self.promised.take() {
            let due = now >= promised;
            let late = due && self.shaped && next.is_none();
            assert!(late || next.is_some() == due, "{now}, promised {promised}");
        }
        if next.is_none() {
            let ready = self.htb.ready(now);
            assert!(ready > now, "nothing came, so it is later");
            assert_eq!(ready == Time::MAX, self.htb.is_empty());
            self.promised = Some(ready);
        }
        next
    }

    fn backlog(&self) -> Bytes {
        self.htb.backlog()
    }

    fn len(&self) -> usize {
        self.htb.len()
    }

    fn ready(&self, now: Time) -> Time {
        self.htb.ready(now)
    }
}

/// A flow of packets of 1250 bytes at a constant rate.
struct Load {
    flow: u32,
    mbps: u64,
    /// The seconds at which the flow begins and ends.
    during: (u64, u64),
}

fn always(flow: u32, mbps: u64) -> Load {
    let during = (0, 21);
    Load { flow, mbps, during }
}

/// The rate of each load in Mbit/s from second 1 to second 21, on a link of 50 Mbit/s.
fn rates(config: &HtbConfig, queues: Queues, loads: &[Load]) -> Vec<f64> {
    rates_behind(mbps(50), config, queues, loads, (1, 21))
}

fn rates_behind(
    link: Rate,
    config: &HtbConfig,
    queues: Queues,
    loads: &[Load],
    (from, until): (u64, u64),
) -> Vec<f64> {
    let watched = Watched {
        htb: Htb::new(config, queues).unwrap(),
        promised: None,
        shaped: false,
    };
    let mut link = Link::new(Box::new(watched), Schedule::constant(link));
    let mut dropped = Vec::new();
    let mut bytes = vec![0_u64; loads.len()];
    let mut nexts: Vec<_> = loads.iter().map(|l| Time::from_secs(l.during.0)).collect();
    let (mut offered, mut delivered) = (0, 0);
    loop {
        let arrival = nexts.iter().copied().min().unwrap();
        let now = arrival.min(link.deadline());
        if now >= Time::from_secs(until) {
            break;
        }
        while let Some(served) = link.poll(now, &mut dropped) {
            delivered += 1;
            if now >= Time::from_secs(from) {
                let index = loads.iter().position(|l| l.flow == served.packet.flow);
                bytes[index.unwrap()] += served.packet.size;
            }
        }
        for (load, next) in loads.iter().zip(&mut nexts) {
            if *next == now {
                let packet = TestPacket {
                    flow: load.flow,
                    number: offered,
                    ..TestPacket::sized(1_250)
                };
                link.offer(now, packet, &mut dropped);
                offered += 1;
                *next = now + mbps(load.mbps).transmit_time(Bytes::new(1_250));
                if *next >= Time::from_secs(load.during.1) {
                    *next = Time::MAX;
                }
            }
        }
    }
    let accounted = delivered + dropped.len() + link.packets();
    assert_eq!(offered, accounted as u64);
    let seconds = (until - from) as f64;
    let rates = bytes.into_iter().map(|b| b as f64 * 8e-6 / seconds);
    rates.collect()
}

/// Asserts that each rate is the expected one to within a percent.
#[track_caller]
fn assert_rates(found: &[f64], expected: &[f64]) {
    println!("Mbit/s: {found:.3?}, expected {expected:?}");
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 0.01 * b;
    let all = found.iter().zip(expected).all(close);
    assert!(all && found.len() == expected.len(), "{found:?}");
}

#[test]
fn guaranteed_rates_hold_under_overload() {
    let config = tree(vec![
        class(1, None, 50, 50),
        class(2, Some(ROOT), 5, 50),
        class(3, Some(ROOT), 15, 50),
        class(4, Some(ROOT), 30, 50),
    ]);
    let loads = [always(2, 60), always(3, 60), always(4, 60)];
    let found = rates(&config, Queues::new(), &loads);
    assert_rates(&found, &[5.0, 15.0, 30.0]);
}

#[test]
fn nobody_passes_its_ceiling() {
    let config = tree(vec![
        class(1, None, 50, 50),
        class(2, Some(ROOT), 10, 20),
        class(3, Some(ROOT), 7, 7),
    ]);
    let found = rates(&config, Queues::new(), &[always(2, 60), always(3, 60)]);
    assert_rates(&found, &[20.0, 7.0]);
}

#[test]
fn excess_is_shared_by_quantum() {
    let with = |id, quantum| ClassConfig {
        quantum: Some(Bytes::new(quantum)),
        ..class(id, Some(ROOT), 5, 50)
    };
    let config = tree(vec![class(1, None, 50, 50), with(2, 2_500), with(3, 7_500)]);
    let loads = [always(2, 60), always(3, 60)];
    // Each class has its own 5 Mbit/s; of the other 40 one gets a quarter and the other
    // three quarters.
    let found = rates(&config, Queues::new(), &loads);
    assert_rates(&found, &[15.0, 35.0]);

    // By default the quantum follows from the rate.
    let config = tree(vec![
        class(1, None, 50, 50),
        class(2, Some(ROOT), 1, 50),
        class(3, Some(ROOT), 4, 50),
    ]);
    let found = rates(&config, Queues::new(), &loads);
    assert_rates(&found, &[10.0, 40.0]);
}

#[test]
fn excess_goes_to_the_lower_priority_first() {
    let second = ClassConfig {
        priority: 1,
        ..class(3, Some(ROOT), 10, 50)
    };
    let first = class(2, Some(ROOT), 10, 50);
    let config = tree(vec![class(1, None, 50, 50), first, second]);
    let found = rates(&config, Queues::new(), &[always(2, 60), always(3, 60)]);
    assert_rates(&found, &[40.0, 10.0]);
    // The second class takes what the first does not need.
    let found = rates(&config, Queues::new(), &[always(2, 25), always(3, 60)]);
    assert_rates(&found, &[25.0, 25.0]);
}

/// The classes of the paper: class 2 carries the game with a queue of 63 packets, class
/// 3 all other packets with a queue of 250.
fn paper(rest: u64) -> (HtbConfig, Queues) {
    let config = tree(vec![
        class(1, None, 50, 50),
        class(2, Some(ROOT), 10, 50),
        ClassConfig {
            priority: 1,
            ..class(3, Some(ROOT), rest, 50)
        },
    ]);
    let sfq = SfqConfig {
        limit: 63,
        ..SfqConfig::default()
    };
    let mut queues = Queues::new();
    queues.insert(ClassId(2), Box::new(Sfq::new(sfq)));
    queues.insert(ClassId(3), Box::new(DropTail::new(Limit::Packets(250))));
    (config, queues)
}

/// Where the rates add up to the link's, nothing is left to borrow, and priority does not help.
#[test]
fn the_papers_classes_get_their_rates_when_both_are_overloaded() {
    let (config, queues) = paper(40);
    let found = rates(&config, queues, &[always(2, 60), always(3, 60)]);
    assert_rates(&found, &[10.0, 40.0]);
    // A game that asks for only 30 Mbit/s does not change that.
    let (config, queues) = paper(40);
    let found = rates(&config, queues, &[always(2, 30), always(3, 60)]);
    assert_rates(&found, &[10.0, 40.0]);
    // For the paper's rates of 30 and 20 the guarantee of the other class must be smaller.
    let (config, queues) = paper(10);
    let found = rates(&config, queues, &[always(2, 30), always(3, 60)]);
    assert_rates(&found, &[30.0, 20.0]);
}

#[test]
fn what_an_idle_class_leaves_goes_to_others() {
    let late = Load {
        flow: 2,
        mbps: 60,
        during: (10, 21),
    };
    for (window, expected) in [((1, 10), [0.0, 50.0]), ((11, 21), [10.0, 40.0])] {
        let (config, queues) = paper(40);
        let late = Load { ..late };
        let loads = [late, always(3, 60)];
        let found = rates_behind(mbps(50), &config, queues, &loads, window);
        assert_rates(&found, &expected);
    }
}

#[test]
fn a_tree_shapes_a_faster_link() {
    let (config, queues) = paper(30);
    let loads = [always(2, 100), always(3, 100)];
    let found = rates_behind(mbps(1_000), &config, queues, &loads, (1, 21));
    assert_rates(&found, &[20.0, 30.0]);
}

#[test]
fn relatives_lend_before_strangers() {
    let nested = |ceil| {
        tree(vec![
            class(1, None, 50, 50),
            class(10, Some(ROOT), 20, ceil),
            class(11, Some(ClassId(10)), 5, 50),
            class(12, Some(ClassId(10)), 15, 50),
            class(13, Some(ROOT), 30, 50),
        ])
    };
    let three = || [always(11, 60), always(12, 60), always(13, 60)];
    let found = rates(&nested(50), Queues::new(), &three());
    assert_rates(&found, &[5.0, 15.0, 30.0]);
    // Class 12 is idle: its share goes to class 11.
    let two = || [always(11, 60), always(13, 60)];
    let found = rates(&nested(50), Queues::new(), &two());
    assert_rates(&found, &[20.0, 30.0]);
    // Class 11 alone gets the whole link from the root, unless its parent's ceiling is lower.
    let one = || [always(11, 60)];
    let found = rates(&nested(50), Queues::new(), &one());
    assert_rates(&found, &[50.0]);
    let found = rates(&nested(25), Queues::new(), &one());
    assert_rates(&found, &[25.0]);
}

/// Two families have two leaves each, which get no more than their parents have.
#[test]
fn a_familys_round_does_not_depend_on_the_others() {
    let config = tree(vec![
        class(1, None, 50, 50),
        class(10, Some(ROOT), 10, 10),
        class(11, Some(ClassId(10)), 1, 50),
        class(12, Some(ClassId(10)), 1, 50),
        class(20, Some(ROOT), 20, 20),
        class(21, Some(ClassId(20)), 1, 50),
        class(22, Some(ClassId(20)), 1, 50),
    ]);
    let loads = [11, 12, 21, 22].map(|flow| always(flow, 60));
    let found = rates(&config, Queues::new(), &loads);
    assert_rates(&found, &[5.0, 5.0, 10.0, 10.0]);
}

/// The ceiling of a family lets it borrow only a few packets from time to time.
#[test]
fn a_round_goes_on_where_the_ceiling_stopped_it() {
    // Class 13's quantum of 12 500 bytes takes 2 ms, in which the family gets 2500
    // bytes at its ceiling. Its `cburst` is large enough to keep them.
    let family = ClassConfig {
        cburst: Bytes::new(5_000),
        ..class(10, Some(ROOT), 2, 10)
    };
    let config = tree(vec![
        class(1, None, 50, 50),
        family,
        class(11, Some(ClassId(10)), 1, 50),
        class(12, Some(ClassId(10)), 1, 50),
        class(13, Some(ROOT), 1, 50),
    ]);
    let loads = [11, 12, 13].map(|flow| always(flow, 60));
    let found = rates(&config, Queues::new(), &loads);
    assert_rates(&found, &[5.0, 5.0, 40.0]);
}

/// A leaf that cannot go on, for lack of tokens or of packets, loses its turn to the next.
#[test]
fn a_turn_ends_with_the_tokens_or_the_packets() {
    let leaf = |id| ClassConfig {
        burst: Bytes::new(1_000),
        cburst: Bytes::new(1_000),
        quantum: Some(Bytes::new(100_000)),
        ..class(id, None, 8, 8)
    };
    let htb = || Htb::new(&tree(vec![leaf(2), leaf(3)]), Queues::new()).unwrap();
    let offer = |htb: &mut Htb<TestPacket>, size, flows: &[u32]| {
        for flow in flows {
            let packet = TestPacket {
                flow: *flow,
                ..TestPacket::sized(size)
            };
            htb.enqueue(Time::ZERO, packet, &mut Vec::new());
        }
    };
    let take = |htb: &mut Htb<TestPacket>, now, most| {
        let next = || Some(htb.dequeue(now, &mut Vec::new())?.packet.flow);
        std::iter::from_fn(next).take(most).collect::<Vec<_>>()
    };
    // The first turn of a leaf is over with its first packet, since it has no quantum
    // yet. The second packet of each leaf overdraws its bucket for a millisecond.
    let mut tired = htb();
    offer(&mut tired, 1_000, &[2, 2, 2, 3, 3, 3]);
    assert_eq!(take(&mut tired, Time::ZERO, 6), [2, 3, 2, 3]);
    assert_eq!(take(&mut tired, Time::from_millis(1), 6), [2, 3]);
    let mut through = htb();
    offer(&mut through, 100, &[2, 2, 2, 3, 3, 3]);
    assert_eq!(take(&mut through, Time::ZERO, 4), [2, 3, 2, 2]);
    offer(&mut through, 100, &[2]);
    assert_eq!(take(&mut through, Time::ZERO, 6), [3, 3, 2]);
}

#[test]
fn the_first_filter_counts_then_the_default_then_none() {
    let mut config = tree(vec![class(1, None, 8, 8), class(2, Some(ROOT), 8, 8)]);
    config.classes.push(class(3, Some(ROOT), 8, 8));
    config.filters.push((Filter::default(), ClassId(3)));
    let leaf_of = |config: &HtbConfig, flow| {
        let htb = Htb::new(config, Queues::new()).unwrap();
        let packet = TestPacket {
            flow,
            ..TestPacket::sized(1_000)
        };
        htb.classify(&packet)
    };
    assert_eq!(
        (leaf_of(&config, 2), leaf_of(&config, 9)),
        (Some(0), Some(1))
    );
    config.filters.pop();
    assert_eq!((leaf_of(&config, 2), leaf_of(&config, 9)), (Some(0), None));
    config.default = Some(ClassId(3));
    assert_eq!(
        (leaf_of(&config, 2), leaf_of(&config, 9)),
        (Some(0), Some(1))
    );
}

#[test]
fn packets_of_no_class_pass_at_once() {
    let config = tree(vec![class(1, None, 8, 8), class(2, Some(ROOT), 8, 8)]);
    let mut htb = Htb::new(&config, Queues::new()).unwrap();
    let (now, mut dropped) = (Time::ZERO, Vec::new());
    for flow in [9, 2, 2, 2, 9, 9, 9] {
        let packet = TestPacket {
            flow,
            ..TestPacket::sized(1_000)
        };
        htb.enqueue(now, packet, &mut dropped);
        assert_eq!(htb.ready(now), now);
    }
    let mut flows = Vec::new();
    while let Some(next) = htb.dequeue(now, &mut dropped) {
        flows.push(next.packet.flow);
    }
    // The burst of 1600 bytes is overdrawn by the second packet of the class.
    assert_eq!(flows, [9, 9, 9, 9, 2, 2]);
    assert_eq!((htb.len(), htb.backlog()), (1, Bytes::new(1_000)));
    // The class owes 400 bytes, at 1000 bytes a millisecond. The packets that passed at
    // once are not charged.
    assert_eq!(htb.ready(now), Time::from_nanos(400_000));
}

/// A limit of ten milliseconds is ten packets at the ceiling of 8 Mbit/s, and five at a
/// link's rate of 4 Mbit/s.
#[test]
fn leaves_know_how_fast_they_are_served_at_most() {
    let config = tree(vec![class(2, None, 4, 8)]);
    for (link, kept) in [(100, 10), (8, 10), (4, 5)] {
        let fifo = DropTail::new(Limit::Time(TimeDelta::from_millis(10)));
        let queues = Queues::from([(ClassId(2), Box::new(fifo) as _)]);
        let mut htb = Htb::new(&config, queues).unwrap();
        htb.rate_changed(mbps(link));
        let mut dropped = Vec::new();
        for _ in 0..20 {
            let packet = TestPacket {
                flow: 2,
                ..TestPacket::sized(1_000)
            };
            htb.enqueue(Time::ZERO, packet, &mut dropped);
        }
        assert_eq!(htb.len(), kept, "{link} Mbit/s");
    }
}

#[test]
fn a_quantum_follows_the_rate_within_bounds() {
    let of = |rate, given| {
        let class = ClassConfig {
            quantum: given,
            ..class(2, None, rate, rate)
        };
        quantum(&class, 10)
    };
    assert_eq!([of(1, None), of(10, None)], [12_500, 125_000]);
    assert_eq!(
        [of(100, None), of(100, Some(Bytes::new(300_000)))],
        [200_000, 300_000]
    );
    let slow = ClassConfig::new(ROOT, None, Rate::from_kbps(10));
    assert_eq!(quantum(&slow, 10), 1_000);
}

#[test]
fn a_wrong_tree_is_refused_with_the_class_at_fault() {
    let good = || {
        tree(vec![
            class(1, None, 50, 50),
            class(2, Some(ROOT), 40, 50),
            class(3, Some(ROOT), 40, 50),
        ])
    };
    assert_eq!(good().check(), Ok(()), "children may be promised too much");
    let refused = |change: fn(&mut HtbConfig)| {
        let mut config = good();
        change(&mut config);
        let error = config.check().unwrap_err();
        assert_eq!(
            Htb::<TestPacket>::new(&config, Queues::new()).err(),
            Some(error)
        );
        error.to_string()
    };
    for (found, expected) in [
        (
            refused(|c| c.classes.push(class(2, Some(ROOT), 1, 1))),
            "class 2 is there twice",
        ),
        (
            refused(|c| c.classes[2].parent = Some(ClassId(7))),
            "class 3 has class 7 for a parent, which is not there",
        ),
        (
            refused(|c| c.classes[0].parent = Some(ClassId(2))),
            "class 1 is its own ancestor",
        ),
        (
            refused(|c| {
                let below = |i| class(i, Some(ClassId(i - 1)), 1, 1);
                c.filters.clear();
                c.classes.extend((4..11).map(below));
            }),
            "class 10 has more than 7 classes above it",
        ),
        (
            refused(|c| c.classes[1].rate = Rate::ZERO),
            "class 2 has a rate of zero",
        ),
        (
            refused(|c| c.classes[1].ceil = mbps(39)),
            "class 2 has a rate of 40Mbit/s, above its ceil of 39Mbit/s",
        ),
        (
            refused(|c| c.classes[1].priority = 8),
            "class 2 has priority 8, but 7 is the last",
        ),
        (
            refused(|c| c.classes[1].quantum = Some(Bytes::ZERO)),
            "class 2 has a quantum of zero",
        ),
        (
            refused(|c| c.default = Some(ClassId(8))),
            "class 8, named by a filter, default or queue, is not there",
        ),
        (
            refused(|c| c.filters[0].1 = ROOT),
            "class 1 is to hold packets, but has children",
        ),
    ] {
        assert_eq!(found, expected);
    }
    let queue: Box<dyn Queue<TestPacket>> = Box::new(DropTail::new(Limit::Unlimited));
    let error = Htb::new(&good(), Queues::from([(ROOT, queue)])).err();
    assert_eq!(error, Some(HtbError::LeafWithChildren(ROOT)));
}

/// The root of the deepest possible tree still lends to the leaf.
#[test]
fn eight_levels_work() {
    let below = |id: u32| class(id, (id > 1).then(|| ClassId(id - 1)), 1, 50);
    let mut classes: Vec<_> = (1..=8).map(below).collect();
    classes[0] = class(1, None, 50, 50);
    let found = rates(&tree(classes), Queues::new(), &[always(8, 60)]);
    assert_rates(&found, &[50.0]);
}

#[test]
fn every_packet_comes_back_once() {
    for seed in 0..30 {
        let mut random = Random::new(seed, "htb");
        // A random number from zero to `n - 1`.
        let mut draw = |n: u64| Bytes::from_f64(random.uniform() * n as f64 - 0.5).get();
        let mut classes = vec![class(1, None, 5 + draw(5), 10)];
        for id in 2..9 {
            // The trees have many shapes, and guarantees that cannot all be kept.
            let parent = ClassId(1 + u32::try_from(draw(u64::from(id) - 1)).unwrap());
            let (rate, more) = (1 + draw(8), draw(8));
            classes.push(ClassConfig {
                priority: u8::try_from(draw(3)).unwrap(),
                burst: Bytes::new(draw(5_000)),
                cburst: Bytes::new(draw(5_000)),
                ..class(id, Some(parent), rate, rate + more)
            });
        }
        let config = tree(classes);
        let mut queues = Queues::new();
        let mut shaped = false;
        let slow = TokenBucketConfig {
            rate: mbps(2),
            burst: Bytes::new(1_400),
            peak: None,
        };
        for (_, leaf) in &config.filters {
            let fifo = DropTail::new(Limit::Packets(10));
            let kind = draw(if seed % 2 == 0 { 2 } else { 3 });
            shaped |= kind == 2;
            let queue: Box<dyn Queue<TestPacket>> = match kind {
                0 => Box::new(Sfq::new(SfqConfig {
                    limit: 10,
                    ..SfqConfig::default()
                })),
                2 => Box::new(TokenBucket::new(slow, Box::new(fifo))),
                _ => Box::new(fifo),
            };
            queues.insert(*leaf, queue);
        }
        let htb = Htb::new(&config, queues).unwrap();
        let mut queue = Watched {
            htb,
            promised: None,
            shaped,
        };
        let (mut back, mut dropped) = (Vec::new(), Vec::new());
        let (mut now, mut offered) = (Time::ZERO, 0);
        for _ in 0..5_000 {
            now += TimeDelta::from_micros(draw(400).cast_signed());
            if draw(10) < 7 {
                let leaf = usize::try_from(draw(config.filters.len() as u64)).unwrap();
                let packet = TestPacket {
                    // Most packets belong to a leaf.
                    flow: if draw(10) == 0 {
                        0
                    } else {
                        config.filters[leaf].1.0
                    },
                    number: offered,
                    ..TestPacket::sized(40 + draw(1_460))
                };
                queue.enqueue(now, packet, &mut dropped);
                offered += 1;
            }
            back.extend(queue.dequeue(now, &mut dropped).map(|next| next.packet));
            let accounted = queue.len() + back.len() + dropped.len();
            assert_eq!(accounted as u64, offered);
            assert_eq!(queue.is_empty(), queue.backlog() == Bytes::ZERO);
        }
        while !queue.is_empty() {
            match queue.dequeue(now, &mut dropped) {
                Some(next) => back.push(next.packet),
                None => now = queue.ready(now),
            }
        }
        let (passed, lost) = (back.len(), dropped.len());
        println!("seed {seed}: {passed} passed, {lost} dropped");
        assert!(passed > 1_000 && lost > 10, "seed {seed}");
        let mut numbers: Vec<_> = back.iter().chain(&dropped).map(|p| p.number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..offered), "seed {seed}");
    }
}
