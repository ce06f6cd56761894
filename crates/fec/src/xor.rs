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

/// Most repair packets of a frame: more columns than a frame has packets.
pub const MOST_REPAIRS: usize = 12;
/// Most media packets of one: the longest mask of the format.
pub const MOST_MEDIA: usize = 109;
/// So many sets of lost packets are all looked at: the pairs of 77 packets. Our choice.
const MOST_SETS: f64 = 3_000.0;
/// Of more, so many are tried out. Our choice: an error of a fortieth.
const TRIALS: u32 = 400;

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
    let mut there: Vec<u32> = (0..repairs)
        .filter(|number| !lost.contains(&(media + number)))
        .map(|number| 1 << number)
        .collect();
    loop {
        let alone = there.iter().position(|&bit| {
            let mut its = missing.iter().filter(|&&place| columns[place] & bit != 0);
            its.next().is_some() && its.next().is_none()
        });
        let Some(position) = alone else {
            return missing;
        };
        let bit = there.swap_remove(position);
        missing.retain(|&place| columns[place] & bit == 0);
    }
}

/// The share of the ways to lose `lost` of a frame's packets that cannot be made good. Where
/// there are many ways, some are tried out: the same for the same numbers.
#[must_use]
pub fn fails(media: usize, repairs: usize, lost: usize) -> f64 {
    let places = media + repairs;
    if lost == 0 || lost > places {
        return 0.0;
    }
    let columns = columns(media, repairs);
    let is_bad = |set: &[usize]| !residual(&columns, repairs, set).is_empty();
    #[expect(clippy::cast_precision_loss, reason = "places are few")]
    let sets: f64 = (0..lost)
        .map(|i| (places - i) as f64 / (i + 1) as f64)
        .product();
    let (mut bad, mut all) = (0_u32, 0_u32);
    if sets <= MOST_SETS {
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
    let mut state = 0x9E37_79B9_7F4A_7C15_u64 ^ ((media as u64) << 32 | lost as u64);
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
