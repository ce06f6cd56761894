//! Controllers that are processes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mimosa_facts::{Controller, Event, Limits};
use mimosa_foreign::{Dialogue, Maker};
use mimosa_units::{Time, TimeDelta};

use crate::bounds::{ProcessBounds, split};
use crate::command::{program, words};
use crate::digest::Digest;
use crate::driven::{Driven, Driver};
use crate::error::Problem;
use crate::find::Pace;
use crate::pipe::{Pipe, PipeError};

/// Longest answer time in a simulation.
const SIMULATED: TimeDelta = TimeDelta::from_millis(10_000);
/// Longest answer time in a host.
const LIVE: TimeDelta = TimeDelta::from_millis(1_000);
/// How long a process may take to end when a simulation is over: enough to write a log. A host waits
/// for no process.
const GRACE: Duration = Duration::from_millis(200);
/// Most bytes of a file among the words of a command that count for its digest.
const LARGEST_SCRIPT: u64 = 16 << 20;

/// Makes controllers by starting a process for each.
#[derive(Debug)]
pub(crate) struct ProcessMaker {
    name: String,
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    pace: Pace,
    digest: u64,
}

impl ProcessMaker {
    pub(crate) fn new(command: &str, folder: &Path, pace: Pace) -> Result<Self, Problem> {
        let words = words(command)?;
        let (first, arguments) = words.split_first().ok_or(Problem::NoCommand)?;
        let mut digest = Digest::new();
        for word in &words {
            digest.add(word.as_bytes());
            let path = folder.join(word);
            let is_small = |file: std::fs::Metadata| file.is_file() && file.len() <= LARGEST_SCRIPT;
            if std::fs::metadata(&path).is_ok_and(is_small) {
                digest.add(&std::fs::read(&path).unwrap_or_default());
            }
        }
        Ok(Self {
            name: format!("process:{command}"),
            program: program(first, folder),
            arguments: arguments.to_vec(),
            folder: folder.to_owned(),
            pace,
            digest: digest.value(),
        })
    }

    /// Starts a process, and waits for its first answer if `waits`.
    fn begin(
        &self,
        dialogue: &mut Dialogue,
        first: &[u8],
        bounds: ProcessBounds,
        waits: bool,
    ) -> Result<Process, Problem> {
        let grace = match self.pace {
            Pace::Simulated => GRACE,
            Pace::Live => Duration::ZERO,
        };
        let started = Pipe::start(&self.program, &self.arguments, &self.folder, grace);
        let mut pipe = started.map_err(|why| Problem::Start {
            program: self.program.display().to_string(),
            why,
        })?;
        pipe.send(first);
        let wait = if waits { bounds.start } else { TimeDelta::ZERO };
        let answer = receive(&mut pipe, dialogue, wait)?;
        if answer.is_none() && waits {
            return Err(silent(dialogue, bounds, self.pace));
        }
        Ok(Process {
            pace: self.pace,
            bounds,
            pipe,
            heard: None,
        })
    }

    fn start(&self, params: &toml::Table, limits: Limits, waits: bool) -> Driven<Process> {
        let (bounds, params) = match split::<ProcessBounds>(params) {
            Ok(split) => split,
            Err(problem) => {
                let (dialogue, _) = Dialogue::begin(limits, &toml::Table::new());
                return Driven::new(&self.name, dialogue, Err(problem));
            }
        };
        let (mut dialogue, first) = Dialogue::begin(limits, &params);
        let begun = self.begin(&mut dialogue, &first, bounds, waits);
        Driven::new(&self.name, dialogue, begun)
    }
}

impl Maker for ProcessMaker {
    fn check(&self, params: &toml::Table, limits: Limits) -> Result<(), String> {
        let failure = self.start(params, limits, true).into_failure();
        failure.map_or(Ok(()), Err)
    }

    fn make(&self, params: &toml::Table, limits: Limits) -> Box<dyn Controller> {
        Box::new(self.start(params, limits, self.pace == Pace::Simulated))
    }

