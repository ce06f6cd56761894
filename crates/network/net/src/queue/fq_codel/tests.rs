//! Tests of FQ-CoDel with loads for which the result is known.

use mimosa_units::TimeDelta;

use super::*;
use crate::packet::TestPacket;
use crate::random::Random;

fn packet(flow: u32, size: u64) -> TestPacket {
    TestPacket {
        flow,
        ..TestPacket::sized(size)
    }
}

/// The bytes that each flow gets in `millis` milliseconds at 1500 bytes a
/// millisecond, when every flow has packets waiting all the time. `sizes` are
/// the sizes of their packets.
fn shares(sizes: &[u64], millis: u64) -> Vec<u64> {
    let mut queue = FqCodel::new(FqCodelConfig::default());
    let mut got = vec![0; sizes.len()];
    let mut dropped = Vec::new();
    let mut budget = 0;
    for ms in 0..millis {
        let now = Time::from_millis(ms);
        for (flow, &size) in (0..).zip(sizes) {
            for _ in 0..=1_500 / size {
                queue.enqueue(now, packet(flow, size), &mut dropped);
            }
        }
        budget += 1_500;
        while budget >= 1_500 {
            let next = queue.dequeue(now, &mut dropped).unwrap().packet;
            budget -= next.size;
            got[next.flow as usize] += next.size;
        }
        dropped.clear();
    }
    got
}

#[test]
fn flows_share_bytes_whatever_their_packets_sizes() {
    let got = shares(&[1_500, 300, 1_000], 6_000);
    let mean = got.iter().sum::<u64>() / 3;
    assert!(
        got.iter().all(|bytes| bytes.abs_diff(mean) < mean / 50),
        "{got:?}"
    );
}

#[test]
fn a_sparse_flow_waits_for_nobody() {
    let mut queue = FqCodel::new(FqCodelConfig::default());
    let mut dropped = Vec::new();
    for _ in 0..200 {
        queue.enqueue(Time::ZERO, packet(1, 1_500), &mut dropped);
    }
    let mut waits = Vec::new();
    for ms in 0..150 {
        let now = Time::from_millis(ms);
        if ms % 10 == 0 {
            queue.enqueue(now, packet(2, 200), &mut dropped);
        }
        let next = queue.dequeue(now, &mut dropped).unwrap();
        if next.packet.flow == 2 {
            waits.push(now.since(next.since));
        }
    }
    // At first the other flow is new as well.
    assert_eq!(waits[0], TimeDelta::from_millis(2));
    assert_eq!(waits[1..], [TimeDelta::ZERO; 14]);
}

#[test]
fn a_flow_does_not_stay_new_by_sending_little_at_a_time() {
    let mut queue = FqCodel::new(FqCodelConfig::default());
    let mut dropped = Vec::new();
    let mut got = [0_u32; 2];
    for step in 0..1_000 {
        let now = Time::from_nanos(step * 1_000);
        // One flow keeps a single packet in its queue, the other ten.
        for (flow, keeps) in [(0, 1), (1, 10)] {
            let hash = flow_hash(&packet(flow, 1).header(), 0) % 1_024;
            while queue.flows[usize::try_from(hash).unwrap()].fifo.len() < keeps {
                queue.enqueue(now, packet(flow, 1_514), &mut dropped);
            }
        }
        let next = queue.dequeue(now, &mut dropped).unwrap();
        got[next.packet.flow as usize] += 1;
    }
    assert!(got[0].abs_diff(got[1]) <= 2, "{got:?}");
}

#[test]
fn the_fattest_pays_for_the_limit_from_its_head() {
    let config = FqCodelConfig {
        limit: 100,
        ..FqCodelConfig::default()
    };
    let mut queue = FqCodel::new(config);
    let mut dropped = Vec::new();
    queue.enqueue(Time::ZERO, packet(2, 1_500), &mut dropped);
    for number in 0..100 {
        let packet = TestPacket {
            number,
            ..packet(1, 1_000)
        };
        queue.enqueue(Time::ZERO, packet, &mut dropped);
    }
    assert!(dropped.iter().all(|packet| packet.flow == 1));
    let numbers: Vec<_> = dropped.iter().map(|packet| packet.number).collect();
    assert_eq!(numbers, (0..50).collect::<Vec<_>>());
    assert_eq!(queue.len(), 51);
}

#[test]
fn every_packet_comes_back_once() {
    for seed in 1..=16 {
        let mut random = Random::new(seed, "load");
        let config = FqCodelConfig {
            flows: 8,
            limit: 200,
            memory: Bytes::new(150_000),
            ..FqCodelConfig::default()
        };
        let mut queue = FqCodel::new(config);
        let (mut offered, mut served, mut dropped) = (0, 0, Vec::new());
        for step in 0..20_000_u64 {
            let now = Time::from_nanos(step * 200_000);
            let load = if step % 5_000 < 3_000 { 0.9 } else { 0.2 };
            for _ in 0..2 {
                if random.chance(load) {
                    offered += 1;
                    let flow = if random.chance(0.5) { 0 } else { offered % 13 };
                    let size = 100 + u64::from(offered % 7) * 200;
                    queue.enqueue(now, packet(flow, size), &mut dropped);
                }
            }
            served += u32::from(queue.dequeue(now, &mut dropped).is_some());
            let inside = u32::try_from(queue.len() + dropped.len()).unwrap();
            assert_eq!(offered, served + inside, "seed {seed}, step {step}");
        }
        while queue.dequeue(Time::from_secs(5), &mut dropped).is_some() {}
        assert_eq!((queue.len(), queue.backlog()), (0, Bytes::ZERO));
        assert!(dropped.len() > 1_000);
    }
}
