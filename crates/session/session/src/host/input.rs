//! What comes from a page, and how often it may be wrong.

use mimosa_facts::{Action, Gamepad};
use mimosa_protocol::PageTime;
use mimosa_protocol::control::FromPage;
use mimosa_protocol::input::{Message, Tracker};

/// A page's messages.
#[derive(Debug)]
pub(crate) struct Input {
    tracker: Tracker,
    refused: u64,
}

impl Input {
    /// Nothing has come.
    pub(crate) fn new() -> Self {
        Self {
            tracker: Tracker::new(),
            refused: 0,
        }
    }

    /// A message of what the player did; `act` gets what it means, and when it was.
    pub(crate) fn message(&mut self, data: &[u8], mut act: impl FnMut(Action, Option<PageTime>)) {
        match Message::parse(data) {
            Ok(message) => {
                let time = message.time();
                for action in self.tracker.apply(&message) {
                    act(action, time);
                }
            }
            Err(error) => self.refused(&error),
        }
    }

    /// A message in JSON: what a browser says of itself, which also goes to the log.
    pub(crate) fn control(&mut self, data: &[u8]) -> FromPage {
        let message = FromPage::parse(data).unwrap_or_else(|error| {
            self.refused(&error);
            FromPage::Unknown
        });
        if let FromPage::Client(client) = &message {
            tracing::debug!(?client);
        }
        message
    }

    /// The gamepads that are plugged in, taken away.
    pub(crate) fn unplug(&mut self) -> impl Iterator<Item = Action> + use<> {
        let gamepads = std::mem::take(&mut self.tracker).gamepads();
        let plugged_in = gamepads.filter(|gamepad| gamepad.is_present);
        plugged_in.map(|gamepad| {
            Action::Gamepad(Gamepad {
                index: gamepad.index,
                ..Gamepad::default()
            })
        })
    }

    /// A message that is none: said in the log, the first time and then at every
    /// doubling.
    pub(crate) fn refused(&mut self, error: &dyn std::fmt::Display) {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            tracing::warn!(%error, count = self.refused, "a message from the page is refused");
        }
    }
}
