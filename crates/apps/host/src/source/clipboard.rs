//! The clipboard of an X display. It has its own thread, because it waits for other programs.

use std::os::fd::AsFd;
use std::thread::JoinHandle;

use mimosa_x11::{Clipboard, ClipboardError};
use rustix::event::{PollFd, PollFlags, poll};

use crate::error::HostError;
use mimosa_system::{Inbox, Mailbox, mailbox};

/// The clipboard's thread, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct ClipboardThread {
    mailbox: Mailbox<Told>,
    thread: Option<JoinHandle<()>>,
}

/// A message to the thread.
#[derive(Debug)]
enum Told {
    Offer(String),
    Stop,
}

impl ClipboardThread {
    /// Starts the thread, which calls `say` with the text that programs copy.
    pub(super) fn start(
        clipboard: Clipboard,
        say: impl Fn(String) + Send + 'static,
    ) -> Result<Self, HostError> {
        let (mailbox, inbox) = mailbox().map_err(HostError::Thread)?;
        let thread = std::thread::Builder::new()
            .name("clipboard".to_owned())
            .spawn(move || {
                if let Err(error) = run(clipboard, &inbox, &say) {
                    tracing::debug!(%error, "the clipboard is no more");
                }
            })
            .map_err(HostError::Thread)?;
        Ok(Self {
            mailbox,
            thread: Some(thread),
        })
    }

    /// Makes this the text that programs paste from now on.
    pub(super) fn offer(&self, text: String) {
        // If the display is gone, the game is gone, which is reported elsewhere.
        self.mailbox.send(Told::Offer(text));
    }
}

impl Drop for ClipboardThread {
    fn drop(&mut self) {
        self.mailbox.send(Told::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Runs until it is stopped or the display is gone.
fn run(
    mut clipboard: Clipboard,
    inbox: &Inbox<Told>,
    say: &impl Fn(String),
) -> Result<(), ClipboardError> {
    loop {
        inbox.clear();
        while let Some(told) = inbox.take() {
            match told {
                Told::Offer(text) => clipboard.offer(text)?,
                Told::Stop => return Ok(()),
            }
        }
        while let Some(text) = clipboard.copied()? {
            say(text);
        }
        let mut fds = [
            PollFd::from_borrowed_fd(inbox.fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(clipboard.as_fd(), PollFlags::IN),
        ];
        // An interruption counts as a wake-up.
        let _ = poll(&mut fds, None);
    }
}
