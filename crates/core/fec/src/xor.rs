//! Repair packets that are each the exclusive or of some of a frame's: what a browser's
//! `FlexFEC` decoder understands.
//!
//! *Source:* our own choice of who is in which; the decoder is that of the
//! draft-ietf-payload-flexible-fec-scheme-03 as libwebrtc has it: a repair packet of which
//! one packet lacks gives that one, again and again ("peeling").
//!
//! Each media packet has a column of bits, one for each repair packet that it is in. Two
//! packets with different columns can both be lost: some repair packet has one of them alone.
//! A column of two bits or more bears that one of its repair packets is lost. So with `r`
//! repair packets, from three on, the columns are the numbers of `r` bits with at least two
//! set, those with the fewest first, given out in turn; with one or two, all numbers but
//! zero, those of one bit last. Any two losses of 4, 11, 26, 57 packets are made good by 3, 4,
//! 5, 6 repair packets.
//!
//! *Deviations.* A Reed-Solomon code would make good any `r` losses; no browser has one.

use std::sync::LazyLock;

/// Most repair packets of a frame: more columns than a frame has packets.
pub const MOST_REPAIRS: usize = 12;
/// Most media packets of one: the longest mask of the format.
pub const MOST_MEDIA: usize = 109;
/// Of the sets of lost packets so many are tried out, or all, where they are no more. Our
/// choice: an error of a fortieth.
const TRIALS: u32 = 400;
/// Frames of these many media packets are looked at; another is as bad as the next larger.
/// Our choice.
const SIZES: [usize; 14] = [1, 2, 3, 4, 6, 8, 11, 16, 22, 32, 45, 64, 90, MOST_MEDIA];

/// The repair packets that each of `media` packets is in, a bit for each of `repairs`.
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

/// Which of the lost places cannot be made good: media packets alone, which are in front of
/// the repair packets.
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

/// The repair packets that are not lost.
fn there(media: usize, repairs: usize, lost: &[usize]) -> u32 {
    let all = (1 << repairs.min(MOST_REPAIRS)) - 1;
    let gone = lost.iter().filter_map(|place| place.checked_sub(media));
    gone.fold(all, |there, number| there & !(1 << number))
}

/// The repair packets that have exactly one of these.
fn alone(columns: impl Iterator<Item = u32>) -> u32 {
    let (once, again) = columns.fold((0, 0), |(once, again), column| {
        (once | column, again | once & column)
    });
    once & !again
}

/// About the share of the ways to lose `lost` of a frame's packets that cannot be made good:
/// looked up, or that of a frame that is a little larger.
#[must_use]
pub fn fails(media: usize, repairs: usize, lost: usize) -> f64 {
    // Each repair packet makes one good.
    if lost == 0 || lost > repairs || repairs > MOST_REPAIRS {
        return if lost == 0 { 0.0 } else { 1.0 };
    }
    let size = SIZES.partition_point(|&size| size < media);
    let row = size * MOST_REPAIRS + repairs - 1;
    TABLE.get(row).map_or(1.0, |row| row[lost - 1])
}

/// [`fails`] of [`SIZES`], each number of repair packets, and each of lost ones. It takes some
/// ten milliseconds, at the first look.
static TABLE: LazyLock<Vec<[f64; MOST_REPAIRS]>> = LazyLock::new(|| {
    let rows = SIZES.iter().flat_map(|&media| {
        (1..=MOST_REPAIRS).map(move |repairs| {
            let columns = columns(media, repairs);
            std::array::from_fn(|lost| share(&columns, repairs, lost + 1))
        })
    });
    rows.collect()
});

/// Looks everything up once, so that nobody waits for it later.
pub fn prepare() {
    LazyLock::force(&TABLE);
}

/// The share of the ways to lose `lost` packets that cannot be made good; all of them, where
/// there are more than repair packets.
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
            // The next in order: the last that can move does, and those after it follow.
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
            // Marsaglia's xorshift, 2003: any generator would do.
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

    /// What is looked up is what tries say, or a little worse.
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

    /// By hand: the columns 011, 101 and 110 sum up to nothing, so no repair packet has one
    /// of them alone.
    #[test]
    fn what_hangs_together_is_not_made_good() {
        let columns = columns(4, 3);
        assert_eq!(columns, [0b011, 0b101, 0b110, 0b111]);
        assert_eq!(residual(&columns, 3, &[0, 1, 2]).len(), 3);
        assert_eq!(residual(&columns, 3, &[0, 1, 3]).len(), 3);
        assert_eq!(residual(&columns, 3, &[0, 1]).len(), 0);
    }

    /// By hand: of the 36 pairs of six media packets and three repair packets, with columns
    /// for four, those of the first and fifth and of the second and sixth are alike.
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
