//! The thread that captures a display.

use std::sync::Arc;
use std::time::Duration;

use mimosa_session::host::Captured;
use mimosa_units::{Time, TimeDelta};
use mimosa_x11::{Capture, CaptureError};

use super::origin::Origin;
use super::pool::Pool;
use super::x11::Shown;
use super::{FromSource, Shared};
use mimosa_system::clock::{Clock, now};

/// Time after which an unchanged picture is sent again: its quality rises, and viewers know that
/// the stream is alive.
const STILL: TimeDelta = TimeDelta::from_millis(100);
/// Time between looks whether a hidden window is visible again.
const HIDDEN: Duration = Duration::from_millis(200);
/// Time between looks whether a display or a window is back.
const BACK: Duration = Duration::from_millis(500);
/// Time after which a display or a window counts as gone for good: restarting an X server or a game
/// takes less.
const GONE_AFTER: TimeDelta = TimeDelta::from_millis(30_000);

/// Captures a display, and waits for it if it may come back.
pub(super) struct Watcher {
    clock: Clock,
    shared: Arc<Shared>,
    capture: Capture,
    origin: Origin,
    shown: Arc<Shown>,
    interval: TimeDelta,
    pool: Pool,
    /// Why there are no pictures, as it was last reported.
    waiting_for: Option<String>,
}

impl Watcher {
    /// A watcher of what `origin` has opened, with `interval` between pictures.
    pub(super) fn new(
        clock: Clock,
        shared: Arc<Shared>,
        (origin, capture): (Origin, Capture),
        shown: Arc<Shown>,
        interval: TimeDelta,
    ) -> Self {
        Self {
            clock,
            shared,
            capture,
            origin,
            shown,
            interval,
            pool: Pool::new(),
            waiting_for: None,
        }
    }

    /// Captures until the display is gone for good, and returns why.
    pub(super) fn run(mut self, say: &impl Fn(FromSource)) -> FromSource {
        let mut last: Option<Arc<Captured>> = None;
        let mut next = self.pool.take(self.capture.size());
        while !self.shared.is_stopped() {
            if let Some(end) = self.origin.has_ended() {
                return end;
            }
            if !self.shared.is_watched() {
                std::thread::park_timeout(Duration::from_millis(100));
                continue;
            }
            // A little less than the frame interval: the game's own clock decides when, and this
            // only bounds it.
            if let Some(last) = &last {
                self.sleep_until(last.at + self.interval * 3 / 4);
            }
            let deadline = now() + Duration::from_nanos(STILL.as_nanos().unsigned_abs());
            match self.capture.next(deadline, &mut next.picture) {
                Ok(mimosa_x11::Captured::Picture { damaged }) => {
                    next.at = self.clock.at(damaged);
                    if self.waiting_for.take().is_some() {
                        say(FromSource::Waiting(None));
                    }
                }
                Ok(mimosa_x11::Captured::Nothing) => {
                    let Some(last) = &last else { continue };
                    next.picture.clone_from(&last.picture);
                    next.at = self.clock.now();
                }
                Ok(mimosa_x11::Captured::Resized(size)) => {
                    tracing::info!("the pictures are {size} from now on");
                    next = self.pool.take(size);
                    self.shown.resize(size);
                    continue;
                }
                Err(error) => match self.see_to(&error, say) {
                    Ok(()) => {
                        next = self.pool.take(self.capture.size());
                        continue;
                    }
                    Err(end) => return end,
                },
            }
            next.inputs = self.shown.take_inputs();
            let picture = self.pool.publish(next);
            next = self.pool.take(self.capture.size());
            last = Some(Arc::clone(&picture));
            say(FromSource::Picture(picture));
        }
        stopped()
    }

    /// Waits for a display that may come back, and opens it again.
    ///
    /// # Errors
    ///
    /// The end of the source, if the display does not come back.
    fn see_to(
        &mut self,
        error: &CaptureError,
        say: &impl Fn(FromSource),
    ) -> Result<(), FromSource> {
        let reason = match error {
            CaptureError::Hidden => "the game's window is not shown",
            CaptureError::Size(_) => {
                "the game's window is too small or too large for a picture: it may have \
                 16x16 to 8192x8192 pixels on the screen"
            }
            CaptureError::Gone => "the game's window is gone; the picture goes on when it is back",
            _ => "the display is gone; the picture goes on when it is back",
        };
        let stays = matches!(error, CaptureError::Hidden | CaptureError::Size(_));
        if !stays {
            self.origin.outlook(error)?;
        }
        if self.waiting_for.as_deref() != Some(reason) {
            tracing::debug!(%error, "capture");
            self.waiting_for = Some(reason.to_owned());
            say(FromSource::Waiting(self.waiting_for.clone()));
        }
        if stays {
            std::thread::park_timeout(HIDDEN);
            return Ok(());
        }
        let given_up = self.clock.now() + GONE_AFTER;
        while !self.shared.is_stopped() {
            std::thread::park_timeout(BACK);
            match self.origin.open() {
                Ok((capture, injector)) => {
                    self.shown.resize(capture.size());
                    self.shown.succeed(injector);
                    self.capture = capture;
                    return Ok(());
                }
                Err(error) if self.clock.now() >= given_up => {
                    return Err(FromSource::Ended {
                        message: "the display has not come back".to_owned(),
                        error: Some(error),
                    });
                }
                Err(_) => {}
            }
        }
        Err(stopped())
    }

    fn sleep_until(&self, time: Time) {
        loop {
            let rest = self.clock.instant(time).saturating_duration_since(now());
            if rest.is_zero() || self.shared.is_stopped() {
                break;
            }
            std::thread::park_timeout(rest);
        }
    }
}

fn stopped() -> FromSource {
    FromSource::Ended {
        message: "the host has stopped".to_owned(),
        error: None,
    }
}
