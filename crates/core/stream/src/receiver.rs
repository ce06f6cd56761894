//! The receiving end: records arrivals and decides when to report them.

use mimosa_facts::{Arrival, ArrivalReport};
use mimosa_units::{PeerTime, TimeDelta};

/// When a receiver reports.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FeedbackMode {
    /// The receiver reports each packet.
    PerPacket,
    /// The receiver reports when a packet asks for it, as in transport-wide-cc-02; a sender asks
    /// with the last packet of each frame and of each group of probes.
    OnRequest,
    /// The receiver reports once in this time, as in transport-wide-cc v1 and RFC 8888.
    Every(TimeDelta),
}

/// Collects arrivals and makes reports of them.
#[derive(Debug)]
pub struct Receiver {
    mode: FeedbackMode,
    /// How many arrivals of earlier reports each report repeats.
    repeat: usize,
    /// The newest arrivals; the last `fresh` are in no report yet.
    arrivals: Vec<Arrival>,
    fresh: usize,
    next_report: Option<PeerTime>,
    /// Reports returned by the caller, kept for their memory.
    spare: Vec<ArrivalReport>,
}

impl Receiver {
    /// A receiver that repeats the last `repeat` arrivals in each report, so
    /// that a lost report costs nothing.
    #[must_use]
    pub fn new(mode: FeedbackMode, repeat: usize) -> Self {
        Self {
            mode,
            repeat,
            arrivals: Vec::new(),
            fresh: 0,
            next_report: None,
            spare: Vec::new(),
        }
    }

    /// A packet arrived; `asks` when it carries a request for feedback. Returns the report to send,
    /// if one is due.
    pub fn packet(&mut self, arrival: Arrival, asks: bool) -> Option<ArrivalReport> {
        if self.mode == FeedbackMode::PerPacket && self.repeat == 0 {
            let mut report = self.spare.pop().unwrap_or_default();
            report.arrivals.push(arrival);
            return Some(report);
        }
        self.arrivals.push(arrival);
        self.fresh += 1;
        match self.mode {
            FeedbackMode::PerPacket => Some(self.report()),
            FeedbackMode::OnRequest => asks.then(|| self.report()),
            FeedbackMode::Every(interval) => {
                self.next_report.get_or_insert(arrival.at + interval);
                self.timer(arrival.at)
            }
        }
    }

    /// When to call [`Self::timer`]; `None` when no report is due.
    #[must_use]
    pub fn deadline(&self) -> Option<PeerTime> {
        self.next_report
    }

    /// Returns the report that is due at `now`.
    pub fn timer(&mut self, now: PeerTime) -> Option<ArrivalReport> {
        self.next_report.take_if(|due| *due <= now)?;
        Some(self.report())
    }

    /// Takes back a report that has been sent, to use its memory again.
    pub fn recycle(&mut self, mut report: ArrivalReport) {
        report.arrivals.clear();
        self.spare.push(report);
    }

    fn report(&mut self) -> ArrivalReport {
        let mut report = self.spare.pop().unwrap_or_default();
        let count = (self.fresh + self.repeat).min(self.arrivals.len());
        let from = self.arrivals.len() - count;
        report.arrivals.extend_from_slice(&self.arrivals[from..]);
        self.fresh = 0;
        // Forgets in blocks, and keeps what `repeat` can still reach.
        if self.arrivals.len() > 2 * self.repeat {
            let forget = self.arrivals.len() - self.repeat;
            self.arrivals.drain(..forget);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::TransportSequence;
    use mimosa_units::Ecn;

    use super::*;

    fn arrival(sequence: u16, ms: i64) -> Arrival {
        Arrival {
            sequence: TransportSequence(sequence),
            at: PeerTime::from_nanos(ms * 1_000_000),
            ecn: Ecn::NotEct,
        }
    }

    fn numbers(report: Option<ArrivalReport>) -> Option<Vec<u16>> {
        report.map(|r| r.arrivals.iter().map(|a| a.sequence.0).collect())
    }

    #[test]
    fn each_mode_reports_when_it_should() {
        let mut each = Receiver::new(FeedbackMode::PerPacket, 0);
        assert_eq!(numbers(each.packet(arrival(1, 0), false)), Some(vec![1]));
        assert_eq!(numbers(each.packet(arrival(2, 0), false)), Some(vec![2]));

        let mut asked = Receiver::new(FeedbackMode::OnRequest, 0);
        assert_eq!(numbers(asked.packet(arrival(1, 0), false)), None);
        assert_eq!(numbers(asked.packet(arrival(2, 0), true)), Some(vec![1, 2]));

        let mut timed = Receiver::new(FeedbackMode::Every(TimeDelta::from_millis(50)), 0);
        assert_eq!(numbers(timed.packet(arrival(1, 0), true)), None);
        assert_eq!(numbers(timed.packet(arrival(2, 49), true)), None);
        assert_eq!(timed.deadline(), Some(PeerTime::from_nanos(50_000_000)));
        assert_eq!(
            numbers(timed.timer(PeerTime::from_nanos(50_000_000))),
            Some(vec![1, 2])
        );
        assert_eq!(timed.deadline(), None, "nothing to say, no timer");
    }

    #[test]
    fn a_lost_report_is_made_good_by_the_next() {
        let mut receiver = Receiver::new(FeedbackMode::PerPacket, 2);
        let mut last = None;
        for n in 0..100 {
            last = numbers(receiver.packet(arrival(n, 0), false));
        }
        assert_eq!(last, Some(vec![97, 98, 99]));
        assert!(receiver.arrivals.len() <= 4, "memory is bounded");
    }
}
