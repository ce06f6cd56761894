//! A controller from outside, whatever drives it.

use mimosa_facts::{Controller, Decision, Event};
use mimosa_foreign::Dialogue;
use mimosa_units::Time;

use crate::error::{OutsideError, Problem};

/// What carries the lines of a dialogue to a process or into a module, and the answers back.
pub(crate) trait Driver: std::fmt::Debug + Send {
    /// Tells an event, and takes the answers that are there.
    ///
    /// # Errors
    ///
    /// [`Problem`] after which the controller decides no more.
    fn ask(&mut self, dialogue: &mut Dialogue, now: Time, event: &Event<'_>)
    -> Result<(), Problem>;
}

/// A controller from outside.
#[derive(Debug)]
pub(crate) struct Driven<D> {
    name: String,
    dialogue: Dialogue,
    /// `None` after a failure, and where the controller did not begin.
    driver: Option<D>,
    failure: Option<String>,
}

impl<D> Driven<D> {
    /// The controller called `name` whose `dialogue` the driver has begun, or could not begin.
    pub(crate) fn new(name: &str, dialogue: Dialogue, begun: Result<D, Problem>) -> Self {
        let mut controller = Self {
            name: name.to_owned(),
            dialogue,
            driver: None,
            failure: None,
        };
        match begun {
            Ok(driver) => controller.driver = Some(driver),
            Err(problem) => controller.fail(problem),
        }
        controller
    }

    /// Ends the driver, and keeps why.
    fn fail(&mut self, problem: Problem) {
        let name = self.name.clone();
        self.failure = Some(OutsideError { name, problem }.to_string());
        self.driver = None;
    }

    /// Why the controller decides no more, if it does not.
    pub(crate) fn into_failure(self) -> Option<String> {
        self.failure
    }
}

impl<D: Driver> Controller for Driven<D> {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        if let Some(driver) = &mut self.driver
            && let Err(problem) = driver.ask(&mut self.dialogue, now, &event)
        {
            self.fail(problem);
        }
        self.dialogue.decision()
    }

    fn decision(&self) -> &Decision {
        self.dialogue.decision()
    }

    fn deadline(&self) -> Option<Time> {
        self.dialogue.deadline().filter(|_| self.failure.is_none())
    }

    fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }
}
