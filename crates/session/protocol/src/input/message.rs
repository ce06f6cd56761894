//! An input message, as bytes and as a type.

use super::InputError;
use crate::PageTime;
use crate::fields::{get, put};
use mimosa_facts::{Button, Gamepad, TouchPhase};

const POINTER: u8 = 1;
const GAMEPAD: u8 = 2;
const KEY: u8 = 16;
const BUTTON: u8 = 17;
const RELEASE_ALL: u8 = 18;
const TOUCH: u8 = 19;
const CHARACTER: u8 = 20;

/// Flag in byte 1 of a pointer message: the position is valid.
const HAS_POSITION: u8 = 1;
/// Flag in byte 1 of a gamepad message: the gamepad is unplugged.
const UNPLUGGED: u8 = 0x80;
/// Most gamepads of a page.
const GAMEPADS: u8 = 16;
/// Value of an axis at its positive end; -32767 is the negative end, and -32768 is not used.
const AXIS: i16 = 32767;

/// An input message. An invalid time is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message {
    /// The state of the pointer (kind 1).
    Pointer(Pointer),
    /// The state of a gamepad (kind 2).
    Gamepad {
        /// Number of the message among those of this gamepad.
        sequence: u32,
        /// The gamepad's whole state.
        gamepad: Gamepad,
        /// When the state was read.
        time: Option<PageTime>,
    },
    /// A key (kind 16).
    Key {
        /// Linux's `KEY_…` code.
        code: u16,
        /// Whether the key went down, rather than up.
        pressed: bool,
        /// When the key moved.
        time: Option<PageTime>,
    },
    /// A mouse button (kind 17).
    Button {
        /// The button.
        button: Button,
        /// Whether the button went down, rather than up.
        pressed: bool,
        /// When the button moved.
        time: Option<PageTime>,
    },
    /// All keys, buttons and fingers are released (kind 18).
    ReleaseAll {
        /// When they were released.
        time: Option<PageTime>,
    },
    /// A finger on a touch screen (kind 19).
    Touch {
        /// Number of the finger.
        finger: u16,
        /// What the finger did.
        phase: TouchPhase,
        /// Where the finger is.
        place: Place,
        /// When the finger moved.
        time: Option<PageTime>,
    },
    /// A written character (kind 20).
    Character {
        /// The character, which is not a control character.
        character: char,
        /// When the character was written.
        time: Option<PageTime>,
    },
}

/// The state of the pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pointer {
    /// Where the pointer is; `None` while it is locked.
    pub place: Option<Place>,
    /// Number of the message among those of the pointer.
    pub sequence: u32,
    /// Sum of all movements while the pointer was locked, in 1/16 pixel. Wraps.
    pub movement: Sum,
    /// Sum of all turns of the wheel, in 1/120 notch. Wraps.
    pub wheel: Sum,
    /// When the state was read.
    pub time: Option<PageTime>,
}

/// A place in the picture, on a scale from 0 to 65535 in each direction.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Place {
    /// Distance from the left edge.
    pub x: u16,
    /// Distance from the top edge.
    pub y: u16,
}

/// A running total of movements.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Sum {
    /// Sum of movements to the right.
    pub right: i32,
    /// Sum of movements down.
    pub down: i32,
}

