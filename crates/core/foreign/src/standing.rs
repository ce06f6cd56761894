//! The standing decision of a foreign controller.

use mimosa_facts::{Decision, Event, Limits};
use mimosa_units::{Time, TimeDelta};

use crate::decision::{DecisionForm, FormError};

/// Least time to a timer: a controller that asks for an earlier one, or for one that has passed,
/// gets this one, so that a run always goes on. Our choice: a tenth of the time between packets of
/// 1200 bytes at 10 Mbit/s.
const SHORTEST_TIMER: TimeDelta = TimeDelta::from_micros(100);

/// Least time between two groups of probes. Each packet that leaves is an event, at which a controller
/// could send a group again, without end. Our choice: shorter than any frame interval up to 100
/// frames a second.
const BETWEEN_PROBES: TimeDelta = TimeDelta::from_millis(10);

/// What holds of a foreign controller's decisions: each changes parts of the one before.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    limits: Limits,
    decision: Decision,
    deadline: Option<Time>,
    /// When the newest group of probes was decided on.
    probed: Option<Time>,
}

impl Standing {
    /// The decision before any answer: the limits' first target, without a timer.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            decision: Decision::starting_at(limits.start()),
            deadline: None,
            probed: None,
        }
    }

    /// The present decision.
    #[must_use]
    pub const fn decision(&self) -> &Decision {
        &self.decision
    }

    /// When the controller wants to be told `timer`; `None` for never.
    #[must_use]
    pub const fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Ends what an event ends, before the controller is told it: a frame's limit when the next
    /// frame is due, and the timer when it has come.
    pub const fn before(&mut self, event: &Event<'_>) {
        match event {
            Event::FrameDue { .. } => self.decision.frame_limit = None,
            Event::Timer => self.deadline = None,
            _ => {}
        }
    }

    /// Changes the decision as an answer says that was given at `now`. Without a timer in it, the
    /// controller has none. A timer comes 100 µs after `now` at the earliest.
    ///
    /// # Errors
    ///
    /// [`FormError`] for the first field whose value means nothing; then everything stays as it
    /// was.
    pub fn apply(&mut self, now: Time, form: &DecisionForm) -> Result<(), FormError> {
        let before = self.decision.probe.map(|probe| probe.id);
        let new = form.probe.as_ref().map(|probe| probe.id);
        let is_new = new.is_some() && new != before;
        let is_soon = |probed: Time| now.since(probed) < BETWEEN_PROBES;
        if is_new && self.probed.is_some_and(is_soon) {
            return Err(FormError::TooSoon(BETWEEN_PROBES));
        }
        form.apply(&mut self.decision, self.limits)?;
        if is_new {
            self.probed = Some(now);
        }
        let timer = form.timer_ns.map(Time::from_nanos);
        self.deadline = timer.map(|timer| timer.max(now + SHORTEST_TIMER));
        Ok(())
    }

    /// Removes the limit of a frame that is no longer the newest.
    pub(crate) const fn drop_frame_limit(&mut self) {
        self.decision.frame_limit = None;
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::FrameId;
    use mimosa_units::{Bytes, Rate};

    use super::*;
    use crate::decision::ProbeForm;

    fn standing() -> Standing {
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        Standing::new(Limits::new(mbps(1), mbps(2), mbps(10)))
    }

    #[test]
    fn a_limit_ends_with_its_frame_and_a_timer_with_its_event() {
        let mut standing = standing();
        let form = DecisionForm {
            frame_limit_bytes: Some(9_000.0),
            timer_ns: Some(5_000_000),
            ..DecisionForm::default()
        };
        standing.apply(Time::ZERO, &form).unwrap();
        assert_eq!(standing.decision().frame_limit, Some(Bytes::new(9_000)));
        assert_eq!(standing.deadline(), Some(Time::from_millis(5)));
        standing.before(&Event::Timer);
        assert_eq!(standing.deadline(), None);
        assert!(standing.decision().frame_limit.is_some());
        standing.before(&Event::FrameDue {
            frame: FrameId(1),
            interval: TimeDelta::from_millis(16),
        });
        assert_eq!(standing.decision().frame_limit, None);
    }

    #[test]
    fn probes_and_frames_are_bounded() {
        let mut standing = standing();
        let probe = |id, size: f64| DecisionForm {
            probe: Some(ProbeForm {
                id,
                packets: 3,
                interval_ns: 0,
                size_bytes: Some(size),
                after_frame: None,
            }),
            frame_limit_bytes: Some(1e18),
            ..DecisionForm::default()
        };
        standing.apply(Time::ZERO, &probe(1, 200.0)).unwrap();
        let second_at_10_mbps = Bytes::new(1_250_000);
        assert_eq!(standing.decision().frame_limit, Some(second_at_10_mbps));
        standing.apply(Time::ZERO, &probe(1, 200.0)).unwrap();
        let soon = standing.apply(Time::from_millis(9), &probe(2, 200.0));
        assert_eq!(soon, Err(FormError::TooSoon(BETWEEN_PROBES)));
        standing
            .apply(Time::from_millis(10), &probe(2, 200.0))
            .unwrap();
        let large = standing.apply(Time::from_millis(20), &probe(3, 65_508.0));
        assert_eq!(large, Err(FormError::ProbeSize(Bytes::new(65_508))));
    }

    #[test]
    fn a_timer_never_stands_in_the_past() {
        let mut standing = standing();
        let now = Time::from_millis(7);
        for asked in [0, 7_000_000] {
            let form = DecisionForm {
                timer_ns: Some(asked),
                ..DecisionForm::default()
            };
            standing.apply(now, &form).unwrap();
            assert_eq!(standing.deadline(), Some(now + SHORTEST_TIMER), "{asked}");
        }
    }
}
