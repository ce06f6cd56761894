//! Selecting the X server's reports, and waiting for them.

use std::time::Instant;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::errors::ConnectionError;
use x11rb::protocol::damage::{self, ConnectionExt as _, Damage, ReportLevel};
use x11rb::protocol::xfixes::{self, ConnectionExt as _, CursorNotifyMask};
use x11rb::protocol::xproto::{
    ChangeWindowAttributesAux, ConnectionExt as _, EventMask, MapState, Screen, Window,
};
use x11rb::rust_connection::RustConnection;

use crate::capture::CaptureError;
use crate::colours::check_format;
use crate::display::DisplayError;
use crate::target::{Area, is_about_window};
use mimosa_system::clock::now;

/// Asks the server to report changes of `window`.
pub(crate) fn watch(
    connection: &RustConnection,
    screen: &Screen,
    window: Window,
) -> Result<Damage, CaptureError> {
    for extension in [damage::X11_EXTENSION_NAME, xfixes::X11_EXTENSION_NAME] {
        if connection.extension_information(extension)?.is_none() {
            return Err(DisplayError::NoExtension { extension }.into());
        }
    }
    connection.xfixes_query_version(5, 0)?.reply()?;
    connection.damage_query_version(1, 1)?.reply()?;
    let attributes = match connection.get_window_attributes(window)?.reply() {
        Err(error) if is_about_window(&error) => return Err(CaptureError::Gone),
        attributes => attributes?,
    };
    if attributes.map_state != MapState::VIEWABLE {
        return Err(CaptureError::Hidden);
    }
    check_format(connection, screen, attributes.visual)
        .map_err(|format| CaptureError::Format { format })?;
    let events = ChangeWindowAttributesAux::new().event_mask(EventMask::STRUCTURE_NOTIFY);
    connection.change_window_attributes(window, &events)?;
    connection.xfixes_select_cursor_input(screen.root, CursorNotifyMask::DISPLAY_CURSOR)?;
    let damage = connection.generate_id().map_err(DisplayError::from)?;
    connection.damage_create(damage, window, ReportLevel::NON_EMPTY)?;
    Ok(damage)
}

/// The part of `window` that is on the screen.
pub(crate) fn look(
    connection: &RustConnection,
    root: Window,
    window: Window,
) -> Result<Area, CaptureError> {
    let screen = connection.get_geometry(root)?;
    let geometry = connection.get_geometry(window)?;
    let place = connection.translate_coordinates(window, root, 0, 0)?;
    Ok(Area::new(
        &screen.reply()?,
        &geometry.reply()?,
        &place.reply()?,
    )?)
}

/// Waits until the server sends something, at most until `until`.
pub(crate) fn wait(connection: &RustConnection, until: Instant) -> Result<(), CaptureError> {
    connection.flush()?;
    let left = until.saturating_duration_since(now());
    let timeout = Timespec::try_from(left).ok();
    let mut waiting = [PollFd::new(connection.stream(), PollFlags::IN)];
    match poll(&mut waiting, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(ConnectionError::IoError(error.into()).into()),
    }
}
