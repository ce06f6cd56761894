//! The queue before the bottleneck: `queue` and `class` of `[link]`. Each queue reads its own
//! keys, in `mimosa_net::queue`; here is what the link tells it.

use mimosa_net::queue::{Classes, DropTailConfig, KeyProblem, QueueConfig, Surroundings};
use mimosa_units::{Bytes, Rate};

use super::parse::{Read, Reader};
use super::raw;

/// The link of a queue, and who comes to it.
pub(super) struct Place<'a> {
    pub(super) link: &'a raw::Link,
    /// Size of the largest packet that comes.
    pub(super) largest: Bytes,
    /// Names of the flows, in order.
    pub(super) flows: &'a [String],
}

impl Reader<'_> {
    /// The link's queue, with its classes.
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

    /// The link's queue; `classes` are what a queue of classes finds.
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
        QueueConfig::read(queue, &around).map_err(|error| match error.problem {
            KeyProblem::Form(message) => self.not_toml(error.at, &message),
            problem => self.error(error.at, problem),
        })
    }
}

/// The rate to judge a limit in time by: a trace's may be small for a moment, and that is the
/// trace's business.
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
