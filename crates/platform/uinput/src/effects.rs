//! The force-feedback effects of a game: how strongly the motors run, and for how long.

use std::collections::BTreeMap;

use mimosa_units::{Time, TimeDelta};

use crate::layout::Upload;

/// The longest that the motors run after one message, so that they stop even if the message
/// that stops them is lost.
const LONGEST: TimeDelta = TimeDelta::from_millis(1_000);
/// The interval of the messages that keep the motors running.
const REPEAT: TimeDelta = TimeDelta::from_millis(500);

/// A command to the motors of a gamepad.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Motors {
    /// The strength of the heavy motor, 0 to 255.
    pub strong: u8,
    /// The strength of the light motor, 0 to 255.
    pub weak: u8,
    /// The time for which the motors run.
    pub duration: TimeDelta,
}

/// The effects that a game has stored for one gamepad, and those of them that run.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    kept: BTreeMap<i16, Upload>,
    running: BTreeMap<i16, Span>,
    told: (u8, u8),
    /// The time of the next poll: an effect begins or ends, or the motors need another
    /// message.
    next: Option<Time>,
}

/// The time in which an effect runs.
#[derive(Clone, Copy, Debug)]
struct Span {
    begin: Time,
    /// The end of the effect; `None` if it runs until it is stopped.
    end: Option<Time>,
}

impl Effects {
    /// Stores an effect in place of an earlier one with its number. If the earlier one
    /// runs, the new one goes on in its place.
    pub fn keep(&mut self, effect: Upload) {
        self.kept.insert(effect.id, effect);
    }

    /// Removes an effect, which also ends it.
    pub fn forget(&mut self, id: i16) {
        self.kept.remove(&id);
        self.running.remove(&id);
    }

    /// Runs an effect so many times over, from its beginning; zero times stops it.
    pub fn play(&mut self, now: Time, id: i16, times: i32) {
        let Some(effect) = self.kept.get(&id) else {
            return;
        };
        if times <= 0 {
            self.running.remove(&id);
            return;
        }
        let millis = |millis: u16| TimeDelta::from_millis(i64::from(millis));
        let begin = now + millis(effect.delay);
        let again = millis(effect.length) + millis(effect.delay);
        let times = u32::try_from(times).unwrap_or(1);
        let length = millis(effect.length) + again * (times - 1);
        let end = (effect.length > 0).then(|| begin + length);
        self.running.insert(id, Span { begin, end });
    }

    /// The command that the motors need at this time, if any.
    pub fn poll(&mut self, now: Time) -> Option<Motors> {
        self.running
            .retain(|_, span| span.end.is_none_or(|end| end > now));
        let (strong, weak) = self.level(now);
        let runs = (strong, weak) != (0, 0);
        let is_told = (strong, weak) == self.told;
        let is_due = self.next.is_some_and(|next| next <= now);
        if is_told && !(runs && is_due) {
            self.next = [self.next.filter(|next| *next > now), self.change(now)]
                .into_iter()
                .flatten()
                .min();
            return None;
        }
        self.told = (strong, weak);
        let change = self.change(now);
        let repeat = runs.then(|| now + REPEAT);
        self.next = [repeat, change].into_iter().flatten().min();
        let left = change.map_or(LONGEST, |change| change - now);
        Some(Motors {
            strong,
            weak,
            duration: if runs {
                left.min(LONGEST)
            } else {
                TimeDelta::ZERO
            },
        })
    }

    /// The time of the next poll if nothing happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.next
    }

    /// The time after `now` at which the next effect begins or ends.
    fn change(&self, now: Time) -> Option<Time> {
        let spans = self.running.values();
        let times = spans.flat_map(|span| [Some(span.begin), span.end]);
        times.flatten().filter(|time| *time > now).min()
    }

    /// The strengths of the motors: effects add up, as in `ff-memless` of the kernel.
    fn level(&self, now: Time) -> (u8, u8) {
        let begun = self.running.iter().filter(|(_, span)| span.begin <= now);
        let effects = begun.filter_map(|(id, _)| self.kept.get(id));
        let sum = effects.fold((0_u16, 0_u16), |(strong, weak), effect| {
            (
                strong.saturating_add(effect.strong),
                weak.saturating_add(effect.weak),
            )
        });
        (motor(sum.0), motor(sum.1))
    }
}

