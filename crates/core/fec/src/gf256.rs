//! Arithmetic in the field of 256 elements: polynomials over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1
//! (0x11d), of which x is a generator.
//!
//! Addition is exclusive or; multiplication adds logarithms.

/// The modulus without its highest term.
const MODULUS: u8 = 0x1d;

/// The powers of x, twice in a row, so that a sum of two logarithms needs no remainder.
const POWERS: [u8; 510] = powers();
/// The exponent of x that gives an element; the entry of zero is not used.
const LOGARITHMS: [u8; 256] = logarithms();

const fn powers() -> [u8; 510] {
    let mut powers = [0; 510];
    let (mut power, mut index) = (1_u8, 0);
    while index < powers.len() {
        powers[index] = power;
        let reduce = power & 0x80 != 0;
        power <<= 1;
        if reduce {
            power ^= MODULUS;
        }
        index += 1;
    }
    powers
}

#[expect(clippy::cast_possible_truncation, reason = "a logarithm is below 255")]
const fn logarithms() -> [u8; 256] {
    let mut logarithms = [0; 256];
    let mut index = 0;
    while index < 255 {
        logarithms[POWERS[index] as usize] = index as u8;
        index += 1;
    }
    logarithms
}

/// The product of two elements.
pub(crate) const fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    POWERS[LOGARITHMS[a as usize] as usize + LOGARITHMS[b as usize] as usize]
}

/// `a` over `b`; zero when `b` is zero, which has no inverse.
pub(crate) const fn divide(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 {
        return 0;
    }
    POWERS[LOGARITHMS[a as usize] as usize + 255 - LOGARITHMS[b as usize] as usize]
}

/// Adds `factor` times `from` to `to`, element by element, up to the end of the shorter one.
pub(crate) fn add_scaled(to: &mut [u8], from: &[u8], factor: u8) {
    match factor {
        0 => {}
        1 => {
            for (to, from) in to.iter_mut().zip(from) {
                *to ^= from;
            }
        }
        _ => {
            let mut products = [0; 256];
            for (element, product) in (0..=u8::MAX).zip(&mut products) {
                *product = multiply(factor, element);
            }
            for (to, from) in to.iter_mut().zip(from) {
                *to ^= products[usize::from(*from)];
            }
        }
    }
}

/// Multiplies every element by `factor`.
pub(crate) fn scale(elements: &mut [u8], factor: u8) {
    for element in elements {
        *element = multiply(*element, factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with multiplication bit by bit.
    #[test]
    fn products_are_those_of_polynomials() {
        for a in 0..=u8::MAX {
            for b in 0..=u8::MAX {
                let (mut product, mut shifted) = (0, a);
                for bit in 0..8 {
                    if b >> bit & 1 == 1 {
                        product ^= shifted;
                    }
                    let reduce = shifted & 0x80 != 0;
                    shifted <<= 1;
                    if reduce {
                        shifted ^= MODULUS;
                    }
                }
                assert_eq!(multiply(a, b), product, "{a} times {b}");
                if b != 0 {
                    assert_eq!(divide(product, b), a, "{product} over {b}");
                }
            }
        }
    }

    #[test]
    fn slices_are_scaled_element_by_element() {
        let from: Vec<u8> = (0..=u8::MAX).collect();
        for factor in [0, 1, 2, 0x8e, u8::MAX] {
            let mut to = vec![0x5a; 256];
            add_scaled(&mut to, &from, factor);
            let mut scaled = from.clone();
            scale(&mut scaled, factor);
            for index in 0..256 {
                assert_eq!(to[index], 0x5a ^ scaled[index]);
            }
        }
    }
}
