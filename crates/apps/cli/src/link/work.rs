//! A link at work: its hosts, its threads, its log and the socket that it answers on.

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
    // Dropped in this order: the log waits until the engine tells it of no more packets.
    engine: Engine,
    log: Option<Log>,
    server: Server,
}

impl Work {
    /// Begins the link `name` over the network that was read from the file `path`; `here`
    /// is the end that is this machine's own network. Its packets go into `log`. `stop` is
    /// called when somebody wants it to end.
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

    /// Ends it, and says what both directions did.
    pub(super) fn end(self) -> Result<Vec<Tally>, CliError> {
        let tallies = self.engine.stop();
        let logged = self.log.map_or(Ok(()), Log::finish);
        // Whoever waits for the link to go finds the log whole.
        drop(self.server);
        logged?;
        Ok(tallies)
    }
}
