//! What is to be run: the scenario, and the part of it that counts.

use std::path::{Path, PathBuf};

use mimosa_sim::scenario::Files;
use mimosa_sim::{Loaded, Window};
use mimosa_units::{Time, TimeDelta};

use super::args::Args;
use super::error::SimError;

/// More notes than this would bury everything else.
const NOTES_SHOWN: usize = 5;

/// A scenario file, read and checked.
pub(super) struct Input {
    /// As it stands.
    pub(super) text: String,
    /// What it means, without the variants that are not wanted.
    pub(super) loaded: Loaded,
    /// The part that counts, within every run.
    pub(super) window: Window,
    /// Whether that is all of it.
    pub(super) whole: bool,
}

/// Paths in a scenario count from its own folder.
struct Beside<'a>(&'a Path);

impl Files for Beside<'_> {
    fn read(&mut self, path: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(path)).map_err(|error| error.to_string())
    }
}

/// Reads the scenario, and prints what was not taken literally.
pub(super) fn read(args: &Args) -> Result<Input, SimError> {
    let path = &args.file;
    let text = std::fs::read_to_string(path).map_err(|source| SimError::Read {
        path: path.clone(),
        source,
    })?;
    let mut folder = Beside(path.parent().unwrap_or(Path::new("")));
    let mut loaded = mimosa_sim::load(&text, &path.display().to_string(), &mut folder)?;
    if let Some(name) = &args.variant {
        choose(&mut loaded, name, path)?;
    }
    for (place, note) in loaded.notes.iter().take(NOTES_SHOWN) {
        eprintln!("note: {place}: {note}");
    }
    let more = loaded.notes.len().saturating_sub(NOTES_SHOWN);
    if more > 0 {
        eprintln!("note: and {more} lines more of that kind");
    }
    let (window, whole) = window(args, &loaded)?;
    Ok(Input {
        text,
        loaded,
        window,
        whole,
    })
}

/// Keeps the variant called `name` alone.
fn choose(loaded: &mut Loaded, name: &str, path: &Path) -> Result<(), SimError> {
    let names: Vec<_> = loaded
        .variants
        .iter()
        .filter_map(|(name, _)| name.as_deref())
        .collect();
    let known = if names.is_empty() {
        "it has none at all, leave --variant out".to_owned()
    } else {
        format!("there is {}", names.join(", "))
    };
    loaded
        .variants
        .retain(|(variant, _)| variant.as_deref() == Some(name));
    if loaded.variants.is_empty() {
        return Err(SimError::NoVariant {
            path: PathBuf::from(path),
            name: name.to_owned(),
            known,
        });
    }
    Ok(())
}

fn window(args: &Args, loaded: &Loaded) -> Result<(Window, bool), SimError> {
    let lengths = loaded
        .variants
        .iter()
        .map(|(_, scenario)| scenario.duration);
    let end = lengths.min().unwrap_or(TimeDelta::ZERO);
    let (from, to) = (args.from, args.to.unwrap_or(end));
    if from >= to || to > end {
        return Err(SimError::Window { from, to, end });
    }
    let window = Window {
        from: Time::ZERO + from,
        to: Time::ZERO + to,
    };
    Ok((window, from == TimeDelta::ZERO && to == end))
}
