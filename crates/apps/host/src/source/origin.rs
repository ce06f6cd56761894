//! The X display of a source: how it starts, ends, and whether it comes back.

use std::ffi::OsString;
use std::process::ExitStatus;
use std::time::Duration;

use mimosa_settings::{Settings, SourceSettings};
use mimosa_x11::{
    Capture, CaptureError, Clipboard, Display, Game, Injector, PrivateServer, Target,
};

use super::FromSource;

/// Time after which it is known whether the game or its server ended first: the other one ends of
/// it within this time or not at all.
const ENDING: Duration = Duration::from_secs(1);
/// Time between looks whether they ended.
const LOOK: Duration = Duration::from_millis(10);

/// A display, and the processes behind it.
pub(super) enum Origin {
    /// A game and a server of our own. Both end when this is dropped, the game first.
    Private {
        game: Game,
        server: Box<PrivateServer>,
    },
    /// A display that exists already, or a part of it.
    Foreign {
        display: Option<String>,
        target: Target,
    },
}

impl Origin {
    /// Starts what the settings ask for. A game gets the environment variables `variables`.
    ///
    /// # Errors
    ///
    /// A message that says what is missing.
    pub(super) fn start(
        settings: &Settings,
        variables: &[(&'static str, OsString)],
    ) -> Result<Self, String> {
        match &settings.source {
            SourceSettings::Launch { command } => {
                let server =
                    PrivateServer::start(settings.size).map_err(|error| error.to_string())?;
                let game =
                    Game::launch(command, &server, variables).map_err(|error| error.to_string())?;
                Ok(Self::Private {
                    game,
                    server: Box::new(server),
                })
            }
            SourceSettings::X11 { display, target } => {
                use mimosa_settings::Target as Wanted;
                let target = match target {
                    Wanted::Screen => Target::Screen,
                    Wanted::Window(number) => Target::Window(*number),
                    Wanted::Title(title) => Target::Title(title.clone()),
                };
                Ok(Self::Foreign {
                    display: display.clone(),
                    target,
                })
            }
            SourceSettings::Demo => Err("the demo has no display".to_owned()),
        }
    }

    /// Opens the display for capture and for input.
    ///
    /// # Errors
    ///
    /// Why the display cannot be opened, in words.
    pub(super) fn open(&self) -> Result<(Capture, Injector), String> {
        let (display, target) = match self {
            Self::Private { server, .. } => (Display::Private(server), &Target::Screen),
            Self::Foreign { display, target } => (Display::Named(display.as_deref()), target),
        };
        let capture = Capture::open(display, target).map_err(|error| error.to_string())?;
        let injector = Injector::open(display, target).map_err(|error| error.to_string())?;
        Ok((capture, injector))
    }

    /// Opens the display's clipboard.
    ///
    /// # Errors
    ///
    /// Why there is no clipboard, in words.
    pub(super) fn clipboard(&self) -> Result<Clipboard, String> {
        let display = match self {
            Self::Private { server, .. } => Display::Private(server),
            Self::Foreign { display, .. } => Display::Named(display.as_deref()),
        };
        Clipboard::open(display).map_err(|error| error.to_string())
    }

    /// How our own game or server ended, if one did.
    pub(super) fn has_ended(&mut self) -> Option<FromSource> {
        let Self::Private { game, server } = self else {
            return None;
        };
        let status = game.has_ended();
        // When its server ends, a game ends too.
        if let Some(status) = server.has_ended() {
            return Some(server_ended(status, &server.written()));
        }
        let status = status?;
        Some(match game.check() {
            Err(error) if !status.success() => FromSource::Ended {
                message: format!("the game has ended ({status})"),
                error: Some(error.to_string()),
            },
            _ => FromSource::Ended {
                message: "the game has ended".to_owned(),
                error: None,
            },
        })
    }

    /// Decides whether the display may come back after this error of the capture.
    ///
    /// # Errors
    ///
    /// The end of the source, if the display cannot come back.
    pub(super) fn outlook(&mut self, error: &CaptureError) -> Result<(), FromSource> {
        let ended = |message: &str| FromSource::Ended {
            message: message.to_owned(),
            error: Some(error.to_string()),
        };
        match self {
            // The number of a closed window is not given to another one.
            Self::Foreign {
                target: Target::Window(_),
                ..
            } => Err(ended("the game's window is gone")),
            Self::Foreign { .. } => Ok(()),
            Self::Private { .. } => {
                let mut left = ENDING;
                while !left.is_zero() {
                    if let Some(end) = self.has_ended() {
                        return Err(end);
                    }
                    std::thread::park_timeout(LOOK);
                    left = left.saturating_sub(LOOK);
                }
                Err(ended("the game's screen cannot be captured any more"))
            }
        }
    }
}

fn server_ended(status: ExitStatus, written: &str) -> FromSource {
    let wrote = if written.is_empty() {
        String::new()
    } else {
        format!(". It wrote:\n{written}")
    };
    FromSource::Ended {
        message: "the game's X server has ended".to_owned(),
        error: Some(format!("the game's X server ended ({status}){wrote}")),
    }
}
