//! A running link: its hosts, its threads, its recording and its socket.

use std::path::Path;
use std::sync::Arc;

use mimosa_link::{Clock, End, Engine, Sides, Tally};

use super::args::LinkArgs;
use super::control::{Server, Shared, Stop};
use super::error::CliError;
use super::log::Log;
use super::network::Read;
use super::place;
use crate::output::Output;

/// A running link.
pub(super) struct Work {
    pub(super) sides: Arc<Sides>,
    pub(super) lanes: [Vec<String>; 2],
    // Fields are dropped in this order: the recording waits until the engine reports no more
    // packets.
    engine: Engine,
    log: Option<Log>,
    server: Server,
}

impl Work {
    /// Begins the link `name` over the network that was read from the file `path`. `here` is the
    /// end that is this machine's own network. Packets are recorded to `log`. `stop` is called when
    /// a request asks the link to end.
    pub(super) fn begin(
        name: &str,
        (path, read): (&Path, &Read),
        args: &LinkArgs,
        log: Option<Output>,
        here: Option<End>,
        stop: Stop,
    ) -> Result<Self, CliError> {
        let claim = place::claim(name)?;
        let (sides, devices) = Sides::connect(here, args.mtu)?;
        let sides = Arc::new(sides);
        let clock = Clock::start();
        let lanes = read.lanes();
        let about = serde_json::json!({
            "name": name,
            "path": path.display().to_string(),
            "variant": args.variant,
            "seed": read.seed,
            "mtu": args.mtu,
            "wait": args.wait.name(),
            "begun_unix_ns": clock.begun_unix_nanos(),
            "version": env!("CARGO_PKG_VERSION"),
        });
        let begin = |output| Log::begin(output, &about, &lanes);
        let log = log.map(begin).transpose()?;
        let (log, told) = match log {
            Some((log, told)) => (Some(log), Some(told)),
            None => (None, None),
        };
        let waiting = args.wait.waiting();
        let engine = Engine::start(clock, devices, read.directions(), waiting, told.as_ref())?;
        let shared = Shared {
            name: name.to_owned(),
            path: path.display().to_string(),
            lanes: lanes.clone(),
            control: engine.control(),
            sides: Arc::clone(&sides),
            stop,
        };
        let server = Server::start(claim, shared)?;
        Ok(Self {
            sides,
            lanes,
            engine,
            log,
            server,
        })
    }

    /// Ends the link, and returns the tallies of both directions.
    pub(super) fn end(self) -> Result<Vec<Tally>, CliError> {
        let tallies = self.engine.stop();
        let logged = self.log.map_or(Ok(()), Log::finish);
        // The socket goes last: a process that waits for it to go finds the recording complete.
        drop(self.server);
        logged?;
        Ok(tallies)
    }
}
