//! A systematic Reed-Solomon code over GF(2^8) with a Cauchy matrix.
//!
//! Media packet `i` has the element `i`, and repair packet `j` the element `255 - j`. Repair packet
//! `j` is the sum over all media packets of
//!
//! ```text
//! c(j, i) = (255 + i) / (255 - j + i)      (additions are exclusive or)
//! ```
//!
//! times packet `i`. This is the Cauchy matrix 1 / (x + y) with each column multiplied so that the
//! first row is all ones. The first repair packet is therefore the exclusive or of the media
//! packets, and every square submatrix is still invertible, so that any `k` packets suffice.
//!
//! A packet is coded as its length in two bytes, its content, and zeros up to the longest packet of
//! the block, so that packets may be of unequal length.

use crate::error::CodeError;
use crate::gf256::{add_scaled, divide, multiply, scale};

/// Most packets in a block, media and repair packets together.
pub const MOST_PACKETS: usize = 255;
/// Bytes of the length before each packet.
const PREFIX: usize = 2;

/// The repair packets with the numbers from zero up to `repairs` of a block of `media` packets.
///
/// # Errors
///
/// [`CodeError::NoPackets`], [`CodeError::TooManyPackets`] or [`CodeError::PacketTooLong`] if the
/// block cannot be coded.
pub fn encode(media: &[&[u8]], repairs: usize) -> Result<Vec<Vec<u8>>, CodeError> {
    check_size(media.len(), repairs)?;
    (0..repairs).map(|number| repair(media, number)).collect()
}

/// The repair packet with this number, from zero, of a block of `media` packets.
///
/// # Errors
///
/// The errors of [`encode`] for a block with this repair packet.
pub fn repair(media: &[&[u8]], number: usize) -> Result<Vec<u8>, CodeError> {
    check_size(media.len(), number.saturating_add(1))?;
    let longest = media.iter().map(|packet| packet.len()).max().unwrap_or(0);
    let mut sum = vec![0; PREFIX + longest];
    for (index, packet) in media.iter().enumerate() {
        add_coded(&mut sum, index, packet, coefficient(number, index))?;
    }
    Ok(sum)
}

/// Decodes the `count` media packets of a block from `available`, which are packets with their
/// places: media packets have the places from zero, repair packets those from `count` on. More than
/// `count` packets are allowed.
///
/// # Errors
///
/// [`CodeError`] if there are too few packets, or some cannot be of the same block.
pub fn decode(count: usize, available: &[(usize, &[u8])]) -> Result<Vec<Vec<u8>>, CodeError> {
    check_size(count, 0)?;
    let mut media: Vec<Option<&[u8]>> = vec![None; count];
    let mut repairs: Vec<(usize, &[u8])> = Vec::new();
    for &(index, packet) in available {
        let is_known = match media.get_mut(index) {
            Some(place) => place.replace(packet).is_some(),
            None => index >= MOST_PACKETS || repairs.iter().any(|(known, _)| *known == index),
        };
        if is_known {
            return Err(CodeError::BadIndex { index });
        }
        if index >= count {
            repairs.push((index, packet));
        }
    }
    let missing: Vec<usize> = (0..count).filter(|&index| media[index].is_none()).collect();
    if repairs.len() < missing.len() {
        return Err(CodeError::TooFew {
            needed: count,
            available: available.len(),
        });
    }
    repairs.truncate(missing.len());
    let mut found = solve(count, &media, &missing, &repairs)?.into_iter();
    let whole = media.iter().enumerate().map(|(index, packet)| {
        packet.map_or_else(
            || found.next().ok_or(CodeError::Inconsistent { index }),
            |packet| Ok(packet.to_vec()),
        )
    });
    whole.collect()
}

