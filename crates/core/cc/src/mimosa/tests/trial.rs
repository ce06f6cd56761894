use mimosa_units::{Time, TimeDelta};

use crate::mimosa::Config;
use crate::mimosa::trial::{Choice, Trial};

/// The path without a queue, of a flow whose queue is 20 ms long: 1.5 % of lost packets leave TCP 3 Mbit/s.
const ROUND_TRIP: TimeDelta = TimeDelta::from_millis(20);

/// A competition: which share of packets is lost with one connection and with the most, and for which part of the time the
/// queue is short with one.
struct Others {
    lost: [f64; 2],
    short: f64,
}

/// One connection of CUBIC, several flows of this kind beside it, BBR, `BBRv3` on 100 Mbit/s, and NADA.
const CUBIC: Others = others([0.002, 0.002], 0.6);
const SEVERAL: Others = others([0.019, 0.137], 0.7);
const BBR: Others = others([0.006, 0.016], 0.17);
const BBR3: Others = others([0.002, 0.01], 0.7);
const NADA: Others = others([0.087, 0.039], 0.6);

const fn others(lost: [f64; 2], short: f64) -> Others {
    Others { lost, short }
}

/// A flow that competes, and the time.
struct Flow {
    trial: Trial,
    now: Time,
    packets: f64,
}

impl Flow {
    /// A flow whose competition begins at a minute.
    fn new() -> Self {
        let mut trial = Trial::default();
        let now = Time::from_millis(60_000);
        trial.turned(now, true);
        Self {
            trial,
            now,
            packets: 0.0,
        }
    }

    /// Competes with `others` for so long over a short path.
    fn competes(&mut self, others: &Others, ms: u32) -> Choice {
        self.competes_over(ROUND_TRIP, others, ms)
    }

    /// Competes with `others` for so long, in rounds of 20 ms with ten packets each, over a path with this round trip.
    fn competes_over(&mut self, round_trip: TimeDelta, others: &Others, ms: u32) -> Choice {
        let config = Config::default();
        for round in 0..ms / 20 {
            self.now += TimeDelta::from_millis(20);
            let is_one = self.trial.choice() == Choice::One;
            let lost = others.lost[usize::from(!is_one)];
            for _ in 0..10 {
                self.packets += lost;
                self.trial.resolved(self.packets >= 1.0);
                self.packets = self.packets.fract();
            }
            // Saw teeth of a second, with the most connections as with one.
            let is_short = f64::from(round % 50) < 50.0 * others.short;
            let standing = TimeDelta::from_millis(if is_short { 5 } else { 20 });
            self.trial
                .took_round(self.now, standing, round_trip, &config);
        }
        self.trial.choice()
    }

    /// Does not compete for so long.
    fn rests(&mut self, seconds: i64) {
        self.trial.turned(self.now, false);
        self.now += TimeDelta::from_millis(seconds * 1_000);
        self.trial.turned(self.now, true);
    }
}

#[test]
fn a_flow_is_one_connection_where_the_most_make_more_be_lost_and_else_the_most() {
    for (name, others, choice) in [
        ("CUBIC", &CUBIC, Choice::Most),
        ("several", &SEVERAL, Choice::One),
        ("BBR", &BBR, Choice::Most),
        ("BBRv3", &BBR3, Choice::Most),
        ("NADA", &NADA, Choice::MostWhateverIsLost),
    ] {
        let mut flow = Flow::new();
        assert_eq!(
            flow.competes(others, 6_700),
            Choice::One,
            "{name}, at first"
        );
        let tried = flow.competes(others, 300);
        // What keeps the queue full is known after one connection, and else the most are tried.
        let seven = if others.short < 0.3 {
            Choice::Most
        } else {
            Choice::MostWhateverIsLost
        };
        assert_eq!(tried, seven, "{name}, at 7 s");
        for ms in [7_000, 30_000, 60_000] {
            assert_eq!(flow.competes(others, ms), choice, "{name}");
        }
    }
}

