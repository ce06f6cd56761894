//! HTTPS for `ureq`, which has no TLS of its own here: rustls, with the host's key or the system's
//! authorities ([`mimosa_tls`]).

use std::fmt;
use std::io::{self, Read, Write};
use std::sync::Arc;

use mimosa_tls::{KeyHash, Trust, Untrusted, client_config, untrusted};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, StreamOwned};
use ureq::Error;
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, Either, LazyBuffers, NextTimeout, Transport,
    TransportAdapter,
};

/// Why a connection with TLS did not come about.
#[derive(Debug, thiserror::Error)]
pub(super) enum TlsFailure {
    /// Whoever answers is not the host, as far as the client can tell.
    #[error(transparent)]
    Untrusted(Untrusted),
    /// Whoever answers does not speak TLS.
    #[error("it does not speak TLS; if that host runs with --tls off, write http:// in front")]
    Plain,
    /// Anything else.
    #[error("the handshake of TLS fails: {0}")]
    Other(String),
}

impl From<rustls::Error> for TlsFailure {
    fn from(error: rustls::Error) -> Self {
        match untrusted(&error) {
            Some(untrusted) => Self::Untrusted(untrusted.clone()),
            None if matches!(error, rustls::Error::InvalidMessage(_)) => Self::Plain,
            None => Self::Other(error.to_string()),
        }
    }
}

impl TlsFailure {
    /// This failure as the library's error, from which [`found`](Self::found) takes it back.
    fn wrapped(self) -> Error {
        Error::Other(Box::new(self))
    }

    /// The failure in an error of the library.
    pub(super) fn found(error: &Error) -> Option<&Self> {
        match error {
            Error::Other(other) => other.downcast_ref(),
            _ => None,
        }
    }
}

/// Puts TLS around connections for `https`. Without a configuration there are none.
#[derive(Debug)]
pub(super) struct TlsConnector(Option<Arc<ClientConfig>>);

impl TlsConnector {
    /// Connects without TLS only.
    pub(super) const fn plain() -> Self {
        Self(None)
    }

    /// Connects to the host with this key, or without one to hosts that an authority of the system
    /// vouches for.
    ///
    /// # Errors
    ///
    /// [`TlsFailure::Other`] if the library cannot be set up.
    pub(super) fn new(key: Option<KeyHash>) -> Result<Self, TlsFailure> {
        let trust = key.map_or_else(
            || Trust::Roots(rustls_native_certs::load_native_certs().certs),
            Trust::Key,
        );
        Ok(Self(Some(client_config(trust)?)))
    }
}

impl<In: Transport> Connector<In> for TlsConnector {
    type Out = Either<In, Encrypted>;

    fn connect(
        &self,
        details: &ConnectionDetails<'_>,
        chained: Option<In>,
    ) -> Result<Option<Self::Out>, Error> {
        let Some(transport) = chained else {
            return Ok(None);
        };
        // The library refuses to send a request for `https` without TLS.
        let Some(config) = self.0.as_ref().filter(|_| details.needs_tls()) else {
            return Ok(Some(Either::A(transport)));
        };
        let encrypted = Encrypted::new(Arc::clone(config), details, transport)?;
        Ok(Some(Either::B(encrypted)))
    }
}

/// A connection with TLS.
pub(super) struct Encrypted {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
}

impl Encrypted {
    /// Makes the handshake.
    fn new(
        config: Arc<ClientConfig>,
        details: &ConnectionDetails<'_>,
        transport: impl Transport,
    ) -> Result<Self, Error> {
        let host = details.uri.host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| TlsFailure::Other(format!("`{host}` is no name")).wrapped())?;
        let mut connection = ClientConnection::new(config, name)
            .map_err(|error| TlsFailure::from(error).wrapped())?;
        let mut socket =
            TransportAdapter::new(transport.boxed(), Arc::clone(&details.current_time));
        socket.set_timeout(details.timeout);
        connection.complete_io(&mut socket).map_err(failure)?;
        let buffers = LazyBuffers::new(
            details.config.input_buffer_size(),
            details.config.output_buffer_size(),
        );
        Ok(Self {
            buffers,
            stream: StreamOwned::new(connection, socket),
        })
    }
}

