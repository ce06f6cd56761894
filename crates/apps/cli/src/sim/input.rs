//! The scenario to run, and the window of it that counts.

use std::path::{Path, PathBuf};

use mimosa_figures::Window;
use mimosa_scenario::Loaded;
use mimosa_units::{Time, TimeDelta};

use super::error::SimError;
use crate::beside::{Beside, NO_SCENARIO, Outside, print_notes};
use crate::output::Files;
use crate::text;

/// A scenario file, read and checked.
pub(crate) struct Input {
    /// Text of the file.
    pub(crate) text: String,
    /// The scenarios of the variants that are wanted.
    pub(crate) loaded: Loaded,
    /// The window of each run that counts.
    pub(crate) window: Window,
    /// Whether the window is the whole run.
    pub(crate) whole: bool,
}

/// What to run of a file.
pub(crate) struct Wanted<'a> {
    /// The scenario file.
    pub(crate) file: &'a Path,
    /// The only variant to run; all if `None`.
    pub(crate) variant: Option<&'a str>,
    /// Beginning of the window.
    pub(crate) from: TimeDelta,
    /// End of the window; the end of the run if `None`.
    pub(crate) to: Option<TimeDelta>,
    /// The controllers from outside the program that the file may name.
    pub(crate) outside: Outside,
}

/// Reads the scenario and the files that it names, which are added to `files`. Prints notes on what
/// was not taken literally.
pub(crate) fn read(wanted: &Wanted<'_>, files: &mut Files) -> Result<Input, SimError> {
    let path = wanted.file;
    let text = text::read(path, NO_SCENARIO)?;
    files.reads("scenario", path);
    let mut folder = Beside::of(path, files).with(wanted.outside);
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
