//! Requests to a link that another process runs: one line of JSON each way.

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use mimosa_link::{Control, End, Sides};
use mimosa_net::Change;
use mimosa_units::{Rate, TimeDelta};
use serde::{Deserialize, Serialize};

use super::args::SetArgs;
use super::error::CliError;
use super::place::{self, Claim};
use super::status::Status;

/// Longest time that a link may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// Longest request, in bytes.
const LONGEST: u64 = 4_096;

/// A request to a link.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Request {
    /// Asks for the link's status.
    Status,
    /// Asks for the place of an end.
    Enter { sender: bool },
    /// Asks for a change of a direction.
    Set {
        reverse: bool,
        rate: Option<Rate>,
        delay_ns: Option<i64>,
        loss: Option<f64>,
    },
    /// Asks the link to end.
    Down,
}

/// The answer to a request.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Status(Status),
    Place(Place),
    Done,
    Refused(String),
}

/// The place of an end of a link.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Place {
    /// Number of the process that keeps the link.
    pub(super) process: u32,
    /// Path of the end's network namespace.
    pub(super) namespace: PathBuf,
    pub(super) address: Ipv4Addr,
    pub(super) peer: Ipv4Addr,
    pub(super) address_v6: Ipv6Addr,
    pub(super) peer_v6: Ipv6Addr,
}

impl Place {
    pub(super) fn of(sides: &Sides, end: End) -> Self {
        let side = sides.side(end);
        Self {
            process: std::process::id(),
            namespace: side.namespace.path(),
            address: side.addresses.own,
            peer: side.addresses.peer,
            address_v6: side.addresses.own_v6,
            peer_v6: side.addresses.peer_v6,
        }
    }

    /// Environment variables of a command at this end.
    pub(super) fn environment(&self, name: &str) -> [(&'static str, String); 5] {
        [
            ("MIMOSA_LINK", name.to_owned()),
            ("MIMOSA_LINK_ADDRESS", self.address.to_string()),
            ("MIMOSA_LINK_PEER", self.peer.to_string()),
            ("MIMOSA_LINK_ADDRESS_V6", self.address_v6.to_string()),
            ("MIMOSA_LINK_PEER_V6", self.peer_v6.to_string()),
        ]
    }
}

/// A function to call when a request asks the link to end.
pub(super) type Stop = Box<dyn Fn() + Send + Sync>;

/// The state of a link that requests are about.
pub(super) struct Shared {
    pub(super) name: String,
    pub(super) path: String,
    pub(super) lanes: [Vec<String>; 2],
    pub(super) control: Control,
    pub(super) sides: Arc<Sides>,
    pub(super) stop: Stop,
}

/// Answers requests until it is dropped, which removes the socket.
pub(super) struct Server {
    claim: Claim,
}

impl Drop for Server {
    fn drop(&mut self) {
        // If the folder was emptied, the socket is gone already.
        let _ = std::fs::remove_file(self.claim.socket());
    }
}

impl Server {
    /// Starts to answer for the link whose name was claimed.
    pub(super) fn start(claim: Claim, shared: Shared) -> Result<Self, CliError> {
        let socket = claim.socket();
        let failed = |source| CliError::Place {
            path: socket.to_owned(),
            source,
        };
        let listener = UnixListener::bind(socket).map_err(failed)?;
        let answer = move || {
            // The thread ends with the process.
            for stream in listener.incoming().flatten() {
                // The process that asked may have ended.
                let _ = shared.serve(stream);
            }
        };
        std::thread::Builder::new()
            .name("link-control".to_owned())
            .spawn(answer)
            .map_err(failed)?;
        Ok(Self { claim })
    }
}

impl Shared {
    fn serve(&self, mut stream: UnixStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(ANSWER))?;
        let mut line = String::new();
        let limited = std::io::Read::take(&stream, LONGEST);
        if BufReader::new(limited).read_line(&mut line)? == 0 {
            // The connection only tested whether the link answers.
            return Ok(());
        }
        let reply = match serde_json::from_str(&line) {
            Ok(request) => self.answer(&request),
            Err(error) => Reply::Refused(error.to_string()),
        };
        let mut text = serde_json::to_string(&reply)?;
        text.push('\n');
        stream.write_all(text.as_bytes())
    }

    fn answer(&self, request: &Request) -> Reply {
        let done = match *request {
            Request::Status => {
                return match self.control.tallies() {
                    Ok(tallies) => Reply::Status(Status::of(self, &tallies)),
                    Err(error) => Reply::Refused(error.to_string()),
                };
            }
            Request::Enter { sender } => {
                let end = if sender { End::Sender } else { End::Receiver };
                return Reply::Place(Place::of(&self.sides, end));
            }
            Request::Set {
                reverse,
                rate,
                delay_ns,
                loss,
            } => {
                let change = Change {
                    rate,
                    delay: delay_ns.map(TimeDelta::from_nanos),
                    loss,
                };
                self.control.change(!reverse, change)
            }
            Request::Down => {
                (self.stop)();
                Ok(())
            }
        };
        match done {
            Ok(()) => Reply::Done,
            Err(error) => Reply::Refused(error.to_string()),
        }
    }
}

/// Sends a request to the link `name`, and returns the answer.
pub(super) fn ask(name: &str, request: &Request) -> Result<Reply, CliError> {
    let silent = |why: String| CliError::Silent {
        name: name.to_owned(),
        why,
    };
    let exchange = || -> std::io::Result<String> {
        let path = place::socket(name).map_err(std::io::Error::other)?;
        let mut stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(ANSWER))?;
        let mut text = serde_json::to_string(request)?;
        text.push('\n');
        stream.write_all(text.as_bytes())?;
        let mut line = String::new();
        BufReader::new(stream).read_line(&mut line)?;
        Ok(line)
    };
    let line = exchange().map_err(|error| silent(error.to_string()))?;
    match serde_json::from_str(&line) {
        Ok(Reply::Refused(why)) => Err(silent(why)),
        Ok(reply) => Ok(reply),
        Err(error) => Err(silent(error.to_string())),
    }
}

/// `mimosa link set`.
pub(super) fn set(args: &SetArgs) -> Result<std::process::ExitCode, CliError> {
    let name = place::chosen(args.name.as_deref())?;
    ask(
        &name,
        &Request::Set {
            reverse: args.reverse,
            rate: args.rate,
            delay_ns: args.delay.map(TimeDelta::as_nanos),
            loss: args.loss,
        },
    )?;
    Ok(std::process::ExitCode::SUCCESS)
}
