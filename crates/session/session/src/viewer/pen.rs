//! Writes the player's actions as messages to the host (docs/embed/protocol.md, Input).

use std::collections::BTreeMap;

use mimosa_facts::{Action, TouchPhase};
use mimosa_protocol::PageTime;
use mimosa_protocol::input::{Message, Place, Pointer, Sum};
use mimosa_transport::Channel;

/// Writes messages, and keeps the running sums that they carry.
#[derive(Debug)]
pub struct Pen {
    pointer: Pointer,
    gamepads: BTreeMap<u8, u32>,
}

impl Default for Pen {
    fn default() -> Self {
        Self::new()
    }
}

impl Pen {
    /// The state before any action.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            pointer: Pointer {
                place: None,
                sequence: 0,
                movement: Sum { right: 0, down: 0 },
                wheel: Sum { right: 0, down: 0 },
                time: None,
            },
            gamepads: BTreeMap::new(),
        }
    }

    /// The first message of a connection, which says where the sums begin.
    pub fn first(&mut self, time: PageTime) -> (Channel, Vec<u8>) {
        (Channel::Keys, self.pointer(time))
    }

    /// The messages for an action with their channels, in the order in which to send them.
    pub fn write(&mut self, action: Action, time: PageTime) -> Vec<(Channel, Vec<u8>)> {
        let at = Some(time);
        let add = |sum: &mut Sum, right: i32, down: i32| {
            sum.right = sum.right.wrapping_add(right);
            sum.down = sum.down.wrapping_add(down);
        };
        let (channel, message) = match action {
            Action::Move { right, down } => {
                self.pointer.place = None;
                add(&mut self.pointer.movement, right, down);
                return vec![(Channel::Input, self.pointer(time))];
            }
            Action::Position { x, y } => {
                self.pointer.place = Some(Place { x, y });
                return vec![(Channel::Input, self.pointer(time))];
            }
            Action::Wheel { right, down } => {
                add(&mut self.pointer.wheel, right, down);
                return vec![(Channel::Input, self.pointer(time))];
            }
            Action::Button { button, pressed } => {
                // The pointer's place goes first, so that the button is pressed there.
                let button = Message::Button {
                    button,
                    pressed,
                    time: at,
                };
                return vec![
                    (Channel::Keys, self.pointer(time)),
                    (Channel::Keys, button.to_bytes()),
                ];
            }
            Action::Key { code, pressed } => (
                Channel::Keys,
                Message::Key {
                    code,
                    pressed,
                    time: at,
                },
            ),
            Action::Touch {
                finger,
                phase,
                x,
                y,
            } => {
                let channel = match phase {
                    TouchPhase::Move => Channel::Input,
                    _ => Channel::Keys,
                };
                let message = Message::Touch {
                    finger,
                    phase,
                    place: Place { x, y },
                    time: at,
                };
                (channel, message)
            }
            Action::Gamepad(gamepad) => {
                let sequence = self.gamepads.entry(gamepad.index).or_insert(0);
                *sequence = sequence.wrapping_add(1);
                let message = Message::Gamepad {
                    sequence: *sequence,
                    gamepad,
                    time: at,
                };
                (Channel::Input, message)
            }
            Action::Character(character) => {
                let message = Message::Character {
                    character,
                    time: at,
                };
                (Channel::Keys, message)
            }
            Action::ReleaseAll => (Channel::Keys, Message::ReleaseAll { time: at }),
        };
        vec![(channel, message.to_bytes())]
    }

    fn pointer(&mut self, time: PageTime) -> Vec<u8> {
        self.pointer.sequence = self.pointer.sequence.wrapping_add(1);
        self.pointer.time = Some(time);
        Message::Pointer(self.pointer).to_bytes()
    }
}

#[cfg(test)]
mod tests {
    use mimosa_facts::{Button, Gamepad};
    use mimosa_protocol::input::Tracker;

    use super::*;

    #[test]
    fn a_host_understands_what_was_done() {
        let time = PageTime::from_millis(5.0).unwrap();
        let gamepad = Gamepad {
            index: 2,
            is_present: true,
            buttons: 9,
            axes: [1, -2, 3, -4],
            triggers: [5, 6],
        };
        let actions = [
            Action::Position { x: 7, y: 8 },
            Action::Move {
                right: -300,
                down: 70_000,
            },
            Action::Move { right: 5, down: 1 },
            Action::Wheel {
                right: 0,
                down: -120,
            },
            Action::Button {
                button: Button::Middle,
                pressed: true,
            },
            Action::Button {
                button: Button::Middle,
                pressed: false,
            },
            Action::Key {
                code: 30,
                pressed: true,
            },
            Action::Key {
                code: 30,
                pressed: false,
            },
            Action::Touch {
                finger: 3,
                phase: TouchPhase::Begin,
                x: 1,
                y: 2,
            },
            Action::Touch {
                finger: 3,
                phase: TouchPhase::Move,
                x: 2,
                y: 2,
            },
            Action::Touch {
                finger: 3,
                phase: TouchPhase::End,
                x: 2,
                y: 3,
            },
            Action::Gamepad(gamepad),
            Action::Gamepad(Gamepad {
                buttons: 1,
                ..gamepad
            }),
            Action::Character('é'),
            Action::ReleaseAll,
        ];
        let mut pen = Pen::new();
        let mut tracker = Tracker::new();
        let mut understood = Vec::new();
        let mut read = |bytes: &[u8]| tracker.apply(&Message::parse(bytes).unwrap());
        assert!(read(&pen.first(time).1).is_empty());
        for action in actions {
            for (_, bytes) in pen.write(action, time) {
                understood.extend(read(&bytes));
            }
        }
        assert_eq!(understood, actions);
    }

    #[test]
    fn what_may_be_lost_is_on_the_channel_that_loses() {
        let time = PageTime::from_millis(5.0).unwrap();
        let mut pen = Pen::new();
        let mut channels = |action| {
            let messages = pen.write(action, time);
            messages
                .iter()
                .map(|(channel, _)| *channel)
                .collect::<Vec<_>>()
        };
        let keys = vec![Channel::Keys];
        assert_eq!(channels(Action::ReleaseAll), keys);
        assert_eq!(
            channels(Action::Move { right: 1, down: 0 }),
            [Channel::Input]
        );
        let button = Action::Button {
            button: Button::Left,
            pressed: true,
        };
        assert_eq!(channels(button), [Channel::Keys; 2]);
        let touch = |phase| Action::Touch {
            finger: 0,
            phase,
            x: 0,
            y: 0,
        };
        assert_eq!(channels(touch(TouchPhase::Move)), [Channel::Input]);
        assert_eq!(channels(touch(TouchPhase::Cancel)), keys);
    }
}
