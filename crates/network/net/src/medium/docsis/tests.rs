//! Tests of the cable on its own.

use mimosa_units::{Rate, Time, TimeDelta};

use super::*;
use crate::channel::Channel;
use crate::medium::MediumConfig;
use crate::medium::testing::{served, served_and_dropped, unlimited};
use crate::packet::TestPacket;
use crate::queue::{DropTailConfig, Limit};

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

fn cable(config: DocsisConfig, seed: u64) -> Channel<TestPacket> {
    MediumConfig::Docsis(config).build(&unlimited(), &unlimited(), seed)
}

/// A cable whose grants are 6250 bytes in each interval of 2 ms.
fn plain() -> DocsisConfig {
    DocsisConfig::default()
}

/// Reports of 100 bytes, so far apart that the modem is idle when one comes.
fn reports(count: u64) -> Vec<(Time, Port, u64)> {
    // 101.37 ms, so that they come at all places of an interval.
    (0..count)
        .map(|number| (Time::from_nanos(number * 101_370_000), Port::Back, 100))
        .collect()
}

/// What reports on an idle link back take, in milliseconds, shortest first.
fn report_times(config: DocsisConfig, seed: u64) -> Vec<f64> {
    let packets = reports(2_000);
    let passed = served(&mut cable(config, seed), &packets, Time::from_secs(300));
    assert_eq!(passed.len(), packets.len());
    let took = |(_, served): &(Port, Served<TestPacket>)| served.finished.since(served.offered);
    let mut times: Vec<_> = passed.iter().map(|one| took(one).as_millis()).collect();
    times.sort_by(f64::total_cmp);
    times
}

fn mean(times: &[f64]) -> f64 {
    times.iter().sum::<f64>() / times.len() as f64
}

/// Full packets that come back at this rate for five seconds.
fn stream(rate: Rate) -> Vec<(Time, Port, u64)> {
    let each = rate
        .transmit_time(Bytes::new(1_250))
        .as_nanos()
        .unsigned_abs();
    (0..5_000_000_000 / each)
        .map(|number| (Time::from_nanos(number * each), Port::Back, 1_250))
        .collect()
}

/// Mbit/s of full packets that pass in five seconds.
fn carried(config: &DocsisConfig, seed: u64) -> f64 {
    let packets = stream(config.rate_back.scale(1.2));
    let mut cable = cable(config.clone(), seed);
    let passed = served(&mut cable, &packets, Time::from_secs(5));
    passed.len() as f64 * 1_250.0 * 8.0 / 5e6
}

#[test]
fn the_link_there_is_a_serialiser_with_a_latency() {
    let at = Time::from_millis(3);
    let packets = [(at, Port::There, 6_250), (at, Port::There, 6_250)];
    let passed = served(&mut cable(plain(), 1), &packets, Time::from_secs(1));
    let [(Port::There, one), (Port::There, other)] = passed.as_slice() else {
        panic!("{passed:?}");
    };
    // 6250 bytes take 0.2 ms at 250 Mbit/s.
    assert_eq!(one.started, at);
    assert_eq!(one.finished, Time::from_nanos(3_700_000));
    assert_eq!(other.finished, Time::from_nanos(3_900_000));
}

#[test]
fn an_idle_modem_asks_in_the_next_interval_and_is_granted_two_later() {
    let at = Time::from_nanos(10_300_000);
    for seed in 1..=20 {
        let mut cable = cable(plain(), seed);
        let passed = served(&mut cable, &[(at, Port::Back, 1_250)], Time::from_secs(1));
        let [(Port::Back, one)] = passed.as_slice() else {
            panic!("{passed:?}");
        };
        // The modem asks between 12 and 14 ms; the interval at 16 ms has the grant.
        assert_eq!(one.started, Time::from_millis(16), "seed {seed}");
        // 1250 bytes take 0.4 ms at 25 Mbit/s.
        assert_eq!(one.finished, Time::from_nanos(16_900_000), "seed {seed}");
        assert_eq!(cable.deadline(), Time::MAX);
    }
}

#[test]
fn reports_on_an_idle_link_take_two_to_three_intervals() {
    let times = report_times(plain(), 1);
    // The rest of an interval, two intervals, 32 us of the grant and 0.5 ms of latency.
    let (least, most) = (times[0], times[times.len() - 1]);
    assert!((4.53..4.56).contains(&least), "{least}");
    assert!((6.51..6.54).contains(&most), "{most}");
    let mean = mean(&times);
    assert!((5.48..5.58).contains(&mean), "{mean}");
}

#[test]
fn unasked_grants_leave_only_the_wait_for_the_next_interval() {
    let config = DocsisConfig {
        proactive: Some(Rate::from_kbps(2_000)),
        ..plain()
    };
    let times = report_times(config, 1);
    let (least, most) = (times[0], times[times.len() - 1]);
    assert!((0.53..0.56).contains(&least), "{least}");
    assert!((2.51..2.54).contains(&most), "{most}");
    let mean = mean(&times);
    assert!((1.48..1.58).contains(&mean), "{mean}");
}

