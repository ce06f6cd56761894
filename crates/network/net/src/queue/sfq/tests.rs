//! Tests of stochastic fairness queueing with loads for which the result is known.

use mimosa_units::Rate;

use super::*;
use crate::Random;
use crate::link::Link;
use crate::packet::TestPacket;
use crate::schedule::Schedule;

fn packet(flow: u32, size: u64, number: u64) -> TestPacket {
    TestPacket {
        flow,
        number,
        ..TestPacket::sized(size)
    }
}

/// The bytes that each flow gets through a link of 10 Mbit/s in ten seconds.
/// `loads` are the size of each flow's packets and the microseconds between two
/// of them.
fn served(loads: &[(u64, u64)]) -> Vec<u64> {
    let mut link = Link::new(
        Box::new(Sfq::<TestPacket>::new(SfqConfig::default())),
        Schedule::constant(Rate::from_kbps(10_000)),
    );
    let mut dropped = Vec::new();
    let mut bytes = vec![0; loads.len()];
    for micros in (0..10_000_000_u64).step_by(250) {
        let now = Time::from_nanos(micros * 1_000);
        while let Some(served) = link.poll(now, &mut dropped) {
            bytes[served.packet.flow as usize] += served.packet.size;
        }
        for (flow, (size, every)) in (0_u32..).zip(loads) {
            if micros % every == 0 {
                link.offer(now, packet(flow, *size, micros), &mut dropped);
            }
        }
    }
    bytes
}

#[test]
fn unequal_loads_get_equal_shares() {
    // Large packets at 40 Mbit/s compete with small ones at 8 Mbit/s.
    let bytes = served(&[(1_250, 250), (500, 500)]);
    let total = bytes[0] + bytes[1];
    assert!((12_400_000..12_500_001).contains(&total), "{total}");
    let share = bytes[0] as f64 / total as f64;
    assert!((0.495..0.505).contains(&share), "{share}");
}

#[test]
fn a_flow_below_its_share_gets_all_it_asks_for() {
    let bytes = served(&[(1_250, 250), (500, 2_000)]);
    // The second flow asks for 2 Mbit/s for ten seconds; its last packets may still wait.
    assert!((2_495_000..2_500_001).contains(&bytes[1]), "{bytes:?}");
    assert!((9_900_000..10_000_001).contains(&bytes[0]), "{bytes:?}");
}

#[test]
fn the_longest_flow_gives_up_its_newest_or_oldest() {
    for (head_drop, victim) in [(false, 9), (true, 0)] {
        let config = SfqConfig {
            limit: 12,
            head_drop,
            ..SfqConfig::default()
        };
        let mut queue = Sfq::new(config);
        let mut dropped = Vec::new();
        for number in 0..10 {
            queue.enqueue(Time::ZERO, packet(1, 100, number), &mut dropped);
        }
        for number in 0..3 {
            queue.enqueue(Time::ZERO, packet(2, 1_500, number), &mut dropped);
        }
        assert_eq!(dropped, [packet(1, 100, victim)], "most packets, not bytes");
        assert_eq!((queue.len(), queue.backlog()), (12, Bytes::new(5_400)));
    }
}

#[test]
fn flows_and_depth_are_limits_too() {
    let config = SfqConfig {
        flows: 2,
        depth: 3,
        ..SfqConfig::default()
    };
    let mut queue = Sfq::new(config);
    let mut dropped = Vec::new();
    for flow in [1, 1, 1, 1, 2, 3] {
        queue.enqueue(Time::ZERO, packet(flow, 100, 0), &mut dropped);
    }
    assert_eq!(dropped, [packet(1, 100, 0), packet(3, 100, 0)]);
    assert_eq!(queue.len(), 4);
}

/// Offers a packet of each of `flows`. Returns the flows of the dropped packets,
/// and those of the served packets in their order.
fn order(limit: usize, flows: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut queue = Sfq::new(SfqConfig {
        limit,
        ..SfqConfig::default()
    });
    let mut dropped = Vec::new();
    for flow in flows {
        queue.enqueue(Time::ZERO, packet(*flow, 1_514, 0), &mut dropped);
    }
    let next = || Some(queue.dequeue(Time::ZERO, &mut Vec::new())?.packet.flow);
    let back = std::iter::from_fn(next).collect();
    (dropped.iter().map(|p| p.flow).collect(), back)
}

