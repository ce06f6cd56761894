//! What a host answers its owner on the same machine: who is there, and where it is reached; and how a session is ended.
//!
//! Each host listens at a Unix socket in its user's runtime folder, named after its HTTP port. The
//! folder is this user's alone, and the host asks the kernel who connects. A connection carries one
//! question and its answer, each a line of JSON; the host takes one connection after another.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use mimosa_protocol::control::{BitsPerSecond, Millis, Role};
use mimosa_system::{Mailbox, state};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::devices::Devices;
use crate::network::{SessionNumber, ToNetwork};
use crate::private;
use crate::serve::Urls;

/// Longest time for a question or its answer. Our choice: both are there in milliseconds.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest question in bytes, and the longest answer, which has a few hundred for each session.
const LONGEST_QUESTION: u64 = 256;
const LONGEST_ANSWER: u64 = 1 << 20;
/// How names of sockets end.
const ENDING: &str = ".sock";

/// A session, as its host's owner sees it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Listed {
    /// The session's number, by which it is ended.
    pub number: u64,
    /// Name of the paired device; `None` for whoever came with the host's own token.
    pub device: Option<String>,
    /// Whether its person plays or watches.
    pub role: Role,
    /// Where its newest datagram came from.
    pub address: Option<SocketAddr>,
    /// Time since the session began.
    pub lasts: Millis,
    /// Bitrate of the video over the last second.
    pub bitrate: BitsPerSecond,
    /// Newest round-trip time.
    pub round_trip: Option<Millis>,
}

/// A question to a host.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Question {
    List,
    End(u64),
    Urls,
}

/// Why a host cannot be asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionsError {
    /// There is no place for sockets.
    #[error(
        "none of XDG_RUNTIME_DIR, XDG_STATE_HOME and HOME is an absolute path, so that no host is found"
    )]
    NoPlace,
    /// No host runs, or none at this port.
    #[error("no host of this user runs here{}; `mimosa serve` starts one", at(*.0))]
    NoHost(Option<u16>),
    /// Several hosts run.
    #[error("several hosts run, at the ports {0}; say which one with --port")]
    Several(String),
    /// The host has no such session.
    #[error("there is no session {0}; `mimosa sessions` lists them")]
    Unknown(u64),
    /// The system's error.
    #[error("the host at port {port} cannot be asked: {error}")]
    Io {
        /// The host's HTTP port.
        port: u16,
        /// The system's error.
        error: io::Error,
    },
}

fn at(port: Option<u16>) -> String {
    port.map_or_else(String::new, |port| format!(" at port {port}"))
}

/// The folder of the sockets: `$XDG_RUNTIME_DIR/mimosa`, or `run` in our folder among the user's state.
fn folder() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    let runtime = runtime.filter(|path| path.is_absolute());
    runtime.map_or_else(|| state::path("run"), |path| Some(path.join("mimosa")))
}

/// Lists the sessions of this user's hosts, each with its HTTP port; of one host only if `port` names it.
///
/// # Errors
///
/// [`SessionsError`] if no host runs, or one cannot be asked.
pub fn list(port: Option<u16>) -> Result<Vec<(u16, Vec<Listed>)>, SessionsError> {
    let hosts = hosts(&folder().ok_or(SessionsError::NoPlace)?, port)?;
    let listed = hosts.into_iter().map(|(port, stream)| {
        let all = ask(stream, Question::List).map_err(|error| SessionsError::Io { port, error })?;
        Ok((port, all))
    });
    listed.collect()
}

/// The URLs of this user's hosts, tokens included, each with its HTTP port; of one host only if `port` names it.
///
/// # Errors
///
/// [`SessionsError`] if no host runs, or one cannot be asked.
pub fn urls(port: Option<u16>) -> Result<Vec<(u16, Urls)>, SessionsError> {
    let hosts = hosts(&folder().ok_or(SessionsError::NoPlace)?, port)?;
    let told = hosts.into_iter().map(|(port, stream)| {
        let urls =
            ask(stream, Question::Urls).map_err(|error| SessionsError::Io { port, error })?;
        Ok((port, urls))
    });
    told.collect()
}

