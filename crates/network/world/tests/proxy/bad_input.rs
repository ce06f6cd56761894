//! Half-open connections, garbage, ends that go and come back, copies, and clocks that jump.

use mimosa_proxy::{Far, FarConfig, Near, Pass, Told};
use mimosa_units::random::SplitMix;
use mimosa_units::{Ecn, Time, TimeDelta};

use crate::application::{Habits, SOUND, rtp};
use crate::run::{World, config, controller, droptail};

fn world() -> World {
    World::new(Habits::default(), Some((config(), "mimosa")), droptail())
}

/// The rate of the video at the far end in the last four seconds.
fn last(world: &World) -> f64 {
    let from = world.now - TimeDelta::from_millis(4_000);
    world.between(from, world.now).1.as_mbps()
}

#[test]
fn another_far_end_takes_over_with_its_own_clock() {
    let mut world = world();
    world.run_to(Time::from_secs(5));
    let before = last(&world);
    let (_, far) = world.ends.as_mut().unwrap();
    *far = Far::new(FarConfig::default(), 99);
    world.run_to(Time::from_secs(10));
    let statistics = world.near().statistics();
    assert_eq!(statistics.far_ends, 2);
    assert!(last(&world) > 0.8 * before, "{} of {before}", last(&world));
    // A late report of the first one changes nothing.
    let (near, _) = world.ends.as_mut().unwrap();
    let late = [
        &[0x80, 204, 0, 2, 0, 0, 0, 88][..],
        b"MIMP",
        &[0x8b, 205, 0, 2, 0, 0, 0, 88, 0, 0, 0, 0],
    ];
    assert_eq!(near.network_brought(world.now, &late.concat()), Pass::Taken);
    assert_eq!(world.near().statistics().far_ends, 2);
}

/// The near end starts again in the middle of the application's stream.
#[test]
fn another_near_end_goes_on() {
    let mut world = world();
    world.run_to(Time::from_secs(5));
    let before = last(&world);
    let (near, _) = world.ends.as_mut().unwrap();
    *near = Near::new(config(), 78, controller("mimosa"));
    world.run_to(Time::from_secs(11));
    let statistics = world.near().statistics();
    assert!(statistics.reports > 500 && statistics.bad_reports == 0);
    assert!(statistics.arrived > 3_000, "{statistics:?}");
    assert!(last(&world) > 0.8 * before, "{} of {before}", last(&world));
    let from = world.now - TimeDelta::from_millis(4_000);
    let (wait, _) = world.between(from, world.now);
    assert!(wait < TimeDelta::from_millis(30), "{wait}");
}

#[test]
fn the_path_is_cut_for_a_minute() {
    let mut world = world();
    world.run_to(Time::from_secs(5));
    let before = last(&world);
    world.is_cut = true;
    world.run_to(Time::from_secs(65));
    world.is_cut = false;
    world.run_to(Time::from_secs(85));
    assert!(last(&world) > 0.7 * before, "{} of {before}", last(&world));
    let statistics = world.near().statistics();
    assert_eq!(statistics.far_ends, 1);
    // The application is not asked for keyframes while nobody is there.
    let asked = |(at, told): &&(Time, Told)| {
        *told == Told::Keyframe && (Time::from_secs(8)..Time::from_secs(64)).contains(at)
    };
    assert_eq!(world.told.iter().filter(asked).count(), 0);
}

/// The application is silent for minutes, and begins anew with other numbers and another SSRC.
#[test]
fn the_application_rests_and_begins_anew() {
    let mut world = world();
    world.run_to(Time::from_secs(5));
    let before = last(&world);
    let resting = std::mem::replace(&mut world.application, {
        let habits = Habits::default();
        crate::application::Application::new(habits, 2)
    });
    drop(resting);
    // Virtual time jumps: nothing is due in between but timers.
    world.now = Time::from_secs(300);
    world.run_to(Time::from_secs(310));
    assert!(last(&world) > 0.7 * before, "{} of {before}", last(&world));
}

#[test]
fn garbage_and_copies_are_counted_and_go_nowhere() {
    let mut world = world();
    world.run_to(Time::from_secs(1));
    let mut random = SplitMix::new(5);
    let now = world.now;
    let (near, far) = world.ends.as_mut().unwrap();
    for _ in 0..2_000 {
        let words: Vec<_> = (0..8).map(|_| random.next_u64()).collect();
        let all: Vec<_> = words.into_iter().flat_map(u64::to_be_bytes).collect();
        let length = usize::from(all[0] % 60);
        let bytes = &all[1..=length];
        let is_rtp = bytes.first().is_some_and(|first| first >> 6 == 2);
        let passes = [
            near.network_brought(now, bytes),
            far.network_brought(now, Ecn::Ce, bytes),
            far.application_sent(bytes),
        ];
        for pass in passes {
            assert!(is_rtp || pass == Pass::Refused, "{bytes:?}");
        }
    }
    assert!(near.statistics().refused > 1_000 && far.statistics().refused > 2_000);
    let sound = rtp(SOUND, 5_000, 1, false, &[1; 80]);
    assert_eq!(near.application_sent(now, &sound), Pass::Rtp);
    assert_eq!(near.application_sent(now, &sound), Pass::Refused);
    assert_eq!(near.statistics().copies, 1);
    // The stream of sound passes on as it is, and counts.
    assert!(near.statistics().ahead.packets >= 50);
    far.reports(now + TimeDelta::from_millis(10));
    world.run_to(Time::from_secs(6));
    assert!(last(&world) > 8.0, "{}", last(&world));
}
