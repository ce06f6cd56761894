//! `mimosa serve`: streams a game, or the built-in scene, to a browser.

mod args;
mod config;
mod error;
mod open;
mod owner;
mod program;
mod qr;

use std::fmt::Write;
use std::io::IsTerminal;

use mimosa_host::{Audience, Told, Urls};

use crate::output::OutputError;
use crate::{doctor, log, secret_file, terminal};

pub(crate) use args::Args;
pub(crate) use config::{ConfigFile, State, config_folder};
pub(crate) use error::ServeError;
pub(crate) use program::checks;

pub(crate) fn run(args: &Args) -> Result<(), ServeError> {
    let file = args.file()?;
    let settings = args.settings(&file)?;
    let filter = log::filter(&settings.log).map_err(ServeError::Log)?;
    log::start(filter, settings.log_format).map_err(ServeError::Log)?;
    let file = file.create();
    report(&file);
    let is_terminal = std::io::stdout().is_terminal();
    let limits = if is_terminal {
        doctor::limits(&settings)
    } else {
        Vec::new()
    };
    let draws = is_terminal && args.draws();
    let sits_here = is_terminal && std::io::stdin().is_terminal();
    let opens = args.opens()
        && open::has_browser(sits_here, &settings.source, |name| std::env::var_os(name));
    let owning = owner::owning(args, &file)?;
    let audience = Audience {
        owning,
        sees_pins: is_terminal,
        tell: Box::new(move |told| {
            // The host runs even if nobody reads this.
            if let Err(error) = tell(told, &limits, draws) {
                tracing::warn!("cannot print where the host is: {error}");
            }
            if let Told::Ready(urls) = told
                && opens
                && let Some(url) = urls.own.as_ref().or(urls.play.first())
            {
                open::open(url.clone());
            }
        }),
    };
    mimosa_host::serve(settings, audience)?;
    Ok(())
}

/// Prints what the host tells, and with its addresses what limits it and, if it `draws`, a QR code.
fn tell(told: &Told, limits: &[String], draws: bool) -> Result<(), OutputError> {
    if let Told::Ready(urls) = told
        && draws
        && let Some(url) = qr::subject(&urls.play)
        && let Some(code) = qr::drawn(&url, terminal::columns())
    {
        terminal::print_drawing(&code)?;
    }
    terminal::print(&written(told))?;
    if let Told::Ready(_) = told {
        for limit in limits {
            terminal::print(&format!("limit  {limit}\n"))?;
        }
    }
    Ok(())
}

/// What the host tells, in lines for a terminal.
fn written(told: &Told) -> String {
    match told {
        Told::Ready(urls) => listed(urls),
        Told::Pin(pin) => {
            format!("pin    {pin}  for another device without the URL; good for 5 minutes\n")
        }
        Told::Paired { name, role } => format!(
            "paired {name}, which may {}; `mimosa devices revoke` takes that back\n",
            role.name()
        ),
    }
}

/// Logs which settings file is used.
fn report(file: &ConfigFile) {
    let Some(place) = &file.path else {
        tracing::warn!(
            "neither HOME nor XDG_CONFIG_HOME is an absolute path, so there is no settings file"
        );
        return;
    };
    let path = place.display();
    match &file.state {
        State::Read(text) => {
            tracing::info!("settings from {path}");
            if has_token(text) {
                secret_file::warn_of_others(place);
            }
        }
        State::Created => tracing::info!("created {path} with the default settings to edit"),
        State::Absent => tracing::info!("there is no {path}"),
        State::NotCreated(error) => tracing::warn!("cannot create {path}: {error}"),
    }
}

/// Whether a settings file sets a token or the relay's secret.
fn has_token(text: &str) -> bool {
    let sets = |line: &str| {
        let key = line.split('=').next().unwrap_or_default().trim();
        ["token", "view_token", "secret", "relay.secret"].contains(&key)
    };
    text.lines().any(sets)
}

/// The addresses for playing and for watching, one on each line.
pub(crate) fn listed(urls: &Urls) -> String {
    let mut text = String::new();
    for (what, urls) in [("play", &urls.play), ("watch", &urls.watch)] {
        for url in urls {
            let _ = writeln!(text, "{what:<6} {url}");
        }
    }
    if let Some(url) = &urls.own {
        let _ = writeln!(text, "{:<6} {url}", "own");
    }
    text
}
