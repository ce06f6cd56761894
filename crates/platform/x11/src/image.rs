//! Images in the X server's format.

use mimosa_video::Size;
use rustix::net::AddressFamily;
use x11rb::connection::{Connection, RequestConnection};
use x11rb::cookie::Cookie;
use x11rb::errors::{ConnectionError, ReplyError};
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{self, ConnectionExt as _, ImageFormat};
use x11rb::rust_connection::RustConnection;

use crate::shared_memory::SharedMemory;
use crate::target::Area;

/// The mask of all bit planes of an image.
const ALL_PLANES: u32 = !0;
/// The bytes of a pixel: blue, green, red, and one unused.
pub(crate) const PIXEL: usize = 4;

/// A buffer for one image.
#[derive(Debug)]
pub(crate) enum Image {
    /// The server writes the image into memory that it is copied from.
    Shared {
        memory: SharedMemory,
        segment: shm::Seg,
        /// The bytes of the image, while the server does not write into it.
        copy: Vec<u8>,
    },
    /// The server sends the image.
    Sent(Vec<u8>),
}

/// An image that was requested.
pub(crate) enum ImageRequest<'a> {
    Shared(Cookie<'a, RustConnection, shm::GetImageReply>),
    Sent(Cookie<'a, RustConnection, xproto::GetImageReply>),
}

impl Image {
    /// A buffer for a picture of `size`, shared with the server if that is possible.
    pub(crate) fn new(connection: &RustConnection, size: Size) -> Result<Self, ConnectionError> {
        match Self::shared(connection, size.luma_len() * PIXEL) {
            Ok(shared) => Ok(shared),
            Err(NotShared::Lost(error)) => Err(error),
            Err(NotShared::Because(reason)) => {
                tracing::warn!(
                    "every picture is sent through the connection to the X server, which is slow: {reason}"
                );
                Ok(Self::Sent(Vec::new()))
            }
        }
    }

    fn shared(connection: &RustConnection, length: usize) -> Result<Self, NotShared> {
        let address = rustix::net::getsockname(connection.stream());
        if !address.is_ok_and(|address| address.address_family() == AddressFamily::UNIX) {
            return Err(NotShared::because("the X server is on another machine"));
        }
        if connection
            .extension_information(shm::X11_EXTENSION_NAME)?
            .is_none()
        {
            return Err(NotShared::because("the X server has no MIT-SHM extension"));
        }
        let version = connection.shm_query_version()?.reply()?;
        if (version.major_version, version.minor_version) < (1, 2) {
            return Err(NotShared::because(
                "its MIT-SHM extension is older than 1.2",
            ));
        }
        let (memory, file) = SharedMemory::new(length).map_err(NotShared::because)?;
        let segment = connection.generate_id().map_err(NotShared::because)?;
        connection.shm_attach_fd(segment, file, false)?.check()?;
        Ok(Self::Shared {
            memory,
            segment,
            copy: Vec::new(),
        })
    }

    /// Requests the image of `area`.
    pub(crate) fn request<'a>(
        &self,
        connection: &'a RustConnection,
        window: xproto::Window,
        area: Area,
    ) -> Result<ImageRequest<'a>, ConnectionError> {
        let (width, height) = sides(area.size);
        let format = ImageFormat::Z_PIXMAP;
        Ok(match self {
            Self::Shared { segment, .. } => ImageRequest::Shared(connection.shm_get_image(
                window,
                area.left,
                area.top,
                width,
                height,
                ALL_PLANES,
                format.into(),
                *segment,
                0,
            )?),
            Self::Sent(_) => ImageRequest::Sent(connection.get_image(
                format, window, area.left, area.top, width, height, ALL_PLANES,
            )?),
        })
    }

    /// Waits for the image. Its bytes are blue, green, red and one unused for
    /// each pixel, row by row.
    pub(crate) fn receive(&mut self, request: ImageRequest<'_>) -> Result<&mut [u8], ReplyError> {
        match request {
            ImageRequest::Shared(cookie) => {
                cookie.reply()?;
            }
            ImageRequest::Sent(cookie) => *self = Self::Sent(cookie.reply()?.data),
        }
        Ok(match self {
            Self::Shared { memory, copy, .. } => {
                memory.read(copy);
                copy
            }
            Self::Sent(bytes) => bytes,
        })
    }

    /// Frees the server's side of the memory.
    pub(crate) fn release(self, connection: &RustConnection) -> Result<(), ConnectionError> {
        if let Self::Shared { segment, .. } = self {
            connection.shm_detach(segment)?;
        }
        Ok(())
    }
}

/// The reason why memory is not shared with the server.
enum NotShared {
    Lost(ConnectionError),
    Because(String),
}

impl NotShared {
    #[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
    fn because(reason: impl ToString) -> Self {
        Self::Because(reason.to_string())
    }
}

impl From<ConnectionError> for NotShared {
    fn from(error: ConnectionError) -> Self {
        Self::Lost(error)
    }
}

impl From<ReplyError> for NotShared {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => Self::Lost(error),
            ReplyError::X11Error(error) => Self::because(format!("{:?}", error.error_kind)),
        }
    }
}

/// The sides of a size in the protocol's type; a size is at most 8192.
fn sides(size: Size) -> (u16, u16) {
    let short = |side: u32| u16::try_from(side).unwrap_or(u16::MAX);
    (short(size.width()), short(size.height()))
}