/// Ends a session. Its person is told that the host's owner has ended it.
///
/// # Errors
///
/// [`SessionsError`] if there is no such session, or if it is not clear of which host.
pub fn end(port: Option<u16>, number: u64) -> Result<(), SessionsError> {
    let mut hosts = hosts(&folder().ok_or(SessionsError::NoPlace)?, port)?;
    if hosts.len() > 1 {
        let ports: Vec<_> = hosts.iter().map(|(port, _)| port.to_string()).collect();
        return Err(SessionsError::Several(ports.join(", ")));
    }
    let (port, stream) = hosts.pop().ok_or(SessionsError::NoHost(port))?;
    let ended: bool =
        ask(stream, Question::End(number)).map_err(|error| SessionsError::Io { port, error })?;
    if ended {
        Ok(())
    } else {
        Err(SessionsError::Unknown(number))
    }
}

/// Connections to the hosts that run, in the order of their ports.
fn hosts(folder: &Path, only: Option<u16>) -> Result<Vec<(u16, UnixStream)>, SessionsError> {
    let mut hosts = Vec::new();
    // Without a folder there is no host.
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let port = name.to_str().and_then(|name| name.strip_suffix(ENDING));
        let Some(port) = port.and_then(|port| port.parse().ok()) else {
            continue;
        };
        if only.is_some_and(|only| only != port) {
            continue;
        }
        // A host that was killed leaves its socket.
        if let Ok(stream) = UnixStream::connect(entry.path()) {
            hosts.push((port, stream));
        }
    }
    hosts.sort_by_key(|(port, _)| *port);
    if hosts.is_empty() {
        return Err(SessionsError::NoHost(only));
    }
    Ok(hosts)
}

/// Asks a host.
fn ask<T: for<'de> Deserialize<'de>>(stream: UnixStream, question: Question) -> io::Result<T> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let text = serde_json::to_string(&question)?;
    (&stream).write_all(format!("{text}\n").as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream.take(LONGEST_ANSWER)).read_line(&mut answer)?;
    Ok(serde_json::from_str(&answer)?)
}

/// A host's socket, which is removed when this is dropped.
struct Door {
    listener: UnixListener,
    path: PathBuf,
}

