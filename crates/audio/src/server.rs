//! A PulseAudio of our own, with a sink that no one hears.

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use mimosa_process::{Folder, Group, Log};

use crate::clock::{now, wait};
use crate::error::AudioError;

/// The name of its sink.
const SINK: &str = "game";
/// How long the server may take to be ready.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often is looked whether it is.
const LOOK: Duration = Duration::from_millis(10);
/// Buffer that a game gets, whatever it asks for: more would be heard as delay, less
/// leaves games with a slow mixer without sound now and then.
const GAMES_BUFFER_MS: &str = "20";

/// A PulseAudio that no other user can connect to. It has nothing of the user's: no
/// settings, no devices, no bus. It ends when this is dropped, and when this process
/// ends however it does.
#[derive(Debug)]
pub struct PrivateSound {
    // Dropped in this order: the server ends before its folder goes.
    group: Group,
    folder: Folder,
    log: Log,
}

impl PrivateSound {
    /// Starts one, and waits until it takes connections.
    ///
    /// # Errors
    ///
    /// [`AudioError`] says what to install or look after.
    pub fn start() -> Result<Self, AudioError> {
        let failed = AudioError::starting("pulseaudio", "pulseaudio");
        let folder = Folder::create("mimosa-sound").map_err(&failed)?;
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
            // Whoever can look into the folder may connect: this user.
            .arg(format!(
                "--load=module-native-protocol-unix auth-anonymous=1 socket={}",
                socket(&folder).display()
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
        let mut server = Self { group, folder, log };
        server.wait()?;
        Ok(server)
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

    /// What records all that is played: [`Recording::start`](crate::Recording::start)
    /// takes it.
    #[must_use]
    pub fn monitor(&self) -> String {
        format!("{SINK}.monitor")
    }

    /// Where it is, as `$PULSE_SERVER` has it.
    #[must_use]
    pub fn address(&self) -> OsString {
        let mut address = OsString::from("unix:");
        address.push(socket(&self.folder));
        address
    }

    /// What has a game play here.
    #[must_use]
    pub fn environment(&self) -> Vec<(&'static str, OsString)> {
        vec![
            ("PULSE_SERVER", self.address()),
            ("PULSE_LATENCY_MSEC", GAMES_BUFFER_MS.into()),
            ("SDL_AUDIODRIVER", "pulseaudio".into()),
            ("ALSOFT_DRIVERS", "pulse".into()),
        ]
    }

    /// Its last lines.
    #[must_use]
    pub fn written(&self) -> String {
        self.log.text()
    }
}

fn socket(folder: &Folder) -> PathBuf {
    folder.path().join("native")
}
