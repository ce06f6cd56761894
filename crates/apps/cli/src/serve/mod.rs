//! `mimosa serve`: streams a game, or the built-in scene, to a browser.

mod args;
mod config;
mod error;
mod program;

use std::fmt::Write;

use mimosa_host::Urls;

use crate::{log, terminal};

pub(crate) use args::Args;
pub(crate) use config::{ConfigFile, State, config_folder};
pub(crate) use error::ServeError;
pub(crate) use program::checks;

pub(crate) fn run(args: &Args) -> Result<(), ServeError> {
    let file = args.file()?;
    let settings = args.settings(&file)?;
    let filter = log::filter(&settings.log).map_err(ServeError::Log)?;
    log::start(filter, settings.log_format).map_err(ServeError::Log)?;
    report(&file.create());
    mimosa_host::serve(settings, |urls| {
        // The host runs even if nobody reads the addresses.
        if let Err(error) = terminal::print(&listed(urls)) {
            tracing::warn!("cannot print where the host is: {error}");
        }
    })?;
    Ok(())
}

/// Logs which settings file is used.
fn report(file: &ConfigFile) {
    let Some(path) = &file.path else {
        tracing::warn!(
            "neither HOME nor XDG_CONFIG_HOME is an absolute path, so there is no settings file"
        );
        return;
    };
    let path = path.display();
    match &file.state {
        State::Read(_) => tracing::info!("settings from {path}"),
        State::Created => tracing::info!("created {path} with the default settings to edit"),
        State::Absent => tracing::info!("there is no {path}"),
        State::NotCreated(error) => tracing::warn!("cannot create {path}: {error}"),
    }
}

/// The addresses for playing and for watching, one on each line.
fn listed(urls: &Urls) -> String {
    let mut text = String::new();
    for (what, urls) in [("play", &urls.play), ("watch", &urls.watch)] {
        for url in urls {
            let _ = writeln!(text, "{what:<6} {url}");
        }
    }
    text
}
