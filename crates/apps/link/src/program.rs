//! A program that runs at one side of a link.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Gid, Pid, Signal, Uid, kill_process, set_parent_process_death_signal};
use rustix::thread::{set_thread_gid, set_thread_groups, set_thread_uid};

use crate::error::LinkError;
use crate::namespace::Namespace;
use crate::user::User;

/// The kernel's file about the state of this process.
const STATUS: &str = "/proc/self/status";
/// Time between looks whether a program has ended.
const STEP: Duration = Duration::from_millis(5);

/// A running program. If this process dies for whatever reason, the program gets SIGHUP, as if its
/// terminal were gone. If SIGHUP is ignored, as under `nohup`, the program is killed.
#[derive(Debug)]
pub struct Program {
    id: Option<Pid>,
    thread: JoinHandle<std::io::Result<ExitStatus>>,
}

impl Program {
    /// Starts `command` in `namespace`. Calls `ended` when the command has ended.
    ///
    /// # Errors
    ///
    /// [`LinkError::Command`] if there is no such program, and others.
    pub fn start(
        namespace: Namespace,
        mut command: Command,
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Self, LinkError> {
        let name = command.get_program().to_string_lossy().into_owned();
        let (told, started) = mpsc::channel();
        // The program is the thread's child and gets the signal when the thread ends, so that the
        // thread stays until the program has ended.
        let thread = std::thread::Builder::new()
            .name("program".to_owned())
            .spawn(move || {
                let spawned = namespace.enter().and_then(|()| {
                    hang_up_with_parent(&mut command)
                        .spawn()
                        .map_err(|error| LinkError::Command { name, error })
                });
                let mut child = match spawned {
                    Ok(child) => child,
                    Err(error) => {
                        // The caller of `start` waits for this.
                        let _ = told.send(Err(error));
                        return Err(std::io::ErrorKind::NotFound.into());
                    }
                };
                let _ = told.send(Ok(id_of(&child)));
                let status = child.wait();
                ended();
                status
            })
            .map_err(LinkError::Thread)?;
        let id = started.recv().map_err(|_| LinkError::Stopped)??;
        Ok(Self { id, thread })
    }

    /// Sends the program a signal, unless it has ended.
    pub fn signal(&self, signal: Signal) {
        if let Some(id) = self.id.filter(|_| !self.thread.is_finished()) {
            // The program may end at this moment.
            let _ = kill_process(id, signal);
        }
    }

    /// Asks the program to end, and kills it if it has not ended within `grace`.
    pub fn end(&self, grace: Duration) {
        self.signal(Signal::TERM);
        let mut left = grace;
        while !self.thread.is_finished() && !left.is_zero() {
            let step = STEP.min(left);
            std::thread::park_timeout(step);
            left -= step;
        }
        self.signal(Signal::KILL);
    }

    /// Waits until the program has ended.
    ///
    /// # Errors
    ///
    /// The system's error.
    pub fn wait(self) -> std::io::Result<ExitStatus> {
        self.thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

fn id_of(child: &Child) -> Option<Pid> {
    Pid::from_raw(i32::try_from(child.id()).ok()?)
}

/// Makes `command` run as `user`, with the groups and the home of that user.
pub fn run_as(command: &mut Command, user: &User) {
    let User {
        name,
        number,
        group,
        groups,
        home,
    } = user;
    command.env("HOME", home);
    command.env("USER", name).env("LOGNAME", name);
    let (number, group) = (Uid::from_raw(*number), Gid::from_raw(*group));
    let groups: Vec<_> = groups.iter().copied().map(Gid::from_raw).collect();
    let become_user = move || {
        // The groups have to be set while the process is still root.
        set_thread_groups(&groups)?;
        set_thread_gid(group)?;
        Ok(set_thread_uid(number)?)
    };
    // SAFETY: between fork and exec only system calls are made, which allocate nothing and
    // take no lock; the process has one thread then, so that they are of all of it.
    unsafe { command.pre_exec(become_user) };
}

/// Makes the program get a signal when its parent dies.
fn hang_up_with_parent(command: &mut Command) -> &mut Command {
    let status = std::fs::read_to_string(STATUS).unwrap_or_default();
    let signal = if ignores_hang_ups(&status) {
        Signal::KILL
    } else {
        Signal::HUP
    };
    // SAFETY: between fork and exec only a system call is made, which allocates nothing
    // and takes no lock.
    unsafe { command.pre_exec(move || Ok(set_parent_process_death_signal(Some(signal))?)) }
}

/// Whether the process with this status ignores SIGHUP, which its children inherit.
fn ignores_hang_ups(status: &str) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The mask has a bit for each signal. SIGHUP is signal 1, whose bit is the lowest.
    mask.is_some_and(|mask| mask & 1 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mask_of_ignored_signals_has_hang_ups_first() {
        let status = |mask: &str| format!("Name:\tlink\nSigBlk:\t0001\nSigIgn:\t{mask}\n");
        assert!(ignores_hang_ups(&status("0000000000001001")));
        assert!(!ignores_hang_ups(&status("0000000000001000")));
        assert!(!ignores_hang_ups("") && !ignores_hang_ups(&status("?")));
    }
}
