//! The arguments of `mimosa serve`: a flag for each key of the settings.

use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command, FromArgMatches};
use mimosa_settings::{Flags, KEYS, Key, PREFIX, Settings, Shape, keys, resolve};

use super::config::ConfigFile;
use super::error::ServeError;
use super::program::checks;
use crate::secret_file;

/// The arguments; each flag wins over its environment variable, and that over
/// the settings file.
#[derive(clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// Settings file (TOML); without it, mimosa/mimosa.toml in `$XDG_CONFIG_HOME`
    /// or ~/.config, which `serve` creates when it is not there.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// A file with what a player must know, in place of --token, which `ps` shows.
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,

    /// A file with what a viewer must know, in place of --view-token.
    #[arg(long, value_name = "FILE", conflicts_with = "view_token")]
    view_token_file: Option<PathBuf>,

    /// A file with the secret of `--relay`, which has no flag of its own
    /// [env: `MIMOSA_RELAY_SECRET`].
    #[arg(long, value_name = "FILE")]
    relay_secret_file: Option<PathBuf>,

    /// Draw no QR code of the URL on a terminal.
    #[arg(long)]
    no_qr: bool,

    /// Do not open the page in this desktop's browser.
    #[arg(long)]
    no_open: bool,

    #[command(flatten)]
    said: Said,
}

impl Args {
    /// Whether a URL for other machines is drawn as a QR code.
    pub(super) const fn draws(&self) -> bool {
        !self.no_qr
    }

    /// Whether the page is opened in the desktop's browser, if there is one.
    pub(super) const fn opens(&self) -> bool {
        !self.no_open
    }

    /// The settings file, as it is now.
    pub(crate) fn file(&self) -> Result<ConfigFile, ServeError> {
        ConfigFile::read(self.config.as_deref())
    }

    /// The settings from `file`, the environment and the flags.
    pub(crate) fn settings(&self, file: &ConfigFile) -> Result<Settings, ServeError> {
        let name = file.name();
        let file = name.as_deref().zip(file.text());
        let flags = self.flags()?;
        Ok(resolve(file, environment()?, &flags, checks())?)
    }

    /// The values of the flags, with those that are in files.
    pub(super) fn flags(&self) -> Result<Flags, ServeError> {
        let mut flags = self.said.0.clone();
        for (key, path) in [
            (&keys::TOKEN, &self.token_file),
            (&keys::VIEW_TOKEN, &self.view_token_file),
            (&keys::RELAY_SECRET, &self.relay_secret_file),
        ] {
            if let Some(path) = path {
                flags.set(key, secret_file::read(path)?);
            }
        }
        Ok(flags)
    }
}

/// The environment variables that begin with `MIMOSA_`.
pub(super) fn environment() -> Result<Vec<(String, String)>, ServeError> {
    let mut variables = Vec::new();
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if !name.starts_with(PREFIX) {
            continue;
        }
        let name = name.into_owned();
        match value.into_string() {
            Ok(value) => variables.push((name, value)),
            Err(_) => return Err(ServeError::NotText { name }),
        }
    }
    Ok(variables)
}

/// The values of the flags.
struct Said(Flags);

impl clap::Args for Said {
    fn augment_args(command: Command) -> Command {
        flagged().fold(command, |command, key| {
            command.next_help_heading(key.group).arg(argument(key))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Said {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut flags = Flags::default();
        for key in flagged() {
            for text in matches.get_many::<String>(key.name).into_iter().flatten() {
                flags.set(key, text);
            }
        }
        Ok(Self(flags))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The keys that have a flag: all but one. The list of processes shows flags, and whoever has the relay's secret uses
/// the relay for anything.
fn flagged() -> impl Iterator<Item = &'static Key> {
    let all = KEYS.iter().copied();
    all.filter(|key| key.name != keys::RELAY_SECRET.name)
}

/// A key as a flag. Its text is parsed together with those of the file and the environment.
fn argument(key: &'static Key) -> Arg {
    let mut notes = Vec::new();
    if key.name == keys::CONTROLLER.name {
        notes.push(format!(
            "[possible values: {}, wasm:FILE, process:COMMAND]",
            mimosa_cc::NAMES.join(", ")
        ));
    }
    if !key.default.is_empty() {
        notes.push(format!("[default: {}]", key.default));
    }
    notes.push(format!("[env: {}]", key.variable()));
    let (action, placeholder) = match key.shape {
        Shape::List => (ArgAction::Append, format!("{0}[,{0}]...", key.placeholder)),
        Shape::Number | Shape::Text | Shape::Secret | Shape::Table => {
            (ArgAction::Set, key.placeholder.to_owned())
        }
    };
    Arg::new(key.name)
        .long(key.long())
        .value_name(placeholder)
        .action(action)
        .help(format!("{}\n{}", key.comment, notes.join(" ")))
}
