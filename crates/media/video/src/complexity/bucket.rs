//! Sizes planned around a mean: a model of an encoder's buffer (VBV) of some frames.
//!
//! Each frame adds a budget and removes its size. A frame may have the size that its
//! content asks for, more while the buffer is full and less while it is empty, so that
//! sizes keep to the budget in the mean and never exceed the contents of the buffer.

use mimosa_units::Bytes;

/// The least part of a budget that a frame gets.
const LEAST: f64 = 0.1;
/// The influence of the fill: a half-full buffer gives the size that is asked for, an empty
/// one this much less, and a full one this much more.
const LEANING: f64 = 0.5;

/// A buffer of some frames.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    /// The number of budgets that the buffer holds.
    frames: f64,
    /// The contents in bytes; unknown before the first frame.
    fill: Option<f64>,
    budget: f64,
}

impl Bucket {
    /// A half-full buffer of so many budgets, at least one.
    pub(crate) const fn new(frames: u32) -> Self {
        Self {
            frames: if frames > 1 { frames as f64 } else { 1.0 },
            fill: None,
            budget: 0.0,
        }
    }

    /// Adds a frame's budget.
    pub(crate) fn pour(&mut self, budget: Bytes) {
        self.budget = budget.get() as f64;
        let half = (self.holds() - self.budget) / 2.0;
        // The excess overflows when the frame has left.
        let fill = self.fill.unwrap_or(half).min(self.holds());
        self.fill = Some(fill + self.budget);
    }

    fn holds(&self) -> f64 {
        self.frames * self.budget
    }

    /// The size to plan for a frame `relative` times as large as others.
    pub(crate) fn plan(&self, relative: f64) -> Bytes {
        let fill = self.fill.unwrap_or(self.budget);
        let holds = self.holds().max(1.0);
        if self.frames <= 1.0 {
            return Bytes::from_f64(self.budget);
        }
        let part = (fill / holds).min(1.0);
        let leaning = 1.0 - LEANING + 2.0 * LEANING * part;
        let wanted = (relative * leaning * self.budget).max(fill - holds);
        Bytes::from_f64(wanted.max(LEAST * self.budget).min(fill.min(holds)))
    }

    /// Records that a frame of this size has left.
    pub(crate) fn took(&mut self, size: Bytes) {
        let holds = self.holds();
        self.fill = self
            .fill
            .map(|fill| (fill - size.get() as f64).max(0.0).min(holds));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Bytes = Bytes::new(10_000);

    fn sizes(bucket: &mut Bucket, relative: impl Iterator<Item = f64>) -> Vec<u64> {
        let plans = relative.map(|relative| {
            bucket.pour(BUDGET);
            let size = bucket.plan(relative);
            bucket.took(size);
            size.get()
        });
        plans.collect()
    }

    #[test]
    fn a_buffer_of_one_frame_is_the_budget() {
        let mut bucket = Bucket::new(1);
        let sizes = sizes(&mut bucket, [1.0, 5.0, 0.0, 1.0].into_iter());
        assert_eq!(sizes, [10_000; 4]);
    }

    #[test]
    fn half_full_it_gives_what_is_asked() {
        let mut bucket = Bucket::new(7);
        bucket.pour(BUDGET);
        // (7 - 1) / 2 + 1 of 7.
        let leaning = 0.5 + 4.0 / 7.0;
        assert_eq!(bucket.plan(1.0), BUDGET.scale(leaning));
        assert_eq!(bucket.plan(2.0), BUDGET.scale(2.0 * leaning));
        assert_eq!(bucket.plan(9.0), BUDGET.scale(4.0), "no more than there is");
        assert_eq!(bucket.plan(0.0), BUDGET.scale(0.1));
    }

    #[test]
    fn in_the_mean_it_is_the_budget_whatever_is_asked() {
        for scale in [0.8, 1.0, 1.2] {
            let mut bucket = Bucket::new(6);
            let asked = (0..600).map(|n| scale * if n % 10 == 0 { 3.0 } else { 0.8 });
            let sizes = sizes(&mut bucket, asked);
            let mean = sizes[100..].iter().sum::<u64>() as f64 / 500.0;
            assert!((9_900.0..=10_100.0).contains(&mean), "{mean} at {scale}");
        }
    }

    #[test]
    fn no_frames_exceed_the_buffer_together() {
        let mut bucket = Bucket::new(4);
        let sizes = sizes(&mut bucket, (0..20).map(|_| 50.0));
        for window in sizes.windows(5) {
            let sum = window.iter().sum::<u64>();
            assert!(sum <= 10_000 * (4 + 5), "{window:?}");
        }
        assert!(sizes[0] > 20_000);
    }

    #[test]
    fn what_would_overflow_is_given() {
        let mut bucket = Bucket::new(4);
        let sizes = sizes(&mut bucket, (0..20).map(|_| 0.0));
        assert_eq!(sizes[10..], [10_000; 10], "a still picture gets its budget");
    }

    #[test]
    fn it_follows_the_budget() {
        let mut bucket = Bucket::new(6);
        sizes(&mut bucket, (0..20).map(|_| 1.0));
        bucket.pour(BUDGET.scale(0.1));
        assert!(bucket.plan(20.0) <= BUDGET.scale(0.6));
    }
}
