//! When pictures were captured, by their RTP timestamps.

use mimosa_units::PeerTime;

/// Unwraps RTP timestamps into times on the host's clock, which count from the first picture.
#[derive(Clone, Copy, Debug, Default)]
pub struct CaptureClock {
    newest: Option<(u32, i64)>,
}

impl CaptureClock {
    /// When the picture with this timestamp was captured: 90 ticks are a millisecond (RFC 6184, section
    /// 8.1). Timestamps wrap after 13 hours; the next picture is nearer than half of that.
    pub fn at(&mut self, timestamp: u32) -> PeerTime {
        let (before, ticks) = self.newest.unwrap_or((timestamp, 0));
        let step = timestamp.wrapping_sub(before).cast_signed();
        let ticks = ticks + i64::from(step);
        self.newest = Some((timestamp, ticks));
        PeerTime::from_nanos(ticks * 100_000 / 9)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_wrap_and_go_back() {
        let mut clock = CaptureClock::default();
        let at = |millis: i64| PeerTime::from_nanos(millis * 1_000_000);
        assert_eq!(clock.at(u32::MAX - 89), at(0));
        assert_eq!(clock.at(1_350), at(16));
        assert_eq!(clock.at(0), at(1));
    }
}
