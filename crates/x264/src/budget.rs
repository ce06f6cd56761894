//! How much to ask libx264 for, so that a frame keeps within its budget.
//!
//! A frame comes out somewhat smaller or larger than asked, the more so when the
//! budget just changed. For each [`Change`] the size that only one frame in so
//! many exceeds is tracked, in parts of what was asked; asking for the budget
//! over this figure uses the budget and rejects that one frame.

use mimosa_units::Bytes;

/// Below this part of what was asked, a frame did not need what it was given and
/// says nothing about how well it would have kept to it.
const SATISFIED: f64 = 0.6;
/// How fast the figure moves: a frame that exceeds it raises it by almost this,
/// in parts of what was asked.
const STEP: f64 = 0.05;
/// The budget changed if it differs by more than this factor from the last.
const SAME: f64 = 1.1;
/// A second attempt aims at this part of the budget, corrected by how the first
/// came out, a third at the other.
const AIMS: [f64; 2] = [0.92, 0.7];

/// How close to the budget frames may go.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The part of frames that may exceed the budget at first and be encoded
    /// again: the more, the better the others use it.
    pub rejected: f64,
    /// The least that is asked for, in budgets.
    pub least: f64,
    /// The most that is asked for, in budgets.
    pub most: f64,
}

impl Default for Margin {
    /// One frame in fifty is rejected; three quarters to one and a quarter of the
    /// budget are asked for.
    fn default() -> Self {
        Self {
            rejected: 0.02,
            least: 0.75,
            most: 1.25,
        }
    }
}

/// What changed since the frame before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Change {
    /// Little.
    Steady,
    /// There is more.
    Rise,
    /// There is less.
    Fall,
    /// It is a keyframe.
    Keyframe,
}

impl Change {
    /// Every change with the figure it begins with, measured on textured
    /// pictures at random budgets.
    const BEGINNINGS: [(Self, f64); 4] = [
        (Self::Steady, 1.0),
        (Self::Rise, 0.9),
        (Self::Fall, 1.05),
        (Self::Keyframe, 1.1),
    ];
}

/// Asks, and learns from what comes out.
#[derive(Clone, Debug)]
pub(crate) struct Asking {
    margin: Margin,
    /// By [`Change`].
    exceeded_by_few: [f64; 4],
    last: Option<Bytes>,
}

impl Asking {
    pub(crate) fn new(margin: Margin) -> Self {
        Self {
            margin,
            exceeded_by_few: Change::BEGINNINGS.map(|(_, figure)| figure),
            last: None,
        }
    }

    /// What a frame of `budget` is, after the frames before it.
    pub(crate) fn change(&self, budget: Bytes, keyframe: bool) -> Change {
        let budget = budget.get() as f64;
        match self.last.map(|last| last.get() as f64) {
            _ if keyframe => Change::Keyframe,
            Some(last) if budget > last * SAME => Change::Rise,
            Some(last) if budget * SAME < last => Change::Fall,
            _ => Change::Steady,
        }
    }

    /// What to ask for.
    pub(crate) fn ask(&self, budget: Bytes, change: Change) -> Bytes {
        let factor = 1.0 / self.exceeded_by_few[change as usize];
        budget.scale(factor.max(self.margin.least).min(self.margin.most))
    }

    /// What to ask for after `attempts` that were too large, the last of which
    /// came out at `size` when asked for `asked`.
    pub(crate) fn ask_again(budget: Bytes, asked: Bytes, size: Bytes, attempts: u32) -> Bytes {
        let [second, third] = AIMS;
        let aim = if attempts < 2 { second } else { third };
        asked.scale((aim * budget.get() as f64 / size.get().max(1) as f64).min(aim))
    }

