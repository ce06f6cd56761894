//! Puts the times of reports on one clock.

use mimosa_units::{PeerTime, TimeDelta};

use super::TransportFeedback;
use super::feedback::{REFERENCE_BITS, REFERENCE_UNIT};

/// Puts the times of reports, whose reference wraps after 12.4 days, on one clock.
///
/// A reference is taken as the one nearest to the previous report's: when reports overtake each
/// other, it may go back by up to 6.2 days.
#[derive(Clone, Debug, Default)]
pub struct Unwrapper {
    /// Unwrapped reference of the last report.
    last: Option<i64>,
}

impl Unwrapper {
    /// A clock that has seen no report.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: None }
    }

    /// The sequence numbers of the packets that the report covers, with their arrival times on the
    /// receiver's clock; `None` for packets that did not arrive.
    pub fn statuses<'a>(
        &mut self,
        feedback: &'a TransportFeedback,
    ) -> impl Iterator<Item = (u16, Option<PeerTime>)> + use<'a> {
        let reference = self.unwrap(feedback.reference());
        let start = PeerTime::from_nanos(reference.saturating_mul(REFERENCE_UNIT.as_nanos()));
        feedback.arrivals().map(move |(sequence, arrival)| {
            let arrival = arrival.map(|after: TimeDelta| start + after);
            (sequence, arrival)
        })
    }

    fn unwrap(&mut self, reference: i32) -> i64 {
        let reference = i64::from(reference);
        let unwrapped = self.last.map_or(reference, |last| {
            let unused = i64::BITS - REFERENCE_BITS;
            let step = reference.wrapping_sub(last) << unused >> unused;
            last.saturating_add(step)
        });
        self.last = Some(unwrapped);
        unwrapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on_when_the_reference_wraps() {
        let mut unwrapper = Unwrapper::new();
        let most = (1 << 23) - 1;
        let steps = [most - 1, most, -most - 1, most, -most, 0, most, -5];
        let counts = steps.map(|reference| unwrapper.unwrap(reference));
        let (half, whole) = (1 << 23, 1 << 24);
        assert_eq!(
            counts,
            [
                half - 2,
                half - 1,
                half,
                half - 1,
                half + 1,
                whole,
                whole + half - 1,
                whole + whole - 5
            ]
        );
    }

    #[test]
    fn the_first_reference_may_be_below_zero() {
        let mut unwrapper = Unwrapper::new();
        assert_eq!(unwrapper.unwrap(-3), -3);
        assert_eq!(unwrapper.unwrap(2), 2);
    }
}