    fn digest(&self) -> u64 {
        self.digest
    }
}

/// A running process that makes a controller's decisions.
#[derive(Debug)]
struct Process {
    pace: Pace,
    bounds: ProcessBounds,
    pipe: Pipe,
    /// When the process last said something, or was last told something while it owed no answer.
    heard: Option<Time>,
}

/// Takes the next answer, if it comes within `wait`.
fn receive(
    pipe: &mut Pipe,
    dialogue: &mut Dialogue,
    wait: TimeDelta,
) -> Result<Option<()>, Problem> {
    let wait = Duration::from_nanos(wait.as_nanos().unsigned_abs());
    let seq = dialogue.awaited();
    let line = pipe.receive(wait).map_err(|error| match error {
        PipeError::Ended(status) => Problem::Ended {
            seq,
            how: status.map_or_else(
                || "it closed its output".to_owned(),
                |status| status.to_string(),
            ),
        },
        PipeError::Long => Problem::Answer(mimosa_foreign::AnswerError::Long { seq }),
        PipeError::Failed(error) => Problem::Pipe(error),
    })?;
    let Some(line) = line else {
        return Ok(None);
    };
    dialogue.take(&line)?;
    Ok(Some(()))
}

/// The problem that an answer is due and does not come.
fn silent(dialogue: &Dialogue, bounds: ProcessBounds, pace: Pace) -> Problem {
    let seq = dialogue.awaited();
    let (bound, within) = if seq == 0 {
        ("start", bounds.start)
    } else {
        ("answer", longest(bounds, pace))
    };
    Problem::Silent { seq, bound, within }
}

/// How long an answer may take.
fn longest(bounds: ProcessBounds, pace: Pace) -> TimeDelta {
    bounds.answer.unwrap_or(match pace {
        Pace::Simulated => SIMULATED,
        Pace::Live => LIVE,
    })
}

impl Driver for Process {
    fn ask(
        &mut self,
        dialogue: &mut Dialogue,
        now: Time,
        event: &Event<'_>,
    ) -> Result<(), Problem> {
        let pipe = &mut self.pipe;
        match self.pace {
            Pace::Simulated => {
                pipe.send(&dialogue.tell(now, event));
                receive(pipe, dialogue, longest(self.bounds, self.pace))?
                    .ok_or_else(|| silent(dialogue, self.bounds, self.pace))
            }
            Pace::Live => {
                let before = dialogue.unanswered();
                while dialogue.unanswered() > 0
                    && receive(pipe, dialogue, TimeDelta::ZERO)?.is_some()
                {}
                if before == 0 || dialogue.unanswered() < before {
                    self.heard = Some(now);
                }
                pipe.send(&dialogue.tell(now, event));
                // Only a frame waits for what the controller says; the rest may come a little later.
                let is_due = matches!(event, Event::FrameDue { .. });
                let until = mimosa_system::clock::now() + wait(self.bounds);
                while dialogue.unanswered() > 0 {
                    let left = until.saturating_duration_since(mimosa_system::clock::now());
                    let left = if is_due { left } else { Duration::ZERO };
                    let left = TimeDelta::from_secs(left.as_secs_f64());
                    if receive(pipe, dialogue, left)?.is_none() {
                        break;
                    }
                    self.heard = Some(now);
                }
                let patience = if dialogue.awaited() == 0 {
                    self.bounds.start
                } else {
                    longest(self.bounds, self.pace)
                };
                let heard = *self.heard.get_or_insert(now);
                if dialogue.unanswered() > 0 && now.since(heard) > patience {
                    return Err(silent(dialogue, self.bounds, self.pace));
                }
                Ok(())
            }
        }
    }
}

/// The longest wait for the answer to `frame-due`.
fn wait(bounds: ProcessBounds) -> Duration {
    Duration::from_nanos(bounds.wait.as_nanos().unsigned_abs())
}
