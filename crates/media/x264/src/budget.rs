//! The size to ask libx264 for, so that a frame keeps within its budget.
//!
//! A frame comes out somewhat smaller or larger than asked, most of all when the budget has
//! just changed. For each [`Change`], the asking tracks the size that only one frame in so
//! many exceeds, relative to the size asked for. Asking for the budget divided by this
//! figure uses the budget and rejects that one frame.

use mimosa_units::Bytes;

/// A frame below this part of the size asked for did not need all of it, and says nothing
/// about how well it would have kept to it.
const SATISFIED: f64 = 0.6;
/// The speed of the figure: a frame that exceeds it raises it by almost this, relative to
/// the size asked for.
const STEP: f64 = 0.05;
/// The factor from the last budget beyond which the budget counts as changed.
const SAME: f64 = 1.1;
/// The parts of the budget that the second and third attempt aim at, corrected by how the
/// attempt before came out.
const AIMS: [f64; 2] = [0.92, 0.7];

/// The distance that frames keep from their budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// The part of frames that may exceed the budget at first and be encoded again: the
    /// larger it is, the better the other frames use their budget.
    pub rejected: f64,
    /// The least to ask for, in budgets.
    pub least: f64,
    /// The most to ask for, in budgets.
    pub most: f64,
}

impl Default for Margin {
    /// One frame in fifty is rejected; the size asked for is three quarters to one and a
    /// quarter of the budget.
    fn default() -> Self {
        Self {
            rejected: 0.02,
            least: 0.75,
            most: 1.25,
        }
    }
}

/// The change since the frame before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Change {
    /// The budget is nearly the same.
    Steady,
    /// The budget is larger.
    Rise,
    /// The budget is smaller.
    Fall,
    /// The frame is a keyframe.
    Keyframe,
}

impl Change {
    /// Every change with its initial figure, measured on textured pictures at random
    /// budgets.
    const BEGINNINGS: [(Self, f64); 4] = [
        (Self::Steady, 1.0),
        (Self::Rise, 0.9),
        (Self::Fall, 1.05),
        (Self::Keyframe, 1.1),
    ];
}

/// The state that decides how much to ask for, and learns from the sizes that come out.
#[derive(Clone, Debug)]
pub(crate) struct BudgetControl {
    margin: Margin,
    /// The figure of each [`Change`].
    exceeded_by_few: [f64; 4],
    last: Option<Bytes>,
}

impl BudgetControl {
    pub(crate) fn new(margin: Margin) -> Self {
        Self {
            margin,
            exceeded_by_few: Change::BEGINNINGS.map(|(_, figure)| figure),
            last: None,
        }
    }

    /// The change that a frame of `budget` is, after the frames before it.
    pub(crate) fn change(&self, budget: Bytes, keyframe: bool) -> Change {
        let budget = budget.get() as f64;
        match self.last.map(|last| last.get() as f64) {
            _ if keyframe => Change::Keyframe,
            Some(last) if budget > last * SAME => Change::Rise,
            Some(last) if budget * SAME < last => Change::Fall,
            _ => Change::Steady,
        }
    }

    /// The size to ask for.
    pub(crate) fn ask(&self, budget: Bytes, change: Change) -> Bytes {
        let factor = 1.0 / self.exceeded_by_few[change as usize];
        budget.scale(factor.max(self.margin.least).min(self.margin.most))
    }

    /// The size to ask for after `attempts` that were too large, the last of which came out
    /// at `size` when asked for `asked`.
    pub(crate) fn ask_again(budget: Bytes, asked: Bytes, size: Bytes, attempts: u32) -> Bytes {
        let [second, third] = AIMS;
        let aim = if attempts < 2 { second } else { third };
        asked.scale((aim * budget.get() as f64 / size.get().max(1) as f64).min(aim))
    }

    /// Records that the first attempt at a frame of `budget` came out at `size` when asked
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
        // A figure beyond the bounds of the margin would only take long to come back.
        *figure = figure
            .max(1.0 / self.margin.most)
            .min(1.0 / self.margin.least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Bytes = Bytes::new(20_000);

    /// Runs frames that come out at `least` to `least + spread` of the size asked for.
    /// Returns the number of frames over the budget, and the mean use of the budget.
    fn run(asking: &mut BudgetControl, frames: u32, least: f64, spread: f64) -> (u32, f64) {
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
        let mut asking = BudgetControl::new(Margin::default());
        run(&mut asking, 1000, 0.8, 0.1);
        let (over, used) = run(&mut asking, 2000, 0.8, 0.1);
        assert!((10..=80).contains(&over), "{over} of 2000 over the budget");
        assert!((0.9..0.98).contains(&used), "{used} used");
    }

    #[test]
    fn an_encoder_that_uses_too_much_is_asked_for_less() {
        let mut asking = BudgetControl::new(Margin::default());
        run(&mut asking, 1000, 1.0, 0.2);
        let (over, used) = run(&mut asking, 2000, 1.0, 0.2);
        assert!((10..=80).contains(&over), "{over} of 2000 over the budget");
        assert!((0.85..0.95).contains(&used), "{used} used");
    }

    #[test]
    fn what_is_asked_stays_within_the_margin() {
        let mut asking = BudgetControl::new(Margin::default());
        run(&mut asking, 5000, 0.61, 0.01);
        assert_eq!(asking.ask(BUDGET, Change::Steady), BUDGET.scale(1.25));
        run(&mut asking, 5000, 3.0, 0.1);
        assert_eq!(asking.ask(BUDGET, Change::Steady), BUDGET.scale(0.75));
    }

    #[test]
    fn a_still_picture_teaches_nothing() {
        let mut asking = BudgetControl::new(Margin::default());
        let before = asking.ask(BUDGET, Change::Steady);
        run(&mut asking, 1000, 0.01, 0.1);
        assert_eq!(asking.ask(BUDGET, Change::Steady), before);
    }

    #[test]
    fn each_attempt_asks_for_less() {
        let asked = Bytes::new(21_000);
        let second = BudgetControl::ask_again(BUDGET, asked, Bytes::new(20_500), 1);
        let third = BudgetControl::ask_again(BUDGET, second, Bytes::new(20_100), 2);
        assert!(third < second && second < BUDGET, "{second}, {third}");
    }

    #[test]
    fn a_change_is_told_from_a_wobble() {
        let mut asking = BudgetControl::new(Margin::default());
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
