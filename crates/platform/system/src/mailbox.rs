//! Messages to a thread that waits for sockets.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc;

use rustix::event::{EventfdFlags, eventfd};

/// The sending end: a message comes with a wake-up.
#[derive(Debug)]
pub struct Mailbox<T> {
    messages: mpsc::Sender<T>,
    wake: Arc<OwnedFd>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Self {
            messages: self.messages.clone(),
            wake: Arc::clone(&self.wake),
        }
    }
}

impl<T> Mailbox<T> {
    /// Sends a message; returns `false` when nobody is left to read it.
    pub fn send(&self, message: T) -> bool {
        let is_sent = self.messages.send(message).is_ok();
        // The write fails only when a wake-up is pending 2^64 times over.
        let _ = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        is_sent
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct Inbox<T> {
    messages: mpsc::Receiver<T>,
    wake: Arc<OwnedFd>,
}

impl<T> Inbox<T> {
    /// Takes a message, if there is one.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        self.messages.try_recv().ok()
    }

    /// The file descriptor that becomes readable with a message.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Clears wake-ups; messages stay. Call this before [`Inbox::take`].
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }
}

/// Makes a mailbox and its inbox.
///
/// # Errors
///
/// The system's error when it has no file descriptor left.
pub fn mailbox<T>() -> std::io::Result<(Mailbox<T>, Inbox<T>)> {
    let wake = Arc::new(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?);
    let (sender, receiver) = mpsc::channel();
    let mailbox = Mailbox {
        messages: sender,
        wake: Arc::clone(&wake),
    };
    Ok((
        mailbox,
        Inbox {
            messages: receiver,
            wake,
        },
    ))
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    #[test]
    fn a_message_wakes_and_is_there() {
        let (mailbox, inbox) = mailbox().unwrap();
        let is_readable = || {
            let fd = inbox.fd();
            let mut fds = [PollFd::new(&fd, PollFlags::IN)];
            let none = Timespec {
                tv_sec: 0,
                tv_nsec: 0,
            };
            poll(&mut fds, Some(&none)).unwrap() == 1
        };
        assert!(!is_readable());
        assert!(mailbox.send(1) && mailbox.clone().send(2));
        assert!(is_readable());
        inbox.clear();
        assert!(!is_readable());
        assert_eq!(
            (inbox.take(), inbox.take(), inbox.take()),
            (Some(1), Some(2), None)
        );
    }
}
