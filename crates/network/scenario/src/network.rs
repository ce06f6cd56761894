//! The network of a scenario in both directions, for an emulator. The traffic of the
//! scenario's flows does not matter here.

use mimosa_net::queue::{DropTailConfig, Limit, QueueConfig};
use mimosa_net::{KeyProblem, PathConfig, Schedule};
use mimosa_units::{Bytes, Rate, Where};
use toml::Spanned;

use super::error::ScenarioError;
use super::parse::{Files, Read, Reader, Variants};
use super::queue::Place;
use super::{LinkConfig, raw};

/// Largest packet on Ethernet, by which limits of queues are judged.
const LARGEST: Bytes = Bytes::new(1_500);

/// One direction of a network.
#[derive(Clone, Debug)]
pub struct Way {
    /// The link: a queue, and the rate over time.
    pub link: LinkConfig,
    /// The path after the link: propagation, jitter, loss, reordering and remarking.
    pub path: PathConfig,
}

/// A network in both directions.
#[derive(Clone, Debug)]
pub struct Network {
    /// The direction from the sender to the receiver: `[link]`.
    pub there: Way,
    /// The direction back: `[link.reverse]`. Without that table it has the delay and loss
    /// that `[link]` states (`return_delay` and others), an unlimited rate and no queue.
    pub back: Way,
}

/// The network that a file describes.
#[derive(Clone, Debug)]
pub struct LoadedNetwork {
    /// The seed that the file names; 1 when it names none.
    pub seed: u64,
    /// The variants of the network, each with its name, in the order of the file; a
    /// single one without a name when the file has no variants.
    pub variants: Vec<(Option<String>, Network)>,
    /// Remarks on what was not taken literally, in the file or in the files that it
    /// names, each with its place.
    pub notes: Vec<(Where, String)>,
}

/// Reads `[link]` of the scenario `text` in the file called `file`. The file needs no
/// duration and no flow; of the flows only the names are used, which classes may state.
///
/// # Errors
///
/// [`ScenarioError`] with the place of the first mistake.
pub fn load_network(
    text: &str,
    file: &str,
    files: &mut dyn Files,
) -> Result<LoadedNetwork, ScenarioError> {
    let mut reader = Reader::new(text, file, files);
    let raw = reader.raw()?;
    let variants: Variants<Network> = reader.variants(&raw, Reader::network)?;
    reader.notes.dedup();
    Ok(LoadedNetwork {
        seed: raw.seed.unwrap_or(1),
        variants,
        notes: reader.notes,
    })
}

impl Reader<'_> {
    fn network(&mut self, raw: &raw::File, variant: Option<&raw::Variant>) -> Read<Network> {
        let Some(plain) = &raw.link else {
            let problem = KeyProblem::Missing {
                key: "[link]",
                mend: "add it, with e.g. `rate = \"20Mbit/s\"`",
            };
            return Err(self.error(0..0, problem));
        };
        let at = plain.span();
        let plain = plain.get_ref();
        let link = variant.map_or_else(|| plain.clone(), |variant| plain.under(&variant.link));
        if let Some(slot) = &link.return_aggregation {
            let (key, kind) = ("return_aggregation", "an emulated link");
            return Err(self.error(slot.span(), KeyProblem::KeyNotFor { key, kind }));
        }
        if let Some(next) = &link.next {
            let (key, kind) = ("next", "an emulated link");
            return Err(self.error(next.span(), KeyProblem::KeyNotFor { key, kind }));
        }
        let names = self.flow_names(raw, &link)?;
        let queue = self.way_queue(&link, &names)?;
        let (forward, plain_back) = self.paths(&raw::Flow::default(), &link)?;
        let there = Way {
            link: self.service(&link, at, queue, &names)?,
            path: forward,
        };
        let back = match &link.reverse {
            Some(reverse) => self.reverse(&link, reverse, &names)?,
            None => Way {
                link: LinkConfig {
                    schedule: unlimited(),
                    queue: QueueConfig::DropTail(DropTailConfig {
                        limit: Limit::Unlimited,
                    }),
                    tick: None,
                    medium: None,
                },
                path: plain_back,
            },
        };
        Ok(Network { there, back })
    }

    /// Reads the direction back, where it has a table of its own.
    fn reverse(
        &mut self,
        link: &raw::Link,
        reverse: &Spanned<Box<raw::Link>>,
        names: &[String],
    ) -> Read<Way> {
        self.check_reverse(link, reverse)?;
        let (_, path) = self.paths(&raw::Flow::default(), link)?;
        Ok(Way {
            link: LinkConfig {
                schedule: self.reverse_schedule(reverse)?,
                queue: self.way_queue(reverse.get_ref(), names)?,
                tick: self.tick(reverse.get_ref())?,
                medium: None,
            },
            path,
        })
    }

    fn way_queue(&self, link: &raw::Link, flows: &[String]) -> Read<QueueConfig> {
        self.queue(&Place {
            link,
            largest: LARGEST,
            flows,
        })
    }

    /// The names of the scenario's flows, which classes may state. Real packets belong to
    /// none of these flows; a note says so if a class states one.
    fn flow_names(&mut self, raw: &raw::File, link: &raw::Link) -> Read<Vec<String>> {
        let both = [
            Some(link),
            link.reverse.as_ref().map(|own| &**own.get_ref()),
        ];
        let classes = both
            .into_iter()
            .flatten()
            .filter_map(|link| link.class.as_ref());
        let found = classes
            .flat_map(Spanned::get_ref)
            .find_map(|class| class.get_ref().first_in("flows"));
        if let Some(at) = found {
            let text = "real packets belong to no `flows`; only what `match` says puts them \
                        into classes";
            self.note(at, text.to_owned());
        }
        let name = |(index, flow): (usize, &Spanned<raw::Flow>)| match &flow.get_ref().name {
            Some(name) => self.name(name),
            None => Ok(format!("flow{}", index + 1)),
        };
        raw.flow.iter().enumerate().map(name).collect()
    }
}

/// A schedule with the highest rate there is, at which a packet takes a negligible time.
fn unlimited() -> Schedule {
    Schedule::constant(Rate::MAX)
}
