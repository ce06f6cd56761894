//! An X display that runs already, or a private one with a game in it.

use std::ffi::OsString;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mimosa_settings::{Settings, SourceSettings, Target};
use mimosa_units::TimeDelta;
use mimosa_video::Size;
use mimosa_x11::{Capture, CaptureError, Clipboard, Display, Game, Injector, PrivateServer};

use super::clipboard::ClipboardThread;
use super::gamepads::Gamepads;
use super::pool::Pool;
use super::{Captured, FromSource, Shared};
use crate::clock::{Clock, instant};
use crate::error::HostError;
use crate::inputs::{Inputs, Played};
use crate::priority;

/// While the player does nothing, a game without the focus is looked for this
/// often.
const FOCUS_EVERY: Duration = Duration::from_secs(1);
/// A still picture is sent anew this often: its quality rises, and who watches
/// knows that the stream is alive.
const STILL: TimeDelta = TimeDelta::from_millis(100);
/// How long to wait for a window that is hidden before looking again.
const HIDDEN: Duration = Duration::from_millis(200);

/// A game and its server; both end when this is dropped, the game first.
struct Private {
    game: Game,
    _server: PrivateServer,
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
    let failed = |error: &dyn std::fmt::Display| HostError::Source(error.to_string());
    let open_clipboard = |display: Display<'_>| {
        let opened = settings.input.clipboard.then(|| Clipboard::open(display));
        opened.transpose().map_err(|error| failed(&error))
    };
    let (private, capture, injector, clipboard) = match &settings.source {
        SourceSettings::Launch { command } => {
            let server = PrivateServer::start(settings.size).map_err(|error| failed(&error))?;
            let game = Game::launch(command, &server, variables).map_err(|error| failed(&error))?;
            let display = Display::Private(&server);
            let screen = mimosa_x11::Target::Screen;
            let capture = Capture::open(display, &screen).map_err(|error| failed(&error))?;
            let injector = Injector::open(display, &screen).map_err(|error| failed(&error))?;
            let clipboard = open_clipboard(display)?;
            let private = Private {
                game,
                _server: server,
            };
            (Some(private), capture, injector, clipboard)
        }
        SourceSettings::X11 { display, target } => {
            let display = Display::Named(display.as_deref());
            let target = match target {
                Target::Screen => mimosa_x11::Target::Screen,
                Target::Window(number) => mimosa_x11::Target::Window(*number),
                Target::Title(title) => mimosa_x11::Target::Title(title.clone()),
            };
            let capture = Capture::open(display, &target).map_err(|error| failed(&error))?;
            let injector = Injector::open(display, &target).map_err(|error| failed(&error))?;
            (None, capture, injector, open_clipboard(display)?)
        }
        SourceSettings::Demo => {
            return Err(HostError::Source("the demo has no display".to_owned()));
        }
    };
    let size = capture.size();
    let shown = Arc::new(Mutex::new(size));
    let applied = Arc::<Mutex<Inputs>>::default();
    let counter = Arc::clone(&applied);
    let size_shown = Arc::clone(&shown);
    let (tell_rumble, tell_copied) = (say.clone(), say.clone());
    let gamepads = Gamepads::start(
        settings.input.gamepads,
        clock,
        actions.tell,
        Arc::clone(&applied),
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
            inject(injector, &actions.todo, &shown, &counter);
        })
        .map_err(HostError::Thread)?;
    let interval = TimeDelta::from_secs(1.0) / settings.frames_per_second;
    let watcher = Watcher {
        clock,
        shared,
        capture,
        private,
        shown: size_shown,
        applied,
        interval,
        pool: Pool::new(),
    };
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
fn inject(
    mut injector: Injector,
    actions: &Receiver<Played>,
    shown: &Mutex<Size>,
    applied: &Mutex<Inputs>,
) {
    let mut failures = 0_u64;
    loop {
        let result = match actions.recv_timeout(FOCUS_EVERY) {
            Ok(Played { action, times }) => {
                let size = *shown.lock().unwrap_or_else(PoisonError::into_inner);
                let result = injector.apply(action, size);
                if result.is_ok() {
                    applied
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .add(times);
                }
                result
            }
            Err(RecvTimeoutError::Timeout) => injector.follow_focus(),
            Err(RecvTimeoutError::Disconnected) => break,
        };
        if let Err(error) = result {
            failures += 1;
            if failures.is_power_of_two() {
                tracing::warn!(%error, failures, "input does not reach the game");
            }
        }
    }
}

/// The thread that watches the display.
struct Watcher {
    clock: Clock,
    shared: Arc<Shared>,
    capture: Capture,
    private: Option<Private>,
    /// The size of the pictures, which positions refer to.
    shown: Arc<Mutex<Size>>,
    applied: Arc<Mutex<Inputs>>,
    interval: TimeDelta,
    pool: Pool,
}

impl Watcher {
    /// Watches until there is nothing more to see, and says why.
    fn run(mut self, say: &impl Fn(FromSource)) -> FromSource {
        let mut last: Option<Arc<Captured>> = None;
        let mut next = self.pool.take(self.capture.size());
        while !self.shared.is_stopped() {
            if let Some(end) = self.has_ended() {
                return end;
            }
            if !self.shared.is_watched() {
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            }
            // A little less than a frame's time: the game's own clock decides,
            // this only bounds it.
            if let Some(last) = &last {
                self.sleep_until(last.at + self.interval * 3 / 4);
            }
            let deadline = instant() + Duration::from_nanos(STILL.as_nanos().unsigned_abs());
            match self.capture.next(deadline, &mut next.picture) {
                Ok(mimosa_x11::Captured::Picture { damaged }) => {
                    next.at = self.clock.at(damaged);
                }
                Ok(mimosa_x11::Captured::Nothing) => {
                    let Some(last) = &last else { continue };
                    next.picture.clone_from(&last.picture);
                    next.at = self.clock.now();
                }
                Ok(mimosa_x11::Captured::Resized(size)) => {
                    next = self.pool.take(size);
                    *self.shown.lock().unwrap_or_else(PoisonError::into_inner) = size;
                    continue;
                }
                Err(error @ CaptureError::Hidden) => {
                    tracing::warn!(%error);
                    std::thread::park_timeout(HIDDEN);
                    continue;
                }
                Err(error) => {
                    return self.has_ended().unwrap_or_else(|| FromSource::Ended {
                        message: error.to_string(),
                        is_regular: false,
                    });
                }
            }
            next.inputs =
                std::mem::take(&mut *self.applied.lock().unwrap_or_else(PoisonError::into_inner));
            let picture = self.pool.publish(next);
            next = self.pool.take(self.capture.size());
            last = Some(Arc::clone(&picture));
            say(FromSource::Picture(picture));
        }
        FromSource::Ended {
            message: "the host has stopped".to_owned(),
            is_regular: true,
        }
    }

    fn sleep_until(&self, time: mimosa_units::Time) {
        loop {
            let rest = self
                .clock
                .instant(time)
                .saturating_duration_since(instant());
            if rest.is_zero() || self.shared.is_stopped() {
                break;
            }
            std::thread::park_timeout(rest);
        }
    }

    /// How the game ended, if there is one that did.
    fn has_ended(&mut self) -> Option<FromSource> {
        let game = &mut self.private.as_mut()?.game;
        let status = game.has_ended()?;
        let message = match game.check() {
            Err(error) if !status.success() => error.to_string(),
            _ => "the game has ended".to_owned(),
        };
        Some(FromSource::Ended {
            message,
            is_regular: status.success(),
        })
    }
}
