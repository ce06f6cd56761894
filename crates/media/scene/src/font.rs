//! Letters and digits of five by seven blocks.

use crate::canvas::Canvas;
use crate::colour::Texel;
use crate::number::signed;

/// The number of blocks from one letter to the next.
const ADVANCE: usize = 6;

/// The rows of a letter from the top; bit 4 is the leftmost block.
fn rows(letter: char) -> [u8; 7] {
    match letter {
        '0' => [14, 17, 19, 21, 25, 17, 14],
        '1' => [4, 12, 20, 4, 4, 4, 31],
        '2' => [14, 17, 1, 6, 8, 16, 31],
        '3' => [30, 1, 1, 14, 1, 1, 30],
        '4' => [18, 18, 18, 31, 2, 2, 2],
        '5' => [31, 16, 16, 30, 1, 1, 30],
        '6' => [14, 16, 16, 30, 17, 17, 14],
        '7' => [31, 1, 2, 2, 4, 4, 4],
        '8' => [14, 17, 17, 14, 17, 17, 14],
        '9' => [14, 17, 17, 15, 1, 1, 14],
        'A' => [14, 17, 17, 31, 17, 17, 17],
        'B' => [30, 17, 17, 30, 17, 17, 30],
        'C' => [15, 16, 16, 16, 16, 16, 15],
        'D' => [30, 17, 17, 17, 17, 17, 30],
        'E' => [31, 16, 16, 30, 16, 16, 31],
        'F' => [31, 16, 16, 30, 16, 16, 16],
        'G' => [15, 16, 16, 19, 17, 17, 15],
        'H' => [17, 17, 17, 31, 17, 17, 17],
        'I' => [31, 4, 4, 4, 4, 4, 31],
        'J' => [7, 1, 1, 1, 1, 17, 14],
        'K' => [17, 18, 20, 24, 20, 18, 17],
        'L' => [16, 16, 16, 16, 16, 16, 31],
        'M' => [17, 27, 21, 21, 17, 17, 17],
        'N' => [17, 25, 25, 21, 19, 19, 17],
        'O' => [14, 17, 17, 17, 17, 17, 14],
        'P' => [30, 17, 17, 30, 16, 16, 16],
        'Q' => [14, 17, 17, 17, 21, 18, 13],
        'R' => [30, 17, 17, 30, 20, 18, 17],
        'S' => [15, 16, 16, 14, 1, 1, 30],
        'T' => [31, 4, 4, 4, 4, 4, 4],
        'U' => [17, 17, 17, 17, 17, 17, 14],
        'V' => [17, 17, 17, 17, 10, 10, 4],
        'W' => [17, 17, 17, 21, 21, 27, 17],
        'X' => [17, 17, 10, 4, 10, 17, 17],
        'Y' => [17, 17, 10, 4, 4, 4, 4],
        'Z' => [31, 1, 2, 4, 8, 16, 31],
        '.' => [0, 0, 0, 0, 0, 12, 12],
        '-' => [0, 0, 0, 14, 0, 0, 0],
        _ => [0; 7],
    }
}

/// The width of `text` in pixels, with blocks of `block` pixels.
pub(crate) fn width(text: &str, block: usize) -> usize {
    (text.chars().count() * ADVANCE).saturating_sub(1) * block
}

/// Writes `text` with its upper left corner at a point.
pub(crate) fn write(
    canvas: &mut Canvas<'_>,
    text: &str,
    (left, top): (i32, i32),
    block: usize,
    ink: Texel,
) {
    for (place, letter) in text.chars().enumerate() {
        for (row, bits) in rows(letter).into_iter().enumerate() {
            for column in (0..5).filter(|column| bits >> (4 - column) & 1 == 1) {
                let x = left + signed((place * ADVANCE + column) * block);
                let y = top + signed(row * block);
                canvas.fill((x, y), (block, block), ink);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_letter_is_its_own() {
        let letters: Vec<char> = ('0'..='9')
            .chain('A'..='Z')
            .chain(['.', '-', ' '])
            .collect();
        let shapes: BTreeSet<[u8; 7]> = letters.iter().map(|&letter| rows(letter)).collect();
        assert_eq!(shapes.len(), letters.len());
        assert!(shapes.iter().flatten().all(|&bits| bits < 32));
        assert_eq!(width("AB", 2), 22);
        assert_eq!(width("", 2), 0);
    }
}
