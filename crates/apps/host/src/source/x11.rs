//! An X display that runs already, or a private one with a game in it.

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

/// While the player does nothing, a game without the focus is looked for this
/// often.
const FOCUS_EVERY: Duration = Duration::from_secs(1);

/// What the input's thread and the watcher share.
pub(super) struct Shown {
    /// The size of the pictures, which positions refer to.
    size: Mutex<Size>,
    /// Injects from now on, since the display is another one.
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

    /// The pictures have another size.
    pub(super) fn resize(&self, size: Size) {
        *self.size.lock().unwrap_or_else(PoisonError::into_inner) = size;
    }

    /// The display is another one.
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

/// The way of actions to the thread that applies them.
pub(super) struct Actions {
    /// In.
    pub(super) tell: Sender<Played>,
    /// Out.
    pub(super) todo: Receiver<Played>,
}

/// What runs.
pub(super) struct Started {
    /// Size of the pictures.
    pub(super) size: Size,
    pub(super) thread: JoinHandle<()>,
    pub(super) gamepads: Gamepads,
    /// Where the settings want it.
    pub(super) clipboard: Option<ClipboardThread>,
}

/// Starts the threads; a game gets these variables.
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
    // It ends with the sender of the actions.
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

/// Does what the player did, until nobody can tell it any more, and meanwhile gives
/// the game the focus.
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
        // Without an action, what the capture says of it is enough.
        if let (Some(_), Err(error)) = (played, result) {
            failures += 1;
            if failures.is_power_of_two() {
                tracing::warn!(%error, failures, "input does not reach the game");
            }
        }
    }
}
