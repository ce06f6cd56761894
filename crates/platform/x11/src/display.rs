//! Connections to an X server.

use x11rb::connection::Connection;
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::xproto::Screen;
use x11rb::reexports::x11rb_protocol::parse_display::ConnectAddress;
use x11rb::rust_connection::{DefaultStream, RustConnection};

use crate::server::PrivateServer;

/// The choice of an X server.
#[derive(Clone, Copy, Debug)]
pub enum Display<'a> {
    /// The server with this name, e.g. `:0`; without a name, the server of `$DISPLAY`.
    /// `$XAUTHORITY` or `~/.Xauthority` hold the server's cookie.
    Named(Option<&'a str>),
    /// A private server of this process.
    Private(&'a PrivateServer),
}

/// The reason why an X server did not answer as expected.
#[derive(Debug, thiserror::Error)]
pub enum DisplayError {
    /// No server is named, or the name is not valid.
    #[error("{display} names no X server; set DISPLAY, e.g. `export DISPLAY=:0`")]
    BadName {
        /// The name.
        display: String,
    },
    /// The connection failed.
    #[error(
        "the X server {display} does not answer: {cause}; see that it runs and that $DISPLAY and $XAUTHORITY are its own"
    )]
    Unreachable {
        /// The server.
        display: String,
        /// The cause.
        cause: String,
    },
    /// The server does not know the cookie, or there is none.
    #[error(
        "the X server {display} refuses the connection: {reason}; set XAUTHORITY to the file that holds its cookie"
    )]
    Refused {
        /// The server.
        display: String,
        /// The server's words.
        reason: String,
    },
    /// The server lacks an extension of the X protocol.
    #[error("the X server has no {extension} extension; start it with `+extension {extension}`")]
    NoExtension {
        /// The extension's name.
        extension: &'static str,
    },
    /// The connection broke off: the server ended.
    #[error("the connection to the X server broke off: {0}")]
    Lost(#[from] ConnectionError),
    /// The server answered a request with an error.
    #[error("the X server refused a request: {0}")]
    Request(#[from] ReplyOrIdError),
}

impl From<ReplyError> for DisplayError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => Self::Lost(error),
            ReplyError::X11Error(_) => Self::Request(error.into()),
        }
    }
}

impl Display<'_> {
    /// Connects, and finds the screen.
    pub(crate) fn connect(self) -> Result<(RustConnection, Screen), DisplayError> {
        let (connection, screen) = match self {
            Self::Named(name) => {
                RustConnection::connect(name).map_err(|error| explain(name, error))?
            }
            Self::Private(server) => {
                let name = Some(server.display());
                let connection = connect_privately(server).map_err(|error| explain(name, error))?;
                (connection, 0)
            }
        };
        let screen = connection.setup().roots[screen].clone();
        Ok((connection, screen))
    }
}

/// Connects with the cookie that only the server and this process know.
fn connect_privately(server: &PrivateServer) -> Result<RustConnection, ConnectError> {
    let number = server.display().trim_start_matches(':');
    let socket = ConnectAddress::Socket(format!("/tmp/.X11-unix/X{number}"));
    let (stream, _) = DefaultStream::connect(&socket).map_err(ConnectError::IoError)?;
    let (name, cookie) = server.cookie().present();
    RustConnection::connect_to_stream_with_auth_info(stream, 0, name, cookie)
}

/// The error of a connection, with the name of the server.
fn explain(name: Option<&str>, error: ConnectError) -> DisplayError {
    let display = match (name, std::env::var("DISPLAY")) {
        (Some(name), _) => format!("`{name}`"),
        (None, Ok(name)) => format!("`{name}` ($DISPLAY)"),
        (None, Err(_)) => "$DISPLAY, which is not set,".to_owned(),
    };
    match error {
        ConnectError::DisplayParsingError(_) | ConnectError::InvalidScreen => {
            DisplayError::BadName { display }
        }
        ConnectError::SetupFailed(failed) => DisplayError::Refused {
            display,
            reason: String::from_utf8_lossy(&failed.reason).trim().to_owned(),
        },
        ConnectError::SetupAuthenticate(failed) => DisplayError::Refused {
            display,
            reason: String::from_utf8_lossy(&failed.reason).trim().to_owned(),
        },
        other => DisplayError::Unreachable {
            display,
            cause: other.to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_not_there_is_named() {
        let error = Display::Named(Some(":9753")).connect().unwrap_err();
        assert!(error.to_string().contains("`:9753`"), "{error}");
        let error = Display::Named(Some("no display")).connect().unwrap_err();
        assert!(matches!(error, DisplayError::BadName { .. }), "{error}");
    }
}
