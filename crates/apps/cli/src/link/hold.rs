//! `mimosa link up`, `down` and `exec`: a link between two hosts that stays until it is ended.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read as _};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;

use mimosa_link::{
    Namespace, User, become_own_root, join_user_namespace, may_make_devices, run_as,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use super::args::{ExecArgs, NameArgs, Side, UpArgs};
use super::control::{Reply, Request, ask};
use super::error::CliError;
use super::work::Work;
use super::{network, place};
use crate::output::{Existing, Files};
use crate::terminal::{print, say};

/// What the process that keeps a link prints once the link is up.
const READY: &str = "ready\n";
/// Time between looks of `down` whether the link is gone, and the number of looks.
const LOOK: Duration = Duration::from_millis(20);
const LOOKS: usize = 250;

/// Starts a process that keeps the link, and waits until it is up.
pub(super) fn up(args: &UpArgs) -> Result<ExitCode, CliError> {
    let failed = |error: std::io::Error| CliError::Hold(format!("cannot start a process: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut words: Vec<_> = std::env::args_os().skip(1).collect();
    // The other process is started with `link hold` in place of `link up`.
    if let Some(word) = words.iter_mut().find(|word| *word == OsStr::new("up")) {
        *word = "hold".into();
    }
    let mut child = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // In a process group of its own, so that Ctrl+C in this terminal does not end the link.
        .process_group(0)
        .spawn()
        .map_err(failed)?;
    let mut line = String::new();
    if let Some(stdout) = child.stdout.take() {
        BufReader::new(stdout)
            .read_line(&mut line)
            .map_err(failed)?;
    }
    let mut said = String::new();
    if line == READY {
        let name = &args.name;
        say(format_args!(
            "the link `{name}` is up: `mimosa link exec sender --name {name} -- COMMAND`, \
             `mimosa link status {name}`, `mimosa link down {name}`"
        ));
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(mut stderr) = child.stderr.take() {
        stderr.read_to_string(&mut said).map_err(failed)?;
    }
    let said = said.trim().trim_start_matches("error: ").to_owned();
    Err(CliError::Hold(said))
}

/// Keeps a link until it is asked to end.
pub(super) fn hold(args: &UpArgs) -> Result<ExitCode, CliError> {
    let mut files = Files::default();
    let read = network::read(&args.file, &args.link, &mut files)?;
    let create = |path| files.create(path, Existing::Replace);
    let log = args.link.log.as_deref().map(create).transpose()?;
    if !may_make_devices() {
        become_own_root()?;
    }
    let (stop, mut stopped) = mpsc::unbounded_channel();
    let stop = Box::new(move || {
        let _ = stop.send(());
    });
    let work = Work::begin(&args.name, (&args.file, &read), &args.link, log, None, stop)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(CliError::Wait)?;
    runtime.block_on(async {
        let heard_of = |kind| signal(kind).map_err(CliError::Wait);
        let mut interrupt = heard_of(SignalKind::interrupt())?;
        let mut terminate = heard_of(SignalKind::terminate())?;
        // The terminal from which the link was started may be closed.
        let _hangup = heard_of(SignalKind::hangup())?;
        print(READY)?;
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = stopped.recv() => {}
        }
        Ok::<_, CliError>(())
    })?;
    work.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Ends a link, and waits until it is gone.
pub(super) fn down(args: &NameArgs) -> Result<ExitCode, CliError> {
    let name = place::chosen(args.name.as_deref())?;
    ask(&name, &Request::Down)?;
    for _ in 0..LOOKS {
        if !place::names()?.contains(&name) {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::park_timeout(LOOK);
    }
    let why = "it has been told to end, and is still there".to_owned();
    Err(CliError::Silent { name, why })
}

/// Replaces this process with a command at one end of a link.
pub(super) fn exec(args: &ExecArgs) -> Result<ExitCode, CliError> {
    let name = place::chosen(args.name.as_deref())?;
    let user = args.user.as_deref().map(User::named).transpose()?;
    let sender = matches!(args.side, Side::Sender);
    let Reply::Place(place) = ask(&name, &Request::Enter { sender })? else {
        let why = "it gave another answer than was asked for".to_owned();
        return Err(CliError::Silent { name, why });
    };
    join_user_namespace(place.process)?;
    Namespace::open(&place.namespace)?.enter()?;
    let mut words = args.command.iter();
    let mut command = Command::new(words.next().cloned().unwrap_or_default());
    command.args(words).envs(place.environment(&name));
    if let Some(user) = &user {
        run_as(&mut command, user);
    }
    // `exec` only returns if it fails.
    let source = command.exec();
    Err(CliError::Exec {
        name: command.get_program().to_string_lossy().into_owned(),
        source,
    })
}