/// Converts a strength to eight bits. A motor that runs at all gets at least 1.
fn motor(magnitude: u16) -> u8 {
    let [high, low] = magnitude.to_be_bytes();
    high.max(u8::from(low > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::FF_RUMBLE;

    const START: Time = Time::from_secs(5);

    fn after(millis: i64) -> Time {
        START + TimeDelta::from_millis(millis)
    }

    fn effect(id: i16, length: u16, delay: u16, strong: u16) -> Upload {
        Upload {
            kind: FF_RUMBLE,
            id,
            length,
            delay,
            strong,
            weak: 0,
        }
    }

    /// All commands from one time to another, polled at deadlines: the time, the strengths
    /// and the milliseconds.
    fn told(effects: &mut Effects, from: i64, until: i64) -> Vec<(i64, u8, i64)> {
        let mut told = Vec::new();
        let mut now = after(from);
        for _ in 0..1_000 {
            if let Some(motors) = effects.poll(now) {
                let millis = |span: TimeDelta| span.as_nanos() / 1_000_000;
                told.push((millis(now - START), motors.strong, millis(motors.duration)));
            }
            match effects.deadline() {
                Some(next) if next <= after(until) => {
                    assert!(next > now, "the same time again");
                    now = next;
                }
                _ => return told,
            }
        }
        panic!("no end");
    }

    #[test]
    fn an_effect_is_told_with_its_length_and_its_end() {
        let mut effects = Effects::default();
        assert_eq!(effects.poll(START), None);
        effects.keep(effect(3, 250, 0, 0xffff));
        effects.play(START, 7, 1);
        assert_eq!(told(&mut effects, 0, 1_000), [], "there is no effect 7");
        effects.play(START, 3, 1);
        assert_eq!(told(&mut effects, 0, 1_000), [(0, 255, 250), (250, 0, 0)]);
    }

    #[test]
    fn what_lasts_is_told_again_and_ends_when_stopped() {
        let mut effects = Effects::default();
        effects.keep(effect(0, 0, 0, 0x8000));
        effects.play(START, 0, 1);
        let expected = [(0, 128, 1_000), (500, 128, 1_000), (1_000, 128, 1_000)];
        assert_eq!(told(&mut effects, 0, 1_400), expected);
        effects.play(after(1_400), 0, 0);
        assert_eq!(told(&mut effects, 1_400, 9_000), [(1_400, 0, 0)]);
    }

    #[test]
    fn effects_run_after_their_delay_and_as_often_as_asked() {
        let mut effects = Effects::default();
        effects.keep(effect(1, 100, 50, 0x0100));
        effects.play(START, 1, 2);
        // The effect runs 50 ms, then 100, 50 and 100 more, without a pause that anybody
        // feels.
        assert_eq!(told(&mut effects, 0, 1_000), [(50, 1, 250), (300, 0, 0)]);
    }

    #[test]
    fn effects_add_up_and_end_one_by_one() {
        let mut effects = Effects::default();
        effects.keep(effect(1, 300, 0, 0xf000));
        effects.keep(effect(2, 100, 0, 0x2000));
        effects.play(START, 1, 1);
        effects.play(START, 2, 1);
        let expected = [(0, 255, 100), (100, 240, 200), (300, 0, 0)];
        assert_eq!(told(&mut effects, 0, 1_000), expected);
    }

    #[test]
    fn a_changed_effect_changes_what_runs_and_a_forgotten_one_ends() {
        let mut effects = Effects::default();
        effects.keep(effect(1, 1_000, 0, 0x1000));
        effects.play(START, 1, 1);
        assert_eq!(told(&mut effects, 0, 100), [(0, 16, 1_000)]);
        effects.keep(effect(1, 1_000, 0, 1));
        assert_eq!(told(&mut effects, 200, 300), [(200, 1, 800)]);
        effects.forget(1);
        assert_eq!(told(&mut effects, 400, 5_000), [(400, 0, 0)]);
    }
}
