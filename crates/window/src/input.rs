//! What the player does: for the game, or for the client itself.
//!
//! Keys and pointer belong to the game until the player takes them back with
//! Ctrl+Alt+Shift+Z; a click on the picture, or the same keys, give them to it again.

use std::collections::BTreeSet;
use std::ffi::c_int;

use mimosa_wire::{Action, Button, TouchPhase};
use sdl3_sys::scancode::SDL_Scancode as Scancode;

use crate::keys::{is_modifier, linux_code};
use crate::pointer::{Area, Rest};
use crate::raw::{FingerPhase, Happened, Modifiers};
use crate::window::WindowEvent;

/// How many of an action's units make a pixel.
const PIXEL: f32 = 16.0;
/// How many of an action's units make a notch of the wheel.
const NOTCH: f32 = 120.0;
/// Fingers that are told apart.
const FINGERS: usize = 16;

/// What input asks of the window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Wish {
    /// Between a window and the whole screen.
    ToggleFullscreen,
    /// To lock the pointer or to unlock it.
    Lock(bool),
    /// To show the cursor or to hide it.
    Cursor(bool),
}

/// What came of it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) events: Vec<WindowEvent>,
    pub(crate) wishes: Vec<Wish>,
}

impl Outcome {
    /// Tells of an action. Movements one after another become one.
    pub(crate) fn act(&mut self, action: Action) {
        if let Some(WindowEvent::Act(last)) = self.events.last_mut() {
            match (&mut *last, action) {
                (Action::Position { .. }, Action::Position { .. }) => {
                    *last = action;
                    return;
                }
                (
                    Action::Move { right, down },
                    Action::Move {
                        right: more_right,
                        down: more_down,
                    },
                ) => {
                    *right = right.saturating_add(more_right);
                    *down = down.saturating_add(more_down);
                    return;
                }
                _ => {}
            }
        }
        self.events.push(WindowEvent::Act(action));
    }
}

/// Where things are, in the coordinates of the pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The picture.
    pub(crate) picture: Area,
    /// The window's columns and rows.
    pub(crate) window: (f32, f32),
}

/// Keys and pointer.
#[derive(Debug)]
pub(crate) struct Input {
    /// A click on the picture locks the pointer.
    locks_pointer: bool,
    /// They belong to the game.
    is_taken: bool,
    /// The pointer is locked.
    pub(crate) is_locked: bool,
    keys: BTreeSet<c_int>,
    buttons: BTreeSet<u8>,
    fingers: [Option<u64>; FINGERS],
    movement: [Rest; 2],
    wheel: [Rest; 2],
}

impl Input {
    pub(crate) fn new(locks_pointer: bool) -> Self {
        Self {
            locks_pointer,
            is_taken: true,
            is_locked: false,
            keys: BTreeSet::new(),
            buttons: BTreeSet::new(),
            fingers: [None; FINGERS],
            movement: [Rest::default(); 2],
            wheel: [Rest::default(); 2],
        }
    }

    /// Keys and pointer belong to the game.
    pub(crate) fn is_taken(&self) -> bool {
        self.is_taken
    }

    pub(crate) fn handle(&mut self, happened: &Happened, places: Places, out: &mut Outcome) {
        match *happened {
            Happened::Key {
                is_repeat: true, ..
            } => {}
            Happened::Key {
                scancode,
                pressed: true,
                modifiers,
                ..
            } => self.press(scancode, modifiers, out),
            Happened::Key { scancode, .. } => self.let_go(scancode, out),
            Happened::Motion { x, y, right, down } if self.is_taken => {
                if self.is_locked {
                    let [of_right, of_down] = &mut self.movement;
                    let right = of_right.add(right * PIXEL);
                    let down = of_down.add(down * PIXEL);
                    if (right, down) != (0, 0) {
                        out.act(Action::Move { right, down });
                    }
                } else {
                    out.act(position(places, x, y));
                }
            }
            Happened::Button {
                number,
                pressed,
                x,
                y,
            } => self.button(number, pressed, (x, y), places, out),
            Happened::Wheel { right, up } if self.is_taken => {
                let [of_right, of_down] = &mut self.wheel;
                let right = of_right.add(right * NOTCH);
                let down = of_down.add(-up * NOTCH);
                if (right, down) != (0, 0) {
                    out.act(Action::Wheel { right, down });
                }
            }
            Happened::Finger { id, phase, x, y } => {
                let (width, height) = places.window;
                self.finger(id, phase, (x * width, y * height), places, out);
            }
            Happened::FocusLost => self.release_all(out),
            _ => {}
        }
    }

