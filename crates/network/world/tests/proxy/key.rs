//! Reports that somebody makes up or records, where the two ends have a key and where they have none.

use mimosa_proxy::{Far, FarConfig, Key, Near, Pass};
use mimosa_units::{Ecn, Rate, Time, TimeDelta};

use crate::application::Habits;
use crate::run::{World, config, controller, droptail, mbps};

fn key() -> Key {
    Key::new("a key that both ends have").unwrap()
}

/// Both ends with a key, on a link of 20 Mbit/s.
fn keyed() -> World {
    let mut world = World::new(Habits::default(), Some((config(), "mimosa")), droptail());
    world.ends = world
        .ends
        .map(|(near, far)| (near.with_key(key(), [1; 16]), far.with_key(key())));
    world
}

/// The rate of the video at the far end in the last four seconds.
fn last(world: &World) -> Rate {
    let from = world.now - TimeDelta::from_millis(4_000);
    world.between(from, world.now).1
}

/// Two reports of the far end, the older one first: the first is kept from the near end.
fn recorded(world: &mut World) -> [Vec<u8>; 2] {
    let mut take = || {
        loop {
            let (_, far) = world.ends.as_mut().unwrap();
            let due = far.deadline();
            if due < Time::MAX
                && let Some(report) = far.reports(due).pop()
            {
                return report;
            }
            world.run_to(world.now + TimeDelta::from_millis(1));
        }
    };
    [take(), take()]
}

#[test]
fn with_a_key_the_link_is_used_as_without() {
    let plain = {
        let mut world = World::new(Habits::default(), Some((config(), "mimosa")), droptail());
        world.run_to(Time::from_secs(10));
        last(&world)
    };
    let mut world = keyed();
    world.run_to(Time::from_secs(10));
    let with = last(&world);
    assert!(
        with.ratio(plain) > 0.98 && with > mbps(12),
        "{with} of {plain}"
    );
    let statistics = world.near().statistics();
    assert!(
        statistics.reports > 500 && statistics.bad_reports == 0,
        "{statistics:?}"
    );
}

#[test]
fn a_report_that_was_made_up_counts_only_where_there_is_no_key() {
    // A far end that somebody else runs, without the key or with another one, reports on a packet of the stream.
    let made_up = |mut far: Far| {
        let packet = crate::application::rtp(crate::application::VIDEO, 7, 1, true, &[0; 900]);
        far.network_brought(Time::from_secs(1), Ecn::Ce, &packet);
        far.reports(Time::from_secs(9))
    };
    let stranger = || Far::new(FarConfig::default(), 66);
    let forged = made_up(stranger());
    assert_eq!(forged.len(), 1);
    assert!(
        made_up(stranger().with_key(key())).is_empty(),
        "nobody has greeted"
    );

    let mut plain = World::new(Habits::default(), Some((config(), "mimosa")), droptail());
    plain.run_to(Time::from_secs(5));
    let (near, _) = plain.ends.as_mut().unwrap();
    assert_eq!(near.network_brought(plain.now, &forged[0]), Pass::Taken);
    assert_eq!(plain.near().statistics().far_ends, 2, "it takes over");

    let mut world = keyed();
    world.run_to(Time::from_secs(5));
    let (near, _) = world.ends.as_mut().unwrap();
    assert_eq!(near.network_brought(world.now, &forged[0]), Pass::Unsigned);
    let another = Key::new("a key that a stranger has").unwrap();
    let mut far = stranger().with_key(another.clone());
    let mut other = Near::new(config(), 78, controller("mimosa")).with_key(another, [1; 16]);
    other.advance(Time::ZERO);
    assert!(far.greeted(&other.poll_departure().unwrap().contents));
    for report in made_up(far) {
        let (near, _) = world.ends.as_mut().unwrap();
        assert_eq!(near.network_brought(world.now, &report), Pass::Unsigned);
    }
    let statistics = world.near().statistics();
    assert_eq!((statistics.far_ends, statistics.bad_reports), (1, 2));
}

#[test]
fn a_recorded_report_counts_neither_twice_nor_for_another_near_end() {
    let mut world = keyed();
    world.run_to(Time::from_secs(5));
    let [older, newer] = recorded(&mut world);
    let (near, _) = world.ends.as_mut().unwrap();
    let now = world.now;
    let count = |near: &Near| near.statistics().reports;
    let before = count(near);
    assert_eq!(near.network_brought(now, &newer), Pass::Taken);
    assert_eq!(count(near), before + 1);
    for again in [&newer, &older] {
        assert_eq!(near.network_brought(now, again), Pass::Taken);
        assert_eq!(count(near), before + 1);
    }
    // The near end starts again, with another nonce.
    *near = Near::new(config(), 79, controller("mimosa")).with_key(key(), [2; 16]);
    assert_eq!(near.network_brought(now, &newer), Pass::Unsigned);
    assert_eq!(count(near), 0);
    world.run_to(now + TimeDelta::from_millis(6_000));
    assert!(last(&world) > mbps(12), "{}", last(&world));
}

#[test]
fn a_recorded_greeting_leads_no_far_end_astray() {
    let greeting = |nonce: u8, times: u32| {
        let near = Near::new(config(), 77, controller("mimosa"));
        let mut near = near.with_key(key(), [nonce; 16]);
        let greetings = (0..times).map(|time| {
            near.advance(Time::from_secs(u64::from(time)));
            near.poll_departure().unwrap().contents
        });
        greetings.collect::<Vec<_>>()
    };
    let (first, second) = (greeting(1, 3), greeting(2, 2));
    let mut far = Far::new(FarConfig::default(), 88).with_key(key());
    assert!(far.greeted(&first[0]) && far.greeted(&first[2]));
    assert!(
        !far.greeted(&first[2]) && !far.greeted(&first[1]),
        "recorded"
    );
    assert!(far.greeted(&second[0]), "the near end has started again");
    assert!(!far.greeted(&first[2]), "of a former near end");
    assert!(far.greeted(&second[1]));
    // Neither an application nor one without the key sees or takes it.
    let mut plain = Far::new(FarConfig::default(), 88);
    assert!(!plain.greeted(&first[0]));
    assert_eq!(
        plain.network_brought(Time::ZERO, Ecn::NotEct, &first[0]),
        Pass::Taken
    );
}