#[test]
fn collisions_delay_an_idle_modem_by_back_offs() {
    for seed in 1..=3 {
        let config = DocsisConfig {
            collisions: 0.3,
            ..plain()
        };
        let times = report_times(config, seed);
        let plain = report_times(plain(), seed);
        let late = times.iter().filter(|time| **time > 6.6).count();
        let share = late as f64 / times.len() as f64;
        assert!((0.27..0.33).contains(&share), "seed {seed}: {share}");
        // A collision costs two intervals, and half an interval and more of back-off: 5 ms at
        // first, 7 ms then, 11 ms, and 19 ms, of which the last repeat.
        let added = mean(&times) - mean(&plain);
        assert!((2.1..3.3).contains(&added), "seed {seed}: {added} ms");
    }
}

#[test]
fn a_saturated_link_back_carries_its_rate_whatever_collides() {
    for seed in 1..=3 {
        for collisions in [0.0, 0.9] {
            let config = DocsisConfig {
                collisions,
                ..plain()
            };
            let carried = carried(&config, seed);
            // A modem with a backlog asks with its data, and does not contend.
            assert!(
                (24.0..=25.0).contains(&carried),
                "seed {seed}, {collisions}: {carried}"
            );
        }
    }
}

#[test]
fn a_backlog_waits_for_requests_on_data_and_not_for_contention() {
    // A packet each 1.5 ms, so that one waits with each grant.
    let packets: Vec<_> = (0..2_000)
        .map(|number| (Time::from_nanos(number * 1_500_000), Port::Back, 1_250))
        .collect();
    let mean_of = |collisions| {
        let config = DocsisConfig {
            collisions,
            ..plain()
        };
        let passed = served(&mut cable(config, 1), &packets, Time::from_secs(4));
        assert_eq!(passed.len(), packets.len());
        // The first request contends, and collides nine times in ten.
        let took = passed.iter().skip(1_000);
        let took = took.map(|(_, served)| served.finished.since(served.offered).as_millis());
        took.sum::<f64>() / 1_000.0
    };
    let (quiet, busy) = (mean_of(0.0), mean_of(0.9));
    assert!((5.0..7.0).contains(&quiet), "{quiet}");
    // Requests ride on data from the first grant on, so that collisions hardly change anything.
    assert!((quiet - busy).abs() < 1.0, "{quiet}, {busy}");
}

#[test]
fn others_take_their_share_of_the_intervals() {
    for seed in 1..=3 {
        let with = |periods| {
            let mut config = plain();
            config.others = OtherModems {
                share: 0.6,
                periods,
            };
            carried(&config, seed)
        };
        let always = with(None);
        assert!((9.6..=10.0).contains(&always), "seed {seed}: {always}");
        // For two fifths of the time.
        let sometimes = with(Some((MS(20), MS(30))));
        assert!(
            (17.0..20.5).contains(&sometimes),
            "seed {seed}: {sometimes}"
        );
    }
}

#[test]
fn packets_keep_their_order_and_none_is_lost() {
    let mut config = plain();
    config.collisions = 0.2;
    config.others.share = 0.3;
    config.proactive = Some(Rate::from_kbps(3_000));
    let small = QueueConfig::DropTail(DropTailConfig {
        limit: Limit::Packets(20),
    });
    let mut packets = Vec::new();
    for number in 0..4_000 {
        let at = Time::from_nanos(number * 400_000 + number * number % 7_919);
        packets.push((at, Port::There, 40 + number % 1_461));
        packets.push((at, Port::Back, 40 + number * 7 % 1_461));
    }
    let course = |seed| {
        let mut cable = MediumConfig::Docsis(config.clone()).build(&unlimited(), &small, seed);
        let (passed, dropped) = served_and_dropped(&mut cable, &packets, Time::from_secs(3));
        assert_eq!(cable.packets(), 0);
        assert_eq!(cable.backlog(Port::Back), Bytes::ZERO);
        for port in [Port::There, Port::Back] {
            let own = passed.iter().filter(|(own, _)| *own == port);
            let numbers: Vec<_> = own.map(|(_, served)| served.packet.number).collect();
            assert!(numbers.is_sorted(), "{port:?}");
        }
        for (_, served) in &passed {
            assert!(served.offered <= served.started && served.started < served.finished);
        }
        (passed, dropped.len())
    };
    for seed in 1..=3 {
        let (passed, dropped) = course(seed);
        // 15 Mbit/s come, and 17.5 Mbit/s pass; bursts of them meet the queue's limit.
        assert!(dropped < 400, "seed {seed}: {dropped}");
        assert_eq!(course(seed), (passed, dropped), "seed {seed}");
    }
    assert_ne!(course(1), course(2));
}
