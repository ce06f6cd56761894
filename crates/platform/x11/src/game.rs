//! A game on a private X server.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use mimosa_system::process::{Group, Log};
use mimosa_video::Size;

use crate::server::PrivateServer;
use mimosa_system::clock::{now, wait};

/// A game that ends within this time did not start.
const START: Duration = Duration::from_millis(400);
/// The time between two checks whether the game ended.
const LOOK: Duration = Duration::from_millis(10);
/// The status that a shell returns when a program does not exist.
const NO_PROGRAM: i32 = 127;
/// Debian's directory of games, which not every `$PATH` contains.
const GAMES: &str = "/usr/games";
/// Games that were tried, and their packages in Debian.
const PACKAGES: [(&str, &str); 9] = [
    ("chocolate-doom", "chocolate-doom freedoom"),
    ("crispy-doom", "crispy-doom freedoom"),
    ("dsda-doom", "dsda-doom freedoom"),
    ("etr", "extremetuxracer"),
    ("frozen-bubble", "frozen-bubble"),
    ("neverball", "neverball"),
    ("openarena", "openarena"),
    ("supertuxkart", "supertuxkart"),
    ("xterm", "xterm"),
];

/// A command that runs, with everything that it starts, until this value is dropped or this
/// process ends. Its output becomes debugging output of `tracing`.
#[derive(Debug)]
pub struct Game {
    group: Group,
    command: String,
    log: Log,
}

/// The reason why there is no game.
#[derive(Debug, thiserror::Error)]
pub enum GameError {
    /// No shell can be started.
    #[error("starting `sh`: {0}")]
    Start(#[from] io::Error),
    /// A program of the command is not installed on this machine.
    #[error("`{program}` is not installed; {remedy}")]
    Missing {
        /// The program.
        program: String,
        /// The remedy.
        remedy: String,
    },
    /// The command ended.
    #[error("`{command}` ended ({status}){}{written}", if .written.is_empty() { "" } else { ". It wrote:\n" })]
    Ended {
        /// The command.
        command: String,
        /// The status with which the command ended.
        status: ExitStatus,
        /// The last lines that the command wrote.
        written: String,
    },
}

impl Game {
    /// Runs `command` in a shell, with `server` as its display and these variables in its
    /// environment. No sound is played unless `SDL_AUDIODRIVER` is set, among these
    /// variables or in the environment of this process.
    ///
    /// # Errors
    ///
    /// [`GameError::Missing`] or [`GameError::Ended`] when the command ends at once.
    pub fn launch(
        command: &str,
        server: &PrivateServer,
        variables: &[(&'static str, OsString)],
    ) -> Result<Self, GameError> {
        let (output, written) = io::pipe()?;
        let mut shell = Command::new("sh");
        shell
            .args(["-c", command])
            .env("DISPLAY", server.display())
            .env("XAUTHORITY", server.authority())
            .env("SDL_VIDEODRIVER", "x11")
            .env_remove("WAYLAND_DISPLAY")
            .env("PATH", path_with_games(env::var_os("PATH")))
            .stdout(Stdio::from(written.try_clone()?))
            .stderr(Stdio::from(written));
        if env::var_os("SDL_AUDIODRIVER").is_none() {
            shell.env("SDL_AUDIODRIVER", "dummy");
        }
        for (name, _) in env::vars_os().filter(|(name, _)| is_secret(name)) {
            shell.env_remove(name);
        }
        for (name, value) in variables {
            shell.env(name, value);
        }
        let mut game = Self {
            group: Group::spawn(shell, None)?,
            command: command.to_owned(),
            log: Log::read("game", output)?,
        };
        let started = now() + START;
        while now() < started {
            game.check()?;
            wait(LOOK);
        }
        Ok(game)
    }

    /// The status with which the command ended, if it did.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.group.has_ended()
    }

    /// Checks that the command runs.
    ///
    /// # Errors
    ///
    /// [`GameError::Missing`] or [`GameError::Ended`].
    pub fn check(&mut self) -> Result<(), GameError> {
        let Some(status) = self.has_ended() else {
            return Ok(());
        };
        let written = self.log.last_words();
        match missing_program(status.code(), &written) {
            Some(program) => Err(GameError::Missing {
                remedy: remedy(&program),
                program,
            }),
            None => Err(GameError::Ended {
                command: self.command.clone(),
                status,
                written,
            }),
        }
    }

    /// Ends the command, as dropping this value does: it is asked to end, and forced after
    /// two seconds.
    pub fn stop(self) {
        drop(self);
    }
}

/// The command for Debian's `dsda-doom`, with the first chapter of Freedoom, at 60 pictures
/// per second in `size`, whatever the user configured.
#[must_use]
pub fn dsda_doom_command(size: Size) -> String {
    format!(
        "dsda-doom -iwad freedoom1.wad -geom {size}w -vidmode sw \
         -assign uncapped_framerate=1 dsda_fps_limit=60 render_vsync=0"
    )
}

/// `$PATH` with the directory of games.
fn path_with_games(path: Option<OsString>) -> OsString {
    let path = path.unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    if env::split_paths(&path).any(|part| part == Path::new(GAMES)) {
        return path;
    }
    let mut path = path;
    path.push(":");
    path.push(GAMES);
    path
}

/// Whether an environment variable holds a token or a secret of the host: a game has no business with them.
fn is_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with("MIMOSA_") && (name.ends_with("TOKEN") || name.ends_with("SECRET"))
}

/// The program that a shell did not find: `sh: 1: doom: not found`, or with another shell
/// `sh: line 1: doom: command not found`.
fn missing_program(code: Option<i32>, written: &str) -> Option<String> {
    if code != Some(NO_PROGRAM) {
        return None;
    }
    let line = written.lines().rfind(|line| line.ends_with("not found"))?;
    let (before, _) = line.rsplit_once(": ")?;
    let (_, program) = before.rsplit_once(": ")?;
    Some(program.to_owned())
}

/// The way to install a program on this machine.
fn remedy(program: &str) -> String {
    let known = PACKAGES.iter().find(|(known, _)| *known == program);
    match known {
        Some((_, packages)) => format!("install it: apt-get install {packages}"),
        None => "install it, or write where it is, e.g. `/opt/game/start`".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        for written in [
            "sh: 1: dsda-doom: not found",
            "x\nsh: line 1: dsda-doom: command not found",
        ] {
            assert_eq!(missing_program(Some(127), written).unwrap(), "dsda-doom");
            assert_eq!(missing_program(Some(1), written), None);
        }
        assert_eq!(missing_program(Some(127), "anything else"), None);
        assert!(remedy("dsda-doom").ends_with("apt-get install dsda-doom freedoom"));
        assert!(remedy("doom-3").contains("write where it is"));
    }

    #[test]
    fn games_are_found_once() {
        let path = |path: &str| path_with_games(Some(path.into()));
        assert_eq!(path("/bin"), "/bin:/usr/games");
        assert_eq!(path("/usr/games:/bin"), "/usr/games:/bin");
        assert!(path_with_games(None).to_str().unwrap().contains("/bin:"));
    }
}