#[test]
fn new_flows_wait_for_old_ones() {
    assert_eq!(
        order(9, &[1, 1, 1, 2, 2, 3]),
        (vec![], vec![1, 2, 3, 1, 2, 1])
    );
}

#[test]
fn among_flows_of_a_length_the_last_to_change_gives_up() {
    for (one, other) in [(1, 2), (2, 1)] {
        let (dropped, _) = order(3, &[one, one, other, other]);
        assert_eq!(dropped, [other]);
    }
    // If all flows have one packet, the flow whose turn it is loses its packet.
    for flows in [[1, 2, 3], [3, 2, 1], [2, 3, 1]] {
        assert_eq!(order(2, &flows), (vec![flows[0]], flows[1..].to_vec()));
    }
}

/// Two flows that share a bucket are separated when the hash changes.
#[test]
fn perturbation_parts_flows_that_collide() {
    let config = SfqConfig {
        divisor: 2,
        perturb: Some(TimeDelta::from_millis(10)),
        ..SfqConfig::default()
    };
    let mut queue = Sfq::new(config);
    let mut dropped = Vec::new();
    let mut apart = [false; 2];
    for epoch in 0..32 {
        let now = Time::from_millis(10 * epoch);
        queue.enqueue(now, packet(1, 100, epoch), &mut dropped);
        queue.enqueue(now, packet(2, 100, epoch), &mut dropped);
        apart[usize::from(queue.round.len() == 2)] = true;
    }
    assert_eq!(apart, [true, true]);
    assert_eq!((queue.len(), dropped.len()), (64, 0));
    // The packets of a flow are still in order after all changes of the hash.
    let mut last = [0; 3];
    while let Some(next) = queue.dequeue(Time::from_millis(310), &mut dropped) {
        let flow = next.packet.flow as usize;
        assert!(next.packet.number >= last[flow]);
        assert_eq!(next.since, Time::from_millis(10 * next.packet.number));
        last[flow] = next.packet.number;
    }
}

/// A random number from zero to `most`.
fn draw(random: &mut Random, most: u32) -> u64 {
    Bytes::from_f64(random.uniform() * f64::from(most)).get()
}

#[test]
fn every_packet_comes_back_once() {
    for seed in 0..20 {
        let mut random = Random::new(seed, "sfq");
        let config = SfqConfig {
            limit: 20,
            flows: 5,
            divisor: 16,
            depth: 8,
            quantum: Bytes::new(if seed % 3 == 0 { 0 } else { 300 }),
            perturb: (seed % 2 == 0).then_some(TimeDelta::from_millis(5)),
            seed,
            head_drop: seed % 5 == 0,
        };
        let mut queue = Sfq::new(config);
        let (mut back, mut dropped) = (Vec::new(), Vec::new());
        let mut offered = 0;
        for millis in 0..2_000 {
            let now = Time::from_millis(millis);
            if random.chance(0.6) {
                let flow = u32::try_from(draw(&mut random, 12)).unwrap();
                let size = 40 + draw(&mut random, 1_460);
                queue.enqueue(now, packet(flow, size, offered), &mut dropped);
                offered += 1;
            }
            if random.chance(0.5) {
                back.extend(queue.dequeue(now, &mut dropped).map(|next| next.packet));
            }
            assert_eq!(queue.is_empty(), queue.backlog() == Bytes::ZERO);
            assert!(queue.len() <= 20 && queue.round.len() <= 5);
        }
        while let Some(next) = queue.dequeue(Time::from_secs(3), &mut dropped) {
            back.push(next.packet);
        }
        assert_eq!((queue.len(), queue.backlog()), (0, Bytes::ZERO));
        assert!(!dropped.is_empty() && back.len() > 300, "seed {seed}");
        let mut numbers: Vec<_> = back.iter().chain(&dropped).map(|p| p.number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..offered), "seed {seed}");
    }
}
