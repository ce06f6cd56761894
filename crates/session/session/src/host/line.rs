//! The test of the line, which a page may ask for.
//!
//! While the test runs, its controller ([`mimosa_line`]) is in the place of the session's own, and no
//! picture is encoded. A test sends up to 16 MB, so that who may ask and how often is bounded:
//! only a connected session asks, which has shown its token, and [`LineGate`] lets one session of a host
//! at a time do so.

use mimosa_line::{Config, Handle, Line, Outcome, shared};
use mimosa_protocol::control::{
    BitsPerSecond, FeedbackKind, LineBuffer, LineReport, Millis, NoticeCode, ToPage,
};
use mimosa_units::{Time, TimeDelta};

use super::{Effect, Session};

/// Time from the beginning of one test to that of the next. Our choice: longer than any test takes, and
/// at most 13 Mbit/s in the long run.
const APART: TimeDelta = TimeDelta::from_millis(10_000);

/// Lets one session of a host at a time test its line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineGate {
    next: Time,
}

impl LineGate {
    /// Whether a test may begin at `now`; then the next one has to wait.
    pub fn opens(&mut self, now: Time) -> bool {
        let opens = now >= self.next;
        if opens {
            self.next = now + APART;
        }
        opens
    }
}

impl Session {
    /// Takes a page's request for a test.
    pub(super) fn line_test_wanted(&mut self) {
        if self.transport.agreed().feedback == FeedbackKind::None {
            self.line_not_tested(
                "this browser does not report what arrives, so that its line cannot be tested",
            );
        } else if self.testing.is_none() {
            self.effects.push(Effect::LineTestWanted);
        }
    }

    /// Tells the page why its line is not tested.
    pub fn line_not_tested(&mut self, reason: &str) {
        self.notice(NoticeCode::LineNotTested, reason.to_owned());
    }

    /// Begins a test of the line, in answer to [`Effect::LineTestWanted`].
    pub fn test_line(&mut self, now: Time) {
        if !self.is_connected() || self.testing.is_some() {
            return;
        }
        let (controller, handle) = shared(Config::default(), now);
        self.sender.interrupt(now, controller);
        self.testing = Some(handle);
        self.waiting = None;
        self.send(now);
    }

    /// Ends a test that is over, and tells the page the result.
    pub(super) fn judge_line(&mut self, now: Time) {
        let Some(result) = self.testing.as_ref().and_then(Handle::result) else {
            return;
        };
        self.testing = None;
        self.sender.resume(now);
        self.statistics.begin_anew();
        match result {
            Outcome::Found(line) => {
                tracing::info!(
                    rate = %line.rate,
                    grade = line.grade.map(|grade| grade.letter().to_string()),
                    medium = line.medium.name(),
                    "the line is tested"
                );
                self.tell(&ToPage::Line(Box::new(report(&line))));
            }
            Outcome::NoReports => self.line_not_tested("no report of what arrived came back"),
        }
    }
}

/// The page's form of a result.
fn report(line: &Line) -> LineReport {
    LineReport {
        rate: BitsPerSecond(line.rate),
        rate_is_least: line.is_rate_least,
        round_trip: Millis(line.round_trip),
        jitter: Millis(line.jitter),
        buffer: line.buffer.map(|buffer| LineBuffer {
            delay: Millis(buffer.delay),
            size: buffer.size.get(),
            is_least: buffer.is_least,
        }),
        grade: line.grade.map(mimosa_line::Grade::letter),
        loss_at_rest: line.loss_at_rest,
        loss_when_full: line.loss_when_full,
        burst: line.burst.get(),
        burst_is_least: line.is_burst_least,
        medium: line.medium.name().to_owned(),
        spent: line.spent.get(),
        took: Millis(line.took),
        words: line.in_words(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_test_at_a_time() {
        let mut gate = LineGate::default();
        let opens = [0, 1, 9_999, 10_000, 10_001, 19_999, 30_000]
            .map(|millis| gate.opens(Time::from_millis(millis)));
        assert_eq!(opens, [true, false, false, true, false, false, true]);
    }
}
