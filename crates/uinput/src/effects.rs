//! What a game's effects come to: how strongly the motors run, and for how long.

use std::collections::BTreeMap;

use mimosa_units::{Time, TimeDelta};

use crate::layout::Upload;

/// Longest that the motors run by one message: should the one that stops them be lost,
/// no longer than this.
const LONGEST: TimeDelta = TimeDelta::from_millis(1_000);
/// They are told to go on this often.
const REPEAT: TimeDelta = TimeDelta::from_millis(500);

/// What the motors are to do.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Motors {
    /// The heavy one, 0 to 255.
    pub strong: u8,
    /// The light one.
    pub weak: u8,
    /// For so long.
    pub duration: TimeDelta,
}

/// The effects that a game has had one gamepad keep, and which of them run.
#[derive(Clone, Debug, Default)]
pub struct Effects {
    kept: BTreeMap<i16, Upload>,
    running: BTreeMap<i16, Span>,
    told: (u8, u8),
    /// When to look again: an effect begins or ends, or the motors are to go on.
    next: Option<Time>,
}

/// From when to when an effect runs.
#[derive(Clone, Copy, Debug)]
struct Span {
    begin: Time,
    /// `None`: until it is stopped.
    end: Option<Time>,
}

impl Effects {
    /// Keeps an effect, in place of an earlier one of its number. One that runs goes on
    /// as the new one.
    pub fn keep(&mut self, effect: Upload) {
        self.kept.insert(effect.id, effect);
    }

    /// Forgets one, which ends it.
    pub fn forget(&mut self, id: i16) {
        self.kept.remove(&id);
        self.running.remove(&id);
    }

    /// Runs one so many times over, from its beginning; stops it at 0.
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

    /// What is to be told now, if anything.
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

    /// When to poll if nothing happens before.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.next
    }

    /// When the next effect begins or ends after `now`.
    fn change(&self, now: Time) -> Option<Time> {
        let spans = self.running.values();
        let times = spans.flat_map(|span| [Some(span.begin), span.end]);
        times.flatten().filter(|time| *time > now).min()
    }

    /// How strongly the motors run: effects add up, as `ff-memless` in the kernel has it.
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

/// A strength in eight bits. What runs at all does not vanish.
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

    /// All that is told from one time to another, polled at deadlines: when, how
    /// strongly and for how many milliseconds.
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
        // 50 ms, then 100, 50 and 100 more, without a pause that nobody feels.
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
