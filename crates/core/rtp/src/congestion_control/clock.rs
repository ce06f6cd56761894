//! Puts the times of reports on one clock.

use mimosa_units::{Ecn, PeerTime};

use super::metric::{ArrivalOffset, Metric, ReportTime, TICKS_PER_OFFSET};
use super::{CongestionFeedback, StreamReport};

/// The arrival of one packet.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Arrived {
    /// Arrival time on the receiver's clock, up to 1/1024 s too late; `None` when the report does
    /// not say.
    pub at: Option<PeerTime>,
    /// The ECN field with which the packet arrived.
    pub ecn: Ecn,
}

/// The status of one packet in a report.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status {
    /// SSRC of the packet's stream.
    pub ssrc: u32,
    /// RTP sequence number of the packet.
    pub sequence: u16,
    /// The arrival of the packet; `None` when it has not arrived.
    pub arrival: Option<Arrived>,
}

/// Puts the times of reports, which wrap after 18.2 hours, on one clock.
///
/// The clock takes a report's time as the one nearest to the previous report's: when reports
/// overtake each other, the time may go back by up to 9.1 hours.
#[derive(Clone, Debug, Default)]
pub struct ReportClock {
    /// Unwrapped time of the last report.
    last: Option<i64>,
}

impl ReportClock {
    /// A clock that has seen no report.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: None }
    }

    /// The statuses of all packets in the report, stream by stream.
    pub fn statuses<'a>(
        &mut self,
        feedback: &'a CongestionFeedback,
    ) -> impl Iterator<Item = Status> + use<'a> {
        let ticks = self.unwrap(feedback.timestamp());
        feedback
            .streams()
            .iter()
            .flat_map(move |stream| statuses(stream, ticks))
    }

    fn unwrap(&mut self, timestamp: u32) -> i64 {
        let ticks = i64::from(timestamp);
        let unwrapped = self.last.map_or(ticks, |last| {
            const UNUSED: u32 = i64::BITS - u32::BITS;
            let step = ticks.wrapping_sub(last) << UNUSED >> UNUSED;
            last.saturating_add(step)
        });
        self.last = Some(unwrapped);
        unwrapped
    }
}

fn statuses(stream: &StreamReport, ticks: i64) -> impl Iterator<Item = Status> {
    stream.metrics().map(move |(sequence, metric)| Status {
        ssrc: stream.ssrc(),
        sequence,
        arrival: metric.map(|metric| arrived(metric, ticks)),
    })
}

fn arrived(metric: Metric, ticks: i64) -> Arrived {
    let at = match metric.offset {
        ArrivalOffset::Units(units) => {
            let before = i64::from(units) * TICKS_PER_OFFSET;
            let ticks = ticks.saturating_sub(before);
            Some(ReportTime { ticks }.to_peer())
        }
        ArrivalOffset::OverRange | ArrivalOffset::Unavailable => None,
    };
    Arrived {
        at,
        ecn: metric.ecn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_goes_on_when_the_time_wraps() {
        let mut clock = ReportClock::new();
        let steps = [u32::MAX - 1, u32::MAX, 0, u32::MAX, 2, 1 << 31, 0, 5];
        let counts = steps.map(|timestamp| clock.unwrap(timestamp));
        let whole = 1_i64 << 32;
        assert_eq!(
            counts,
            [
                whole - 2,
                whole - 1,
                whole,
                whole - 1,
                whole + 2,
                whole + (1 << 31),
                whole,
                whole + 5
            ]
        );
    }
}
