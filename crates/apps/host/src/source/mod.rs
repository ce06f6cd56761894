//! The sources of pictures, each in its own thread.

mod clipboard;
mod demo;
mod gamepads;
mod origin;
mod pool;
mod watcher;
mod x11;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc;

use mimosa_protocol::input::Rumble;
use mimosa_session::host::{Captured, Played};
use mimosa_settings::{GamepadSettings, Settings, SourceSettings};
use mimosa_units::TimeDelta;
use mimosa_video::Size;

use self::clipboard::ClipboardThread;
use self::gamepads::Gamepads;
use crate::error::HostError;
use crate::sound::Sound;
use mimosa_system::clock::Clock;

/// A message from a source.
#[derive(Debug)]
pub(crate) enum FromSource {
    /// The source has made a picture.
    Picture(Arc<Captured>),
    /// The source makes no pictures at present, with the reason, or makes them again, without one.
    Waiting(Option<String>),
    /// The game asks for a gamepad's vibration.
    Rumble(Rumble),
    /// A program has copied this text.
    Copied(String),
    /// The source has ended.
    Ended {
        /// The reason in one line, for the player and viewers.
        message: String,
        /// What went wrong, for the person who runs the host; `None` if the game was left.
        error: Option<String>,
    },
}

/// A running source, which ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Source {
    name: &'static str,
    size: Size,
    actions: mpsc::Sender<Played>,
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
    gamepads: Gamepads,
    clipboard: Option<ClipboardThread>,
}

/// The state that a source's thread reads.
#[derive(Debug, Default)]
struct Shared {
    /// Number of sessions that want pictures; without any, none are made.
    watchers: AtomicUsize,
    is_stopped: AtomicBool,
    /// Nanoseconds by which to draw later from the next picture on.
    shift: AtomicI64,
}

impl Shared {
    fn is_watched(&self) -> bool {
        self.watchers.load(Ordering::Relaxed) > 0
    }

    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Takes the sum of shifts since the last call.
    fn take_shift(&self) -> TimeDelta {
        TimeDelta::from_nanos(self.shift.swap(0, Ordering::Relaxed))
    }
}

impl Source {
    /// Starts the source of the settings, with its sound in `sound`. The source's threads call
    /// `say`.
    ///
    /// # Errors
    ///
    /// [`HostError::Source`] or [`HostError::Gamepads`] with what is missing.
    pub(crate) fn start(
        settings: &Settings,
        clock: Clock,
        sound: Option<&Sound>,
        say: impl Fn(FromSource) + Clone + Send + 'static,
    ) -> Result<Self, HostError> {
        let shared = Arc::<Shared>::default();
        let (actions, todo) = mpsc::channel();
        let mut gamepads = Gamepads::Actions;
        let mut clipboard = None;
        let (name, size, thread) = match &settings.source {
            SourceSettings::Demo => {
                let strikes = sound.and_then(Sound::strikes);
                let shared = Arc::clone(&shared);
                let thread = demo::start(settings, clock, shared, (todo, strikes), say)?;
                if settings.input.gamepads == GamepadSettings::Off {
                    gamepads = Gamepads::Off;
                }
                ("demo", settings.size, thread)
            }
            SourceSettings::X11 { .. } | SourceSettings::Launch { .. } => {
                let variables = sound.map_or(&[][..], Sound::environment);
                let shared = Arc::clone(&shared);
                let way = x11::Actions {
                    tell: actions.clone(),
                    todo,
                };
                let started = x11::start(settings, clock, shared, (way, variables), say)?;
                gamepads = started.gamepads;
                clipboard = started.clipboard;
                ("x11", started.size, started.thread)
            }
        };
        Ok(Self {
            name,
            size,
            actions,
            shared,
            thread: Some(thread),
            gamepads,
            clipboard,
        })
    }

    /// Name of the source: `demo` or `x11`.
    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// Size of the source's pictures at the start.
    pub(crate) const fn size(&self) -> Size {
        self.size
    }

    /// Passes an action of the player to the source.
    pub(crate) fn act(&self, played: Played) {
        if let Some(played) = self.gamepads.take(played) {
            // A source that has ended has reported it.
            let _ = self.actions.send(played);
        }
    }

    /// Whether text can be copied to the source and from it.
    pub(crate) const fn has_clipboard(&self) -> bool {
        self.clipboard.is_some()
    }

    /// Makes this the text that the source's programs paste from now on.
    pub(crate) fn offer(&self, text: String) {
        if let Some(clipboard) = &self.clipboard {
            clipboard.offer(text);
        }
    }

    /// Makes the demo draw `by` later from now on. A game ignores this.
    pub(crate) fn shift(&self, by: TimeDelta) {
        self.shared
            .shift
            .fetch_add(by.as_nanos(), Ordering::Relaxed);
    }

    /// Sets the number of sessions that want pictures.
    pub(crate) fn set_watchers(&self, watchers: usize) {
        self.shared.watchers.store(watchers, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            let _ = thread.join();
        }
    }
}
