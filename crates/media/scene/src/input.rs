//! The effects of the player's actions on the game.

use mimosa_facts::{Action, Button, Gamepad, TouchPhase};

/// The immediate effect of one action.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ActionEffect {
    /// The pixels by which the ship moves, to the right and down.
    pub(crate) shift: [f32; 2],
    /// The place at which the ship is put, in parts of the picture's width and height.
    pub(crate) place: Option<[f32; 2]>,
    /// The notches of the wheel by which the flight becomes faster.
    pub(crate) faster: f32,
    /// Whether the ship shoots.
    pub(crate) fires: bool,
    /// Whether the ship sends out a ring.
    pub(crate) rings: bool,
}

/// The effect of a key while it is held.
#[derive(Clone, Copy, PartialEq)]
enum Control {
    /// The key steers, to the right and down.
    Steer(f32, f32),
    Fire,
}

/// The keys with an effect, by their codes in `input-event-codes.h`.
const KEYS: [(u16, Control); 9] = [
    (17, Control::Steer(0.0, -1.0)),  // KEY_W
    (30, Control::Steer(-1.0, 0.0)),  // KEY_A
    (31, Control::Steer(0.0, 1.0)),   // KEY_S
    (32, Control::Steer(1.0, 0.0)),   // KEY_D
    (103, Control::Steer(0.0, -1.0)), // KEY_UP
    (105, Control::Steer(-1.0, 0.0)), // KEY_LEFT
    (106, Control::Steer(1.0, 0.0)),  // KEY_RIGHT
    (108, Control::Steer(0.0, 1.0)),  // KEY_DOWN
    (57, Control::Fire),              // KEY_SPACE
];

/// The number of gamepads: as many as an action can name.
const PADS: usize = 16;
/// The part of a stick's way within which it is at rest.
const DEAD_ZONE: f32 = 0.08;
/// The bits of a gamepad's buttons in the W3C standard mapping.
const PAD_FIRE: u32 = 1;
const PAD_RING: u32 = 1 << 1;
/// The four directions: up, down, left, right.
const PAD_CROSS: [(u32, f32, f32); 4] = [
    (1 << 12, 0.0, -1.0),
    (1 << 13, 0.0, 1.0),
    (1 << 14, -1.0, 0.0),
    (1 << 15, 1.0, 0.0),
];
/// The pixels by which a key moves the ship when it is pressed, so that the next picture
/// shows it; a key that is held moves the ship on.
const NUDGE: f32 = 6.0;

/// The keys, buttons and sticks that the player holds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Controls {
    keys: [bool; KEYS.len()],
    left_button: bool,
    /// The finger that steers.
    finger: Option<u16>,
    pads: [Gamepad; PADS],
}

impl Controls {
    /// Takes an action. Returns `None` if the action is not the player's: the release of
    /// everything, or a gamepad's state that says nothing new.
    pub(crate) fn take(&mut self, action: Action) -> Option<ActionEffect> {
        let mut deed = ActionEffect::default();
        match action {
            Action::Move { right, down } => {
                deed.shift = [right as f32 / 16.0, down as f32 / 16.0];
            }
            Action::Position { x, y } => deed.place = Some(place(x, y)),
            Action::Wheel { down, .. } => deed.faster = -(down as f32) / 120.0,
            Action::Key { code, pressed } => self.key(code, pressed, &mut deed),
            Action::Button { button, pressed } => match button {
                Button::Left => {
                    deed.fires = pressed;
                    self.left_button = pressed;
                }
                _ => deed.rings = pressed,
            },
            Action::Touch {
                finger,
                phase,
                x,
                y,
            } => self.touch(finger, phase, place(x, y), &mut deed),
            Action::Gamepad(pad) => return self.pad(pad),
            Action::Character(_) => deed.rings = true,
            Action::ReleaseAll => {
                *self = Self::default();
                return None;
            }
        }
        Some(deed)
    }

    fn key(&mut self, code: u16, pressed: bool, deed: &mut ActionEffect) {
        let Some(at) = KEYS.iter().position(|&(key, _)| key == code) else {
            return;
        };
        if pressed && !self.keys[at] {
            match KEYS[at].1 {
                Control::Steer(right, down) => deed.shift = [right * NUDGE, down * NUDGE],
                Control::Fire => deed.fires = true,
            }
        }
        self.keys[at] = pressed;
    }

    fn touch(&mut self, finger: u16, phase: TouchPhase, place: [f32; 2], deed: &mut ActionEffect) {
        let steers = self.finger.is_none_or(|steering| steering == finger);
        match phase {
            TouchPhase::Begin if steers => {
                self.finger = Some(finger);
                (deed.place, deed.fires) = (Some(place), true);
            }
            TouchPhase::Begin => deed.rings = true,
            TouchPhase::Move if steers => deed.place = Some(place),
            TouchPhase::End | TouchPhase::Cancel if steers => self.finger = None,
            _ => {}
        }
    }

