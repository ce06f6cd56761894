//! Quantiles of sorted values, by the nearest rank.

/// The smallest of the `sorted` values such that at least the share `share` of all values, from 0
/// to 1, do not exceed it. The result is one of the values, never one between two of them.
///
/// Of `n` values it is number `ceil(share * n)`, counted from one. Shares of zero and below and
/// NaN give the first value; shares of one and above give the last. Without values the result is
/// `None`.
///
/// For the shares that are in use the rank is the same as in integer arithmetic (for 0.99,
/// `(99 * n).div_ceil(100)`), since none of them is rounded up far enough to pass a whole number.
///
/// ```
/// use mimosa_units::nearest_rank;
///
/// let sorted = [10, 20, 30, 40];
/// assert_eq!(nearest_rank(&sorted, 0.5), Some(20));
/// assert_eq!(nearest_rank(&sorted, 0.51), Some(30));
/// assert_eq!(nearest_rank::<i32>(&[], 0.5), None);
/// ```
#[must_use]
pub fn nearest_rank<T: Copy>(sorted: &[T], share: f64) -> Option<T> {
    sorted.get(nearest_rank_index(sorted.len(), share)).copied()
}

/// The index, from zero, of the value that [`nearest_rank`] returns for `count` sorted values;
/// zero when there are none.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of a length"
)]
pub fn nearest_rank_index(count: usize, share: f64) -> usize {
    let rank = (share * count as f64).ceil() as usize;
    rank.min(count).saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_the_least_that_reaches_the_share() {
        let sorted: Vec<_> = (1..=100).collect();
        let ranks = [0.5, 0.501, 0.95, 0.99, 0.999, 1.0].map(|share| nearest_rank(&sorted, share));
        assert_eq!(ranks, [50, 51, 95, 99, 100, 100].map(Some));
        assert_eq!(nearest_rank(&sorted[..1], 0.01), Some(1));
        assert_eq!(nearest_rank(&sorted[..2], 0.5), Some(1));
    }

    #[test]
    fn shares_beyond_the_ends_give_the_ends() {
        let sorted = [1.5, 2.5];
        for (share, value) in [
            (0.0, 1.5),
            (-1.0, 1.5),
            (f64::NAN, 1.5),
            (2.0, 2.5),
            (f64::INFINITY, 2.5),
        ] {
            assert_eq!(nearest_rank(&sorted, share), Some(value), "{share}");
        }
        assert_eq!(nearest_rank::<f64>(&[], 0.5), None);
        assert_eq!(nearest_rank_index(0, 1.0), 0);
    }

    #[test]
    fn the_shares_in_use_give_the_rank_of_whole_numbers() {
        for thousandths in [10, 50, 250, 500, 750, 950, 990, 999, 1_000] {
            let share = thousandths as f64 / 1_000.0;
            for count in 1..200_000_usize {
                let rank = (count * thousandths).div_ceil(1_000);
                assert_eq!(
                    nearest_rank_index(count, share) + 1,
                    rank,
                    "{share} of {count}"
                );
            }
        }
        assert_ne!(
            nearest_rank_index(100, 0.07) + 1,
            7,
            "a share that is rounded up too far"
        );
    }
}
