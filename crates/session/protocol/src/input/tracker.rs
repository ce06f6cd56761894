//! Turns a session's input messages into actions.

use std::collections::{BTreeMap, BTreeSet};

use super::{Message, Place, Pointer, Sum};
use crate::PageTime;
use mimosa_facts::{Action, Button, Gamepad, TouchPhase};

/// Turns the input messages of a session, from both channels, into actions.
///
/// Messages may be lost, come twice or overtake each other where the channel allows it. Running
/// totals are therefore applied by their difference, and messages that are not newer are ignored.
#[derive(Clone, Debug, Default)]
pub struct Tracker {
    pointer: Option<Totals>,
    /// Where the pointer was put last; `None` once relative movement has taken it elsewhere.
    place: Option<Place>,
    /// Number of the newest message of each gamepad, and the state in it.
    gamepads: BTreeMap<u8, (u32, Gamepad)>,
    keys: BTreeSet<u16>,
    /// Whether each button is down, in the order of [`Button`].
    buttons: [bool; 5],
    /// Fingers on the screen, and the time of each one's newest message.
    fingers: BTreeMap<u16, Option<PageTime>>,
}

/// The totals in the newest message of the pointer.
#[derive(Clone, Copy, Debug)]
struct Totals {
    sequence: u32,
    movement: Sum,
    wheel: Sum,
}

impl Tracker {
    /// The tracker of a session without any message.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The actions that a message means. There are none if it is not newer or changes nothing.
    #[must_use = "an action that is not applied is lost"]
    pub fn apply(&mut self, message: &Message) -> Vec<Action> {
        match *message {
            Message::Pointer(pointer) => self.pointer(&pointer),
            Message::Gamepad {
                sequence, gamepad, ..
            } => self.gamepad(sequence, gamepad).into_iter().collect(),
            Message::Key { code, pressed, .. } => self.key(code, pressed).into_iter().collect(),
            Message::Button {
                button, pressed, ..
            } => self.button(button, pressed).into_iter().collect(),
            Message::ReleaseAll { .. } => {
                self.keys.clear();
                self.buttons = [false; 5];
                vec![Action::ReleaseAll]
            }
            Message::Touch {
                finger,
                phase,
                place,
                time,
            } => {
                let is_new = self.touch(finger, phase, time);
                let Place { x, y } = place;
                let action = Action::Touch {
                    finger,
                    phase,
                    x,
                    y,
                };
                is_new.then_some(action).into_iter().collect()
            }
            Message::Character { character, .. } => vec![Action::Character(character)],
        }
    }

    /// The states of all gamepads that sent a message.
    pub fn gamepads(self) -> impl Iterator<Item = Gamepad> {
        self.gamepads.into_values().map(|(_, gamepad)| gamepad)
    }

    /// Actions of a pointer message. The first message only says where the totals stand, because
    /// they may have grown before the session began.
    fn pointer(&mut self, pointer: &Pointer) -> Vec<Action> {
        let totals = Totals {
            sequence: pointer.sequence,
            movement: pointer.movement,
            wheel: pointer.wheel,
        };
        let last = self.pointer.unwrap_or(totals);
        if self.pointer.is_some() && !is_newer(totals.sequence, last.sequence) {
            return Vec::new();
        }
        self.pointer = Some(totals);
        let mut actions = Vec::new();
        let Sum { right, down } = difference(totals.movement, last.movement);
        if (right, down) != (0, 0) {
            self.place = None;
            actions.push(Action::Move { right, down });
        }
        if let Some(place) = pointer.place
            && self.place != Some(place)
        {
            self.place = Some(place);
            let Place { x, y } = place;
            actions.push(Action::Position { x, y });
        }
        let Sum { right, down } = difference(totals.wheel, last.wheel);
        if (right, down) != (0, 0) {
            actions.push(Action::Wheel { right, down });
        }
        actions
    }

    fn gamepad(&mut self, sequence: u32, gamepad: Gamepad) -> Option<Action> {
        let state = if gamepad.is_present {
            gamepad
        } else {
            // An unplugged gamepad has no buttons down.
            Gamepad {
                index: gamepad.index,
                ..Gamepad::default()
            }
        };
        let last = self.gamepads.get(&state.index).copied();
        if last.is_some_and(|(last, _)| !is_newer(sequence, last)) {
            return None;
        }
        self.gamepads.insert(state.index, (sequence, state));
        let is_same = last.is_some_and(|(_, last)| last == state);
        (!is_same).then_some(Action::Gamepad(state))
    }

    fn key(&mut self, code: u16, pressed: bool) -> Option<Action> {
        let is_change = if pressed {
            self.keys.insert(code)
        } else {
            self.keys.remove(&code)
        };
        is_change.then_some(Action::Key { code, pressed })
    }

    fn button(&mut self, button: Button, pressed: bool) -> Option<Action> {
        let known = self.buttons.get_mut(button as usize)?;
        let is_change = std::mem::replace(known, pressed) != pressed;
        is_change.then_some(Action::Button { button, pressed })
    }

    /// Whether a touch changes anything. Begin and end of a touch come in order on the channel
    /// `keys`; a movement comes on the channel `input`, and may come before the begin, after the
    /// end, or after a later movement.
    fn touch(&mut self, finger: u16, phase: TouchPhase, time: Option<PageTime>) -> bool {
        match phase {
            TouchPhase::Begin => self.fingers.insert(finger, time).is_none(),
            TouchPhase::Move => match self.fingers.get_mut(&finger) {
                Some(last) if time >= *last => {
                    *last = time;
                    true
                }
                _ => false,
            },
            TouchPhase::End | TouchPhase::Cancel => self.fingers.remove(&finger).is_some(),
        }
    }
}

/// Whether a number is newer than another, modulo 2^32 (RFC 1982, section 3.2).
const fn is_newer(sequence: u32, last: u32) -> bool {
    matches!(sequence.wrapping_sub(last), 1..=0x7fff_ffff)
}

const fn difference(now: Sum, before: Sum) -> Sum {
    Sum {
        right: now.right.wrapping_sub(before.right),
        down: now.down.wrapping_sub(before.down),
    }
}
