//! Marks are asked for, reported and answered.

use mimosa_stream::EcnState;
use mimosa_units::{Ecn, Time, TimeDelta};

use crate::application::Habits;
use crate::run::{World, config, dualpi2, mbps};

#[test]
fn marks_are_answered_before_the_queue_grows() {
    for name in ["mimosa", "scream", "prague"] {
        let mut world = World::new(Habits::default(), Some((config(), name)), dualpi2());
        world.run_to(Time::from_secs(3));
        world.there.set_rate(world.now, mbps(8));
        world.run_to(Time::from_secs(12));
        let statistics = world.near().statistics();
        assert_eq!(statistics.ecn, Some(EcnState::Capable), "{name}");
        let seen = world.seen.iter().filter(|one| one.at > Time::from_secs(5));
        let seen: Vec<_> = seen.collect();
        let marked = seen.iter().filter(|one| one.ecn == Ecn::Ce).count();
        let unmarked = seen.iter().filter(|one| one.ecn == Ecn::NotEct).count();
        assert_eq!(unmarked, 0, "{name}");
        let (wait, rate) = world.between(Time::from_secs(5), Time::from_secs(12));
        println!(
            "{name}: {wait}, {} Mbit/s, {marked} of {} marked",
            rate.as_mbps(),
            seen.len()
        );
        assert!(marked > 0 || name == "mimosa", "{name}: none is marked");
        assert!(statistics.marked >= marked as u64 / 2, "{name}");
        assert!((4.5..8.0).contains(&rate.as_mbps()), "{name}: {rate:?}");
        assert!(wait < TimeDelta::from_millis(12), "{name}: {wait}");
        // The queue is full for a moment when the link falls.
        assert!(world.there.lost < 10, "{name}: {}", world.there.lost);
    }
}