/// Computes the packets at the places `missing` from as many repair packets.
fn solve(
    count: usize,
    media: &[Option<&[u8]>],
    missing: &[usize],
    repairs: &[(usize, &[u8])],
) -> Result<Vec<Vec<u8>>, CodeError> {
    let Some(&(_, first)) = repairs.first() else {
        return Ok(Vec::new());
    };
    let mut rows = Vec::with_capacity(repairs.len());
    for &(place, packet) in repairs {
        let (repair, length) = (place - count, packet.len());
        let bad = CodeError::BadLength {
            index: place,
            length,
        };
        if length < PREFIX || length != first.len() {
            return Err(bad);
        }
        // The sum without the packets that are there.
        let mut sum = packet.to_vec();
        for (index, known) in media.iter().enumerate() {
            if let Some(known) = known {
                if known.len() + PREFIX > length {
                    return Err(bad);
                }
                add_coded(&mut sum, index, known, coefficient(repair, index))?;
            }
        }
        let factors: Vec<u8> = missing.iter().map(|&i| coefficient(repair, i)).collect();
        rows.push((factors, sum));
    }
    eliminate(&mut rows);
    let packets = missing.iter().zip(rows).map(|(&index, (_, coded))| {
        let (prefix, packet) = coded.split_at(PREFIX);
        let length = usize::from(u16::from_be_bytes([prefix[0], prefix[1]]));
        let inconsistent = CodeError::Inconsistent { index };
        let padding = packet.get(length..).ok_or(inconsistent)?;
        if padding.iter().any(|&byte| byte != 0) {
            return Err(inconsistent);
        }
        Ok(packet[..length].to_vec())
    });
    packets.collect()
}

/// Gauss-Jordan elimination, which turns equations into solutions. Every square submatrix of a
/// Cauchy matrix is invertible, and stays so during the elimination: no pivot is zero.
fn eliminate(rows: &mut [(Vec<u8>, Vec<u8>)]) {
    for column in 0..rows.len() {
        let (mut factors, mut sum) = std::mem::take(&mut rows[column]);
        let inverse = divide(1, factors[column]);
        scale(&mut factors, inverse);
        scale(&mut sum, inverse);
        for (other_factors, other_sum) in rows.iter_mut() {
            // The pivot's own row is empty at this point.
            if let Some(&factor) = other_factors.get(column) {
                add_scaled(other_factors, &factors, factor);
                add_scaled(other_sum, &sum, factor);
            }
        }
        rows[column] = (factors, sum);
    }
}

/// Adds `factor` times the coded form of a packet.
fn add_coded(sum: &mut [u8], index: usize, packet: &[u8], factor: u8) -> Result<(), CodeError> {
    let length = packet.len();
    let prefix = u16::try_from(length).map_err(|_| CodeError::PacketTooLong { index, length })?;
    for (byte, prefix) in sum.iter_mut().zip(prefix.to_be_bytes()) {
        *byte ^= multiply(factor, prefix);
    }
    if let Some(rest) = sum.get_mut(PREFIX..) {
        add_scaled(rest, packet, factor);
    }
    Ok(())
}

/// The coefficient of media packet `index` in repair packet `repair`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a block has at most 255 packets"
)]
const fn coefficient(repair: usize, index: usize) -> u8 {
    let (first, own, media) = (255, 255 - repair as u8, index as u8);
    divide(first ^ media, own ^ media)
}

const fn check_size(media: usize, repairs: usize) -> Result<(), CodeError> {
    if media == 0 {
        return Err(CodeError::NoPackets);
    }
    if media.saturating_add(repairs) > MOST_PACKETS {
        return Err(CodeError::TooManyPackets { media, repairs });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the first repair packet is the exclusive or, with the lengths in front.
    #[test]
    fn the_first_repair_packet_is_the_exclusive_or() {
        let coded = encode(&[&[1, 2, 3], &[0xff]], 1).unwrap();
        assert_eq!(coded, [[0, 3 ^ 1, 1 ^ 0xff, 2, 3]]);
    }

    /// Every pair of repair packets recovers every pair of losses.
    #[test]
    fn any_two_repair_packets_make_good_any_two_losses() {
        let packets: [&[u8]; 4] = [b"a", b"bcd", b"", b"efghij"];
        let coded = encode(&packets, 4).unwrap();
        for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
            for (c, d) in [(0, 1), (0, 3), (1, 2), (2, 3)] {
                let media = (0..4).filter(|&i| i != c && i != d);
                let mut there: Vec<_> = media.map(|i| (i, packets[i])).collect();
                there.extend([a, b].map(|i| (4 + i, coded[i].as_slice())));
                assert_eq!(decode(4, &there).unwrap(), packets);
            }
        }
    }

    /// No coefficient is zero or undefined, for the largest blocks.
    #[test]
    fn the_matrix_has_no_zero() {
        for media in 1..MOST_PACKETS {
            for repair in 0..MOST_PACKETS - media {
                for index in [0, media / 2, media - 1] {
                    assert_ne!(coefficient(repair, index), 0, "{media} {repair} {index}");
                }
            }
        }
    }
}
