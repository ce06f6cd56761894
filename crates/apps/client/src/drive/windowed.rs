//! Plays in a window.

use std::time::Duration;

use mimosa_protocol::control::NoticeCode;
use mimosa_units::{Time, TimeDelta};
use mimosa_video::Size;
use mimosa_window::{Waker, Window, WindowConfig, WindowEvent};

use super::decode::Decoded;
use super::engine::DecodeIn;
use super::error::PlayError;
use super::network::{ConnectionConfig, FromHost};
use super::overlay;
use super::player::{News, Player};
use super::presenting::{Presentation, Presenter, Showing};
use super::system::loudspeaker;
use mimosa_system::clock::Clock;

/// Size of the window before the first picture, in pixels.
const FIRST: (u32, u32) = (1280, 720);
/// Pauses before each attempt to continue a session that broke off, after which the client gives
/// up: a host that was restarted is there by then.
const AGAIN_AFTER: [TimeDelta; 5] = [
    TimeDelta::from_millis(200),
    TimeDelta::from_millis(500),
    TimeDelta::from_millis(1_000),
    TimeDelta::from_millis(2_000),
    TimeDelta::from_millis(4_000),
];
/// How long a notice is shown.
const NOTICE_FOR: TimeDelta = TimeDelta::from_millis(6_000);
/// Longest sleep, so that notices disappear.
const LONGEST_SLEEP: Duration = Duration::from_millis(500);
/// Time between drawings of a notice over the same picture, as long as a sleep without pictures.
const REDRAWN_EVERY: TimeDelta = TimeDelta::from_millis(500);

/// How to play in a window.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a setting of its own"
)]
pub struct Windowed {
    /// Whether the window covers the whole screen.
    pub is_fullscreen: bool,
    /// When pictures are shown.
    pub presentation: Presentation,
    /// Whether pictures that are shown at once wait for the display's refresh.
    pub waits_for_refresh: bool,
    /// Whether sound is wanted.
    pub wants_sound: bool,
    /// Whether text that is copied here is sent to a host that takes it.
    pub shares_clipboard: bool,
    /// Whether the statistics are shown from the beginning.
    pub shows_statistics: bool,
    /// Where frames are decoded.
    pub decoder: DecodeIn,
    /// Number of threads that decode the slices of a frame.
    pub threads: u8,
}

/// Plays in a window until the player leaves or the host ends the session on purpose. Returns the
/// host's reason.
///
/// # Errors
///
/// [`PlayError`] if the host is not there or refuses, or without a window or a decoder, also when the host
/// has ended the decoder's process too often.
pub fn play_in_window(
    config: &ConnectionConfig,
    windowed: &Windowed,
) -> Result<Option<String>, PlayError> {
    let clock = Clock::start();
    let (width, height) = FIRST;
    let title = format!("Mimosa: {}", config.address.host());
    let size = Size::new(width, height).map_err(|error| PlayError::Window(error.to_string()))?;
    let mut window = Window::open(&WindowConfig {
        is_fullscreen: windowed.is_fullscreen,
        waits_for_refresh: windowed.waits_for_refresh,
        shares_clipboard: windowed.shares_clipboard,
        ..WindowConfig::new(title, size)
    })
    .map_err(|error| PlayError::Window(error.to_string()))?;
    let call = |replaced: Option<&str>, waker: Waker| {
        let speaker = windowed.wants_sound.then(loudspeaker).flatten();
        Player::start(
            config.clone(),
            (windowed.decoder.clone(), windowed.threads),
            clock,
            replaced,
            speaker,
            move || waker.wake(),
        )
    };
    let mut player = call(None, window.waker())?;
    let presenter = Presenter::new(
        clock,
        &window,
        windowed.presentation,
        windowed.waits_for_refresh,
    );
    let mut screen = Screen::new(clock, windowed.shows_statistics, presenter);
    let mut attempts = AGAIN_AFTER.iter();
    loop {
        let Some(end) = screen.run(&player, &mut window)? else {
            return Ok(None);
        };
        if end.is_final {
            return Ok(Some(end.reason));
        }
        if screen.has_played() {
            attempts = AGAIN_AFTER.iter();
        }
        let id = player.id().to_owned();
        drop(player);
        player = loop {
            let Some(after) = attempts.next() else {
                return Ok(Some(end.reason));
            };
            screen.say(&format!("{}: calling again", end.reason), &mut window);
            if screen.pause(*after, &mut window) {
                return Ok(None);
            }
            match call(Some(&id), window.waker()) {
                Ok(player) => break player,
                Err(PlayError::Unreachable { .. }) => {}
                Err(error) => return Err(error),
            }
        };
    }
}

/// The end of a session.
struct End {
    reason: String,
    is_final: bool,
}

/// What the window shows.
struct Screen {
    clock: Clock,
    shows_statistics: bool,
    statistics: overlay::Statistics,
    notice: Option<(Time, String)>,
    /// When a notice is drawn again over the same picture.
    redraw: Time,
    presenter: Presenter,
    newest: Option<Decoded>,
    host_takes_text: bool,
    has_played: bool,
}

impl Screen {
    fn new(clock: Clock, shows_statistics: bool, presenter: Presenter) -> Self {
        Self {
            clock,
            shows_statistics,
            statistics: overlay::Statistics::default(),
            notice: None,
            redraw: Time::ZERO,
            presenter,
            newest: None,
            host_takes_text: false,
            has_played: false,
        }
    }

    /// Whether the last session displayed a picture.
    fn has_played(&mut self) -> bool {
        std::mem::take(&mut self.has_played)
    }

