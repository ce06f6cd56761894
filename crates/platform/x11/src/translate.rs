//! A player's actions as events of the X protocol.

use mimosa_facts::{Action, Button, TouchPhase};
use mimosa_video::Size;

use crate::fence::{reaches_desktop, reaches_past};
use crate::gamepad;
use crate::held::{HeldSwitches, Holder, Switch};

/// The number that X adds to evdev's key codes.
const FIRST_KEY: u16 = 8;
/// The key codes that have a number in the X protocol.
const KEYS: std::ops::RangeInclusive<u16> = 1..=247;
/// The number of an action's units in a pixel.
const PIXEL: i32 = 16;
/// The number of an action's units in a notch of the wheel.
const NOTCH: i32 = 120;
/// The most notches that one action turns: each is two events.
const MOST_NOTCHES: i32 = 32;

/// An event to send to the X server.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum FakeEvent {
    /// Presses or releases a key or button.
    Switch(Switch, bool),
    /// Moves the pointer by some pixels to the right and down.
    MoveBy(i16, i16),
    /// Moves the pointer to a pixel of the picture.
    MoveTo(u32, u32),
    /// Presses a key that means this character, and releases it.
    Type(char),
}

/// A translator, which remembers the keys that are down and the remainders of movements.
#[derive(Debug, Default)]
pub(crate) struct Translator {
    held: HeldSwitches,
    motion: [i32; 2],
    wheel: [i32; 2],
    finger: Option<u16>,
    /// Whether keys that reach past a window are left out.
    is_confined: bool,
}

impl Translator {
    /// A translator for one window, if `is_confined`, or for a whole display.
    pub(crate) fn new(is_confined: bool) -> Self {
        Self {
            is_confined,
            ..Self::default()
        }
    }

    /// Sends the events of `action` for a picture of `size`.
    pub(crate) fn translate(
        &mut self,
        action: Action,
        size: Size,
        mut send: impl FnMut(FakeEvent),
    ) {
        match action {
            Action::Move { right, down } => {
                let [right_pixels, down_pixels] = &mut self.motion;
                let right = clamp(whole(right_pixels, right, PIXEL));
                let down = clamp(whole(down_pixels, down, PIXEL));
                if (right, down) != (0, 0) {
                    send(FakeEvent::MoveBy(right, down));
                }
            }
            Action::Position { x, y } => send(place(x, y, size)),
            Action::Wheel { right, down } => {
                let [right_notches, down_notches] = &mut self.wheel;
                turn(whole(down_notches, down, NOTCH), [4, 5], &mut send);
                turn(whole(right_notches, right, NOTCH), [6, 7], &mut send);
            }
            Action::Key { code, pressed } => {
                if let Some(key) = key(code) {
                    self.set(Holder::Desk, key, pressed, &mut send);
                }
            }
            Action::Button { button, pressed } => {
                let button = Switch::Button(number(button));
                self.set(Holder::Desk, button, pressed, &mut send);
            }
            Action::Touch {
                finger,
                phase,
                x,
                y,
            } => {
                self.touch(finger, phase, place(x, y, size), &mut send);
            }
            Action::Gamepad(state) => {
                let holder = Holder::Gamepad(state.index);
                let is_down = |code| key(code).is_some_and(|key| self.held.holds(holder, key));
                let keys: Vec<_> = gamepad::keys(state, is_down).collect();
                for (code, pressed) in keys {
                    if let Some(key) = key(code) {
                        self.set(holder, key, pressed, &mut send);
                    }
                }
            }
            Action::Character(character) => send(FakeEvent::Type(character)),
            Action::ReleaseAll => self.release_all(send),
        }
    }

    /// Releases everything.
    pub(crate) fn release_all(&mut self, mut send: impl FnMut(FakeEvent)) {
        let anew = Self::new(self.is_confined);
        let held = std::mem::replace(self, anew).held.clear();
        held.for_each(|switch| send(FakeEvent::Switch(switch, false)));
    }

