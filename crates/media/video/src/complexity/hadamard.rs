//! The sum of absolute transformed differences of 8x8 pixels, by the Hadamard
//! transform.

/// The number of pixels on a side.
pub(crate) const SIDE: usize = 8;

/// The differences of 8x8 pixels, row by row.
pub(crate) type Block = [[i16; SIDE]; SIDE];

/// Transforms the columns; 64 times the largest difference fits.
fn columns(rows: &mut Block) {
    for step in [1, 2, 4] {
        for first in (0..SIDE).filter(|row| row & step == 0) {
            let (a, b) = (rows[first], rows[first + step]);
            rows[first] = std::array::from_fn(|column| a[column] + b[column]);
            rows[first + step] = std::array::from_fn(|column| a[column] - b[column]);
        }
    }
}

fn transposed(rows: &Block) -> Block {
    std::array::from_fn(|row| std::array::from_fn(|column| rows[column][row]))
}

/// The first absolute coefficient of `block`, which is that of the mean, and the sum of
/// all, both over 8: as large as in a transform that keeps energy.
fn coefficients(block: &Block) -> (u32, u32) {
    let mut rows = *block;
    columns(&mut rows);
    let mut rows = transposed(&rows);
    columns(&mut rows);
    let sum = rows
        .iter()
        .flatten()
        .map(|value| u32::from(value.unsigned_abs()))
        .sum::<u32>();
    (u32::from(rows[0][0].unsigned_abs()) / 8, sum / 8)
}

/// The sum of all absolute coefficients of `block`.
pub(crate) fn satd(block: &Block) -> u32 {
    coefficients(block).1
}

/// The sum of the absolute coefficients of `block` without the mean's.
pub(crate) fn satd_of_texture(block: &Block) -> u32 {
    let (mean, all) = coefficients(block);
    all - mean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flat_difference_is_one_coefficient() {
        // A difference of 3 in each of 64 pixels is one coefficient of 192, over 8.
        assert_eq!(satd(&[[3; 8]; 8]), 24);
        assert_eq!(satd(&[[-3; 8]; 8]), 24);
        assert_eq!(satd_of_texture(&[[3; 8]; 8]), 0);
    }

    #[test]
    fn a_single_pixel_is_in_every_coefficient() {
        let mut block = [[0; 8]; 8];
        block[5][2] = 16;
        assert_eq!(satd(&block), 64 * 16 / 8);
    }

    #[test]
    fn a_wave_of_the_transform_is_one_coefficient() {
        let stripes: Block =
            std::array::from_fn(|_| std::array::from_fn(|x| if x % 2 == 0 { 10 } else { -10 }));
        assert_eq!(satd(&stripes), 80);
        assert_eq!(satd_of_texture(&stripes), 80);
    }

    #[test]
    fn the_greatest_differences_fit() {
        assert_eq!(satd(&[[255; 8]; 8]), 255 * 8);
    }
}