impl Message {
    /// Parses a message of either input channel.
    ///
    /// # Errors
    ///
    /// [`InputError`] for an unknown kind, a wrong length, or a value without meaning.
    pub fn parse(message: &[u8]) -> Result<Self, InputError> {
        let kind = *message.first().ok_or(InputError::Empty)?;
        let length = message.len();
        let expected = length_of(kind).ok_or(InputError::UnknownKind { kind, length })?;
        if length != expected {
            return Err(InputError::Length {
                kind,
                length,
                expected,
            });
        }
        let time = |at| PageTime::from_le_bytes(get(message, at));
        Ok(match kind {
            POINTER => Self::Pointer(pointer(message)),
            GAMEPAD => Self::Gamepad {
                sequence: u32::from_le_bytes(get(message, 2)),
                gamepad: gamepad(message)?,
                time: time(20),
            },
            KEY => Self::Key {
                code: u16::from_le_bytes(get(message, 2)),
                pressed: pressed(message)?,
                time: time(4),
            },
            BUTTON => Self::Button {
                button: button(message)?,
                pressed: pressed(message)?,
                time: time(4),
            },
            TOUCH => Self::Touch {
                finger: u16::from_le_bytes(get(message, 2)),
                phase: phase(message)?,
                place: place(message, 4),
                time: time(8),
            },
            CHARACTER => Self::Character {
                character: character(message)?,
                time: time(8),
            },
            _ => Self::ReleaseAll { time: time(4) },
        })
    }

    /// The message as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let kind = self.kind();
        let mut bytes = vec![0; length_of(kind).unwrap_or(1)];
        put(&mut bytes, 0, [kind]);
        let time_at = match *self {
            Self::Pointer(pointer) => {
                if let Some(place) = pointer.place {
                    put(&mut bytes, 1, [HAS_POSITION]);
                    put_place(&mut bytes, 2, place);
                }
                put(&mut bytes, 6, pointer.sequence.to_le_bytes());
                put_sum(&mut bytes, 10, pointer.movement);
                put_sum(&mut bytes, 18, pointer.wheel);
                26
            }
            Self::Gamepad {
                sequence, gamepad, ..
            } => {
                put(&mut bytes, 2, sequence.to_le_bytes());
                put_gamepad(&mut bytes, &gamepad);
                20
            }
            Self::Key { code, pressed, .. } => {
                put(&mut bytes, 1, [u8::from(pressed)]);
                put(&mut bytes, 2, code.to_le_bytes());
                4
            }
            Self::Button {
                button, pressed, ..
            } => {
                put(&mut bytes, 1, [u8::from(pressed), button as u8]);
                4
            }
            Self::ReleaseAll { .. } => 4,
            Self::Touch {
                finger,
                phase,
                place,
                ..
            } => {
                put(&mut bytes, 1, [phase as u8]);
                put(&mut bytes, 2, finger.to_le_bytes());
                put_place(&mut bytes, 4, place);
                8
            }
            Self::Character { character, .. } => {
                put(&mut bytes, 4, u32::from(character).to_le_bytes());
                8
            }
        };
        put(&mut bytes, time_at, PageTime::to_le_bytes(self.time()));
        bytes
    }

    /// When the event happened, on the page's clock.
    #[must_use]
    pub const fn time(&self) -> Option<PageTime> {
        match *self {
            Self::Pointer(Pointer { time, .. })
            | Self::Gamepad { time, .. }
            | Self::Key { time, .. }
            | Self::Button { time, .. }
            | Self::ReleaseAll { time }
            | Self::Touch { time, .. }
            | Self::Character { time, .. } => time,
        }
    }

    const fn kind(&self) -> u8 {
        match self {
            Self::Pointer(_) => POINTER,
            Self::Gamepad { .. } => GAMEPAD,
            Self::Key { .. } => KEY,
            Self::Button { .. } => BUTTON,
            Self::ReleaseAll { .. } => RELEASE_ALL,
            Self::Touch { .. } => TOUCH,
            Self::Character { .. } => CHARACTER,
        }
    }
}

/// Length of a message of this kind, in bytes; `None` for an unknown kind.
const fn length_of(kind: u8) -> Option<usize> {
    match kind {
        POINTER => Some(34),
        GAMEPAD => Some(28),
        KEY | BUTTON | RELEASE_ALL => Some(12),
        TOUCH | CHARACTER => Some(16),
        _ => None,
    }
}

