//! The window that gets the keys.

use x11rb::connection::Connection;
use x11rb::errors::ReplyError;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt, EventMask, InputFocus, Window,
};
use x11rb::rust_connection::RustConnection;

use crate::display::DisplayError;
use crate::target::{pixels, windows_below};

/// Gives the focus to the game. On a display with a window manager nothing is done, because
/// the focus is the business of the manager and the user.
#[derive(Debug)]
pub(crate) struct Focus {
    root: Window,
    /// The window that is played; `None` for the largest.
    window: Option<Window>,
    is_ours: bool,
    is_due: bool,
}

impl Focus {
    /// Asks the server to report windows that come and go.
    pub(crate) fn new(
        connection: &RustConnection,
        root: Window,
        window: Option<Window>,
    ) -> Result<Self, DisplayError> {
        let attributes = connection.get_window_attributes(root)?.reply()?;
        // Only one program may select this event: the window manager.
        let managed = attributes
            .all_event_masks
            .contains(EventMask::SUBSTRUCTURE_REDIRECT);
        if !managed {
            let events =
                ChangeWindowAttributesAux::new().event_mask(EventMask::SUBSTRUCTURE_NOTIFY);
            connection.change_window_attributes(root, &events)?;
        }
        Ok(Self {
            root,
            window,
            is_ours: !managed,
            is_due: !managed,
        })
    }

    /// Reads the server's reports, and moves the focus if windows changed.
    pub(crate) fn follow(&mut self, connection: &RustConnection) -> Result<(), DisplayError> {
        while let Some(event) = connection.poll_for_event()? {
            match event {
                Event::MapNotify(_)
                | Event::UnmapNotify(_)
                | Event::DestroyNotify(_)
                | Event::ConfigureNotify(_)
                | Event::ReparentNotify(_) => self.is_due = self.is_ours,
                Event::Error(error) => tracing::debug!("the X server: {error:?}"),
                _ => {}
            }
        }
        if !std::mem::take(&mut self.is_due) {
            return Ok(());
        }
        let Some(window) = self.choose(connection)? else {
            return Ok(());
        };
        let focus = InputFocus::POINTER_ROOT;
        match connection
            .set_input_focus(focus, window, x11rb::CURRENT_TIME)?
            .check()
        {
            Ok(()) => tracing::debug!("window {window:#x} has the focus"),
            Err(ReplyError::ConnectionError(error)) => return Err(error.into()),
            // The window was destroyed after it was chosen, which is reported as well.
            Err(ReplyError::X11Error(error)) => tracing::debug!("the focus: {error:?}"),
        }
        Ok(())
    }

    /// The window that is played, if it is shown. If no window was named: the largest, or
    /// the uppermost of several that are equally large.
    fn choose(&self, connection: &RustConnection) -> Result<Option<Window>, DisplayError> {
        let candidates = match self.window {
            Some(window) => vec![window],
            None => windows_below(connection, self.root)?,
        };
        let mut largest = None;
        for window in candidates {
            if let Some(pixels) = pixels(connection, window)?
                && largest.is_none_or(|(_, most)| pixels >= most)
            {
                largest = Some((window, pixels));
            }
        }
        Ok(largest.map(|(window, _)| window))
    }
}
