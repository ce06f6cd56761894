//! Tests of the cell on its own.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use super::*;
use crate::channel::Channel;
use crate::medium::MediumConfig;
use crate::medium::testing::{served, unlimited};
use crate::packet::TestPacket;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

/// A cell in which nothing is left to chance: 10 Mbit/s, 1250 bytes a slot.
fn plain() -> CellConfig {
    let steady = Rates {
        rates: vec![Rate::from_kbps(10_000)],
        hold: MS(10),
    };
    CellConfig {
        failed: 0.0,
        failed_again: 0.0,
        down: steady.clone(),
        up: steady,
        ..CellConfig::lte()
    }
}

fn cell(config: CellConfig, seed: u64) -> Channel<TestPacket> {
    MediumConfig::Cell(config).build(&unlimited(), &unlimited(), seed)
}

#[test]
fn a_packet_waits_for_its_slots_and_is_decoded() {
    let at = Time::from_nanos(2_300_000);
    // With 36 bytes of headers, 2464 bytes are two slots of 1250 bytes.
    let passed = served(
        &mut cell(plain(), 1),
        &[(at, Port::There, 2_464)],
        Time::from_secs(1),
    );
    let [(Port::There, served)] = passed.as_slice() else {
        panic!("{passed:?}");
    };
    assert_eq!(served.started, Time::from_millis(3));
    assert_eq!(served.finished, Time::from_millis(4 + 3));
}

#[test]
fn a_report_is_asked_for_and_granted() {
    let at = Time::from_nanos(2_300_000);
    let passed = served(
        &mut cell(plain(), 1),
        &[(at, Port::Back, 100)],
        Time::from_secs(1),
    );
    let [(Port::Back, served)] = passed.as_slice() else {
        panic!("{passed:?}");
    };
    // An occasion to ask comes each 8 ms; the grant is for the slot at 13 ms.
    assert_eq!(served.started, Time::from_millis(13));
    assert_eq!(served.finished, Time::from_millis(16));
}

#[test]
fn a_lost_block_holds_up_what_is_behind_it() {
    let mut config = plain();
    config.failed = 0.1;
    let packets: Vec<_> = (0..5_000)
        .map(|number| {
            (
                Time::from_millis(2 * number) + MS(1) / 2,
                Port::There,
                1_000,
            )
        })
        .collect();
    let passed = served(&mut cell(config, 1), &packets, Time::from_secs(20));
    assert_eq!(passed.len(), packets.len());
    let numbers: Vec<_> = passed
        .iter()
        .map(|(_, served)| served.packet.number)
        .collect();
    assert!(numbers.is_sorted());
    let took = |served: &Served<TestPacket>| served.finished.since(served.offered);
    // Half a millisecond passes until the slot begins.
    let count = |time| {
        let own = passed.iter();
        own.filter(|(_, served)| took(served) == MS(time) + MS(1) / 2)
            .count()
    };
    // A tenth is sent again 7 ms later; the three packets behind it, 2 ms apart, come with it
    // unless they are lost themselves.
    let late = [10, 8, 6, 4].map(count);
    assert!((450..550).contains(&late[0]), "{late:?}");
    let mut expected = 500.0;
    for held in &late[1..] {
        expected *= 0.9;
        assert!((*held as f64 / expected - 1.0).abs() < 0.15, "{late:?}");
    }
    assert_eq!(count(3), passed.len() - late.iter().sum::<usize>());
}

#[test]
fn directions_have_their_slots() {
    let mut config = plain();
    config.pattern = vec![Slot::Down, Slot::Special, Slot::Up];
    config.request = TimeDelta::ZERO;
    config.grant = TimeDelta::ZERO;
    let mut packets = Vec::new();
    for number in 0..300 {
        packets.push((Time::from_millis(number), Port::There, 1_214));
        packets.push((Time::from_millis(number), Port::Back, 1_214));
    }
    let passed = served(&mut cell(config, 1), &packets, Time::from_millis(300));
    let count = |port| passed.iter().filter(|(own, _)| *own == port).count();
    // 1.6 of three slots there, and one back.
    assert!(
        (155..=160).contains(&count(Port::There)),
        "{}",
        count(Port::There)
    );
    assert!(
        (97..=100).contains(&count(Port::Back)),
        "{}",
        count(Port::Back)
    );
}

#[test]
fn a_saturating_stream_gets_the_capacity_and_shares_it_with_others() {
    let carried = |count, seed| {
        let mut config = CellConfig::lte();
        config.others.count = count;
        let capacity = config.capacity().as_mbps();
        let packets: Vec<_> = (0..60_000_u64)
            .map(|number| (Time::from_nanos(number * 160_000), Port::There, 1_250))
            .collect();
        let passed = served(&mut cell(config, seed), &packets, Time::from_millis(9_600));
        (passed.len() as f64 * 1_250.0 * 8.0 / 9.6e6, capacity)
    };
    for seed in 1..=3 {
        let (alone, capacity) = carried(0, seed);
        let share = alone / capacity;
        assert!((0.88..1.02).contains(&share), "{alone} of {capacity}");
        // Three others want as much; fairness lets each have its good slots.
        let (beside, _) = carried(3, seed);
        let share = beside / alone;
        assert!((0.2..0.5).contains(&share), "{beside} of {alone}");
    }
}

#[test]
fn nothing_is_sent_during_a_handover() {
    let mut config = plain();
    config.handovers = Some(Handovers {
        every: TimeDelta::from_millis(2_000),
        length: MS(60),
    });
    let packets: Vec<_> = (0..10_000)
        .map(|number| (Time::from_millis(2 * number), Port::There, 500))
        .collect();
    let passed = served(&mut cell(config, 2), &packets, Time::from_secs(30));
    assert_eq!(passed.len(), packets.len());
    let begins: Vec<_> = passed.iter().map(|(_, served)| served.started).collect();
    let gaps = begins.windows(2).map(|two| two[1].since(two[0]));
    let breaks = gaps.filter(|gap| *gap >= MS(58)).count();
    assert!((5..=16).contains(&breaks), "{breaks}");
}

#[test]
fn every_packet_is_counted_inside_until_it_has_passed() {
    let mut cell = cell(CellConfig::nr(), 1);
    let mut dropped = Vec::new();
    for _ in 0..50 {
        cell.offer(
            Time::ZERO,
            Port::There,
            TestPacket::sized(1_200),
            &mut dropped,
        );
    }
    let mut passed = 0;
    while cell.deadline() < Time::MAX {
        let now = cell.deadline();
        while cell.poll(now, &mut dropped).is_some() {
            passed += 1;
        }
        assert_eq!(cell.packets_of(Port::There) + passed, 50);
    }
    assert_eq!((passed, dropped.len()), (50, 0));
    assert_eq!(cell.backlog(Port::There), Bytes::ZERO);
}
