//! Programs that end when we do, with all that they started.
//!
//! A program and its guard, a shell that does nothing, make a process group. The program
//! also has a mark in its environment, which all that it starts inherits: by that are found
//! those who leave the group (`setsid`), as launchers of games do, whoever their parent is
//! by then. Who clears its environment *and* leaves the group is not found.
//!
//! The guard reads a pipe whose other end only we hold: when this process ends,
//! even by `SIGKILL`, the pipe does as well, and the guard ends the group and the marked.
//! `PR_SET_PDEATHSIG` would not do: it ends one process instead of all, needs
//! unsafe code or a wrapper, and strikes as soon as the *thread* ends that
//! started the program. Nor would `PR_SET_CHILD_SUBREAPER`: only a process itself can set
//! it, before it starts others, which takes unsafe code or a program of our own as guard.

use std::ffi::OsStr;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use crate::clock::{now, wait};
use crate::process::folder::random;

/// Name of the mark.
const MARK: &str = "MIMOSA_GROUP";
/// Waits for the pipe to end; then ends the group and those with the mark `$2` as
/// [`Group::stop`] does, and removes the directory `$1`, if any. What starts others while
/// it is looked for is looked for again.
const GUARD: &str = r#"
mark=$2
marked() {
    grep -lszxF -e "MIMOSA_GROUP=$mark" /proc/[0-9]*/environ | cut -d/ -f3
}
read -r _
trap '' TERM
kill -TERM 0 $(marked) 2>/dev/null
sleep 2
[ -n "$1" ] && rm -rf -- "$1"
for _ in 1 2 3 4 5; do
    left=$(marked)
    [ -n "$left" ] || break
    kill -KILL $left 2>/dev/null
done
kill -KILL 0
"#;
/// How long programs may take to end before they are made to.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often is looked whether they ended.
const LOOK: Duration = Duration::from_millis(5);

/// A running program, its guard, and what the program started.
#[derive(Debug)]
pub struct Group {
    guard: Child,
    program: Child,
    /// `NAME=VALUE` in the environment of all but the guard.
    mark: String,
    is_stopped: bool,
}

impl Group {
    /// Starts a program. If this process is killed, `remnant` is removed.
    ///
    /// # Errors
    ///
    /// The system's, when the program or its guard does not start.
    pub fn spawn(mut program: Command, remnant: Option<&Path>) -> io::Result<Self> {
        let mark = format!("{:016x}", random()?);
        let mut guard = Command::new("sh")
            .args(["-c", GUARD, "mimosa-guard"])
            .arg(remnant.unwrap_or(Path::new("")))
            .arg(&mark)
            // It is no part of a group that this process may be in.
            .env_remove(MARK)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let group = guard.id().cast_signed();
        program.stdin(Stdio::null()).env(MARK, &mark);
        match program.process_group(group).spawn() {
            Ok(program) => Ok(Self {
                guard,
                program,
                mark: format!("{MARK}={mark}"),
                is_stopped: false,
            }),
            Err(error) => {
                guard.kill()?;
                guard.wait()?;
                Err(error)
            }
        }
    }

    /// The program.
    pub fn program(&mut self) -> &mut Child {
        &mut self.program
    }

