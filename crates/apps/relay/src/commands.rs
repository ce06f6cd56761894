//! Commands of the user that tell an application its bitrate, for those that cannot be told
//! otherwise.

use std::process::Command;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use mimosa_proxy::Told;
use mimosa_system::{clock, priority};

use crate::error::RelayError;

/// What stands for the bitrate in a command.
const BITRATE: &str = "{bits_per_second}";

/// The commands, which the system's shell runs.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Commands {
    /// Runs for each bitrate, with the number in place of `{bits_per_second}`.
    pub on_bitrate: Option<String>,
    /// Runs for each keyframe that is needed.
    pub on_keyframe: Option<String>,
    /// The shortest time from the end of a command for a bitrate to the next one.
    pub apart: Duration,
}

/// Runs commands in a thread of its own, one after the other.
#[derive(Debug)]
pub(crate) struct Runner(Option<Sender<Told>>);

impl Runner {
    pub(crate) fn start(commands: Commands) -> Result<Self, RelayError> {
        if commands.on_bitrate.is_none() && commands.on_keyframe.is_none() {
            return Ok(Self(None));
        }
        let (sender, receiver) = channel();
        thread::Builder::new()
            .name("commands".to_owned())
            .spawn(move || work(&commands, &receiver))
            .map_err(RelayError::Start)?;
        Ok(Self(Some(sender)))
    }

    pub(crate) fn tell(&self, told: Told) {
        if let Some(sender) = &self.0 {
            // The thread ends only with this end.
            let _ = sender.send(told);
        }
    }
}

/// Runs commands until nobody sends any more. Of several bitrates that wait, the newest counts.
fn work(commands: &Commands, told: &Receiver<Told>) {
    priority::normal();
    let mut bitrate = None;
    let mut next = clock::now();
    loop {
        let news = match bitrate {
            None => told.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(_) => told.recv_timeout(next.saturating_duration_since(clock::now())),
        };
        match news {
            Ok(Told::Bitrate(rate)) => bitrate = Some(rate.as_bps()),
            Ok(Told::Keyframe) => {
                if let Some(command) = &commands.on_keyframe {
                    run(command);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                if let Some((command, bps)) = commands.on_bitrate.as_ref().zip(bitrate.take()) {
                    run(&command.replace(BITRATE, &bps.to_string()));
                    next = later(commands.apart);
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn later(after: Duration) -> Instant {
    clock::now() + after
}

fn run(command: &str) {
    match Command::new("/bin/sh").args(["-c", command]).status() {
        Ok(status) if status.success() => {}
        Ok(status) => tracing::warn!(command, %status, "a command has failed"),
        Err(error) => tracing::warn!(command, %error, "a command does not start"),
    }
}
