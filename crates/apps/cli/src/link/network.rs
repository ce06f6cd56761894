//! Reads the network that a scenario file describes.

use std::path::Path;

use mimosa_net::{Channel, Direction};
use mimosa_scenario::{Network, Way, load_network};

use super::args::LinkArgs;
use super::error::CliError;
use crate::beside::{Beside, NO_SCENARIO, print_notes};
use crate::output::Files;
use crate::text;

/// A network with its seed.
pub(super) struct Read {
    pub(super) network: Network,
    pub(super) seed: u64,
}

/// Reads the network of the file `path` and the files that it names, which are added to `files`.
/// Prints notes on what was not taken literally.
pub(super) fn read(path: &Path, args: &LinkArgs, files: &mut Files) -> Result<Read, CliError> {
    let text = text::read(path, NO_SCENARIO)?;
    files.reads("scenario", path);
    let mut folder = Beside::of(path, files);
    let mut loaded = load_network(&text, &path.display().to_string(), &mut folder)?;
    print_notes(&loaded.notes);
    let known: Vec<_> = loaded
        .variants
        .iter()
        .filter_map(|(name, _)| name.clone())
        .collect();
    let known = known.join(", ");
    let at = match &args.variant {
        None if loaded.variants.len() == 1 => Some(0),
        None => {
            let path = path.to_owned();
            return Err(CliError::WhichVariant { path, known });
        }
        Some(name) => loaded
            .variants
            .iter()
            .position(|(own, _)| own.as_ref() == Some(name)),
    };
    let Some(at) = at else {
        let known = if known.is_empty() {
            "it has none at all, leave --variant out".to_owned()
        } else {
            format!("there is {known}")
        };
        return Err(CliError::NoVariant {
            path: path.to_owned(),
            name: args.variant.clone().unwrap_or_default(),
            known,
        });
    };
    let (_, network) = loaded.variants.swap_remove(at);
    Ok(Read {
        network,
        seed: args.seed.unwrap_or(loaded.seed),
    })
}

impl Read {
    /// Both directions of the network, idle.
    pub(super) fn directions(&self) -> (Direction, Direction) {
        let Network { there, back } = &self.network;
        if let Some(medium) = &there.link.medium {
            let there = (&there.link.queue, there.path, "there");
            let back = (&back.link.queue, back.path, "back");
            return Direction::over_medium(medium, there, back, self.seed);
        }
        let direction = |way: &Way, name| {
            let link = Channel::link(
                way.link.queue.build(self.seed),
                way.link.schedule.clone(),
                way.link.tick,
            );
            Direction::over_link(link, way.path, self.seed, name)
                .with_lanes(way.link.queue.lanes().len())
        };
        (direction(there, "there"), direction(back, "back"))
    }

    /// Names of the queues in each direction.
    pub(super) fn lanes(&self) -> [Vec<String>; 2] {
        let Network { there, back } = &self.network;
        [there.link.queue.lanes(), back.link.queue.lanes()]
    }
}
