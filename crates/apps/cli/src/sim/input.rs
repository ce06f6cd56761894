//! What is to be run: the scenario, and the part of it that counts.

use std::path::{Path, PathBuf};

use mimosa_figures::Window;
use mimosa_scenario::Loaded;
use mimosa_units::{Time, TimeDelta};

use super::error::SimError;
use crate::beside::{Beside, NO_SCENARIO, print_notes};
use crate::output::Files;
use crate::text;

/// A scenario file, read and checked.
pub(crate) struct Input {
    /// As it stands.
    pub(crate) text: String,
    /// What it means, without the variants that are not wanted.
    pub(crate) loaded: Loaded,
    /// The part that counts, within every run.
    pub(crate) window: Window,
    /// Whether that is all of it.
    pub(crate) whole: bool,
}

/// What of a file is to be run.
pub(crate) struct Wanted<'a> {
    /// The scenario file.
    pub(crate) file: &'a Path,
    /// This variant alone.
    pub(crate) variant: Option<&'a str>,
    /// The part that counts begins here.
    pub(crate) from: TimeDelta,
    /// And ends here, or with the run.
    pub(crate) to: Option<TimeDelta>,
}

/// Reads the scenario and what it names, which `files` then know, and prints what was not
/// taken literally.
pub(crate) fn read(wanted: &Wanted<'_>, files: &mut Files) -> Result<Input, SimError> {
    let path = wanted.file;
    let text = text::read(path, NO_SCENARIO)?;
    files.reads("scenario", path);
    let mut folder = Beside::of(path, files);
    let mut loaded = mimosa_scenario::load(&text, &path.display().to_string(), &mut folder)?;
    if let Some(name) = wanted.variant {
        choose(&mut loaded, name, path)?;
    }
    print_notes(&loaded.notes);
    let (window, whole) = window(wanted, &loaded)?;
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

fn window(wanted: &Wanted<'_>, loaded: &Loaded) -> Result<(Window, bool), SimError> {
    let lengths = loaded
        .variants
        .iter()
        .map(|(_, scenario)| scenario.duration);
    let end = lengths.min().unwrap_or(TimeDelta::ZERO);
    let (from, to) = (wanted.from, wanted.to.unwrap_or(end));
    if from >= to || to > end {
        return Err(SimError::Window { from, to, end });
    }
    let window = Window {
        from: Time::ZERO + from,
        to: Time::ZERO + to,
    };
    Ok((window, from == TimeDelta::ZERO && to == end))
}
