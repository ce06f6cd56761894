//! A link that falls from 20 to 5 Mbit/s, and an application that obeys late, or not well.

use mimosa_units::{Bytes, Rate, Time, TimeDelta};

use crate::application::Habits;
use crate::run::{World, config, droptail, mbps};

/// Ten seconds at 20 Mbit/s and ten at 5.
fn falling(habits: Habits, controller: Option<&'static str>) -> World {
    let proxy = controller.map(|name| (config(), name));
    let mut world = World::new(habits, proxy, droptail());
    world.run_to(Time::from_secs(10));
    world.there.set_rate(world.now, mbps(5));
    world.run_to(Time::from_secs(20));
    world
}

fn ms(millis: i64) -> TimeDelta {
    TimeDelta::from_millis(millis)
}

#[test]
fn the_queue_falls_and_use_stays() {
    let alone = falling(Habits::default(), None);
    let fallen = (Time::from_secs(10), Time::from_secs(20));
    let (wait, _) = alone.between(fallen.0, fallen.1);
    assert!(wait > ms(900), "without the proxy: {wait}");
    for name in ["mimosa", "pudica", "scream"] {
        let world = falling(Habits::default(), Some(name));
        let (early, rate) = world.between(Time::from_secs(4), Time::from_secs(10));
        // Of 20 Mbit/s, the application can take 18.
        assert!((12.0..19.0).contains(&rate.as_mbps()), "{name}: {rate:?}");
        let (late, rate) = world.between(Time::from_secs(12), Time::from_secs(20));
        assert!((3.2..5.0).contains(&rate.as_mbps()), "{name}: {rate:?}");
        let (whole, _) = world.between(fallen.0, fallen.1);
        println!("{name}: {early} at 20 Mbit/s, {late} at 5, {whole} with the fall; {rate}");
        let delays = [(4, 10), (12, 20)]
            .map(|(from, to)| world.delays(Time::from_secs(from), Time::from_secs(to)));
        println!("{name}: from application to application {delays:?}");
        let (most, share) = if name == "mimosa" { (20, 8) } else { (150, 3) };
        assert!(late < ms(most), "{name}: {late}");
        assert!(whole < wait / share, "{name}: {whole}, without {wait}");
        let statistics = world.near().statistics();
        assert_eq!(statistics.copies + statistics.refused, 0, "{name}");
        assert!(statistics.bitrates < 100, "{name}: {statistics:?}");
    }
}

/// An application that sends half as much again as it is told.
#[test]
fn a_surplus_makes_no_standing_queue() {
    let habits = Habits {
        surplus: 1.5,
        ..Habits::default()
    };
    let mut world = falling(habits, Some("mimosa"));
    let mut waits = Vec::new();
    for millis in (0..8_000).step_by(20) {
        world.run_to(Time::from_millis(20_000 + millis));
        waits.push(world.near().statistics().waiting);
    }
    let all = waits.iter().copied().sum::<Bytes>();
    let mean = mbps(5).transmit_time(all) / u32::try_from(waits.len()).unwrap_or(1);
    let (wait, rate) = world.between(Time::from_secs(20), Time::from_secs(28));
    println!("{mean} wait on the mean, {wait} in the network, {rate}");
    assert!((3.8..5.0).contains(&rate.as_mbps()), "{rate:?}");
    assert!(wait < ms(60), "{wait}");
    assert!(mean < ms(10), "{mean}");
}

/// An application that obeys nothing: frames are dropped in the proxy's queue, and the network's
/// stays short.
#[test]
fn whole_frames_are_dropped_where_nothing_is_obeyed() {
    let habits = Habits {
        obeys_within: None,
        ..Habits::default()
    };
    let world = falling(habits, Some("mimosa"));
    let statistics = world.near().statistics();
    assert!(statistics.overflows > 0 && statistics.dropped.packets > 1_000);
    assert!(statistics.keyframes >= 4, "{statistics:?}");
    let (wait, _) = world.between(Time::from_secs(12), Time::from_secs(20));
    assert!(wait < ms(100), "{wait}");
}

/// Without markers, frames are told apart by their timestamps.
#[test]
fn an_application_without_markers_is_paced_as_well() {
    let habits = Habits {
        sets_markers: false,
        ..Habits::default()
    };
    let world = falling(habits, Some("mimosa"));
    let (wait, rate) = world.between(Time::from_secs(12), Time::from_secs(20));
    assert!((3.2..5.0).contains(&rate.as_mbps()), "{rate:?}");
    assert!(wait < ms(60), "{wait}");
}

/// Every controller keeps the application within what the link takes.
#[test]
fn any_controller_will_do() {
    for &name in mimosa_cc::NAMES {
        // They know the link, or nothing of it.
        if matches!(name, "oracle" | "fixed") {
            continue;
        }
        let mut world = World::new(Habits::default(), Some((config(), name)), droptail());
        world.run_to(Time::from_secs(8));
        let (wait, rate) = world.between(Time::from_secs(4), Time::from_secs(8));
        println!("{name}: {wait}, {} Mbit/s", rate.as_mbps());
        assert!(rate > Rate::from_kbps(2_000), "{name}: {rate:?}");
        assert!(wait < ms(300), "{name}: {wait}");
    }
}
