//! `mimosa link run`: a command behind a link.

use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

use mimosa_link::{
    End, LinkError, Namespace, Program, Translation, User, become_own_root, may_make_devices,
    run_as,
};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::args::RunArgs;
use super::control::Place;
use super::error::CliError;
use super::status::Status;
use super::work::Work;
use super::{network, status};
use crate::output::{Existing, Files};
use crate::terminal::say;

/// How long the command at the other end may take to end.
const GRACE: Duration = Duration::from_secs(2);

/// A reason for which a run ends.
enum Event {
    /// The command has ended.
    Ended,
    /// A request asks the link to end.
    Stop,
}

pub(super) fn run(args: &RunArgs) -> Result<ExitCode, CliError> {
    let user = args.user.as_deref().map(User::named).transpose()?;
    let mut files = Files::default();
    let read = network::read(&args.file, &args.link, &mut files)?;
    let mut create = |path| files.create(path, Existing::Replace);
    let log = args.link.log.as_deref().map(&mut create).transpose()?;
    let summary = args.summary.as_deref().map(create).transpose()?;
    let end = End::from(args.side);
    let has_rights = may_make_devices();
    let here = (has_rights && !args.isolated && args.peer.is_none()).then_some(end.other());
    if !has_rights {
        become_own_root()?;
    }
    let name = args.name.clone();
    let name = name.unwrap_or_else(|| format!("run-{}", std::process::id()));
    let (events, mut heard) = mpsc::unbounded_channel();
    let stop = events.clone();
    // The run may have ended already.
    let stop = Box::new(move || {
        let _ = stop.send(Event::Stop);
    });
    let work = Work::begin(&name, (&args.file, &read), &args.link, log, here, stop)?;
    let translation = beyond(&name, &work, here, end);
    if !has_rights && args.peer.is_none() && !args.isolated {
        let other = match end {
            End::Sender => "receiver",
            End::Receiver => "sender",
        };
        say(format_args!(
            "note: without root's rights the other end is a host with nothing on it: see \
             `--peer`, or `mimosa link exec {other} --name {name}`"
        ));
    }
    let peer = match &args.peer {
        Some(text) => {
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(text);
            if let Some(user) = &user {
                run_as(&mut shell, user);
            }
            Some(start(&work, &name, end.other(), shell, || ())?)
        }
        None => None,
    };
    let mut words = args.command.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    command.args(words);
    if let Some(user) = &user {
        run_as(&mut command, user);
    }
    let ended = events.clone();
    // After a failed run nothing listens.
    let ended = move || {
        let _ = ended.send(Event::Ended);
    };
    let program = start(&work, &name, end, command, ended)?;
    watch(&program, &mut heard)?;
    let result = program.wait().map_err(CliError::Wait)?;
    if let Some(peer) = peer {
        // The peer ends while the link is still there, so that its connections can end in order.
        peer.end(GRACE);
    }
    drop(translation);
    let (lanes, path) = (work.lanes.clone(), args.file.display().to_string());
    let tallies = work.end()?;
    if let Some(output) = summary {
        Status::new(&name, &path, &lanes, &tallies).write(output)?;
    }
    if !args.quiet {
        say(status::summary(&name, &lanes, &tallies).trim_end());
    }
    Ok(code(result))
}

/// Starts a command at an end.
fn start(
    work: &Work,
    name: &str,
    end: End,
    mut command: Command,
    ended: impl FnOnce() + Send + 'static,
) -> Result<Program, LinkError> {
    let place = Place::of(&work.sides, end);
    command.envs(place.environment(name));
    let namespace = Namespace::open(&place.namespace)?;
    Program::start(namespace, command, ended)
}

/// Makes the translation of addresses beyond this machine, if possible. Says so if it is not.
fn beyond(name: &str, work: &Work, here: Option<End>, end: End) -> Option<Translation> {
    let machine = work.sides.side(here?).addresses.own;
    if !Translation::is_possible() {
        say(format_args!(
            "note: the command reaches this machine at {machine}, but nothing beyond it, as it \
             forwards no packets (`sysctl net.ipv4.ip_forward=1` lets it)"
        ));
        return None;
    }
    let inside = &work.sides.side(end).addresses;
    match Translation::start(name, inside) {
        Ok(translation) => Some(translation),
        Err(error) => {
            say(format_args!(
                "note: the command reaches this machine at {machine} alone: {error}"
            ));
            None
        }
    }
}

/// Waits until the command has ended, and passes signals on to it.
fn watch(program: &Program, heard: &mut mpsc::UnboundedReceiver<Event>) -> Result<(), CliError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Wait)?;
    runtime.block_on(async {
        let heard_of = |kind| signal(kind).map_err(CliError::Wait);
        let mut interrupt = heard_of(SignalKind::interrupt())?;
        let mut quit = heard_of(SignalKind::quit())?;
        let mut terminate = heard_of(SignalKind::terminate())?;
        let mut hangup = heard_of(SignalKind::hangup())?;
        loop {
            tokio::select! {
                // The terminal sends these signals to the command itself.
                _ = interrupt.recv() => {}
                _ = quit.recv() => {}
                _ = terminate.recv() => program.signal(Signal::TERM),
                _ = hangup.recv() => program.signal(Signal::HUP),
                event = heard.recv() => match event {
                    Some(Event::Stop) => program.signal(Signal::TERM),
                    Some(Event::Ended) | None => return Ok(()),
                },
            }
        }
    })
}

/// The command's exit code; after a signal, 128 and the signal's number, as in a shell.
fn code(status: ExitStatus) -> ExitCode {
    let signal = || 128 + status.signal().unwrap_or(0);
    let code = status.code().unwrap_or_else(signal);
    ExitCode::from(u8::try_from(code).unwrap_or(u8::MAX))
}
