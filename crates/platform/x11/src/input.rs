//! Playing a player's actions on an X display.

use std::collections::BTreeSet;

use mimosa_facts::Action;
use mimosa_video::Size;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::xproto::{
    AtomEnum, BUTTON_PRESS_EVENT, BUTTON_RELEASE_EVENT, ConnectionExt as _, KEY_PRESS_EVENT,
    KEY_RELEASE_EVENT, MOTION_NOTIFY_EVENT, Window,
};
use x11rb::protocol::xtest::{self, ConnectionExt as _};
use x11rb::rust_connection::RustConnection;

use crate::confine::Confine;
use crate::display::{Display, DisplayError};
use crate::focus::Focus;
use crate::held::Switch;
use crate::target::{Target, TargetError, is_about_window};
use crate::translate::{FakeEvent, Translator};
use crate::typing::Typist;

/// The detail of a motion event that says that it is relative.
const RELATIVE: u8 = 1;
/// The detail of a motion event that says that it is absolute.
const ABSOLUTE: u8 = 0;

/// An injector, which presses keys and moves the pointer through the XTEST extension.
///
/// Key codes are Linux's; the X server must number its keys likewise, as all servers on
/// Linux do. Codes beyond 247 have no number and are ignored, and so are keys that reach past the
/// display: those for power, and those with which the X server changes the console or ends. The first finger on the
/// screen is the pointer and its left button. Gamepads press keys:
///
/// | gamepad | key | effect in Doom |
/// | --- | --- | --- |
/// | left stick | W, A, S, D | go, step aside |
/// | cross | the arrows | choose; in older games go and turn |
/// | south (0), right trigger (7) | left Control | fire |
/// | east (1) | Space | open, use |
/// | west (2) | Enter | confirm |
/// | north (3) | Tab | map |
/// | shoulders (4, 5) | `,` and `.` | step aside |
/// | left trigger (6) | left Shift | run |
/// | select (8) | Y | say yes |
/// | start (9), home (16) | Escape | menu |
/// | left and right stick pressed (10, 11) | `[` and `]` | other weapon |
///
/// A character is written by a key without a meaning, which gets the character as its
/// meaning until the injector is dropped.
///
/// Of a target that is a window, input does not leave the window: keys are pressed while the window has the
/// focus, and buttons while the pointer is over what can be seen of it (`confine.rs` has the limits). Keys
/// that call a desktop are left out then as well.
///
/// Where there is no window manager, the injector gives the focus to the target's window,
/// or to the largest on the screen. Keys and buttons that are still down when the injector
/// is dropped are released.
#[derive(Debug)]
pub struct Injector {
    connection: RustConnection,
    root: Window,
    window: Option<Window>,
    focus: Focus,
    translator: Translator,
    /// The bounds of input, if a window is shared rather than a screen.
    confine: Option<Confine>,
    /// Keys and buttons whose press was left out, and whose release is.
    refused: BTreeSet<Switch>,
    /// The typist, once a character was written.
    typist: Option<Typist>,
}

/// The reason why an action is not played.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The window was destroyed; its program may have ended.
    #[error("the window that is played is gone; start the game again")]
    Gone,
    /// The target does not exist.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The X server did not answer as expected.
    #[error(transparent)]
    Display(#[from] DisplayError),
}

impl From<ReplyError> for InputError {
    fn from(error: ReplyError) -> Self {
        Self::Display(error.into())
    }
}

impl From<ConnectionError> for InputError {
    fn from(error: ConnectionError) -> Self {
        Self::Display(error.into())
    }
}

impl Injector {
    /// Prepares to play `target`, and gives it the focus.
    ///
    /// # Errors
    ///
    /// [`InputError`] says why it cannot be played.
    pub fn open(display: Display<'_>, target: &Target) -> Result<Self, InputError> {
        let (connection, screen) = display.connect()?;
        let extension = xtest::X11_EXTENSION_NAME;
        if connection.extension_information(extension)?.is_none() {
            return Err(DisplayError::NoExtension { extension }.into());
        }
        connection.xtest_get_version(2, 2)?.reply()?;
        warn_of_other_key_codes(&connection, screen.root)?;
        let window = target.find(&connection, &screen)?;
        let mut focus = Focus::new(&connection, screen.root, window)?;
        focus.follow(&connection)?;
        let confine = window.map(|window| Confine::new(&connection, screen.root, window));
        Ok(Self {
            connection,
            root: screen.root,
            window,
            focus,
            translator: Translator::new(window.is_some()),
            confine,
            refused: BTreeSet::new(),
            typist: None,
        })
    }

    /// Plays `action` on a picture of `size`, the size that [`crate::Capture`] gave.
    ///
    /// # Errors
    ///
    /// [`InputError::Gone`] when the window was destroyed, and others of [`InputError`].
    pub fn apply(&mut self, action: Action, size: Size) -> Result<(), InputError> {
        self.follow_focus()?;
        let mut fakes = Vec::new();
        self.translator
            .translate(action, size, |fake| fakes.push(fake));
        for fake in fakes {
            self.send(fake)?;
        }
        self.connection.flush()?;
        Ok(())
    }

    /// Gives the focus to a window that was opened since. [`Self::apply`] does so by
    /// itself; a game that pauses without the focus needs it before the player does
    /// anything.
    ///
    /// # Errors
    ///
    /// [`InputError::Display`] when the server does not answer.
    pub fn follow_focus(&mut self) -> Result<(), InputError> {
        Ok(self.focus.follow(&self.connection)?)
    }

