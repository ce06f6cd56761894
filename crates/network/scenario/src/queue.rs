//! Reads the queue of a link: `queue` and `class` of `[link]`. Each queue reads its own keys,
//! in `mimosa_net::queue`; this module adds the facts about the link.

use mimosa_net::queue::{Classes, DropTailConfig, QueueConfig, Surroundings};
use mimosa_net::{KeyError, KeyProblem};
use mimosa_units::{Bytes, Rate};

use super::error::ScenarioError;
use super::parse::{Read, Reader};
use super::raw;

/// The place of a queue: its link, and the packets and flows that come to it.
pub(super) struct Place<'a> {
    pub(super) link: &'a raw::Link,
    /// Size of the largest packet that the queue gets.
    pub(super) largest: Bytes,
    /// Names of the flows, in the order of the file.
    pub(super) flows: &'a [String],
}

impl Reader<'_> {
    /// Reads the link's queue, with its classes.
    pub(super) fn queue(&self, place: &Place<'_>) -> Read<QueueConfig> {
        let link = place.link;
        if let (None, Some(classes)) = (&link.queue, &link.class) {
            let problem = KeyProblem::KeyNotFor {
                key: "class",
                kind: "a link whose queue is not of kind \"htb\"",
            };
            return Err(self.error(classes.span(), problem));
        }
        let classes = link.class.as_ref();
        let classes = classes.map_or(Classes::None, |tables| Classes::Given(tables.get_ref()));
        self.queue_with(place, classes)
    }

    /// Reads the link's queue. `classes` are the classes for a queue of classes.
    pub(super) fn queue_with(&self, place: &Place<'_>, classes: Classes<'_>) -> Read<QueueConfig> {
        let Some(queue) = &place.link.queue else {
            return Ok(QueueConfig::DropTail(DropTailConfig::default()));
        };
        let around = Surroundings {
            slowest: slowest(place.link),
            largest: place.largest,
            flows: place.flows,
            classes,
        };
        QueueConfig::read(queue, &around).map_err(|error| self.of_key(error))
    }

    /// The error for a mistake in the keys of a queue or a medium.
    pub(super) fn of_key(&self, error: KeyError) -> ScenarioError {
        match error.problem {
            KeyProblem::Form(message) => self.not_toml(error.at, &message),
            problem => self.error(error.at, problem),
        }
    }
}

/// The rate by which a limit in time is judged: the link's rate, or its lowest step above
/// zero. It is [`Rate::MAX`] for a trace, whose rate may be low for a moment.
fn slowest(link: &raw::Link) -> Rate {
    match (&link.rate, &link.steps) {
        (Some(rate), _) => *rate.get_ref(),
        (None, Some(steps)) => {
            let rates = steps.get_ref().iter().map(|step| step.rate);
            rates.filter(|r| *r > Rate::ZERO).min().unwrap_or(Rate::MAX)
        }
        (None, None) => Rate::MAX,
    }
}