    /// Does what the client itself does at a key; true if it is not for the game.
    fn shortcut(&mut self, scancode: c_int, modifiers: Modifiers, out: &mut Outcome) -> bool {
        let Modifiers {
            control,
            alt,
            shift,
        } = modifiers;
        match Scancode(scancode) {
            Scancode::F11 => out.wishes.push(Wish::ToggleFullscreen),
            Scancode::RETURN if alt && !control && !shift => {
                out.wishes.push(Wish::ToggleFullscreen);
            }
            _ if !(control && alt && shift) || is_modifier(scancode) => return false,
            Scancode::X => out.wishes.push(Wish::ToggleFullscreen),
            Scancode::S => out.events.push(WindowEvent::ToggleStatistics),
            Scancode::Q => out.events.push(WindowEvent::Quit),
            Scancode::Z if self.is_taken => {
                self.is_taken = false;
                self.release_all(out);
                out.wishes.extend([Wish::Lock(false), Wish::Cursor(true)]);
            }
            Scancode::Z => self.take(true, out),
            _ => {}
        }
        true
    }

    /// Gives keys and pointer to the game.
    fn take(&mut self, is_mouse: bool, out: &mut Outcome) {
        self.is_taken = true;
        out.wishes.push(Wish::Cursor(false));
        if self.locks_pointer && is_mouse {
            out.wishes.push(Wish::Lock(true));
        }
    }

    fn press(&mut self, scancode: c_int, modifiers: Modifiers, out: &mut Outcome) {
        if self.shortcut(scancode, modifiers, out) {
            return;
        }
        if let Some(code) = linux_code(scancode)
            && self.is_taken
            && self.keys.insert(scancode)
        {
            out.act(Action::Key {
                code,
                pressed: true,
            });
        }
    }

    fn let_go(&mut self, scancode: c_int, out: &mut Outcome) {
        if let Some(code) = linux_code(scancode)
            && self.keys.remove(&scancode)
        {
            out.act(Action::Key {
                code,
                pressed: false,
            });
        }
    }

    fn button(
        &mut self,
        number: u8,
        pressed: bool,
        (x, y): (f32, f32),
        places: Places,
        out: &mut Outcome,
    ) {
        let Some(button) = button(number) else {
            return;
        };
        if pressed {
            if !self.is_locked && !places.picture.holds(x, y) {
                return;
            }
            if !self.is_taken || (self.locks_pointer && !self.is_locked) {
                self.take(true, out);
                return;
            }
            self.buttons.insert(number);
        } else if !self.buttons.remove(&number) {
            return;
        }
        if !self.is_locked {
            out.act(position(places, x, y));
        }
        out.act(Action::Button { button, pressed });
    }

    fn finger(
        &mut self,
        id: u64,
        phase: FingerPhase,
        (x, y): (f32, f32),
        places: Places,
        out: &mut Outcome,
    ) {
        let place = if phase == FingerPhase::Down {
            if !places.picture.holds(x, y) {
                return;
            }
            if !self.is_taken {
                self.take(false, out);
                return;
            }
            let free = self.fingers.iter().position(Option::is_none);
            free.inspect(|&free| self.fingers[free] = Some(id))
        } else {
            self.fingers.iter().position(|finger| *finger == Some(id))
        };
        let Some(place) = place else {
            return;
        };
        let phase = match phase {
            FingerPhase::Down => TouchPhase::Begin,
            FingerPhase::Moved => TouchPhase::Move,
            FingerPhase::Up => TouchPhase::End,
            FingerPhase::Cancelled => TouchPhase::Cancel,
        };
        if matches!(phase, TouchPhase::End | TouchPhase::Cancel) {
            self.fingers[place] = None;
        }
        let (x, y) = places.picture.place(x, y);
        out.act(Action::Touch {
            finger: u16::try_from(place).unwrap_or_default(),
            phase,
            x,
            y,
        });
    }

    fn release_all(&mut self, out: &mut Outcome) {
        self.keys.clear();
        self.buttons.clear();
        self.fingers = [None; FINGERS];
        out.act(Action::ReleaseAll);
    }
}

fn position(places: Places, x: f32, y: f32) -> Action {
    let (x, y) = places.picture.place(x, y);
    Action::Position { x, y }
}

/// A button by SDL's number.
fn button(number: u8) -> Option<Button> {
    Some(match number {
        1 => Button::Left,
        2 => Button::Middle,
        3 => Button::Right,
        4 => Button::Back,
        5 => Button::Forward,
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
