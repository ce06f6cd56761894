//! Tells lost reports from lost packets, where a receiver reports on each packet once.
//!
//! *Source:* RFC 8888, section 3.1: a report covers consecutive packets of a stream, whether they
//! arrived or not. libwebrtc (`congestion_control_feedback_tracker.cc`) begins each report with the
//! packet after the last one of the report before, so that a number between two reports was in a
//! report that is lost.
//!
//! *Reading.* A packet that comes late begins a report before the end of an earlier one. Section
//! 3.1 demands that such a report repeats what has arrived; libwebrtc calls everything missing
//! there that it has already reported. So a report says nothing of what is missing before the end
//! of an earlier one.

use super::StreamReport;

/// The place in a stream up to which reports have come.
#[derive(Clone, Copy, Debug)]
pub struct Coverage {
    /// The number after the last one that a report covered; before the first report, the stream's
    /// first number.
    end: u16,
    has_begun: bool,
}

/// How a report joins on to the reports before.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Joint {
    /// Number of packets before the report's first one that no report has covered.
    pub skipped: u16,
    /// Number of packets at the report's beginning that are before the end of an earlier report.
    pub repeated: u16,
    /// Whether an earlier report has come, so that the skipped packets were in a lost one. Packets
    /// skipped before the first report may as well be lost themselves.
    pub has_earlier: bool,
}

impl Coverage {
    /// The coverage of a stream whose first packet has this number, before the first report.
    #[must_use]
    pub const fn new(first: u16) -> Self {
        Self {
            end: first,
            has_begun: false,
        }
    }

    /// Takes a report on the stream. A report on no packet changes nothing.
    pub fn join(&mut self, report: &StreamReport) -> Joint {
        let ahead = report.begin_sequence().wrapping_sub(self.end).cast_signed();
        let covered = report.covered();
        let has_earlier = self.has_begun;
        if covered == 0 {
            return Joint {
                skipped: 0,
                repeated: 0,
                has_earlier,
            };
        }
        self.has_begun = true;
        let joint = Joint {
            skipped: u16::try_from(ahead).unwrap_or(0),
            repeated: ahead.min(0).unsigned_abs().min(covered),
            has_earlier,
        };
        if joint.repeated < covered {
            self.end = report.begin_sequence().wrapping_add(covered);
        }
        joint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of packets that a report on `count` packets from `begin` on skips and repeats.
    fn join(coverage: &mut Coverage, begin: u16, count: usize) -> (u16, u16) {
        let report = StreamReport::new(7, begin, vec![None; count]).unwrap();
        let joint = coverage.join(&report);
        (joint.skipped, joint.repeated)
    }

    #[test]
    fn a_lost_report_leaves_a_gap_and_a_kept_one_none() {
        let mut coverage = Coverage::new(100);
        assert_eq!(join(&mut coverage, 100, 10), (0, 0));
        assert_eq!(join(&mut coverage, 110, 1), (0, 0));
        assert_eq!(join(&mut coverage, 118, 4), (7, 0));
        assert_eq!(join(&mut coverage, 122, 4), (0, 0));
    }

    #[test]
    fn numbers_wrap() {
        let mut coverage = Coverage::new(65_530);
        assert_eq!(join(&mut coverage, 65_530, 4), (0, 0));
        assert_eq!(join(&mut coverage, 65_534, 3), (0, 0), "up to 0");
        assert_eq!(join(&mut coverage, 4, 2), (3, 0), "1 to 3 are in no report");
        let mut coverage = Coverage::new(65_530);
        join(&mut coverage, 65_530, 2);
        assert_eq!(join(&mut coverage, 2, 2), (6, 0), "65532 to 1");
        assert_eq!(join(&mut coverage, 65_533, 9), (0, 7), "up to 3");
        assert_eq!(join(&mut coverage, 6, 1), (0, 0));
    }

    #[test]
    fn a_report_that_was_overtaken_only_repeats() {
        let mut coverage = Coverage::new(0);
        join(&mut coverage, 0, 10);
        assert_eq!(join(&mut coverage, 20, 10), (10, 0));
        assert_eq!(join(&mut coverage, 10, 10), (0, 10), "comes late");
        assert_eq!(
            join(&mut coverage, 30, 5),
            (0, 0),
            "the end is where it was"
        );
        // A packet came late, and the report goes on beyond the end.
        assert_eq!(join(&mut coverage, 28, 20), (0, 7));
        assert_eq!(join(&mut coverage, 48, 1), (0, 0));
    }

    #[test]
    fn the_first_report_has_none_before_it() {
        let mut coverage = Coverage::new(500);
        let report = StreamReport::new(7, 503, vec![None; 2]).unwrap();
        let joint = |skipped, has_earlier| Joint {
            skipped,
            repeated: 0,
            has_earlier,
        };
        let nothing = StreamReport::new(7, 9_000, Vec::new()).unwrap();
        assert_eq!(coverage.join(&nothing), joint(0, false));
        assert_eq!(coverage.join(&report), joint(3, false));
        let next = StreamReport::new(7, 506, vec![None; 2]).unwrap();
        assert_eq!(coverage.join(&next), joint(1, true));
        assert_eq!(coverage.join(&nothing), joint(0, true));
    }
}
