//! Builds controllers from the names and parameters in settings.

use std::path::Path;
use std::sync::Arc;

use mimosa_cc::BuildError;
use mimosa_facts::{Controller, Decision, Event, Limits};
use mimosa_foreign::{Maker, OutsideName};
use mimosa_outside::Pace;
use mimosa_settings::{ControllerSettings, keys};
use mimosa_units::Time;

use crate::error::HostError;

/// Makes the controller called `name` with `params` in place of defaults.
///
/// [`mimosa_cc::build`] is generic over the form of parameters, and the compiler builds the readers
/// of all parameters wherever it is called. This function calls it once for the host and for the
/// check of its settings.
///
/// # Errors
///
/// [`BuildError`] if there is no such controller or parameter, or if a value is invalid.
pub fn build_controller(
    name: &str,
    params: &toml::Table,
    limits: Limits,
) -> Result<Box<dyn Controller>, BuildError> {
    mimosa_cc::build(name, toml::Value::Table(params.clone()), limits)
}

/// Checks a controller that is not part of the program, `wasm:FILE` or `process:COMMAND`, by making
/// one; `None` if the name has neither form. Paths count from the folder in which the program runs.
///
/// # Errors
///
/// A text that says what is wrong with the controller, and what to do instead.
#[must_use]
pub fn check_outside(
    name: &str,
    params: &toml::Table,
    limits: Limits,
) -> Option<Result<(), String>> {
    let found = find(name)?;
    Some(found.and_then(|maker| maker.check(params, limits)))
}

fn find(name: &str) -> Option<Result<Arc<dyn Maker>, String>> {
    let name = OutsideName::of(name)?;
    let found = mimosa_outside::find(name, Path::new(""), Pace::Live);
    Some(found.map_err(|error| error.to_string()))
}

/// The controller's name as players are told it: where the host has its files, and which programs it
/// runs, is not for them.
pub(crate) fn shown(name: &str) -> &str {
    match OutsideName::of(name) {
        None => name,
        Some(OutsideName::Wasm { .. }) => "wasm",
        Some(OutsideName::Process { .. }) => "process",
    }
}

/// Makes the controllers of sessions.
#[derive(Debug)]
pub(crate) struct Controllers {
    name: String,
    params: toml::Table,
    /// What makes the settings' controller, if it is not part of the program.
    maker: Option<Arc<dyn Maker>>,
}

impl Controllers {
    /// The controllers of these settings, of which one is made to see that it begins.
    pub(crate) fn new(settings: &ControllerSettings) -> Result<Self, HostError> {
        let (name, params) = (&settings.name, &settings.params);
        let maker = find(name).transpose().map_err(HostError::Outside)?;
        match &maker {
            Some(maker) => maker
                .check(params, settings.limits)
                .map_err(HostError::Outside)?,
            None => drop(build_controller(name, params, settings.limits)?),
        }
        Ok(Self {
            name: name.clone(),
            params: params.clone(),
            maker,
        })
    }

    /// The controller called `name` for a new session: the settings' with their parameters, and
    /// another one without any.
    pub(crate) fn make(
        &self,
        name: &str,
        limits: Limits,
    ) -> Result<Box<dyn Controller>, HostError> {
        if name != self.name {
            return Ok(build_controller(name, &toml::Table::new(), limits)?);
        }
        Ok(match &self.maker {
            Some(maker) => Box::new(Guarded {
                outside: maker.make(&self.params, limits),
                limits,
                fallback: None,
            }),
            None => build_controller(name, &self.params, limits)?,
        })
    }
}

/// A controller from outside, and the default one from when it has failed. A player goes on playing
/// under a controller that is known to keep the network's queue short; ending the session would
/// punish the player for a mistake of the host's owner, and a decision that nobody changes any more
/// would overload a network whose rate falls.
#[derive(Debug)]
struct Guarded {
    outside: Box<dyn Controller>,
    limits: Limits,
    fallback: Option<Box<dyn Controller>>,
}

impl Guarded {
    /// The default controller, which begins at the last target or at the first, whichever is lower.
    fn fall_back(&self) -> Option<Box<dyn Controller>> {
        let why = self.outside.failure()?;
        let name = keys::CONTROLLER.default;
        tracing::error!(why, "the session goes on with the controller `{name}`");
        let (limits, last) = (self.limits, self.outside.decision().target);
        let limits = Limits::new(limits.min(), limits.start().min(last), limits.max());
        build_controller(name, &toml::Table::new(), limits).ok()
    }

    fn acting(&self) -> &dyn Controller {
        self.fallback.as_ref().unwrap_or(&self.outside).as_ref()
    }
}

impl Controller for Guarded {
    fn handle(&mut self, now: Time, event: Event<'_>) -> &Decision {
        if self.fallback.is_none() {
            self.outside.handle(now, event);
            self.fallback = self.fall_back();
        }
        if let Some(fallback) = &mut self.fallback {
            fallback.handle(now, event);
        }
        self.acting().decision()
    }

    fn decision(&self) -> &Decision {
        self.acting().decision()
    }

    fn deadline(&self) -> Option<Time> {
        self.acting().deadline()
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{Cause, FrameId};
    use mimosa_units::{Rate, TimeDelta};

    use super::*;

    /// A controller that decides once, and has failed after that.
    #[derive(Debug)]
    struct Failing {
        decision: Decision,
        failure: Option<String>,
    }

    impl Controller for Failing {
        fn handle(&mut self, now: Time, _event: Event<'_>) -> &Decision {
            if now > Time::ZERO {
                self.failure = Some("the process ended".to_owned());
            }
            &self.decision
        }

        fn decision(&self) -> &Decision {
            &self.decision
        }

        fn failure(&self) -> Option<&str> {
            self.failure.as_deref()
        }
    }

    #[test]
    fn the_default_controller_takes_over_from_the_last_target() {
        let mbps = |mbps: u64| Rate::from_kbps(1_000 * mbps);
        let limits = Limits::new(mbps(1), mbps(5), mbps(50));
        let mut guarded = Guarded {
            outside: Box::new(Failing {
                decision: Decision {
                    cause: Cause::External,
                    ..Decision::starting_at(mbps(2))
                },
                failure: None,
            }),
            limits,
            fallback: None,
        };
        let due = Event::FrameDue {
            frame: FrameId(0),
            interval: TimeDelta::from_millis(16),
        };
        assert_eq!(guarded.handle(Time::ZERO, due).cause, Cause::External);
        let decision = *guarded.handle(Time::from_millis(16), due);
        assert_ne!(decision.cause, Cause::External);
        assert_eq!((decision.target, guarded.failure()), (mbps(2), None));
    }

    #[test]
    fn players_are_not_told_files_and_commands() {
        assert_eq!(shown("pudica"), "pudica");
        assert_eq!(shown("process:python3 secret.py"), "process");
        assert_eq!(shown("wasm:secret.wasm"), "wasm");
    }
}