    fn pad(&mut self, pad: Gamepad) -> Option<ActionEffect> {
        let held = self.pads.get_mut(usize::from(pad.index))?;
        let before = std::mem::replace(held, pad);
        // A gamepad that was never reported counts as absent.
        let unheard = Gamepad {
            index: pad.index,
            ..Gamepad::default()
        };
        if before == pad || (before == Gamepad::default() && pad == unheard) {
            return None;
        }
        let pressed = if pad.is_present {
            pad.buttons & !before.buttons
        } else {
            0
        };
        Some(ActionEffect {
            fires: pressed & PAD_FIRE != 0,
            rings: pressed & PAD_RING != 0,
            ..ActionEffect::default()
        })
    }

    /// The direction in which the player steers, to the right and down: a length of at most
    /// 1.
    pub(crate) fn steering(&self) -> [f32; 2] {
        let (mut right, mut down) = (0.0, 0.0);
        for ((_, control), _) in KEYS.iter().zip(self.keys).filter(|(_, held)| *held) {
            if let Control::Steer(x, y) = control {
                (right, down) = (right + x, down + y);
            }
        }
        for pad in self.present() {
            let stick = |axis: i16| {
                let part = f32::from(axis) / 32_767.0;
                if part.abs() < DEAD_ZONE { 0.0 } else { part }
            };
            (right, down) = (right + stick(pad.axes[0]), down + stick(pad.axes[1]));
            for (_, x, y) in PAD_CROSS.iter().filter(|(bit, ..)| pad.buttons & bit != 0) {
                (right, down) = (right + x, down + y);
            }
        }
        let length = (right * right + down * down).sqrt().max(1.0);
        [right / length, down / length]
    }

    /// Whether the player holds something that shoots.
    pub(crate) fn is_firing(&self) -> bool {
        let key = KEYS
            .iter()
            .zip(self.keys)
            .any(|((_, control), held)| held && *control == Control::Fire);
        let pad = self.present().any(|pad| pad.buttons & PAD_FIRE != 0);
        key || pad || self.left_button || self.finger.is_some()
    }

    fn present(&self) -> impl Iterator<Item = &Gamepad> {
        self.pads.iter().filter(|pad| pad.is_present)
    }
}

fn place(x: u16, y: u16) -> [f32; 2] {
    [x, y].map(|part| f32::from(part) / 65_535.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether two pairs are equal but for rounding.
    fn close(a: [f32; 2], b: [f32; 2]) -> bool {
        a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    fn key(code: u16, pressed: bool) -> Action {
        Action::Key { code, pressed }
    }

    #[test]
    fn letters_and_arrows_steer_alike() {
        for (letter, arrow, way) in [
            (17, 103, [0.0, -1.0]),
            (30, 105, [-1.0, 0.0]),
            (31, 108, [0.0, 1.0]),
            (32, 106, [1.0, 0.0]),
        ] {
            for code in [letter, arrow] {
                let mut controls = Controls::default();
                controls.take(key(code, true));
                assert!(close(controls.steering(), way), "{code}");
                controls.take(key(code, false));
                assert!(close(controls.steering(), [0.0, 0.0]), "{code}");
            }
        }
    }

    #[test]
    fn what_says_nothing_new_is_no_action() {
        let mut controls = Controls::default();
        let pad = Gamepad {
            index: 3,
            is_present: true,
            buttons: PAD_FIRE,
            axes: [20_000, -20_000, 0, 0],
            ..Gamepad::default()
        };
        let absent = Gamepad {
            index: 3,
            ..Gamepad::default()
        };
        let beyond = Gamepad { index: 16, ..pad };
        assert_eq!(controls.take(Action::Gamepad(absent)), None);
        let deed = controls.take(Action::Gamepad(pad)).unwrap();
        assert!(deed.fires && controls.is_firing());
        assert_eq!(controls.take(Action::Gamepad(pad)), None);
        assert_eq!(controls.take(Action::Gamepad(beyond)), None);
        assert!(controls.steering()[0] > 0.5 && controls.steering()[1] < -0.5);
        assert_eq!(controls.take(Action::ReleaseAll), None);
        assert!(!controls.is_firing());
        assert!(close(controls.steering(), [0.0, 0.0]));
    }

    #[test]
    fn one_finger_steers_and_another_rings() {
        let touch = |finger, phase| Action::Touch {
            finger,
            phase,
            x: 65_535,
            y: 0,
        };
        let mut controls = Controls::default();
        let deed = controls.take(touch(7, TouchPhase::Begin)).unwrap();
        assert_eq!((deed.place, deed.fires), (Some([1.0, 0.0]), true));
        assert!(controls.take(touch(8, TouchPhase::Begin)).unwrap().rings);
        let other = controls.take(touch(8, TouchPhase::Move)).unwrap();
        assert_eq!(other, ActionEffect::default());
        controls.take(touch(8, TouchPhase::End));
        assert!(controls.is_firing());
        controls.take(touch(7, TouchPhase::Cancel));
        assert!(!controls.is_firing());
    }
}