    /// How the program ended, if it did.
    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.program.try_wait().ok().flatten()
    }

    /// Asks all to end, makes those that have not after two seconds, and waits.
    pub fn stop(&mut self) {
        if std::mem::replace(&mut self.is_stopped, true) {
            return;
        }
        // The group keeps its number for as long as the guard is not waited
        // for, or another process is in it.
        let Some(group) = Pid::from_raw(self.guard.id().cast_signed()) else {
            return;
        };
        for signal in [Signal::TERM, Signal::KILL] {
            let result = kill_process_group(group, signal);
            tracing::debug!("sent {signal:?} to process group {group}: {result:?}");
            for process in self.marked() {
                let result = kill_process(process, signal);
                tracing::debug!("sent {signal:?} to process {process}: {result:?}");
            }
            if self.empties(group) {
                break;
            }
        }
        for child in [&mut self.program, &mut self.guard] {
            if let Err(error) = child.wait() {
                tracing::debug!("waiting for process {}: {error}", child.id());
            }
        }
    }

    /// Processes that have the mark. The environment of a process that has ended cannot be read.
    fn marked(&self) -> Vec<Pid> {
        let mark = self.mark.as_bytes();
        let has_mark = |process: &Path| {
            let environment = std::fs::read(process.join("environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|variable| variable == mark)
        };
        processes()
            .filter(|process| has_mark(process))
            .filter_map(|process| Pid::from_raw(process.file_name()?.to_str()?.parse().ok()?))
            .collect()
    }

    /// Waits for all processes of the group, and those with its mark, to end. Whether they
    /// did.
    fn empties(&mut self, group: Pid) -> bool {
        let patience = now() + PATIENCE;
        while !self.is_empty(group) {
            if now() >= patience {
                return false;
            }
            wait(LOOK);
        }
        true
    }

    /// Whether all processes of the group have ended.
    fn is_empty(&mut self, group: Pid) -> bool {
        let ended = |child: &mut Child| matches!(child.try_wait(), Ok(Some(_)) | Err(_));
        let both_ended = ended(&mut self.program) & ended(&mut self.guard);
        both_ended
            && (test_kill_process_group(group) == Err(Errno::SRCH) || !is_alive(group))
            && self.marked().is_empty()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Whether any process of `group` is more than a corpse that its new parent,
/// the first process of a container perhaps, does not bury.
fn is_alive(group: Pid) -> bool {
    if !Path::new("/proc/self").exists() {
        return true;
    }
    let group = group.to_string();
    processes().any(|process| {
        let status = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
        // Number, name in brackets, state, parent, group.
        let mut fields = status.rsplit(") ").next().unwrap_or_default().split(' ');
        let state = fields.next();
        fields.nth(1) == Some(&group) && !matches!(state, Some("Z" | "X"))
    })
}

/// What the kernel shows of each process.
fn processes() -> impl Iterator<Item = PathBuf> {
    let all = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_one = |name: &OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    all.filter(move |entry| is_one(&entry.file_name()))
        .map(|entry| entry.path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    fn is_running(process: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat"));
        status.is_ok_and(|status| !status.contains(") Z "))
    }

    /// Starts `script`, which prints the number of one more process.
    fn start(script: &str) -> (Group, String) {
        let mut command = shell(script);
        command.stdout(Stdio::piped());
        let mut group = Group::spawn(command, None).unwrap();
        let output = group.program().stdout.take().unwrap();
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line).unwrap();
        let descendant = line.trim().to_owned();
        assert!(is_running(&descendant), "{descendant}");
        (group, descendant)
    }

    #[test]
    fn what_a_program_started_ends_with_it() {
        let (group, descendant) = start("sleep 1000 & echo $!; wait");
        drop(group);
        assert!(!is_running(&descendant));
    }

    #[test]
    fn what_does_not_end_by_itself_is_made_to() {
        let (mut group, descendant) = start("trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000");
        group.stop();
        assert!(!is_running(&descendant));
        assert!(group.has_ended().is_some());
    }

    /// One that leaves the group, and is nobody's child any more.
    const AWAY: &str = "setsid sh -c 'sleep 1000 & echo $!; wait' & wait";
    const FAR_AWAY: &str = "(setsid sleep 1000 & echo $!) & sleep 1000";

    #[test]
    fn what_has_left_the_group_ends_with_it() {
        for script in [AWAY, FAR_AWAY] {
            let (group, descendant) = start(script);
            drop(group);
            assert!(!is_running(&descendant), "{script}");
        }
    }

    #[test]
    fn the_guard_ends_what_has_left_the_group() {
        for script in [AWAY, FAR_AWAY] {
            let (mut group, descendant) = start(script);
            // As if this process had ended.
            drop(group.guard.stdin.take());
            group.guard.wait().unwrap();
            assert!(!is_running(&descendant), "{script}");
        }
    }

    /// Another group is left alone.
    #[test]
    fn a_mark_is_of_one_group() {
        let (first, _) = start(FAR_AWAY);
        let (_second, descendant) = start(FAR_AWAY);
        drop(first);
        assert!(is_running(&descendant));
    }

    #[test]
    fn the_guard_ends_all_when_its_pipe_does() {
        let remnant = std::env::temp_dir().join(format!("mimosa-remnant-{}", std::process::id()));
        std::fs::create_dir(&remnant).unwrap();
        let mut group = Group::spawn(shell("sleep 1000"), Some(&remnant)).unwrap();
        // As if this process had ended.
        drop(group.guard.stdin.take());
        group.guard.wait().unwrap();
        assert!(group.program.wait().is_ok());
        assert!(!remnant.exists());
    }
}
