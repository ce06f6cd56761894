//! Messages from a page, and the count of those that cannot be parsed.

use mimosa_facts::{Action, Gamepad};
use mimosa_protocol::PageTime;
use mimosa_protocol::control::FromPage;
use mimosa_protocol::input::{Message, Tracker};

/// Parses a page's messages.
#[derive(Debug)]
pub(crate) struct Input {
    tracker: Tracker,
    refused: u64,
}

impl Input {
    /// No message has come yet.
    pub(crate) fn new() -> Self {
        Self {
            tracker: Tracker::new(),
            refused: 0,
        }
    }

    /// Takes a message of what the player did. Calls `act` with each action that it means, and with
    /// the page's time of it.
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

    /// Parses a message in JSON. What a browser says about itself is also logged.
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

    /// The actions that unplug all gamepads that are plugged in.
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

    /// Counts a message that cannot be parsed. Logs the first one, and then each time the count has
    /// doubled.
    pub(crate) fn refused(&mut self, error: &dyn std::fmt::Display) {
        self.refused += 1;
        if self.refused.is_power_of_two() {
            tracing::warn!(%error, count = self.refused, "a message from the page is refused");
        }
    }
}
