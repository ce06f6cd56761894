//! The player's input: for the game, or for the client itself.
//!
//! Keys and pointer belong to the game until the player takes them back with
//! Ctrl+Alt+Shift+Z; a click on the picture, or the same keys, give them to the game again.

use std::collections::BTreeSet;
use std::ffi::c_int;

use mimosa_facts::{Action, Button, TouchPhase};
use sdl3_sys::scancode::SDL_Scancode as Scancode;

use crate::keys::{is_modifier, linux_code};
use crate::pointer::{Area, Remainder};
use crate::raw::{FingerPhase, Modifiers, RawEvent};
use crate::window::WindowEvent;

/// The number of an action's units in a pixel.
const PIXEL: f32 = 16.0;
/// The number of an action's units in a notch of the wheel.
const NOTCH: f32 = 120.0;
/// The number of fingers that are distinguished.
const FINGERS: usize = 16;

/// A request of the input to the window.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WindowRequest {
    /// Switch between a window and the whole screen.
    ToggleFullscreen,
    /// Lock the pointer or unlock it.
    Lock(bool),
    /// Show the cursor or hide it.
    Cursor(bool),
}

/// The results of an event.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct InputResults {
    pub(crate) events: Vec<WindowEvent>,
    pub(crate) wishes: Vec<WindowRequest>,
}

impl InputResults {
    /// Adds an action. Movements one after another become one.
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

/// The places of picture and window, in the coordinates of the pointer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    /// The area of the picture.
    pub(crate) picture: Area,
    /// The columns and rows of the window.
    pub(crate) window: (f32, f32),
}

/// The state of keys and pointer.
#[derive(Debug)]
pub(crate) struct Input {
    /// Whether a click on the picture locks the pointer.
    locks_pointer: bool,
    /// Whether keys and pointer belong to the game.
    is_taken: bool,
    /// Whether the pointer is locked.
    pub(crate) is_locked: bool,
    keys: BTreeSet<c_int>,
    buttons: BTreeSet<u8>,
    fingers: [Option<u64>; FINGERS],
    movement: [Remainder; 2],
    wheel: [Remainder; 2],
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
            movement: [Remainder::default(); 2],
            wheel: [Remainder::default(); 2],
        }
    }

    /// Whether keys and pointer belong to the game.
    pub(crate) fn is_taken(&self) -> bool {
        self.is_taken
    }

    pub(crate) fn handle(&mut self, happened: &RawEvent, places: Places, out: &mut InputResults) {
        match *happened {
            RawEvent::Key {
                is_repeat: true, ..
            } => {}
            RawEvent::Key {
                scancode,
                pressed: true,
                modifiers,
                ..
            } => self.press(scancode, modifiers, out),
            RawEvent::Key { scancode, .. } => self.let_go(scancode, out),
            RawEvent::Motion { x, y, right, down } if self.is_taken => {
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
            RawEvent::Button {
                number,
                pressed,
                x,
                y,
            } => self.button(number, pressed, (x, y), places, out),
            RawEvent::Wheel { right, up } if self.is_taken => {
                let [of_right, of_down] = &mut self.wheel;
                let right = of_right.add(right * NOTCH);
                let down = of_down.add(-up * NOTCH);
                if (right, down) != (0, 0) {
                    out.act(Action::Wheel { right, down });
                }
            }
            RawEvent::Finger { id, phase, x, y } => {
                let (width, height) = places.window;
                self.finger(id, phase, (x * width, y * height), places, out);
            }
            RawEvent::FocusLost => self.release_all(out),
            _ => {}
        }
    }

    /// Handles a key of the client itself; returns whether it was one.
    fn shortcut(&mut self, scancode: c_int, modifiers: Modifiers, out: &mut InputResults) -> bool {
        let Modifiers {
            control,
            alt,
            shift,
        } = modifiers;
        match Scancode(scancode) {
            Scancode::F11 => out.wishes.push(WindowRequest::ToggleFullscreen),
            Scancode::RETURN if alt && !control && !shift => {
                out.wishes.push(WindowRequest::ToggleFullscreen);
            }
            _ if !(control && alt && shift) || is_modifier(scancode) => return false,
            Scancode::X => out.wishes.push(WindowRequest::ToggleFullscreen),
            Scancode::S => out.events.push(WindowEvent::ToggleStatistics),
            Scancode::Q => out.events.push(WindowEvent::Quit),
            Scancode::Z if self.is_taken => {
                self.is_taken = false;
                self.release_all(out);
                out.wishes
                    .extend([WindowRequest::Lock(false), WindowRequest::Cursor(true)]);
            }
            Scancode::Z => self.take(true, out),
            _ => {}
        }
        true
    }

    /// Gives keys and pointer to the game.
    fn take(&mut self, is_mouse: bool, out: &mut InputResults) {
        self.is_taken = true;
        out.wishes.push(WindowRequest::Cursor(false));
        if self.locks_pointer && is_mouse {
            out.wishes.push(WindowRequest::Lock(true));
        }
    }

    fn press(&mut self, scancode: c_int, modifiers: Modifiers, out: &mut InputResults) {
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

    fn let_go(&mut self, scancode: c_int, out: &mut InputResults) {
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
        out: &mut InputResults,
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
        out: &mut InputResults,
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

    fn release_all(&mut self, out: &mut InputResults) {
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

/// The button with SDL's number.
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