    fn set(
        &mut self,
        holder: Holder,
        switch: Switch,
        pressed: bool,
        send: &mut impl FnMut(FakeEvent),
    ) {
        let reaches_out = reaches_past(&self.held, switch)
            || self.is_confined && reaches_desktop(&self.held, switch);
        if pressed && reaches_out {
            return;
        }
        if self.held.set(holder, switch, pressed) {
            send(FakeEvent::Switch(switch, pressed));
        }
    }

    /// Handles a finger: the first one is the pointer with its left button, others are
    /// ignored.
    fn touch(
        &mut self,
        finger: u16,
        phase: TouchPhase,
        place: FakeEvent,
        send: &mut impl FnMut(FakeEvent),
    ) {
        let left = Switch::Button(number(Button::Left));
        match phase {
            TouchPhase::Begin if self.finger.is_none() => {
                self.finger = Some(finger);
                send(place);
                self.set(Holder::Finger, left, true, send);
            }
            _ if self.finger != Some(finger) => {}
            TouchPhase::Begin | TouchPhase::Move => send(place),
            TouchPhase::End | TouchPhase::Cancel => {
                self.finger = None;
                if phase == TouchPhase::End {
                    send(place);
                }
                self.set(Holder::Finger, left, false, send);
            }
        }
    }
}

/// The key of an evdev code, if X has it.
pub(crate) fn key(code: u16) -> Option<Switch> {
    let number = KEYS.contains(&code).then(|| code + FIRST_KEY)?;
    u8::try_from(number).ok().map(Switch::Key)
}

/// A button's number in the X protocol; 4 to 7 are the wheel.
fn number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
        Button::Back => 8,
        Button::Forward => 9,
    }
}

/// Adds `more` to `rest` and takes out the whole units.
fn whole(rest: &mut i32, more: i32, unit: i32) -> i32 {
    let sum = rest.saturating_add(more);
    *rest = sum % unit;
    sum / unit
}

fn clamp(pixels: i32) -> i16 {
    let most = i32::from(i16::MAX);
    i16::try_from(pixels.clamp(-most, most)).unwrap_or_default()
}

/// Clicks the first button for notches below zero, the second for those above.
fn turn(notches: i32, buttons: [u8; 2], send: &mut impl FnMut(FakeEvent)) {
    let button = Switch::Button(buttons[usize::from(notches > 0)]);
    for _ in 0..notches.abs().min(MOST_NOTCHES) {
        send(FakeEvent::Switch(button, true));
        send(FakeEvent::Switch(button, false));
    }
}

