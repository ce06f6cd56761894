//! Connections of the application: lines of JSON over a Unix socket, or over TCP on loopback.
//! `docs/use/proxy.md` describes the messages.

use std::fs::Permissions;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use mimosa_proxy::AppLimits;
use mimosa_units::Rate;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::RelayError;

/// The most connections. Our choice: the application and those who watch it.
const MOST: usize = 8;
/// The longest line that is read, in bytes.
const LONGEST: usize = 4_096;
/// The most bytes that wait for a connection that does not read; it is closed then.
const MOST_UNREAD: usize = 1 << 16;

/// Where the application connects.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Place {
    /// A Unix socket at this path.
    Unix(PathBuf),
    /// A TCP port on loopback.
    Tcp(SocketAddr),
}

impl std::str::FromStr for Place {
    type Err = String;

    /// Reads `PATH` with a slash in it, or `ADDRESS:PORT` of loopback.
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains('/') {
            return Ok(Self::Unix(PathBuf::from(text)));
        }
        let address: SocketAddr = text.parse().map_err(|_| {
            format!("`{text}` is no place: write a path with a slash, or 127.0.0.1:PORT")
        })?;
        if address.ip().is_loopback() {
            Ok(Self::Tcp(address))
        } else {
            Err(format!(
                "{address} is not on loopback: whoever connects sets the bitrate's limits"
            ))
        }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(f),
            Self::Tcp(address) => address.fmt(f),
        }
    }
}

#[derive(Debug)]
enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

#[derive(Debug)]
enum Stream {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

#[derive(Debug)]
struct Connection {
    stream: Stream,
    heard: Vec<u8>,
    unread: Vec<u8>,
    is_open: bool,
}

/// What the application says.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
enum Said {
    /// Bounds of the bitrates that it is told.
    #[serde(rename_all = "camelCase")]
    Limits {
        min_bits_per_second: Option<u64>,
        max_bits_per_second: Option<u64>,
    },
}

/// All connections.
#[derive(Debug, Default)]
pub(crate) struct Interface {
    listener: Option<Listener>,
    connections: Vec<Connection>,
}

impl Interface {
    /// Listens at `place`, if there is one.
    pub(crate) fn at(place: Option<&Place>) -> Result<Self, RelayError> {
        let failed = |error| RelayError::Interface {
            place: place.map(ToString::to_string).unwrap_or_default(),
            error,
        };
        let listener = place.map(listen).transpose().map_err(failed)?;
        Ok(Self {
            listener,
            connections: Vec::new(),
        })
    }

    /// The descriptors to wait for.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let listener = self.listener.as_ref().map(|listener| match listener {
            Listener::Unix(listener) => listener.as_fd(),
            Listener::Tcp(listener) => listener.as_fd(),
        });
        let connections = self.connections.iter().map(|one| one.stream.fd());
        listener.into_iter().chain(connections)
    }

    /// Takes new connections, greets them with `greeting`, and reads what has been said: the newest
    /// limits.
    pub(crate) fn hear(&mut self, greeting: Option<&Value>) -> Option<AppLimits> {
        while let Some(stream) = self.accept() {
            let mut connection = Connection {
                stream,
                heard: Vec::new(),
                unread: Vec::new(),
                is_open: true,
            };
            if let Some(greeting) = greeting {
                connection.tell(greeting);
            }
            if self.connections.len() < MOST {
                self.connections.push(connection);
            }
        }
        let mut limits = None;
        for connection in &mut self.connections {
            limits = connection.hear().or(limits);
        }
        self.connections.retain(|one| one.is_open);
        limits
    }

    fn accept(&self) -> Option<Stream> {
        let stream = match self.listener.as_ref()? {
            Listener::Unix(listener) => Stream::Unix(listener.accept().ok()?.0),
            Listener::Tcp(listener) => Stream::Tcp(listener.accept().ok()?.0),
        };
        let set = match &stream {
            Stream::Unix(stream) => stream.set_nonblocking(true),
            Stream::Tcp(stream) => stream
                .set_nonblocking(true)
                .and_then(|()| stream.set_nodelay(true)),
        };
        set.ok().map(|()| stream)
    }

    /// Tells all connections.
    pub(crate) fn tell(&mut self, message: &Value) {
        for connection in &mut self.connections {
            connection.tell(message);
        }
        self.connections.retain(|one| one.is_open);
    }

    /// Whether anybody listens.
    pub(crate) const fn is_heard(&self) -> bool {
        !self.connections.is_empty()
    }
}

