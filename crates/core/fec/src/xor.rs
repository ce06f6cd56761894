//! Repair packets that are exclusive ors of some of a frame's packets, as a browser's `FlexFEC`
//! decoder supports them.
//!
//! *Source:* our choice of which packets are in which repair packet. The decoder is that of
//! draft-ietf-payload-flexible-fec-scheme-03 as libwebrtc implements it: a repair packet with one
//! packet missing gives that one, repeatedly ("peeling").
//!
//! Each media packet has a column of bits, one for each repair packet that it is in. Two packets
//! with different columns can both be lost: some repair packet has one of them alone. A column of
//! two or more bits tolerates the loss of one of its repair packets. So with `r` repair packets,
//! from three on, the columns are the numbers of `r` bits with at least two set, those with the
//! fewest first, assigned in turn; with one or two repair packets, they are all numbers but zero,
//! with those of one bit last. Any two losses of 4, 11, 26 or 57 packets can be recovered with 3,
//! 4, 5 or 6 repair packets.
//!
//! *Deviations.* A Reed-Solomon code would recover any `r` losses, but no browser has one.

use std::sync::LazyLock;

/// Most repair packets of a frame; they have more columns than a frame has packets.
pub const MOST_REPAIRS: usize = 12;
/// Most media packets of a frame: the longest mask of the format.
pub const MOST_MEDIA: usize = 109;
/// Number of sets of lost packets that are tried at random; all sets are tried if there are no
/// more. Our choice: an error of a fortieth.
const TRIALS: u32 = 400;
/// Numbers of media packets for which the table has entries. Another number counts as the next
/// larger one. Our choice.
const SIZES: [usize; 14] = [1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, MOST_MEDIA];

/// The repair packets that each of `media` packets is in, as a bit set of `repairs` bits.
#[must_use]
pub fn columns(media: usize, repairs: usize) -> Vec<u32> {
    let repairs = repairs.min(MOST_REPAIRS);
    if repairs == 0 {
        return vec![0; media];
    }
    let few = (repairs < 3).then_some(1);
    let weights = (2..=u32::try_from(repairs).unwrap_or(0)).chain(few);
    let of = |weight| (1..1_u32 << repairs).filter(move |column| column.count_ones() == weight);
    let all: Vec<u32> = weights.flat_map(of).take(media).collect();
    all.into_iter().cycle().take(media).collect()
}

/// The lost media packets that cannot be recovered. Places of media packets come before those of
/// repair packets.
#[must_use]
pub fn residual(columns: &[u32], repairs: usize, lost: &[usize]) -> Vec<usize> {
    let media = columns.len();
    let mut missing: Vec<usize> = lost.iter().copied().filter(|&i| i < media).collect();
    let there = there(media, repairs, lost);
    loop {
        let alone = alone(missing.iter().map(|&place| columns[place])) & there;
        if alone == 0 {
            return missing;
        }
        missing.retain(|&place| columns[place] & alone == 0);
    }
}

/// The repair packets that are not lost, as a bit set.
fn there(media: usize, repairs: usize, lost: &[usize]) -> u32 {
    let all = (1 << repairs.min(MOST_REPAIRS)) - 1;
    let gone = lost.iter().filter_map(|place| place.checked_sub(media));
    gone.fold(all, |there, number| there & !(1 << number))
}

/// The repair packets that contain exactly one of these columns, as a bit set.
fn alone(columns: impl Iterator<Item = u32>) -> u32 {
    let (once, again) = columns.fold((0, 0), |(once, again), column| {
        (once | column, again | once & column)
    });
    once & !again
}

/// Approximate share of the ways to lose `lost` of a frame's packets that cannot be recovered. It
/// is taken from a table, for this number of media packets or the next larger one.
#[must_use]
pub fn fails(media: usize, repairs: usize, lost: usize) -> f64 {
    // A repair packet recovers one packet at most.
    if lost == 0 || lost > repairs || repairs > MOST_REPAIRS {
        return if lost == 0 { 0.0 } else { 1.0 };
    }
    let size = SIZES.partition_point(|&size| size < media);
    let row = size * MOST_REPAIRS + repairs - 1;
    TABLE.get(row).map_or(1.0, |row| row[lost - 1])
}

/// [`fails`] for all [`SIZES`], numbers of repair packets and numbers of lost packets. Computing
/// the table takes some ten milliseconds, at its first use.
static TABLE: LazyLock<Vec<[f64; MOST_REPAIRS]>> = LazyLock::new(|| {
    let rows = SIZES.iter().flat_map(|&media| {
        (1..=MOST_REPAIRS).map(move |repairs| {
            let columns = columns(media, repairs);
            std::array::from_fn(|lost| share(&columns, repairs, lost + 1))
        })
    });
    rows.collect()
});

/// Computes the table, so that no later call has to wait for it.
pub fn prepare() {
    LazyLock::force(&TABLE);
}

