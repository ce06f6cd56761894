//! Media beside what others have published of them.

use std::fmt::Write;

use mimosa_net::Served;
use mimosa_net::medium::{DocsisConfig, MediumConfig, Port};
use mimosa_net::queue::{DropTailConfig, Limit, QueueConfig};
use mimosa_units::{Rate, Time, TimeDelta};

use super::{NEAR, SEEDS, Sent, on_the_page};

/// A figure here, and the published one.
struct Row {
    name: &'static str,
    here: f64,
    published: f64,
    /// Whether the page says why they differ by more than [`NEAR`].
    differs: bool,
}

/// Prints the rows' table, and fails when the page has another, or when a figure differs or is near
/// against what the page says.
fn compare(head: &str, rows: &[Row]) {
    let mut table = format!("| {head} | here | published |\n|---|--:|--:|");
    let mut wrong = Vec::new();
    for row in rows {
        let mark = if row.differs { "*" } else { "" };
        write!(
            table,
            "\n| {} | {mark}{}{mark} | {mark}{}{mark} |",
            row.name,
            super::cell(row.here),
            super::cell(row.published)
        )
        .unwrap();
        if ((row.here / row.published - 1.0).abs() <= NEAR) == row.differs {
            wrong.push(format!("{}: {} for {}", row.name, row.here, row.published));
        }
    }
    println!("{table}");
    assert!(wrong.is_empty(), "{wrong:#?}");
    on_the_page(&table);
}

/// What passes a medium that gets these packets, each of this many bytes.
fn passed(
    medium: &MediumConfig,
    packets: &[(Time, Port, u64)],
    seed: u64,
) -> Vec<(Port, Served<Sent>)> {
    let unlimited = QueueConfig::DropTail(DropTailConfig {
        limit: Limit::Unlimited,
    });
    let mut channel = medium.build(&unlimited, &unlimited, seed);
    let (mut dropped, mut passed) = (Vec::new(), Vec::new());
    let mut packets = packets.iter().peekable();
    loop {
        let due = channel.deadline();
        if let Some((at, port, size)) = packets.next_if(|(at, ..)| *at < due) {
            let packet = Sent {
                frame: 0,
                index: 0,
                of: u64::from(*port == Port::There),
                size: *size,
                at: *at,
            };
            channel.offer(*at, *port, packet, &mut dropped);
            continue;
        }
        if due == Time::MAX {
            return passed;
        }
        passed.extend(std::iter::from_fn(|| channel.poll(due, &mut dropped)));
    }
}

/// Mean over all seeds of what `figure` has for each packet, in milliseconds.
fn mean(
    medium: &MediumConfig,
    packets: &[(Time, Port, u64)],
    figure: impl Fn(&Served<Sent>) -> TimeDelta,
) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for seed in SEEDS {
        let passed = passed(medium, packets, seed);
        assert_eq!(passed.len(), packets.len());
        sum += passed
            .iter()
            .map(|(_, served)| figure(served).as_millis())
            .sum::<f64>();
        count += passed.len();
    }
    sum / f64::from(u32::try_from(count).unwrap())
}

/// Packets of `size` at `port`, one each `every`, in twenty seconds.
fn each(every: TimeDelta, port: Port, size: u64) -> Vec<(Time, Port, u64)> {
    let mut packets = Vec::new();
    let mut at = Time::ZERO;
    while at < Time::from_secs(20) {
        packets.push((at, port, size));
        at += every;
    }
    packets
}

#[test]
fn a_cable_is_as_published() {
    let cable = |change: &dyn Fn(&mut DocsisConfig)| {
        let mut config = DocsisConfig::default();
        change(&mut config);
        MediumConfig::Docsis(config)
    };
    let plain = cable(&|_| ());
    // So far apart that each comes to an idle modem, at all places of an interval.
    let reports = each(TimeDelta::from_micros(33_370), Port::Back, 100);
    // A modem that always has a backlog: 10 Mbit/s of 25.
    let busy = each(TimeDelta::from_micros(1_037), Port::Back, 1_250);
    let frames = each(TimeDelta::from_micros(33_370), Port::There, 1_250);
    let waits = |served: &Served<Sent>| served.started.since(served.offered);
    let takes = |served: &Served<Sent>| served.finished.since(served.offered);
    // What docsis-ns3 has follows from its rules and defaults: a request is sent at a random place
    // of an interval of 2 ms, is answered by the next one where 1.6 ms are left, which a fifth of
    // the places have, and else by the second, and the grant lies at a random place: 3.6 ms from
    // a request to its grant, in the mean. Before it, an idle modem waits for 1 ms until the next
    // interval, and 1 ms until its place; a modem with grants in every interval waits for 1.2 ms
    // until the next. With intervals of 1 ms, a grant is in the second or the third, 2.6 ms later.
    let rows = [
        Row {
            name: "a report waits for its grant, idle",
            here: mean(&plain, &reports, waits),
            published: 1.0 + 3.6 + 1.0,
            differs: false,
        },
        Row {
            name: "the same with a backlog of 10 Mbit/s",
            here: mean(&plain, &busy, waits),
            published: 1.2 + 3.6,
            differs: false,
        },
        Row {
            name: "idle, `interval = \"1ms\"`, `answer = 3`",
            here: mean(
                &cable(&|config| {
                    config.interval = TimeDelta::from_millis(1);
                    config.answer = 3;
                }),
                &reports,
                waits,
            ),
            published: 0.5 + 2.6 + 0.5,
            differs: false,
        },
        Row {
            name: "idle, `proactive = \"1Mbit/s\"`",
            here: mean(
                &cable(&|config| config.proactive = Some(Rate::from_kbps(1_000))),
                &reports,
                waits,
            ),
            published: 1.0,
            differs: false,
        },
        Row {
            name: "there and back, idle",
            here: mean(&plain, &frames, takes) + mean(&plain, &reports, takes),
            published: 10.0,
            differs: true,
        },
    ];
    compare("`docsis`, ms", &rows);
}
