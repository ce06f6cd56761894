//! Sound: recorded or synthesised, and coded once for all sessions, in its own thread.
//!
//! Sound and pictures share only the clock: neither waits for the other.

mod run;

use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::mpsc;

use mimosa_audio::{AudioError, OpusEncoder, PrivateSound, Tone};
use mimosa_session::host::SoundFrame;
use mimosa_settings::{Settings, SourceSettings};
use mimosa_units::Time;

use self::run::{Origin, Recorded, Runner};
use mimosa_system::clock::Clock;

/// What the sound's thread says.
#[derive(Debug)]
pub(crate) enum FromSound {
    /// A coded block.
    Frame(SoundFrame),
    /// Whether there is nothing to record for now, as when the sound server has died.
    Away(bool),
}

/// An event in the built-in scene that is heard.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Strike {
    pub(crate) at: Time,
    pub(crate) tone: Tone,
}

/// The state that the thread reads.
#[derive(Debug, Default)]
struct Shared {
    /// Number of sessions with sound; without any, nothing is coded.
    listeners: AtomicUsize,
    /// Per cent of packets lost, for which the coder is set.
    loss: AtomicU8,
    is_stopped: AtomicBool,
}

impl Shared {
    fn is_heard(&self) -> bool {
        self.listeners.load(Ordering::Relaxed) > 0
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }
}

/// The host's sound, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Sound {
    shared: Arc<Shared>,
    environment: Vec<(&'static str, OsString)>,
    strikes: Option<mpsc::Sender<Strike>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Sound {
    /// Starts the sound of the settings. The thread calls `say` with each block while a session has
    /// sound. `None` if there is nothing to hear, or if it cannot be recorded, which is logged: the
    /// host then runs without sound.
    pub(crate) fn start(
        settings: &Settings,
        clock: Clock,
        say: impl Fn(FromSound) + Send + 'static,
    ) -> Option<Self> {
        if !settings.sound.is_on {
            return None;
        }
        match Self::try_start(settings, clock, say) {
            Ok(sound) => sound,
            Err(error) => {
                tracing::warn!(%error, "there is no sound");
                None
            }
        }
    }

    fn try_start(
        settings: &Settings,
        clock: Clock,
        say: impl Fn(FromSound) + Send + 'static,
    ) -> Result<Option<Self>, AudioError> {
        let mut environment = Vec::new();
        let mut strikes = None;
        let origin = match (&settings.sound.sink, &settings.source) {
            (Some(sink), source) => {
                if matches!(source, SourceSettings::Launch { .. }) {
                    environment.push(("SDL_AUDIODRIVER", "pulseaudio".into()));
                    environment.push(("PULSE_SINK", sink.into()));
                }
                Origin::Recorded(Recorded::of_sink(sink)?)
            }
            (None, SourceSettings::Launch { .. }) => {
                let server = PrivateSound::start()?;
                environment = server.environment();
                Origin::Recorded(Recorded::of_server(server)?)
            }
            (None, SourceSettings::Demo) => {
                let (sender, receiver) = mpsc::channel();
                strikes = Some(sender);
                Origin::Tones(receiver)
            }
            // The user's display does not say which sink belongs to it.
            (None, SourceSettings::X11 { .. }) => return Ok(None),
        };
        let shared = Arc::<Shared>::default();
        let coder = OpusEncoder::new(settings.sound.bitrate)?;
        let runner = Runner::new(clock, Arc::clone(&shared), coder);
        let thread = std::thread::Builder::new()
            .name("sound".to_owned())
            .spawn(move || runner.run(origin, &say))
            .map_err(|error| AudioError::Start {
                program: "sound",
                error,
            })?;
        Ok(Some(Self {
            shared,
            environment,
            strikes,
            thread: Some(thread),
        }))
    }

    /// Environment variables that make a game play into the recording.
    pub(crate) fn environment(&self) -> &[(&'static str, OsString)] {
        &self.environment
    }

    /// The sender for the built-in scene's events.
    pub(crate) fn strikes(&self) -> Option<mpsc::Sender<Strike>> {
        self.strikes.clone()
    }

    /// Sets the number of sessions with sound.
    pub(crate) fn set_listeners(&self, listeners: usize) {
        self.shared.listeners.store(listeners, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    /// Sets the share of packets lost, from 0 to 1, against which the coder protects.
    pub(crate) fn set_loss(&self, share: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 100"
        )]
        let percent = (share.clamp(0.0, 1.0) * 100.0).ceil() as u8;
        self.shared.loss.store(percent, Ordering::Relaxed);
    }
}

/// The loss for which the coder is set that all sessions share: the player's, and without a player who
/// hears, the median of the viewers' (of an even number, the lower middle one), so that no single viewer
/// decides how all others hear.
pub(crate) fn shared_loss(player: Option<f64>, mut viewers: Vec<f64>) -> f64 {
    viewers.sort_by(f64::total_cmp);
    let median = viewers.get(viewers.len().saturating_sub(1) / 2).copied();
    player.or(median).unwrap_or(0.0)
}

impl Drop for Sound {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_viewer_decides_how_others_hear() {
        for (player, viewers, loss) in [
            (Some(0.01), &[1.0, 1.0][..], 0.01),
            (None, &[1.0, 0.0], 0.0),
            (None, &[0.0, 1.0, 0.02], 0.02),
            (None, &[0.1], 0.1),
            (None, &[], 0.0),
        ] {
            let shared = shared_loss(player, viewers.to_vec());
            assert!(
                (shared - loss).abs() < 1e-9,
                "{player:?} {viewers:?}: {shared}"
            );
        }
    }
}