impl Connection {
    fn tell(&mut self, message: &Value) {
        self.unread.extend(message.to_string().bytes());
        self.unread.push(b'\n');
        self.write();
    }

    fn write(&mut self) {
        while !self.unread.is_empty() {
            match self.stream.write(&self.unread) {
                Ok(0) => self.is_open = false,
                Ok(count) => {
                    self.unread.drain(..count);
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => self.is_open = false,
            }
            break;
        }
        self.is_open &= self.unread.len() <= MOST_UNREAD;
    }

    /// Reads what has come. Returns the newest limits.
    fn hear(&mut self) -> Option<AppLimits> {
        let mut buffer = [0; LONGEST];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => {
                    self.is_open = false;
                    break;
                }
                Ok(count) => self.heard.extend(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(_) => {
                    self.is_open = false;
                    break;
                }
            }
            if self.heard.len() > 4 * LONGEST {
                break;
            }
        }
        self.write();
        let mut limits = None;
        while let Some(end) = self.heard.iter().position(|byte| *byte == b'\n') {
            let line: Vec<_> = self.heard.drain(..=end).collect();
            match read(&line) {
                Ok(read) => limits = Some(read),
                Err(error) => self.tell(&json!({"type": "error", "message": error})),
            }
        }
        self.is_open &= self.heard.len() <= LONGEST;
        limits
    }
}

/// Reads a line.
fn read(line: &[u8]) -> Result<AppLimits, String> {
    let said = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let Said::Limits {
        min_bits_per_second: min,
        max_bits_per_second: max,
    } = said;
    if let Some((min, max)) = min.zip(max)
        && min > max
    {
        return Err(format!(
            "`minBitsPerSecond` is {min}, which is above `maxBitsPerSecond`, {max}"
        ));
    }
    let all = AppLimits::default();
    Ok(AppLimits {
        min: min.map_or(all.min, Rate::from_bps),
        max: max.map_or(all.max, Rate::from_bps),
    })
}

fn listen(place: &Place) -> io::Result<Listener> {
    match place {
        Place::Unix(path) => {
            remove_socket(path)?;
            let listener = UnixListener::bind(path)?;
            // Whoever connects sets limits: only this user may.
            std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok(Listener::Unix(listener))
        }
        Place::Tcp(address) => {
            let listener = TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            Ok(Listener::Tcp(listener))
        }
    }
}

/// Removes the socket that an earlier run left, unless somebody listens there.
fn remove_socket(path: &Path) -> io::Result<()> {
    let is_socket = path
        .symlink_metadata()
        .is_ok_and(|metadata| metadata.file_type().is_socket());
    if !is_socket || UnixStream::connect(path).is_ok() {
        return Ok(());
    }
    std::fs::remove_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_and_what_is_wrong_is_named() {
        let limits = read(br#"{"type":"limits","maxBitsPerSecond":5000000}"#).unwrap();
        let expected = AppLimits {
            max: Rate::from_kbps(5_000),
            ..AppLimits::default()
        };
        assert_eq!(limits, expected);
        for (line, part) in [
            (
                r#"{"type":"limits","minBitsPerSecond":2,"maxBitsPerSecond":1}"#,
                "above",
            ),
            (r#"{"type":"limits","maxBitrate":1}"#, "maxBitrate"),
            (r#"{"type":"limit"}"#, "limits"),
            ("5", "expected"),
        ] {
            let error = read(line.as_bytes()).unwrap_err();
            assert!(error.contains(part), "{line}: {error}");
        }
    }

    #[test]
    fn a_place_is_a_path_or_on_loopback() {
        assert_eq!("./x".parse(), Ok(Place::Unix(PathBuf::from("./x"))));
        let port = "127.0.0.1:80".parse::<Place>().unwrap();
        assert_eq!(port.to_string(), "127.0.0.1:80");
        for wrong in ["0.0.0.0:80", "x", ""] {
            assert!(wrong.parse::<Place>().is_err(), "{wrong}");
        }
    }
}
