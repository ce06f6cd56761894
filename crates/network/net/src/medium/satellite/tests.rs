//! Tests of the satellite link on its own.

use mimosa_units::{Rate, Time, TimeDelta};

use super::*;
use crate::channel::Channel;
use crate::medium::MediumConfig;
use crate::medium::testing::{served, served_and_dropped, unlimited};
use crate::packet::TestPacket;
use crate::queue::{DropTailConfig, Limit};

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

fn link(config: SatelliteConfig, seed: u64) -> Channel<TestPacket> {
    MediumConfig::Satellite(config).build(&unlimited(), &unlimited(), seed)
}

/// A link whose satellites differ in nothing: 100 Mbit/s and 10 Mbit/s, 20 ms, without gaps.
fn plain() -> SatelliteConfig {
    SatelliteConfig {
        offset: Some(TimeDelta::ZERO),
        latency: [MS(20), MS(20)],
        rates: vec![Rate::from_kbps(100_000)],
        rates_back: vec![Rate::from_kbps(10_000)],
        gap: TimeDelta::ZERO,
        ..SatelliteConfig::default()
    }
}

/// Packets of 1250 bytes, one each `every`, for this many seconds.
fn each(every: TimeDelta, port: Port, seconds: u64) -> Vec<(Time, Port, u64)> {
    let mut packets = Vec::new();
    let mut at = Time::ZERO;
    while at < Time::from_secs(seconds) {
        packets.push((at, port, 1_250));
        at += every;
    }
    packets
}

fn took(served: &Served<TestPacket>) -> TimeDelta {
    served.finished.since(served.offered)
}

#[test]
fn a_packet_there_is_serialised_and_has_the_latency() {
    let at = Time::from_millis(3);
    let packets = [(at, Port::There, 1_250), (at, Port::There, 1_250)];
    let passed = served(&mut link(plain(), 1), &packets, Time::from_secs(1));
    let times: Vec<_> = passed.iter().map(|(_, served)| took(served)).collect();
    // 1250 bytes take 0.1 ms at 100 Mbit/s.
    let us = TimeDelta::from_micros;
    assert_eq!(times, [us(20_100), us(20_200)]);
}

#[test]
fn packets_back_leave_with_the_next_radio_frame() {
    let packets: Vec<_> = [4_100, 5_000, 7_800, 7_900, 7_950, 8_100]
        .map(|us| (Time::from_nanos(1_000 * us), Port::Back, 1_250))
        .to_vec();
    let passed = served(&mut link(plain(), 1), &packets, Time::from_secs(1));
    let times: Vec<_> = passed
        .iter()
        .map(|(_, served)| served.finished.as_secs() * 1e3)
        .collect();
    // Radio frames begin each 4 ms; one carries 5000 bytes, four packets.
    assert_eq!(times, [28.0, 28.0, 28.0, 28.0, 32.0, 32.0]);
}

#[test]
fn a_saturated_link_carries_its_rates() {
    let mut packets = each(TimeDelta::from_micros(90), Port::There, 5);
    packets.extend(each(TimeDelta::from_micros(900), Port::Back, 5));
    packets.sort_by_key(|(at, ..)| *at);
    let passed = served(&mut link(plain(), 1), &packets, Time::from_secs(5));
    let mbps = |port| {
        let count = passed.iter().filter(|(own, _)| *own == port).count();
        count as f64 * 1_250.0 * 8.0 / 5e6
    };
    let (there, back) = (mbps(Port::There), mbps(Port::Back));
    assert!((99.0..=100.0).contains(&there), "{there}");
    assert!((9.85..=10.0).contains(&back), "{back}");
}

/// The times in milliseconds at which the latency of packets there changes.
fn steps(config: SatelliteConfig, seed: u64) -> Vec<f64> {
    let packets = each(MS(10), Port::There, 80);
    let passed = served(&mut link(config, seed), &packets, Time::from_secs(90));
    assert_eq!(passed.len(), packets.len());
    passed
        .windows(2)
        .filter(|two| took(&two[0].1) != took(&two[1].1))
        .map(|two| two[1].1.offered.as_secs() * 1e3)
        .collect()
}