    fn send(&mut self, fake: FakeEvent) -> Result<(), InputError> {
        let Some(confine) = &self.confine else {
            return self.send_unasked(fake);
        };
        match fake {
            FakeEvent::Switch(switch, true) => {
                self.connection.grab_server()?;
                let goes = match switch {
                    Switch::Key(_) => confine.has_keys(&self.connection),
                    Switch::Button(_) => confine.has_pointer(&self.connection),
                };
                let sent = match goes {
                    Ok(true) => self.send_unasked(fake),
                    Ok(false) => {
                        tracing::debug!(?switch, "would leave the shared window");
                        self.refused.insert(switch);
                        Ok(())
                    }
                    Err(error) => Err(error.into()),
                };
                self.ungrab(sent)
            }
            FakeEvent::Switch(switch, false) if self.refused.remove(&switch) => Ok(()),
            FakeEvent::MoveBy(..) => {
                self.connection.grab_server()?;
                let moved = self.send_unasked(fake).and_then(|()| self.back());
                self.ungrab(moved)
            }
            FakeEvent::Switch(_, false) | FakeEvent::MoveTo(..) | FakeEvent::Type(_) => {
                self.send_unasked(fake)
            }
        }
    }

    /// Lets other programs use the server again, and passes on what became of the rest.
    fn ungrab(&self, result: Result<(), InputError>) -> Result<(), InputError> {
        self.connection.ungrab_server()?;
        self.connection.flush()?;
        result
    }

    /// Moves the pointer back into the shared window, if it has left it.
    fn back(&self) -> Result<(), InputError> {
        let Some(confine) = &self.confine else {
            return Ok(());
        };
        if let Some((x, y)) = confine.way_back(&self.connection)? {
            self.connection.xtest_fake_input(
                MOTION_NOTIFY_EVENT,
                ABSOLUTE,
                x11rb::CURRENT_TIME,
                self.root,
                x,
                y,
                0,
            )?;
        }
        Ok(())
    }

    fn send_unasked(&mut self, fake: FakeEvent) -> Result<(), InputError> {
        let (kind, detail, x, y) = match fake {
            FakeEvent::Switch(Switch::Key(key), true) => (KEY_PRESS_EVENT, key, 0, 0),
            FakeEvent::Switch(Switch::Key(key), false) => (KEY_RELEASE_EVENT, key, 0, 0),
            FakeEvent::Switch(Switch::Button(button), true) => (BUTTON_PRESS_EVENT, button, 0, 0),
            FakeEvent::Switch(Switch::Button(button), false) => {
                (BUTTON_RELEASE_EVENT, button, 0, 0)
            }
            FakeEvent::MoveBy(right, down) => (MOTION_NOTIFY_EVENT, RELATIVE, right, down),
            FakeEvent::MoveTo(x, y) => {
                let (left, top) = self.corner()?;
                let pixel = |corner: i16, pixel: u32| {
                    corner.saturating_add(i16::try_from(pixel).unwrap_or(i16::MAX))
                };
                (MOTION_NOTIFY_EVENT, ABSOLUTE, pixel(left, x), pixel(top, y))
            }
            FakeEvent::Type(character) => return self.write(character),
        };
        let now = x11rb::CURRENT_TIME;
        self.connection
            .xtest_fake_input(kind, detail, now, self.root, x, y, 0)?;
        Ok(())
    }

    /// Writes a character, which needs no key of the layout.
    fn write(&mut self, character: char) -> Result<(), InputError> {
        let typist = match &mut self.typist {
            Some(typist) => typist,
            none => none.insert(Typist::new(&self.connection)?),
        };
        let Some(key) = typist.key(&self.connection, character)? else {
            tracing::warn!("every key of the X server has a meaning: a character is left out");
            return Ok(());
        };
        for pressed in [true, false] {
            self.send(FakeEvent::Switch(Switch::Key(key), pressed))?;
        }
        Ok(())
    }

    /// The place on the screen where the picture begins; the parts of a window beyond the
    /// screen's edges are not captured.
    fn corner(&self) -> Result<(i16, i16), InputError> {
        let Some(window) = self.window else {
            return Ok((0, 0));
        };
        match self
            .connection
            .translate_coordinates(window, self.root, 0, 0)?
            .reply()
        {
            Ok(place) => Ok((place.dst_x.max(0), place.dst_y.max(0))),
            Err(error) if is_about_window(&error) => Err(InputError::Gone),
            Err(error) => Err(error.into()),
        }
    }

    fn release_all(&mut self) -> Result<(), InputError> {
        let mut fakes = Vec::new();
        self.translator.release_all(|fake| fakes.push(fake));
        for fake in fakes {
            self.send(fake)?;
        }
        if let Some(typist) = &mut self.typist {
            typist.restore(&self.connection)?;
        }
        // The answer comes after the server has done all of them.
        self.connection.get_input_focus()?.reply()?;
        Ok(())
    }
}

impl Drop for Injector {
    fn drop(&mut self) {
        if let Err(error) = self.release_all() {
            tracing::debug!("releasing what is down: {error}");
        }
    }
}

/// Warns if the server does not number its keys as Linux does.
fn warn_of_other_key_codes(connection: &RustConnection, root: Window) -> Result<(), InputError> {
    let rules = connection
        .intern_atom(false, b"_XKB_RULES_NAMES")?
        .reply()?
        .atom;
    let reply = connection
        .get_property(false, root, rules, AtomEnum::STRING, 0, 64)?
        .reply()?;
    let rules = String::from_utf8_lossy(&reply.value);
    let rules = rules.split('\0').next().unwrap_or_default();
    if !matches!(rules, "" | "evdev") {
        tracing::warn!(
            "the X server numbers its keys as `{rules}`, not as `evdev`; keys may be others than those pressed; run `setxkbmap -rules evdev`"
        );
    }
    Ok(())
}
