//! How an end waits, and how it is stopped.

use std::io;
use std::os::fd::BorrowedFd;

use mimosa_system::clock::Clock;
use mimosa_system::{Inbox, Mailbox, mailbox};
use mimosa_units::{Time, TimeDelta};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// Stops an end.
#[derive(Clone, Debug)]
pub struct Stop(Mailbox<()>);

/// Hears that an end is to stop.
#[derive(Debug)]
pub struct Stopped(Inbox<()>);

/// Makes a stop and what hears it.
///
/// # Errors
///
/// The system's error when it has no file descriptor left.
pub fn stop() -> io::Result<(Stop, Stopped)> {
    let (mailbox, inbox) = mailbox()?;
    Ok((Stop(mailbox), Stopped(inbox)))
}

impl Stop {
    /// Stops the end.
    pub fn now(&self) {
        self.0.send(());
    }
}

impl Stopped {
    pub(crate) fn has_come(&self) -> bool {
        self.0.clear();
        self.0.take().is_some()
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.0.fd()
    }
}

/// Sleeps until `until`, or until one of these can be read. Returns which of them can.
pub(crate) fn sleep(clock: Clock, until: Time, fds: &[BorrowedFd<'_>]) -> Vec<bool> {
    let rest = until.since(clock.now()).max(TimeDelta::ZERO);
    let nanos = rest.as_nanos();
    let timeout = Timespec {
        tv_sec: nanos / 1_000_000_000,
        tv_nsec: nanos % 1_000_000_000,
    };
    let all = fds.iter().copied();
    let all = all.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
    let mut fds: Vec<_> = all.collect();
    // An interruption counts as a wake-up.
    let _ = poll(&mut fds, Some(&timeout));
    fds.iter().map(|fd| !fd.revents().is_empty()).collect()
}