#[test]
fn satellites_change_at_multiples_of_the_period() {
    // Latencies that differ by less than the time between two packets, so that none is held up.
    let config = |offset| SatelliteConfig {
        offset,
        latency: [MS(10), MS(19)],
        ..plain()
    };
    for seed in 1..=3 {
        let none = Some(TimeDelta::ZERO);
        assert_eq!(
            steps(config(none), seed),
            [15e3, 30e3, 45e3, 60e3, 75e3],
            "seed {seed}"
        );
        assert_eq!(
            steps(config(Some(MS(4_000))), seed),
            [4e3, 19e3, 34e3, 49e3, 64e3, 79e3],
            "seed {seed}"
        );
        // A drawn offset keeps the period; the packets are 10 ms apart.
        let drawn = steps(config(None), seed);
        assert!((5..=6).contains(&drawn.len()), "seed {seed}: {drawn:?}");
        assert!(
            drawn
                .windows(2)
                .all(|two| (two[1] - two[0] - 15e3).abs() < 1e-6),
            "seed {seed}: {drawn:?}"
        );
    }
    assert_ne!(steps(config(None), 1), steps(config(None), 2));
}

#[test]
fn latencies_fill_their_range_and_rates_their_list() {
    let config = SatelliteConfig {
        period: MS(1_000),
        latency: [MS(10), MS(30)],
        rates: vec![Rate::from_kbps(10_000), Rate::from_kbps(20_000)],
        ..plain()
    };
    // Pairs: the first shows the latency and the rate, the second the rate alone.
    let mut packets = Vec::new();
    for number in 0..400 {
        let at = Time::from_millis(500 + 1_000 * number);
        packets.extend([(at, Port::There, 1_250), (at, Port::There, 1_250)]);
    }
    let passed = served(&mut link(config, 1), &packets, Time::from_secs(500));
    let (mut latencies, mut slow) = (Vec::new(), 0);
    for pair in passed.chunks(2) {
        let each = pair[1].1.finished.since(pair[0].1.finished);
        slow += u32::from(each == MS(1));
        assert!(each == MS(1) || each == MS(1) / 2, "{each}");
        latencies.push((took(&pair[0].1) - each).as_millis());
    }
    assert!((160..240).contains(&slow), "{slow}");
    latencies.sort_by(f64::total_cmp);
    let (least, most) = (latencies[0], latencies[399]);
    assert!((10.0..10.5).contains(&least), "{least}");
    assert!((29.5..=30.0).contains(&most), "{most}");
    let mean = latencies.iter().sum::<f64>() / 400.0;
    assert!((19.0..21.0).contains(&mean), "{mean}");
}

#[test]
fn no_packet_overtakes_where_the_latency_falls() {
    let config = SatelliteConfig {
        period: MS(1_000),
        latency: [TimeDelta::ZERO, MS(1_000)],
        ..plain()
    };
    for seed in 1..=3 {
        let mut packets = each(MS(2), Port::There, 20);
        packets.extend(each(MS(3), Port::Back, 20));
        packets.sort_by_key(|(at, ..)| *at);
        let passed = served(
            &mut link(config.clone(), seed),
            &packets,
            Time::from_secs(25),
        );
        assert_eq!(passed.len(), packets.len());
        for port in [Port::There, Port::Back] {
            let own = passed.iter().filter(|(own, _)| *own == port);
            let own: Vec<_> = own.map(|(_, served)| served).collect();
            assert!(own.is_sorted_by_key(|served| served.packet.number));
            assert!(own.is_sorted_by_key(|served| served.finished));
            // Where the latency falls, what was sent later arrives with what was sent before.
            let together = own.windows(2);
            let together = together.filter(|two| two[0].finished == two[1].finished);
            let together = together.count();
            assert!(together > 200, "seed {seed}: {together}");
        }
    }
}