/// With the same losses a connection of TCP has less over a longer path, so that losses do harm there that do none over a short one.
#[test]
fn losses_do_harm_on_a_long_path_that_do_none_on_a_short_one() {
    let few = others([0.001, 0.005], 0.6);
    for (round_trip, choice) in [(5, Choice::Most), (20, Choice::Most), (60, Choice::One)] {
        let mut flow = Flow::new();
        let round_trip = TimeDelta::from_millis(round_trip);
        assert_eq!(flow.competes_over(round_trip, &few, 30_000), choice);
    }
    // More than a fortieth does harm over the shortest path too, where TCP would be fast with any losses.
    let mut flow = Flow::new();
    let many = others([0.01, 0.03], 0.6);
    let shortest = TimeDelta::from_millis(1);
    assert_eq!(flow.competes_over(shortest, &many, 30_000), Choice::One);
}

/// What a trial has told holds while it is so, and for two minutes where it cannot be seen.
#[test]
fn the_trial_is_made_again_when_others_have_changed() {
    // One connection helped, and then the queue stays full, or as much is lost as with the most.
    for changed in [&BBR, &others([0.2, 0.2], 0.6)] {
        let mut flow = Flow::new();
        assert_eq!(flow.competes(&SEVERAL, 40_000), Choice::One);
        assert_ne!(flow.competes(changed, 22_000), Choice::One);
    }
    // CUBIC is joined by others.
    let mut flow = Flow::new();
    assert_eq!(flow.competes(&CUBIC, 60_000), Choice::Most);
    assert_eq!(flow.competes(&SEVERAL, 22_000), Choice::One);
    // BBR is: more than twice as many are lost as at first, and so many that they do harm.
    for (at_first, lost, choice) in [
        (0.005, 0.014, Choice::Most),
        (0.005, 0.016, Choice::One),
        (0.01, 0.019, Choice::Most),
        (0.01, 0.023, Choice::One),
    ] {
        let mut flow = Flow::new();
        let bbr = others([0.006, at_first], 0.17);
        assert_eq!(flow.competes(&bbr, 30_000), Choice::Most);
        let more = others([lost, lost], 0.17);
        assert_eq!(flow.competes(&more, 10_100), choice, "{lost}");
    }
    // NADA is: more is lost with the most than twice what was with one connection.
    let mut flow = Flow::new();
    assert_eq!(flow.competes(&NADA, 60_000), Choice::MostWhateverIsLost);
    assert_eq!(
        flow.competes(&others([0.0, 0.2], 0.6), 10_100),
        Choice::One,
        "without a trial"
    );
    // Nothing changes for the most, and one connection would do better now.
    let mut flow = Flow::new();
    assert_eq!(flow.competes(&NADA, 134_000), Choice::MostWhateverIsLost);
    assert_eq!(flow.competes(&NADA, 6_000), Choice::One);
}

#[test]
fn what_was_learnt_stays_for_half_a_minute_without_a_competition() {
    for (rests, choice) in [(29, Choice::Most), (31, Choice::One)] {
        let mut flow = Flow::new();
        assert_eq!(flow.competes(&BBR, 10_000), Choice::Most);
        flow.rests(rests);
        assert_eq!(flow.competes(&BBR, 1_000), choice, "after {rests} s");
    }
}

/// Only competition counts: a trial in pieces comes to the same end.
#[test]
fn a_trial_that_is_interrupted_goes_on() {
    let mut flow = Flow::new();
    for _ in 0..5 {
        assert_eq!(flow.competes(&SEVERAL, 1_000), Choice::One);
        flow.rests(3);
    }
    let tries = Choice::MostWhateverIsLost;
    assert_eq!(flow.competes(&SEVERAL, 2_000), tries);
    for _ in 0..5 {
        assert_eq!(flow.competes(&SEVERAL, 1_000), tries);
        flow.rests(3);
    }
    assert_eq!(flow.competes(&SEVERAL, 2_000), Choice::One);
}