/// Share of the ways to lose `lost` packets that cannot be recovered; all of them if more are lost
/// than there are repair packets.
fn share(columns: &[u32], repairs: usize, lost: usize) -> f64 {
    if lost > repairs {
        return 1.0;
    }
    let places = columns.len() + repairs;
    let mut missing = Vec::with_capacity(lost);
    let mut is_bad = |set: &[usize]| {
        let there = there(columns.len(), repairs, set);
        missing.clear();
        missing.extend(set.iter().filter_map(|&place| columns.get(place)));
        loop {
            let alone = alone(missing.iter().copied()) & there;
            if alone == 0 {
                return !missing.is_empty();
            }
            missing.retain(|column| column & alone == 0);
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "places are few")]
    let sets: f64 = (0..lost)
        .map(|i| (places - i) as f64 / (i + 1) as f64)
        .product();
    let (mut bad, mut all) = (0_u32, 0_u32);
    if sets <= f64::from(TRIALS) {
        let mut set: Vec<usize> = (0..lost).collect();
        loop {
            all += 1;
            bad += u32::from(is_bad(&set));
            // The next set in order: the last place that can move does, and those after it follow.
            let Some(moves) = (0..lost).rev().find(|&i| set[i] < places - lost + i) else {
                break;
            };
            let place = set[moves] + 1;
            for (follows, place) in set[moves..].iter_mut().zip(place..) {
                *follows = place;
            }
        }
        return f64::from(bad) / f64::from(all);
    }
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ ((columns.len() as u64) << 32 | lost as u64);
    let mut order: Vec<usize> = (0..places).collect();
    for _ in 0..TRIALS {
        for chosen in 0..lost {
            // Marsaglia's xorshift, 2003; any generator would do.
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let rest = (places - chosen) as u64;
            let other = usize::try_from(state % rest).unwrap_or(0);
            order.swap(chosen, chosen + other);
        }
        bad += u32::from(is_bad(&order[..lost]));
    }
    f64::from(bad) / f64::from(TRIALS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_two_losses_are_made_good_where_columns_suffice() {
        for (media, repairs) in [(4, 3), (11, 4), (26, 5), (57, 6), (12, 5), (1, 2)] {
            let columns = columns(media, repairs);
            for a in 0..media + repairs {
                for b in 0..a {
                    let left = residual(&columns, repairs, &[a, b]);
                    assert!(left.is_empty(), "{media} {repairs} {a} {b}: {left:?}");
                }
            }
        }
        assert!(fails(11, 4, 2) < 1e-9);
    }

    #[test]
    fn one_repair_packet_makes_good_any_one_and_no_two() {
        let columns = columns(12, 1);
        assert_eq!(residual(&columns, 1, &[7]), [0_usize; 0]);
        assert_eq!(residual(&columns, 1, &[12]), [0_usize; 0], "itself");
        assert_eq!(residual(&columns, 1, &[7, 12]), [7]);
        assert_eq!(residual(&columns, 1, &[7, 2]), [7, 2]);
        assert!((fails(12, 1, 2) - 1.0).abs() < 1e-9);
        assert!(fails(12, 1, 1) < 1e-9);
    }

    /// The table agrees with trials, or is slightly worse.
    #[test]
    fn what_is_looked_up_is_on_the_safe_side() {
        for (media, repairs, lost) in [(10, 4, 3), (12, 6, 5), (24, 8, 7), (40, 12, 9), (7, 4, 3)] {
            let own = share(&columns(media, repairs), repairs, lost);
            let looked_up = fails(media, repairs, lost);
            let error = 3.0 * (own * (1.0 - own) / f64::from(TRIALS)).sqrt();
            assert!(
                looked_up > own - error,
                "{media} {repairs} {lost}: {looked_up} {own}"
            );
            assert!(
                looked_up < own + 0.2,
                "{media} {repairs} {lost}: {looked_up} {own}"
            );
        }
        for repairs in 1..=MOST_REPAIRS {
            assert!(fails(30, repairs, repairs + 1) > 0.999);
            assert!(fails(30, repairs, 0) < 1e-9 && fails(30, repairs, 1) < 1e-9);
        }
        assert!(fails(MOST_MEDIA + 1, 12, 1) > 0.999, "no mask is so long");
    }

    /// By hand: the sum of the columns 011, 101 and 110 is zero, so that no repair packet has one
    /// of them alone.
    #[test]
    fn what_hangs_together_is_not_made_good() {
        let columns = columns(4, 3);
        assert_eq!(columns, [0b011, 0b101, 0b110, 0b111]);
        assert_eq!(residual(&columns, 3, &[0, 1, 2]).len(), 3);
        assert_eq!(residual(&columns, 3, &[0, 1, 3]).len(), 3);
        assert_eq!(residual(&columns, 3, &[0, 1]).len(), 0);
    }

    /// By hand: of the 36 pairs of six media packets and three repair packets, with four columns,
    /// the first and the fifth packet are alike, as are the second and the sixth.
    #[test]
    fn few_sets_are_all_looked_at() {
        assert!((fails(6, 3, 2) - 2.0 / 36.0).abs() < 1e-9);
        assert!((fails(3, 1, 4) - 1.0).abs() < 1e-9);
        assert!((fails(2, 2, 1)).abs() < 1e-9);
    }

    #[test]
    fn no_repair_packets_make_nothing_good() {
        assert_eq!(residual(&columns(3, 0), 0, &[1]), [1]);
        assert!((fails(3, 0, 1) - 1.0).abs() < 1e-9);
    }
}