/// The pixel that is this far into the picture.
fn place(x: u16, y: u16, size: Size) -> FakeEvent {
    let pixel = |part: u16, side: u32| {
        let most = u32::from(u16::MAX);
        (u32::from(part) * (side - 1) + most / 2) / most
    };
    FakeEvent::MoveTo(pixel(x, size.width()), pixel(y, size.height()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mimosa_facts::Gamepad;

    fn all(actions: &[Action]) -> Vec<FakeEvent> {
        let mut translator = Translator::default();
        let mut sent = Vec::new();
        let size = Size::new(1280, 720).unwrap();
        for &action in actions {
            translator.translate(action, size, |fake| sent.push(fake));
        }
        sent
    }

    fn press(switch: Switch) -> FakeEvent {
        FakeEvent::Switch(switch, true)
    }

    fn release(switch: Switch) -> FakeEvent {
        FakeEvent::Switch(switch, false)
    }

    const LEFT: Switch = Switch::Button(1);

    #[test]
    fn parts_of_a_pixel_add_up() {
        let step = Action::Move {
            right: 6,
            down: -20,
        };
        let sent = all(&[step; 3]);
        assert_eq!(
            sent,
            [
                FakeEvent::MoveBy(0, -1),
                FakeEvent::MoveBy(0, -1),
                FakeEvent::MoveBy(1, -1)
            ]
        );
        let far = Action::Move {
            right: i32::MAX,
            down: i32::MIN,
        };
        assert_eq!(
            all(&[far, far]),
            [FakeEvent::MoveBy(i16::MAX, -i16::MAX); 2]
        );
    }

    #[test]
    fn parts_of_a_notch_add_up() {
        let wheel = |right, down| Action::Wheel { right, down };
        let (up, down, left, right) = (4, 5, 6, 7);
        let click = |button| {
            [
                press(Switch::Button(button)),
                release(Switch::Button(button)),
            ]
        };
        assert_eq!(all(&[wheel(0, 60)]), []);
        assert_eq!(all(&[wheel(0, 60), wheel(0, 60)]), click(down));
        assert_eq!(all(&[wheel(-120, -120)]), [click(up), click(left)].concat());
        assert_eq!(all(&[wheel(240, 0)]), click(right).repeat(2));
        assert_eq!(all(&[wheel(i32::MIN, 0)]).len(), 64, "bounded");
    }

    #[test]
    fn the_corners_are_pixels_of_the_picture() {
        let at = |x, y| all(&[Action::Position { x, y }])[0];
        assert_eq!(at(0, 0), FakeEvent::MoveTo(0, 0));
        assert_eq!(at(65_535, 65_535), FakeEvent::MoveTo(1279, 719));
        assert_eq!(at(32_768, 32_768), FakeEvent::MoveTo(640, 360));
    }

    #[test]
    fn keys_without_a_number_are_ignored() {
        let key = |code, pressed| Action::Key { code, pressed };
        assert_eq!(all(&[key(0, true), key(248, true), key(65_535, true)]), []);
        assert_eq!(all(&[key(1, true)]), [press(Switch::Key(9))]);
        assert_eq!(all(&[key(247, true)]), [press(Switch::Key(255))]);
        assert_eq!(all(&[key(30, false)]), [], "it was not down");
    }

    #[test]
    fn one_finger_is_the_pointer() {
        let touch = |finger, phase| Action::Touch {
            finger,
            phase,
            x: 0,
            y: 0,
        };
        let place = FakeEvent::MoveTo(0, 0);
        let sent = all(&[
            touch(5, TouchPhase::Begin),
            touch(6, TouchPhase::Begin),
            touch(6, TouchPhase::End),
            touch(5, TouchPhase::Move),
            touch(5, TouchPhase::End),
            touch(6, TouchPhase::Begin),
            touch(6, TouchPhase::Cancel),
        ]);
        let expected = [
            place,
            press(LEFT),
            place,
            place,
            release(LEFT),
            place,
            press(LEFT),
            release(LEFT),
        ];
        assert_eq!(sent, expected);
    }

    #[test]
    fn a_gamepads_keys_are_told_apart_from_the_keyboards() {
        let pad = |buttons| {
            Action::Gamepad(Gamepad {
                index: 3,
                is_present: true,
                buttons,
                ..Gamepad::default()
            })
        };
        let space = |pressed| Action::Key { code: 57, pressed };
        let key = Switch::Key(65);
        let east = 1 << 1;
        assert_eq!(
            all(&[pad(east), pad(east), pad(0)]),
            [press(key), release(key)]
        );
        let both = [space(true), pad(east), space(false), pad(0)];
        assert_eq!(all(&both), [press(key), release(key)]);
        let away = Action::Gamepad(Gamepad {
            index: 3,
            ..Gamepad::default()
        });
        assert_eq!(all(&[pad(east), away]), [press(key), release(key)]);
    }

    #[test]
    fn release_all_leaves_nothing_down() {
        let key = Action::Key {
            code: 30,
            pressed: true,
        };
        let button = Action::Button {
            button: Button::Forward,
            pressed: true,
        };
        let up = Action::Key {
            code: 30,
            pressed: false,
        };
        let sent = all(&[key, button, Action::ReleaseAll, Action::ReleaseAll, up]);
        let (a, thumb) = (Switch::Key(38), Switch::Button(9));
        assert_eq!(sent, [press(a), press(thumb), release(a), release(thumb)]);
    }
}
