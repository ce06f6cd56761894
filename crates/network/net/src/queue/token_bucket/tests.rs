//! Tests of the token bucket with loads for which the result is known.

use super::*;
use crate::Random;
use crate::link::Link;
use crate::packet::TestPacket;
use crate::queue::{DropTail, Limit};
use crate::schedule::Schedule;

fn shaper(config: TokenBucketConfig, limit: Limit) -> TokenBucket<TestPacket> {
    TokenBucket::new(config, Box::new(DropTail::new(limit)))
}

/// Takes the next packet at the first time at which it may leave, to which
/// `now` is moved; `None` when nothing waits.
fn next(queue: &mut TokenBucket<TestPacket>, now: &mut Time) -> Option<TestPacket> {
    let mut dropped = Vec::new();
    loop {
        if let Some(waiting) = queue.dequeue(*now, &mut dropped) {
            return Some(waiting.packet);
        }
        let ready = queue.ready(*now);
        assert!(ready > *now, "nothing came, so it is later");
        if ready == Time::MAX {
            return None;
        }
        *now = ready;
    }
}

/// At 7 Mbit/s no packet of 1250 bytes takes a whole number of nanoseconds.
#[test]
fn a_million_packets_do_not_drift() {
    let config = TokenBucketConfig {
        rate: Rate::from_kbps(7_000),
        burst: Bytes::new(1_250),
        peak: None,
    };
    let mut queue = shaper(config, Limit::Unlimited);
    let (mut now, mut dropped) = (Time::ZERO, Vec::new());
    queue.enqueue(now, TestPacket::sized(1_250), &mut dropped);
    for number in 0..1_000_000_u64 {
        queue.enqueue(now, TestPacket::sized(1_250), &mut dropped);
        next(&mut queue, &mut now).expect("one waits");
        let due = (number * 10_000 * 1_000).div_ceil(7);
        assert_eq!(now.as_nanos(), due, "packet {number}");
    }
    assert!(dropped.is_empty());
}

#[test]
fn a_burst_passes_after_idling_and_no_more() {
    let config = TokenBucketConfig {
        rate: Rate::from_kbps(8_000), // 1000 bytes a millisecond
        burst: Bytes::new(5_000),
        peak: None,
    };
    let mut queue = shaper(config, Limit::Unlimited);
    let mut dropped = Vec::new();
    for begin in [0, 3, 1_000] {
        let mut now = Time::from_millis(begin);
        for _ in 0..8 {
            queue.enqueue(now, TestPacket::sized(1_000), &mut dropped);
        }
        let mut times = Vec::new();
        while next(&mut queue, &mut now).is_some() {
            // Times are rounded to a microsecond, because of the nanosecond's
            // tokens beyond the burst.
            let after = now - Time::from_millis(begin);
            times.push((after.as_nanos() + 1) / 1_000);
        }
        let expected = match begin {
            // The packets from 0 ms have taken all tokens up to 3 ms.
            3 => [1_000, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000],
            _ => [0, 0, 0, 0, 0, 1_000, 2_000, 3_000],
        };
        assert_eq!(times, expected, "from {begin} ms on");
    }
}

#[test]
fn a_peak_paces_the_burst() {
    let config = TokenBucketConfig {
        rate: Rate::from_kbps(8_000),
        burst: Bytes::new(4_000),
        peak: Some(Peak {
            rate: Rate::from_kbps(16_000),
            mtu: Bytes::new(1_000),
        }),
    };
    let mut queue = shaper(config, Limit::Unlimited);
    let (mut now, mut dropped) = (Time::ZERO, Vec::new());
    for _ in 0..10 {
        queue.enqueue(now, TestPacket::sized(1_000), &mut dropped);
    }
    queue.enqueue(now, TestPacket::sized(1_001), &mut dropped);
    assert_eq!(dropped, [TestPacket::sized(1_001)], "it could never pass");
    let mut times = Vec::new();
    while next(&mut queue, &mut now).is_some() {
        times.push(now.as_secs() * 1e3);
    }
    // Packets are half a millisecond apart until the burst, and the tokens that came in, are spent.
    assert_eq!(times, [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0]);
}

/// A limit of ten milliseconds is ten packets at the shaper's rate.
#[test]
fn a_limit_in_time_is_at_the_shapers_rate() {
    let config = TokenBucketConfig {
        rate: Rate::from_kbps(8_000),
        burst: Bytes::new(1_000),
        peak: None,
    };
    let mut queue = shaper(config, Limit::Time(TimeDelta::from_millis(10)));
    queue.rate_changed(Rate::from_kbps(100_000));
    let mut dropped = Vec::new();
    for _ in 0..20 {
        queue.enqueue(Time::ZERO, TestPacket::sized(1_000), &mut dropped);
    }
    assert_eq!(queue.len(), 10);
}

#[test]
fn a_link_behind_it_serves_at_its_rate() {
    let config = TokenBucketConfig {
        rate: Rate::from_kbps(3_000),
        burst: Bytes::new(3_000),
        peak: None,
    };
    let mut link = Link::new(
        Box::new(shaper(config, Limit::Packets(10))),
        Schedule::constant(Rate::from_kbps(100_000)),
    );
    let (mut dropped, mut bytes) = (Vec::new(), 0);
    for tenths in 0..100_000_u64 {
        let now = Time::from_nanos(tenths * 100_000);
        while let Some(served) = link.poll(now, &mut dropped) {
            bytes += served.packet.size;
        }
        link.offer(now, TestPacket::sized(1_000), &mut dropped);
    }
    // The bytes are those of ten seconds at the rate and the burst, within a packet.
    assert!((3_751_000..3_753_001).contains(&bytes), "{bytes}");
}

#[test]
fn every_packet_comes_back_once() {
    for seed in 0..20 {
        let mut random = Random::new(seed, "token bucket");
        let config = TokenBucketConfig {
            rate: Rate::from_kbps(5_000),
            burst: Bytes::new(1_400),
            peak: (seed % 2 == 0).then_some(Peak {
                rate: Rate::from_kbps(9_000),
                mtu: Bytes::new(1_300),
            }),
        };
        let mut queue = shaper(config, Limit::Packets(20));
        let (mut back, mut dropped) = (Vec::new(), Vec::new());
        let (mut offered, mut waiting) = (0, 0);
        for millis in 0..2_000 {
            let now = Time::from_millis(millis);
            if random.chance(0.9) {
                let size = Bytes::from_f64(40.0 + random.uniform() * 1_460.0).get();
                let packet = TestPacket {
                    number: offered,
                    ..TestPacket::sized(size)
                };
                let before = dropped.len();
                queue.enqueue(now, packet, &mut dropped);
                offered += 1;
                if dropped.len() == before {
                    waiting += packet.size;
                }
            }
            if let Some(next) = queue.dequeue(now, &mut dropped) {
                waiting -= next.packet.size;
                back.push(next.packet);
            }
            assert_eq!(queue.backlog(), Bytes::new(waiting), "with the held one");
            let accounted = queue.len() + back.len() + dropped.len();
            assert_eq!(accounted as u64, offered);
        }
        let mut now = Time::from_secs(2);
        while let Some(packet) = next(&mut queue, &mut now) {
            back.push(packet);
        }
        assert!(!dropped.is_empty() && back.len() > 300, "seed {seed}");
        let mut numbers: Vec<_> = back.iter().chain(&dropped).map(|p| p.number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..offered), "seed {seed}");
    }
}