    /// The first attempt at a frame of `budget` came out at `size` when asked
    /// for `asked`.
    pub(crate) fn observe(&mut self, budget: Bytes, change: Change, asked: Bytes, size: Bytes) {
        self.last = Some(budget);
        let part = size.get() as f64 / asked.get().max(1) as f64;
        if part < SATISFIED {
            return;
        }
        let figure = &mut self.exceeded_by_few[change as usize];
        *figure += if part > *figure {
            STEP * (1.0 - self.margin.rejected)
        } else {
            -STEP * self.margin.rejected
        };
        // Beyond what can be asked for, it would only take long to come back.
        *figure = figure
            .max(1.0 / self.margin.most)
            .min(1.0 / self.margin.least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Bytes = Bytes::new(20_000);

    /// Frames over the budget, and the mean part of it used, when frames come
    /// out at `least` to `least + spread` of what is asked.
    fn run(asking: &mut Asking, frames: u32, least: f64, spread: f64) -> (u32, f64) {
        let (mut over, mut used, mut state) = (0, 0.0, 1_u32);
        for _ in 0..frames {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let part = least + spread * f64::from(state >> 16) / 65_536.0;
            let change = asking.change(BUDGET, false);
            let asked = asking.ask(BUDGET, change);
            let size = asked.scale(part);
            asking.observe(BUDGET, change, asked, size);
            over += u32::from(size > BUDGET);
            used += size.get() as f64 / BUDGET.get() as f64 / f64::from(frames);
        }
        (over, used)
    }

    #[test]
    fn an_encoder_that_uses_too_little_is_asked_for_more() {
        let mut asking = Asking::new(Margin::default());
        run(&mut asking, 1000, 0.8, 0.1);
        let (over, used) = run(&mut asking, 2000, 0.8, 0.1);
        assert!((10..=80).contains(&over), "{over} of 2000 over the budget");
        assert!((0.9..0.98).contains(&used), "{used} used");
    }

    #[test]
    fn an_encoder_that_uses_too_much_is_asked_for_less() {
        let mut asking = Asking::new(Margin::default());
        run(&mut asking, 1000, 1.0, 0.2);
        let (over, used) = run(&mut asking, 2000, 1.0, 0.2);
        assert!((10..=80).contains(&over), "{over} of 2000 over the budget");
        assert!((0.85..0.95).contains(&used), "{used} used");
    }

    #[test]
    fn what_is_asked_stays_within_the_margin() {
        let mut asking = Asking::new(Margin::default());
        run(&mut asking, 5000, 0.61, 0.01);
        assert_eq!(asking.ask(BUDGET, Change::Steady), BUDGET.scale(1.25));
        run(&mut asking, 5000, 3.0, 0.1);
        assert_eq!(asking.ask(BUDGET, Change::Steady), BUDGET.scale(0.75));
    }

    #[test]
    fn a_still_picture_teaches_nothing() {
        let mut asking = Asking::new(Margin::default());
        let before = asking.ask(BUDGET, Change::Steady);
        run(&mut asking, 1000, 0.01, 0.1);
        assert_eq!(asking.ask(BUDGET, Change::Steady), before);
    }

    #[test]
    fn each_attempt_asks_for_less() {
        let asked = Bytes::new(21_000);
        let second = Asking::ask_again(BUDGET, asked, Bytes::new(20_500), 1);
        let third = Asking::ask_again(BUDGET, second, Bytes::new(20_100), 2);
        assert!(third < second && second < BUDGET, "{second}, {third}");
    }

    #[test]
    fn a_change_is_told_from_a_wobble() {
        let mut asking = Asking::new(Margin::default());
        assert_eq!(asking.change(BUDGET, false), Change::Steady);
        asking.observe(BUDGET, Change::Steady, BUDGET, BUDGET);
        for (factor, change) in [
            (0.5, Change::Fall),
            (0.95, Change::Steady),
            (1.05, Change::Steady),
            (1.5, Change::Rise),
        ] {
            assert_eq!(asking.change(BUDGET.scale(factor), false), change);
        }
        assert_eq!(asking.change(BUDGET, true), Change::Keyframe);
    }
}
