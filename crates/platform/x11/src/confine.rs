//! Keeps a player's input within the window that is shared.
//!
//! XTEST presses keys and buttons of the whole display, and the X server decides who gets them: the window
//! with the focus, and the one under the pointer. The sharing of one window is therefore kept by asking the
//! server before each press who would get it, and by leaving the press out unless that is the window that is
//! shared, a part of it, or a menu or a dialog that its program opened for it. The server is grabbed from the
//! question to the press, so that nothing changes in between. Releases are never left out, so that nothing
//! stays down, and a movement that leaves the window is followed by one back.
//!
//! # Limits
//!
//! A program that has grabbed the keyboard or the pointer gets presses wherever the focus is, and X does
//! not tell who that is. Desktops grab for their menus and overviews; the keys that open those are left out
//! ([`crate::fence`]). A screen that is locked takes keys as well.

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Window};
use x11rb::rust_connection::RustConnection;

use crate::display::DisplayError;
use crate::target::is_about_window;

/// Deepest nesting of windows that is looked at. Our choice: toolkits nest a handful, and a window that
/// somebody nests deeper is not taken to be the shared one.
const DEEPEST: usize = 32;
/// What the server says in the place of a window with the focus: none, and the one under the pointer (the
/// X protocol, request `GetInputFocus`).
const NO_FOCUS: Window = 0;
const POINTER_FOCUS: Window = 1;

/// The window within which input is kept.
#[derive(Debug)]
pub(crate) struct Confine {
    root: Window,
    window: Window,
    /// The bits of a window's number that its program chooses; the others are its program's.
    own_bits: u32,
}

/// Whether a question about a window was answered; `None` if the window is gone.
fn there<T>(reply: Result<T, ReplyError>) -> Result<Option<T>, DisplayError> {
    match reply {
        Ok(reply) => Ok(Some(reply)),
        Err(error) if is_about_window(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

impl Confine {
    /// Keeps input within `window`.
    pub(crate) fn new(connection: &RustConnection, root: Window, window: Window) -> Self {
        Self {
            root,
            window,
            own_bits: connection.setup().resource_id_mask,
        }
    }

    /// Whether a key that is pressed now goes to the window.
    pub(crate) fn has_keys(&self, connection: &RustConnection) -> Result<bool, DisplayError> {
        let focus = connection.get_input_focus()?.reply()?.focus;
        match focus {
            NO_FOCUS => Ok(false),
            POINTER_FOCUS => self.has_pointer(connection),
            focus if focus == self.root => self.has_pointer(connection),
            focus => self.is_within(connection, focus),
        }
    }

    /// Whether a button that is pressed now goes to the window.
    pub(crate) fn has_pointer(&self, connection: &RustConnection) -> Result<bool, DisplayError> {
        let mut window = self.root;
        for _ in 0..DEEPEST {
            let Some(pointer) = there(connection.query_pointer(window)?.reply())? else {
                return Ok(false);
            };
            if !pointer.same_screen || pointer.child == x11rb::NONE {
                return Ok(false);
            }
            window = pointer.child;
            if self.is_ours(connection, window)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where the pointer has to go to be within the window again, on the screen; `None` if it is there.
    pub(crate) fn way_back(
        &self,
        connection: &RustConnection,
    ) -> Result<Option<(i16, i16)>, DisplayError> {
        let Some(pointer) = there(connection.query_pointer(self.window)?.reply())? else {
            return Ok(None);
        };
        let Some(size) = there(connection.get_geometry(self.window)?.reply())? else {
            return Ok(None);
        };
        let screen = connection.get_geometry(self.root)?.reply()?;
        let along = |at: i16, in_window: i16, length: u16, whole: u16| {
            let begin = i32::from(at) - i32::from(in_window);
            let first = begin.max(0);
            let last = (begin + i32::from(length)).min(i32::from(whole)) - 1;
            let nearest = i32::from(at).clamp(first, last.max(first));
            i16::try_from(nearest).unwrap_or(at)
        };
        let x = along(pointer.root_x, pointer.win_x, size.width, screen.width);
        let y = along(pointer.root_y, pointer.win_y, size.height, screen.height);
        Ok(((x, y) != (pointer.root_x, pointer.root_y)).then_some((x, y)))
    }

    /// Whether this window is ours, or below one that is.
    fn is_within(&self, connection: &RustConnection, window: Window) -> Result<bool, DisplayError> {
        let mut window = window;
        for _ in 0..DEEPEST {
            if self.is_ours(connection, window)? {
                return Ok(true);
            }
            let Some(tree) = there(connection.query_tree(window)?.reply())? else {
                return Ok(false);
            };
            if tree.parent == x11rb::NONE || tree.parent == self.root {
                return Ok(false);
            }
            window = tree.parent;
        }
        Ok(false)
    }

    /// Whether this window is the shared one, or one that its program opened for it: a menu, which no window
    /// manager handles, or a dialog, which says for whom it is.
    fn is_ours(&self, connection: &RustConnection, window: Window) -> Result<bool, DisplayError> {
        if window == self.window {
            return Ok(true);
        }
        if (window ^ self.window) & !self.own_bits != 0 {
            return Ok(false);
        }
        let attributes = connection.get_window_attributes(window)?;
        let names = AtomEnum::WM_TRANSIENT_FOR;
        let dialog = connection.get_property(false, window, names, AtomEnum::WINDOW, 0, 1)?;
        let Some(attributes) = there(attributes.reply())? else {
            return Ok(false);
        };
        if attributes.override_redirect {
            return Ok(true);
        }
        let dialog = there(dialog.reply())?;
        let of = dialog.and_then(|dialog| dialog.value32().and_then(|mut all| all.next()));
        Ok(of == Some(self.window))
    }
}
