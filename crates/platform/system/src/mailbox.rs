//! Messages to a thread that waits for sockets.

use std::cell::RefCell;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::sync::mpsc;

use rustix::event::{EventfdFlags, eventfd};

/// What wakes the reader.
#[derive(Debug)]
struct Bell {
    fd: OwnedFd,
    /// Whether the descriptor is readable and has not been cleared since.
    rings: AtomicBool,
}

/// The sending end.
#[derive(Debug)]
pub struct Mailbox<T> {
    messages: mpsc::Sender<T>,
    bell: Arc<Bell>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Self {
            messages: self.messages.clone(),
            bell: Arc::clone(&self.bell),
        }
    }
}

impl<T> Mailbox<T> {
    /// Sends a message and wakes the reader; returns `false` when nobody is left to read it.
    pub fn send(&self, message: T) -> bool {
        let is_sent = self.leave(message);
        self.wake();
        is_sent
    }

    /// Leaves a message without waking the reader; returns `false` when nobody is left to read it.
    ///
    /// This is for a reader that publishes when it will next look into its inbox. No message is forgotten if the reader
    /// publishes that time first and calls [`Inbox::is_empty`] before it sleeps, and if the sender leaves its message
    /// first, then reads the time, and calls [`Self::wake`] unless the time is still to come.
    pub fn leave(&self, message: T) -> bool {
        let is_sent = self.messages.send(message).is_ok();
        fence(Ordering::SeqCst);
        is_sent
    }

    /// Wakes the reader.
    pub fn wake(&self) {
        if !self.bell.rings.swap(true, Ordering::AcqRel) {
            // The write fails only when the counter is full, which takes 2^64 of them.
            let _ = rustix::io::write(&self.bell.fd, &1_u64.to_ne_bytes());
        }
    }
}

/// The receiving end.
#[derive(Debug)]
pub struct Inbox<T> {
    messages: mpsc::Receiver<T>,
    /// A message that was there when [`Self::is_empty`] looked.
    found: RefCell<Option<T>>,
    bell: Arc<Bell>,
}

impl<T> Inbox<T> {
    /// Takes a message, if there is one.
    #[must_use]
    pub fn take(&self) -> Option<T> {
        let found = self.found.take();
        found.or_else(|| self.messages.try_recv().ok())
    }

    /// Whether there is no message. Every sender that [leaves](Mailbox::leave) one after this call sees what this thread
    /// has written before the call.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        fence(Ordering::SeqCst);
        let found = self.take();
        let is_empty = found.is_none();
        *self.found.borrow_mut() = found;
        is_empty
    }

    /// The file descriptor that becomes readable when the reader is woken.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.bell.fd.as_fd()
    }

    /// Clears wake-ups; messages stay. Call this before [`Inbox::take`].
    pub fn clear(&self) {
        let _ = rustix::io::read(&self.bell.fd, &mut [0; 8]);
        // After the read: a message sent from here on makes the descriptor readable again, and one sent before is there for
        // `take`.
        self.bell.rings.swap(false, Ordering::AcqRel);
    }
}

/// Makes a mailbox and its inbox.
///
/// # Errors
///
/// The system's error when it has no file descriptor left.
pub fn mailbox<T>() -> std::io::Result<(Mailbox<T>, Inbox<T>)> {
    let bell = Arc::new(Bell {
        fd: eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?,
        rings: AtomicBool::new(false),
    });
    let (sender, receiver) = mpsc::channel();
    let mailbox = Mailbox {
        messages: sender,
        bell: Arc::clone(&bell),
    };
    let inbox = Inbox {
        messages: receiver,
        found: RefCell::new(None),
        bell,
    };
    Ok((mailbox, inbox))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;

    /// Whether the reader is woken within `seconds`.
    fn is_woken<T>(inbox: &Inbox<T>, seconds: i64) -> bool {
        let fd = inbox.fd();
        let mut fds = [PollFd::new(&fd, PollFlags::IN)];
        let timeout = Timespec {
            tv_sec: seconds,
            tv_nsec: 0,
        };
        poll(&mut fds, Some(&timeout)).unwrap() == 1
    }

    #[test]
    fn a_message_wakes_and_is_there() {
        let (mailbox, inbox) = mailbox().unwrap();
        assert!(!is_woken(&inbox, 0));
        assert!(mailbox.send(1) && mailbox.clone().send(2));
        assert!(is_woken(&inbox, 0));
        inbox.clear();
        assert!(!is_woken(&inbox, 0));
        assert_eq!(
            (inbox.take(), inbox.take(), inbox.take()),
            (Some(1), Some(2), None)
        );
        assert!(mailbox.send(3));
        assert!(is_woken(&inbox, 0), "again");
    }

    #[test]
    fn a_message_that_is_left_is_there_and_wakes_nobody() {
        let (mailbox, inbox) = mailbox().unwrap();
        assert!(inbox.is_empty());
        assert!(mailbox.leave(1) && mailbox.leave(2));
        assert!(!is_woken(&inbox, 0));
        assert!(!inbox.is_empty());
        assert!(!inbox.is_empty(), "looking takes nothing");
        mailbox.wake();
        assert!(is_woken(&inbox, 0));
        assert_eq!(
            (inbox.take(), inbox.take(), inbox.take()),
            (Some(1), Some(2), None)
        );
    }

    /// A reader that looks by itself while it is busy, and says before it sleeps that it no longer does. Each message comes
    /// once the one before is taken: none makes up for another that is forgotten.
    #[test]
    fn nothing_is_forgotten_that_is_left_while_the_reader_lies_down() {
        const MESSAGES: u32 = 20_000;
        let (mailbox, inbox) = mailbox().unwrap();
        let looks = Arc::new(AtomicBool::new(false));
        let taken = Arc::new(AtomicU32::new(0));
        let (reader_looks, reader_taken) = (Arc::clone(&looks), Arc::clone(&taken));
        let sender = std::thread::spawn(move || {
            for message in 0..MESSAGES {
                while taken.load(Ordering::Relaxed) < message {
                    std::hint::spin_loop();
                }
                mailbox.leave(message);
                if !looks.load(Ordering::Relaxed) {
                    mailbox.wake();
                }
            }
        });
        let mut next = 0;
        while next < MESSAGES {
            reader_looks.store(true, Ordering::Relaxed);
            inbox.clear();
            while let Some(message) = inbox.take() {
                assert_eq!(message, next);
                next += 1;
                reader_taken.store(next, Ordering::Relaxed);
            }
            // What a reader does besides.
            for _ in 0..next % 64 {
                std::hint::spin_loop();
            }
            reader_looks.store(false, Ordering::Relaxed);
            let sleeps = next < MESSAGES && inbox.is_empty();
            assert!(!sleeps || is_woken(&inbox, 60), "nothing after {next}");
        }
        sender.join().unwrap();
    }
}
