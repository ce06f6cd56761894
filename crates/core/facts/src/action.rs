//! What a player does, as a game is told.

/// One thing a player did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Action {
    /// Moved the locked pointer, in 1/16 pixel.
    Move {
        /// To the right.
        right: i32,
        /// Down.
        down: i32,
    },
    /// Put the pointer somewhere in the picture: 0 to 65535 from the left and
    /// from the top.
    Position {
        /// From the left.
        x: u16,
        /// From the top.
        y: u16,
    },
    /// Turned the wheel, in 1/120 notch.
    Wheel {
        /// To the right.
        right: i32,
        /// Down, towards the hand.
        down: i32,
    },
    /// Pressed or released a key.
    Key {
        /// Which: a `KEY_…` code of Linux, `input-event-codes.h`.
        code: u16,
        /// Down or up.
        pressed: bool,
    },
    /// Pressed or released a button of the pointer.
    Button {
        /// Which.
        button: Button,
        /// Down or up.
        pressed: bool,
    },
    /// A finger on the screen.
    Touch {
        /// Which finger.
        finger: u16,
        /// What it did.
        phase: TouchPhase,
        /// From the left, as in [`Action::Position`].
        x: u16,
        /// From the top.
        y: u16,
    },
    /// A gamepad's whole state.
    Gamepad(Gamepad),
    /// Wrote a character that no key of the page's keyboard has: composed, or of an
    /// input method.
    Character(char),
    /// Let go of every key and button.
    ReleaseAll,
}

/// A button of the pointer.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Button {
    /// The first.
    Left,
    /// The wheel.
    Middle,
    /// The second.
    Right,
    /// At the thumb, towards the hand.
    Back,
    /// At the thumb, away from the hand.
    Forward,
}

/// What a finger did.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum TouchPhase {
    /// Touched the screen.
    Begin,
    /// Moved on it.
    Move,
    /// Left it.
    End,
    /// The system took it away.
    Cancel,
}

/// A gamepad's state.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Gamepad {
    /// Which one, from 0 to 15.
    pub index: u8,
    /// It is plugged in.
    pub is_present: bool,
    /// Buttons, bit by bit in the order of the W3C standard mapping.
    pub buttons: u32,
    /// Left x and y, right x and y: -32767 to 32767, right and down positive.
    pub axes: [i16; 4],
    /// Left and right trigger, 0 to 255.
    pub triggers: [u8; 2],
}
