//! Media beside what others have published of them.

use std::fmt::Write;

use mimosa_net::Served;
use mimosa_net::medium::{DocsisConfig, MediumConfig, Port, SatelliteConfig};
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

/// What passes a medium that gets these packets, each of this many bytes, and what it drops.
fn passed(
    medium: &MediumConfig,
    packets: &[(Time, Port, u64)],
    seed: u64,
) -> (Vec<(Port, Served<Sent>)>, Vec<Sent>) {
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
            return (passed, dropped);
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
        let (passed, _) = passed(medium, packets, seed);
        assert_eq!(passed.len(), packets.len());
        sum += passed
            .iter()
            .map(|(_, served)| figure(served).as_millis())
            .sum::<f64>();
        count += passed.len();
    }
    sum / f64::from(u32::try_from(count).unwrap())
}

/// Packets of `size` at `port`, one each `every`, in this many seconds.
fn each(every: TimeDelta, port: Port, size: u64, seconds: u64) -> Vec<(Time, Port, u64)> {
    let mut packets = Vec::new();
    let mut at = Time::ZERO;
    while at < Time::from_secs(seconds) {
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
    let reports = each(TimeDelta::from_micros(33_370), Port::Back, 100, 20);
    // A modem that always has a backlog: 10 Mbit/s of 25.
    let busy = each(TimeDelta::from_micros(1_037), Port::Back, 1_250, 20);
    let frames = each(TimeDelta::from_micros(33_370), Port::There, 1_250, 20);
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

/// A satellite link whose spikes stand out: all satellites have 20 ms.
fn with_gaps(gap: i64) -> SatelliteConfig {
    SatelliteConfig {
        offset: Some(TimeDelta::ZERO),
        latency: [TimeDelta::from_millis(20); 2],
        gap: TimeDelta::from_millis(gap),
        ..SatelliteConfig::default()
    }
}

/// What the changes of a satellite do to packets there.
#[derive(Clone, Copy, Default)]
struct Spikes {
    /// How long packets are late or lost at the end of a period and at its beginning, in
    /// milliseconds; means over all changes.
    end: f64,
    beginning: f64,
    /// The longest delay above the satellite's of a change, in milliseconds; mean over all.
    height: f64,
    /// Percent of the packets of spikes that are lost.
    lost: f64,
}

/// The spikes of 40 changes with each seed, as seen by packets at 500 Hz, as in arXiv 2601.08439.
fn spikes(config: SatelliteConfig) -> Spikes {
    let packets = each(TimeDelta::from_millis(2), Port::There, 100, 607);
    let medium = MediumConfig::Satellite(config);
    let (period, half) = (15_000_000_000, 7_500_000_000);
    // The change to which a packet belongs, and whether it was sent before it.
    let place = |sent: &Sent| {
        let at = sent.at.as_nanos();
        let change = usize::try_from((at + half) / period).unwrap();
        (change, at % period > half)
    };
    let (mut before, mut after, mut lost) = (0, 0, 0);
    let mut heights = 0.0;
    for seed in SEEDS {
        let (passed, dropped) = passed(&medium, &packets, seed);
        let mut highest = [0.0_f64; 41];
        let mut count = |sent: &Sent, above: f64| {
            let (change, is_before) = place(sent);
            highest[change] = highest[change].max(above);
            if is_before {
                before += 1;
            } else {
                after += 1;
            }
        };
        for (_, served) in &passed {
            let above = served.finished.since(served.offered).as_millis() - 20.0;
            if above > 1.0 {
                count(&served.packet, above);
            }
        }
        for sent in &dropped {
            count(sent, 0.0);
        }
        lost += dropped.len();
        heights += highest.iter().sum::<f64>();
    }
    let changes = 40.0 * SEEDS.count() as f64;
    let all = f64::from(before + after);
    Spikes {
        end: f64::from(before) * 2.0 / changes,
        beginning: f64::from(after) * 2.0 / changes,
        height: heights / changes,
        lost: 100.0 * lost as f64 / all,
    }
}

/// Mean time in seconds from one change of the latency to the next, as seen by packets at 500 Hz.
fn seconds_between_changes() -> f64 {
    let config = SatelliteConfig {
        gap: TimeDelta::ZERO,
        latency: [TimeDelta::from_millis(10), TimeDelta::from_micros(11_900)],
        ..SatelliteConfig::default()
    };
    let packets = each(TimeDelta::from_millis(2), Port::There, 100, 607);
    let medium = MediumConfig::Satellite(config);
    let (mut sum, mut count) = (0.0, 0);
    for seed in SEEDS {
        let (passed, _) = passed(&medium, &packets, seed);
        // Rates differ as well, by which 100 bytes take up to 0.016 ms.
        let latency = |served: &Served<Sent>| served.finished.since(served.started).as_millis();
        let steps = passed.windows(2);
        let steps = steps.filter(|two| (latency(&two[0].1) - latency(&two[1].1)).abs() > 1e-9);
        let times: Vec<_> = steps.map(|two| two[1].1.offered.as_secs()).collect();
        sum += times.windows(2).map(|two| two[1] - two[0]).sum::<f64>();
        count += times.len() - 1;
    }
    sum / f64::from(u32::try_from(count).unwrap())
}

#[test]
fn a_satellite_is_as_published() {
    let row = |name, here, published, differs| Row {
        name,
        here,
        published,
        differs,
    };
    let usual = spikes(with_gaps(100));
    let long = spikes(with_gaps(215));
    let rows = [
        row(
            "from one change to the next, s",
            seconds_between_changes(),
            15.0,
            false,
        ),
        row("spike at the end of a period, ms", usual.end, 75.0, true),
        row("spike at the beginning, ms", usual.beginning, 140.0, true),
        row("spike's height, ms", usual.height, 50.0, true),
        row("lost of a spike's packets, %", usual.lost, 50.0, true),
        row(
            "spike at the end, `gap = \"215ms\"`, ms",
            long.end,
            75.0,
            false,
        ),
        row(
            "spike at the beginning, `gap = \"215ms\"`, ms",
            long.beginning,
            140.0,
            false,
        ),
    ];
    compare("`satellite`", &rows);
}
