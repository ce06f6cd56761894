//! A private PulseAudio server with a sink that nobody hears.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use mimosa_system::process::{Folder, Group, Log};

use crate::error::AudioError;
use mimosa_system::clock::{now, wait};

/// The name of the sink.
const SINK: &str = "game";
/// The longest that the server may take to be ready.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time between two checks whether the server is ready.
const LOOK: Duration = Duration::from_millis(10);
/// The buffer that a game gets, whatever it asks for, in milliseconds: a larger one would
/// be heard as delay, a smaller one leaves games with a slow mixer without sound now and
/// then.
const GAMES_BUFFER_MS: &str = "20";

/// A PulseAudio server that no other user can connect to. It uses nothing of the user's: no
/// settings, no devices, no bus. The server ends when this value is dropped, and when this
/// process ends for whatever reason.
#[derive(Debug)]
pub struct PrivateSound {
    // Fields drop in this order: the server ends before its folder goes.
    group: Group,
    folder: Folder,
    log: Log,
}

impl PrivateSound {
    /// Starts a server, and waits until it takes connections.
    ///
    /// # Errors
    ///
    /// [`AudioError`] says what to install or to check.
    pub fn start() -> Result<Self, AudioError> {
        let failed = AudioError::starting("pulseaudio", "pulseaudio");
        let folder = Folder::create("mimosa-sound").map_err(&failed)?;
        let (group, log) = begin(&folder)?;
        let mut server = Self { group, folder, log };
        server.wait()?;
        Ok(server)
    }

    /// Whether the server runs.
    pub fn runs(&mut self) -> bool {
        self.group.has_ended().is_none()
    }

    /// Starts the server again at the same address, and waits until it takes connections.
    ///
    /// # Errors
    ///
    /// As [`PrivateSound::start`].
    pub fn start_again(&mut self) -> Result<(), AudioError> {
        self.group.stop();
        // What an ended server has left there would be found before the new one listens.
        let _ = fs::remove_file(socket(&self.folder));
        (self.group, self.log) = begin(&self.folder)?;
        self.wait()
    }

    fn wait(&mut self) -> Result<(), AudioError> {
        let patience = now() + PATIENCE;
        while UnixStream::connect(socket(&self.folder)).is_err() {
            if self.group.has_ended().is_some() || now() >= patience {
                self.group.stop();
                return Err(AudioError::NotReady {
                    written: self.log.last_words(),
                });
            }
            wait(LOOK);
        }
        Ok(())
    }

    /// The source that records everything played; an argument of
    /// [`Recording::start`](crate::Recording::start).
    #[must_use]
    pub fn monitor(&self) -> String {
        format!("{SINK}.monitor")
    }

    /// The server's address, in the form of `$PULSE_SERVER`.
    #[must_use]
    pub fn address(&self) -> OsString {
        let mut address = OsString::from("unix:");
        address.push(socket(&self.folder));
        address
    }

    /// The environment variables that make a game play on this server.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("PULSE_SERVER", self.address()),
            ("PULSE_LATENCY_MSEC", GAMES_BUFFER_MS.into()),
            ("SDL_AUDIODRIVER", "pulseaudio".into()),
            ("ALSOFT_DRIVERS", "pulse".into()),
        ]
    }

    /// The last lines that the server wrote.
    #[must_use]
    pub fn written(&self) -> String {
        self.log.text()
    }
}

/// Starts a server whose files are in this folder.
fn begin(folder: &Folder) -> Result<(Group, Log), AudioError> {
    let failed = AudioError::starting("pulseaudio", "pulseaudio");
    let (output, written) = io::pipe().map_err(&failed)?;
    let mut command = Command::new("pulseaudio");
    command
        .args([
            "-n",
            "--daemonize=no",
            "--use-pid-file=no",
            "--exit-idle-time=-1",
        ])
        .args(["--disable-shm=yes", "--realtime=no", "--log-target=stderr"])
        .arg(format!(
            "--load=module-null-sink sink_name={SINK} rate=48000 channels=2 format=s16le"
        ))
        // The server admits whoever can look into the folder: this user.
        .arg(format!(
            "--load=module-native-protocol-unix auth-anonymous=1 socket={}",
            socket(folder).display()
        ))
        .env("PULSE_RUNTIME_PATH", folder.path())
        .env("PULSE_STATE_PATH", folder.path())
        .env("HOME", folder.path())
        .env_remove("DBUS_SESSION_BUS_ADDRESS")
        .env_remove("PULSE_SERVER")
        .stdout(Stdio::null())
        .stderr(Stdio::from(written));
    let group = Group::spawn(command, Some(folder.path())).map_err(&failed)?;
    let log = Log::read("pulseaudio", output).map_err(&failed)?;
    Ok((group, log))
}

fn socket(folder: &Folder) -> PathBuf {
    folder.path().join("native")
}
