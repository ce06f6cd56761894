//! What a player does, in the form in which a game is told.

/// One thing that a player did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Movement of the locked pointer, in 1/16 pixel.
    Move {
        /// Movement to the right; negative to the left.
        right: i32,
        /// Movement down; negative up.
        down: i32,
    },
    /// A position of the pointer in the picture, on a scale from 0 to 65535 in each direction.
    Position {
        /// Distance from the left edge, 0 to 65535.
        x: u16,
        /// Distance from the top edge, 0 to 65535.
        y: u16,
    },
    /// A turn of the wheel, in 1/120 notch.
    Wheel {
        /// Turn to the right; negative to the left.
        right: i32,
        /// Turn down, towards the hand; negative up.
        down: i32,
    },
    /// A key pressed or released.
    Key {
        /// The key, as a Linux `KEY_…` code (`input-event-codes.h`).
        code: u16,
        /// Whether the key went down, rather than up.
        pressed: bool,
    },
    /// A mouse button pressed or released.
    Button {
        /// The button.
        button: Button,
        /// Whether the button went down, rather than up.
        pressed: bool,
    },
    /// A finger on a touch screen.
    Touch {
        /// Number of the finger.
        finger: u16,
        /// What the finger did.
        phase: TouchPhase,
        /// Distance from the left edge, 0 to 65535.
        x: u16,
        /// Distance from the top edge, 0 to 65535.
        y: u16,
    },
    /// The whole state of a gamepad.
    Gamepad(Gamepad),
    /// A written character that no key of the page's keyboard has: one that was composed, or that
    /// came from an input method.
    Character(char),
    /// A release of every key and button.
    ReleaseAll,
}

/// A mouse button.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Button {
    /// The primary button.
    Left,
    /// The wheel, pressed.
    Middle,
    /// The secondary button.
    Right,
    /// The thumb button towards the hand.
    Back,
    /// The thumb button away from the hand.
    Forward,
}

/// What a finger did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TouchPhase {
    /// The finger touched the screen.
    Begin,
    /// The finger moved on the screen.
    Move,
    /// The finger left the screen.
    End,
    /// The system ended the touch.
    Cancel,
}

/// The state of a gamepad.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gamepad {
    /// Number of the gamepad, from 0 to 15.
    pub index: u8,
    /// Whether the gamepad is plugged in.
    pub is_present: bool,
    /// Pressed buttons, one bit for each in the order of the W3C standard mapping.
    pub buttons: u32,
    /// Axes left x, left y, right x, right y, from -32767 to 32767; right and down are positive.
    pub axes: [i16; 4],
    /// Left and right trigger, from 0 to 255.
    pub triggers: [u8; 2],
}