fn pointer(message: &[u8]) -> Pointer {
    let [flags] = get(message, 1);
    Pointer {
        place: (flags & HAS_POSITION != 0).then(|| place(message, 2)),
        sequence: u32::from_le_bytes(get(message, 6)),
        movement: sum(message, 10),
        wheel: sum(message, 18),
        time: PageTime::from_le_bytes(get(message, 26)),
    }
}

fn gamepad(message: &[u8]) -> Result<Gamepad, InputError> {
    let [flags] = get(message, 1);
    let index = flags & !UNPLUGGED;
    if index >= GAMEPADS {
        return Err(wrong(message, 1, "bits 0 to 6 are an index up to 15"));
    }
    let axis = |axis: usize| i16::from_le_bytes(get(message, 10 + 2 * axis)).max(-AXIS);
    Ok(Gamepad {
        index,
        is_present: flags & UNPLUGGED == 0,
        buttons: u32::from_le_bytes(get(message, 6)),
        axes: [axis(0), axis(1), axis(2), axis(3)],
        triggers: get(message, 18),
    })
}

fn put_gamepad(bytes: &mut [u8], gamepad: &Gamepad) {
    let flags = if gamepad.is_present { 0 } else { UNPLUGGED };
    put(bytes, 1, [flags | gamepad.index]);
    put(bytes, 6, gamepad.buttons.to_le_bytes());
    for (axis, value) in gamepad.axes.into_iter().enumerate() {
        put(bytes, 10 + 2 * axis, value.to_le_bytes());
    }
    put(bytes, 18, gamepad.triggers);
}

fn pressed(message: &[u8]) -> Result<bool, InputError> {
    match get(message, 1) {
        [0] => Ok(false),
        [1] => Ok(true),
        _ => Err(wrong(message, 1, "1 is down, 0 is up")),
    }
}

fn button(message: &[u8]) -> Result<Button, InputError> {
    match get(message, 2) {
        [0] => Ok(Button::Left),
        [1] => Ok(Button::Middle),
        [2] => Ok(Button::Right),
        [3] => Ok(Button::Back),
        [4] => Ok(Button::Forward),
        _ => Err(wrong(message, 2, "buttons are 0 to 4")),
    }
}

fn phase(message: &[u8]) -> Result<TouchPhase, InputError> {
    match get(message, 1) {
        [0] => Ok(TouchPhase::Begin),
        [1] => Ok(TouchPhase::Move),
        [2] => Ok(TouchPhase::End),
        [3] => Ok(TouchPhase::Cancel),
        _ => Err(wrong(message, 1, "phases are 0 to 3")),
    }
}

fn character(message: &[u8]) -> Result<char, InputError> {
    char::from_u32(u32::from_le_bytes(get(message, 4)))
        .filter(|character| !character.is_control())
        .ok_or_else(|| {
            let expected = "bytes 4 to 7 are the number of a character, and of no control";
            wrong(message, 4, expected)
        })
}

fn wrong(message: &[u8], at: usize, expected: &'static str) -> InputError {
    let ([kind], [value]) = (get(message, 0), get(message, at));
    InputError::Value {
        kind,
        at,
        value,
        expected,
    }
}

fn place(message: &[u8], at: usize) -> Place {
    Place {
        x: u16::from_le_bytes(get(message, at)),
        y: u16::from_le_bytes(get(message, at + 2)),
    }
}

fn put_place(bytes: &mut [u8], at: usize, place: Place) {
    put(bytes, at, place.x.to_le_bytes());
    put(bytes, at + 2, place.y.to_le_bytes());
}

fn sum(message: &[u8], at: usize) -> Sum {
    Sum {
        right: i32::from_le_bytes(get(message, at)),
        down: i32::from_le_bytes(get(message, at + 4)),
    }
}

fn put_sum(bytes: &mut [u8], at: usize, sum: Sum) {
    put(bytes, at, sum.right.to_le_bytes());
    put(bytes, at + 4, sum.down.to_le_bytes());
}
