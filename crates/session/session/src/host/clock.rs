//! The clock of the RTP timestamps of pictures.

use mimosa_units::Time;

/// The RTP timestamp of a picture captured at `captured`: 90 kHz (RFC 6184, section 8.1), counted
/// from `offset`.
pub(super) fn picture_time(offset: u32, captured: Time) -> u32 {
    let ticks = u128::from(captured.as_nanos()) * 9 / 100_000;
    #[expect(clippy::cast_possible_truncation, reason = "it wraps by design")]
    let ticks = ticks as u32;
    offset.wrapping_add(ticks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_have_90000_ticks_a_second() {
        assert_eq!(picture_time(5, Time::from_secs(2)), 180_005);
        assert_eq!(picture_time(u32::MAX, Time::from_millis(1)), 89);
    }
}