/// The library's error for one of reading or writing.
fn failure(error: io::Error) -> Error {
    let inner = error.get_ref();
    match inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
        Some(inner) => TlsFailure::from(inner.clone()).wrapped(),
        None => error.into(),
    }
}

impl Transport for Encrypted {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.stream.sock.set_timeout(timeout);
        let output = self.buffers.output().get(..amount).unwrap_or_default();
        self.stream.write_all(output).map_err(failure)?;
        self.stream.flush().map_err(failure)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.sock.set_timeout(timeout);
        let input = self.buffers.input_append_buf();
        let length = self.stream.read(input).map_err(failure)?;
        self.buffers.input_appended(length);
        Ok(length > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.sock.get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}

impl fmt::Debug for Encrypted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Encrypted").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::net::{SocketAddr, TcpListener};
    use std::sync::mpsc::{Receiver, channel};
    use std::time::UNIX_EPOCH;

    use mimosa_protocol::control::Role;
    use mimosa_tls::{OwnKey, Slot, server_config};
    use rustls::{ServerConnection, Stream};

    use super::*;
    use crate::drive::whep::Whep;
    use crate::{Address, PlayError};

    const ANSWER: &[u8] =
        b"HTTP/1.1 201 Created\r\nLocation: whep/00ff\r\nContent-Length: 6\r\n\r\nanswer";

    /// A host that answers one offer, and tells what it was asked in the clear and over TLS.
    fn host() -> (SocketAddr, KeyHash, Receiver<String>) {
        let key = OwnKey::generate().unwrap();
        let pair = key.certificate(&BTreeSet::new(), UNIX_EPOCH).unwrap();
        let known = pair.key_hash();
        let config = server_config(Slot::new(pair)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (tell, asked) = channel();
        std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut connection = ServerConnection::new(config).unwrap();
            let mut stream = Stream::new(&mut connection, &mut socket);
            let mut request = String::new();
            let mut piece = [0; 1_024];
            while !request.ends_with("offer") {
                match stream.read(&mut piece) {
                    Ok(length @ 1..) => request += std::str::from_utf8(&piece[..length]).unwrap(),
                    _ => break,
                }
            }
            // The client may be gone.
            let _ = stream.write_all(ANSWER);
            tell.send(request).unwrap();
        });
        (address, known, asked)
    }

    fn begin(address: SocketAddr, rest: &str) -> Result<String, PlayError> {
        let address = Address::parse(&format!("https://{address}/#{rest}"))?;
        let answer = Whep::new(address)?.begin("offer", Role::Player, None)?;
        Ok(format!("{} {}", answer.id, answer.text))
    }

    #[test]
    fn a_host_is_known_by_its_key() {
        let (address, key, asked) = host();
        let answer = begin(address, &format!("key={key}")).unwrap();
        assert_eq!(answer, "00ff answer");
        let request = asked.recv().unwrap();
        assert!(request.starts_with("POST /whep?role=player "), "{request}");
    }

    #[test]
    fn whoever_is_not_the_host_learns_nothing() {
        let (address, key, asked) = host();
        let error = begin(address, &format!("key={}", "00".repeat(32))).unwrap_err();
        assert!(matches!(&error, PlayError::OtherKey { shown, .. } if *shown == key));
        assert!(error.to_string().contains(&key.to_string()), "{error}");
        assert_eq!(asked.recv().unwrap(), "");
    }

    #[test]
    fn without_a_key_the_message_shows_it() {
        let (address, key, asked) = host();
        let error = begin(address, "").unwrap_err();
        let PlayError::Untrusted { key: shown, .. } = &error else {
            panic!("{error}");
        };
        assert_eq!(*shown, key);
        let text = error.to_string();
        assert!(text.contains(&format!("--key {key}")), "{text}");
        assert_eq!(asked.recv().unwrap(), "");
    }

    /// A host without TLS gets the beginning of a handshake, and no request.
    #[test]
    fn a_plain_host_is_named_and_not_asked() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let host = std::thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let mut asked = [0; 1_024];
            let length = socket.read(&mut asked).unwrap();
            socket
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .unwrap();
            asked[..length].to_vec()
        });
        let error = begin(address, "").unwrap_err().to_string();
        assert!(error.contains("does not speak TLS"), "{error}");
        let asked = host.join().unwrap();
        assert!(!asked.windows(5).any(|bytes| bytes == b"offer"));
    }
}