impl Door {
    /// Listens for the owner of the host at this HTTP port.
    fn open(folder: &Path, port: u16) -> io::Result<Self> {
        private::folder(folder)?;
        let path = folder.join(format!("{port}{ENDING}"));
        if UnixStream::connect(&path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        // A host that was killed has left it.
        let _ = std::fs::remove_file(&path);
        let listener = UnixListener::bind(&path)?;
        Ok(Self { listener, path })
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Answers the owner of the host at this HTTP port. Completes only if nobody can ask.
pub(crate) async fn serve(port: u16, urls: Urls, mailbox: Mailbox<ToNetwork>) {
    let door = folder()
        .ok_or_else(|| io::ErrorKind::NotFound.into())
        .and_then(|folder| Door::open(&folder, port));
    match door {
        Ok(door) => answer_all(&door, &urls, &mailbox).await,
        Err(error) => {
            tracing::warn!(%error, "`mimosa sessions` and `mimosa urls` do not find this host");
        }
    }
}

async fn answer_all(door: &Door, urls: &Urls, mailbox: &Mailbox<ToNetwork>) {
    let owner = rustix::process::geteuid().as_raw();
    loop {
        let Ok((stream, _)) = door.listener.accept().await else {
            tokio::time::sleep(PATIENCE).await;
            continue;
        };
        let is_owner = stream
            .peer_cred()
            .is_ok_and(|peer| peer.uid() == owner || peer.uid() == 0);
        if is_owner {
            // Whoever takes no answer in time gets none.
            let _ = timeout(PATIENCE, answer(stream, urls, mailbox)).await;
        }
    }
}

/// Answers one question.
async fn answer(
    mut stream: tokio::net::UnixStream,
    urls: &Urls,
    mailbox: &Mailbox<ToNetwork>,
) -> io::Result<()> {
    let mut text = Vec::new();
    let mut limited = (&mut stream).take(LONGEST_QUESTION);
    while !text.ends_with(b"\n") && limited.read_buf(&mut text).await? > 0 {}
    let answer = match serde_json::from_slice(&text)? {
        Question::List => {
            let (reply, answer) = oneshot::channel();
            mailbox.send(ToNetwork::List(reply));
            let mut all = answer.await.unwrap_or_default();
            name(&mut all);
            serde_json::to_string(&all)?
        }
        Question::Urls => serde_json::to_string(urls)?,
        Question::End(number) => {
            let (reply, answer) = oneshot::channel();
            mailbox.send(ToNetwork::End(SessionNumber(number), reply));
            serde_json::to_string(&answer.await.unwrap_or(false))?
        }
    };
    stream.write_all(format!("{answer}\n").as_bytes()).await
}

/// Puts names in the place of the identifiers of devices.
pub(crate) fn name(all: &mut [Listed]) {
    let devices = Devices::open().ok();
    let list = devices.as_ref().map_or(&[][..], Devices::list);
    for listed in all {
        if let Some(id) = &mut listed.device
            && let Some(device) = list.iter().find(|device| device.id == *id)
        {
            id.clone_from(&device.name);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use mimosa_system::mailbox;
    use mimosa_system::process::Folder;

    use super::*;

    fn listed() -> Listed {
        Listed {
            number: 3,
            device: None,
            role: Role::Viewer,
            address: None,
            lasts: Millis(mimosa_units::TimeDelta::from_millis(1_500)),
            bitrate: BitsPerSecond(mimosa_units::Rate::from_bps(1_000)),
            round_trip: None,
        }
    }

    fn told() -> Urls {
        Urls {
            play: vec!["http://localhost:8080/#token=a".to_owned()],
            watch: Vec::new(),
            own: Some("http://localhost:8080/#token=b".to_owned()),
        }
    }

    /// A host's door in a folder, and what asks there; the network knows session 3.
    fn asked<T: Send + 'static>(ask: impl FnOnce(PathBuf) -> T + Send + 'static) -> T {
        let around = Folder::create("mimosa-sessions").unwrap();
        let folder = around.path().join("mimosa");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let (mailbox, inbox) = mailbox().unwrap();
        let network = std::thread::spawn(move || {
            loop {
                match inbox.take() {
                    Some(ToNetwork::List(reply)) => drop(reply.send(vec![listed()])),
                    Some(ToNetwork::End(number, reply)) => drop(reply.send(number.0 == 3)),
                    Some(ToNetwork::Stop) => break,
                    _ => std::thread::yield_now(),
                }
            }
        });
        let answered = runtime.block_on(async {
            let (door, told) = (Door::open(&folder, 8_080).unwrap(), told());
            let inner = folder.clone();
            let asking = tokio::task::spawn_blocking(move || ask(inner));
            tokio::select! {
                () = answer_all(&door, &told, &mailbox) => unreachable!(),
                answered = asking => answered.unwrap(),
            }
        });
        mailbox.send(ToNetwork::Stop);
        network.join().unwrap();
        assert_eq!(folder.read_dir().unwrap().count(), 0, "the socket is gone");
        answered
    }

    fn one(folder: &Path) -> UnixStream {
        hosts(folder, None).unwrap().pop().unwrap().1
    }

    #[test]
    fn the_owner_lists_and_ends() {
        let all: Vec<Listed> = asked(|folder| ask(one(&folder), Question::List).unwrap());
        assert_eq!(all, [listed()]);
        let ended = asked(|folder| {
            [3, 4].map(|number| ask::<bool>(one(&folder), Question::End(number)).unwrap())
        });
        assert_eq!(ended, [true, false]);
    }

    #[test]
    fn the_owner_learns_where_the_host_is() {
        let urls: Urls = asked(|folder| ask(one(&folder), Question::Urls).unwrap());
        assert_eq!(urls, told());
    }

    #[test]
    fn nonsense_and_silence_keep_nobody_out() {
        let all = asked(|folder| {
            for nonsense in [&b"{\n"[..], &[b'x'; 1_000], b""] {
                let mut stream = one(&folder);
                // The host may be gone already.
                let _ = stream.write_all(nonsense);
            }
            let _silent = one(&folder);
            // The host waits for the silent one as long as this end waits for the host.
            let mut tries = 0..3;
            tries.find_map(|_| ask::<Vec<Listed>>(one(&folder), Question::List).ok())
        });
        assert_eq!(all, Some(vec![listed()]));
    }

    #[test]
    fn the_socket_is_in_a_folder_of_the_owners_alone() {
        let mode = asked(|folder| folder.metadata().unwrap().permissions().mode() & 0o777);
        assert_eq!(mode, 0o700);
    }

    #[test]
    fn a_host_that_was_killed_is_no_host() {
        let around = Folder::create("mimosa-sessions").unwrap();
        let path = around.path().join("8080.sock");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let error = hosts(around.path(), None).unwrap_err().to_string();
        assert!(error.contains("no host of this user runs here;"), "{error}");
        let error = hosts(around.path(), Some(9)).unwrap_err().to_string();
        assert!(error.contains("at port 9"), "{error}");
    }
}