    /// Plays a session; `None` if the player has left.
    fn run(&mut self, player: &Player, window: &mut Window) -> Result<Option<End>, PlayError> {
        self.presenter.restart();
        loop {
            let patience = self.presenter.patience(LONGEST_SLEEP);
            for event in window.wait(Some(patience)) {
                match event {
                    WindowEvent::Act(action) => player.act(action),
                    WindowEvent::Quit => return Ok(None),
                    WindowEvent::Clipboard(text) if self.host_takes_text => player.copy(text),
                    WindowEvent::ToggleStatistics => {
                        self.shows_statistics = !self.shows_statistics;
                    }
                    _ => {}
                }
            }
            self.presenter.settle();
            while let Some(news) = player.take() {
                match news {
                    News::Decoded(frame) => {
                        player.decoded(&frame);
                        if frame.picture.is_some() {
                            self.presenter.ready(frame);
                        }
                    }
                    News::Host(message) => {
                        if let Some(end) = self.told(message, window) {
                            return Ok(Some(end));
                        }
                    }
                    News::Replaced(reason) => {
                        self.say(&format!("The decoder was started again: {reason}."), window);
                    }
                    News::Undecodable(error) => return Err(error),
                }
            }
            if let Some(showing) = self.presenter.decide(window) {
                self.has_played = true;
                let shown = self.present(&showing, window);
                self.statistics.shown(shown, &showing.frame);
                player.seen(&showing.frame, shown);
                self.newest = Some(showing.frame);
            } else if self.is_stale() {
                self.show(window);
            }
        }
    }

    /// Shows a picture. Returns when it is on the screen.
    fn present(&mut self, showing: &Showing, window: &mut Window) -> Time {
        let lines = self.lines();
        let result = showing.frame.picture.as_ref().map(|picture| {
            window.draw(&picture.view(), &lines)?;
            if showing.refresh.is_some() && window.waits_for_refresh() {
                // The present may wait for the refresh, which is no part of drawing.
                let drawn = self.clock.now();
                return window.present().map(|()| drawn);
            }
            window.present().map(|()| self.clock.now())
        });
        let drawn = match result {
            Some(Ok(drawn)) => drawn,
            Some(Err(error)) => {
                tracing::debug!(%error, "a picture is not shown");
                self.clock.now()
            }
            None => self.clock.now(),
        };
        self.presenter.shown(showing, drawn)
    }

    /// Handles a message from the network's thread.
    fn told(&mut self, message: FromHost, window: &mut Window) -> Option<End> {
        match message {
            FromHost::Hello(hello) => {
                self.host_takes_text = hello.clipboard;
                window.set_title(&format!("Mimosa: {}", hello.source));
                self.statistics.hello(&hello);
            }
            FromHost::Statistics(statistics, tally, skew) => {
                self.statistics.told(&statistics, &tally, skew);
            }
            FromHost::Notice(notice) => {
                self.redraw = Time::ZERO;
                let until = self.clock.now() + NOTICE_FOR;
                self.notice = match notice.code {
                    NoticeCode::Resumed => None,
                    NoticeCode::Waiting => Some((Time::MAX, notice.message)),
                    _ => Some((until, notice.message)),
                };
            }
            FromHost::Rumble(rumble) => {
                let nanos = u64::try_from(rumble.duration.as_nanos()).unwrap_or(0);
                let duration = Duration::from_nanos(nanos);
                window.rumble(rumble.index, rumble.strong, rumble.weak, duration);
            }
            FromHost::Copied(text) => window.set_clipboard(&text),
            FromHost::Ended {
                reason, is_final, ..
            } => return Some(End { reason, is_final }),
            FromHost::Connected | FromHost::Slices(_) | FromHost::Frame(_) | FromHost::Line(_) => {}
        }
        None
    }

    /// The text over the picture.
    fn lines(&mut self) -> Vec<String> {
        let now = self.clock.now();
        self.redraw = now + REDRAWN_EVERY;
        self.notice.take_if(|(until, _)| *until <= now);
        let mut lines: Vec<String> = self
            .notice
            .iter()
            .map(|(_, message)| message.clone())
            .collect();
        lines.extend(self.statistics.trouble());
        if self.shows_statistics {
            lines.extend(self.statistics.lines());
            lines.push(self.presenter.line());
        }
        lines
    }

    /// Displays the newest picture again, with the text over it.
    fn show(&mut self, window: &mut Window) {
        let lines = self.lines();
        let view = self
            .newest
            .as_ref()
            .and_then(|frame| Some(frame.picture.as_ref()?.view()));
        let result = view.map(|view| window.show(&view, &lines));
        if let Some(Err(error)) = result {
            tracing::debug!(%error, "a picture is not shown");
        }
    }

    /// Whether the window has to be redrawn because of a notice.
    fn is_stale(&self) -> bool {
        self.notice.is_some() && self.redraw <= self.clock.now()
    }

    /// Shows a notice at once.
    fn say(&mut self, message: &str, window: &mut Window) {
        self.notice = Some((self.clock.now() + NOTICE_FOR, message.to_owned()));
        self.show(window);
    }

    /// Waits. Returns whether the player is still there.
    fn pause(&self, time: TimeDelta, window: &mut Window) -> bool {
        let until = self.clock.now() + time;
        while self.clock.now() < until {
            let rest = until.since(self.clock.now());
            let rest = Duration::from_nanos(u64::try_from(rest.as_nanos()).unwrap_or(0));
            if window.wait(Some(rest)).contains(&WindowEvent::Quit) {
                return true;
            }
        }
        false
    }
}