#[test]
fn a_gap_holds_what_comes_and_lies_on_both_sides_of_the_change() {
    let config = SatelliteConfig {
        gap: MS(100),
        lost: 0.0,
        ..plain()
    };
    // Changes after each 15 s: 66 gaps.
    let packets = each(MS(1), Port::There, 1_000);
    let passed = served(&mut link(config, 1), &packets, Time::from_secs(1_010));
    assert_eq!(passed.len(), packets.len());
    let late = |served: &&Served<TestPacket>| took(served) > TimeDelta::from_micros(20_100);
    let (mut before, mut after, mut most) = (0_u32, 0_u32, Vec::new());
    let late: Vec<_> = passed.iter().map(|(_, own)| own).filter(late).collect();
    let period =
        |served: &Served<TestPacket>| (served.offered + MS(7_500)).as_nanos() / 15_000_000_000;
    for gap in late.chunk_by(|one, next| period(one) == period(next)) {
        let phases = gap
            .iter()
            .map(|one| one.offered.as_nanos() % 15_000_000_000);
        for phase in phases {
            if phase > 7_500_000_000 {
                before += 1;
            } else {
                after += 1;
            }
        }
        most.extend(gap.first().map(|one| took(one).as_millis() - 20.0));
    }
    assert!((58..=66).contains(&most.len()), "{}", most.len());
    // The packets are 1 ms apart; a gap's backlog then takes a ninth of its length.
    let length = f64::from(before + after) / 66.0;
    assert!((85.0..140.0).contains(&length), "{length}");
    let share = f64::from(before) / f64::from(before + after);
    assert!((0.28..0.38).contains(&share), "{share}");
    let height = most.iter().sum::<f64>() / 66.0;
    assert!((80.0..125.0).contains(&height), "{height}");
    assert!(most.iter().all(|height| *height < 1_001.0), "{most:?}");
}

#[test]
fn what_is_sent_in_the_first_part_of_a_gap_is_lost_in_one_burst() {
    // What is lost of 40 gaps, one after each 15 s, and how many bursts that is.
    let losses = |lost, port| {
        let config = SatelliteConfig {
            gap: MS(100),
            lost,
            ..plain()
        };
        let packets = each(MS(1), port, 605);
        let (passed, dropped) =
            served_and_dropped(&mut link(config, 3), &packets, Time::from_secs(700));
        assert_eq!(passed.len() + dropped.len(), packets.len());
        let numbers: Vec<_> = dropped.iter().map(|packet| packet.number).collect();
        let bursts = numbers.chunk_by(|one, next| one + 1 == *next).count();
        (numbers.len() as f64, bursts)
    };
    let (whole, bursts) = losses(1.0, Port::There);
    // The same gaps: their lengths follow from the seed.
    assert!((2_800.0..5_600.0).contains(&whole), "{whole}");
    assert!((38..=40).contains(&bursts), "{bursts}");
    assert_eq!(losses(0.0, Port::There), (0.0, 0));
    for lost in [0.25, 0.5] {
        let (count, bursts) = losses(lost, Port::There);
        let share = count / whole;
        assert!((share - lost).abs() < 0.02, "{lost}: {share}");
        assert!((35..=40).contains(&bursts), "{lost}: {bursts}");
        // Back, whole radio frames are lost.
        let (count, bursts) = losses(lost, Port::Back);
        let share = count / whole;
        assert!((share - lost).abs() < 0.1, "{lost}: {share}");
        assert!((30..=40).contains(&bursts), "{lost}: {bursts}");
    }
}

#[test]
fn packets_are_conserved_and_a_seed_gives_one_course() {
    let config = SatelliteConfig {
        period: MS(1_500),
        gap: MS(200),
        frame: MS(7),
        ..SatelliteConfig::default()
    };
    let small = QueueConfig::DropTail(DropTailConfig {
        limit: Limit::Packets(20),
    });
    let mut packets = Vec::new();
    for number in 0..20_000 {
        let at = Time::from_nanos(number * 1_000_000 + number * number % 77_919);
        packets.push((at, Port::There, 40 + number % 1_461));
        packets.push((at, Port::Back, 40 + number * 7 % 1_461));
    }
    let course = |seed| {
        let config = MediumConfig::Satellite(config.clone());
        let mut link = config.build(&small, &small, seed);
        let (passed, dropped) = served_and_dropped(&mut link, &packets, Time::from_secs(30));
        assert_eq!(link.packets(), 0);
        assert_eq!(link.deadline(), Time::MAX);
        for port in [Port::There, Port::Back] {
            assert_eq!(link.backlog(port), Bytes::ZERO);
            let own = passed.iter().filter(|(own, _)| *own == port);
            assert!(own.is_sorted_by_key(|(_, served)| served.packet.number));
        }
        (passed, dropped.len())
    };
    for seed in 1..=3 {
        let (passed, dropped) = course(seed);
        let share = dropped as f64 / packets.len() as f64;
        assert!((0.02..0.25).contains(&share), "seed {seed}: {share}");
        assert_eq!(course(seed), (passed, dropped), "seed {seed}");
    }
    assert_ne!(course(1), course(2));
}
