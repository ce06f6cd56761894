//! Conversions and curves. They use only operations whose result IEEE 754 fixes, so that
//! the same scene has the same pixels on every machine.

/// Rounds `value` to the nearest byte; values beyond the ends become the end.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
pub(crate) fn byte(value: f32) -> u8 {
    (value + 0.5) as u8
}

/// The whole number below `value`, limited so that sums of a few cannot overflow.
///
/// The least x86-64 has no instruction for `f32::floor`.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the range fits")]
pub(crate) fn whole(value: f32) -> i32 {
    let near = value.clamp(-1_048_576.0, 1_048_576.0) as i32;
    near - i32::from(near as f32 > value && value >= -1_048_576.0)
}

/// The whole number below `value` as an index; zero for a value below zero.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the conversion saturates"
)]
pub(crate) fn index(value: f32) -> usize {
    value.min(1_048_576.0) as u32 as usize
}

/// A length as a signed number.
pub(crate) fn signed(length: usize) -> i32 {
    i32::try_from(length).unwrap_or(i32::MAX)
}

/// The even number at or above `value`, and at least 2.
pub(crate) fn even(value: f32) -> usize {
    (index(value.ceil()).next_multiple_of(2)).max(2)
}

/// The value between `from` at 0 and `to` at 1.
pub(crate) fn between(from: f32, to: f32, part: f32) -> f32 {
    from + (to - from) * part
}

/// A curve without corners from 0 below `from` to 1 above `to`.
pub(crate) fn smooth(from: f32, to: f32, value: f32) -> f32 {
    let part = ((value - from) / (to - from)).clamp(0.0, 1.0);
    part * part * (3.0 - 2.0 * part)
}

/// The fractional part of `value`, which is within a million of zero: from 0 to below 1.
#[inline]
pub(crate) fn fraction(value: f32) -> f32 {
    let part = value - whole(value) as f32;
    if part < 1.0 { part } else { 0.0 }
}

/// The sine of an angle in whole turns, by parabolas: off by 0.001 at most.
pub(crate) fn sine(turns: f32) -> f32 {
    let part = fraction(turns);
    let parabola = if part < 0.5 {
        16.0 * part * (0.5 - part)
    } else {
        -16.0 * (part - 0.5) * (1.0 - part)
    };
    parabola * (0.775 + 0.225 * parabola.abs())
}

/// The cosine of an angle in whole turns, by parabolas: off by 0.001 at most.
pub(crate) fn cosine(turns: f32) -> f32 {
    sine(turns + 0.25)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sine_is_close() {
        for step in -2000..2000_i16 {
            let turns = f32::from(step) / 1000.0;
            let true_sine = {
                // The test's sine of a quarter turn is its Taylor series.
                let angle = f64::from(fraction(turns)) * std::f64::consts::TAU;
                let angle = angle - std::f64::consts::PI;
                let (mut term, mut sum) = (angle, angle);
                for order in 1..14_i32 {
                    let order = f64::from(2 * order);
                    term *= -angle * angle / (order * (order + 1.0));
                    sum += term;
                }
                -sum
            };
            let error = f64::from(sine(turns)) - true_sine;
            assert!(error.abs() < 0.0012, "{turns} turns: off by {error}");
        }
    }

    #[test]
    fn conversions_saturate() {
        for (value, expected) in [(-3.0, 0), (f32::NAN, 0), (0.5, 1), (99.4, 99), (1e9, 255)] {
            assert_eq!(byte(value), expected, "{value}");
        }
        for (value, expected) in [(-0.5, -1), (-2.0, -2), (-1.001, -2), (1.999, 1), (3.0, 3)] {
            assert_eq!(whole(value), expected, "{value}");
        }
        assert_eq!(whole(f32::NAN), 0);
        assert_eq!(index(f32::INFINITY), 1_048_576);
        assert_eq!(whole(f32::NEG_INFINITY), -1_048_576);
        assert_eq!(index(-7.0), 0);
        assert_eq!([0.0, 2.0, 2.1, 5.0].map(even), [2, 2, 4, 6]);
    }
}
