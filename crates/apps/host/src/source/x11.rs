//! A source from an X display that exists already, or a private one with a game in it.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mimosa_session::host::{Inputs, Played};
use mimosa_settings::Settings;
use mimosa_system::priority;
use mimosa_units::TimeDelta;
use mimosa_video::Size;
use mimosa_x11::Injector;

use super::clipboard::ClipboardThread;
use super::gamepads::Gamepads;
use super::origin::Origin;
use super::watcher::Watcher;
use super::{FromSource, Shared};
use crate::error::HostError;
use mimosa_system::clock::Clock;

/// Time between looks for a game without the focus while the player does nothing.
const FOCUS_EVERY: Duration = Duration::from_secs(1);

/// The state that the input's thread and the watcher share.
pub(super) struct Shown {
    /// Size of the pictures, which positions refer to.
    size: Mutex<Size>,
    /// The injector of the new display, after the display has changed.
    successor: Mutex<Option<Injector>>,
    /// Actions applied since the picture before.
    applied: Arc<Mutex<Inputs>>,
}

impl Shown {
    fn new(size: Size) -> Self {
        Self {
            size: Mutex::new(size),
            successor: Mutex::new(None),
            applied: Arc::default(),
        }
    }

    /// Sets the new size of the pictures.
    pub(super) fn resize(&self, size: Size) {
        *self.size.lock().unwrap_or_else(PoisonError::into_inner) = size;
    }

    /// Sets the injector of the new display.
    pub(super) fn succeed(&self, injector: Injector) {
        let mut successor = self
            .successor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *successor = Some(injector);
    }

    /// Takes the actions applied since the picture before.
    pub(super) fn take_inputs(&self) -> Inputs {
        std::mem::take(&mut self.applied())
    }

    fn applied(&self) -> MutexGuard<'_, Inputs> {
        self.applied.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn size(&self) -> Size {
        *self.size.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn successor(&self) -> Option<Injector> {
        let mut successor = self
            .successor
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        successor.take()
    }
}

/// The channel of actions to the thread that applies them.
pub(super) struct Actions {
    /// The channel's sender.
    pub(super) tell: Sender<Played>,
    /// The channel's receiver.
    pub(super) todo: Receiver<Played>,
}

/// A source that was started.
pub(super) struct Started {
    /// Size of the pictures.
    pub(super) size: Size,
    pub(super) thread: JoinHandle<()>,
    pub(super) gamepads: Gamepads,
    /// The clipboard, if the settings ask for it.
    pub(super) clipboard: Option<ClipboardThread>,
}

/// Starts the threads. A game gets the environment variables `variables`.
pub(super) fn start(
    settings: &Settings,
    clock: Clock,
    shared: Arc<Shared>,
    (actions, variables): (Actions, &[(&'static str, OsString)]),
    say: impl Fn(FromSource) + Clone + Send + 'static,
) -> Result<Started, HostError> {
    let origin = Origin::start(settings, variables).map_err(HostError::Source)?;
    let (capture, injector) = origin.open().map_err(HostError::Source)?;
    let clipboard = settings.input.clipboard.then(|| origin.clipboard());
    let clipboard = clipboard.transpose().map_err(HostError::Source)?;
    let size = capture.size();
    let shown = Arc::new(Shown::new(size));
    let input = Arc::clone(&shown);
    let (tell_rumble, tell_copied) = (say.clone(), say.clone());
    let gamepads = Gamepads::start(
        settings.input.gamepads,
        clock,
        actions.tell,
        Arc::clone(&shown.applied),
        move |rumble| tell_rumble(FromSource::Rumble(rumble)),
    )?;
    let clipboard = clipboard.map(|clipboard| {
        ClipboardThread::start(clipboard, move |text| tell_copied(FromSource::Copied(text)))
    });
    // The thread ends when the sender of actions is dropped.
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            priority::raise();
            inject(injector, &actions.todo, &input);
        })
        .map_err(HostError::Thread)?;
    let interval = TimeDelta::from_secs(1.0) / settings.frames_per_second;
    let watcher = Watcher::new(clock, shared, (origin, capture), shown, interval);
    let thread = std::thread::Builder::new()
        .name("capture".to_owned())
        .spawn(move || {
            priority::raise();
            say(watcher.run(&say));
        })
        .map_err(HostError::Thread)?;
    Ok(Started {
        size,
        thread,
        gamepads,
        clipboard: clipboard.transpose()?,
    })
}

/// Applies the player's actions until their sender is dropped, and gives the game the focus
/// meanwhile.
fn inject(mut injector: Injector, actions: &Receiver<Played>, shown: &Shown) {
    let mut failures = 0_u64;
    loop {
        let played = match actions.recv_timeout(FOCUS_EVERY) {
            Ok(played) => Some(played),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Some(successor) = shown.successor() {
            injector = successor;
            failures = 0;
        }
        let result = match played {
            Some(Played { action, .. }) => injector.apply(action, shown.size()),
            None => injector.follow_focus(),
        };
        if let (Some(Played { times, .. }), Ok(())) = (played, &result) {
            shown.applied().add(times);
        }
        // Without an action, the error of the capture says enough.
        if let (Some(_), Err(error)) = (played, result) {
            failures += 1;
            if failures.is_power_of_two() {
                tracing::warn!(%error, failures, "input does not reach the game");
            }
        }
    }
}
