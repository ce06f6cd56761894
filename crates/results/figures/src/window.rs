//! Which part of a run the figures are about.

use mimosa_scenario::Scenario;
use mimosa_units::Time;

/// Which part of a run the figures are about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Window {
    /// What happens before does not count.
    pub from: Time,
    /// What happens from then on does not count; nothing counts after the end of the run.
    pub to: Time,
}

impl Window {
    /// All of a run.
    pub const WHOLE: Self = Self {
        from: Time::ZERO,
        to: Time::MAX,
    };

    /// Whether what happens at `at` counts.
    #[must_use]
    pub fn contains(self, at: Time) -> bool {
        self.from <= at && at < self.to
    }

    /// The part of the window that lies in a run of `scenario`, and the end of the run.
    pub(crate) fn within(self, scenario: &Scenario) -> (Self, Time) {
        let end = Time::ZERO + scenario.duration;
        let to = self.to.min(end);
        (Self { to, ..self }, end)
    }
}
