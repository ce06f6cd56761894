//! The part of a display that is captured and played.

use mimosa_video::{BadSize, Size};
use x11rb::errors::ReplyError;
use x11rb::protocol::ErrorKind;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt, GetGeometryReply, MapState, Screen, TranslateCoordinatesReply, Window,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;

use crate::display::DisplayError;

/// The depth to which titles are searched: window managers put a game's window into a
/// frame, and some put that frame into another.
const DEEPEST_TITLE: u8 = 4;
/// The longest title that is read, in units of four bytes.
const LONGEST_TITLE: u32 = 256;

/// The screen or window to capture and to play.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Target {
    /// The whole screen.
    Screen,
    /// A window, by its number.
    Window(u32),
    /// The largest window shown whose title contains this.
    Title(String),
}

/// The reason why a target cannot be found.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// No window has this title.
    #[error(
        "no window's title contains `{title}`; open the window first, or see all titles with `xwininfo -root -tree`"
    )]
    NoTitle {
        /// The title.
        title: String,
    },
    /// No window has this number.
    #[error("there is no window {window:#x}; see all numbers with `xwininfo -root -tree`")]
    NoWindow {
        /// The number.
        window: u32,
    },
    /// The X server did not answer as expected.
    #[error(transparent)]
    Display(#[from] DisplayError),
}

impl From<ReplyError> for TargetError {
    fn from(error: ReplyError) -> Self {
        Self::Display(error.into())
    }
}

impl From<x11rb::errors::ConnectionError> for TargetError {
    fn from(error: x11rb::errors::ConnectionError) -> Self {
        Self::Display(error.into())
    }
}

impl Target {
    /// Finds the window that is meant; `None` for the screen.
    pub(crate) fn find(
        &self,
        connection: &RustConnection,
        screen: &Screen,
    ) -> Result<Option<Window>, TargetError> {
        match self {
            Self::Screen => Ok(None),
            Self::Window(window) => match connection.get_geometry(*window)?.reply() {
                Ok(_) => Ok(Some(*window)),
                Err(error) if is_about_window(&error) => {
                    Err(TargetError::NoWindow { window: *window })
                }
                Err(error) => Err(error.into()),
            },
            Self::Title(title) => {
                let mut found = None;
                for window in windows_below(connection, screen.root)? {
                    search(connection, window, title, DEEPEST_TITLE, &mut found)?;
                }
                let (window, _) = found.ok_or_else(|| TargetError::NoTitle {
                    title: title.clone(),
                })?;
                Ok(Some(window))
            }
        }
    }
}

/// The part of a window, or of the screen, that is on the screen.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Area {
    /// The distance from the window's left edge to the part.
    pub(crate) left: i16,
    /// The distance from the window's upper edge to the part.
    pub(crate) top: i16,
    /// The distance from the screen's left edge to the part.
    pub(crate) x: i32,
    /// The distance from the screen's upper edge to the part.
    pub(crate) y: i32,
    /// The size of the part, rounded down to even.
    pub(crate) size: Size,
}

impl Area {
    /// The area from the server's answers about the screen, the window and its place.
    pub(crate) fn new(
        root: &GetGeometryReply,
        window: &GetGeometryReply,
        place: &TranslateCoordinatesReply,
    ) -> Result<Self, BadSize> {
        let place = (place.dst_x, place.dst_y);
        let (left, width) = visible(place.0, window.width, root.width);
        let (top, height) = visible(place.1, window.height, root.height);
        Ok(Self {
            left,
            top,
            x: i32::from(place.0) + i32::from(left),
            y: i32::from(place.1) + i32::from(top),
            size: Size::new(width & !1, height & !1)?,
        })
    }
}

/// The visible part of a window that begins at `place` and has `length`, on a screen of
/// length `screen`: its beginning within the window, and its length.
fn visible(place: i16, length: u16, screen: u16) -> (i16, u32) {
    let before = place.min(0).saturating_neg();
    let end = (i32::from(place) + i32::from(length)).min(i32::from(screen));
    let part = end - i32::from(place) - i32::from(before);
    (before, u32::try_from(part).unwrap_or(0))
}

/// Whether an error means that the window of a request is gone or not shown.
pub(crate) fn is_about_window(error: &ReplyError) -> bool {
    let ReplyError::X11Error(error) = error else {
        return false;
    };
    matches!(
        error.error_kind,
        ErrorKind::Window | ErrorKind::Drawable | ErrorKind::Match
    )
}

/// The windows within `window`, from the lowest to the uppermost.
pub(crate) fn windows_below(
    connection: &RustConnection,
    window: Window,
) -> Result<Vec<Window>, DisplayError> {
    match connection.query_tree(window)?.reply() {
        Ok(tree) => Ok(tree.children),
        Err(error) if is_about_window(&error) => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

/// The number of pixels of a window that is shown; `None` for others.
pub(crate) fn pixels(
    connection: &RustConnection,
    window: Window,
) -> Result<Option<u32>, DisplayError> {
    let attributes = connection.get_window_attributes(window)?;
    let geometry = connection.get_geometry(window)?;
    match (attributes.reply(), geometry.reply()) {
        (Ok(attributes), Ok(geometry)) => {
            let is_shown = attributes.map_state == MapState::VIEWABLE
                && attributes.class == WindowClass::INPUT_OUTPUT;
            let pixels = u32::from(geometry.width) * u32::from(geometry.height);
            Ok(is_shown.then_some(pixels))
        }
        (Err(error), _) | (_, Err(error)) if is_about_window(&error) => Ok(None),
        (Err(error), _) | (_, Err(error)) => Err(error.into()),
    }
}

/// Puts `window`, or one within it, into `found` when its title fits and it is larger than
/// the one in `found`.
fn search(
    connection: &RustConnection,
    window: Window,
    title: &str,
    deeper: u8,
    found: &mut Option<(Window, u32)>,
) -> Result<(), TargetError> {
    let Some(pixels) = pixels(connection, window)? else {
        return Ok(());
    };
    if has_title(connection, window, title)? {
        if found.is_none_or(|(_, most)| pixels > most) {
            *found = Some((window, pixels));
        }
    } else if deeper > 1 {
        for window in windows_below(connection, window)? {
            search(connection, window, title, deeper - 1, found)?;
        }
    }
    Ok(())
}

/// Whether a window's title contains `title`.
fn has_title(
    connection: &RustConnection,
    window: Window,
    title: &str,
) -> Result<bool, TargetError> {
    let modern = connection
        .intern_atom(false, b"_NET_WM_NAME")?
        .reply()?
        .atom;
    for property in [modern, AtomEnum::WM_NAME.into()] {
        let reply = connection
            .get_property(false, window, property, AtomEnum::ANY, 0, LONGEST_TITLE)?
            .reply();
        match reply {
            Ok(reply) if String::from_utf8_lossy(&reply.value).contains(title) => return Ok(true),
            Ok(_) => {}
            Err(error) if is_about_window(&error) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_on_the_screen_is_what_counts() {
        assert_eq!(visible(0, 640, 1280), (0, 640));
        assert_eq!(visible(1000, 640, 1280), (0, 280), "over the right edge");
        assert_eq!(visible(-100, 640, 1280), (100, 540), "over the left edge");
        assert_eq!(visible(-100, 2000, 1280), (100, 1280), "over both");
        assert_eq!(visible(1300, 640, 1280), (0, 0), "beyond");
        assert_eq!(visible(-700, 640, 1280), (700, 0), "before");
        assert_eq!(visible(-30_000, u16::MAX, 1280), (30_000, 1280));
    }
}
